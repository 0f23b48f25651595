#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of bench/ still run and still say what they promise.

Fixed small counts; nothing here looks at a speed.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

B = os.environ["B"]
TREE = os.path.dirname(os.environ["TMIGR_TESTS"])
sys.path.insert(0, os.path.join(os.environ["TMIGR_TESTS"], "oracle"))

import tracefs  # noqa: E402

TRACEFS = tracefs.FOLDER
CPUS = sorted(os.sched_getaffinity(0))
results = []


def ok(good, what, detail=""):
    results.append(good)
    print(f"{'ok' if good else 'not ok'} {len(results)} - {what}")
    if not good and detail:
        for line in str(detail).splitlines():
            print("# " + line)
    sys.stdout.flush()


def skip(what, why):
    results.append(True)
    print(f"ok {len(results)} - {what} # SKIP {why}", flush=True)


def run(*command, **env):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, timeout=300, env=dict(os.environ, **env))


def bench(name, *args):
    return run(f"{B}/bench/{name}", *args)


def answer(r, what):
    """The one JSON line of a program that must succeed; {} and `not ok` otherwise."""
    try:
        data = json.loads(r.stdout)
        good = r.returncode == 0 and r.stdout.count("\n") == 1 and not r.stderr
    except ValueError:
        data, good = {}, False
    ok(good, what, f"exit {r.returncode}\n{r.stdout}{r.stderr}")
    return data


def refuses(r, status, word, what):
    ok(r.returncode == status and not r.stdout and r.stderr.count("\n") == 1 and word in r.stderr,
       what, f"exit {r.returncode}\n{r.stdout}{r.stderr}")


COMMON = {"mode", "cpus", "wall_ns", "cpu_ns", "user_ns", "sys_ns", "voluntary_switches",
          "involuntary_switches", "idle_entries"}


def check_pingpong():
    if len(CPUS) < 2:
        skip("pingpong", "one CPU only")
        return
    d = answer(bench("pingpong", "-n", "200"), "pingpong: one JSON line")
    ok(set(d) == COMMON | {"round_trips", "slice_ns", "slices"}
       and d["round_trips"] == 200 and d["wall_ns"] > 0
       and d["cpus"] == CPUS[:2] and sum(d["slices"]) <= 200
       and len(d["slices"]) == d["wall_ns"] // d["slice_ns"]
       and d["cpu_ns"] == d["user_ns"] + d["sys_ns"],
       "pingpong: makes the round trips asked for, and all fields are there", d)
    d = answer(bench("pingpong", "--wheel", "-n", "3", "-p", "1000"), "wheel: one JSON line")
    ok(set(d) == COMMON | {"sleeps", "period_us", "late_sum_ns", "late_max_ns"}
       and d["sleeps"] == 6 and d["wall_ns"] >= 3 * 1000 * 1000,
       "wheel: sleeps as often as asked, and no shorter", d)
    refuses(bench("pingpong", "-n", "2", "-c", f"{CPUS[0]},65000"), 1, "CPU 65000",
            "pingpong: a CPU that is not there is named")


def check_usage():
    for program, args in (("pingpong", ["-n", "x"]), ("pingpong", ["-c", "0"]),
                          ("model-rate", ["--cpus", "1"]), ("ftrace-drain", ["-e", "power:x"]),
                          ("ftrace-drain", ["-e", "nonsense", "--", "true"])):
        refuses(bench(program, *args), 2, "--help", f"{program} {' '.join(args)}: usage, exit 2")
    for program in ("pingpong", "model-rate", "ftrace-drain"):
        r = bench(program, "--help")
        ok(r.returncode == 0 and r.stdout.startswith("usage:") and not r.stderr,
           f"{program} --help", r.stderr)


def check_model():
    for cpus, groups in ((2, 1), (8, 1), (9, 3), (65, 12)):
        d = answer(bench("model-rate", "-n", "3000", "-R", "1", "-c", str(cpus)),
                   f"model-rate, {cpus} CPUs: one JSON line, answer within the laws")
        ok(d.get("source") == "synthetic" and d.get("cpus") == cpus and d.get("groups") == groups
           and d.get("records", 0) >= 2900 and d.get("fed", 0) >= 3000 and d.get("segments", 0) > 0
           and d.get("sums_exact") is True and d.get("lost_updates") == 0
           and d.get("late_updates") == 0 and d.get("unknown_ns") == 0
           and d.get("repeats") == 1 and "records_per_s" in d,
           f"model-rate, {cpus} CPUs: all fields, nothing lost, nothing unknown", d)
    first, second = (bench("model-rate", "--callgrind-friendly") for _ in range(2))
    d = answer(first, "model-rate --callgrind-friendly: one JSON line")
    ok(d.get("fed", 0) >= 200000 and "records_per_s" not in d and first.stdout == second.stdout,
       "model-rate --callgrind-friendly: the same work each time", first.stdout + second.stdout)
    refuses(bench("model-rate", __file__), 1, os.path.basename(__file__),
            "model-rate: a file that is no recording")


def can_trace():
    return os.geteuid() == 0 and tracefs.is_there() and (TRACEFS / "events/timer_migration").is_dir()


