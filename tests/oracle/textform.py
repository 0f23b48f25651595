# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace's text in the forms in which other tools print it."""

import random

from events import HEX_FIELDS, HUMAN

# Names that a task can give itself (15 bytes), to be taken for something else.
HOSTILE = ['a b', 'x-1 [0] 1.0: a:', '[001]', '-7 [003] d..1. ', ' ', '<...>', 'a\tb',
           'CPU:0 [LOST 3 E', '# comment', '\x01\x02', 'ä-5 [2]', '-', 'a-', '[', 'cpu_idle: state']


class Line:
    __slots__ = ('t', 'cpu', 'pid', 'comm', 'flags', 'name', 'rest')

    def __init__(self, text):
        m = HUMAN.match(text)
        self.t = int(m['sec']) * 10**9 + int(m['frac'].ljust(9, '0'))
        self.cpu, self.pid = int(m['cpu']), int(m['pid'])
        self.comm, self.flags = m['comm'], 'd..1.'
        self.name, self.rest = m['name'], m['rest']


def lines(text):
    return [Line(t) for t in text.splitlines() if HUMAN.match(t)]


def stamp(t, digits):
    frac = t % 10**9 if digits == 9 else t % 10**9 // 1000
    return f'{t // 10**9}.{frac:0{digits}d}'


def of_event(e):
    """The line of an event of tests/oracle/events.py."""
    fields = ' '.join(f'{k}={v:x}' if k in HEX_FIELDS else f'{k}={v}' for k, v in e.f.items())
    comm = 'task' if e.pid else '<idle>'
    return f'{comm:>16}-{e.pid:<7d} [{e.cpu:03d}] d..1. {stamp(e.t, 9):>15}: {e.name}: {fields}'


def ftrace(ls, digits=6, flags=True, tgid=False):
    for x in ls:
        yield (f'{x.comm:>16}-{x.pid:<7d} ' + ('(-------) ' if tgid else '')
               + f'[{x.cpu:03d}] ' + (f'{x.flags} ' if flags else '')
               + f'{stamp(x.t, digits):>13}: {x.name}: {x.rest}')


def latency(ls):
    """`trace-cmd report -l`"""
    for x in ls:
        yield (f'{x.comm[:8]:>8}-{x.pid:<5d} {x.cpu:3d}{x.flags} '
               f'{stamp(x.t, 6):>12}: {x.name + ":":<21} {x.rest}')


def trace_cmd(ls, digits=6):
    """`trace-cmd report`: raw pointers in its own way, names padded."""
    yield 'cpus=8'
    for x in ls:
        rest = x.rest.replace('parent=0000000000000000', 'parent=(nil)')
        yield (f'{x.comm:>16}-{x.pid:<5d} [{x.cpu:03d}] {x.flags} '
               f'{stamp(x.t, digits):>12}: {x.name + ":":<21} {rest}')


def perf(ls, digits=6, tids=False):
    """`perf script`: the system before the name, groups as 0x..."""
    for x in ls:
        system = 'power' if x.name.startswith('cpu_idle') else 'timer_migration'
        rest = x.rest.replace('group=', 'group=0x').replace('parent=', 'parent=0x')
        pid = f'{x.pid:>7}/{x.pid:<7}' if tids else f'{x.pid:>7}'
        comm = 'swapper' if x.pid == 0 else x.comm
        yield (f'{comm:>16} {pid} [{x.cpu:03d}] {stamp(x.t, digits):>12}: '
               f'{system + ":" + x.name:>45}: {rest}')


def mixed(texts, seed):
    """With lines of other events, and of none, in between."""
    rng = random.Random(seed)
    others = [
        '            bash-77      [001] d..2.  {t}: sched_switch: prev_comm=x-1 [000] 1.0: '
        'cpu_idle: state=1 cpu_id=0 prev_pid=1 ==> next_comm=a',
        '            bash-77      [001] .....  {t}: tracing_mark_write: '
        'x-1 [000] 5.000000: cpu_idle: state=1 cpu_id=0',
        '            bash-77      [001] .....  {t}: mutex_lock <-do_it',
        '            bash-77      [001] .....  {t}: cpu_idle_2: state=1 cpu_id=1',
        '            bash-77      [001] .....  {t}: cpu_frequency: state=1 cpu_id=1',
        '', '# a comment', 'ffffffff8100 do_idle+0x1', '\t\t x', '=> stack', '\0\0',
        'x' * 200000,
    ]
    for i, text in enumerate(texts):
        if rng.random() < .05 or i == 20:
            m = HUMAN.match(text)
            t = f"{m['sec']}.{m['frac']}" if m else '1.000000'
            yield (others[-1] if i == 20 else
                   rng.choice(others[:-1])).replace('{t}', t)
        yield text
