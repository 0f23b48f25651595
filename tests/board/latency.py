# SPDX-License-Identifier: GPL-2.0-or-later
"""`tmigr run --latency` on a board: who ended each idle interval, recomputed from an ftrace
capture of the same window, and the workloads' own figures."""

import collections
import json
import re

# Two tracers stamp one event up to so far apart.
STAMP_NS = 20_000
WINDOWS = ("own", "remote", "pipe")
IPI = {"R": "reschedule-ipi", "F": "call-ipi", "T": "own-timer"}
VECTORS = {"local_timer_entry": "own-timer", "reschedule_entry": "reschedule-ipi",
           "call_function_entry": "call-ipi", "call_function_single_entry": "call-ipi",
           "irq_work_entry": "other"}
TICKS = ("tick_nohz_handler", "tick_sched_timer")

LINE = re.compile(r"^\s*.*-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?:\S+\s+)?"
                  r"(?P<s>\d+)\.(?P<frac>\d{6}):\s+(?P<name>\w+):\s*(?P<rest>.*)$")


def events(text):
    for line in text.splitlines():
        m = LINE.match(line)
        if m:
            yield (int(m["s"]) * 10**9 + int(m["frac"]) * 1000, int(m["cpu"]), m["name"], m["rest"])


def value(rest, key):
    m = re.search(rf"\b{key}=\s*(\S+)", rest)
    return m and m[1]


class Interval:
    """One stay of a CPU in an idle state, from its enter event on."""

    def __init__(self, t, state):
        self.t, self.state = t, state
        self.handlers = []  # all that began before it was settled, in order
        self.exit = None
        self.woken = None  # a wake-up without IPI
        self.own = self.remote = False

    def cause(self, polls, to_task):
        inside = [h for h in self.handlers if self.exit is None or h[0] <= self.exit]
        if self.woken and not (inside and inside[-1][0] > self.woken):
            first = "polled"
        elif inside:
            first = (inside[-1] if polls else inside[0])[1]
        elif self.handlers:
            first = self.handlers[0][1]
        else:
            first = "polled" if to_task else "other"
        if self.remote and not self.own and first in ("own-timer", "polled", "other"):
            return "remote-duty"
        return first


class Oracle:
    """Settled intervals of a capture: (t, cpu, state, cause, detail)."""

    def __init__(self, text, polls):
        self.polls = polls  # state 0 waits with interrupts on, in a loop
        self.open = {}
        self.entries, self.settled = [], []
        self.in_irq = {}
        self.timer_irqs = {}
        for event in events(text):
            self.see(*event)

    def settle(self, t, cpu, to_task):
        i = self.open.pop(cpu, None)
        if i:
            self.settled.append((t, cpu, i.state, i.cause(self.polls and i.state == 0, to_task),
                                 i.t))

    def see(self, t, cpu, name, rest):
        if name == "cpu_idle":
            # On behalf of the CPU that it names, which is the one it is on.
            state = int(value(rest, "state"))
            if state == 4294967295:
                if cpu in self.open:
                    self.open[cpu].exit = t
                return
            self.settle(t, cpu, False)
            self.open[cpu] = Interval(t, state)
            self.entries.append((t, cpu, state))
        elif name == "sched_switch":
            if value(rest, "prev_pid") == "0":
                self.settle(t, cpu, True)
        elif name == "sched_wake_idle_without_ipi":
            target = self.open.get(int(value(rest, "cpu")))
            if target and target.exit is None:
                target.woken = t
        elif name == "irq_handler_exit":
            self.in_irq.pop(cpu, None)
        elif cpu in self.open:
            self.handler(self.open[cpu], t, cpu, name, rest)

    def handler(self, i, t, cpu, name, rest):
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
            i.own = i.own or not i.remote
        elif name == "tmigr_handle_remote_cpu":
            i.remote = i.remote or int(value(rest, "cpu")) != cpu


def within(report, t):
    return report["start_ns"] <= t < report["start_ns"] + report["window_ns"]


def doubtful(report, t):
    end = report["start_ns"] + report["window_ns"]
    return min(abs(t - report["start_ns"]), abs(t - end)) <= STAMP_NS


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
    for c in report["latency"]["cpus"]:
        for s in c["states"]:
            if s["entries"] != entries.get((c["cpu"], s["index"]), 0):
                yield f"CPU {c['cpu']} {s['name']}: {s['entries']} entries, residency has " \
                      f"{entries.get((c['cpu'], s['index']))}"
            entries.pop((c["cpu"], s["index"]), None)
    yield from (f"CPU, state {k}: residency has {n} entries" for k, n in entries.items() if n)


