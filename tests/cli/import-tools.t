#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Text as the tools of this machine print it: trace-cmd's of a real trace.dat gives what
the file itself gives; each event that perf recorded here and printed is counted."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

from tap import Tap  # noqa: E402

TMIGR = pathlib.Path(os.environ['B']) / 'tmigr'
FIXTURES = TESTS / 'fixtures/tracedat'
OURS = re.compile(rb' (?:timer_migration:tmigr_\w+|power:cpu_idle(?:_miss)?): ')
tap = Tap()


def run(*args, **kwargs):
    return subprocess.run([str(a) for a in args], capture_output=True, check=False,
                          timeout=300, **kwargs)


def report(path, **kwargs):
    r = run(TMIGR, 'report', '--json', path, **kwargs)
    return json.loads(r.stdout) if r.returncode == 0 else {'error': r.stderr.decode()}


def figures(rep):
    return {k: v for k, v in rep.items() if k != 'import'}


def entries(rep):
    return [(c['cpu'], [(s['index'], s['entries']) for s in c['states']])
            for c in rep.get('cpus', [])]


def cut_times(name, exact, cut):
    """Stamps cut to microseconds: each edge of a stay moves by less than one."""
    bad = []
    for a, b in zip(exact['cpus'], cut['cpus']):
        edges = 2 * sum(s['entries'] for s in a['states']) + 4
        if abs(a['running_ns'] - b['running_ns']) > edges * 1000:
            bad.append(f"CPU {a['cpu']}: {a['running_ns']} {b['running_ns']}")
        for s, t in zip(a['states'], b['states']):
            if abs(s['time_ns'] - t['time_ns']) > (2 * s['entries'] + 2) * 1000:
                bad.append(f"CPU {a['cpu']} state {s['index']}: {s} {t}")
    tap.ok(exact['cpus'] and not bad, f'{name}: times, by what the stamps say', bad)


def trace_cmd(tmp):
    if not shutil.which('trace-cmd'):
        tap.skip('trace-cmd report', 'no trace-cmd here')
        return
    dat = tmp / 'version-6.dat'
    dat.write_bytes(gzip.open(FIXTURES / 'version-6.dat.gz').read())
    want = report(dat)
    tap.ok(want.get('cpus') and want['roots'] and want['import']['events'] > 2000,
           'the trace.dat is reported', [want.get('error')])
    for options in ['-t'], ['-t', '-l'], [], ['-l']:
        name = ' '.join(['trace-cmd report', *options])
        text = run('trace-cmd', 'report', *options, dat).stdout
        rep = report('-', input=text)
        if options and options[0] == '-t':
            tap.same(figures(rep), figures(want), f'{name}: what the file gives')
            continue
        tap.same(entries(rep), entries(want), f'{name}: entries of the file')
        tap.same(rep.get('import', {}).get('events'), want['import']['events'],
                 f'{name}: all events')
        if 'cpus' in rep:
            cut_times(name, want, rep)


def perf(tmp):
    data = tmp / 'perf.data'
    if not shutil.which('perf'):
        tap.skip('perf script', 'no perf here')
        return
    run('perf', 'record', '-q', '-o', data, '-a', '-e', 'timer_migration:*',
        '-e', 'power:cpu_idle', 'sleep', '0.5')
    text = run('perf', 'script', '-i', data).stdout if data.exists() else b''
    n = len(OURS.findall(text))
    if not n:
        tap.skip('perf script', 'perf may not record here, or nothing happened')
        return
    for options in [], ['--ns'], ['--header']:
        text = run('perf', 'script', *options, '-i', data).stdout
        rep = report('-', input=text)
        name = ' '.join(['perf script', *options])
        tap.same(rep.get('import', {}).get('events'), n, f'{name}: all events')
        tap.ok(not rep.get('import', {}).get('partial'), f'{name}: nothing is wrong',
               [rep.get('error')])


def main():
    with tempfile.TemporaryDirectory() as folder:
        trace_cmd(pathlib.Path(folder))
        perf(pathlib.Path(folder))
    tap.done()


main()
