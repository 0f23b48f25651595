#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The service through a Varlink library that is not ours (Debian:
golang-github-varlink-go-dev and golang-go)."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import skip_all  # noqa: E402

GOPATH = '/usr/share/gocode'


def main():
    why = daemon.why_not()
    if not why and not (shutil.which('go') and
                        os.path.isdir(GOPATH + '/src/github.com/varlink/go/varlink')):
        why = 'no Go, or no Varlink library for it'
    if why:
        skip_all(why)
    with tempfile.TemporaryDirectory() as tmp, daemon.Daemon() as d:
        env = {**os.environ, 'GO111MODULE': 'off', 'GOPATH': GOPATH, 'GOCACHE': tmp + '/cache',
               'CGO_ENABLED': '0', 'GOFLAGS': ''}
        subprocess.run(['go', 'build', '-o', tmp + '/client', './main.go'], check=True, env=env,
                       cwd=TESTS / 'daemon/varlink-go')
        sys.exit(subprocess.run([tmp + '/client', d.path], check=False).returncode)


main()
