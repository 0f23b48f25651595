# SPDX-License-Identifier: GPL-2.0-or-later
"""Residency against sysfs, stay by stay.

cpuidle looks at the clock after the event of an entry and before that of the exit, and books the
difference at the exit. A probe on cpuidle_reflect() puts what it booked into the capture, so that
sysfs's counters are the sum of known bookings, and each booking lies beside the events of its stay.
"""

import re

from turns import OWN_NS, STAMP_NS, IDLE_EXIT

# The readings' edges are looked for in so many bookings around.
NEAR = 4


class Sysfs:
    """What `tmwork sysfs` printed: {cpu: {state: {"time": us, "usage": n, ...}}} and, by CPU, when
    it was read: nothing was booked meanwhile."""

    def __init__(self, text):
        self.states, self.read_ns = {}, {}
        for line in text.splitlines():
            m = re.fullmatch(r"cpu(\d+)/cpuidle/state(\d+)/(\w+):(\d+)", line)
            if m:
                of_cpu = self.states.setdefault(int(m.group(1)), {})
                of_cpu.setdefault(int(m.group(2)), {})[m.group(3)] = int(m.group(4))
            m = re.fullmatch(r"cpu(\d+)/mono_ns:(\d+)", line)
            if m:
                self.read_ns[int(m.group(1))] = int(m.group(2))

    def driven(self):
        """CPUs that have idle states."""
        return {cpu for cpu, states in self.states.items() if states}


class Stay:
    """From an idle entry to its exit, in the state asked for; `entered` (negative: rejected) and
    `booked` are cpuidle's, None where it booked nothing."""

    def __init__(self, start, state):
        self.start, self.state = start, state
        self.end = self.entered = self.booked = self.booked_at = None

    @property
    def polled(self):
        """The idle loop polls while a broadcast of the timer is due: its events say state 0, and
        cpuidle knows nothing of it."""
        return self.end is not None and self.booked is None and self.state == 0


def stays_of(whole, cpu):
    """All stays that begin in the capture, the last of them perhaps without an end."""
    found = []
    for e in whole.events:
        if e.cpu != cpu:
            continue
        if e.name == "cpu_idle":
            if e.f["state"] != IDLE_EXIT:
                found.append(Stay(e.t, e.f["state"]))
            elif found:
                found[-1].end = e.t
        elif e.name == "booked" and found and found[-1].end is not None and found[-1].booked is None:
            # (one that is given up before it begins, since there is work, is told of without a stay)
            found[-1].entered, found[-1].booked = e.f["state"], e.f["ns"]
            found[-1].booked_at = e.t
    return found


def _sums(stays):
    """{state: (ns, n)} that cpuidle booked."""
    out = {}
    for s in stays:
        if s.entered is not None and s.entered >= 0:
            ns, n = out.get(s.entered, (0, 0))
            out[s.entered] = (ns + s.booked, n + 1)
    return out


def _delta(before, after):
    """{state: (us, n)} between two readings."""
    return {k: (after[k]["time"] - before[k]["time"], after[k]["usage"] - before[k]["usage"])
            for k in before}


def _same(delta, sums):
    """Both readings cut to microseconds."""
    return all(n == sums.get(k, (0, 0))[1] and abs(us * 1000 - sums.get(k, (0, 0))[0]) < 2000
               for k, (us, n) in delta.items())


def booked_between(stays, delta, first, last):
    """The stays that make exactly the difference of two readings taken near `first` and `last`, or
    None. Between a booking and its event a turn may end, so a few around are tried."""
    stays = [s for s in stays if s.booked is not None]
    i = sum(s.booked_at < first for s in stays)
    j = sum(s.booked_at < last for s in stays)
    shifts = sorted(((x, y) for x in range(-NEAR, NEAR + 1) for y in range(-NEAR, NEAR + 1)),
                    key=lambda xy: abs(xy[0]) + abs(xy[1]))
    for x, y in shifts:
        if 0 <= i + x <= j + y <= len(stays):
            these = stays[i + x:j + y]
            if _same(delta, _sums(these)):
                return these
    return None


