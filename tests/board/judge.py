# SPDX-License-Identifier: GPL-2.0-or-later
"""What tmigr says of a window on a board, held against what others say of it:
its own sums, sysfs, the boot's connect events, and an ftrace capture of the same
window read by tests/oracle, which shares no code with the product."""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "oracle"))

import events as oracle_events  # noqa: E402
from figures import STATE0, UNKNOWN_SLOT, Window  # noqa: E402
from hierarchy import Hierarchy  # noqa: E402

# The text of a capture cuts stamps to microseconds.
STAMP_NS = 1000
# The emulator runs the CPUs in turn. Where a CPU's turn ends between two looks at
# the clock that belong together (two tracers at one event, or the event and the
# kernel's own accounting), the others' turns lie between them. That is rare, but CPUs
# that one timer period wakes at the same moment can meet it together, at the same
# place in the code.
TURN_NS = 10_000_000
TURNS = 2
# So long does a window's start edge take to be read.
EDGE_NS = 10_000_000
NO_TURN = TURN_NS + 1  # the excess of what no turn explains

HOTPLUG = ("tmigr_cpu_online", "tmigr_cpu_offline", "tmigr_cpu_available", "tmigr_cpu_unavailable")


def _form(key, groups, cpus):
    """A group as (level, node, ((mask, child), ...)), a child being a CPU or a group: names and
    addresses are gone, so what is equal in this form is the same hierarchy."""
    below = [(mask, cpu) for cpu, (group, mask) in cpus.items() if group == key]
    below += [(g[3], _form(k, groups, cpus)) for k, g in groups.items() if g[0] == key]
    _, level, node, _ = groups[key]
    return level, node, tuple(sorted(below, key=lambda child: child[0]))


def _roots(groups, cpus):
    return sorted((_form(k, groups, cpus) for k, g in groups.items() if not g[0]), key=repr)


def hierarchy_of_boot(text):
    """Roots by the connect events since boot."""
    h = Hierarchy()
    h.learn(oracle_events.parse(text.splitlines()))
    return _roots({g.key: (g.parent, g.level, g.node, g.mask) for g in h.groups.values()}, h.cpus)


def hierarchy_of_tree(tree):
    """Roots by `tmigr tree --json`."""
    groups = {g["name"]: (g["parent"], g["level"], -1 if g["node"] is None else g["node"], g["mask"])
              for g in tree["groups"]}
    cpus = {c["cpu"]: (c["group"], c["mask"]) for c in tree["cpus"] if c["group"] is not None}
    return _roots(groups, cpus)


def without_nodes(roots):
    """The same without NUMA nodes, which only connect events tell of every group."""
    return [(level, tuple((mask, without_nodes([child])[0] if isinstance(child, tuple) else child)
                          for mask, child in below)) for level, _, below in roots]


class Sysfs:
    """What `tmwork sysfs` printed: {(cpu, state): {"time": us, "usage": n, ...}} and, by CPU,
    when it was read."""

    def __init__(self, text):
        self.states, self.read_ns = {}, {}
        for line in text.splitlines():
            m = re.fullmatch(r"cpu(\d+)/cpuidle/state(\d+)/(\w+):(\d+)", line)
            if m:
                key = int(m.group(1)), int(m.group(2))
                self.states.setdefault(key, {})[m.group(3)] = int(m.group(4))
            m = re.fullmatch(r"cpu(\d+)/mono_ns:(\d+)", line)
            if m:
                self.read_ns[int(m.group(1))] = int(m.group(2))


def windows_of(report, capture, boot_trace):
    """The oracle's view of the window that a report is about, and of the whole capture."""
    seen = oracle_events.parse(capture.splitlines())
    h = Hierarchy()
    h.learn(oracle_events.parse(boot_trace.splitlines()))
    h.learn(seen)
    classes = {c["cpu"]: (c["class"], c["capacity"]) for c in report["cpus"]}
    end = report["start_ns"] + report["window_ns"]
    return (Window(seen, h, classes, report["start_ns"], end),
            Window(seen, h, classes, seen[0].t, seen[-1].t + 1))


