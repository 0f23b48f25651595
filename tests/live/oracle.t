#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A run on this kernel against the kernel's own trace buffer of the same time:
idle time, entries, remote expiries and the migrator's holder are the same."""

import os
import pathlib
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import check  # noqa: E402
import live  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

SECONDS = 2


def main():
    with tempfile.TemporaryDirectory() as tmp:
        try:
            run, trace = live.traced_run(pathlib.Path(tmp) / 'run', SECONDS)
        except live.CannotRun as why:
            skip_all(why)
    if not any(r.kind == 1 for r in run.records):
        skip_all('no CPU went idle in the window: the machine is too busy')
    tap = Tap()
    check.everything(tap, run, trace.events, trace.overrun)
    tap.done()


main()
