#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Small traces whose figures can be worked out by hand, as text and as trace.dat: CPUs
that go away, losses, clocks, the window's edges, classes, damage."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import textform  # noqa: E402
import tracedat  # noqa: E402
from events import Event  # noqa: E402
from tap import Tap, built_without  # noqa: E402

TMIGR = pathlib.Path(os.environ['B']) / 'tmigr'
KERNEL = TESTS / 'fixtures/kernels/6.12.117'
GROUP = 0xffff888100001000
KTIME_MAX = (1 << 63) - 1
EXIT = 0xffffffff
S, MS = 10**9, 10**6
CLASSES = ('--class', 'LITTLE=0-1', '--class', 'big=2-3')
tap = Tap()


def event(t, where, name, **fields):
    return Event(t, where, 0, name, fields)


def idle(t, cpu, state):
    return event(t, cpu, 'cpu_idle', state=state, cpu_id=cpu)


def update(t, cpu, name, active, migrator, mask):
    return event(t, cpu, f'tmigr_group_set_cpu_{name}', group=GROUP, lvl=0, numa=-1, active=active,
                 migrator=migrator, parent=0, childmask=mask)


def text_of(evs, n_cpus):
    return '\n'.join([f'# entries-in-buffer/entries-written: 1/1   #P:{n_cpus}' if n_cpus else '#', *map(textform.of_event, evs), ''])


def tmigr(*args, **kwargs):
    return subprocess.run([TMIGR, *args], capture_output=True, text=True, timeout=300, **kwargs)


def report(path, *options):
    done = tmigr('report', '--json', *options, path)
    if done.returncode:
        tap.note(done.stderr)
        return None
    return json.loads(done.stdout)


def both(tmp, name, evs, n_cpus, *options):
    """Reports of the same events in both forms; of one, where the other cannot be read."""
    (tmp / 'trace').write_text(text_of(evs, n_cpus))
    forms = [('text', tmp / 'trace')]
    if built_without('libtracecmd'):
        tap.skip(f'{name}: trace.dat', 'built without libtracecmd')
    else:
        tracedat.from_events(tmp / 'trace.dat', KERNEL, evs, n_cpus)
        forms.append(('trace.dat', tmp / 'trace.dat'))
    for form, path in forms:
        yield f'{name}, {form}', report(path, *options)


def cpu_times(r, cpu):
    c = next(c for c in r['cpus'] if c['cpu'] == cpu)
    return c['running_ns'], c['offline_ns'], c['unknown_ns'], [s['time_ns'] for s in c['states']]


def gone(tmp):
    """Of its going only tmigr_cpu_offline tells, and silence; few events before, or many."""
    for before in 0, 35000:
        evs = [idle(S, 0, 1), idle(S, 1, EXIT)]
        t = S
        for _ in range(before):
            evs += [idle(t + 10000, 0, EXIT), idle(t + 11000, 0, 1)]
            t += 11000
        away = t + S
        evs.append(event(away, 1, 'tmigr_cpu_offline', cpu=1, parent=GROUP, wakeup=0))
        # It runs on for a while, and is gone for 10 s.
        evs.append(idle(away + 20 * MS, 1, 1))
        evs.append(idle(away + 40 * MS, 1, EXIT))
        for k in range(1, 10000, 2):
            evs += [idle(away + k * MS, 0, EXIT), idle(away + (k + 1) * MS, 0, 1)]
        back = away + 10 * S + 40 * MS
        evs.append(event(back, 1, 'tmigr_cpu_online', cpu=1, parent=GROUP, wakeup=0))
        evs.append(idle(back + S, 1, 1))
        evs.append(idle(back + 2 * S, 1, EXIT))
        evs.sort(key=lambda e: e.t)
        running = (away + 20 * MS - S) + S
        for name, r in both(tmp, f'a CPU that goes away after {len(evs)} events', evs, 2):
            # The last event's own instant is in the window.
            tap.same(r and cpu_times(r, 1), (running + 1, 10 * S, 0, [0, S + 20 * MS]), name)


def edges(tmp):
    """From the first event to the last, what it tells too."""
    evs = [idle(S, 0, EXIT), idle(S + 10, 1, 1),
           update(S + 20, 0, 'active', 1, 1, 1),
           event(2 * S, 0, 'tmigr_handle_remote_cpu', cpu=1, parent=GROUP, wakeup=5),
           update(3 * S, 1, 'active', 3, 1, 2)]
    for name, r in both(tmp, 'the last event', evs, 2):
        tap.same(r and [r['window_ns'], [x['cpus'] for x in r['roots']],
                        r.get('unlearnt', '')],
                 [2 * S + 1, ['0-1'], ''], f'{name}: the place of its CPU is learnt')
    evs.append(event(3 * S, 0, 'tmigr_handle_remote_cpu', cpu=1, parent=GROUP, wakeup=5))
    for name, r in both(tmp, 'the last event', evs, 2):
        tap.same(r and sum(p['count'] for p in r['remote']), 2, f'{name}: a remote expiry counts')


