# SPDX-License-Identifier: GPL-2.0-or-later
"""Idle intervals of an ftrace capture: who ended each, and what its timer was armed for.

The times of a capture are another tracer's, cut to microseconds. Those of the events that a
recording of the same window has are put in their place: they are tmigr's own, to the ns, so that
what it makes of them can be held against the kernel's expiry times without a tolerance.
"""

import bisect
import heapq
import re

import turns

# Two tracers stamp one event up to so far apart.
STAMP_NS = 20_000
IPI = {"R": "reschedule-ipi", "F": "call-ipi", "T": "own-timer"}
VECTORS = {"local_timer_entry": "own-timer", "reschedule_entry": "reschedule-ipi",
           "call_function_entry": "call-ipi", "call_function_single_entry": "call-ipi",
           "irq_work_entry": "other"}
TICKS = ("tick_nohz_handler", "tick_sched_timer")
TMIGR = ("tmigr_group_set_cpu_inactive", "tmigr_update_events", "tmigr_cpu_idle",
         "tmigr_cpu_new_timer_idle")
IDLE_EXIT = "4294967295"
REALTIME_NS = 10**18  # expiry times from here on are of that clock
FAR = 2**63 - 1  # KTIME_MAX: no timer

LINE = re.compile(r"^\s*(?P<comm>.*)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?:\S+\s+)?"
                  r"(?P<s>\d+)\.(?P<frac>\d{6}):\s+(?P<name>\w+):\s*(?P<rest>.*)$")
CPUHP = re.compile(r"cpu:\s*(\d+)")
GONE = "(finish_cpu)"  # first step of a take-down that finds the CPU dead


def events(text):
    for line in text.splitlines():
        m = LINE.match(line)
        if m:
            yield (int(m["s"]) * 10**9 + int(m["frac"]) * 1000, int(m["cpu"]), m["name"],
                   m["rest"], int(m["pid"]))


def value(rest, key):
    m = re.search(rf"\b{key}=\s*(\S+)", rest)
    return m and m[1]


class Interval:
    """One stay of a CPU in an idle state, from its enter event on."""

    def __init__(self, order, t, cpu, state):
        self.order = order  # of its entry among all events
        self.cpu, self.state = cpu, state
        self.enter = self.enter_seen = t  # as told; as captured
        self.exit = self.exit_seen = None
        self.told = self.exit_told = 0  # of the two, those that are tmigr's
        self.settled = None
        self.to_task = None  # the command that it was settled for
        self.ready = self.tmigr_ns = None  # for idle, since; of that, in timer migration
        self.ready_order, self.tmigr_orders = None, []  # of the events that tell so
        self.handlers = []  # all that began before it was settled: [t, cause]
        self.woken = None  # a wake-up without IPI
        self.own = False
        self.remote = None  # CPU whose timers were the first to run
        self.armed = None  # for when, at its begin: its CPU's first timer
        self.stale = []  # times before that, for which the device may still have been armed
        self.cause = None
        self.inside = False  # a handler ran before the exit: the wake-up was that

    @property
    def exact(self):
        return self.told == 2 and not self.inside

    @property
    def exit_exact(self):
        return self.exit_told and not self.inside

    def judge(self, polls):
        inside = [h for h in self.handlers if self.exit is None or h[0] <= self.exit_seen]
        if self.woken and not (inside and inside[-1][0] > self.woken):
            first = "polled"
        elif inside:
            first = (inside[-1] if polls else inside[0])[1]
        elif self.handlers:
            first = self.handlers[0][1]
        else:
            first = "polled" if self.to_task else "other"
        if self.remote is not None and not self.own and first in ("own-timer", "polled", "other"):
            first = "remote-duty"
        self.cause = first
        self.inside = bool(inside)


class Turns(turns.Turns):
    """When which CPU ran, by the intervals."""

    def __init__(self, by_cpu):  # pylint: disable=super-init-not-called
        self.busy = {cpu: [((a.exit_seen or a.settled or b.enter_seen) - turns.SLEEP_NS,
                            b.enter_seen + turns.SLEEP_NS) for a, b in zip(mine, mine[1:])]
                     for cpu, mine in by_cpu.items()}
        self.starts = {cpu: [a for a, _ in busy] for cpu, busy in self.busy.items()}


class Timer:
    """An hrtimer, from one start to its end; both in the order of events."""

    def __init__(self, start, rest):
        self.start, self.end = start, None
        self.ended_on = None  # the CPU that took it out
        self.forgotten = FAR  # taken out by another one: its own has armed its device anew
        self.cpu = None  # on which it is queued
        self.due, self.soft = int(value(rest, "expires")), int(value(rest, "softexpires"))

    def queued_at(self, order):
        return self.start < order and not (self.end and self.end < order)