def causes(report, oracle):
    """Yields where the causes are not the capture's."""
    theirs, slack = collections.Counter(), collections.Counter()
    for t, cpu, state, cause, _ in oracle.settled:
        if within(report, t):
            theirs[cpu, state, cause] += 1
        if doubtful(report, t):
            slack[cpu, state] += 1
    ours = collections.Counter()
    for c in report["latency"]["cpus"]:
        for s in c["states"]:
            for w in s["wakeups"]:
                ours[c["cpu"], s["index"], w["cause"]] += w["count"]
    for key in sorted(set(ours) | set(theirs), key=repr):
        if abs(ours[key] - theirs[key]) > slack[key[:2]]:
            yield f"CPU {key[0]}, state {key[1]}, {key[2]}: {ours[key]}, by the capture {theirs[key]}"


def remote_wakes(report):
    """Yields CPUs whose wake-ups with remote timers are not the matrix's."""
    matrix = collections.Counter()
    for r in report["remote"]:
        if r["executor"] != r["target"]:
            matrix[r["executor"]] += r["woke_executor"]
    for c in report["latency"]["cpus"]:
        duty = sum(w["count"] for s in c["states"] for w in s["wakeups"]
                   if w["cause"] == "remote-duty")
        wakes = sum(s["remote_wakes"] for s in c["states"])
        # The matrix has one that came after another task had run, too; the first of a wake-up
        # may have been for the executor's own.
        if not duty <= wakes or abs(wakes - matrix[c["cpu"]]) > 2 + wakes // 50:
            yield f"CPU {c['cpu']}: {wakes} wake-ups with remote timers ({duty} for nothing else), " \
                  f"the matrix has {matrix[c['cpu']]}"


def count(report, cause, cpus=None):
    return sum(w["count"] for c in report["latency"]["cpus"] if cpus is None or c["cpu"] in cpus
               for s in c["states"] for w in s["wakeups"] if w["cause"] == cause)


def workload(name, report, out):
    """Yields what the workload did and the report does not have."""
    work = {int(a[3:]): int(b) for a, b in
            (line.split() for line in out[f"{name}.work"].decode().splitlines())}
    share = report["window_ns"] / (3e9 if name == "pipe" else 6e9)
    if name == "own":
        for cpu, n in work.items():
            got = count(report, "own-timer", [cpu])
            if not 0.8 * n * share <= got:
                yield f"CPU {cpu}: {got} own-timer wake-ups, its sleeper had {n * share:.0f}"
    elif name == "pipe":
        for cpu, n in work.items():
            got = sum(count(report, c, [cpu])
                      for c in ("call-ipi", "reschedule-ipi", "polled"))
            if not 0.8 * n * share <= got:
                yield f"CPU {cpu}: {got} wake-ups by IPI, the pair had {n * share:.0f}"
    elif not count(report, "remote-duty"):
        yield "no CPU was woken for timers of others"


def check(tap, name, out, _):
    for window in WINDOWS:
        what = f"{name} latency {window}"
        rc = out.get(f"{window}.rc", b"none").strip()
        tap.ok(f"{what}: tmigr run", [] if rc == b"0" else
               [rc.decode(), *out.get(f"{window}.err", b"").decode().splitlines()[:5]])
        if rc != b"0":
            continue
        report = json.loads(out[f"{window}/report.json"])
        text = out[f"{window}.trace"].decode()
        polls = not any(c["states"] and c["states"][0]["name"] == "WFI" for c in report["cpus"])
        tap.ok(f"{what}: the capture is whole", ["it has lost events"] if "LOST" in text else [])
        tap.ok(f"{what}: every interval has one cause", adds_up(report))
        tap.ok(f"{what}: causes are the capture's", causes(report, Oracle(text, polls)))
        tap.ok(f"{what}: wake-ups with remote timers are the matrix's", remote_wakes(report))
        tap.ok(f"{what}: the workload's wake-ups", workload(window, report, out))
        tap.ok(f"{what}: no cause is unknown", [] if not count(report, "unknown") else ["some"])
        tap.ok(f"{what}: reported again, the same bytes",
               [a for a in ("again", "replay") if out[f"{window}.{a}"] != out[f"{window}.text"]])