def _not_turns(stays, cpu, turns):
    """(ns of turns, problems): stays whose events lie farther apart than what cpuidle booked."""
    ns, problems = 0, []
    for s in stays:
        gap = s.end - s.start - s.booked
        if gap < -2 * STAMP_NS:
            problems.append(f"CPU {cpu}: a stay of {s.end - s.start} ns at {s.start} is booked as "
                            f"{s.booked} ns")
        if gap <= OWN_NS:
            continue
        spans = [(s.start, s.start + gap), (s.end - gap, s.end)]
        if turns.explain(cpu, gap, spans):
            ns += gap
        else:
            problems.append(f"CPU {cpu}: the stay at {s.start} of {s.end - s.start} ns is booked as "
                            f"{s.booked} ns, and no other CPU ran so long in between")
    return ns, problems


def _window(stays, state, start, end):
    """(ns, entries, rejected) of the window: what is booked of stays inside it; those open at an
    edge are closed there by the capture's events."""
    ns = n = rejected = 0
    for s in stays:
        if s.state != state:
            continue
        ends = end if s.end is None else s.end
        if s.start >= start and s.end is not None and s.end <= end:
            ns += s.end - s.start if s.polled else s.booked or 0
        else:
            ns += max(0, min(ends, end) - max(s.start, start))
        if start <= s.start < end:
            n += 1
            rejected += s.entered is not None and s.entered < 0
    return ns, n, rejected


def sysfs(report, whole, turns, before, after):
    """(problems, notes): each CPU's counters against the bookings, exactly; and the report against
    the bookings brought to the window, within 0.1 % of it and 3 entries."""
    start, end = report["start_ns"], report["start_ns"] + report["window_ns"]
    problems, notes, turned, worst, closed, polled = [], [], 0, 0, 0, 0
    for c in report["cpus"]:
        cpu = c["cpu"]
        if cpu not in before.driven():
            continue
        if cpu not in before.read_ns or cpu not in after.read_ns:
            problems.append(f"CPU {cpu}: its counters did not stand still for a reading")
            continue
        stays = stays_of(whole, cpu)
        delta = _delta(before.states[cpu], after.states[cpu])
        if booked_between(stays, delta, before.read_ns[cpu], after.read_ns[cpu]) is None:
            problems.append(f"CPU {cpu}: sysfs counted {delta}, and no run of bookings makes that")
            continue
        inside = [s for s in stays if s.start >= start and s.end is not None and s.end <= end]
        problems += [f"CPU {cpu}: the stay at {s.start} ns is not booked" for s in inside
                     if s.booked is None and not s.polled]
        polled += sum(s.polled for s in inside)
        inside = [s for s in inside if s.booked is not None and s.entered >= 0]
        ns_of_turns, found = _not_turns(inside, cpu, turns)
        problems += found
        turned += ns_of_turns
        closed += sum(s.start < start < (s.end or end + 1) or s.start < end < (s.end or end + 1)
                      for s in stays)
        for s in c["states"]:
            ns, n, rejected = _window(stays, s["index"], start, end)
            off = abs(s["time_ns"] - ns) - ns_of_turns
            worst = max(worst, off)
            if off > report["window_ns"] // 1000 or abs(s["entries"] - n) > 3:
                problems.append(f"CPU {cpu} {s['name']}: {s['time_ns']} ns in {s['entries']} entries, "
                                f"by sysfs {ns} ns in {n}, turns of {ns_of_turns} ns")
            if rejected:
                notes.append(f"CPU {cpu} {s['name']}: {rejected} of {n} entries were rejected")
    notes.append(f"sysfs: {closed} stays closed at the window's edges, turns of {turned} ns between "
                 f"events and bookings, beyond these {worst} ns at most of {report['window_ns']}; "
                 f"{polled} polls")
    return problems, notes


def rates(before, after, keeper):
    """(idle entries a second, share of the deepest state) of all CPUs but the keeper, by two
    readings that each follow a wake-up of every CPU."""
    entries = deep = seconds = 0
    others = before.driven() - {keeper}
    for cpu in others:
        was, now = before.states[cpu], after.states[cpu]
        entries += sum(now[i]["usage"] - was[i]["usage"] for i in was)
        deep += (now[max(was)]["time"] - was[max(was)]["time"]) / 1e6
        seconds += (after.read_ns[cpu] - before.read_ns[cpu]) / 1e9
    return entries / seconds * len(others), deep / seconds


def rates_of(report, keeper):
    """The same of a report's window."""
    others = [c for c in report["cpus"] if c["cpu"] != keeper and c["states"]]
    entries = sum(s["entries"] for c in others for s in c["states"])
    deep = sum(max(c["states"], key=lambda s: s["index"])["time_ns"] for c in others)
    return entries / (report["window_ns"] / 1e9), deep / (report["window_ns"] * len(others))
