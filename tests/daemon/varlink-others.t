#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The service through other ready-made clients, where the machine has them: Python's
varlink module (Debian: python3-varlink) and varlinkctl (systemd 255 and later)."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

try:
    import varlink
except ImportError:
    varlink = None

METHODS = 'Status', 'Topology', 'Totals', 'Metrics'


def reports(tmp, data):
    """What `tmigr report` makes of it."""
    path = pathlib.Path(tmp, 'events.tmr')
    path.write_bytes(data)
    done = subprocess.run([daemon.TMIGR, 'report', '--json', path], capture_output=True,
                          check=False)
    return json.loads(done.stdout) if not done.returncode else {'error': done.stderr}


def python(t, d, tmp):
    """It checks all values against the interface's description."""
    with varlink.Client.new_with_address(f'unix:{d.path}') as client, \
            client.open('org.tmigrd') as c:
        info = c.Status()
        t.ok(info['clients'] >= 1 and info['kernel'] == os.uname().release, 'python: Status')
        for method in METHODS:
            t.ok(getattr(c, method)(), f'python: {method}')
        w = c.OpenWindow()['window']
        t.ok(c.Mark('by python')['time_ns'], 'python: Mark')
        t.same(daemon.check_sums(c.ReadWindow(w)['report']), None, 'python: ReadWindow')
        report = c.CloseWindow(w)['report']
        t.same([m['text'] for m in report['marks']], ['by python'], 'python: CloseWindow')
        try:
            c.CloseWindow(w)
            t.ok(False, 'python: a typed error')
        except varlink.VarlinkError as e:
            t.same(e.error(), 'org.tmigrd.NoSuchWindow', 'python: a typed error')
    with varlink.Client.new_with_address(f'unix:{d.path}') as client, \
            client.open('org.tmigrd') as c:
        pieces = list(c.StartRecording(1_100_000_000, _more=True))
        t.same(pieces[-1]['report']['window_ns'], 1_100_000_000, 'python: StartRecording')
        data = b''.join(base64.b64decode(p['data']) for p in pieces if p.get('data'))
        t.ok(reports(tmp, data) == pieces[-1]['report'], 'python: its recording')
        seen = [r['report'] for r, _ in zip(c.Subscribe(1000, _more=True), range(2))]
        t.same(seen[0]['start_ns'] + seen[0]['window_ns'], seen[1]['start_ns'],
               'python: Subscribe')


def ctl(t, d, tmp):
    def run(*args, ok=True):
        done = subprocess.run(['varlinkctl', *args], capture_output=True, text=True, check=False,
                              timeout=daemon.TIMEOUT)
        t.ok((done.returncode == 0) == ok, f'varlinkctl {args[0]} {args[2:]}', [done.stderr])
        return done.stdout

    address = f'unix:{d.path}'
    t.ok('org.tmigrd' in run('info', address), 'varlinkctl: info')
    t.ok('method Subscribe' in run('introspect', address, 'org.tmigrd'), 'varlinkctl: introspect')
    for method in METHODS:
        t.ok(json.loads(run('call', '-j', address, f'org.tmigrd.{method}', '{}')),
             f'varlinkctl: {method}')
    run('call', '-j', address, 'org.tmigrd.CloseWindow', '{"window":12345}', ok=False)
    out = run('call', '-j', '--more', address, 'org.tmigrd.StartRecording',
              '{"duration_ns":1100000000}')
    pieces, decoder, at = [], json.JSONDecoder(), 0
    while at < len(out.rstrip('\n\x1e')):
        at += len(out[at:]) - len(out[at:].lstrip('\n\x1e'))
        piece, at = decoder.raw_decode(out, at)
        pieces.append(piece)
    data = b''.join(base64.b64decode(p['data']) for p in pieces if p.get('data'))
    t.same(reports(tmp, data).get('window_ns'), 1_100_000_000, 'varlinkctl: a recording')


def main():
    why = daemon.why_not()
    if not why and not varlink and not shutil.which('varlinkctl'):
        why = 'neither the varlink module of Python nor varlinkctl'
    if why:
        skip_all(why)
    t = Tap()
    with tempfile.TemporaryDirectory() as tmp, daemon.Daemon() as d:
        if varlink:
            python(t, d, tmp)
        else:
            t.skip('python', 'no varlink module')
        if shutil.which('varlinkctl'):
            ctl(t, d, tmp)
        else:
            t.skip('varlinkctl', 'not there')
        t.same(d.stop(), 0, 'SIGTERM: exit 0')
    t.done()


main()
