#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hungfs.py FOLDER: a FUSE file system of one file, `file`, that can be opened; what is
asked after SIGUSR1 is never answered. Spoken straight to /dev/fuse: no library."""

import ctypes
import os
import signal
import struct
import sys

LOOKUP, GETATTR, OPEN, INIT = 1, 3, 14, 26
OPENDIR, READDIR, FORGET, STATFS = 27, 28, 2, 17
IN = struct.Struct('<IIQQIIIHH')
DIR, FILE = 0o040755, 0o100666
hung = False


def attr(mode, node):
    return struct.pack('<6Q3I7I', node, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(op, node):
    """The reply's body, or an errno."""
    if op == INIT:
        return struct.pack('<IIIIHHIIHHI7I', 7, 31, 0, 0, 12, 10, 65536, 1, 16, 0, 0, *[0] * 7)
    if op == LOOKUP:
        return struct.pack('<QQQQII', 2, 0, 0, 0, 0, 0) + attr(FILE, 2)
    if op == GETATTR:
        return struct.pack('<QII', 0, 0, 0) + attr(DIR if node == 1 else FILE, node)
    if op == OPEN:
        return struct.pack('<QIi', 7, 0, 0)
    return 38  # ENOSYS


def hang(*_):
    global hung
    hung = True


def main():
    folder = sys.argv[1].encode()
    fd = os.open('/dev/fuse', os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f'fd={fd},rootmode=40000,user_id=0,group_id=0'.encode()
    if libc.mount(b'hungfs', folder, b'fuse', 6, options):  # nosuid, nodev
        sys.exit(f'mount: {os.strerror(ctypes.get_errno())}')
    signal.signal(signal.SIGUSR1, hang)
    print('mounted', flush=True)
    while True:
        _, op, unique, node, *_ = IN.unpack_from(os.read(fd, 1 << 17))
        if hung or op == FORGET:
            continue
        body = answer(op, node)
        error, body = (-body, b'') if isinstance(body, int) else (0, body)
        os.write(fd, struct.pack('<IiQ', 16 + len(body), error, unique) + body)


main()
