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
from tap import Tap, needs_zstd  # noqa: E402

needs_zstd()
tap = Tap()
runs = sorted((TESTS / 'fixtures/runs').glob('*/events.tmr'))
tap.ok(runs, 'there are recorded runs')
for recording in runs:
    tap.note(recording.parent.name)
    run = replay.Replay(recording)
    evs = events.read(recording.parent / 'trace.txt.gz')
    check.everything(tap, run, evs, 0)
    # Nothing is left out for want of events; and what would be is named.
    tap.same(check.blind_cpus(evs, run), {}, 'the trace shows every CPU idle')
    cpu = min(r.cpu for r in run.records if r.kind == 1)
    n = sum(r.kind == 1 and r.cpu == cpu and run.start <= r.t < run.end
            for r in run.records)
    tap.same(check.blind_cpus([e for e in evs if e.cpu != cpu], run), {cpu: n},
             f'without the events of CPU {cpu} it is blind there')
for n, why in ((1, 'too few to say'), (check.FEW - 1, 'too few to say'),
               (check.FEW, 'seems not to be traced')):
    tap.ok(f' {n} idle entries' in check.unseen(n) and why in check.unseen(n),
           f'{n} idle entries that the trace lacks: {why}')
tap.done()
