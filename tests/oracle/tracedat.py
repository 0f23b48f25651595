# SPDX-License-Identifier: GPL-2.0-or-later
"""trace.dat files of version 6, from pages as per_cpu/cpuN/trace_pipe_raw gives
them, or from events: no code of the product or of trace-cmd. Little endian,
8-byte longs."""

import re
import struct

PAGE = 4096
HEAD = 16  # of a page: time, bytes used
MISSED, MISSED_STORED = 1 << 31, 1 << 30
FIELD = re.compile(r'field:(?P<decl>[^;]+);\s*offset:(?P<offset>\d+);\s*size:(?P<size>\d+);')


class Format:
    """One event's format file."""

    def __init__(self, text):
        self.text = text
        self.name = re.search(r'name: (\w+)', text)[1]
        self.id = int(re.search(r'ID: (\d+)', text)[1])
        self.fields = {m['decl'].split()[-1]: (int(m['offset']), int(m['size']))
                       for m in FIELD.finditer(text)}
        self.size = max(o + s for o, s in self.fields.values())

    def record(self, pid, values):
        data = bytearray(self.size)
        for name, v in {'common_type': self.id, 'common_pid': pid, **values}.items():
            if name in self.fields:
                offset, size = self.fields[name]
                data[offset:offset + size] = (v & (1 << 8 * size) - 1).to_bytes(size, 'little')
        return bytes(data)


class Pages:
    """The buffer of one CPU."""

    def __init__(self):
        self.pages = []
        self.data = bytearray()
        self.start = self.last = 0
        self.missed = 0

    def _close(self):
        if not self.data:
            return
        used = len(self.data)
        flags = 0
        if self.missed:
            flags = MISSED
            if used + 8 <= PAGE - HEAD:  # how many, behind the data
                flags |= MISSED_STORED
                self.data += struct.pack('<Q', self.missed)
        self.pages.append((struct.pack('<QQ', self.start, used | flags) + self.data).ljust(PAGE, b'\0'))
        self.data = bytearray()
        self.missed = 0

    def lost(self, n):
        """The next event is the first of a page that says so."""
        self._close()
        self.missed = n

    def add(self, t, record):
        record = record.ljust((len(record) + 3) // 4 * 4, b'\0')
        extend = b''
        if not self.data:
            self.start = self.last = t
        delta = t - self.last
        if delta >= 1 << 27:
            extend = struct.pack('<II', 30 | (delta & (1 << 27) - 1) << 5, delta >> 27)
            delta = 0
        if HEAD + len(self.data) + len(extend) + 4 + len(record) > PAGE:
            self._close()
            self.add(t, record)
            return
        self.data += extend + struct.pack('<I', len(record) // 4 | delta << 5) + record
        self.last = t

    def bytes(self):
        self._close()
        return b''.join(self.pages)


def _sized(data):
    return struct.pack('<Q', len(data)) + data


def _aligned(n):
    return (n + PAGE - 1) // PAGE * PAGE


def _flyrecord(at, cpus):
    """Each CPU's pages, from offset `at` of the file on, with their places before them."""
    out = b'flyrecord\0'
    begin = _aligned(at + len(out) + 16 * len(cpus))
    pages = b''
    for data in cpus:
        out += struct.pack('<QQ', begin + len(pages), len(data))
        pages += data.ljust(_aligned(len(data)), b'\0')
    return out.ljust(begin - at, b'\0') + pages


def write(path, header_page, systems, cpus, options=b'', kallsyms='', buffers=()):
    """`systems`: {name: [format text]}; `cpus`: each CPU's pages; `buffers`: the same of
    others, [(name, cpus)]."""
    out = b'\x17\x08\x44tracing6\0' + struct.pack('<BBI', 0, 8, PAGE)
    out += b'header_page\0' + _sized(header_page.encode())
    out += b'header_event\0' + _sized(b'# compressed entry header\n')
    out += struct.pack('<I', 0)  # ftrace's own events
    out += struct.pack('<I', len(systems))
    for name, formats in systems.items():
        out += name.encode() + b'\0' + struct.pack('<I', len(formats))
        out += b''.join(_sized(f.encode()) for f in formats)
    out += struct.pack('<I', len(kallsyms)) + kallsyms.encode()
    out += struct.pack('<I', 0)  # printk
    out += _sized(b'')  # names of tasks
    out += struct.pack('<I', len(cpus))
    at = len(out) + 10 + len(options) + 2 + sum(6 + 8 + len(name) + 1 for name, _ in buffers)
    data = [_flyrecord(at, cpus)]
    for name, others in buffers:
        begin = at + sum(map(len, data))
        options += struct.pack('<HIQ', 3, 8 + len(name) + 1, begin) + name.encode() + b'\0'
        data.append(_flyrecord(begin, others))
    out += b'options  \0' + options + struct.pack('<H', 0)
    path.write_bytes(out + b''.join(data))


def formats_of(folder):
    """{system: [text]} and the header page of a folder as in
    tests/fixtures/kernels."""
    systems = {s: [f.read_text() for f in sorted((folder / s).iterdir())]
               for s in ('power', 'timer_migration')}
    return systems, (folder / 'header_page').read_text()


# Where the text's names are not those of the format.
NAMES = {'numa': ('numa_node', 'family'), 'childmask': ('childmask', 'groupmask'),
         'parent': ('parent',), 'group': ('group', 'child')}


def option_offset(ns):
    """The option that all stamps are to be moved by so much."""
    data = b'%d\0' % ns
    return struct.pack('<HI', 7, len(data)) + data


def record_of(formats, e):
    """The record of an event of tests/oracle/events.py."""
    f, values = formats[e.name], {}
    for key, v in e.f.items():
        for name in NAMES.get(key, (key,)):
            if name in f.fields and name not in values:
                values[name] = v
                break
    return f.record(e.pid, values)


def pages_of(formats, evs, n_cpus, before=lambda i, pages: None):
    """The CPUs' pages with the events of tests/oracle/events.py; before(i, pages) is
    called with each one's number."""
    cpus = [Pages() for _ in range(n_cpus)]
    for i, e in enumerate(evs):
        before(i, cpus[e.cpu])
        cpus[e.cpu].add(e.t, record_of(formats, e))
    return [c.bytes() for c in cpus]


def from_events(path, kernel, evs, n_cpus, before=lambda i, pages: None, options=b'', buffers=()):
    """A file with the events of tests/oracle/events.py, by the formats in the
    folder `kernel`; `buffers`: [(name, events)], `before` is for these too."""
    systems, header_page = formats_of(kernel)
    formats = {f.name: f for texts in systems.values() for f in map(Format, texts)}
    write(path, header_page, systems, pages_of(formats, evs, n_cpus, before), options,
          buffers=[(name, pages_of(formats, e, n_cpus, before)) for name, e in buffers])
