# SPDX-License-Identifier: GPL-2.0-or-later
"""Run directories with figures that the test chose, in place of a measured run's."""

import json
import pathlib

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures" / "reports"
BOARD = (("LITTLE", 442, range(0, 4)), ("big", 1024, range(4, 8)))
STATES = ("WFI", "cpu-sleep")


def ns(seconds):
    return round(seconds * 1e9)


def cpu(number, name, capacity, window, states, running=None, offline=0, entries=None):
    """@states: seconds in each; @running None: the rest of the window; else what is left
    is not known."""
    spent = [ns(s) for s in states]
    left = window - sum(spent) - ns(offline)
    run = left if running is None else ns(running)
    assert 0 <= run <= left, (number, run, left)
    return {"cpu": number, "class": name, "capacity": capacity, "online": not offline,
            "running_ns": run, "offline_ns": ns(offline), "unknown_ns": left - run,
            "states": [{"index": i, "name": STATES[i], "time_ns": t,
                        "entries": (entries or {}).get(STATES[i], 0), "above": 0, "below": 0,
                        "hist": []} for i, t in enumerate(spent)]}


def root(window, held=None, duty=0.0, group="GRP0:0", classes=BOARD, avoidable=None):
    """@held: seconds by CPU; the rest of the window nobody holds it, and no timer waits."""
    held = held or {}
    name = {c: n for n, _, cpus in classes for c in cpus}
    total = sum(ns(s) for s in held.values())
    return {"group": group, "cpus": "0-7", "held_ns": total, "handover_ns": 0,
            "duty_ns": ns(duty), "free_ns": window - total - ns(duty), "unknown_ns": 0,
            "classes": [{"name": n, "n_cpus": len(cpus),
                         "held_ns": sum(ns(s) for c, s in held.items() if c in cpus),
                         "avoidable_ns": ns((avoidable or {}).get(n, 0)),
                         "avoidable_unknown_ns": 0} for n, _, cpus in classes],
            "holders": [{"cpu": c, "class": name[c], "held_ns": ns(s), "holdings": 1,
                         "longest_ns": ns(s), "running_ns": ns(s), "unknown_state_ns": 0,
                         "idle_ns": [], "avoidable_ns": 0, "avoidable_unknown_ns": 0}
                        for c, s in sorted(held.items())]}


def remote(executor, target, count, woke=0):
    return {"executor": executor, "target": target, "count": count, "woke_executor": woke,
            "woke": []}


def report(cpus, window, roots=(), pairs=(), lost=0, **info):
    names = list(dict.fromkeys(c["class"] for c in cpus))
    groups = {n: [c for c in cpus if c["class"] == n] for n in names}
    return {"schema": "tmigr-report", "version": 1,
            "kernel": {"release": "7.3.4", "version": "#1 SMP", "arch": "aarch64"},
            "machine": {"model": "made-up board", "host": "board"},
            "command": ["work"], "exit_status": 0, "tool": "0.1",
            "timer_migration_hierarchy": bool(roots), **info,
            "start_ns": 1000, "window_ns": window, "residency_source": "maps",
            "cpuidle_driver": "psci_idle", "cpuidle_governor": "menu", "timer_migration": 1,
            "answer": {"big_holds": None, "big_share": None, "text": "made up"},
            "classes": [{"name": n, "capacity": g[0]["capacity"],
                         "cpus": f"{g[0]['cpu']}-{g[-1]['cpu']}"} for n, g in groups.items()],
            "roots": list(roots), "remote": list(pairs), "cpus": cpus,
            "hierarchy": {"groups": [], "cpus": [], "unlearnt": ""},
            "lost": {"records": lost, "group_updates": 0, "late_updates": 0,
                     "remote_expiries": 0, "cpus": []},
            "observer": {"bpf_ns": None, "bpf_runs": None, "cpu_ns": None, "wakeups": None,
                         "housekeeping_cpu": None, "records": 0, "drains": None}}


def write(folder, rep, state="complete"):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(
        {"schema": "tmigr-run", "version": 1, "state": state}))
    (folder / "report.json").write_text(json.dumps(rep))
    return folder


def board(window_s=600.1, states=None, busy=None, **more):
    """The 4+4 board. @states: {class: seconds in each state, of the whole class}; @busy
    likewise (None: all the rest)."""
    window = ns(window_s)
    cpus = []
    for name, capacity, numbers in BOARD:
        share = [s / len(numbers) for s in (states or {}).get(name, (0, 0))]
        run = None if busy is None else busy[name] / len(numbers)
        cpus += [cpu(n, name, capacity, window, share, run) for n in numbers]
    return report(cpus, window, **more)


def metric(name, value, unit="", better=None):
    return {"name": name, "value": value, "unit": unit, "better": better}


# ---- the public reports ----

def load(name):
    return json.loads((FIXTURES / f"{name}.json").read_text())


def rk3576(folder, workload):
    """R1: only cpu-sleep is known of the idle states; how the rest divides is not."""
    data = load("rk3576")
    rows = data["workloads"][workload]
    window = ns(data["window_s"])
    for label, values in rows.items():
        for i in range(3):
            metrics = [metric(m, values[m][i], **data["metrics"][m]) for m in values
                       if m in data["metrics"]]
            cpus = []
            for name, capacity, numbers in (("A53", 442, range(4)), ("A72", 1024, range(4, 8))):
                per_cpu = [values[name][i] / 4] * 4
                if workload == "little-pin":
                    # The cluster's sum is rounded apart from the CPUs'.
                    per_cpu = [data["little-pin per CPU"][label][i][n] for n in numbers]
                    off = (values[name][i] - sum(per_cpu)) / 4
                    assert abs(off) < 0.05
                    per_cpu = [s + off for s in per_cpu]
                cpus += [cpu(n, name, capacity, window, (0, s), running=0)
                         for n, s in zip(numbers, per_cpu)]
            rep = report(cpus, window, metrics=metrics, label=label, run=i + 1,
                         kernel={"release": f"7.2.0-{label}", "version": "#1 SMP"})
            for c in rep["cpus"]:
                del c["states"][0]
            write(folder / label / f"run-{i + 1}", rep)
    return [folder / label for label in rows]


def entry(folder):
    """R2, with busy times that are made up."""
    data = load("entry")
    for label in ("before", "after"):
        for i in range(3):
            window = sum(data[label][m][i] for m in data[label])
            busy = {c: data["busy_s"][label][c][i] for c in ("LITTLE", "big")}
            sleep = {c: (0, 4 * window - busy[c]) for c in busy}
            held = {c: 0.02 * window * (busy["LITTLE" if c < 4 else "big"]) / 25
                    for c in range(8)}
            rep = board(window, states=sleep, label=label, run=i + 1,
                        roots=[root(ns(window), held)],
                        metrics=[metric(m, data[label][m][i], "s", "lower")
                                 for m in data[label]])
            write(folder / label / f"run-{i + 1}", rep)
    return [folder / "before", folder / "after"]
