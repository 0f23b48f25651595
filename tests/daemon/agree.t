#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Windows of one daemon, its flight recorder, and a `tmigr run` beside it tell the
same of the time that they share: records one by one, figures to the ns where the
edges are the same."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

PROGRAMS = daemon.BUILD / 'tests/programs'
ENTER, EXIT = 1, 2
LAST_EVENT = 14  # kinds up to here are events of the kernel


class Recording:
    def __init__(self, path):
        done = subprocess.run([PROGRAMS / 'rec-dump', path], capture_output=True, text=True,
                              check=True)
        self.recs, self.start, self.end = [], None, None
        for line in done.stdout.splitlines():
            word, *numbers = line.split()
            if word == 'rec':
                self.recs.append(tuple(map(int, numbers)))
            elif word == 'window':
                self.start, self.end = map(int, numbers[:2])

    def events(self, start, end):
        return sorted(r for r in self.recs if start <= r[0] < end and r[2] <= LAST_EVENT)

    def idle(self, cpu):
        """[(time, kind, state)] of a CPU, in its order."""
        return [(r[0], r[2], r[6] if r[2] == ENTER else 0)
                for r in self.recs if r[1] == cpu and r[2] in (ENTER, EXIT)]


def wait_samples(d, n):
    """Some seconds, by the daemon's own clock."""
    c = d.client()
    c.ask('Subscribe', {'period_ms': 1000}, more=True)
    for _ in range(n):
        c.take()
    c.close()


def stop_recording(rec, c, path):
    """Its report."""
    data, end = rec.stop(c)
    path.write_bytes(data)
    return end['report']


def run_command(folder):
    command = [daemon.TMIGR, 'run', '-d', '3', '-o', folder, '--record']
    text = subprocess.run([daemon.TMIGR, 'run', '--help'], capture_output=True, text=True,
                          check=True).stdout
    return command + ['--no-daemon'] * ('--no-daemon' in text)


