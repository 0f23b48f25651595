# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges what guest/changes.sh left: CPUs taken offline for a run, and the sysctl."""

import json


def _says(out, name, wanted):
    got = out.get(f"{name}.rc", b"missing").decode().strip()
    if got != wanted:
        yield f"exit status {got}, not {wanted}"
        yield from out.get(f"{name}.err", b"").decode(errors="replace").splitlines()[:5]


def _held(report, offline, changed):
    """The CPUs in `offline`, and no others, were offline all the time, and are known all the same."""
    window = report["window_ns"]
    for c in report["cpus"]:
        total = c["running_ns"] + c["offline_ns"] + c["unknown_ns"]
        total += sum(s["time_ns"] for s in c["states"])
        if total != window:
            yield f"CPU {c['cpu']}: {total} ns, not {window}"
        if c["offline_ns"] != (window if c["cpu"] in offline else 0):
            yield f"CPU {c['cpu']}: offline for {c['offline_ns']} ns of {window}"
        if c["online"] == (c["cpu"] in offline):
            yield f"CPU {c['cpu']}: online {c['online']}"
        if c["capacity"] != (1024 if c["cpu"] > 3 else 442) or "class_guessed" in c:
            yield f"CPU {c['cpu']}: capacity {c['capacity']}, guessed {c.get('class_guessed')}"
        if [s["name"] for s in c["states"]] != ["WFI", "cpu-sleep"]:
            yield f"CPU {c['cpu']}: idle states {c['states']}"
    if report.get("changed") != changed:
        yield f"changed: {report.get('changed')}"


def check(tap, name, out, _):
    before = out["before"]
    tap.ok(f"{name} changes: tmigr run -n 2 --offline 5-7 --timer-migration off",
           _says(out, "held", "0"))
    for run in 1, 2:
        place = f"held/run-{run}"
        report = json.loads(out[f"{place}/report.json"])
        problems = [*_held(report, {5, 6, 7}, {"offline": "5-7", "timer_migration": 0})]
        if (report["label"], report["run"], report["timer_migration"]) != ("held", run, 0):
            problems.append("label, number or sysctl is another")
        tap.ok(f"{name} changes: run {run} has CPUs 5-7 offline for all of it", problems)
        seen = out[f"{place}/stdout"].decode().split()
        tap.ok(f"{name} changes: and its command sees it so",
               [] if seen == ["0-4", "0"] else [f"{seen}"])
    tap.ok(f"{name} changes: reported again, the same bytes",
           [] if out["held.again"] == out["held.replay"] != b"" else ["they differ"])
    tap.ok(f"{name} changes: the last CPUs of a class stay", _says(out, "last", "1"))
    tap.ok(f"{name} changes: unless forced", _says(out, "forced", "0"))
    if "forced/report.json" in out:
        report = json.loads(out["forced/report.json"])
        tap.ok(f"{name} changes: a class that is offline as a whole keeps its capacity",
               _held(report, {4, 5, 6, 7}, {"offline": "4-7"}))
    for sig in "INT", "TERM", "HUP", "KILL":
        during = out.get(f"{sig}.during", b"").decode().split()
        tap.ok(f"{name} changes: before SIG{sig} it is changed",
               [] if during == ["0-4", "0"] else [f"{during}"])
    for what in "held", "last", "forced", "INT", "TERM", "HUP", "KILL":
        after = out.get(f"{what}.after", b"missing")
        tap.ok(f"{name} changes: all is as it was after {what}",
               [] if after == before else [f"{after.decode().split()}"])
