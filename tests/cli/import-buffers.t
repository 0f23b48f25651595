#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of several buffers (trace-cmd record -B), as trace.dat, as text in trace-cmd's
form, and as trace-cmd prints the trace.dat: idle states in one and timer migration in
another are one trace; what two have is counted once."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import events  # noqa: E402
import textform  # noqa: E402
import tracedat  # noqa: E402
from tap import Tap, built_without  # noqa: E402

TMIGR = pathlib.Path(os.environ['B']) / 'tmigr'
CAPTURE = TESTS / 'fixtures/captures/rk3576-7.3.4-all/trace.txt.gz'
KERNEL = TESTS / 'fixtures/kernels/7.3.4'
N_CPUS = 8
EXIT = 0xffffffff
GROUP = 0xffff888100001000
S = 10**9
DAT = not built_without('libtracecmd')
TRACE_CMD = shutil.which('trace-cmd')
tap = Tap()
notes = []


def report(path):
    """Its figures, how many events were passed over, and what it said; the note on buffers goes to `notes`."""
    notes.clear()
    done = subprocess.run([TMIGR, 'report', '--json', path], capture_output=True, text=True, check=False,
                          timeout=300)
    try:
        r = json.loads(done.stdout)
    except ValueError:
        return None, None, done.stderr
    skipped = r['import']['skipped']
    notes.extend(n for n in r['import']['notes'] if 'several buffers' in n)
    r = {k: v for k, v in r.items() if k not in ('import', 'tool', 'observer', 'kernel', 'machine', 'host')}
    return r, skipped, done.stderr


def text_of(buffers, lost):
    """As trace-cmd report prints [(name, events)]; `lost`: {id(event): how many before it}."""
    out, width = ['cpus=8'], max(len(name) for name, _ in buffers)
    for name, e in sorted(((name, e) for name, es in buffers for e in es), key=lambda x: x[1].t):
        head = f'{name:>{width}}{": " if name else "  "}' if width else ''
        if id(e) in lost:  # the event behind that line has no name of its own
            out.append(f'{head}CPU:{e.cpu} [{lost[id(e)]} EVENTS DROPPED]')
            head = ''
        out.append(head + textform.of_event(e))
    return '\n'.join(out) + '\n'


def forms(tmp, name, buffers, lost):
    """The same trace in each form that can be had: (what it is, file)."""
    (tmp / 'trace.txt').write_text(text_of(buffers, lost))
    yield f'{name}, text', tmp / 'trace.txt'
    if not DAT:
        tap.skip(f'{name}, trace.dat', 'built without libtracecmd')
        return
    by_event = iter([e for es in (b for _, b in buffers) for e in es])

    def before(_, pages):
        e = next(by_event)
        if id(e) in lost:
            pages.lost(lost[id(e)])

    top = [e for n, es in buffers if not n for e in es]
    tracedat.from_events(tmp / 'trace.dat', KERNEL, top, N_CPUS, before,
                         buffers=[b for b in buffers if b[0]])
    yield f'{name}, trace.dat', tmp / 'trace.dat'
    if not TRACE_CMD:
        tap.skip(f"{name}, trace-cmd's text", 'no trace-cmd')
        return
    with open(tmp / 'printed.txt', 'wb') as out:
        subprocess.run([TRACE_CMD, 'report', '-t', tmp / 'trace.dat'], stdout=out, stderr=subprocess.DEVNULL,
                       check=True)
    yield f"{name}, trace-cmd's text", tmp / 'printed.txt'


def is_idle(e):
    return e.name.startswith('cpu_idle')


def arrangements(tmp):
    evs = events.read(CAPTURE)
    idle, rest = [e for e in evs if is_idle(e)], [e for e in evs if not is_idle(e)]
    (tmp / 'plain').write_text(text_of([('', evs)], {}))
    want, skipped, said = report(tmp / 'plain')
    tap.ok(want and want['roots'] and not skipped and not said, 'one buffer', [said])
    tap.same(notes, [], '... of which nothing is said')
    for name, buffers, twice, note in (
            ('in an instance', [('', []), ('a', evs)], 0, "all events come from 'a'"),
            ('the same in two', [('', evs), ('a', evs)], len(evs), 'all events come from the main one'),
            ('apart in two instances', [('', []), ('idle', idle), ('tmigr', rest)], 0,
             "idle states come from 'idle', timer migration comes from 'tmigr'"),
            ('apart, one without a name', [('', idle), ('tmigr', rest)], 0,
             "idle states come from the main one, timer migration comes from 'tmigr'"),
            ('idle states twice', [('', idle), ('all', evs)], len(idle),
             "idle states come from the main one, timer migration comes from 'all'")):
        for what, path in forms(tmp, name, buffers, {}):
            got, skipped, said = report(path)
            tap.same((got, skipped, said), (want, twice, ''), what)
            tap.same(notes, [f'the file has several buffers: {note}.'], '... and whose events they are')
    if DAT:
        data = (tmp / 'trace.dat').read_bytes()
        at = data.index(b'all\0') - 8
        (tmp / 'bad.dat').write_bytes(data[:at] + struct.pack('<Q', 1 << 40) + data[at + 8:])
        got, _, said = report(tmp / 'bad.dat')
        tap.ok(got and "the buffer 'all' cannot be read" in said and said.count('\n') == 1,
               'one that lies behind the end of the file: told, the rest is used', [got, said])
        tracedat.from_events(tmp / 'many.dat', KERNEL, [], 1, buffers=[(f'b{i}', []) for i in range(256)])
        got, _, said = report(tmp / 'many.dat')
        tap.ok(not got and 'many.dat: names 256 buffers' in said and said.count('\n') == 1, 'so many are none', [said])


def losses(tmp):
    def idle(t, cpu, state):
        return events.Event(t * S, cpu, 0, 'cpu_idle', {'state': state, 'cpu_id': cpu})

    def armed(t):
        return events.Event(t * S, 0, 0, 'tmigr_cpu_new_timer_idle', {'cpu': 0, 'parent': GROUP, 'wakeup': 9 * S})

    states = [idle(1, 0, EXIT), idle(1, 1, 1), idle(2, 0, 1), idle(6, 0, EXIT), idle(7, 0, 1),
              idle(8, 1, EXIT)]
    timers = [armed(3), armed(4)]
    lost = {id(states[3]): 5}
    for what, path in forms(tmp, 'what one has lost', [('', states), ('t', timers)], lost):
        got, _, said = report(path)
        if 'text' in what:
            tap.ok(got and 'one of several buffers has lost events' in said and said.count('\n') == 1 and
                   got['lost']['records'] == 5, f'{what}: it may have been earlier', [got, said])
            continue
        c = got and got['cpus'][0]
        tap.same(c and (c['running_ns'], [s['time_ns'] for s in c['states']], c['unknown_ns'],
                        got['lost']['records'], said),
                 (2 * S, [0, S + 1], 4 * S, 5, ''), f'{what}: unknown from its event before on')
    (tmp / 'plain').write_text(text_of([('', states)], {}))
    want, _, _ = report(tmp / 'plain')
    again = [events.Event(e.t, e.cpu, e.pid, e.name, e.f) for e in states]
    for what, path in forms(tmp, 'what one has lost that does not count', [('', states), ('twice', again)],
                            {id(again[3]): 5}):
        got, skipped, said = report(path)
        tap.same((got, skipped, said), (want, len(again), ''), what)


def main():
    with tempfile.TemporaryDirectory() as folder:
        arrangements(pathlib.Path(folder))
        losses(pathlib.Path(folder))
    tap.done()


main()
