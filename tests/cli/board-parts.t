#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of tests/board that need no emulator: device trees, archives, and that
the comparisons find what is wrong."""

import contextlib
import functools
import gzip
import io
import os
import pathlib
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "board"))

import bookings  # noqa: E402
import btf  # noqa: E402
import devicetree  # noqa: E402
import initramfs  # noqa: E402
import jobs  # noqa: E402
import judge  # noqa: E402
import turns  # noqa: E402
from boards import BOARDS, device_tree  # noqa: E402
from stream import Stream, Tap  # noqa: E402

CAPTURE = TESTS / "fixtures" / "captures" / "rk3576-7.3.4-unaware-all"
n = failed = 0


def ok(good, name):
    global n, failed
    n += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {n} - {name}")


def qemu_tree(cpus):
    """What QEMU's tree has of what is changed."""
    root = devicetree.Node()
    root.set("model", "linux,dummy-virt")
    root.add("secram@e000000", reg=[0, 0])
    root.add("timer").set("always-on", True)
    top = root.add("cpus")
    for i in range(cpus):
        top.add(f"cpu@{i:x}", reg=i, phandle=0x8000 + i)
    return devicetree.serialize(root)


def test_device_trees():
    for board in (b for b in BOARDS.values() if b.arch == "arm64"):
        blob = device_tree(board, qemu_tree(board.cpus))
        root, reserved = devicetree.parse(blob)
        ok(devicetree.serialize(root, reserved) == blob, f"{board.name}: read and written, the same bytes")
        cpus = root.child("cpus")
        found = [c for c in cpus.children if c.name.startswith("cpu@")]
        ok(tuple(c.cells("capacity-dmips-mhz")[0] for c in found) == board.capacity,
           f"{board.name}: capacities in the CPUs' order")
        sleep = cpus.child("idle-states").child("cpu-sleep")
        ok(all(c.cells("cpu-idle-states") == sleep.cells("phandle") for c in found) and
           ("local-timer-stop" in sleep.props) == board.timer_stops and
           ("always-on" in root.child("timer").props) != board.timer_stops,
           f"{board.name}: idle state")
        named = [core.cells("cpu")[0] for cluster in cpus.child("cpu-map").child("socket0").children
                 for core in cluster.children]
        ok(sorted(named) == [c.cells("phandle")[0] for c in found],
           f"{board.name}: every CPU is in the CPU map once")


