#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check-report.py REPORT.json: the report's sums, to the nanosecond.

Per CPU: running + every idle state + offline + unknown = the window.
Per root: held + hand-over + duty + free + unknown = the window; the holders'
shares add up to held; each holder's time by idle state adds up to its own;
the classes' shares add up to held.
"""
import json
import sys


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got} is not {want} (off by {got - want} ns)")


def check_cpu(cpu, window):
    times = [cpu["running_ns"], cpu["offline_ns"], cpu["unknown_ns"]]
    times += [s["time_ns"] for s in cpu["states"]]
    if min(times) < 0:
        sys.exit(f"CPU {cpu['cpu']}: negative time")
    same(f"CPU {cpu['cpu']}", sum(times), window)
    for s in cpu["states"]:
        if sum(s["hist"]) > s["entries"] + 1:
            sys.exit(f"CPU {cpu['cpu']} state {s['index']}: more intervals than entries")


def check_root(root, window):
    name = root["group"]
    regimes = ("held_ns", "handover_ns", "duty_ns", "free_ns", "unknown_ns")
    if min(root[r] for r in regimes) < 0:
        sys.exit(f"{name}: negative time")
    same(name, sum(root[r] for r in regimes), window)
    same(f"holders of {name}", sum(h["held_ns"] for h in root["holders"]), root["held_ns"])
    same(f"classes of {name}", sum(c["held_ns"] for c in root["classes"]), root["held_ns"])
    for h in root["holders"]:
        if h["longest_ns"] > h["held_ns"] or h["holdings"] < 1:
            sys.exit(f"{name}: holder CPU {h['cpu']} does not fit itself: {h}")


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        report = json.load(f)
    if not report["cpus"]:
        sys.exit("no CPUs")
    for cpu in report["cpus"]:
        check_cpu(cpu, report["window_ns"])
    for root in report["roots"]:
        check_root(root, report["window_ns"])


main()
