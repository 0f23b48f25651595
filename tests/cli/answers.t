#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The main question, asked of three recordings whose answer is known: one hierarchy
for all classes, and kernels that split it by class."""

import json
import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

from tap import Tap, needs_zstd  # noqa: E402

needs_zstd()
TMIGR = pathlib.Path(os.environ.get('B', 'build')) / 'tmigr'
PLACE = TESTS / 'fixtures/runs/answers'

# recording, window, [(CPUs of the root, {class: held ns})]
KNOWN = {
    'rk3576-unaware': (1002132288, [
        ('0-7', {'LITTLE': 122689920, 'big': 270966048})]),
    'rk3576-split': (1002142992, [
        ('0-3', {'LITTLE': 59197808}),
        ('4-7', {'big': 20050560})]),
    'o6-split': (702193008, [
        ('0,11', {'big': 74913056}),
        ('1-4', {'LITTLE': 702183936}),
        ('5-6', {'mid1': 33220608}),
        ('7-8', {'mid2': 29471424}),
        ('9-10', {'mid3': 382092512})]),
}


def tmigr(*args):
    return subprocess.run([TMIGR, 'report', *args], capture_output=True,
                          text=True, check=True).stdout


def check_split(tap, name, report, text):
    answer, roots = report['answer'], len(report['roots'])
    tap.same((answer['big_holds'], answer['big_share']), (False, 0),
             f'{name}: no')
    tap.ok(f'each capacity class keeps to a hierarchy of its own ({roots} roots)'
           in answer['text'], f'{name}: and why', [answer['text']])
    tap.ok('Answer: NO: each capacity class' in text,
           f'{name}: the text says so')
    tap.same([len(r['classes']) for r in report['roots']], [1] * roots,
             f'{name}: every root is of one class')
    tap.same(sum(c['avoidable_ns'] for r in report['roots']
                 for c in r['classes']), 0, f'{name}: nothing was avoidable')
    kind = {c['cpu']: c['class'] for c in report['cpus']}
    across = [p for p in report['remote']
              if kind[p['executor']] != kind[p['target']]]
    tap.ok(report['remote'] and not across,
           f'{name}: nobody ran timers of another class', across)


def check_unaware(tap, name, report, text):
    held = report['roots'][0]['classes'][1]
    answer = report['answer']
    tap.same(answer['big_holds'], True, f'{name}: yes')
    share = held['held_ns'] / report['window_ns']
    tap.ok(abs(answer['big_share'] - share) < 1e-6,
           f'{name}: its share of the window', [answer['big_share'], share])
    tap.same((held['avoidable_ns'], held['avoidable_unknown_ns']),
             (45438400, 0), f'{name}: what of it was avoidable')
    tap.ok('Answer: YES, a big CPU held the global migrator for 271.0 ms, '
           '27.0 %' in text, f'{name}: the text says so')


tap = Tap()
for name, (window, roots) in KNOWN.items():
    path = PLACE / f'{name}.tmr'
    report, text = json.loads(tmigr('--json', path)), tmigr(path)
    tap.same(report['window_ns'], window, f'{name}: the window')
    tap.same([(r['cpus'], {c['name']: c['held_ns'] for c in r['classes']})
              for r in report['roots']], roots, f'{name}: roots and holders')
    tap.same([r['unknown_ns'] for r in report['roots']], [0] * len(roots),
             f'{name}: nothing is unknown')
    (check_split if len(roots) > 1 else check_unaware)(tap, name, report, text)
tap.done()
