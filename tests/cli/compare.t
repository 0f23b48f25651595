#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigr compare: its figures against the definitions computed here, and the tables of
two public reports out of their raw values."""

import csv
import io
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get("TMIGR_TESTS", pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / "oracle"))
sys.dont_write_bytecode = True

import madeup  # noqa: E402
import stats  # noqa: E402
from tap import Tap  # noqa: E402

TMIGR = pathlib.Path(os.environ.get("B", "build")) / "tmigr"
tap = Tap()
HAS_GSL = ", GSL " in subprocess.run([TMIGR, "--version"], capture_output=True, text=True,
                                     check=True).stdout


def tmigr(*args):
    done = subprocess.run([TMIGR, "compare", *args], capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        tap.ok(False, f"compare {args}", [done.returncode, done.stderr])
    return done.stdout


def compare(*args):
    def no_number(name):
        raise ValueError(f"{name} in JSON")
    return json.loads(tmigr("--json", *args), parse_constant=no_number)


def quantity(c, key):
    (q,) = (q for q in c["quantities"] if q["key"] == key)
    return q


def cell(c, key, label):
    (found,) = (x for x in quantity(c, key)["labels"] if x["label"] == label)
    return found


def close(a, b, tolerance=1e-6):
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def check_figures(c, name):
    """Every figure of a comparison, from its own raw values."""
    wrong, tested = [], []
    base = [label["name"] for label in c["labels"]].index(c["baseline"])
    for q in c["quantities"]:
        values = [[v for v, r in zip(x["values"], label["runs"]) if r["counts"] and v is not None]
                  for x, label in zip(q["labels"], c["labels"])]
        for k, (x, v) in enumerate(zip(q["labels"], values)):
            want = {"n": len(v), "mean": stats.mean(v) if v else None,
                    "sd": math.sqrt(stats.var(v)) if len(v) > 1 else None}
            a = values[base]
            if k != base and a and v:
                want["difference"] = stats.mean(v) - stats.mean(a)
                if stats.mean(a):
                    want["percent"] = 100 * want["difference"] / abs(stats.mean(a))
            if HAS_GSL and k != base and len(a) > 1 and len(v) > 1 and len(set(a)) + len(set(v)) > 2:
                want["t"], want["df"], want["p"] = stats.welch(a, v)
                if not math.isclose(want["p"], 0.05, abs_tol=1e-5):
                    seen = want["p"] < 0.05
                    word = x["verdict"] not in ("no difference seen",)
                    if word != seen:
                        wrong.append(f"{q['key']}: {x['verdict']} with p {want['p']}")
                tested.append((x, want["p"]))
                half = stats.t_limit(round(want["df"], 9)) * abs(want["difference"] / want["t"]) \
                    if want["t"] else None
                if half:
                    want["difference_low"] = want["difference"] - half
                    want["difference_high"] = want["difference"] + half
            for field, figure in want.items():
                if not close(x[field], figure):
                    wrong.append(f"{q['key']} {x['label']}: {field} {x[field]}, not {figure}")
    for (x, _), p in zip(tested, stats.holm([p for _, p in tested])):
        if not close(x["p_holm"], p):
            wrong.append(f"{x['label']}: p_holm {x['p_holm']}, not {p}")
    if len(tested) != c["tests"]["tested"]:
        wrong.append(f"{c['tests']['tested']} tested, not {len(tested)}")
    if sum(p < 0.05 for _, p in tested) != c["tests"]["seen"]:
        wrong.append(f"{c['tests']['seen']} seen")
    if sum(p < 0.05 for p in stats.holm([p for _, p in tested])) != c["tests"]["survive"]:
        wrong.append(f"{c['tests']['survive']} survive")
    tap.ok(not wrong and c["quantities"], f"{name}: {len(tested)} tests and all means", wrong)


def check_intervals(c, keys, name):
    """percent_low and percent_high, by the test's own answers."""
    wrong = []
    for key in keys:
        q = quantity(c, key)
        (a,) = (x["values"] for x in q["labels"] if x["label"] == c["baseline"])
        for x in q["labels"]:
            if x["label"] == c["baseline"]:
                continue
            want = stats.percent_interval(tuple(a), tuple(x["values"])) or (None, None)
            got = x["percent_low"], x["percent_high"]
            if not all(close(g, w, 1e-5) for g, w in zip(got, want)):
                wrong.append(f"{key} {x['label']}: {got}, not {want}")
    tap.ok(not wrong, name, wrong)


# ---- the report of three kernels ----

