# SPDX-License-Identifier: GPL-2.0-or-later
"""Initramfs archives (cpio "newc"), made of files of the host without being root."""

import gzip
import stat


class Archive:
    """Collects entries; bytes() gives the compressed archive."""

    def __init__(self):
        self._data = bytearray()
        self._inode = 0
        self._dirs = set()

    def _entry(self, name, mode, body=b"", rdev=(0, 0)):
        self._inode += 1
        name = name.encode() + b"\0"
        fields = (self._inode, mode, 0, 0, 1, 0, len(body), 0, 0, *rdev, len(name), 0)
        self._data += b"070701" + b"".join(b"%08X" % f for f in fields) + name
        self._data += bytes(-len(self._data) % 4) + body
        self._data += bytes(-len(self._data) % 4)

    def directory(self, path):
        parts = path.strip("/").split("/")
        for i in range(1, len(parts) + 1):
            name = "/".join(parts[:i])
            if name not in self._dirs:
                self._dirs.add(name)
                self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, path, body, mode=0o755):
        if "/" in path:
            self.directory(path.rsplit("/", 1)[0])
        self._entry(path, stat.S_IFREG | mode, body)

    def link(self, path, target):
        self._entry(path, stat.S_IFLNK | 0o777, target.encode())

    def device(self, path, major, minor):
        self.directory(path.rsplit("/", 1)[0])
        self._entry(path, stat.S_IFCHR | 0o600, rdev=(major, minor))

    def __bytes__(self):
        # An archive ends itself, and the kernel reads on behind its end, so
        # that a test's own archive can be laid behind a common one.
        copy = Archive()
        copy._data = bytearray(self._data)
        copy._entry("TRAILER!!!", 0)
        return gzip.compress(bytes(copy._data), 1, mtime=0)
