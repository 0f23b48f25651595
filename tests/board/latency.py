# SPDX-License-Identifier: GPL-2.0-or-later
"""`tmigr run --latency` on a board: its figures, recomputed from an ftrace capture and the
recording of the same window (intervals.py), and the workloads' own."""

import collections
import itertools
import json
import re

from intervals import FAR, STAMP_NS, Capture

WINDOWS = ("own", "remote", "duty", "pipe", "away")
IPIS = ("call-ipi", "reschedule-ipi", "polled")
DUTY = ("own-timer", "remote-duty")
# Two tracers' stamps of one event are so far apart, of which cutting to microseconds is one half.
TWO_STAMPS_NS = 2000
# The time between two events is more or less by this, for the same reasons.
CUT_NS = 1500
# The tick of a CPU that comes online is no hrtimer at first; its period is no longer than this.
FIRST_TICK_NS = 10_000_000
# So many intervals may be settled next to a window's edge before trying is given up.
DOUBTS = 8


def within(report, t):
    return report["start_ns"] <= t < report["start_ns"] + report["window_ns"]


def doubtful(report, t):
    end = report["start_ns"] + report["window_ns"]
    return min(abs(t - report["start_ns"]), abs(t - end)) <= STAMP_NS


def states(report):
    """((CPU, index), state) of all."""
    for c in report["latency"]["cpus"]:
        for s in c["states"]:
            yield (c["cpu"], s["index"]), s


def count(report, cause, cpus=None):
    return sum(w["count"] for (cpu, _), s in states(report) if cpus is None or cpu in cpus
               for w in s["wakeups"] if w["cause"] == cause)


# ---- the report by itself ----

def adds_up(report):
    """Yields where an interval has no cause or two, and where entries are not residency's."""
    entries = {(c["cpu"], s["index"]): s["entries"] for c in report["cpus"] for s in c["states"]}
    for group in ("cpus", "classes"):
        for of in report["latency"][group]:
            for s in of["states"]:
                causes = sum(w["count"] for w in s["wakeups"])
                if s["entries"] + s["open_start"] != causes + s["open_end"]:
                    yield f"{of}: {s['entries']} entries, {causes} causes"
                parts = sum(r["count"] for r in s["remote"] + s["irqs"]) + s["detail_lost"]
                whole = sum(w["count"] for w in s["wakeups"]
                            if w["cause"] in ("remote-duty", "device-irq"))
                if parts != whole:
                    yield f"{of}: details {parts}, causes {whole}"
    for key, s in states(report):
        if s["entries"] != entries.pop(key, 0):
            yield f"CPU {key[0]} {s['name']}: {s['entries']} entries, residency has another number"
    yield from (f"CPU, state {k}: residency has {n} entries" for k, n in entries.items() if n)


def answers(report, text):
    """Yields where the answer does not say what the classes' remote duty has cost them."""
    for c in report["latency"]["classes"]:
        for s in c["states"]:
            for r in s["remote"]:
                n, cost = r["count"], r["awake_ns"]
                m = re.search(rf"{c['class']} CPUs were woken {n} times? from {s['name']} to run timers "
                              rf"of {r['target_class']} CPUs, which cost them ([\d.]+) (\w+) of it",
                              " ".join(text.split()))
                unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
                if not m:
                    yield f"{c['class']} {s['name']}: woken {n} times for {r['target_class']}: not said"
                elif abs(float(m[1]) * unit[m[2]] - cost) > 0.5 * unit[m[2]]:
                    yield f"{m[0]}: it is {cost} ns"


# ---- against the capture ----