def no_idle(tmp):
    """Whom timers woke cannot be told without cpu_idle."""
    evs = [update(S, 0, 'active', 1, 1, 1), update(S + 1, 1, 'active', 3, 1, 2)]
    evs += [event(S + k * MS, 1, 'tmigr_handle_remote_cpu', cpu=0, parent=GROUP, wakeup=5) for k in range(1, 10)]
    for name, r in both(tmp, 'no cpu_idle', evs, 2):
        tap.same(r and r['remote'], [{'executor': 1, 'target': 0, 'count': 9, 'woke_executor': None, 'woke': []}],
                 f'{name}: whom a remote expiry woke is not known')
    known = [idle(S + 2, 1, 1), *evs[2:]]
    for name, r in both(tmp, 'with it', evs[:2] + known, 2):
        tap.same(r and [p['woke_executor'] for p in r['remote']], [1], f'{name}: it is')


def classes(tmp):
    """CPUs of which there is no event are there where the user says so."""
    evs = [idle(S, 0, 1), idle(2 * S, 0, EXIT), idle(2 * S, 2, EXIT), idle(3 * S, 2, 1)]
    (tmp / 'open').write_text(text_of(evs, 0))
    r = report(tmp / 'open', *CLASSES)
    tap.same(r and [(c['name'], c['cpus']) for c in r['classes']], [('LITTLE', '0-1'), ('big', '2-3')],
             'classes name CPUs without events, where the file does not say how many there are')
    (tmp / 'counted').write_text(text_of(evs, 3))
    done = tmigr('report', *CLASSES, tmp / 'counted')
    tap.ok(done.returncode == 1 and "class 'big=2-3': there is no CPU 3" in done.stderr,
           'where it says so, they must be of it', [done.stderr])


def sparse(tmp):
    """CPUs 0, 1 and 3 of four are online: three are counted, and no CPU 2 was there."""
    evs = [idle(S + k * MS, cpu, 1 if k else EXIT) for k in (0, 1, 2) for cpu in (0, 1, 3)]
    (tmp / 'sparse').write_text(text_of(evs, 3))
    r = report(tmp / 'sparse')
    tap.same(r and [c['cpu'] for c in r['cpus']], [0, 1, 3], 'numbers with a hole: the CPUs that are there')
    (tmp / 'sparse').write_text(text_of([e for e in evs if e.cpu != 1], 3))
    r = report(tmp / 'sparse')
    tap.same(r and [c['cpu'] for c in r['cpus']], [0, 1, 2, 3], 'one without an event: any that it may be')


def nonsense(tmp):
    """An event that makes no sense is missing on its CPU."""
    evs = [idle(S, 0, 1), idle(2 * S, 0, EXIT), idle(4 * S, 0, 1), idle(S, 1, EXIT), idle(4 * S, 1, 1)]
    evs.sort(key=lambda e: (e.t, e.cpu))
    line = textform.of_event(idle(2 * S, 0, EXIT))
    text = text_of(evs, 2).replace(line, line.replace('cpu_id=0', 'cpu_id=x'))
    (tmp / 'trace').write_text(text)
    done = tmigr('report', '--json', tmp / 'trace')
    tap.ok(done.returncode == 1 and 'a field that is no number' in done.stderr, 'a line of nonsense is told', [done.stderr])
    r = json.loads(done.stdout)
    tap.same([cpu_times(r, 0), cpu_times(r, 1), r['lost']['records']],
             [(0, 0, 3 * S, [0, 1]), (3 * S, 0, 0, [0, 1]), 1],
             'what its CPU was in is not known until its next event; others know')
    hole = text_of(evs, 2).encode().replace(textform.of_event(evs[2]).encode() + b'\n', b'\0' * 4096)
    (tmp / 'trace').write_bytes(hole)
    done = tmigr('report', tmp / 'trace')
    tap.ok(done.returncode == 1 and 'a hole of NUL bytes' in done.stderr and 'Timer migration' in done.stdout,
           'a hole in a text is told, the rest is shown', [done.stderr])
    # perf script -F +period
    period = '\n'.join(f'         swapper     0 [{e.cpu:03d}] {e.t / S:12.6f}:          1 power:{e.name}: '
                       f'state={e.f["state"]} cpu_id={e.cpu}' for e in evs)
    (tmp / 'trace').write_text(f'{period}\n')
    r = report(tmp / 'trace')
    tap.same(r and r['import']['events'], len(evs), "perf's period before the event's name")
    with open('/dev/zero', 'rb') as zero:
        done = tmigr('report', '-', stdin=zero)
    tap.ok(done.returncode == 1 and 'no line of it is an event' in done.stderr, 'an endless line ends', [done.stderr])


def pages_of(evs, before=lambda e, pages: None):
    formats = {f.name: f for texts in tracedat.formats_of(KERNEL)[0].values() for f in map(tracedat.Format, texts)}
    pages = tracedat.Pages()
    for e in evs:
        before(e, pages)
        name = {'cpu_id': 'cpu_id', 'state': 'state'}
        pages.add(e.t, formats[e.name].record(0, {name.get(k, k): v for k, v in e.f.items()}))
    return pages