def but_turns(found, together=0):
    """What is left of [(excess in ns, text)] when CPUs' turns may explain some: TURNS of them, or of
    `together` CPUs in step three eighths."""
    found = list(found)
    if len(found) <= max(TURNS, together * 3 // 8):
        found = [f for f in found if f[0] > TURN_NS]
    return [text for _, text in found]


def appeared(report, whole):
    """{root: ns} of the window before the first CPU of a hierarchy came, where all of its CPUs came
    in the window: there was none yet, which is not known of it."""
    online = {c["cpu"] for c in report["cpus"] if c["online"]}
    came = {}
    for e in whole.events:
        if e.name in ("tmigr_cpu_available", "tmigr_cpu_online"):
            came.setdefault(e.f["cpu"], e.t - report["start_ns"])
    late = {r["group"]: cpus(r["cpus"]) for r in report["roots"]}
    return {group: min(came.get(cpu, 0) for cpu in of) for group, of in late.items()
            if not online & set(of)}


def sums(report, unknown_ns=0, before=None):
    """Yields what does not add up to the window, to the ns, or is not known (of a root: for more
    than `unknown_ns`, behind its time in `before`)."""
    window = report["window_ns"]
    for c in report["cpus"]:
        total = c["running_ns"] + c["offline_ns"] + c["unknown_ns"]
        total += sum(s["time_ns"] for s in c["states"])
        if total != window:
            yield f"CPU {c['cpu']}: its times add up to {total}, the window is {window}"
        if c["unknown_ns"]:
            yield f"CPU {c['cpu']}: {c['unknown_ns']} ns not known"
    for r in report["roots"]:
        parts = ("held_ns", "handover_ns", "duty_ns", "free_ns", "unknown_ns")
        total = sum(r[p] for p in parts)
        if total != window:
            yield f"{r['group']}: its times add up to {total}, the window is {window}"
        if r["unknown_ns"] > unknown_ns + (before or {}).get(r["group"], 0):
            yield f"{r['group']}: {r['unknown_ns']} ns not known"
        for what in ("holders", "classes"):
            held = sum(x["held_ns"] for x in r[what])
            if held != r["held_ns"]:
                yield f"{r['group']}: {what} held {held} ns together, the root {r['held_ns']}"
    if any(report["lost"].values()):
        yield f"lost: {report['lost']}"


def taking_part(boot_trace):
    """CPUs that the kernel's events since boot leave available in the hierarchy."""
    inside = set()
    for e in oracle_events.parse(boot_trace.splitlines()):
        if e.name in ("tmigr_cpu_available", "tmigr_cpu_online"):
            inside.add(e.f["cpu"])
        elif e.name in ("tmigr_cpu_unavailable", "tmigr_cpu_offline"):
            inside.discard(e.f["cpu"])
    return inside


def isolated(tree, boot_trace, listed):
    """Yields where the tree has a CPU as isolated that the kernel has in the hierarchy, or not as
    isolated one that it left out. `listed`: sysfs's isolated CPUs."""
    inside = taking_part(boot_trace)
    if not inside:
        yield "the boot trace has no CPU come into the hierarchy"
    for c in tree["cpus"]:
        wanted = c["cpu"] in listed and c["cpu"] not in inside
        if (c["tmigr"] == "isolated") != wanted:
            yield f"CPU {c['cpu']}: {c['tmigr']}; by the kernel's events " + (
                "in the hierarchy" if c["cpu"] in inside else "outside it")
        if c["isolated"] != (c["cpu"] in listed):
            yield f"CPU {c['cpu']}: isolated is {c['isolated']}, sysfs lists {sorted(listed)}"


# "   tmigr-95   [003] d..2.  12.345678: sched_waking: comm=..."
WATCHED = re.compile(r"\s*(.*)-\d+\s+\[(\d+)\]\s+(\S+)\s+(\d+)\.(\d{6}): (\w+): (.*)")


def _targets(name, text):
    """CPUs that an event sends an interrupt to or wakes something on."""
    m = re.search(r"target_cpu=(\d+)|\bcpu=(\d+)", text)
    if name in ("sched_waking", "sched_wakeup", "ipi_send_cpu") and m:
        return {int(m.group(1) or m.group(2))}
    m = re.search(r"mask=([0-9a-f,]+)", text)
    if name in ("ipi_raise", "ipi_send_cpumask") and m:
        bits = int(m.group(1).replace(",", ""), 16)
        return {cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1}
    return set()


def disturbs(report, watch):
    """(problems, times the tool ran): what the tool did to other CPUs than its own between the
    window's edges. What interrupts the tool is not the tool's doing.

    Reading the figures of an edge waits for RCU, which wakes RCU's thread wherever it last ran: that
    is allowed in the window's first EDGE_NS."""
    keeper = report["observer"]["housekeeping_cpu"]
    end = report["start_ns"] + report["window_ns"]
    edge_end = report["start_ns"] + EDGE_NS
    problems, ran, rcu_ns = [], 0, 0
    for line in watch.splitlines():
        m = WATCHED.match(line)
        if not m:
            continue
        comm, cpu, flags, sec, us, name, text = m.groups()
        t = int(sec) * 10**9 + int(us) * 1000
        if not report["start_ns"] < t < end:
            continue
        if name == "sched_switch" and "next_comm=tmigr " in text:
            ran += 1
            if int(cpu) != keeper:
                problems.append(f"the tool ran on CPU {cpu}: {line.strip()}")
        by_tool = comm == "tmigr" and flags[2] not in "hHsZz"
        of_tool = name in ("sched_waking", "sched_wakeup") and text.startswith("comm=tmigr ")
        if not by_tool and not of_tool:
            continue
        others = _targets(name, text) - {keeper}
        if name == "sched_waking" and text.startswith("comm=rcu_") and t < edge_end:
            rcu_ns = t
        if t - rcu_ns < 20 * STAMP_NS:
            continue  # the wake-up and its own interrupt; the scheduler chooses the CPU
        if others:
            problems.append(f"another CPU is disturbed: {line.strip()}")
    return problems, ran


def machine_known(report, board):
    """Yields what the report does not know, or knows wrongly, of the board's CPUs."""
    named = {s["name"] for s in report["cpus"][0]["states"]}
    for c in report["cpus"]:
        if board.capacity and c["capacity"] != board.capacity[c["cpu"]]:
            yield f"CPU {c['cpu']}: capacity {c['capacity']}, not {board.capacity[c['cpu']]}"
        if c.get("class_guessed"):
            yield f"CPU {c['cpu']}: its class is a guess"
        if named - {s["name"] for s in c["states"]}:
            yield f"CPU {c['cpu']}: states {c['states']}, CPU 0 has {named}"
    values = sorted({c["capacity"] for c in report["cpus"]})
    listed = [c["capacity"] for c in report["classes"]]
    if listed != values:
        yield f"classes of {listed}, the CPUs have {values}"


def residency(report, window):
    """Where time or entries of a CPU differ from the capture's: [(excess, text)]."""
    for c in report["cpus"]:
        time, entries, _ = window.residency(c["cpu"])
        mine = {STATE0 + s["index"]: (s["time_ns"], s["entries"]) for s in c["states"]}
        for slot in sorted(set(mine) | {s for s in time if STATE0 <= s < STATE0 + 10}):
            ns, n = mine.get(slot, (0, 0))
            excess = abs(ns - time.get(slot, 0)) - (n + 2) * 2 * STAMP_NS
            if abs(n - entries.get(slot, 0)) > 1:
                excess = NO_TURN
            if excess > 0:
                yield excess, (f"CPU {c['cpu']} state {slot - STATE0}: {ns} ns in {n} entries, by the "
                               f"capture {time.get(slot, 0)} ns in {entries.get(slot, 0)}")


def _brought(stays, start, end, first, last):
    """(ns, entries, ns in doubt, entries in doubt): what to add to the difference of a state's
    sysfs counters read at `first` and `last`, to have the window's time and entries. sysfs books
    a stay at its end; whether one that ended just when it was read is in, nobody knows."""
    booked = [(a, b) for a, b in stays if first <= b < last]
    ns = sum(max(0, min(b, end) - max(a, start)) for a, b in stays) - sum(b - a for a, b in booked)
    doubt = [b - a for a, b in stays if min(abs(b - first), abs(b - last)) < 1_000_000]
    return ns, sum(start <= a < end for a, _ in stays) - len(booked), sum(doubt), len(doubt)


def sysfs(report, whole, before, after):
    """Where a CPU's counters differ from the report's by more than 0.1 % and 3 entries:
    [(excess, text)]. CPUs that slept since before the capture are left out."""
    start, end = report["start_ns"], report["start_ns"] + report["window_ns"]
    for c in report["cpus"]:
        cpu = c["cpu"]
        if cpu not in before.read_ns or whole.slot[cpu].at(before.read_ns[cpu]) == UNKNOWN_SLOT:
            continue
        stays = whole.slot[cpu].cut(whole.start, whole.end)
        for s in c["states"]:
            key = cpu, s["index"]
            if key not in before.states:
                continue
            of_state = [(a, b) for a, b, slot in stays if slot == STATE0 + s["index"]]
            ns, n, doubt_ns, doubt = _brought(of_state, start, end, before.read_ns[cpu],
                                              after.read_ns[cpu])
            ns += (after.states[key]["time"] - before.states[key]["time"]) * 1000
            n += after.states[key]["usage"] - before.states[key]["usage"]
            excess = abs(ns - s["time_ns"]) - doubt_ns - report["window_ns"] // 1000
            # The kernel's two looks at the clock lie between the two events: turns only ever make
            # its time the shorter one, and several of a window add up.
            if ns < s["time_ns"] and excess <= 3 * TURN_NS:
                excess = min(excess, TURN_NS)
            if abs(n - s["entries"]) > 3 + doubt:
                excess = NO_TURN
            if excess > 0:
                yield excess, (f"CPU {cpu} {s['name']}: {s['time_ns']} ns in {s['entries']} entries, "
                               f"sysfs (brought to the window) {ns} ns in {n}")


def remote(report, window):
    """Yields pairs whose remote expiries differ by more than the window's edges explain."""
    mine = {(p["executor"], p["target"]): p["count"] for p in report["remote"]}
    theirs = {pair: count for pair, (count, _) in window.remote().items()}
    edge = [(e.cpu, e.f["cpu"]) for e in window.events if e.name == "tmigr_handle_remote_cpu" and
            min(abs(e.t - window.start), abs(e.t - window.end)) < 5 * STAMP_NS]
    for pair in sorted(set(mine) | set(theirs)):
        if abs(mine.get(pair, 0) - theirs.get(pair, 0)) > edge.count(pair):
            yield f"remote expiry {pair}: {mine.get(pair, 0)}, the capture has {theirs.get(pair, 0)}"


def holders(report, window):
    """Holders whose shares differ by more than 0.01 percentage points plus 2 us a holding:
    [(excess, text)]."""
    theirs = {tuple(r["cpus"]): r for r in window.roots()}
    for root in report["roots"]:
        other = theirs.pop(tuple(cpus(root["cpus"])), None)
        if other is None:
            yield NO_TURN, f"the capture has no root over CPUs {root['cpus']}"
            continue
        mine = {h["cpu"]: h for h in root["holders"]}
        for cpu in sorted(set(mine) | set(other["holders"])):
            a = mine.get(cpu, {"held_ns": 0, "holdings": 0})
            b = other["holders"].get(cpu, {"held": 0, "holdings": 0})
            allowed = report["window_ns"] // 10000
            allowed += 2 * STAMP_NS * (max(a["holdings"], b["holdings"]) + 1)
            # the capture knows of a root from the root's first update on
            allowed += other["regimes"].get("unknown", 0)
            excess = abs(a["held_ns"] - b["held"]) - allowed
            if excess > 0:
                yield excess, (f"{root['group']}: CPU {cpu} held it {a['held_ns']} ns in "
                               f"{a['holdings']} holdings, by the capture {b['held']} ns in "
                               f"{b['holdings']}")
    for left in theirs:
        yield NO_TURN, f"the report has no root over CPUs {left}"


def cpus(text):
    """A kernel's CPU list."""
    if isinstance(text, list):
        return text
    found = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


