# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of `tmigr export` share: runs to export, and other programs'
Python."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
BUILD = pathlib.Path(os.environ.get('B', 'build'))
TMIGR = BUILD / 'tmigr'
DEMO = TESTS.parent / 'demo/events.tmr'
ANSWERS = sorted((TESTS / 'fixtures/runs/answers').glob('*.tmr'))
RECORDINGS = [DEMO, *ANSWERS]
# Names that would break out of a weaker format.
NASTY = 'a"b,<c>\\é\r\n\t;\'{}]&amp;\u202e'


def tmigr(*args, **kwargs):
    return subprocess.run([TMIGR, *args], capture_output=True, **kwargs)


def export(form, *args):
    done = tmigr('export', '--format', form, *args)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.decode()


def report_of(path):
    return json.loads(tmigr('report', '--json', path).stdout)


def make_run(folder, report, recording=None):
    """A run directory by hand."""
    folder.mkdir(parents=True)
    (folder / 'run.json').write_text(json.dumps(
        {'schema': 'tmigr-run', 'version': 1, 'state': 'complete'}))
    (folder / 'report.json').write_text(json.dumps(report))
    if recording:
        shutil.copy(recording, folder / 'events.tmr')
    return folder


def renamed(value, names):
    """A report with other names."""
    if isinstance(value, dict):
        return {k: renamed(v, names) for k, v in value.items()}
    if isinstance(value, list):
        return [renamed(v, names) for v in value]
    return names.get(value, value) if isinstance(value, str) else value


def nasty_report():
    report = renamed(report_of(DEMO), {'big': NASTY, 'WFI': NASTY + '2'})
    report['label'] = NASTY + '3'
    report['run'] = 7
    report['machine']['model'] = NASTY
    report['metrics'] = [{'name': NASTY, 'value': 14.4431, 'unit': NASTY,
                          'better': 'higher'},
                         {'name': 'n', 'value': 3, 'unit': '', 'better': None}]
    report['energy'] = [{'domain': NASTY, 'energy_uj': 12000345}]
    return report


def python_with(module):
    """An interpreter that has it, or None."""
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and subprocess.run(
                [python, '-c', f'import {module}'],
                capture_output=True).returncode == 0:
            return python
    return None
