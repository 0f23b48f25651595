# SPDX-License-Identifier: GPL-2.0-or-later
"""The same events twice: from the trace buffer and from the product's recording.
Both are written inside the same tracepoint call, one after the other, so each
CPU's sequences are equal event by event; only the stamps differ by what lies
between the two writers. That is what makes every later comparison exact: no
check needs to allow for how long a handler took."""

import bisect

from events import Event
from figures import IDLE_EXIT
from hierarchy import GROUP_SET
from records import HOTPLUG, SUBJECT

NEW_TIMER = 9  # says nothing to the model, and the product may leave it out


class Record:
    """A line of rec-dump."""
    __slots__ = ('t', 'cpu', 'kind', 'flags', 'level', 'mask', 'a', 'b')

    def __init__(self, line):
        (self.t, self.cpu, self.kind, self.flags, self.level, self.mask,
         self.a, self.b) = map(int, line.split()[1:])

    @property
    def seq(self):
        return self.b >> 16 & 0xffff

    def key(self):
        """What the trace shows too, or None for a record of no event."""
        if self.kind == 1:
            return 'enter', self.a
        if self.kind == 2:
            return ('exit',)
        if self.kind in (4, 5):
            return (self.kind, self.a, self.level, self.mask, self.b & 0xff,
                    self.b >> 8 & 0xff)
        if self.kind in (6, 7, 8):
            return self.kind, self.b, self.a
        if self.kind == 10:
            return self.kind, self.b, self.flags & 1
        if self.kind in (11, 12):
            return self.kind, self.b
        return None


def event_key(e):
    """The same of a trace event."""
    f = e.f
    if e.name == 'cpu_idle':
        return ('exit',) if f['state'] == IDLE_EXIT else ('enter', f['state'])
    if e.name in GROUP_SET:
        return (4 + GROUP_SET.index(e.name), f['group'], f['lvl'],
                f['childmask'], f['active'], f['migrator'])
    if e.name in SUBJECT and SUBJECT[e.name] != NEW_TIMER:
        return SUBJECT[e.name], f['cpu'], f['wakeup']
    if e.name == 'tmigr_handle_remote_cpu':
        return 10, f['cpu'], int(e.pid == 0)
    if e.name in HOTPLUG:
        return HOTPLUG[e.name], f['cpu']
    return None


class Pairs:
    """`of`: {trace event: record} over the window; `alone`: {cpu: events whose
    stamp lies in the window and whose record's does not}; `problems`: lines."""

    def __init__(self):
        self.of, self.alone, self.problems = {}, {}, []


def _align_cpu(cpu, evs, recs, pairs, start, end):
    keys = [event_key(e) for e in evs]
    want = [r.key() for r in recs]
    near = bisect.bisect_left([e.t for e in evs], recs[0].t if recs else start)
    best = None
    for at in range(max(0, near - 4), near + 5):
        if recs and keys[at:at + len(want)] == want:
            apart = abs(evs[at].t - recs[0].t)
            if best is None or apart < best[1]:
                best = at, apart
    if recs and best is None:
        at = next((i for i, (k, w) in enumerate(zip(keys[near:], want))
                   if k != w), len(want))
        pairs.problems.append(
            f'CPU {cpu}: {len(recs)} records are not in the trace in this '
            f'order; from the first on {at} are equal, then record '
            f'{want[at:at + 1]} against event {keys[near + at:near + at + 1]}')
        return
    at = best[0] if recs else near
    for e, r in zip(evs[at:], recs):
        pairs.of[e] = r
    pairs.alone[cpu] = [e for i, e in enumerate(evs) if start <= e.t < end
                        and not at <= i < at + len(recs)]


def align(evs, recs, start, end):
    """Pairs of @evs and the @recs of [start, end)."""
    pairs = Pairs()
    by_cpu, rec_by_cpu = {}, {}
    for e in evs:
        if event_key(e):
            by_cpu.setdefault(e.cpu, []).append(e)
    for r in recs:
        if r.key() and start <= r.t < end:
            rec_by_cpu.setdefault(r.cpu, []).append(r)
    for cpu in sorted(set(by_cpu) | set(rec_by_cpu)):
        _align_cpu(cpu, by_cpu.get(cpu, []), rec_by_cpu.get(cpu, []), pairs,
                   start, end)
    return pairs


def restamped(evs, pairs, start, end):
    """Copies of @evs with the records' stamps: the clock of the product, the
    knowledge of the trace. Returns (copies, {copy: original})."""
    out, origin = [], {}
    first = {}  # CPU -> order of its first pair
    for e in pairs.of:
        first[e.cpu] = min(first.get(e.cpu, e.order), e.order)
    for e in evs:
        t = e.t
        if e in pairs.of:
            t = pairs.of[e].t
        elif start <= t < end and event_key(e):
            # Its record is outside, or it would be in a pair.
            t = end if e.order > first.get(e.cpu, -1) else start - 1
        copy = Event(t, e.cpu, e.pid, e.name, e.f)
        copy.order = e.order
        out.append(copy)
        origin[copy] = e
    return out, origin
