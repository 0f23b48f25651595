# SPDX-License-Identifier: GPL-2.0-or-later
"""Every figure of a window, the long way round: all events are in memory, each
quantity is a list of (time, value), and each question is answered for every
elementary interval between two changes of anything."""

import bisect

from order import NOBODY, groups

RUNNING, STATE0, UNKNOWN_SLOT, OFFLINE = 0, 1, 11, 12
KTIME_MAX = 0x7fffffffffffffff
IDLE_EXIT = 0xffffffff
UNKNOWN = 'unknown'
DUTY_EVENTS = ('tmigr_cpu_idle', 'tmigr_cpu_new_timer_idle')
# What a CPU is to timer migration: (before its first event, from it on).
PARTS = {'tmigr_cpu_active': ('idle', 'active'), 'tmigr_cpu_idle': ('active', 'idle'),
         'tmigr_cpu_online': ('outside', 'idle'), 'tmigr_cpu_available': ('outside', 'idle'),
         'tmigr_cpu_offline': (None, 'outside'), 'tmigr_cpu_unavailable': (None, 'outside')}
GONE_EVENTS = ('tmigr_cpu_offline', 'tmigr_cpu_unavailable')


class Line:
    """A quantity over time: a step function. @steps: (time, value), sorted by
    time; of several at one time the last counts."""

    def __init__(self, before, steps=()):
        self.t, self.v, self.before = [], [], before
        for t, v in steps:
            self.add(t, v)

    def add(self, t, v):
        self.t.append(t)
        self.v.append(v)

    def at(self, t):
        i = bisect.bisect_right(self.t, t)
        return self.v[i - 1] if i else self.before

    def cut(self, start, end):
        """[(from, to, value)] over [start, end), neighbours merged, nothing
        of length 0."""
        out = []
        points = [start] + [t for t in self.t if start < t < end] + [end]
        for a, b in zip(points, points[1:]):
            v = self.at(a)
            if a == b:
                continue
            if out and out[-1][2] == v:
                out[-1] = (out[-1][0], b, v)
            else:
                out.append((a, b, v))
        return out


