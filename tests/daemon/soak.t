#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A daemon in use for a while ($TMIGR_SOAK samples of a second, 15): short windows
add up to the long one without drift, memory stays, descriptors stay."""

import os
import pathlib
import sys

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

SAMPLES = max(int(os.environ.get('TMIGR_SOAK', '15')), 12)
SLACK = 4 << 20  # of the allocator


def anonymous(d):
    for line in pathlib.Path(f'/proc/{d.pid}/status').read_text().splitlines():
        if line.startswith('RssAnon:'):
            return int(line.split()[1]) << 10
    return 0


def use(d):
    """What clients do."""
    c = d.client()
    w = c.call('OpenWindow')['window']
    for method in 'Status', 'Topology', 'Totals', 'Metrics':
        c.call(method)
    c.call('Mark', {'text': 'x' * 100})
    c.call('ReadWindow', {'window': w})
    daemon.Recording(d.path).stop(c)
    c.call('OpenWindow')  # goes with the connection
    c.close()


def total(reports, out=None):
    out = {} if out is None else out
    for r in reports:
        for cpu in r['cpus']:
            for k in 'running_ns', 'offline_ns', 'unknown_ns':
                out[cpu['cpu'], k] = out.get((cpu['cpu'], k), 0) + cpu[k]
            for s in cpu['states']:
                for k in 'time_ns', 'entries':
                    key = cpu['cpu'], s['index'], k
                    out[key] = out.get(key, 0) + s[k]
        for root in r['roots']:
            for k in 'held_ns', 'handover_ns', 'duty_ns', 'free_ns', 'unknown_ns':
                out[root['group'], k] = out.get((root['group'], k), 0) + root[k]
    return out


def soak(t, d):
    whole, short = d.client(), d.client()
    whole.ask('Subscribe', {'period_ms': (SAMPLES // 2) * 1000}, more=True)
    short.ask('Subscribe', {'period_ms': 1000}, more=True)
    samples, memory, fds, bad = [], [], [], []
    for _ in range(SAMPLES + 2):
        samples.append(short.take()['report'])
        bad += filter(None, [daemon.check_sums(samples[-1])])
        use(d)
        memory.append(anonymous(d))
        fds.append(len(os.listdir(f'/proc/{d.pid}/fd')))
    t.ok(not bad, 'sums of every sample', bad)
    whole.take()
    long = whole.take()['report']
    end = long['start_ns'] + long['window_ns']
    while samples[-1]['start_ns'] + samples[-1]['window_ns'] < end:
        samples.append(short.take()['report'])
    parts = [s for s in samples
             if s['start_ns'] >= long['start_ns'] and s['start_ns'] < end]
    got = {k: v for k, v in total(parts).items() if v}
    want = {k: v for k, v in total([long]).items() if v}
    t.ok(got == want, f'{len(parts)} samples add up to the long window',
         [f'{k}: {got.get(k)} {want.get(k)}' for k in got.keys() | want.keys()
          if got.get(k) != want.get(k)])
    # What the machine does is held, too: compared once it has done it for a while. A
    # connection that was closed may not be seen yet.
    quarter = len(memory) // 4
    early, late = max(memory[quarter:2 * quarter]), min(memory[-quarter:])
    some = slice(None, None, max(SAMPLES // 20, 1))
    t.ok(late <= early + SLACK, 'memory stays', [f'{early} early, {late} late'])
    t.ok(min(fds[-quarter:]) <= min(fds[:quarter]), 'descriptors stay', [str(fds[some])])
    t.note(f'resident by sample: {memory[some]}')
    t.note(f'resident, not of files: {early} early, {late} late; {len(samples)} samples')
    t.same(d.status()['lost_records'], 0, 'no record was lost')


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    t = Tap()
    # The recorder is full after some seconds.
    with daemon.Daemon('--flight', '4') as d:
        soak(t, d)
        t.same(d.stop(), 0, 'SIGTERM: exit 0')
        t.ok('ERROR: ' not in d.messages() and 'runtime error' not in d.messages(),
             'no complaint', d.messages().splitlines())
    t.done()


main()
