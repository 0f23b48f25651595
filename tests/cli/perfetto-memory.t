#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Perfetto trace of a recording four times as long takes no more memory."""

import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

from tap import Tap, skip_all  # noqa: E402

BUILD = pathlib.Path(os.environ['B'])
TMIGR = BUILD / 'tmigr'
SLACK_KIB = 2048


def peak_kib(recording):
    """Of one export; its packets go to a file that keeps nothing."""
    with open('/dev/null', 'wb') as null:
        child = subprocess.Popen([TMIGR, 'export', '-f', 'perfetto', recording],
                                 stdout=null)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_maxrss


def main():
    tap = Tap()
    said = subprocess.run([TMIGR, '--version'], capture_output=True, text=True)
    if 'no protobuf-c' in said.stdout:
        skip_all('built without protobuf-c')
    if b'__asan_init' in TMIGR.read_bytes():
        skip_all("the sanitizer keeps what was freed")
    peaks = []
    with tempfile.TemporaryDirectory() as place:
        for millions in (1, 4):
            path = pathlib.Path(place) / f'{millions}.tmr'
            subprocess.run([BUILD / 'tests/programs/make-recording', '-n',
                            str(millions * 1_000_000), path], check=True)
            status, peak = peak_kib(path)
            tap.same(status, 0, f'{millions} million events')
            tap.note(f'{peak} KiB')
            peaks.append(peak)
            path.unlink()
    tap.ok(peaks[1] <= peaks[0] + SLACK_KIB,
           f'no more than {SLACK_KIB} KiB more', [peaks])
    tap.done()


main()
