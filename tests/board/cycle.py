# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges what guest/cycle.sh left: bring-ups and take-downs by `tmigr hotplug`, held against a
capture of the same time that tests/oracle reads; and that nobody stays away after a signal."""

import json
import re

from turns import OWN_NS, STAMP_NS

import hotplug  # of tests/oracle
import judge

# Window: (CPUs, cycles).
WINDOWS = {"single": ((2, 5, 6, 7), 2), "together": ((4, 5, 6, 7), 2), "watch": ((3, 6), 2)}
# Run directories, by label: (CPUs, runs); each run has one cycle.
RUNS = {"one": ("one", (5, 6, 7), 2), "all": ("all-at-once", (5, 6, 7), 2)}
SIGNALS = {"INT": 130, "TERM": 143, "HUP": 129, "KILL": 137}
# Two tracers at one event, and the text's microsecond.
EDGE_NS = OWN_NS + STAMP_NS


def _says(out, name):
    got = out.get(f"{name}.rc", b"missing").decode().strip()
    if got != "0":
        yield f"exit status {got}"
        yield from out.get(f"{name}.err", b"").decode(errors="replace").splitlines()[:5]


def _counts(report, cpus, n):
    """Each CPU went and came so often, every time as a whole, and no other did."""
    ops = report["hotplug"]["operations"]
    for cpu in {o["cpu"] for o in ops} | set(cpus):
        for up in True, False:
            whole = [o for o in ops if (o["cpu"], o["up"]) == (cpu, up)
                     and not o["cut"] and o["failed"] is None]
            if len(whole) != (n if cpu in cpus else 0):
                yield f"CPU {cpu}, up {up}: {len(whole)} times, whole ones"
    if len(ops) != 2 * n * len(cpus):
        yield f"{len(ops)} operations"
    for key in "bring_ups", "take_downs":
        if report["hotplug"][key]["count"] != n * len(cpus):
            yield f"{key}: {report['hotplug'][key]}"
    if report["hotplug"]["lost"]:
        yield f"{report['hotplug']['lost']} events lost"


def _names(report, states):
    """Steps have the names of sysfs, and timer migration's are marked; each operation has one
    of these, that takes time."""
    listed = {int(n): name for n, name in re.findall(r"^ *(\d+): (.*)$", states, re.M)}
    for op in report["hotplug"]["operations"]:
        of = f"CPU {op['cpu']}, up {op['up']}"
        for s in op["steps"]:
            name = listed.get(s["step"])
            if name != s["name"] and (name, s["name"]) != ("online", "cpuhp_kick_ap_work"):
                yield f"{of}: step {s['step']} is {s['name']}, by sysfs {name}"
            if bool(name and name.startswith("tmigr")) != s.get("timer_migration", False):
                yield f"{of}: {s}"
        # (No test but the product's own names would tell which those are.)
        if not any("timer_migration" in s and s["time_ns"] for s in op["steps"]):
            yield f"{of}: timer migration has no step, or one of no time"


def _union(ops, up):
    ns, until = 0, 0
    for o in (o for o in ops if o["up"] == up):
        ns += max(0, o["end"] - max(o["start"], until))
        until = max(until, o["end"])
    return ns


def _any(report, ops, slack):
    for key, up in ("bring_ups", True), ("take_downs", False):
        got, want = report["hotplug"][key]["any_ns"], _union(ops, up)
        if abs(got - want) > slack * sum(o["up"] == up for o in ops):
            yield f"{key}: in all {got} ns, by the capture {want}"


def _in_window(report, ops):
    start = report["start_ns"]
    return [o for o in ops if start <= o["start"] and o["end"] < start + report["window_ns"]]


def _longest(report, ops):
    """ns by which a step's time differs from the capture's at most."""
    sums = [{} for _ in ops]
    for got, of in zip(report["hotplug"]["operations"], sums):
        for s in got["steps"]:
            of[s["step"], s["own"]] = of.get((s["step"], s["own"]), 0) + s["time_ns"]
    return max(abs(ns - op["steps"].get(k, (0, 0))[1]) for op, of in zip(ops, sums) for k, ns in of.items())


def _same(tap, name, report, capture):
    """The capture's figures, but for what the stamps of one event may differ (EDGE_NS): of an operation's
    total, that is twice; of a step, twice for each time it began and for each step within it."""
    want = _in_window(report, hotplug.operations(capture))
    tap.ok(f"{name}: each step took as long as in the capture",
           hotplug.differences(report["hotplug"]["operations"], want, report["start_ns"], EDGE_NS))
    tap.ok(f"{name}: and all of them together", _any(report, want, 2 * EDGE_NS))
    tap.note(f"{name}: no step differs by more than {_longest(report, want)} ns")


def check(tap, name, out, _):
    boot, states = out["boot-trace.txt"].decode(), out["states"].decode()
    name = f"{name} cycle"
    for window, (cpus, n) in WINDOWS.items():
        tap.ok(f"{name} {window}: tmigr hotplug", _says(out, window))
        report = json.loads(out[f"{window}.text"])
        of = f"{name} {window}"
        tap.ok(f"{of}: {n} bring-ups and take-downs of each CPU", _counts(report, cpus, n))
        tap.ok(f"{of}: steps and gaps are the total, to the ns", hotplug.sums(report["hotplug"]))
        tap.ok(f"{of}: steps are sysfs's, timer migration's marked", _names(report, states))
        _same(tap, of, report, out[f"{window}.trace"].decode())
        tap.ok(f"{of}: its times of CPUs add up to the window", judge.sums(report))
    _boot(tap, name, out, boot, states)
    _runs(tap, name, out)
    for sig, code in SIGNALS.items():
        _ended(tap, f"{name} SIG{sig}", sig, code, out)


def _boot(tap, name, out, boot, states):
    tap.ok(f"{name}: hotplug --boot", _says(out, "boot"))
    report, want = json.loads(out["boot.json"]), hotplug.operations(boot)
    ups = sorted(o["cpu"] for o in want if o["up"])
    tap.ok(f"{name} boot: each CPU but the first came up once",
           [] if ups == list(range(1, 8)) and len(want) == 7 else [f"{want}"])
    tap.ok(f"{name} boot: steps, gaps and totals are those of the same trace",
           hotplug.differences(report["hotplug"]["operations"], want, report["start_ns"]))
    tap.ok(f"{name} boot: steps and gaps are the total, to the ns", hotplug.sums(report["hotplug"]))
    tap.ok(f"{name} boot: steps are sysfs's, timer migration's marked", _names(report, states))
    tap.ok(f"{name} boot: and all of them together", _any(report, want, 0))


def _means(ops, key):
    """ms a CPU, by the capture, of a quantity of the comparison."""
    ups = [o for o in ops if o["up"]]
    if key.startswith("cpu"):
        ups = [o for o in ups if key.endswith(f"cpu{o['cpu']}")]
    return sum(o["end"] - o["start"] for o in ups) / len(ups) / 1e6


def _runs(tap, name, out):
    """R4's table: the time of all bring-ups, of each CPU, and of timer migration's step."""
    compared = json.loads(out["compare.json"])
    tap.ok(f"{name}: tmigr compare", _says(out, "compare"))
    values = {(q["key"], of["label"]): of["values"] for q in compared["quantities"] for of in q["labels"]}
    for label, (place, cpus, n) in RUNS.items():
        of = f"{name} {label}"
        tap.ok(f"{of}: tmigr hotplug", _says(out, label))
        reports = [json.loads(out[f"{place}/run-{i + 1}/report.json"]) for i in range(n)]
        all_ops = hotplug.operations(out[f"{label}.trace"].decode())
        ops = [_in_window(r, all_ops) for r in reports]
        tap.ok(f"{of}: each run is one cycle of each CPU", [p for r in reports for p in _counts(r, cpus, 1)])
        tap.ok(f"{of}: each step took as long as in the capture",
               [p for r, o in zip(reports, ops) for p in hotplug.differences(
                   r["hotplug"]["operations"], o, r["start_ns"], EDGE_NS)])
        table = {"bring-up/any CPU": [_union(o, True) / 1e6 for o in ops]}
        for key in "bring-up/a CPU's mean", *(f"cpu-bring-up/cpu{c}" for c in cpus):
            table[key] = [_means(o, key) for o in ops]
        slack = 2 * EDGE_NS * len(cpus) / 1e6
        tap.ok(f"{of}: the comparison has the capture's times", [
            f"{key}: {values.get((key, label))}, by the capture {want}" for key, want in table.items()
            if len(values.get((key, label), [])) != n
            or any(abs(a - b) > slack for a, b in zip(values[key, label], want))])
        steps = [sum(s["time_ns"] for o in r["hotplug"]["operations"] if o["up"]
                     for s in o["steps"] if s["name"] == "tmigr:online") / len(cpus) / 1e6 for r in reports]
        got = values.get(("bring-up-step/tmigr:online", label))
        tap.ok(f"{of}: and timer migration's step", [] if got and all(
            abs(a - b) < 1e-9 for a, b in zip(got, steps)) else [f"{got}, not {steps}"])


def _ended(tap, name, sig, code, out):
    everybody = out["all"]
    tap.ok(f"{name}: it came while a CPU was away",
           [] if out[f"{sig}.during"] not in (everybody, b"", b"\n") else [out[f"{sig}.during"]])
    got = out[f"{sig}.rc"].decode().strip()
    tap.ok(f"{name}: exit status {code}", [] if got == str(code) else [got])
    if sig != "KILL":
        tap.ok(f"{name}: all CPUs are online when it has ended",
               [] if out[f"{sig}.after"] == everybody else [out[f"{sig}.after"]])
    tap.ok(f"{name}: all CPUs are online again",
           [] if out[f"{sig}.back"] == everybody else [out[f"{sig}.back"]])
    tap.ok(f"{name}: no process is left, nor an instance of ftrace",
           [*out[f"{sig}.left"].decode().split(), *out[f"{sig}.instances"].decode().split()])
    if sig != "KILL":
        text = out[f"{sig}.text"].decode()
        tap.ok(f"{name}: the run is said to be interrupted, and nothing else is",
               [] if "is left out of the means: failed: interrupted" in text and not out[f"{sig}.err"]
               else [text[-300:], out[f"{sig}.err"]])