class Window:
    """@events in the trace's order, sorted here; @hier a Hierarchy; @classes
    {cpu: (class name, capacity)}. The window is [start, end)."""

    def __init__(self, events, hier, classes, start, end):
        self.hier, self.classes = hier, classes
        self.start, self.end = start, end
        self.cpus = sorted(classes)
        self.updates, self.order_counts = groups(events)
        self.events = sorted((e for e in events if e.t < end),
                             key=lambda e: (e.t, e.cpu, e.order))
        self.words = {g: Line(None, [(u.effective, u) for u in order])
                      for g, order in self.updates.items()}
        self.child = hier.children()
        self.slot = {c: self._slots(c) for c in self.cpus}
        self.duty = {c: self._duty(c) for c in hier.cpus}

    def _inside(self, e):
        return self.start <= e.t < self.end

    # ---- idle states ----

    def _idle_events(self, cpu):
        return [e for e in self.events
                if e.name == 'cpu_idle' and e.f['cpu_id'] == cpu]

    def _slots(self, cpu):
        line = Line(UNKNOWN_SLOT)
        for i, e in enumerate(self._idle_events(cpu)):
            entry = e.f['state'] != IDLE_EXIT
            if i == 0:  # nothing was missed: until the first entry it ran
                line.before = RUNNING if entry else UNKNOWN_SLOT
            line.add(e.t, STATE0 + e.f['state'] if entry else RUNNING)
        return line

    def residency(self, cpu):
        """({slot: ns}, {slot: entries}, {slot: {bucket: intervals}})"""
        time, entries, hist = {}, {}, {}
        for a, b, slot in self.slot[cpu].cut(self.start, self.end):
            time[slot] = time.get(slot, 0) + b - a
        opened = None
        for e in self._idle_events(cpu):
            if opened and self._inside(e):
                slot = STATE0 + opened.f['state']
                k = min(max(e.t - opened.t, 1).bit_length() - 1, 39)
                row = hist.setdefault(slot, {})
                row[k] = row.get(k, 0) + 1
            opened = e if e.f['state'] != IDLE_EXIT else None
            if opened and self._inside(e):
                slot = STATE0 + e.f['state']
                entries[slot] = entries.get(slot, 0) + 1
        return time, entries, hist

    def misses(self, cpu):
        """({slot: above}, {slot: below})"""
        above, below = {}, {}
        for e in self.events:
            if (e.name == 'cpu_idle_miss' and e.f['cpu_id'] == cpu
                    and self._inside(e)):
                row = below if e.f['below'] else above
                slot = STATE0 + e.f['state']
                row[slot] = row.get(slot, 0) + 1
        return above, below

    # ---- what it is to timer migration ----

    def part(self, cpu):
        """Line of 'active', 'idle', 'outside', None: not known."""
        line = Line(None)
        for e in self.events:
            if e.name in PARTS and e.f['cpu'] == cpu:
                if not line.t:
                    line.before = PARTS[e.name][0]
                line.add(e.t, PARTS[e.name][1])
        return line

    def running(self, cpu):
        """({part: ns that it ran and was that}, changes of it in the window)"""
        out, part = {}, self.part(cpu)
        for a, b, slot in self.slot[cpu].cut(self.start, self.end):
            for x, y, what in part.cut(a, b) if slot == RUNNING else ():
                out[what] = out.get(what, 0) + y - x
        return out, sum(self.start <= t < self.end for t in part.t)

    # ---- remote expiry ----

    def remote(self):
        """{(executor, target): (count, {slot woken from: count})}: the idle
        task's first expiry since an idle interval began is what ended it."""
        out, since = {}, {}  # since: CPU -> slot, None when booked already
        for e in self.events:
            if e.name == 'cpu_idle' and e.f['state'] != IDLE_EXIT:
                since[e.cpu] = STATE0 + e.f['state']
            if e.name != 'tmigr_handle_remote_cpu':
                continue
            woken = since.get(e.cpu, UNKNOWN_SLOT) if e.pid == 0 else None
            if e.pid == 0:
                since[e.cpu] = None
            if not self._inside(e):
                continue
            count, woke = out.get((e.cpu, e.f['cpu']), (0, {}))
            if woken is not None:
                woke = {**woke, woken: woke.get(woken, 0) + 1}
            out[e.cpu, e.f['cpu']] = (count + 1, woke)
        return out

    # ---- the migrator ----

    def _duty(self, cpu):
        """True: armed, False: not, None: not known."""
        line = Line(None)
        for e in self.events:
            if e.name in DUTY_EVENTS and e.f['cpu'] == cpu:
                line.add(e.t, e.f['wakeup'] != KTIME_MAX)
            elif (e.name in ('tmigr_cpu_active', 'tmigr_handle_remote_cpu')
                  or e.name in GONE_EVENTS) and e.f['cpu'] == cpu:
                line.add(e.t, False)
        for u in self._gave_up_root(cpu):
            after = next((e for e in self.events if e.cpu == cpu
                          and e.order > u.e.order
                          and e.name in ('tmigr_cpu_idle', *GONE_EVENTS)
                          and e.f['cpu'] == cpu), None)
            if after is None:
                line = self._patched(line, u.effective, self.end, None)
            else:
                duty = (after.name == 'tmigr_cpu_idle'
                        and after.f['wakeup'] != KTIME_MAX)
                line = self._patched(line, u.effective, after.t, duty)
        return line

    def _gave_up_root(self, cpu):
        """The CPU's updates that left a root without a migrator: what duty it
        takes with that is told only by the event that follows."""
        for g, order in self.updates.items():
            if self.hier.groups[g].parent:
                continue
            for prev, u in zip([None] + order, order):
                if (u.e.cpu == cpu and u.migrator == NOBODY
                        and (prev is None or prev.migrator != NOBODY)
                        and u.e.t < self.end):
                    yield u

    @staticmethod
    def _patched(line, a, b, value):
        """@line with @value over [a, b)."""
        steps = [s for s in zip(line.t, line.v) if s[0] < a]
        rest = [s for s in zip(line.t, line.v) if s[0] >= b]
        after = line.at(b)
        return Line(line.before, steps + [(a, value), (b, after)] + rest)

    def regime(self, root, cpus, t):
        """('held', cpu), ('handover', None), ... of a root at an instant."""
        at, first = root, True
        while True:
            u = self.words[at].at(t) if at in self.words else None
            if u is None:
                return UNKNOWN, None
            if u.migrator == NOBODY:
                break
            kind, below = self.child.get((at, u.migrator), (UNKNOWN, None))
            if kind == UNKNOWN:
                return UNKNOWN, None
            if kind == 'cpu':
                return 'held', below
            at, first = below, False
        if not first:
            return 'handover', None
        duties = [self.duty[c].at(t) for c in cpus]
        if True in duties:
            return 'duty', None
        return (UNKNOWN if None in duties else 'free'), None

    def _changes(self, root, cpus):
        """All instants at which anything about a root may change."""
        points = {self.start, self.end}
        for g, line in self.words.items():
            if self.hier.top(g) == root:
                points.update(line.t)
        for c in cpus:
            points.update(self.duty[c].t)
        return sorted(t for t in points if self.start <= t <= self.end)

    def segments(self, root, cpus):
        """[(from, to, (regime, cpu))]"""
        points = self._changes(root, cpus)
        return Line(None, [(t, self.regime(root, cpus, t)) for t in points[:-1]]
                    ).cut(self.start, self.end)

    def tmigr_active(self, cpu, t):
        """Its bit in its level-0 word: True, False, None not known."""
        group, mask = self.hier.cpus[cpu]
        u = self.words[group].at(t) if group in self.words else None
        return None if u is None else bool(u.active & mask)

    def _avoidable(self, cpus, holder, a, b):
        """(ns, ns not known) in which a CPU of a lower class was active."""
        lower = [c for c in cpus
                 if self.classes[c][1] < self.classes[holder][1]]
        if not lower:
            return 0, 0
        groups_ = {self.hier.cpus[c][0] for c in lower}
        points = sorted({a, b} | {t for g in groups_ if g in self.words
                                  for t in self.words[g].t[
                                      bisect.bisect_left(self.words[g].t, a):
                                      bisect.bisect_left(self.words[g].t, b)]})
        yes = dark = 0
        for p, q in zip(points, points[1:]):
            state = [self.tmigr_active(c, p) for c in lower]
            if True in state:
                yes += q - p
            elif None in state:
                dark += q - p
        return yes, dark

    def root(self, root, cpus):
        """All figures of one root."""
        out = {'top': root, 'cpus': cpus, 'regimes': {}, 'holders': {}}
        out['segments'] = self.segments(root, cpus)
        for a, b, (regime, cpu) in out['segments']:
            out['regimes'][regime] = out['regimes'].get(regime, 0) + b - a
            if regime != 'held':
                continue
            h = out['holders'].setdefault(
                cpu, {'held': 0, 'holdings': 0, 'longest': 0, 'slots': {},
                      'avoidable': 0, 'avoidable_unknown': 0})
            h['held'] += b - a
            h['holdings'] += 1
            h['longest'] = max(h['longest'], b - a)
            for p, q, slot in self._slots_between(cpu, a, b):
                h['slots'][slot] = h['slots'].get(slot, 0) + q - p
            yes, dark = self._avoidable(cpus, cpu, a, b)
            h['avoidable'] += yes
            h['avoidable_unknown'] += dark
        return out

    def _slots_between(self, cpu, a, b):
        line = self.slot[cpu]
        lo, hi = bisect.bisect_right(line.t, a), bisect.bisect_left(line.t, b)
        part = Line(line.at(a), zip(line.t[lo:hi], line.v[lo:hi]))
        return part.cut(a, b)

    def roots(self):
        return [self.root(g, cpus) for g, cpus in self.hier.roots()]

    def classes_held(self, root):
        """{class: (held ns, avoidable ns)} of one of roots()."""
        out = {}
        for cpu, h in root['holders'].items():
            name = self.classes[cpu][0]
            held, yes = out.get(name, (0, 0))
            out[name] = (held + h['held'], yes + h['avoidable'])
        return out
