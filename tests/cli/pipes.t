#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pipes that end early: who writes standard input dies in the middle of a line or a record;
who reads standard output goes away."""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

from tap import Tap  # noqa: E402

TMIGR = pathlib.Path(os.environ['B']) / 'tmigr'
DEMO = TESTS.parent / 'demo/events.tmr'
tap = Tap()

# Gives the first bytes of a file, and then waits to be killed.
FEED = 'import sys, time; f = open(sys.argv[1], "rb"); ' \
       'sys.stdout.buffer.write(f.read(int(sys.argv[2]))); sys.stdout.flush(); ' \
       'sys.stderr.write("x"); sys.stderr.flush(); time.sleep(1000)'


def from_dying(path, n, *args):
    """tmigr with standard input from a process that is killed after @n bytes of @path."""
    feed = subprocess.Popen([sys.executable, '-c', FEED, path, str(n)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
    with subprocess.Popen([TMIGR, *args], stdin=feed.stdout, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as reader:
        feed.stdout.close()
        feed.stderr.read(1)
        feed.send_signal(signal.SIGKILL)
        out, err = reader.communicate(timeout=300)
    feed.wait()
    feed.stderr.close()
    return reader.returncode, out, err.decode()


def as_file(tmp, data):
    (tmp / 'cut').write_bytes(data)
    r = subprocess.run([TMIGR, 'report', '--json', tmp / 'cut'], capture_output=True, timeout=300,
                       check=False)
    return json.loads(r.stdout) if r.stdout else None


def without_names(report):
    """Where it was read from is in two places."""
    return {k: v for k, v in report.items() if k not in ('partial', 'import')}


def part(tmp, name, data, n, where):
    """A report of what came, which says so; the same as of a file that ends there."""
    path = tmp / 'whole'
    path.write_bytes(data)
    status, out, err = from_dying(path, n, 'report', '--json', '-')
    tap.same((status, len(err.splitlines())), (1, 1), f'{name}: report: status 1, one line')
    tap.ok('a part of the run only: standard input: ' in err and where in err,
           f'{name}: report: the line says what and where', [err])
    report = json.loads(out) if out else {}
    tap.ok(where in report.get('partial', ''), f'{name}: the report says so too', [out[:200]])
    tap.same(without_names(report), without_names(as_file(tmp, data[:n])),
             f'{name}: the figures are those of a file that ends there')
    run = tmp / f'run-{name}'
    status, out, err = from_dying(path, n, 'import', '-o', run, '-')
    tap.ok(status == 1 and where in err and len(err.splitlines()) == 1,
           f'{name}: import: status 1, one line', [status, err])
    again = subprocess.run([TMIGR, 'report', '--json', run], capture_output=True, check=False)
    kept = json.loads(again.stdout) if again.stdout else {}
    tap.ok(without_names(kept) == without_names(report) and where in kept.get('partial', ''),
           f'{name}: import: what it wrote is the same report', [again.stderr])


def refused(tmp, name, data, n, what):
    path = tmp / 'whole'
    path.write_bytes(data)
    for args in ('report', '--json', '-'), ('import', '-o', tmp / 'none', '-'):
        status, out, err = from_dying(path, n, *args)
        tap.ok(status == 1 and not out and len(err.splitlines()) == 1 and what in err and
               'standard input' in err and not (tmp / 'none').exists(),
               f'{name}: {args[0]}: status 1, one line, nothing else', [status, err, out[:100]])


def inputs(tmp):
    text = gzip.open(TESTS / 'fixtures/captures/rk3576-7.3.4-all/trace.txt.gz').read()
    at = text.index(b'\n', 200000) + 1
    line = text[:at].count(b'\n') + 1
    part(tmp, 'text', text, at + 40, f'ends in the middle of line {line}')
    (tmp / 'whole').write_bytes(text)
    status, out, err = from_dying(tmp / 'whole', at, 'report', '--json', '-')
    tap.ok(status == 0 and not err and without_names(json.loads(out)) ==
           without_names(as_file(tmp, text[:at])), 'text, at the end of a line: that is its end',
           [status, err])
    recording = DEMO.read_bytes()
    part(tmp, 'recording', recording, len(recording) * 3 // 5, 'the file stops inside a frame')
    dat = gzip.open(TESTS / 'fixtures/tracedat/version-6.dat.gz').read()
    refused(tmp, 'text, in its head', text, 20, 'and line 3 has no end')
    refused(tmp, 'recording, in its head', recording, 10, 'stops at byte 10')
    refused(tmp, 'trace.dat', dat, len(dat) // 2, 'cannot be read from a pipe')
    refused(tmp, 'nothing', text, 0, 'empty')


def to_nobody(restore, args):
    """tmigr whose standard output nobody reads; the signal as it is by default, or ignored."""
    r, w = os.pipe()
    os.close(r)
    try:
        return subprocess.run([TMIGR, *args], stdout=w, stderr=subprocess.PIPE, timeout=300,
                              restore_signals=restore, check=False)
    finally:
        os.close(w)


def outputs(tmp):
    boot = TESTS / 'fixtures/captures/o6-7.3.4-all/boot-trace.txt'
    trace = tmp / 'trace.txt'
    trace.write_bytes(gzip.open(TESTS / 'fixtures/captures/rk3576-7.3.4-all/trace.txt.gz').read())
    before = sorted(os.listdir(tmp))
    for args in (['report', DEMO], ['report', '--json', DEMO], ['report', trace],
                 ['report', '--html', '-', DEMO], ['export', '-f', 'csv', DEMO],
                 ['export', '-f', 'csv', '-t', 'migrator-segments', DEMO],
                 ['export', '-f', 'json', DEMO], ['export', '-f', 'perfetto', DEMO],
                 ['export', '-f', 'openmetrics', DEMO], ['tree', boot], ['tree', '--json', boot],
                 ['tree', '--dot', boot], ['--version'], ['report', '--help']):
        what = ' '.join(str(a).rsplit('/', 1)[-1] for a in args)
        for restore in True, False:
            done = to_nobody(restore, args)
            lines = done.stderr.decode().splitlines()
            silent = restore and done.returncode == -signal.SIGPIPE and not lines
            told = done.returncode == 1 and len(lines) == 1 and 'Broken pipe' in lines[0]
            tap.ok(silent or told, f'{what}: nobody reads it, SIGPIPE '
                   + ('kills' if restore else 'is ignored'), [done.returncode, *lines])
    tap.same(sorted(os.listdir(tmp)), before, 'and nothing is left in the folder of temporary files')
    # What goes into files does not depend on who listens.
    done = to_nobody(False, ['import', '-o', tmp / 'imported', trace])
    whole = subprocess.run([TMIGR, 'report', '--json', tmp / 'imported'], capture_output=True, check=False)
    want = subprocess.run([TMIGR, 'report', '--json', trace], capture_output=True, check=False)
    tap.ok(done.returncode == 1 and whole.returncode == 0 and
           without_names(json.loads(whole.stdout)) == without_names(json.loads(want.stdout)),
           'import: the run directory is whole, though nobody reads the report', [done.stderr, whole.stderr])
    for how in 'report', 'report --json', 'export -f csv -t migrator-segments', 'export -f json':
        done = subprocess.run(['bash', '-c', f'"$1" {how} "$2" | head -1; exit ${{PIPESTATUS[0]}}', 'x', TMIGR, DEMO],
                              capture_output=True, timeout=300, check=False)
        ends = done.returncode in (0, 1, 128 + signal.SIGPIPE)
        tap.ok(ends and len(done.stdout.splitlines()) == 1 and len(done.stderr.splitlines()) == (done.returncode == 1),
               f'{how} | head -1', [done.returncode, done.stderr, done.stdout[:100]])


def main():
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        os.environ['TMPDIR'] = folder
        inputs(tmp)
        outputs(tmp)
    tap.done()


main()
