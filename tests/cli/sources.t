#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A BPF recording of a board, and the trace.dat that the same events would have made:
without seq, and without what BPF reads at the start. From half a second on they give
the same residency, holders, holdings and matrix."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import sources  # noqa: E402
import tracedat  # noqa: E402
from events import Event  # noqa: E402
from figures import IDLE_EXIT  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

B = pathlib.Path(os.environ['B'])
TMIGR = B / 'tmigr'
KERNEL = TESTS / 'fixtures/kernels/7.3.4'
CPU_EVENTS = {6: 'tmigr_cpu_active', 7: 'tmigr_cpu_idle', 8: 'tmigr_cpu_new_timer_idle',
              9: 'tmigr_cpu_new_timer', 11: 'tmigr_cpu_available', 12: 'tmigr_cpu_unavailable'}


def events_of(recording):
    """The records of kernel events, as ftrace would have them."""
    rows = [[int(x) for x in line.split()[1:]] for line in recording.lines]
    group = {b: a for _, _, kind, _, _, _, a, b in rows if kind == 33}
    parent = {a: b for _, _, kind, _, _, _, a, b in rows if kind == 32}
    node = {a: cpu for _, cpu, kind, _, _, _, a, b in rows if kind == 32}
    out = []
    for t, cpu, kind, flags, level, mask, a, b in rows:
        if kind in (1, 2):
            out.append(Event(t, cpu, 0, 'cpu_idle', {'state': a if kind == 1 else IDLE_EXIT, 'cpu_id': cpu}))
        elif kind in (4, 5):
            out.append(Event(t, cpu, 0, f'tmigr_group_set_cpu_{"" if kind == 4 else "in"}active', {
                'group': a, 'parent': parent.get(a, 0), 'lvl': level, 'numa': node.get(a, 0),
                'active': b & 0xff, 'migrator': b >> 8 & 0xff, 'childmask': mask}))
        elif kind in CPU_EVENTS:
            out.append(Event(t, cpu, 0, CPU_EVENTS[kind], {'cpu': b, 'wakeup': a, 'parent': group.get(b, 0)}))
        elif kind == 10:
            out.append(Event(t, cpu, 0 if flags & 1 else 4711, 'tmigr_handle_remote_cpu', {
                'cpu': b, 'parent': group.get(b, 0), 'wakeup': 0}))
    return out


def main():
    if 'no libtracecmd' in subprocess.run([TMIGR, '--version'], capture_output=True, text=True).stdout:
        skip_all('built without libtracecmd')
    tap = Tap()
    path = TESTS.parent / 'demo/events.tmr'
    bpf = sources.Recording(B / 'tests/programs', path)
    report = json.loads(subprocess.run([TMIGR, 'report', '--json', path], capture_output=True, text=True).stdout)
    capacities = {c['cpu']: c['capacity'] for c in report['cpus']}
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        tracedat.from_events(tmp / 'same.dat', KERNEL, events_of(bpf), len(capacities))
        done = subprocess.run([TMIGR, 'import', '-q', '-o', tmp / 'run', tmp / 'same.dat'],
                              capture_output=True, text=True)
        tap.ok(done.returncode == 0, 'the trace.dat is imported', [done.stderr])
        dat = sources.Recording(B / 'tests/programs', tmp / 'run/events.tmr')
    start, end = max(bpf.start, dat.start) + 500_000_000, min(bpf.end, dat.end)
    a, b = (sources.answer(B / 'tests/programs', r, start, end, capacities) for r in (bpf, dat))
    tap.ok(a['records'] > 10000 and end - start > 4e9, 'there is something to compare', [a['records']])
    tap.ok(sum(h['holdings'] for r in a['roots'] for h in r['holders']) > 100, 'and holdings')
    tap.same(sources.unknown(b), (0, 0), 'nothing is unknown')
    found = [text for _, text in sources.differences(a, b)]
    tap.ok(not found, 'residency, holders, holdings and matrix are the same', found)
    regimes = [[r['regimes'] for r in x['roots']] for x in (a, b)]
    tap.note(f'regimes: {regimes}')
    same = [x['time_ns'] for x in a['cpus']] == [x['time_ns'] for x in b['cpus']]
    tap.ok(same, 'residency to the ns, as the stamps are the same')
    tap.done()


main()