class Sums:
    """Of settled intervals, as the report has them of one CPU and state. How many have, by what they
    are in, `loose`: no exact times, `rough`: no exact wake-up. What was entered before the window is
    not in the recording."""

    def __init__(self, intervals):
        self.n = collections.Counter()
        self.rows = collections.Counter()
        self.hist = collections.Counter()
        self.targets = collections.Counter()
        self.loose, self.rough = collections.Counter(), collections.Counter()
        self.wake_ns, self.remote_wakes, self.max_ns = 0, 0, 0
        self.early_ns = collections.Counter()  # by so much the timers may have been due before
        # Woken by a timer that no event tells of: one that came from a CPU on its way down, or the
        # first tick of a CPU on its way up.
        self.untold, self.untold_ns = 0, 0
        for i in intervals:
            self._add(i)

    def _add(self, i):
        wake = i.settled if i.exit is None else i.exit
        self.n[i.cause] += 1
        self.remote_wakes += i.remote is not None
        if i.cause == "remote-duty":
            self.targets[i.remote] += 1
        self.rows[i.cause, "slept_ns"] += wake - i.enter
        self.loose[i.cause] += not i.exact
        self.rough[i.cause] += not i.exit_exact
        armed = i.enter + FIRST_TICK_NS if i.armed == FAR else i.armed
        stale = [due for due in i.stale if due <= wake]
        if wake < armed and i.cause in DUTY and stale:
            armed = min(stale)
        if wake < armed and i.cause in DUTY:
            self.untold += 1
            self.untold_ns += wake - i.enter
        elif wake < armed:
            self.rows[i.cause, "short"] += 1
            self.rows[i.cause, "short_slept_ns"] += wake - i.enter
            self.rows[i.cause, "short_expected_ns"] += armed - i.enter
            self.early_ns[i.cause] += armed - min((due for due in i.stale if due > wake), default=armed)
        elif i.cause in DUTY:
            late = wake - max(armed, i.enter)
            self.hist[max(late, 1).bit_length() - 1] += 1
            self.wake_ns += late
            self.max_ns = max(self.max_ns, late)
            self.rough["wake"] += not (i.exit_exact if armed > i.enter else i.exact)

    def differs(self, s, moved):
        """The first thing in which the report's state `s` differs; None: in nothing. `moved`: timers may
        have come from a CPU on its way down, or been its own, of which no event tells."""
        if self.untold and not moved:
            return f"{self.untold} wake-ups by a timer, and none was due by the capture"
        ours = collections.Counter({w["cause"]: w["count"] for w in s["wakeups"]})
        if ours != +self.n:
            return f"causes {dict(ours)}, by the capture {dict(self.n)}"
        targets = collections.Counter()
        for r in s["remote"]:
            targets[r["target"]] += r["count"]
        if targets != self.targets:
            return f"duty for CPUs {dict(targets)}, by the capture {dict(self.targets)}"
        if s["remote_wakes"] != self.remote_wakes:
            return f"{s['remote_wakes']} wake-ups with remote timers, by the capture {self.remote_wakes}"
        return self._times(s, moved)

    def _times(self, s, moved):
        for w in s["wakeups"]:
            slack = self.loose[w["cause"]]
            theirs = self.rows[w["cause"], "slept_ns"]
            if abs(w["slept_ns"] - theirs) > slack * STAMP_NS:
                return f"{w['cause']}: slept {w['slept_ns']} ns, by the recording {theirs}"
            if w["expected"] != w["count"]:
                return f"{w['cause']}: {w['expected']} of {w['count']} with a timer armed"
            for what in ("short", "short_slept_ns", "short_expected_ns"):
                theirs = self.rows[w["cause"], what]
                more = slack * STAMP_NS if what.endswith("_ns") else self.rough[w["cause"]]
                less = more + (self.early_ns[w["cause"]] if what == "short_expected_ns" else 0)
                if w[what] > theirs + more or not (moved or w[what] >= theirs - less):
                    return f"{w['cause']}: {what} {w[what]}, by recording and capture {theirs}"
        slack, wake = self.rough["wake"], s["wake"]
        hist = collections.Counter({k: n for k, n in enumerate(wake["hist"]) if n})
        if wake["n"] != sum(self.hist.values()) + self.untold or \
                sum(((hist - self.hist) + (self.hist - hist)).values()) > 2 * slack + self.untold:
            return f"wake latencies {dict(hist)}, by recording and capture {dict(self.hist)}"
        if not -slack * STAMP_NS <= wake["sum_ns"] - self.wake_ns <= self.untold_ns + slack * STAMP_NS:
            return f"wake latencies of {wake['sum_ns']} ns, by recording and capture {self.wake_ns}"
        if not self.untold and abs((wake["max_ns"] or 0) - self.max_ns) > bool(slack) * STAMP_NS:
            return f"the largest wake latency {wake['max_ns']}, by recording and capture {self.max_ns}"
        return None