def check_drain(folder):
    if not can_trace():
        skip("ftrace-drain", "needs root, tracefs and the timer_migration events")
        return
    out = folder + "/drain.json"
    # The command's own programs make events that come on a busy machine too.
    r = bench("ftrace-drain", "-o", out, "-e", "sched:sched_process_exec", "-e",
              "timer_migration:*", "--",
              "sh", "-c", f"ls {TRACEFS}/instances | grep -c tmigr-bench-$PPID; exit 7")
    ok(r.returncode == 7 and r.stdout.strip() == "1",
       "ftrace-drain: an instance of its own; passes output and exit status on",
       f"exit {r.returncode}\n{r.stdout}{r.stderr}")
    with open(out) as f:
        d = json.load(f)
    ok(set(d) == {"recorders", "wakeups", "bytes", "events", "lost"} and d["recorders"] > 0
       and d["events"] >= 3 and not d["lost"], "ftrace-drain: recorders ran and events came", d)
    begun = folder + "/begun"
    p = subprocess.Popen([f"{B}/bench/ftrace-drain", "-e", "power:cpu_idle", "--", "sh", "-c",
                          f"touch {begun}; exec sleep 60"], stderr=subprocess.DEVNULL)
    instance = f"{TRACEFS}/instances/tmigr-bench-{p.pid}"
    while p.poll() is None and not os.path.exists(begun):
        time.sleep(0.01)
    there = os.path.isdir(instance)
    p.terminate()
    ok(p.wait(timeout=300) == 128 + 15 and there and not os.path.isdir(instance),
       "ftrace-drain: leaves no instance behind after a signal", p.returncode)
    refuses(bench("ftrace-drain", "-e", "power:no_such_event", "--", "true"), 1,
            "power:no_such_event", "ftrace-drain: an event that is not there is named")


def check_broken_peer(folder, out):
    """One peer that fails is named with its own words; the others are measured."""
    perf = folder + "/perf"
    with open(perf, "w") as f:
        f.write("#!/bin/sh\necho 'perf: broken on purpose' >&2\nexit 3\n")
    os.chmod(perf, 0o755)
    r = run(f"{TREE}/bench/run", "--seconds", "0.1", "--rounds", "1", "--no-model", "--no-wheel",
            "--only", "perf record", "--output", out, B, PATH=folder + ":" + os.environ["PATH"])
    with open(out) as f:
        d = json.load(f)
    ok(r.returncode == 0 and {"tracer": "perf record", "why": "perf: broken on purpose"} in
       [{**e, "why": e["why"].rpartition("trace: ")[2]} for e in d["missing"]]
       and list(d["loads"]["pingpong"]["figures"]) == ["untraced"],
       "bench/run: a peer that fails is named with its reason", r.stderr + str(d["missing"]))


def check_run(folder):
    if len(CPUS) < 2:
        skip("bench/run", "one CPU only")
        return
    out = folder + "/results.json"
    r = run(f"{TREE}/bench/run", "--seconds", "0.1", "--rounds", "1", "--no-model", "--output", out,
            B)
    ok(r.returncode == 0 and not r.stderr and "untraced again" in r.stdout
       and "Two processes" in r.stdout and "Timer-wheel" in r.stdout,
       "bench/run: prints its tables", f"exit {r.returncode}\n{r.stdout}{r.stderr}")
    with open(out) as f:
        d = json.load(f)
    ok(set(d) == {"schema", "version", "machine", "settings", "loads", "model", "compare", "missing",
                  "stolen_s", "took_s"} and d["schema"] == "tmigr-bench" and d["version"] == 1
       and {"date", "kernel", "cpu", "cpus_online", "virtual_machine"} <= set(d["machine"])
       and set(d["loads"]) == {"pingpong", "wheel"}, "results.json: its parts", d)
    ok(all({"ratio_throughput", "ratio_cpu_each", "per_s"} <= set(f) and
           set(f["ratio_throughput"]) == {"median", "min", "max"}
           for load in d["loads"].values() for f in load["figures"].values())
       and all(set(load["figures"]["untraced"]["ratio_throughput"].values()) == {1.0}
               for load in d["loads"].values()), "results.json: its figures")
    ok(all(e["tracer"] and e["why"] and "\n" not in e["why"] for e in d["missing"]),
       "results.json: what is missing, and why", d["missing"])
    if can_trace():
        check_broken_peer(folder, out)
    if not can_trace() or run(f"{B}/tmigr", "doctor").returncode:
        skip("bench/run: tracers", "cannot trace here")
        return
    wanted = {"tmigr run", "tmigr run --record"}
    traced = {n: f for n, f in d["loads"]["pingpong"]["figures"].items()
              if not n.startswith("untraced")}
    ok(wanted <= set(traced) and len(traced) > len(wanted)
       and all({"tracer_cpu_us_per_s", "tracer_wakeups_per_s", "tracer_total_cpu_ms"} <= set(f)
               and f["tracer_total_cpu_ms"]["min"] > 0 for f in traced.values()),
       "bench/run: this tool and at least one peer were measured", d["missing"])
    check_recording(folder)


def check_recording(folder):
    """The model's speed on a recording of this machine, whole and cut."""
    r = run(f"{B}/tmigr", "run", "--record", "-o", folder + "/run", "--", "sleep", "0.2")
    path = folder + "/run/events.tmr"
    d = answer(bench("model-rate", "-R", "2", path), "model-rate, recording: one JSON line")
    ok(r.returncode == 0 and d.get("source") == "recording" and d.get("sums_exact") is True
       and d.get("repeats") == 2 and d.get("window_ns", 0) >= 200 * 1000 * 1000,
       "model-rate, recording: its window, within the laws", d)
    with open(path, "r+b") as f:
        f.truncate(os.path.getsize(path) - 100)
    refuses(bench("model-rate", path), 1, "inside a frame", "model-rate: a cut recording")


def main():
    with tempfile.TemporaryDirectory(prefix="tmigr-bench-smoke-") as folder:
        check_usage()
        check_pingpong()
        check_model()
        check_drain(folder)
        check_run(folder)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


sys.exit(main())
