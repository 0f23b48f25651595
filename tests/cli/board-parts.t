#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of tests/board that need no emulator: device trees, archives, and that
the comparisons find what is wrong."""

import gzip
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "board"))

import btf  # noqa: E402
import devicetree  # noqa: E402
import initramfs  # noqa: E402
import judge  # noqa: E402
from boards import BOARDS, device_tree  # noqa: E402

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
        "residency": lambda: judge.but_turns(judge.residency(report, window)),
        "remote": lambda: list(judge.remote(report, window)),
        "holders": lambda: judge.but_turns(judge.holders(report, window)),
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


for test in (test_device_trees, test_archive, test_judge, test_hierarchies, test_disturbance,
             test_isolated, test_btf):
    test()
print(f"1..{n}")
sys.exit(failed > 0)
