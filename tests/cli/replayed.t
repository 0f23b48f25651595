#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on boards, recorded with the trace buffer of the same time beside them:
what the program says of the recording today against what the trace says. The
same checks as tests/live/oracle.t, on machines that one seldom has."""

import os
import pathlib
import sys

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import check  # noqa: E402
import events  # noqa: E402
import replay  # noqa: E402
from tap import Tap  # noqa: E402

tap = Tap()
runs = sorted((TESTS / 'fixtures/runs').glob('*/events.tmr'))
tap.ok(runs, 'there are recorded runs')
for recording in runs:
    tap.note(recording.parent.name)
    check.everything(tap, replay.Replay(recording),
                     events.read(recording.parent / 'trace.txt.gz'), 0)
tap.done()