class Timers:
    """hrtimers: where each was queued, for how long, and for when."""

    def __init__(self):
        self.last, self.by_due = {}, {}
        self.all, self.problems = [], []
        self.expiries = {}  # by CPU: in the order of events

    def see(self, order, cpu, name, rest):
        address = value(rest, "hrtimer").removeprefix("0x")
        timer = self.last.get(address)
        if name == "queued":
            if timer:
                timer.cpu = int(value(rest, "on"))
            return
        # Started anew while it is queued, its old time ends. On some kernels a timer is cancelled
        # first, then expires; on some, one that is started late is not queued at all
        # (hrtimer_start_expired).
        if timer and not timer.end:
            timer.end, timer.ended_on = order, cpu
        if name == "hrtimer_start":
            timer = self.last[address] = Timer(order, rest)
            self.all.append(timer)
            self.by_due.setdefault(timer.soft, []).append(timer)
        if name == "hrtimer_expire_entry":
            self.expiries.setdefault(cpu, []).append(order)
            if timer and cpu != timer.cpu:
                self.problems.append(f"hrtimer {address}: queued on CPU {timer.cpu}, expires on {cpu}")

    def leave(self, order, cpu):
        """It is offline: its tick is no more, other timers have moved to another CPU, and a new one may
        have been started, all without events: tracepoints do nothing on a CPU that is not online."""
        for address in [a for a, timer in self.last.items() if timer.end or timer.cpu == cpu]:
            timer = self.last.pop(address)
            timer.end = timer.end or order

    def arm(self, intervals):
        """What each interval began with: the first of its CPU's timers. A timer that another CPU took
        out may stay what the device is armed for, until timers expire there: only its own CPU arms it."""
        for cpu in {i.cpu for i in intervals}:
            mine = [t for t in self.all if t.cpu == cpu and t.due < REALTIME_NS]
            stale = [t for t in mine if t.ended_on not in (None, cpu)]
            for t in stale:
                t.forgotten = next((e for e in self.expiries.get(cpu, []) if e > t.end), FAR)
            heap, at = [], 0
            for i in (i for i in intervals if i.cpu == cpu):
                while at < len(mine) and mine[at].start < i.order:
                    heapq.heappush(heap, (mine[at].due, at))
                    at += 1
                while heap and not mine[heap[0][1]].queued_at(i.order):
                    heapq.heappop(heap)
                i.armed = heap[0][0] if heap else FAR
                i.stale = [t.due for t in stale
                           if t.end < i.order < t.forgotten and i.enter < t.due < i.armed]