def overlapping(t, d, tmp):
    """A, then the run, then B begin; A, the run, B end."""
    c = d.client()
    a = daemon.Recording(d.path)
    run = subprocess.Popen(run_command(tmp / 'run'), stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
    wait_samples(d, 2)
    b = daemon.Recording(d.path)
    wait_samples(d, 2)
    reports = {'a': stop_recording(a, c, tmp / 'a.tmr')}
    _, complaint = run.communicate()
    t.same(run.returncode, 0, 'a run beside the daemon')
    if run.returncode:
        t.note(complaint)
    reports['b'] = stop_recording(b, c, tmp / 'b.tmr')
    t.same([daemon.check_sums(r) for r in reports.values()], [None, None], 'sums')
    recs = {name: Recording(tmp / file) for name, file in
            (('a', 'a.tmr'), ('b', 'b.tmr'), ('run', 'run/events.tmr'))}
    start, end = recs['b'].start, recs['a'].end
    t.ok(recs['a'].start < start < end < recs['b'].end, 'the windows overlap')
    mine, theirs = (recs[x].events(start, end) for x in 'ab')
    t.ok(mine == theirs, 'two windows of a daemon have the same records in their overlap',
         [str(set(mine) ^ set(theirs))[:300]])
    t.note(f'{len(mine)} events in {end - start} ns')
    beside(t, recs['a'], recs['run'])
    c.close()


def nearest(times, x):
    return min(range(len(times)), key=lambda i: abs(times[i][0] - x))


def beside(t, a, run):
    """Two engines: the same idle states in the same order; each stamps by itself."""
    start, end = max(a.start, run.start), min(a.end, run.end)
    worst = checked = 0
    for cpu in sorted({r[1] for r in run.recs if r[2] in (ENTER, EXIT)}):
        theirs = [r for r in run.idle(cpu) if start <= r[0] < end][1:-1]
        mine = a.idle(cpu)
        if not theirs or not mine:
            continue
        # A short idle's ends may be closer together than two stamps of one event: the
        # first ones together say where; at the end one more or less is no difference,
        # a lost idle period is two.
        at = nearest(mine, theirs[0][0])
        at = min((i for i in (at - 1, at, at + 1) if i >= 0),
                 key=lambda i: sum(abs(x[0] - y[0])
                                   for x, y in zip(mine[i:], theirs[:50])))
        part = mine[at:at + len(theirs)]
        checked += len(part)
        t.ok([r[1:] for r in part] == [r[1:] for r in theirs] and
             abs(nearest(mine, theirs[-1][0]) - (at + len(theirs) - 1)) <= 1,
             f'CPU {cpu}: the daemon and the run saw the same idle states')
        worst = max([worst] + [abs(x[0] - y[0]) for x, y in zip(part, theirs)])
    if not checked:
        t.skip('the daemon and the run saw the same idle states', 'no CPU went idle')
    t.note(f'{checked} idle events, stamps at most {worst} ns apart')


def add(reports):
    """Figures of consecutive windows, added up."""
    out = {}
    for r in reports:
        for cpu in r['cpus']:
            for name in 'running_ns', 'offline_ns', 'unknown_ns':
                key = cpu['cpu'], name
                out[key] = out.get(key, 0) + cpu[name]
            for s in cpu['states']:
                for name in 'time_ns', 'entries', 'above', 'below':
                    key = cpu['cpu'], s['index'], name
                    out[key] = out.get(key, 0) + s[name]
        for root in r['roots']:
            for name in 'held', 'handover', 'duty', 'free', 'unknown':
                key = root['group'], name
                out[key] = out.get(key, 0) + root[name + '_ns']
            for h in root['holders']:
                key = root['group'], h['cpu']
                out[key] = out.get(key, 0) + h['held_ns']
        for m in r['remote']:
            key = 'remote', m['executor'], m['target']
            out[key] = out.get(key, 0) + m['count']
    return {k: v for k, v in out.items() if v}


def adds_up(t, d):
    short, long = d.client(), d.client()
    long.ask('Subscribe', {'period_ms': 3000}, more=True)
    short.ask('Subscribe', {'period_ms': 1000}, more=True)
    long.take()
    whole = long.take()['report']
    end = whole['start_ns'] + whole['window_ns']
    parts = []
    while not parts or parts[-1]['start_ns'] + parts[-1]['window_ns'] < end:
        parts.append(short.take()['report'])
    parts = [p for p in parts if p['start_ns'] >= whole['start_ns']]
    t.same((parts[0]['start_ns'], sum(p['window_ns'] for p in parts)),
           (whole['start_ns'], whole['window_ns']), 'periods share their edges')
    got, want = add(parts), add([whole])
    t.ok(got == want, 'short windows add up to the long one, to the ns',
         [f'{k}: {got.get(k)} {want.get(k)}' for k in got.keys() | want.keys()
          if got.get(k) != want.get(k)])
    short.close()
    long.close()


def flight(t, d, tmp, wait):
    """@wait: with others' edges in between, or without; the recorder's own differ."""
    c = d.client()
    whole = daemon.Recording(d.path)
    wait()
    c.ask('DumpFlight', {'last_s': 1}, more=True)
    data, got = c.data()
    (tmp / 'dump.tmr').write_bytes(data)
    stop_recording(whole, c, tmp / 'whole.tmr')
    whole, dump = Recording(tmp / 'whole.tmr'), Recording(tmp / 'dump.tmr')
    state = d.status()['flight']
    t.ok(whole.start < dump.start, 'the dump begins in the middle',
         [f'{whole.start} {dump.start}'])
    t.same((dump.start, dump.end), (got['start_ns'], got['end_ns']), 'its window')
    mine, theirs = (r.events(dump.start, dump.end) for r in (whole, dump))
    t.ok(mine == theirs, 'a dump has the records of its time, all and no other',
         [str(set(mine) ^ set(theirs))[:300]])
    done = subprocess.run([daemon.TMIGR, 'report', '--json', tmp / 'dump.tmr'], check=True,
                          capture_output=True)
    report = daemon.json.loads(done.stdout)
    t.same(daemon.check_sums(report), None, 'its report: sums')
    t.same(sum(x['unknown_ns'] for x in report['cpus'] + report['roots']), 0,
           'its report: nothing unknown')
    t.ok(state['from_ns'] > d.start_ns, 'what is old goes', [str(state)])
    c.close()


def bounded(t):
    """Where the memory is little, it bounds the time."""
    with daemon.Daemon('--flight', '1h', '--flight-mem', '16K') as d:
        wait_samples(d, 6)
        state = d.status()['flight']
        t.ok(state['bytes'] <= 16 << 10 or state['to_ns'] - state['from_ns'] < 4e9,
             'the flight recorder keeps to its memory', [str(state)])
    with daemon.Daemon('--flight', '0') as d:
        c = d.client()
        t.same(c.error('DumpFlight', more=True)[0], 'NoFlight', 'off: a typed error')
        c.close()
        t.same(d.stop(), 0, 'SIGTERM: exit 0')


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    t = Tap()
    # Its sleepers are processes of their own: the whole group ends together.
    load = subprocess.Popen([PROGRAMS / 'tm-load', '-q', '-d', '600'], start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with daemon.Daemon('--flight', '8') as d, tempfile.TemporaryDirectory() as tmp:
            tmp = pathlib.Path(tmp)
            d.start_ns = d.status()['start_ns']
            overlapping(t, d, tmp)
            adds_up(t, d)
            flight(t, d, tmp, lambda: wait_samples(d, 9))
            flight(t, d, tmp, lambda: time.sleep(9))
            t.same(d.status()['lost_records'], 0, 'no record was lost')
            t.same(d.stop(), 0, 'SIGTERM: exit 0')
            t.ok('ERROR: ' not in d.messages() and 'runtime error' not in d.messages(),
                 'no complaint', d.messages().splitlines())
        bounded(t)
    finally:
        os.killpg(load.pid, signal.SIGTERM)
        load.wait()
    t.done()


main()