def test_archive():
    archive = initramfs.Archive()
    archive.file("a/b/c", b"12345")
    archive.link("a/l", "b/c")
    data, names, at = gzip.decompress(bytes(archive)), {}, 0
    while data[at:at + 6] == b"070701":
        fields = [int(data[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
        size, length = fields[6], fields[11]
        body = (at + 110 + length + 3) & ~3
        names[data[at + 110:at + 110 + length - 1].decode()] = data[body:body + size]
        at = (body + size + 3) & ~3
    ok(names == {"a": b"", "a/b": b"", "a/b/c": b"12345", "a/l": b"b/c", "TRAILER!!!": b""},
       "an archive holds its entries, folders first")


def report_by_oracle():
    """A report with the oracle's own figures of the fixture, less its edges."""
    capture = gzip.open(CAPTURE / "trace.txt.gz", "rt").read()
    boot = (CAPTURE / "boot-trace.txt").read_text()
    stamps = [e.t for e in judge.oracle_events.parse(capture.splitlines())]
    start, end = stamps[0] + 50_000_000, stamps[-1] - 50_000_000
    capacity = BOARDS["rk3576"].capacity
    report = {"start_ns": start, "window_ns": end - start, "lost": {"records": 0}, "roots": [],
              "cpus": [{"cpu": i, "class": "big" if c == 1024 else "LITTLE", "capacity": c,
                        "offline_ns": 0, "unknown_ns": 0} for i, c in enumerate(capacity)]}
    window, _ = judge.windows_of(report, capture, boot)
    for c in report["cpus"]:
        time, entries, _ = window.residency(c["cpu"])
        c["states"] = [{"index": k, "time_ns": time.get(1 + k, 0), "entries": entries.get(1 + k, 0)}
                       for k in range(2)]
        c["running_ns"] = end - start - sum(s["time_ns"] for s in c["states"])
    report["remote"] = [{"executor": a, "target": b, "count": count}
                        for (a, b), (count, _) in window.remote().items()]
    for r in window.roots():
        held = sum(h["held"] for h in r["holders"].values())
        report["roots"].append({
            "group": "GRP0:0", "cpus": r["cpus"], "held_ns": held, "unknown_ns": 0,
            "handover_ns": r["regimes"].get("handover", 0), "duty_ns": r["regimes"].get("duty", 0),
            "free_ns": r["regimes"].get("free", 0), "classes": [{"held_ns": held}],
            "holders": [{"cpu": cpu, "held_ns": h["held"], "holdings": h["holdings"]}
                        for cpu, h in r["holders"].items()]})
    return report, window


def test_judge():
    report, window = report_by_oracle()
    judges = {
        "sums": lambda: list(judge.sums(report)),
        "residency": lambda: list(judge.residency(report, window, {})),
        "remote": lambda: list(judge.remote(report, window)),
        "holders": lambda: list(judge.holders(report, window, 0)),
    }
    for name, of in judges.items():
        ok(of() == [], f"{name}: the oracle's own figures pass")
    state = max(report["cpus"][3]["states"], key=lambda s: s["time_ns"])
    holder = max(report["roots"][0]["holders"], key=lambda h: h["held_ns"])
    for name, place, key, by in (("sums", report["cpus"][5], "running_ns", 1),
                                 ("sums", report["roots"][0], "duty_ns", -1),
                                 ("sums", report["cpus"][0], "unknown_ns", 1),
                                 ("sums", report["lost"], "records", 1),
                                 ("residency", state, "time_ns", 20_000_000),
                                 ("residency", state, "entries", 2),
                                 ("remote", report["remote"][0], "count", 2),
                                 ("holders", holder, "held_ns", -20_000_000)):
        place[key] += by
        ok(judges[name]() != [], f"{name}: {key} off by {by} is found")
        place[key] -= by
    ok(all(of() == [] for of in judges.values()), "and nothing else is")


def line(cpu, us, name, fields):
    return f" <idle>-0 [{cpu:03}] d.... {us // 1000000}.{us % 1000000:06}: {name}: {fields}"


class Made:
    """Two CPUs, 200 stays of 4.9 ms each on CPU 1, booked as 2 us less; CPU 0 runs for 3 ms from 0.5 s
    on, in the middle of nothing else. The window is 0.2 s to 0.8 s."""

    def __init__(self):
        self.lines, self.sums, self.records = [], {}, []
        for at, state in ((1, 1), (500_000, 4294967295), (503_000, 1)):
            self.event(0, at, state)
        for i in range(200):
            self.stay(i * 5000 + 10, i * 5000 + 4910, (4898) * 1000 + i)

    def event(self, cpu, us, state):
        self.lines.append((us, line(cpu, us, "cpu_idle", f"state={state} cpu_id={cpu}")))
        kind, a = (2, 0) if state == 4294967295 else (1, state)
        self.records.append((us * 1000 + 300, cpu, kind, a))

    def stay(self, start, end, booked, state=1, entered=1):
        self.event(1, start, state)
        self.event(1, end, 4294967295)
        self.lines.append((end + 1, line(1, end + 1, "booked", f"(x) state={entered} ns={booked}")))
        self.sums[end] = booked

    def judge(self, first=100_000, last=900_000, usage=0, us=0, time_ns=0, entries=0, shift=None,
              driven=True):
        """(problems of sysfs(), problems of side_by_side()) of what was made, with some of it off."""
        text = [t for _, t in sorted(self.lines)]
        start, end = 200_000_000, 800_000_000
        events = judge.oracle_events.parse(text)
        whole = judge.Window(events, judge.Hierarchy(), {0: ("a", 1), 1: ("a", 1)}, 0, 10**9)
        seen = judge.Window(events, judge.Hierarchy(), {0: ("a", 1), 1: ("a", 1)}, start, end)
        time, n, _ = seen.residency(1)
        report = {"start_ns": start, "window_ns": end - start, "cpus": [
            {"cpu": 1, "states": [{"index": 1, "name": "s", "time_ns": time[2] + time_ns,
                                   "entries": n[2] + entries}]}]}
        counted = [ns for at, ns in self.sums.items() if first < at < last]
        reading = "cpu1/mono_ns:{}\ncpu1/cpuidle/state1/time:{}\ncpu1/cpuidle/state1/usage:{}\n"
        before = bookings.Sysfs(reading.format(first * 1000, 7, 7))
        after = bookings.Sysfs(reading.format(last * 1000, 7 + sum(counted) // 1000 + us,
                                              7 + len(counted) + usage))
        took = turns.Turns(whole, driven)
        problems, _ = bookings.sysfs(report, whole, took, before, after)
        records = [(t + (shift[1] if (cpu, t // 1000) == shift[0] else 0), cpu, kind, a)
                   for t, cpu, kind, a in sorted(self.records)] if shift else sorted(self.records)
        dump = "\n".join(f"rec {t} {cpu} {kind} 0 0 0 {a} 0" for t, cpu, kind, a in records)
        return problems, turns.side_by_side(dump, whole, took, start, end)[0]


def test_bookings():
    made = Made()
    ok(made.judge() == ([], []), "sysfs: the sum of the bookings passes, and events side by side")
    for what in ({"usage": 1}, {"us": 5}, {"us": -5}):
        ok(made.judge(**what)[0] != [], f"sysfs: {what} is found")
    for what in ({"time_ns": 700_000}, {"time_ns": -1_000_000}, {"entries": 4}, {"entries": -4}):
        ok(made.judge(**what)[0] != [], f"sysfs: a report with {what} is found")
    ok(made.judge(time_ns=300_000, entries=3)[0] == [], "sysfs: 0.1 % and 3 entries are none")

    for where, wanted in ((500_000, False), (600_000, True)):
        made = Made()
        made.sums[where + 4910] -= 2_500_000
        made.lines = [(us, t.replace(f"ns={4898000 + where // 5000}",
                                     f"ns={2398000 + where // 5000}")) for us, t in made.lines]
        problems, _ = made.judge()
        ok(bool(problems) == wanted, "sysfs: 2.5 ms less booked, and another CPU "
           + ("did not run: found" if wanted else "ran: a turn"))
    made = Made()
    made.lines.append((604915, line(1, 604915, "booked", "(x) state=-16 ns=0")))
    ok(made.judge() == ([], []), "sysfs: an entry that is given up before it begins is none")
    made = Made()
    made.event(1, 604920, 0)
    made.event(1, 604950, 4294967295)
    ok(made.judge() == ([], []), "sysfs: a poll is no stay")
    made = Made()
    made.event(1, 604920, 1)
    made.event(1, 604950, 4294967295)
    ok(made.judge()[0] != [], "sysfs: what is not booked and no poll is found")
    made = Made()
    made.lines = [(us, t) for us, t in made.lines if us != 604911]
    ok(made.judge()[0] != [], "sysfs: a stay without booking is found")

    made = Made()
    ok(made.judge(shift=((1, 500_010), 2_000_000))[1] == [], "events 2 ms apart while another CPU ran: a turn")
    ok(made.judge(shift=((1, 600_010), 2_000_000))[1] != [], "events 2 ms apart, and no other CPU ran: found")
    for driven in True, False:
        ok((made.judge(shift=((1, 499_910), 80_000), driven=driven)[1] != []) == driven,
           "events 80 us apart just before another CPU's exit from idle: "
           + ("found" if driven else "a turn, where interrupts are on in the default idle"))
    made.records = [r for r in made.records if r[0] // 1000 != 604_910]
    ok(made.judge()[1] != [], "an event that the recording lacks is found")


def test_holdings():
    report, window = report_by_oracle()
    (root,) = window.roots()
    rows = [{"root": "GRP0:0", "regime": what[0], "cpu": what[1], "start_ns": a, "end_ns": b}
            for a, b, what in root["segments"]]
    long = next(r for r in rows if r["regime"] == "held" and r["end_ns"] - r["start_ns"] > 50_000)
    ok(list(judge.holdings(report, rows, window, 0)) == [], "holdings: the oracle's own pass")
    ok(list(judge.holdings(report, [r for r in rows if r is not long], window, 0)) != [],
       "holdings: one less is found")
    ok(list(judge.holdings(report, [*rows, long], window, 0)) != [], "holdings: one more is found")


def test_hierarchies():
    boot = (CAPTURE / "boot-trace.txt").read_text()
    tree = {"groups": [{"name": "GRP0:0", "parent": None, "level": 0, "mask": 1, "node": 0}],
            "cpus": [{"cpu": i, "group": "GRP0:0", "mask": 1 << i} for i in range(8)]}
    ok(judge.hierarchy_of_tree(tree) == judge.hierarchy_of_boot(boot), "a tree is its boot trace's")
    tree["cpus"][6]["mask"], tree["cpus"][7]["mask"] = 128, 64
    ok(judge.hierarchy_of_tree(tree) != judge.hierarchy_of_boot(boot), "masks that are swapped are found")


# Window from 1.5 s to 3.5 s; the tool lives on CPU 3.
WATCH = '''
 tmigr-9  [004] d..2. 1.000000: sched_switch: prev_comm=a ==> next_comm=tmigr next_pid=9
 <idle>-0 [003] d.h3. 2.000001: sched_waking: comm=tmigr pid=9 prio=120 target_cpu=003
 <idle>-0 [003] d..2. 2.000002: sched_switch: prev_comm=swapper/3 ==> next_comm=tmigr next_pid=9
 tmigr-9  [003] d..3. 1.501005: sched_waking: comm=rcu_sched pid=15 prio=120 target_cpu=002
 tmigr-9  [003] d..3. 1.501006: ipi_send_cpu: cpu=2 callsite=ttwu_queue_wakelist+0x16c/0x1f8
 tmigr-9  [003] d..3. 1.501007: ipi_raise: target_mask=00000000,00000004 (Function call interrupts)
 tmigr-9  [003] d.h3. 2.000500: ipi_raise: target_mask=00000000,000000f0 (Function call interrupts)
 <idle>-0 [005] d.h3. 2.000600: ipi_send_cpu: cpu=1 callsite=generic_exec_single+0x58/0x2e0
'''
EVIL = {
    "it runs elsewhere": "<idle>-0 [005] d..2. 3.1: sched_switch: prev_comm=a ==> next_comm=tmigr next_pid=9",
    "it is woken elsewhere": "<idle>-0 [001] d.h3. 3.1: sched_waking: comm=tmigr pid=9 target_cpu=001",
    "it wakes another": "tmigr-9 [003] d..3. 3.1: sched_waking: comm=sh pid=7 prio=120 target_cpu=006",
    "it waits for RCU again": "tmigr-9 [003] d..3. 3.1: sched_waking: comm=rcu_sched pid=15 target_cpu=002",
    "it waits for RCU twice": "tmigr-9 [003] d..3. 1.505000: sched_waking: comm=rcu_sched pid=15 target_cpu=002",
    "it interrupts another": "tmigr-9 [003] d..3. 3.1: ipi_send_cpu: cpu=2 callsite=x",
    "it interrupts several": "tmigr-9 [003] d..3. 3.1: ipi_raise: target_mask=00000000,00000018 (Function)",
    "the same by CPU mask": "tmigr-9 [003] d..3. 3.1: ipi_send_cpumask: cpumask=00000001,00000000 callsite=x",
}


def test_disturbance():
    report = {"observer": {"housekeeping_cpu": 3}, "start_ns": 1_500_000_000,
              "window_ns": 2_000_000_000}
    ok(judge.disturbs(report, WATCH) == ([], 1), "disturbance: only what is the tool's, in the window")
    for what, line in EVIL.items():
        problems, _ = judge.disturbs(report, WATCH + line.replace("3.1:", "3.100000:"))
        ok(len(problems) == 1, f"disturbance: {what}")
    ok(judge.disturbs(report, "") == ([], 0), "disturbance: nothing seen is told")


def boot_of(n, folder):
    """Some boot's lines, later ones sooner; the third dies."""
    (folder / f"{n}-begin").touch()
    time.sleep(0.02 * (5 - n))
    begun = len(list(folder.glob("*-begin"))) - len(list(folder.glob("*-end")))
    if n == 2:
        (folder / f"{n}-end").touch()
        os._exit(7)
    tap = Tap()
    tap.ok(f"{n}", [] if begun <= 2 else ["more at once than asked for"])
    tap.ok("wrong", ["a", "b"] if n == 3 else [])
    tap.skip("none", "no\nreason")
    (folder / f"{n}-end").touch()
    return tap


def test_jobs():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        works = [(("b", "k", f"s{n}"), functools.partial(boot_of, n, folder)) for n in range(5)]
        told = list(jobs.in_order(iter(works), 2))
    ok([key for key, _ in told] == [key for key, _ in works], "boots: told in their order")
    ok([n for n, (_, tap) in enumerate(told) if isinstance(tap, jobs.Died)] == [2],
       "boots: one that dies ends no other")
    taps = [(key, tap) for key, tap in told if isinstance(tap, Tap)]
    ok(all(tap.lines[0][0] == "ok" for n, (_, tap) in enumerate(taps) if n < 2),
       "boots: two at a time, where two were asked for")
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        printed = Stream()
        for key, tap in taps:
            printed.add(*key, tap)
        printed.add("b", "other", None, Tap())
        printed.end()
    lines = text.getvalue().splitlines()
    ok(lines[:6] == ["ok 1 - 0", "ok 2 - wrong", "ok 3 - none # SKIP no reason",
                     "ok 4 - 1", "ok 5 - wrong", "ok 6 - none # SKIP no reason"] and
       lines[7:10] == ["not ok 8 - wrong", "# a", "# b"] and "# failed: 8 - wrong" in lines and
       lines[-1] == "1..12" and
       printed.failures == ["8 - wrong"], "boots: one stream of TAP")
    ok(lines[-3:-1] == ["# | `b` | k | 7 | 1 | 4 | `s0`, `s1`, `s3`, `s4` |", "# | `b` | other | 0 | 0 | 0 |  |"],
       "boots: and a table")


def test_isolated():
    boot = "\n".join(f" cpuhp/{c}-9 [00{c}] ..... 0.10000{c}: tmigr_cpu_available: cpu={c} parent=0x10"
                     for c in range(3))
    tree = {"cpus": [{"cpu": c, "tmigr": "isolated" if c == 3 else "idle", "isolated": c == 3}
                     for c in range(4)]}
    ok(list(judge.isolated(tree, boot, {3})) == [], "isolated: what never came into the hierarchy")
    ok(list(judge.isolated(tree, boot, {2, 3})) != [], "isolated: by sysfs and not by the tree is found")
    ok(list(judge.isolated(tree, boot + boot[-85:].replace("2", "3"), {3})) != [],
       "isolated: one that is in the hierarchy is found")
    ok(list(judge.isolated(tree, "", {3})) != [], "isolated: an empty boot trace is found")


def test_btf():
    files = sorted((TESTS / "fixtures/kernels").glob("*/*.btf"))
    ok(len(files) >= 5, "BTF of five kernels")
    for path in files:
        blob = path.read_bytes()
        ok(btf.subset(blob) == blob, f"BTF of {path.parent.name}: a part's part is the part")


for test in (test_device_trees, test_archive, test_judge, test_bookings, test_holdings,
             test_hierarchies, test_disturbance, test_jobs, test_isolated, test_btf):
    test()
print(f"1..{n}")
sys.exit(failed > 0)
