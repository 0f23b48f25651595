# SPDX-License-Identifier: GPL-2.0-or-later
"""What tmigr says of a window on a board, held against what others say of it:
its own sums, sysfs, the boot's connect events, and an ftrace capture of the same
window read by tests/oracle, which shares no code with the product."""

import re

# First of all: it knows where the oracle is.
from turns import AWAY, BACK, STAMP_NS

import events as oracle_events
from figures import STATE0, Window
from hierarchy import Hierarchy

# Holdings longer than this are counted.
LONG_NS = 10_000
# So long does a window's start edge take to be read.
EDGE_NS = 10_000_000

HOTPLUG = AWAY + BACK


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


def places(roots):
    """{CPU: masks on the way down to it}; a mask of 0 is one that is not known."""
    def walk(group, path):
        for mask, child in group[-1]:
            if isinstance(child, tuple):
                yield from walk(child, (*path, mask))
            else:
                yield child, (*path, mask)
    return {cpu: (n, *path) for n, root in enumerate(roots) for cpu, path in walk(root, ())}


def contradicts(live, boot):
    """What a hierarchy that was learnt from events says otherwise than the boot's. A CPU that made
    no event of its groups has no mask yet."""
    live, boot = places(live), places(boot)
    known = {cpu: path for cpu, path in live.items() if all(path[1:])}
    if 2 * len(known) < len(boot):
        yield f"only CPUs {sorted(known)} have shown their place"
    for cpu, path in known.items():
        if path != boot.get(cpu):
            yield f"CPU {cpu}: masks {path}, by the boot's events {boot.get(cpu)}"


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
    is allowed once, in the window's first EDGE_NS."""
    keeper = report["observer"]["housekeeping_cpu"]
    end = report["start_ns"] + report["window_ns"]
    edge_end = report["start_ns"] + EDGE_NS
    problems, ran, rcu_ns = [], 0, None
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
        if rcu_ns is None and t < edge_end and name == "sched_waking" and text.startswith("comm=rcu_"):
            rcu_ns = t
        if rcu_ns is not None and t - rcu_ns < 20 * STAMP_NS:
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


def residency(report, window, turned):
    """Yields where time or entries of a CPU differ from the capture's. `turned`: {cpu: ns} of
    turns between the two tracers' looks at the clock."""
    for c in report["cpus"]:
        time, entries, _ = window.residency(c["cpu"])
        mine = {STATE0 + s["index"]: (s["time_ns"], s["entries"]) for s in c["states"]}
        for slot in sorted(set(mine) | {s for s in time if STATE0 <= s < STATE0 + 10}):
            ns, n = mine.get(slot, (0, 0))
            allowed = (n + 2) * 2 * STAMP_NS + turned.get(c["cpu"], 0)
            if abs(ns - time.get(slot, 0)) > allowed or abs(n - entries.get(slot, 0)) > 1:
                yield (f"CPU {c['cpu']} state {slot - STATE0}: {ns} ns in {n} entries, by the "
                       f"capture {time.get(slot, 0)} ns in {entries.get(slot, 0)}")


def running(report, window, turned):
    """Yields CPUs whose running time was active, idle or outside to timer migration for another time
    than by the capture. `turned`: as for residency(), of the events of both."""
    for c in report["cpus"]:
        mine = c["running_tmigr"]
        if sum(mine.values()) != c["running_ns"] or mine["unknown_ns"]:
            yield f"CPU {c['cpu']}: {mine}, of {c['running_ns']} ns running"
        theirs, changes = window.running(c["cpu"])
        if c["cpu"] not in window.hier.cpus or c["offline_ns"] or None in theirs:
            continue  # the capture does not know all
        entries = sum(s["entries"] for s in c["states"])
        allowed = (changes + entries + 2) * STAMP_NS + turned.get(c["cpu"], 0)
        for part in "active", "idle", "outside":
            if abs(mine[f"{part}_ns"] - theirs.get(part, 0)) > allowed:
                yield (f"CPU {c['cpu']}: ran for {mine[f'{part}_ns']} ns while {part} to timer migration, "
                       f"by the capture {theirs.get(part, 0)} ns")