class Capture:
    """All that the checks of latency want of one. `polls`: state 0 waits with interrupts on."""

    def __init__(self, text, polls):
        self.polls = polls
        self.intervals = []
        self.idle_events = {}  # by CPU: [(t, kind, interval, whether the exit)]
        self.remote = []  # (t, executor, target, from the idle task, first since its entry)
        self.timers = Timers()
        self.open, self.unspent = {}, set()
        self.in_irq, self.timer_irqs = {}, {}
        self.idle, self.ready, self.begun, self.tmigr = set(), {}, {}, {}
        self.tmigr_orders, self.ready_order = {}, {}
        self.times = {}  # by CPU: (order, t) of its events
        for order, event in enumerate(events(text)):
            self._see(order, *event)
        self.timers.arm(self.intervals)
        self.by_cpu = {}
        for i in self.intervals:
            self.by_cpu.setdefault(i.cpu, []).append(i)
        self.turns = Turns(self.by_cpu)
        for i in self.intervals:
            i.judge(polls and i.state == 0)

    # ---- the way into idle ----

    def _is_ready(self, order, t, cpu):
        self.ready[cpu], self.ready_order[cpu] = t, order
        self.begun.pop(cpu, None)

    def _migrates(self, order, t, cpu, name):
        first = self.begun.setdefault(cpu, (order, t))
        if name in ("tmigr_cpu_idle", "tmigr_cpu_new_timer_idle"):
            self.tmigr[cpu] = self.tmigr.get(cpu, 0) + t - first[1]
            self.tmigr_orders.setdefault(cpu, []).extend((first[0], order))
            del self.begun[cpu]

    def _enters(self, order, t, cpu, state):
        self._settle(t, cpu, None)
        i = Interval(order, t, cpu, state)
        i.ready, i.tmigr_ns = self.ready.get(cpu), self.tmigr.pop(cpu, None)
        i.ready_order, i.tmigr_orders = self.ready_order.get(cpu), self.tmigr_orders.pop(cpu, [])
        self.begun.pop(cpu, None)
        self.open[cpu] = i
        self.idle.add(cpu)
        self.unspent.add(cpu)
        self.intervals.append(i)
        self.idle_events.setdefault(cpu, []).append((t, (turns.ENTER, state), i))

    def _exits(self, order, t, cpu):
        i = self.open.get(cpu)
        if i:
            i.exit = i.exit_seen = t
        self.ready[cpu], self.ready_order[cpu] = t, order
        self.idle_events.setdefault(cpu, []).append((t, (turns.EXIT, 0), i))

    def _settle(self, t, cpu, to_task):
        i = self.open.pop(cpu, None)
        if i:
            i.settled, i.to_task = t, to_task

    def _comes_or_goes(self, cpu, by):
        """What another CPU does to it, it does while this one is down."""
        if cpu != by:
            for of in self.ready, self.begun, self.tmigr:
                of.pop(cpu, None)
            self.unspent.discard(cpu)
            self.idle.add(cpu)

    def _switches(self, order, t, cpu, rest):
        if value(rest, "prev_pid") == "0":
            self.idle.discard(cpu)
            self._settle(t, cpu, value(rest, "next_comm"))
        elif value(rest, "next_pid") == "0":
            self.idle.add(cpu)
            self.tmigr.pop(cpu, None)
            self.tmigr_orders.pop(cpu, None)
            self._is_ready(order, t, cpu)

    # ---- events ----

    def _see(self, order, t, cpu, name, rest, pid):
        self.times.setdefault(cpu, []).append((order, t))
        if name.startswith("hrtimer_") or name == "queued":
            self.timers.see(order, cpu, name, rest)
        if name == "cpu_idle":
            state = value(rest, "state")
            if state == IDLE_EXIT:
                self._exits(order, t, cpu)
            else:
                self._enters(order, t, cpu, int(state))
        elif name == "sched_switch":
            self._switches(order, t, cpu, rest)
        elif name == "sched_wake_idle_without_ipi":
            target = self.open.get(int(value(rest, "cpu")))
            if target and target.exit is None:
                target.woken = t
        elif name in TMIGR and cpu in self.idle:
            self._migrates(order, t, cpu, name)
        elif name == "cpuhp_enter":
            of = int(CPUHP.match(rest)[1])
            self._comes_or_goes(of, cpu)
            if rest.endswith(GONE):
                self.timers.leave(order, of)
        if name in ("irq_handler_exit", "softirq_exit") or name.removesuffix("_exit") + "_entry" in VECTORS:
            if cpu in self.idle:
                self._is_ready(order, t, cpu)
        if name == "irq_handler_exit":
            self.in_irq.pop(cpu, None)
        if name == "tmigr_handle_remote_cpu":
            self._expires(t, cpu, int(value(rest, "cpu")), pid)
        if cpu in self.open:
            self._handles(self.open[cpu], t, cpu, name, rest)

    def _expires(self, t, cpu, target, pid):
        first = pid == 0 and cpu in self.unspent
        if pid == 0:
            self.unspent.discard(cpu)
        self.remote.append((t, cpu, target, first))
        i = self.open.get(cpu)
        if i and target != cpu and i.remote is None:
            i.remote = target

    def _handles(self, i, t, cpu, name, rest):
        if name == "irq_handler_entry":
            irq = int(value(rest, "irq"))
            self.in_irq[cpu] = irq
            timer = irq in self.timer_irqs.get(cpu, ()) or value(rest, "name") == "arch_timer"
            i.handlers.append([t, "own-timer" if timer else "device-irq"])
        elif name == "ipi_entry":
            cause = IPI.get(rest.lstrip("(")[:1], "other")
            if cpu in self.in_irq and i.handlers:
                i.handlers[-1][1] = cause
            else:
                i.handlers.append([t, cause])
        elif name in VECTORS:
            i.handlers.append([t, VECTORS[name]])
        elif name == "hrtimer_expire_entry":
            if not i.handlers:
                i.handlers.append([t, "own-timer"])
            i.own = i.own or value(rest, "function") not in TICKS
        elif name == "timer_expire_entry":
            i.own = i.own or i.remote is None

    # ---- times to the ns ----

    def take_times(self, dump, start):
        """Those of the recording (rec-dump's text) from the window's start on. Returns problems."""
        problems = []
        mine = {cpu: [r for r in recs if r[0] >= start and r[1][0] in (turns.ENTER, turns.EXIT)]
                for cpu, recs in turns.records(dump).items()}
        for cpu, theirs in self.idle_events.items():
            a = mine.get(cpu, [])
            at = turns.shift(a, [(t, kind) for t, kind, _ in theirs])
            for (t, kind), (seen, other, i) in zip(a, theirs[at:]):
                if kind != other:
                    problems.append(f"CPU {cpu}: {kind} at {t}, the capture has {other} at {seen}")
                    break
                if i and kind[0] == turns.ENTER:
                    i.enter = t
                elif i:
                    i.exit, i.exit_told = t, 1
                if i:
                    i.told += 1
        return problems

    def turn_behind(self, cpu, order):
        """ns of a turn that may lie between the two tracers' stamps of an event. ftrace, which was there first,
        stamps first; the other does before the CPU's next event. 0: these are as near as looks are, or no
        other CPU ran."""
        mine = self.times[cpu]
        n = bisect.bisect_left(mine, (order,))
        (_, a), (_, b) = mine[n], mine[min(n + 1, len(mine) - 1)]
        return b - a if b - a > turns.OWN_NS and self.turns.explain(cpu, b - a, [(a, b)]) else 0

    def at(self, cpu, t):
        """The last interval of the CPU that began before t, and the one behind it; None: there is none."""
        mine = self.by_cpu.get(cpu, [])
        n = bisect.bisect_right(mine, t, key=lambda i: i.enter)
        return mine[n - 1] if n else None, mine[n] if n < len(mine) else None
