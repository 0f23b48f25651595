# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the kernel's trace buffers are."""

import pathlib
import subprocess

FOLDER = pathlib.Path('/sys/kernel/tracing')


def is_there():
    """Whether a test can use it.  Who may mount it does, as the tools do that need it."""
    there = FOLDER / 'instances'
    if not there.is_dir():
        subprocess.run(['mount', '-t', 'tracefs', 'nodev', FOLDER], stderr=subprocess.DEVNULL, check=False)
    return there.is_dir()
