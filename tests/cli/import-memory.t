#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigr report of text by standard input: five times the text, no more memory."""

import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

from tap import Tap  # noqa: E402

TMIGR = pathlib.Path(os.environ['B']) / 'tmigr'
CAPTURE = TESTS / 'fixtures/captures/rk3576-7.3.4-unaware-all/trace.txt.gz'
# What an allocator may do in between; holding on to the events would be ten times that.
ALLOWED_KIB = 4096
# Freed memory that the sanitizer keeps for a while is not the program's.
ENV = dict(os.environ, ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') +
           ':quarantine_size_mb=1:thread_local_quarantine_size_kb=64')
tap = Tap()


def peak(text, size, out):
    """(exit status, peak of resident memory in KiB)"""
    with subprocess.Popen([TESTS.parent / 'bench/repeat-trace', text, str(size)],
                          stdout=subprocess.PIPE) as feed:
        with open(out, 'wb') as f, subprocess.Popen(
                [TMIGR, 'report', '--json', '-'], stdin=feed.stdout, stdout=f,
                env=ENV) as child:
            feed.stdout.close()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_maxrss


def main():
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        text = tmp / 'text'
        text.write_bytes(gzip.open(CAPTURE).read())
        status, few = peak(text, 20e6, tmp / 'few')
        tap.same(status, 0, '20 MB are read')
        status, many = peak(text, 100e6, tmp / 'many')
        tap.same(status, 0, '100 MB are read')
        tap.ok((tmp / 'many').read_bytes() != (tmp / 'few').read_bytes(),
               'they are other traces')
        tap.ok(many - few < ALLOWED_KIB, 'the peak of memory is the same',
               [f'20 MB: {few} KiB, 100 MB: {many} KiB'])
    tap.done()


main()