def check_rk3576(tmp):
    data = madeup.load("rk3576")
    for workload in data["workloads"]:
        dirs = madeup.rk3576(tmp / workload, workload)
        c = compare(*dirs)
        check_figures(c, workload)
        for label, want in data["means"].get(workload, {}).items():
            got = [f"{cell(c, f'residency/{k}/cpu-sleep', label)['mean']:.1f}" for k in ("A53", "A72")]
            tap.same(got, [f"{w:.1f}" for w in want], f"{workload}, {label}: the report's means")
        check_unknown(c, dirs)
        values = data["workloads"][workload]["unaware"]
        text = tmigr(*dirs)
        long = [line for line in text.split("\n") if len(line) > 80]
        tap.ok(not long, f"{workload}: 80 columns", long)
        for name, v in values.items():
            row = [line for line in text.split("\n") if "  unaware  " in line and name in line
                   and ("A" not in name or "cpu-sleep" in line)]
            fields = row[0].replace("!", "").split() if row else []
            shown = [data["workloads"][workload][label][name] for label in ("unaware",)][0]
            digits = max(len(repr(x).partition(".")[2].rstrip("0")) for x in shown)
            want = [f"{x:.{digits if name in data['metrics'] else 1}f}" for x in shown]
            tap.ok(all(w in fields for w in want) or max(shown) < 100 and name == "A72",
                   f"{workload}: every run's {name} in the text", [row, want])
        if workload == "tbench" and HAS_GSL:
            x = cell(c, "metric/throughput/MB/s", "split")
            tap.same((x["verdict"], x["survives"]), ("better", True), "tbench: split is faster")
            tap.same(cell(c, "metric/max latency/ms", "split")["verdict"], "no difference seen",
                     "tbench: not seen in the latency")
        if workload == "little-pin":
            if HAS_GSL:
                check_intervals(c, [q["key"] for q in c["quantities"]],
                                "little-pin: the intervals are the test's own answers")
            check_per_cpu(data, dirs)


def check_unknown(c, dirs):
    """Time of which nothing is known is told, and no quantity."""
    want = []
    for folder in dirs:
        reports = [json.loads(p.read_text()) for p in sorted(folder.glob("run-*/report.json"))]
        shares = []
        for name in ("A53", "A72"):
            cpus = [(r["window_ns"], x["unknown_ns"]) for r in reports for x in r["cpus"] if x["class"] == name]
            shares.append(f"{100 * sum(u for _, u in cpus) / sum(w for w, _ in cpus):.1f} % of {name}'s")
        want.append(f"{folder.name}: {', '.join(shares)} CPU time is unknown (lost or not collected).")
    tap.same([n for n in c["notes"] if "unknown" in n], want, "unknown time: a note for each label")
    keys = [q["key"] for q in c["quantities"] if "unknown" in q["key"]]
    tap.ok(not keys, "unknown time is no quantity", keys)


def check_per_cpu(data, dirs):
    c = compare("--cpus", *dirs)
    rows = data["little-pin per CPU"]
    wrong = [f"cpu{n} {label}" for label, runs in rows.items() for n in range(8)
             if [f"{v:.1f}" for v in cell(c, f"cpu-residency/cpu-sleep/{n}", label)["values"]]
             != [f"{run[n]:.1f}" for run in runs]]
    tap.ok(not wrong, "little-pin: the report's table per CPU", wrong)
    text = tmigr("--cpus", *dirs).split("\n")
    for label, runs in rows.items():
        for i, run in enumerate(runs):
            want = " ".join(f"{v:.1f}" for v in run)
            found = [t for t in text if " ".join(t.replace("!", "").split()).endswith(want)
                     and f"run-{i + 1}" in t]
            tap.ok(found, f"little-pin per CPU: {label} run-{i + 1} as a row", [want])
    check_figures(c, "little-pin per CPU")


# ---- the report of an interrupt-entry change ----

def check_entry(tmp):
    data = madeup.load("entry")
    dirs = madeup.entry(tmp / "entry")
    c = compare(*dirs)
    check_figures(c, "entry")
    for label, means in data["averages"].items():
        got = {m: round(cell(c, f"metric/{m}/s", label)["mean"], 3) for m in means}
        tap.same(got, means, f"entry, {label}: the report's averages")
    # The report counts less as a positive percentage.
    got = {m: round(-cell(c, f"metric/{m}/s", "after")["percent"], 2) for m in data["better_percent"]}
    want = dict(data["better_percent"])
    tap.same((got.pop("messaging"), want.pop("messaging")), (0.53, 0.52),
             "entry: messaging is 0.53 % better; the report says 0.52, of which it is no rounding")
    tap.same(got, want, "entry: the report's other percentages")
    short = [stats.mean(data["after"]["pipe"][:2]), stats.mean(data["before"]["pipe"])]
    tap.same(round(100 * (1 - short[0] / short[1]), 1), 3.0,
             "entry: pipe without run 3 would be 3.0 % better, not the 3.5 of the argument")
    before, after = data["other_board"]["ops"]
    tap.same(round(100 * (after / before - 1), 1), data["other_board"]["ops_percent"],
             "entry: the other board's ops/s")
    if HAS_GSL:
        check_entry_words(c, dirs)


