# SPDX-License-Identifier: GPL-2.0-or-later
"""The emulator's turns, and what they do to comparisons.

With counted instructions the emulator runs one CPU at a time, and the guest's clock goes on with
the instructions of whichever runs. Where a CPU's turn ends between two looks at the clock that
belong together, milliseconds of other CPUs' turns lie between them. No tolerance covers that: each
such gap is found, and is taken for a turn only when the capture has other CPUs run in it.
"""

import bisect
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "oracle"))

from figures import IDLE_EXIT, RUNNING  # noqa: E402

# The text of a capture cuts stamps to microseconds.
STAMP_NS = 1000
# What lies between two looks without a turn: the handlers of two tracers.
OWN_NS = 10_000

AWAY = ("tmigr_cpu_offline", "tmigr_cpu_unavailable")
BACK = ("tmigr_cpu_online", "tmigr_cpu_available")

# What is compared one by one: the kinds of a recording's records, by the capture's names.
KINDS = {"tmigr_group_set_cpu_active": 4, "tmigr_group_set_cpu_inactive": 5,
         "tmigr_cpu_active": 6, "tmigr_cpu_idle": 7, **dict.fromkeys(BACK, 11), **dict.fromkeys(AWAY, 12)}
ENTER, EXIT = 1, 2
UPDATES = (4, 5)


# A CPU runs a little behind the event of an entry, until it sleeps, and before that of an exit.
SLEEP_NS = 3_000
# The kernel's default idle has interrupts on: the handler of the one that ends a stay runs before
# the event of the exit.
HANDLER_NS = 100_000


class Turns:
    """When which CPU ran, by a capture (figures.Window). `driven`: by a cpuidle driver, which
    handles interrupts behind the event of the exit."""

    def __init__(self, whole, driven):
        self.busy = {}
        before = SLEEP_NS if driven else HANDLER_NS
        for cpu in whole.cpus:
            away = self._away(whole, cpu)
            ran = [(a, b) for a, b, slot in whole.slot[cpu].cut(whole.start, whole.end)
                   if slot == RUNNING and not any(x <= a and b <= y for x, y in away)]
            self.busy[cpu] = [(a - before, b + SLEEP_NS) for a, b in ran]
        self.starts = {cpu: [a for a, _ in busy] for cpu, busy in self.busy.items()}

    @staticmethod
    def _away(whole, cpu):
        """Spans in which the CPU was offline."""
        spans, since = [], None
        for e in whole.events:
            if e.name in AWAY and e.f["cpu"] == cpu:
                since = e.t
            elif e.name in BACK and e.f["cpu"] == cpu and since is not None:
                spans.append((since, e.t))
                since = None
        return spans + ([(since, whole.end)] if since is not None else [])

    def elsewhere(self, cpu, spans):
        """ns of the spans in which any other CPU ran."""
        parts = []
        for start, end in spans:
            for other, busy in self.busy.items():
                if other == cpu:
                    continue
                i = max(bisect.bisect_right(self.starts[other], start) - 1, 0)
                for a, b in busy[i:bisect.bisect_left(self.starts[other], end)]:
                    parts.append((max(a, start), min(b, end)))
        total, until = 0, 0
        for a, b in sorted(p for p in parts if p[0] < p[1]):
            total += max(0, b - max(a, until))
            until = max(until, b)
        return total

    def explain(self, cpu, gap, spans):
        """True when a gap somewhere in the spans is small, or others ran as long as it lasted."""
        return gap <= OWN_NS or self.elsewhere(cpu, spans) >= gap - OWN_NS


def _kind(e):
    if e.name == "cpu_idle":
        return (EXIT, 0) if e.f["state"] == IDLE_EXIT else (ENTER, e.f["state"])
    return (KINDS[e.name], e.f["lvl"] if KINDS[e.name] in UPDATES else e.f["cpu"])


def records(dump):
    """{cpu: [(t, kind)]} of rec-dump's text."""
    found = {}
    for line in dump.splitlines():
        word, *rest = line.split()
        if word != "rec":
            continue
        t, cpu, kind, _, level, _, a, b = map(int, rest)
        what = {ENTER: a, EXIT: 0, 4: level, 5: level, 6: b, 7: b, 11: b, 12: b}.get(kind)
        if what is not None:
            found.setdefault(cpu, []).append((t, (kind, what)))
    return found


def side_by_side(dump, whole, turns, start, end):
    """(problems, {cpu: ns of turns at idle events}, ns of turns at updates): a recording's events of
    [start, end) held against the capture's, one by one."""
    theirs = {}
    for e in whole.events:
        if e.name == "cpu_idle" or e.name in KINDS:
            theirs.setdefault(e.cpu, []).append((e.t, _kind(e)))
    mine = records(dump)
    problems, idle, updates = [], {}, 0
    for cpu in sorted(set(mine) | set(theirs)):
        a = mine.get(cpu, [])
        b = theirs.get(cpu, [])
        # The capture begins earlier: both end with the same events.
        a = [r for r in a if r[0] >= start]
        first = shift(a, b)
        for (t, kind), (u, other) in zip(a, b[first:]):
            if t >= end:
                break
            if kind != other:
                problems.append(f"CPU {cpu}: {kind} at {t}, the capture has {other} at {u}")
                break
            gap = abs(t - u)
            if gap <= OWN_NS:
                continue
            if not turns.explain(cpu, gap, [(min(t, u), max(t, u))]):
                problems.append(f"CPU {cpu}: {kind} at {t}, in the capture at {u}, and no other "
                                "CPU ran in between")
            elif kind[0] in UPDATES:
                updates += gap
            else:
                idle[cpu] = idle.get(cpu, 0) + gap
        inside = sum(t < end for t, _ in a)
        missing, over = _over_edges(cpu, b[:first] + b[first + inside:], turns, start, end)
        problems += missing
        idle[cpu] = idle.get(cpu, 0) + over[0]
        updates += over[1]
        if inside > len(b) - first:
            problems.append(f"CPU {cpu}: {inside} events, the capture has {len(b) - first}")
    return problems, idle, updates


def _over_edges(cpu, others, turns, start, end):
    """(problems, (ns at idle events, ns at updates)): events that the capture has inside the
    window and the recording outside, where a turn at one of them went over the nearer edge."""
    problems, over = [], [0, 0]
    for t, kind in others:
        if not start <= t < end:
            continue
        span = (start, t) if t - start < end - t else (t, end)
        gap = span[1] - span[0]
        if not turns.explain(cpu, gap, [span]):
            problems.append(f"CPU {cpu}: no record inside the window for the capture's {kind} at {t}")
        elif gap > OWN_NS:
            over[kind[0] in UPDATES] += gap
    return problems, over


def shift(a, b):
    """Where in b the events of a begin: where the first 20 fit and lie nearest."""
    if not a:
        return 0
    few = a[:20]
    near = [i for i, (u, _) in enumerate(b) if abs(u - few[0][0]) < 50_000_000]
    fits = [i for i in near if all(k == other for (_, k), (_, other) in zip(few, b[i:]))]
    return min(fits or near or [0],
               key=lambda i: sum(abs(t - u) for (t, _), (u, _) in zip(few, b[i:])))
