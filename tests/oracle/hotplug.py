# SPDX-License-Identifier: GPL-2.0-or-later
"""Bring-ups and take-downs out of ftrace's text, by counting: at every instant the time is the
innermost open step's. An operation goes on until the CPU is where it was to go, and no step is
open; a program of its own, which shares nothing with tmigr's."""

import collections
import re

LINE = re.compile(r'-(?P<pid>\d+)\s+\[(?P<on>\d+)\].*?(?P<s>\d+)\.(?P<us>\d{6}): '
                  r'cpuhp_(?P<what>enter|multi_enter|exit):\s+cpu: (?P<cpu>\d+)\s+'
                  r'(?:target:\s+(?P<target>\d+)|state:\s+(?P<state>\d+)) step:\s+(?P<step>\d+)(?: ret: (?P<ret>-?\d+))?')
Event = collections.namedtuple('Event', 't on pid enter cpu step target state ret')


def events(text):
    """{cpu: [Event]}, times in ns."""
    found = {}
    for m in map(LINE.search, text.splitlines()):
        if m:
            n = {k: int(v) if v and k != 'what' else v for k, v in m.groupdict().items()}
            e = Event((n['s'] * 10**6 + n['us']) * 1000, n['on'], n['pid'], n['what'] != 'exit', n['cpu'], n['step'],
                      n['target'], n['state'], n['ret'])
            found.setdefault(e.cpu, []).append(e)
    return found


def of_cpu(found):
    """Whole operations: the events between two moments in which nothing is open, put together
    as long as the steps' numbers go on in one way. Steps of drivers are left out: alone, with the
    CPU's state beyond them."""
    groups, group, depth = [], [], 0
    for e in found:
        group.append(e)
        depth += 1 if e.enter else -1
        if depth == 0:
            alone = len(group) == 2 and group[0].step <= group[0].target and e.state > e.step
            if not alone:
                up = group[0].step <= group[0].target
                last = groups[-1] if groups else None
                done = last and last['up'] and last['events'][-1].state >= last['events'][0].target
                on = last and last['up'] == up and not done and (
                    group[0].step >= last['step'] if up else group[0].step <= last['step'])
                if not on:
                    groups.append({'up': up, 'events': []})
                groups[-1]['events'] += group
                groups[-1]['step'] = (max if up else min)(g.step for g in group)
            group = []
    return groups


def operations(text):
    """[{cpu, up, start, end, steps: {(step, own): [calls, ns]}, between}], by start."""
    found = []
    for cpu, evs in events(text).items():
        for op in of_cpu(evs):
            steps, between, stack = {}, 0, []
            asking = op['events'][0].pid
            for e, after in zip(op['events'], op['events'][1:] + [None]):
                if e.enter:
                    key = e.step, e.on == cpu and e.pid != asking
                    stack.append(key)
                    steps.setdefault(key, [0, 0])[0] += 1
                else:
                    stack.pop()
                ns = after.t - e.t if after else 0
                if stack:
                    steps[stack[-1]][1] += ns
                else:
                    between += ns
            found.append({'cpu': cpu, 'up': op['up'], 'start': op['events'][0].t, 'end': op['events'][-1].t,
                          'steps': steps, 'between': between})
    return sorted(found, key=lambda o: (o['start'], o['cpu']))


def differences(ops, want, origin, slack_ns=0):
    """Of tmigr's operations (JSON) and these; times may be `slack_ns` a step's edge apart."""
    if len(ops) != len(want):
        return [f'{len(ops)} operations, not {len(want)}']
    found = []
    for got, op in zip(ops, want):
        name = f"CPU {op['cpu']} {'up' if op['up'] else 'down'}"
        if (got['cpu'], got['up']) != (op['cpu'], op['up']):
            found.append(f"{name}: it is CPU {got['cpu']}, up {got['up']}")
            continue
        steps = {}
        for s in got['steps']:
            at = steps.setdefault((s['step'], s['own']), [0, 0])
            at[0] += s['calls']
            at[1] += s['time_ns']
        if {k: v[0] for k, v in steps.items()} != {k: v[0] for k, v in op['steps'].items()}:
            found.append(f"{name}: steps {sorted(steps)}, not {sorted(op['steps'])}")
            continue
        n = sum(v[0] for v in steps.values())
        if abs(got['start_ns'] + origin - op['start']) > slack_ns:
            found.append(f"{name}: begins at {got['start_ns'] + origin}, not {op['start']}")
        if abs(got['total_ns'] - (op['end'] - op['start'])) > 2 * slack_ns:
            found.append(f"{name}: {got['total_ns']} ns in all, not {op['end'] - op['start']}")
        if abs(got['between_ns'] - op['between']) > 2 * n * slack_ns:
            found.append(f"{name}: {got['between_ns']} ns between steps, not {op['between']}")
        # Each step within it has two edges more.
        found += [f'{name}: step {k} {v[1]} ns, not {op["steps"][k][1]}' for k, v in steps.items()
                  if abs(v[1] - op['steps'][k][1]) > (2 * v[0] + (2 * n if k[1] is False else 0)) * slack_ns]
    return found


def sums(hotplug):
    """Operations whose parts do not add up."""
    found = []
    for op in hotplug['operations']:
        total = op['between_ns'] + sum(s['time_ns'] for s in op['steps'])
        parts = op['between_ns'] + op['asking_ns'] + op['own_ns']
        tmigr = sum(s['time_ns'] for s in op['steps'] if 'timer_migration' in s)
        if not total == parts == op['total_ns'] or tmigr != op['timer_migration_ns']:
            found.append(f"CPU {op['cpu']}: {total}, {parts}, {tmigr} are not {op['total_ns']}, {op['timer_migration_ns']}")
    return found