def check_entry_words(c, dirs):
    words = {m: cell(c, f"metric/{m}/s", "after")["verdict"] for m in ("messaging", "pipe", "seccomp-notify")}
    tap.same(words, {"messaging": "no difference seen", "pipe": "no difference seen",
                     "seccomp-notify": "better"}, "entry: what can be told from three runs")
    check_intervals(c, [f"metric/{m}/s" for m in words], "entry: the intervals")
    flagged = [(f["label"], f["run"]) for f in c["flags"] if any(v["key"] == "metric/pipe/s" for v in f["values"])]
    tap.same(flagged, [("after", 3)], "entry: run 3's pipe is flagged, and nothing else")
    (flag,) = (f for f in c["flags"] if f["label"] == "after")
    differs = {f["what"] for f in flag["facts"] if f["differs"]}
    tap.ok({"LITTLE busy", "big busy", "LITTLE cpu-sleep", "migrator held by LITTLE"} <= differs
           and not differs & {"CPUs offline", "lost records"}, "entry: and what differed in it", [differs])
    x = cell(c, "metric/pipe/s", "after")
    tap.same((x["n"], x["values"][2]), (3, 28.649), "entry: it is in the mean all the same")
    text = " ".join(tmigr(*dirs).split())
    for part in ("run-3 of after: pipe, s 28.649 (siblings 23.159, 23.702)", "In that run: LITTLE busy",
                 "like its siblings:", "CPUs offline, lost records."):
        tap.ok(part in text, f"entry: the text says '{part}'", [text])


# ---- random figures ----

def random_board(rng, spread, shift, split):
    sleep = {c: (rng.gauss(5, spread), rng.gauss(30 + shift, spread)) for c in ("LITTLE", "big")}
    window = madeup.ns(10)
    held = {c: abs(rng.gauss(1 + shift / 10 * (c > 3), 0.05)) for c in range(8)}
    groups = madeup.BOARD
    if split:
        roots = [madeup.root(window, {c: s for c, s in held.items() if c in g[2]},
                             group=f"GRP0:{i}", classes=(g,)) for i, g in enumerate(groups)]
    else:
        roots = [madeup.root(window, held, duty=0.5, avoidable={"big": abs(rng.gauss(.3, .1))})]
    pairs = [madeup.remote(a, b, rng.randrange(1, 99), 1) for a in range(8) for b in range(8)
             if not split or (a < 4) == (b < 4)]
    return madeup.board(10, sleep, roots=roots, pairs=pairs, metrics=[
        madeup.metric("m", rng.gauss(100 + shift, spread), "s", "lower"),
        madeup.metric("zero", 0.0), madeup.metric("minus", rng.gauss(-3, spread), "", "higher")])


def check_random(tmp):
    rng = random.Random(5)
    for k in range(6):
        dirs = []
        for label in range(2 + k % 3):
            for run in range(rng.choice((1, 2, 3, 4, 7))):
                madeup.write(tmp / f"r{k}" / f"l{label}" / f"run-{run + 1}",
                             random_board(rng, 0.01 * 10 ** (k % 3), label, label == 1 and k > 2))
            dirs.append(tmp / f"r{k}" / f"l{label}")
        c = compare("--baseline", "l1", "--cpus", *dirs)
        tap.same(c["baseline"], "l1", "the baseline that was asked for")
        check_figures(c, f"random {k}")
        if HAS_GSL:
            check_flags(c, f"random {k}: what is flagged")
        check_sources(c, f"random {k}: values are the reports'")
        check_csv(c, dirs)