def figures(report, capture):
    """Yields where a state's figures are not those of its intervals. Those that were settled next
    to an edge, by another tracer's clock, are on either side of it."""
    sure, doubt = collections.defaultdict(list), collections.defaultdict(list)
    for i in capture.intervals:
        key = (i.cpu, i.state)
        if i.settled is None:
            continue
        if doubtful(report, i.settled):
            doubt[key].append(i)
        elif within(report, i.settled):
            sure[key].append(i)
    came = {c["cpu"] for c in report["cpus"] if c["offline_ns"]}  # offline for a part of the window
    yield from {f"CPU {cpu}: no hrtimer is queued there, by the capture" for (cpu, _), n in sure.items()
                if cpu not in came and any(i.armed == FAR for i in n)}
    for key, s in states(report):
        maybe = doubt[key][:DOUBTS]
        ways = itertools.chain.from_iterable(itertools.combinations(maybe, n)
                                             for n in range(len(maybe) + 1))
        found = [Sums(sure.get(key, []) + list(way)).differs(s, came) for way in ways]
        if all(found):
            yield f"CPU {key[0]}, state {key[1]}: {found[0]}"
        sure.pop(key, None)
    yield from (f"CPU, state {key}: {len(n)} wake-ups, and none in the report" for key, n in sure.items())


def entry_costs(report, capture):
    """Yields where the cost of entries is not the capture's: as many, and in their sums no
    farther from it than two tracers' stamps of one event are, but for turns of the emulator (turns.py)."""
    theirs = collections.defaultdict(list)
    for i in capture.intervals:
        if within(report, i.enter) and i.told:
            theirs[i.cpu, i.state].append(i)
    for key, s in states(report):
        mine = theirs[key]
        # An entry ends at the report's own stamp, and begins at the capture's, which is earlier; both
        # of timer migration's are the capture's.
        yield from differs(key, "entry", s["entry"], [i.enter - i.ready for i in mine if i.ready is not None],
                           (TWO_STAMPS_NS, 0), sum(capture.turn_behind(i.cpu, i.ready_order)
                                                   for i in mine if i.ready is not None))
        yield from differs(key, "tmigr", s["tmigr"], [i.tmigr_ns for i in mine if i.tmigr_ns is not None],
                           (CUT_NS, CUT_NS), sum(capture.turn_behind(i.cpu, order) for i in mine
                                                 if i.tmigr_ns is not None for order in i.tmigr_orders))


def differs(key, what, got, ns, each, turn):
    """Yields how the report's figure is not the sum of `ns`; one of these may be less and more by `each`."""
    whole = sum(ns)
    if got["n"] != len(ns):
        yield f"CPU {key[0]}, state {key[1]}: {what} of {got['n']}, by the capture {len(ns)}"
    elif not -len(ns) * each[0] - turn <= got["sum_ns"] - whole <= len(ns) * each[1] + turn:
        yield f"CPU {key[0]}, state {key[1]}: {what} {got['sum_ns']} ns, by the capture {whole} of {len(ns)}, " \
              f"turns of {turn}"


def matrix(report, capture):
    """Yields where the wake-ups of a CPU by others' timers are more than the matrix has, pair by pair;
    and where the matrix's own are not the capture's."""
    woke, slack = collections.Counter(), collections.Counter()
    for t, cpu, target, first in capture.remote:
        if doubtful(report, t):
            slack[cpu, target] += 1
        elif first and within(report, t):
            woke[cpu, target] += 1
    pairs = {(r["executor"], r["target"]): r for r in report["remote"]}
    for pair in sorted(set(woke) | set(pairs)):
        ours = pairs[pair]["woke_executor"] if pair in pairs else 0
        if not woke[pair] <= ours <= woke[pair] + slack[pair]:
            yield f"CPU {pair[0]} woken for {pair[1]}: {ours} in the matrix, by the capture {woke[pair]}"
    for (cpu, _), s in states(report):
        for r in s["remote"]:
            if r["count"] > pairs.get((cpu, r["target"]), {"count": 0})["count"]:
                yield f"CPU {cpu}: woken {r['count']} times for CPU {r['target']}, more than the matrix has"


# ---- against the workload ----

