#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon on ftrace's buffers (--source ftrace): the same service, in a tracefs
instance of its own, which is gone with it however it ends."""

import os
import pathlib
import signal
import subprocess
import sys
import time

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
import tracefs  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

INSTANCES = tracefs.FOLDER / 'instances'
EVENTS = 'power', 'timer_migration', 'cpuhp'
BUSY = "sleep 0.3; i=0; while [ $i -lt 100 ]; do sleep 0.004; i=$((i + 1)); done"


def instances(pid):
    """Of that process."""
    return [p for p in INSTANCES.iterdir() if str(pid) in p.name]


def gone(pid):
    """Once whoever removes it had its turn."""
    for _ in range(daemon.TIMEOUT * 10):
        if not instances(pid):
            return True
        time.sleep(0.1)
    return False


def others():
    """What the global buffer traces: not to be touched."""
    top = INSTANCES.parent
    return [(top / name).read_text() for name in ('current_tracer', 'trace_clock', 'buffer_size_kb',
                                                  'tracing_on', 'set_event')]


def serves(t, d):
    c = d.client()
    status = c.call('Status')
    t.ok('ftrace' in str(status), 'Status says what it reads', [str(status)])
    window = c.call('OpenWindow')['window']
    c.call('Mark', {'text': 'on ftrace'})
    subprocess.run(['sh', '-c', BUSY], check=True)
    report = c.call('CloseWindow', {'window': window})['report']
    t.same(daemon.check_sums(report), None, 'a window: its sums')
    t.same([m['text'] for m in report['marks']], ['on ftrace'], 'its mark')
    totals = c.call('Totals')['report']
    t.same(daemon.check_sums(totals), None, 'the totals: their sums')
    t.ok(totals['window_ns'] > report['window_ns'], 'since the start')
    rec = daemon.Recording(d.path, 1_100_000_000)
    data, last = rec.finish()
    t.same(last['report']['window_ns'], 1_100_000_000, 'a recording: its window')
    path = pathlib.Path(d.dir.name, 'events.tmr')
    path.write_bytes(data)
    done = subprocess.run([daemon.TMIGR, 'report', path], capture_output=True, text=True, check=False)
    t.same((done.returncode, done.stderr), (0, ''), 'which can be read')
    run = subprocess.run([daemon.TMIGR, 'run', '--socket', d.path, '--', 'sleep', '0.2'],
                         capture_output=True, text=True, check=False)
    t.ok(run.returncode == 0, 'tmigr run works through it', [run.stderr])


def main():
    why = daemon.why_not()
    if not why and not tracefs.is_there():
        why = 'no tracefs here'
    if why:
        skip_all(why)
    t = Tap()
    before = others()
    with daemon.Daemon('--source', 'ftrace') as d:
        t.same(len(instances(d.pid)), 1, 'one instance of its own')
        serves(t, d)
        t.same(others(), before, "nobody else's buffer was touched")
        pid = d.pid
        t.same(d.stop(), 0, 'SIGTERM: exit 0')
        t.ok(gone(pid), 'and the instance is gone')
    with daemon.Daemon('--source', 'ftrace') as d:
        pid = d.pid
        d.stop(signal.SIGKILL)
        t.ok(gone(pid), 'kill -9: the instance is gone too')
        with daemon.Daemon('--source', 'ftrace', path=d.path) as again:
            t.same(daemon.check_sums(again.client().call('Totals')['report']), None,
                   'the next one takes over')
            t.same(again.stop(), 0, 'SIGTERM: exit 0')
    t.same(others(), before, "and nobody else's buffer was touched")
    t.done()


main()
