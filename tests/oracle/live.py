# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the product on this kernel, with the trace buffer beside it."""

import contextlib
import csv
import json
import os
import pathlib
import signal
import subprocess
import time

import align
import events

BUILD = pathlib.Path(os.environ.get('B', 'build'))
PROGRAMS = BUILD / 'tests/programs'


class CannotRun(Exception):
    """This kernel or user has not got what the test needs."""


def check_privileges():
    if os.geteuid() != 0:
        raise CannotRun('needs root')
    done = subprocess.run([PROGRAMS / 'ftrace-dump'], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL)
    if done.returncode == 77:
        raise CannotRun(done.stderr.strip())
    if done.returncode:
        raise RuntimeError(f'ftrace-dump: {done.stderr.strip()}')


class Trace:
    """ftrace-dump around a with block; afterwards `events` and `overrun`."""

    def __enter__(self):
        self.proc = subprocess.Popen([PROGRAMS / 'ftrace-dump'], text=True,
                                     stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
        if self.proc.stdout.readline() != '# ready\n':
            self.proc.communicate()
            raise CannotRun('ftrace-dump did not start')
        return self

    def __exit__(self, *exc):
        out, _ = self.proc.communicate()  # closes its input: the end
        lines = out.splitlines()
        if not lines or not lines[-1].startswith('# end '):
            raise RuntimeError('ftrace-dump: cut')
        self.overrun = int(lines[-1].rsplit('=', 1)[1])
        self.events = events.parse(lines)
        return False


@contextlib.contextmanager
def load(seconds):
    """Pinned sleepers on every CPU while the block runs."""
    # A group of its own, so that its sleepers end with it.
    proc = subprocess.Popen([PROGRAMS / 'tm-load', '-q', '-d', str(seconds)],
                            stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        yield proc
    finally:
        os.killpg(proc.pid, signal.SIGKILL)
        proc.wait()


class Run:
    """What a run directory holds."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.report = json.loads((folder / 'report.json').read_text())
        self.start = self.report['start_ns']
        self.end = self.start + self.report['window_ns']
        with open(folder / 'migrator-segments.csv', newline='') as f:
            self.segments = list(csv.DictReader(f))
        dump = subprocess.run([PROGRAMS / 'rec-dump', folder / 'events.tmr'],
                              capture_output=True, text=True, check=True)
        lines = dump.stdout.splitlines()
        self.records = [align.Record(x) for x in lines if x.startswith('rec ')]
        self.window_line = next(x for x in lines if x.startswith('window '))


def tmigr_run(folder, seconds, *options):
    """A Run, or CannotRun when the kernel refuses the programs."""
    command = [BUILD / 'tmigr', 'run', '-o', folder, '--record',
               '-d', str(seconds), '--json', *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        doctor = subprocess.run([BUILD / 'tmigr', 'doctor'],
                                capture_output=True, text=True)
        if doctor.returncode:
            raise CannotRun('tmigr doctor: '
                            + ' '.join(done.stderr.split())[:200])
        raise RuntimeError(f'tmigr run: {done.stderr.strip()}')
    return Run(folder)


def traced_run(folder, seconds, *options):
    """(Run, Trace): the trace begins before and ends after the window."""
    check_privileges()
    with Trace() as trace, load(seconds + 30):
        # Long enough for most words and states to be seen once; what is not
        # seen is no claim of the oracle's.
        time.sleep(.5)
        run = tmigr_run(folder, seconds, *options)
        time.sleep(.05)
    return run, trace
