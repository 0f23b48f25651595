#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""top-sample.py MACHINE [SAMPLES]: made-up samples for tmigr top, one JSON object
a line. MACHINE: 4+4 (two level-0 groups below one root), split (a hierarchy a
class), 256 (three classes, three levels, five idle states), sparse (CPU numbers
with holes, one offline, one outside the hierarchy, losses), flat (a kernel without
a hierarchy)."""

import json
import sys

WINDOW = 1_000_000_000
TWO_STATES = ["WFI", "cpu-sleep"]
SERVER_STATES = ["POLL", "C1", "C1E", "C6", "C6P"]


def cpu_list(cpus):
    parts, start, last = [], None, None
    for c in cpus + [None]:
        if last is not None and c != last + 1:
            parts.append(str(start) if start == last else f"{start}-{last}")
            start = None
        if start is None:
            start = c
        last = c
    return ",".join(parts)


class Machine:
    def __init__(self, classes, states, fan=8, split=False):
        self.classes = classes  # [(name, capacity, [cpu, ...]), ...]
        self.states = states
        self.cpus = sorted(c for _, _, cpus in classes for c in cpus)
        self.class_of = {c: name for name, _, cpus in classes for c in cpus}
        self.capacity_of = {c: cap for _, cap, cpus in classes for c in cpus}
        self.groups = []  # name, level, parent, mask, cpus
        self.group_of = {}
        for part in [cpus for _, _, cpus in classes] if split else [self.cpus]:
            self.grow(part, fan)
        self.groups.sort(key=lambda g: (-g["level"], g["cpus"][0]))

    def grow(self, cpus, fan):
        row = [dict(level=0, cpus=cpus[i:i + fan], parent=None, mask=1) for i in range(0, len(cpus), fan)]
        level = 0
        while True:
            for g in row:
                g["name"] = f"GRP{level}:{sum(o['level'] == level for o in self.groups)}"
                self.groups.append(g)
            if level == 0:
                for g in row:
                    for c in g["cpus"]:
                        self.group_of[c] = g["name"]
            if len(row) == 1:
                return
            level += 1
            up = []
            for i in range(0, len(row), 8):
                below = row[i:i + 8]
                g = dict(level=level, cpus=[c for b in below for c in b["cpus"]], parent=None, mask=1)
                for k, b in enumerate(below):
                    b["up"], b["mask"] = g, 1 << k
                up.append(g)
            row = up

    def root_of(self, group):
        while "up" in group:
            group = group["up"]
        return group


def times(m, cpu, n):
    """ns in each idle state; the rest of the window is running."""
    busy = (cpu * 37 + n * 101) % 100
    idle = WINDOW * (100 - busy) // 100
    share = [(cpu * 7 + k * 3 + n) % 5 + k for k in range(len(m.states))]
    return [idle * s // max(1, sum(share)) for s in share]


def report(m, n, holders, lost=0, offline=()):
    """@holders: {root name: [(cpu, ns, holdings)]}"""
    cpus = []
    for c in m.cpus:
        idle = [0] * len(m.states) if c in offline else times(m, c, n)
        cpus.append({
            "cpu": c, "class": m.class_of[c], "capacity": m.capacity_of[c], "online": c not in offline,
            "running_ns": 0 if c in offline else WINDOW - sum(idle),
            "offline_ns": WINDOW if c in offline else 0, "unknown_ns": 0,
            "states": [{"index": k, "name": name, "time_ns": idle[k], "entries": 10 * (k + 1), "above": 0,
                        "below": 0, "hist": []} for k, name in enumerate(m.states)]})
    roots = []
    for g in m.groups:
        if "up" in g:
            continue
        held = holders.get(g["name"], [])
        total = sum(ns for _, ns, _ in held)
        classes = [{"name": name, "n_cpus": len(set(of) & set(g["cpus"])),
                    "held_ns": sum(ns for c, ns, _ in held if m.class_of[c] == name),
                    "avoidable_ns": 0, "avoidable_unknown_ns": 0} for name, _, of in m.classes]
        classes = [c for c in classes if c["n_cpus"]]
        roots.append({
            "group": g["name"], "cpus": cpu_list(g["cpus"]), "held_ns": total, "handover_ns": 0,
            "duty_ns": WINDOW - total, "free_ns": 0, "unknown_ns": 0, "classes": classes,
            "holders": [{"cpu": c, "class": m.class_of[c], "held_ns": ns, "holdings": k, "longest_ns": ns,
                         "running_ns": ns, "unknown_state_ns": 0, "idle_ns": [], "avoidable_ns": 0,
                         "avoidable_unknown_ns": 0} for c, ns, k in sorted(held)]})
    big = m.classes[-1][0]
    spanning = [r for r in roots if len(r["classes"]) > 1]
    share = sum(c["held_ns"] for r in spanning for c in r["classes"] if c["name"] == big) / WINDOW if spanning else 0
    return {
        "schema": "tmigr-report", "version": 1, "timer_migration_hierarchy": True, "start_ns": n * WINDOW,
        "window_ns": WINDOW, "residency_source": "maps", "cpuidle_driver": "made_up", "cpuidle_governor": "menu",
        "timer_migration": 1,
        "answer": {"big_holds": share > 0, "big_share": share, "text": "made up"},
        "classes": [{"name": name, "capacity": cap, "cpus": cpu_list(of)} for name, cap, of in m.classes],
        "roots": roots,
        "remote": [{"executor": m.cpus[0], "target": m.cpus[-1], "count": 7, "woke_executor": 0, "woke": []}],
        "cpus": cpus,
        "hierarchy": {
            "groups": [{"name": g["name"], "level": g["level"], "parent": g["up"]["name"] if "up" in g else None,
                        "root": m.root_of(g)["name"], "mask": g["mask"], "node": 0, "cpus": cpu_list(g["cpus"])}
                       for g in m.groups],
            "cpus": [{"cpu": c, "group": m.group_of.get(c), "mask": 1} for c in m.cpus], "unlearnt": ""},
        "lost": {"records": lost, "group_updates": lost // 2, "late_updates": 0, "remote_expiries": 0,
                 "cpus": []},
        "observer": {"bpf_ns": 150000, "bpf_runs": 900, "cpu_ns": 2100000, "wakeups": 3, "housekeeping_cpu": m.cpus[1],
                     "records": 800, "drains": 1}}


def expiry(at=None):
    return {"known": True, "at_ns": at, "in_ns": None if at is None else 1000}


def tree(m, n, holder, offline=(), outside=()):
    """@holder: the CPU that holds its root's migrator; each group's migrator is
    on the way to it, or its first CPU."""
    groups = []
    for g in m.groups:
        first = holder if holder in g["cpus"] else g["cpus"][0]
        below = [b["name"] for b in m.groups if b.get("up") is g and first in b["cpus"]]
        groups.append({
            "name": g["name"], "level": g["level"], "parent": g["up"]["name"] if "up" in g else None, "mask": g["mask"],
            "node": 0, "cpus": len(g["cpus"]), "word": {"active": 1, "migrator": 1, "seq": n}, "migrator_known": True,
            "migrator_cpu": None if g["level"] else first, "migrator_group": below[0] if below else None,
            "next_expiry": expiry()})
    migrators = {g["migrator_cpu"] for g in groups}
    cpus = []
    for c in m.cpus:
        k = (c + n) % (len(m.states) + 1)
        name = "running" if k == len(m.states) else m.states[k]
        away = c in offline
        cpus.append({
            "cpu": c, "class": m.class_of[c], "capacity": m.capacity_of[c], "online": not away, "isolated": False,
            "seen": c not in outside, "group": None if c in outside else m.group_of[c], "mask": 1,
            "tmigr": "offline" if away else "active", "state_name": "offline" if away else name,
            "state": None if away or k == len(m.states) else k, "migrator": c in migrators and not away,
            "global_migrator": c == holder, "next_expiry": expiry(), "wakeup_duty": expiry(5 if c == m.cpus[2] and not away else None)})
    roots = [{"group": g["name"], "regime": "held" if holder in g["cpus"] else "duty",
              "cpu": holder if holder in g["cpus"] else None} for g in m.groups if "up" not in g]
    return {"schema": "tmigr-tree", "version": 1, "time_ns": n, "cpus_seen": len(m.cpus), "cpus_expected": len(m.cpus),
            "roots": roots, "groups": groups, "cpus": cpus}


def sample(kind, n):
    if kind in ("4+4", "split"):
        m = Machine([("LITTLE", 442, [0, 1, 2, 3]), ("big", 1024, [4, 5, 6, 7])], TWO_STATES, 4, kind == "split")
        root, other = (m.groups[0]["name"], m.groups[-1]["name"])
        if kind == "split":
            held = {root: [(0, 700_000_000, 2)], other: [(4, 100_000_000, 1)]}
            return {"report": report(m, n, held), "tree": tree(m, n, 0)}
        held = {root: [(0, 600_000_000, 3), (4, 150_000_000, 2)] if n == 0 else [(0, 700_000_000, 1)]}
        return {"report": report(m, n, held), "tree": tree(m, n, 4 if n == 0 else 0)}
    if kind == "flat":
        m = Machine([("LITTLE", 442, [0, 1]), ("big", 1024, [2, 3])], TWO_STATES)
        m.groups, m.group_of = [], dict.fromkeys(m.cpus)
        r = report(m, n, {})
        r.update(timer_migration_hierarchy=False, remote=[])
        return {"report": r, "tree": tree(m, n, None, outside=m.cpus)}
    if kind == "256":
        m = Machine([("LITTLE", 300, list(range(0, 96))), ("mid", 700, list(range(96, 192))),
                     ("big", 1024, list(range(192, 256)))], SERVER_STATES)
        held = {m.groups[0]["name"]: [(200, 250_000_000, 40), (3, 500_000_000, 900), (100, 1_000_000, 1)]}
        return {"report": report(m, n, held), "tree": tree(m, n, 200)}
    if kind == "sparse":
        m = Machine([("LITTLE", 442, [0, 2, 4]), ("big", 1024, [1000, 1001, 1005])], TWO_STATES)
        held = {m.groups[0]["name"]: [(2, 1_000_000_000, 1)]}
        r = report(m, n, held, lost=12, offline=(4,))
        m.group_of[1005] = None
        return {"report": r, "tree": tree(m, n, 2, offline=(4,), outside=(1005,))}
    sys.exit(__doc__)


for i in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
    print(json.dumps(sample(sys.argv[1], i)))