def stamps(work):
    """{CPU: [(from, to)]} that it wrote."""
    found = collections.defaultdict(list)
    for line in work.decode().splitlines():
        word, *rest = line.split()
        if word == "stamp":
            cpu, a, b = map(int, rest)
            found[cpu].append((a, b))
    return found


def sleep_by(capture, cpu, due, back):
    """What the capture says of a sleep until `due` that was over at `back`: ("timer", its interval's wake
    latency), ("awake", 0), ("early", 0), or ("?", why)."""
    i, then = capture.at(cpu, due)
    if i is None or (i.settled is not None and i.settled <= due):
        return "awake", 0
    # (A tick may be due at that very ns, but has no slack: a sleep's timer expires later.)
    timer = [t for t in capture.timers.by_due.get(due, ()) if t.cpu == cpu and t.due > due]
    if len(timer) != 1 or i.exit is None:
        return "?", f"due at {due}: {len(timer)} timers, interval {i.enter}..{i.exit}"
    expiry = timer[0].due
    if i.exit < expiry or i.armed < expiry or i.cause != "own-timer":
        return "early", 0  # for another timer, or by something else
    if i.armed > expiry:
        return "?", f"due at {due}: armed for {i.armed}"
    if not due < expiry <= i.exit <= back or not i.settled <= back < then.enter:
        return "?", f"due at {due}, expiry {expiry}, exit {i.exit}, off idle at {i.settled}, back at {back}, " \
                    f"idle again at {then.enter}"
    return "timer", i.exit - expiry


def sleepers(tap, what, report, capture, work):
    """Every sleep has its wake-up, in the report and in the trace; its own lateness is the wake latency
    that the report has, and the way from there: the exit, off idle, the return, all before idle again."""
    end = report["start_ns"] + report["window_ns"]
    problems = []
    for cpu, sleeps in sorted(stamps(work).items()):
        mine = [(due, back) for due, back in sleeps
                if report["start_ns"] + STAMP_NS < due and back < end - STAMP_NS]
        kinds = collections.defaultdict(list)
        for due, back in mine:
            kind, ns = sleep_by(capture, cpu, due, back)
            kinds[kind].append((ns, back - due))
        problems += [f"CPU {cpu}: {why}" for why, _ in kinds["?"][:5]]
        by_timer, late = len(kinds["timer"]), sum(ns for _, ns in kinds["timer"])
        wake = sum(ns for ns, _ in kinds["timer"])
        told = sum(s["wake"]["sum_ns"] for (c, _), s in states(report) if c == cpu)
        if not wake <= told or by_timer > count(report, "own-timer", [cpu]):
            problems.append(f"CPU {cpu}: {by_timer} sleeps, late by {wake} ns at the wake-up: the report has "
                            f"{count(report, 'own-timer', [cpu])}, {told} ns")
        if not by_timer > len(mine) / 2 > 0:
            problems.append(f"CPU {cpu}: of {len(mine)} sleeps {by_timer} were ended by their timer")
        tap.note(f"{what} CPU {cpu}: {len(mine)} sleeps, {by_timer} ended by their timer, "
                 f"{len(kinds['awake'])} with the CPU awake, {len(kinds['early'])} with it woken before; "
                 f"late by {late / max(by_timer, 1):.0f} ns each, of them {wake / max(by_timer, 1):.0f} "
                 "up to the wake-up")
    return problems or ([] if stamps(work) else ["no sleeper"])


def pair(tap, what, report, capture, work):
    """Yields waits of a process for its partner that were not ended by an interrupt from there. Where
    the CPU had left idle for something else, the byte found it awake."""
    for cpu, waits in sorted(stamps(work).items()):
        mine = [(a, b) for a, b in waits if within(report, a) and within(report, b)]
        ended = collections.Counter()
        for a, b in mine:
            i, _ = capture.at(cpu, b)
            slept = i is not None and i.enter > a and i.to_task == "tmwork"
            ended[i.cause if slept else "awake"] += 1
            if slept and not (i.cause in IPIS or i.woken or any(h[1] in IPIS for h in i.handlers)):
                yield f"CPU {cpu}: a wait from {a} to {b}, ended by {i.cause}"
        by_ipi = sum(ended[c] for c in IPIS)
        if not by_ipi > len(mine) / 2 > 0 or by_ipi > sum(count(report, c, [cpu]) for c in IPIS):
            yield f"CPU {cpu}: of {len(mine)} waits {by_ipi} were ended by an IPI"
        tap.note(f"{what} CPU {cpu}: {len(mine)} waits, ended by {dict(ended)}")