def foreign(t):
    """What is of no use: its number is no event's."""
    return t, struct.pack('<HBBi', 9999, 0, 0, 0) + bytes(8)


def write(path, cpus, options=b''):
    systems, header_page = tracedat.formats_of(KERNEL)
    tracedat.write(path, header_page, systems, cpus, options)


def losses(tmp):
    """Losses among other events, before and after ours, move no edge of the window."""
    pages = tracedat.Pages()
    pages.add(*foreign(S))
    pages.lost(5)
    pages.add(*foreign(50 * S))
    record = {s: tracedat.Format((KERNEL / 'power/cpu_idle').read_text()).record(0, {'state': s, 'cpu_id': 0}) for s in (1, EXIT)}
    for t, s in (100, 1), (102, EXIT), (103, 1):
        pages.add(t * S, record[s])
    pages.lost(7)
    pages.add(*foreign(150 * S))
    write(tmp / 'lost.dat', [pages.bytes()])
    r = report(tmp / 'lost.dat')
    tap.same(r and [r['window_ns'], cpu_times(r, 0), r['lost']['records']], [3 * S + 1, (S, 0, 0, [0, 2 * S + 1]), 0],
             'losses before the first event and after the last are outside of the window')
    pages = tracedat.Pages()
    pages.add(100 * S, record[1])
    pages.lost(7)
    pages.add(*foreign(101 * S))
    pages.add(102 * S, record[EXIT])
    pages.add(103 * S, record[1])
    write(tmp / 'lost.dat', [pages.bytes()])
    r = report(tmp / 'lost.dat')
    tap.same(r and [r['window_ns'], cpu_times(r, 0), r['lost']['records']], [3 * S + 1, (S, 0, 2 * S, [0, 1]), 7],
             'one in between, which is of other events, blurs its CPU as far as its next event')


def damaged(tmp):
    """What must end, and says so."""
    good = pages_of([idle(S, 0, 1), idle(2 * S, 0, EXIT), idle(3 * S, 0, 1)]).bytes()
    used = struct.unpack_from('<Q', good, 8)[0]
    for name, length in ('leads back', 0xfffffff9), ('is none', 0), ('is 1', 1):
        page = bytearray(good)
        struct.pack_into('<II', page, 16 + used, 0, length)
        struct.pack_into('<Q', page, 8, used + 8)
        write(tmp / 'bad.dat', [bytes(page), pages_of([idle(S + 5, 1, 1)]).bytes()])
        done = tmigr('report', tmp / 'bad.dat')
        tap.ok(done.returncode in (0, 1) and 'on 2 CPUs' in done.stdout and done.stderr.count('\n') <= 1,
               f'a record whose length {name}: it ends', [done.returncode, done.stderr])
    write(tmp / 'bad.dat', [pages_of([idle(S, 0, 1), idle(2 * S, 0, EXIT)]).bytes() +
                           pages_of([idle(1 << 63, 0, 1)]).bytes()])
    done = tmigr('report', '--json', tmp / 'bad.dat')
    tap.ok(done.returncode == 1 and 'time goes out of range' in done.stderr and
           json.loads(done.stdout)['window_ns'] == S + 1, 'a stamp of 2^63 ns: the rest is told', [done.stderr, done.stdout[:300]])
    pages = tracedat.Pages()
    pages.add(*foreign(S))
    for name, data, said in ('nothing of use', pages.bytes(), 'a trace of 1 events, none of them'), ('nothing', b'', 'no events'):
        write(tmp / 'none.dat', [data])
        done = tmigr('report', tmp / 'none.dat')
        tap.ok(done.returncode == 1 and said in done.stderr and not done.stdout, f'a trace.dat with {name}: an error',
               [done.returncode, done.stderr, done.stdout])


def clocks(tmp):
    """Stamps that count no nanoseconds."""
    data = [pages_of([idle(S, 0, 1), idle(2 * S, 0, EXIT)]).bytes()]
    for clock, good in ('mono', True), ('x86-tsc', False), ('counter', False), ('uptime', False):
        name = f'local global [{clock}] boot\0'.encode()
        # TRACECMD_OPTION_TRACECLOCK
        write(tmp / 'clock.dat', data, struct.pack('<HI', 4, len(name)) + name)
        done = tmigr('report', tmp / 'clock.dat')
        tap.ok(done.returncode == 0 if good else done.returncode == 1 and f"trace_clock '{clock}'" in done.stderr,
               f'clock {clock}: {"taken" if good else "refused"}', [done.returncode, done.stderr])


def main():
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        for part in gone, edges, no_idle, classes, sparse, nonsense:
            part(tmp)
        for part in losses, damaged, clocks:
            if built_without('libtracecmd'):
                tap.skip(part.__name__, 'built without libtracecmd')
            else:
                part(tmp)
    tap.done()


main()
