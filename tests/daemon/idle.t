#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A daemon that nobody asks: it wakes up at most once a drain period, on its CPU only;
and one that was stopped for some periods (a gap in time): nothing is wrong afterwards."""

import os
import pathlib
import signal
import sys
import time

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

PERIODS = 12


def idle(t, drain_s, periods):
    """As many as there are points of the daemon's grid in the time at the most; the
    recorder has a place to begin at every other drain."""
    with daemon.Daemon('--drain', f'{drain_s}s', '--flight', f'{16 * drain_s}s') as d:
        cpu = d.status()['observer']['housekeeping_cpu']
        while d.status()['observer']['drains'] < 3 or not d.status()['flight']['from_ns']:
            pass
        time.sleep(drain_s)  # the end of that connection is seen
        begin, first = time.monotonic(), daemon.switches(d.pid)
        time.sleep(periods * drain_s)
        n = daemon.switches(d.pid) - first
        most = int((time.monotonic() - begin) / drain_s) + 1
        t.ok(n <= most, f'--drain {drain_s}s: at most one wake-up a period',
             [f'{n} in {periods} periods, at most {most}'])
        t.ok(n >= periods // 2, f'--drain {drain_s}s: it does drain', [str(n)])
        t.note(f'--drain {drain_s}s: {n} wake-ups in {periods} periods')
        allowed = os.sched_getaffinity(d.pid)
        t.ok(cpu is None or allowed == {cpu}, f'it may run on CPU {cpu} only', [str(allowed)])
        flight = d.status()['flight']
        t.ok(flight['from_ns'] and flight['to_ns'] > flight['from_ns'], 'it has recorded',
             [str(flight)])
        t.same(d.stop(), 0, 'SIGTERM: exit 0')


def gap(t):
    with daemon.Daemon('--flight', '60s') as d:
        c, sub = d.client(), d.client()
        rec = daemon.Recording(d.path)
        w = c.call('OpenWindow')
        sub.ask('Subscribe', {'period_ms': 1000}, more=True)
        before = sub.take()['report']
        d.proc.send_signal(signal.SIGSTOP)
        time.sleep(5)
        d.proc.send_signal(signal.SIGCONT)
        samples = [before]
        while samples[-1]['start_ns'] + samples[-1]['window_ns'] < \
                before['start_ns'] + 8 * 10**9:
            samples.append(sub.take()['report'])
        t.same([daemon.check_sums(r) for r in samples], [None] * len(samples),
               'stopped for 5 s: sums of all samples')
        t.same([r['start_ns'] + r['window_ns'] for r in samples[:-1]],
               [r['start_ns'] for r in samples[1:]], 'no time is missing between them')
        t.ok(max(r['window_ns'] for r in samples) > 4 * 10**9, 'one of them is the gap')
        report = c.call('CloseWindow', {'window': w['window']})['report']
        t.same(daemon.check_sums(report), None, 'a window over it: sums')
        data, end = rec.stop(c)
        t.same(daemon.check_sums(end['report']), None, 'a recording over it: sums')
        # The programs count in the kernel, whoever sleeps; the timeline may have had no
        # room, and then it says so.
        lost = c.call('Status')['lost_records']
        unknown = sum(cpu['unknown_ns'] for cpu in report['cpus'])
        t.same(unknown, 0, "idle states: all known, by the kernel's own figures")
        blurred = sum(r['unknown_ns'] for r in report['roots'])
        t.ok(lost or not blurred, 'the migrator: known, or losses are told',
             [f'{lost} lost, {blurred} ns unknown'])
        t.note(f'{len(samples)} samples, {lost} records lost, {blurred} ns unknown')
        t.same(d.stop(), 0, 'SIGTERM: exit 0')


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    t = Tap()
    idle(t, 1, PERIODS)
    idle(t, 2, PERIODS // 3)
    gap(t)
    t.done()


main()