def remote(report, window):
    """Yields pairs whose remote expiries differ by more than the window's edges explain."""
    mine = {(p["executor"], p["target"]): p["count"] for p in report["remote"]}
    theirs = {pair: count for pair, (count, _) in window.remote().items()}
    edge = [(e.cpu, e.f["cpu"]) for e in window.events if e.name == "tmigr_handle_remote_cpu" and
            min(abs(e.t - window.start), abs(e.t - window.end)) < 5 * STAMP_NS]
    for pair in sorted(set(mine) | set(theirs)):
        if abs(mine.get(pair, 0) - theirs.get(pair, 0)) > edge.count(pair):
            yield f"remote expiry {pair}: {mine.get(pair, 0)}, the capture has {theirs.get(pair, 0)}"


def holders(report, window, turned):
    """Yields holders whose shares differ by more than 0.01 percentage points, 2 us a holding and
    the `turned` ns of turns between the two tracers' looks at the clock."""
    theirs = {tuple(r["cpus"]): r for r in window.roots()}
    for root in report["roots"]:
        other = theirs.pop(tuple(cpus(root["cpus"])), None)
        if other is None:
            yield f"the capture has no root over CPUs {root['cpus']}"
            continue
        mine = {h["cpu"]: h for h in root["holders"]}
        for cpu in sorted(set(mine) | set(other["holders"])):
            a = mine.get(cpu, {"held_ns": 0, "holdings": 0})
            b = other["holders"].get(cpu, {"held": 0, "holdings": 0})
            allowed = report["window_ns"] // 10000 + turned
            allowed += 2 * STAMP_NS * (max(a["holdings"], b["holdings"]) + 1)
            # the capture knows of a root from the root's first update on
            allowed += other["regimes"].get("unknown", 0)
            if abs(a["held_ns"] - b["held"]) > allowed:
                yield (f"{root['group']}: CPU {cpu} held it {a['held_ns']} ns in {a['holdings']} "
                       f"holdings, by the capture {b['held']} ns in {b['holdings']}")
    for left in theirs:
        yield f"the report has no root over CPUs {left}"


def holdings(report, segments, window, turned):
    """Yields holders whose number of holdings of more than LONG_NS differs. `segments`: the rows of
    migrator-segments.csv. What is near that length may be on either side, by the stamps and by the
    `turned` ns of turns."""
    mine = {}
    for row in segments:
        if row["regime"] == "held":
            key = row["root"], int(row["cpu"])
            mine.setdefault(key, []).append((int(row["start_ns"]), int(row["end_ns"])))
    near = 4 * STAMP_NS + turned
    theirs = {tuple(r["cpus"]): r for r in window.roots()}
    for root in report["roots"]:
        other = theirs.get(tuple(cpus(root["cpus"])), {"segments": []})
        for cpu in cpus(root["cpus"]):
            held = [(a, b) for a, b in mine.get((root["group"], cpu), []) if b - a > LONG_NS]
            count = len(held)
            lengths = [b - a for a, b, what in other["segments"] if what == ("held", cpu)]
            least, most = (sum(ns > LONG_NS + x for ns in lengths) for x in (near, -near))
            # before a root's first update the capture knows nothing of it
            most += sum(any(x - window.start - near < a < y - window.start
                            for x, y, what in other["segments"] if what[0] == "unknown")
                        for a, _ in held)
            if not least <= count <= most:
                yield (f"{root['group']}: CPU {cpu} held it {count} times for more than {LONG_NS} ns, "
                       f"by the capture {least} to {most} times")


def cpus(text):
    """A kernel's CPU list."""
    if isinstance(text, list):
        return text
    found = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