def check_flags(c, name):
    wrong = []
    flagged = {(f["label"], f["run"], v["key"]): v["chance"] for f in c["flags"] for v in f["values"]}
    for q in c["quantities"]:
        groups = [x["values"] for x in q["labels"]]
        if any(v is None for g in groups for v in g):
            continue
        for k, g in enumerate(groups):
            for i in range(len(g)):
                place = (q["labels"][k]["label"], c["labels"][k]["runs"][i]["run"], q["key"])
                chance = stats.far(groups, k, i)
                rest = [x for n, x in enumerate(g) if n != i]
                off = abs(g[i] - stats.mean(rest)) if rest else 0
                if rest and (off < 0.02 * abs(stats.mean(rest)) or q["unit"] == "%" and off < 1):
                    chance = 1
                if abs(chance - 0.01) > 1e-4 and (chance < 0.01) != (place in flagged):
                    wrong.append(f"{place}: {chance}, {flagged.get(place)}")
    tap.ok(not wrong, f"{name} ({len(flagged)})", wrong)


def source(report, q):
    """A quantity of a report, the long way round."""
    group, *parts = q["key"].split("/")
    classes = {x["cpu"]: x["class"] for x in report["cpus"]}
    if group in ("residency", "entries", "above", "below"):
        total = 0
        for x in report["cpus"]:
            if x["class"] == parts[0]:
                total += x.get(f"{parts[1]}_ns", 0) if group == "residency" else 0
                field = "time_ns" if group == "residency" else group
                total += sum(s[field] for s in x["states"] if s["name"] == parts[1])
        return total / 1e9 if group == "residency" else total
    if group == "cpu-residency":
        (x,) = (x for x in report["cpus"] if x["cpu"] == int(parts[1]))
        return (x.get(f"{parts[0]}_ns", 0) +
                sum(s["time_ns"] for s in x["states"] if s["name"] == parts[0])) / 1e9
    if group == "cpu-held":
        return sum(h["held_ns"] for r in report["roots"] for h in r["holders"]
                   if h["cpu"] == int(parts[0])) / 1e9
    if group == "migrator":
        of, who = parts
        whose = [x["cpu"] for x in report["cpus"] if of in ("all", x["class"])]
        total = 0
        for cpu in whose:  # each CPU's own root
            (r,) = (r for r in report["roots"] if any(
                k["name"] == classes[cpu] for k in r["classes"]))
            if who.startswith("held by "):
                total += sum(h["held_ns"] for h in r["holders"] if classes[h["cpu"]] == who[8:])
            else:
                total += r[{"nobody: duty": "duty_ns", "nobody: free": "free_ns",
                            "hand-over": "handover_ns", "unknown": "unknown_ns"}[who]]
        return 100 * total / len(whose) / report["window_ns"]
    if group == "avoidable":
        return sum(k["avoidable_ns"] for r in report["roots"] for k in r["classes"]
                   if k["name"] == parts[0]) / 1e9
    if group in ("remote", "woke"):
        field = "count" if group == "remote" else "woke_executor"
        return sum(p[field] for p in report["remote"] if classes[p["executor"]] == parts[0] and
                   ("itself" if p["executor"] == p["target"] else classes[p["target"]]) == parts[1])
    (m,) = (m for m in report["metrics"] if m["name"] == parts[0])
    return m["value"]


def check_sources(c, name):
    wrong, n = [], 0
    for k, label in enumerate(c["labels"]):
        for i, run in enumerate(label["runs"]):
            report = json.loads((pathlib.Path(run["path"]) / "report.json").read_text())
            for q in c["quantities"]:
                n += 1
                got, want = q["labels"][k]["values"][i], source(report, q)
                if not close(got, want, 1e-9):
                    wrong.append(f"{q['key']} {run['path']}: {got}, not {want}")
            for key in c["zero"]:
                if source(report, {"key": key}) != 0:
                    wrong.append(f"{key} is not 0 in {run['path']}")
    tap.ok(not wrong and n, f"{name} ({n})", wrong)


def check_csv(c, dirs):
    args = ["--baseline", "l1", "--cpus", *dirs]
    rows = list(csv.DictReader(io.StringIO(tmigr("--csv", *args))))
    cells = [(q, x) for q in c["quantities"] for x in q["labels"]]
    same = len(rows) == len(cells) and all(
        row["key"] == q["key"] and row["label"] == x["label"] and row["verdict"] == (x["verdict"] or "")
        and all((float(row[f]) if row[f] else None) == x[f]
                for f in ("mean", "sd", "difference", "percent_low", "percent_high", "p_holm"))
        for row, (q, x) in zip(rows, cells))
    tap.ok(same, "--csv has the same figures")
    runs = list(csv.DictReader(io.StringIO(tmigr("--csv=runs", *args))))
    tap.same([float(r["value"]) for r in runs if r["value"]],
             [v for _, x in cells for v in x["values"] if v is not None], "--csv=runs has every run's")


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    check_rk3576(place)
    check_entry(place)
    check_random(place)
tap.done()
