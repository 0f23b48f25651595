# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace events from text: what ftrace-dump prints, the kernel's `trace` file,
and `trace-cmd report`. No code of the product is used here."""

import gzip
import re

# Printed with %x or %p in the two human formats; ftrace-dump marks its own.
HEX_FIELDS = {'group', 'parent', 'child', 'hierarchy', 'active', 'migrator',
              'childmask', 'groupmask'}
# The same field under the names it has in format files, prints and kernels.
RENAME = {'numa_node': 'numa', 'groupmask': 'childmask'}

HUMAN = re.compile(r'^\s*(?P<comm>.*)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+'
                   r'(?:\S+\s+)?(?P<sec>\d+)\.(?P<frac>\d{6}|\d{9}):\s+'
                   r'(?P<name>\w+):\s*(?P<rest>.*)$')
DUMP = re.compile(r'^\d+ \d+ \d+ \w+( |$)')
PAIR = re.compile(r'(\w+)=(\S+)')


class Event:
    """One trace event. `t` in ns; `f` maps field names to integers."""
    __slots__ = ('t', 'cpu', 'pid', 'name', 'f', 'order')

    def __init__(self, t, cpu, pid, name, f):
        self.t, self.cpu, self.pid, self.name, self.f = t, cpu, pid, name, f
        self.order = 0

    def __repr__(self):
        return f'{self.t} [{self.cpu}] {self.name} {self.f}'


def _number(key, text):
    if text == '(nil)':
        return 0
    if text.startswith('0x'):
        return int(text, 16)
    return int(text, 16 if key in HEX_FIELDS else 10)


def _fields(pairs, number):
    f = {}
    for key, text in pairs:
        try:
            f[RENAME.get(key, key)] = number(key, text)
        except ValueError:
            pass  # a string field; none that is used here
    # tmigr_connect_child_parent prints its child as "group".
    return f


def parse_line(line):
    """An Event, or None for a line that is none (comments, lost events)."""
    if DUMP.match(line):
        t, cpu, pid, name, *pairs = line.split()
        f = _fields((p.split('=', 1) for p in pairs),
                    lambda _, text: int(text, 0))
        if name == 'tmigr_connect_child_parent':
            f['group'] = f.pop('child')
        return Event(int(t), int(cpu), int(pid), name, f)
    m = HUMAN.match(line)
    if not m:
        return None
    t = int(m['sec']) * 10**9 + int(m['frac'].ljust(9, '0'))
    return Event(t, int(m['cpu']), int(m['pid']), m['name'],
                 _fields(PAIR.findall(m['rest']), _number))


def parse(lines):
    """All events, in the order of the lines; `order` numbers them."""
    out = []
    for line in lines:
        if line.startswith('CPU:') and 'LOST' in line:
            raise ValueError('the trace has lost events: ' + line.strip())
        e = parse_line(line)
        if e:
            e.order = len(out)
            out.append(e)
    return out


def read(path):
    """Events of a file, gzipped or not."""
    opener = gzip.open if str(path).endswith('.gz') else open
    with opener(path, 'rt', errors='replace') as f:
        return parse(f)