def woken_for(report, targets):
    """How often a big CPU was woken for timers of a CPU of these classes; None: there is no big one."""
    classes = {c["class"]: c for c in report["latency"]["classes"]}
    if "big" not in classes:
        return None
    return sum(r["count"] for s in classes["big"]["states"] for r in s["remote"] if r["target_class"] in targets)


def away(report):
    """Yields entries of the CPU that was offline which cost as much as that lasted."""
    last = report["cpus"][-1]
    if not last["offline_ns"]:
        yield f"CPU {last['cpu']} was not offline"
    for (cpu, _), s in states(report):
        if cpu == last["cpu"] and s["entry"]["n"] and s["entry"]["max_ns"] >= last["offline_ns"] / 2:
            yield f"CPU {cpu} {s['name']}: an entry of {s['entry']['max_ns']} ns"


def check_workload(tap, what, window, report, capture, work):
    if window == "own":
        tap.ok(f"{what}: every sleep is in the report and in the trace, and as late as they say",
               sleepers(tap, what, report, capture, work))
    elif window == "pipe":
        tap.ok(f"{what}: the pair's waits are ended by IPIs", pair(tap, what, report, capture, work))
    elif window == "away":
        tap.ok(f"{what}: the time offline is nobody's cost", away(report))
    else:
        lower = {c["class"] for c in report["latency"]["classes"]} - {"big"}
        n = woken_for(report, lower)
        tap.note(f"{what}: big CPUs were woken {n} times for timers of {lower}")
        # (Where timers are everywhere it is chance who is idle last; that the matrix has each is told above.)
        if window == "duty":
            tap.ok(f"{what}: big CPUs are woken for timers of lower classes", ["none was"] if n == 0 else [])


def check_window(tap, what, window, out, recorded):
    report = json.loads(out[f"{window}/report.json"])
    text = out[f"{window}.trace"].decode()
    polls = not any(c["states"] and c["states"][0]["name"] == "WFI" for c in report["cpus"])
    tap.ok(f"{what}: the capture is whole", ["it has lost events"] if "LOST" in text else [])
    capture = Capture(text, polls)
    tap.ok(f"{what}: the recording's idle events are the capture's",
           capture.take_times(recorded(out[f"{window}/events.tmr"]), report["start_ns"]))
    tap.ok(f"{what}: hrtimers expire where they are queued", capture.timers.problems)
    tap.ok(f"{what}: every interval has one cause", adds_up(report))
    tap.ok(f"{what}: causes, times and wake latencies are those of recording and capture",
           figures(report, capture))
    woken = [i for i in capture.intervals
             if i.settled and within(report, i.settled) and i.cause in DUTY]
    cancelled = sum(i.exit < i.armed for i in woken)
    tap.note(f"{what}: {len(woken)} wake-ups by a timer, {cancelled} of them by one that "
             f"was cancelled or is not told of, {sum(not i.exact for i in woken)} without exact times")
    tap.ok(f"{what}: entry costs are the capture's", entry_costs(report, capture))
    tap.ok(f"{what}: wake-ups with remote timers are the matrix's", matrix(report, capture))
    tap.ok(f"{what}: the answer has what remote duty cost", answers(report, out[f"{window}.text"].decode()))
    tap.ok(f"{what}: no cause is unknown", [] if not count(report, "unknown") else ["some"])
    tap.ok(f"{what}: reported again, the same bytes",
           [a for a in ("again", "replay") if out[f"{window}.{a}"] != out[f"{window}.text"]])
    check_workload(tap, what, window, report, capture, out[f"{window}.work"])


def check(tap, name, out, recorded):
    """`recorded`: gives a recording's records as text."""
    for window in WINDOWS:
        what = f"{name} latency {window}"
        rc = out.get(f"{window}.rc", b"none").strip()
        tap.ok(f"{what}: tmigr run", [] if rc == b"0" else
               [rc.decode(), *out.get(f"{window}.err", b"").decode().splitlines()[:5]])
        if rc == b"0":
            check_window(tap, what, window, out, recorded)
