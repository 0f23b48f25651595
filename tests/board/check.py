#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check [--board NAME...|all] [--kernel SERIES|IMAGE|all...] [--only SESSION...]
      [--jobs N] [--keep DIRECTORY]

Boots each board with each kernel, once for each session, runs the static tmigr there
(guest/SESSION.sh) and checks what it said. Speaks TAP, with a table at the end.
--jobs: so many boots at a time, by default one for each CPU of this machine.
--keep: what the guests left, for a look.
"""

import argparse
import csv
import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import traceback

import bookings
import changes
import cycle
import jobs
import judge
import latency
import machine
import packages
import sources  # of tests/oracle, as judge's
import tracedat
import turns
from boards import BOARDS
from stream import Stream, Tap

TREE = pathlib.Path(__file__).resolve().parents[2]
SERIES = ("6.12", "6.16", "6.18", "6.19", "7.0", "7.1", "7.2", "7.3")
# Test programs that run in the guest as well (tests/programs)
PROGRAMS = ("engine-selftest", "engine-tree")
WINDOWS = ("idle", "all", "little-wheel", "little-hr", "big", "hotplug", "storm", "fixed")
# A boot takes a minute or two of an idle host, and longer beside other work.
BOOT_S = 1200
# They know this board's CPUs and classes.
ONE_BOARD = ("changes", "cycle", "old")
# Kernels before timer migration (6.9), and what is for them alone.
OLD_SERIES = ("6.1",)
STEP_EVENTS = ("cpuhp:cpuhp_enter", "cpuhp:cpuhp_multi_enter", "cpuhp:cpuhp_exit")
SERVED = ("served", "served-hotplug", "served-storm", "served-step")
# A hierarchy that gets a new root inside the window is in between for a moment.
LATE_UNKNOWN_NS = 1_000_000
# By ftrace, who holds is known once the holder has made an event; it may hold for long without.
COMMON_NS = 1_000_000_000


def need_qemu(arch):
    machine.need(machine.QEMU[arch], "qemu-system-arm" if arch == "arm64" else "qemu-system-x86")


class BuildFailed(Exception):
    """The program does not build, which is a failure where everything for it is there."""


@functools.cache
def programs(arch):
    """{path in the guest: bytes} of the static tmigr and the test programs, built if need be."""
    if arch == "arm64":
        machine.need(machine.CROSS_CC[arch], "gcc-aarch64-linux-gnu")
        argv, place = ["make", "static-board", "B=build", "ARCH=arm64"], TREE / "build/static-arm64"
        done = subprocess.run([machine.HERE / "sysroot", arch], text=True, capture_output=True)
        if done.returncode:
            raise packages.Unavailable(done.stderr.strip()[-300:])
    else:
        argv, place = ["make", "static-board", "B=build"], TREE / "build/static"
    done = subprocess.run(argv, cwd=TREE, text=True, capture_output=True)
    if done.returncode:
        raise BuildFailed(f"{' '.join(argv)} failed: {done.stderr.strip()[-300:]}")
    files = {f"bin/{p}": place / p for p in ("tmigr", "tmigrd")}
    files.update((f"bin/{p}", place / "tests/programs" / p) for p in PROGRAMS)
    return {name: path.read_bytes() for name, path in files.items()}


@functools.cache
def host_programs():
    """The folder of the programs that read recordings here."""
    wanted = ["build/tmigr", *(f"build/tests/programs/{p}" for p in ("rec-dump", "model-feed"))]
    done = subprocess.run(["make", "B=build", *wanted], cwd=TREE, text=True, capture_output=True)
    if done.returncode:
        raise BuildFailed(f"make {' '.join(wanted)} failed: {done.stderr.strip()[-300:]}")
    return TREE / "build"


def recorded(body):
    """The records of a recording, as text."""
    with tempfile.NamedTemporaryFile(suffix=".tmr") as f:
        f.write(body)
        f.flush()
        return subprocess.run([host_programs() / "tests/programs/rec-dump", f.name], text=True,
                              capture_output=True).stdout


@functools.cache
def image_of(kernel, arch):
    """(label, path) of a kernel named by its series or by a path."""
    path = pathlib.Path(kernel)
    if path.is_file():
        with path.open("rb") as f:
            is_x86 = f.read(0x206)[0x202:] == b"HdrS"
        if is_x86 != (arch == "amd64"):
            raise packages.Unavailable(f"{path.name} is not a kernel for {arch}")
        return path.name.split(".Image")[0], path
    version, path = packages.kernel(kernel, arch)
    return version, path


def says(out, name, wanted=b"0"):
    """Problems when a command's status is not the one wanted."""
    got = out.get(f"{name}.rc", b"missing").strip()
    if got != wanted:
        yield f"exit status {got.decode()}, not {wanted.decode()}"
        for kind in ("err", "text"):
            yield from out.get(f"{name}.{kind}", b"").decode(errors="replace").splitlines()[:5]


def check_tree(tap, name, out, early="boot-trace.txt"):
    """The live tree, before and after the windows, against the boot's connect events."""
    for when, trace in (("tree", early), ("tree-late", "boot-trace.txt")):
        tree = json.loads(out[f"{when}.json"])
        live = judge.hierarchy_of_tree(tree)
        boot = judge.hierarchy_of_boot(out[trace].decode())
        tap.ok(f"{name} {when}: the hierarchy of the boot's connect events",
               [] if live == boot else [f"tree: {live}", f"boot: {boot}"])
        seen, of = tree["cpus_seen"], tree["cpus_expected"]
        tap.ok(f"{name} {when}: every CPU is known", [] if seen == of else [f"{seen} of {of}"])


def same_text(out, window):
    for again in ("again", "replay"):
        if out.get(f"{window}.{again}") != out[f"{window}.text"]:
            yield f"`tmigr report` ({again}) prints something else than `tmigr run`"


def check_window(tap, name, window, out, unknown_ns=0):
    """One run of tmigr against itself, sysfs and the capture."""
    tap.ok(f"{name}: tmigr run", says(out, window))
    if f"{window}/report.json" not in out:
        return None
    report = json.loads(out[f"{window}/report.json"])
    seen, whole = judge.windows_of(report, out[f"{window}.trace"].decode(),
                                   out["boot-trace.txt"].decode())
    tap.ok(f"{name}: sums are exact, nothing is unknown, nothing lost",
           judge.sums(report, unknown_ns, judge.appeared(report, whole)))
    tap.ok(f"{name}: reported again, the same bytes", same_text(out, window))
    tap.ok(f"{name}: the capture's own order of words is without contradiction",
           [f"{n} {what}" for n, what in zip(seen.order_counts, ("odd", "breaks")) if n])
    before, after = (bookings.Sysfs(out[f"{window}.{x}"].decode()) for x in ("before", "after"))
    took_turns = turns.Turns(whole, bool(before.driven()))
    problems, idle, updates = turns.side_by_side(
        recorded(out[f"{window}/events.tmr"]), whole, took_turns, seen.start, seen.end)
    tap.ok(f"{name}: the capture's events one by one, at the same time", problems)
    tap.ok(f"{name}: residency is the capture's", judge.residency(report, seen, idle))
    tap.ok(f"{name}: what CPUs that ran were to timer migration is the capture's",
           judge.running(report, seen, idle))
    if before.driven():
        problems, notes = bookings.sysfs(report, whole, took_turns, before, after)
        tap.ok(f"{name}: residency is sysfs's", problems)
        for text in notes:
            tap.note(text)
    tap.ok(f"{name}: remote expiries are the capture's", judge.remote(report, seen))
    tap.ok(f"{name}: holders are the capture's", judge.holders(report, seen, updates))
    segments = csv.DictReader(out[f"{window}/migrator-segments.csv"].decode().splitlines())
    tap.ok(f"{name}: the capture has as many holdings of more than {judge.LONG_NS // 1000} us",
           judge.holdings(report, segments, seen, updates))
    if window.endswith("hotplug"):
        check_hotplug(tap, name, report, whole, took_turns)
    tap.note(report["answer"]["text"])
    return report


def check_hotplug(tap, name, report, whole, took_turns):
    """The last CPU, and no other, was offline while it was away: between its last event and its
    first one, less the time in which another CPU took it down or brought it up."""
    last = report["cpus"][-1]
    problems = [f"CPU {c['cpu']} was never offline" for c in report["cpus"][:-1] if c["offline_ns"]]
    moves = [e.t for e in whole.events if e.name in judge.HOTPLUG and e.f["cpu"] == last["cpu"]]
    if len(moves) != 2 or not report["start_ns"] < moves[0] < moves[1] < whole.end:
        problems.append(f"the capture does not have it leave and return in the window: {moves}")
    else:
        own = [e.t for e in whole.events if e.cpu == last["cpu"] and moves[0] <= e.t <= moves[1]]
        away, left = max((b - a, a) for a, b in zip(own, own[1:]))
        rest = away - last["offline_ns"]
        if rest < -2 * turns.STAMP_NS or not took_turns.explain(
                last["cpu"], rest, [(left, left + rest), (left + away - rest, left + away)]):
            problems.append(f"{last['offline_ns']} ns offline, by the capture away {away} ns")
    tap.ok(f"{name}: the CPU that was taken off was offline, as long as it was away", problems)


def observer(tap, name, out, report):
    """What tmigr does to the other CPUs of an idle machine. How often these wake up is printed:
    by themselves that differs from window to window."""
    problems, ran = judge.disturbs(report, out["idle.watch"].decode())
    tap.ok(f"{name} idle: tmigr runs on the housekeeping CPU alone, and wakes or interrupts no other",
           problems or ([] if ran else ["the trace does not have it run at all"]))
    if not any(c["states"] and f"cpu{c['cpu']}/cpuidle" in out["bare-idle.before"].decode()
               for c in report["cpus"]):
        return  # no cpuidle driver, no counters
    keeper = report["observer"]["housekeeping_cpu"]
    before, after = (bookings.Sysfs(out[f"bare-idle.{x}"].decode()) for x in ("before", "after"))
    with_it = (bookings.Sysfs(out[f"idle.{x}"].decode()) for x in ("before", "after"))
    ways = (("without tmigr", bookings.rates(before, after, keeper)),
            ("in its window", bookings.rates_of(report, keeper)),
            ("with its start and end", bookings.rates(*with_it, keeper)))
    for i, what in enumerate(("idle entries a second", "share of the deepest state")):
        first = ways[0][1][i]
        tap.note(f"{name} idle: {what}, all CPUs but {keeper}: " + ", ".join(
            f"{way} {of[i]:.3f} (ratio {of[i] / first if first else 0:.3f})" for way, of in ways))


def boot(tap, name, board, image, script, append="", events=()):
    """What a session left; None, with the failure told, when there is nothing."""
    text = (machine.HERE / "guest" / script).read_text()
    try:
        return machine.run(board, image, text, programs(board.arch), append, events,
                           timeout_s=BOOT_S)
    except machine.BootFailed as e:
        tap.ok(name, [str(e)])
        return None


def keep_files(directory, name, out):
    for path, body in out.items() if directory else ():
        place = pathlib.Path(directory) / name.replace(" ", "-") / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(body)


def check_session(tap, name, out, _):
    tap.note(f"kernel {out['release'].decode().strip()}, {out['version'].decode().splitlines()[0]}")
    tap.ok(f"{name} doctor", says(out, "doctor"))
    tap.ok(f"{name} tree", says(out, "tree"))
    if not any(says(out, "tree")):
        check_tree(tap, name, out)
    reports = {w: check_window(tap, f"{name} {w}", w, out) for w in WINDOWS}
    tap.ok(f"{name}: the sysctl of each window", [
        (w, r["timer_migration"], r["timer_migration_end"]) for w, r in reports.items()
        if r and not r["timer_migration"] == r["timer_migration_end"] == int(w != "fixed")])
    if reports["idle"]:
        observer(tap, name, out, reports["idle"])


def check_programs(tap, name, out, _):
    for program in PROGRAMS:
        check_program(tap, name, out, program)


def check_program(tap, name, out, program):
    """A test program that ran in the guest: it passed, and skipped nothing."""
    text = out.get(f"{program}.tap", b"").decode(errors="replace")
    bad = [line for line in text.splitlines() if line.startswith("not ok") or "# SKIP" in line]
    if not re.search(r"^1\.\.[1-9]", text, re.M):
        bad += text.splitlines()[-3:] + ["it has no end"]
    tap.ok(f"{name} {program}", [*says(out, program), *bad])


def check_isolated(tap, name, out, board):
    tap.ok(f"{name} isolated: tree", says(out, "tree"))
    check_tree(tap, f"{name} isolated", out)
    listed = set(judge.cpus(out["cpus-isolated"].decode().strip()))
    tap.ok(f"{name} isolated: sysfs lists the isolated CPU",
           [] if board.cpus - 1 in listed else [f"it lists {sorted(listed)}"])
    for when in "tree", "tree-late":
        tap.ok(f"{name} isolated {when}: outside the hierarchy is what the kernel took out",
               judge.isolated(json.loads(out[f"{when}.json"]), out["boot-trace.txt"].decode(), listed))
    inside = judge.taking_part(out["boot-trace.txt"].decode())
    tap.note(f"isolated {sorted(listed)}, in the hierarchy {sorted(inside)}")
    check_window(tap, f"{name} isolated", "isolated", out)
    check_busy(tap, f"{name} busy", out)


def check_busy(tap, name, out):
    """A nohz_full CPU that runs one task for 1.5 s: idle to timer migration, and yet not asleep; and
    the sysctl, which was changed in the window."""
    report = check_window(tap, name, "busy", out)
    if not report:
        return
    (cpu,) = judge.cpus(out["cpus-nohz-full"].decode().strip())
    said = [c for c in report["cpus"] if c["cpu"] == cpu][0]
    tap.ok(f"{name}: the nohz_full CPU ran, and was idle to timer migration",
           [] if said.get("nohz_full") and said["running_tmigr"]["idle_ns"] > 1.2e9 else [said])
    off = [c["cpu"] for c in report["cpus"] if c["running_tmigr"]["idle_ns"] >= report["window_ns"] / 20]
    told = re.search(r"Note: CPUs (\S+) were idle to timer migration", out["busy.text"].decode())
    tap.ok(f"{name}: the text tells of it, and of no other",
           [] if off == [cpu] and told and judge.cpus(told[1]) == off else [f"{off}, {told}"])
    values = report["timer_migration"], report["timer_migration_end"]
    text = " ".join(out["busy.text"].decode().split())
    tap.ok(f"{name}: the sysctl at the start and at the end",
           [] if values == (1, 0) and "kernel.timer_migration was 1 at the start of the window and 0 at its end"
           in text else [values])


def check_late(tap, name, out, board):
    check_tree(tap, name, out, early="boot-early.txt")
    report = check_window(tap, f"{name} late", "late", out, LATE_UNKNOWN_NS)
    if report:
        tap.ok(f"{name} late: CPUs that came in the window have their capacity and idle states",
               judge.machine_known(report, board))


def check_daemon(tap, name, out, _):
    """tmigrd measures, also while CPUs go and come."""
    for what in ("status", "tree", "mark", "dump", "dumped"):
        tap.ok(f"{name} tmigrd: {what}", says(out, what))
    if not any(says(out, "tree")):
        check_tree(tap, f"{name} tmigrd", out)
    for window in SERVED:
        report = check_window(tap, f"{name} {window}", window, out)
        if report:
            tap.ok(f"{name} {window}: tmigrd measured",
                   [] if report["engine"].startswith("tmigrd ") else [report["engine"]])
        if report and window == "served-step":
            tap.ok(f"{name} {window}: the clock's steps are not in the window's length",
                   [] if 3e9 <= report["window_ns"] < 60e9 else [report["window_ns"]])
    tap.ok(f"{name} tmigrd: ends by SIGTERM, as it should",
           [*says(out, "tmigrd"), *(out["tmigrd.log"].decode().splitlines()
                                    if any(says(out, "tmigrd")) else [])])
    for kind in ("status-late.text", "tmigrd.log"):
        tap.note(out[kind].decode().strip())


def imported(folder, out, board):
    """The recording that `tmigr import` makes of a trace.dat with the guest's pages."""
    systems = {}
    for name in sorted(n for n in out if n.startswith("format-")):
        systems.setdefault(name.split("-")[1], []).append(out[name].decode())
    dat = folder / "raw.dat"
    tracedat.write(dat, out["header_page"].decode(), systems, [out[f"raw-cpu{c}"] for c in range(board.cpus)])
    done = subprocess.run([host_programs() / "tmigr", "import", "-o", folder / "import", dat],
                          text=True, capture_output=True)
    if done.returncode:
        raise RuntimeError(f"tmigr import: {done.stderr.strip()}")
    return folder / "import/events.tmr"


def check_sources(tap, name, out, board):
    tap.ok(f"{name} bpf: run", says(out, "bpf"))
    tap.ok(f"{name} ftrace: run", says(out, "ftrace"))
    if any(says(out, "bpf")) or any(says(out, "ftrace")):
        return
    report = json.loads(out["ftrace/report.json"])
    blind = max((r["unknown_ns"] for r in report["roots"]), default=0)
    tap.ok(f"{name} ftrace: sums add up to the ns", judge.sums(report, blind))
    text = out["ftrace.text"].decode()
    tap.ok(f"{name} ftrace: the recording gives the same report",
           [] if out["ftrace.again"].decode() == text else ["it differs"])
    tap.ok(f"{name} ftrace: nothing stays in tracefs", out["instances"].decode().split())
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for n in "bpf", "ftrace":
            (folder / f"{n}.tmr").write_bytes(out[f"{n}/events.tmr"])
        paths = {"BPF": folder / "bpf.tmr", "ftrace": folder / "ftrace.tmr",
                 "trace.dat": imported(folder, out, board)}
        compare_sources(tap, name, paths, blind, {c["cpu"]: c["capacity"] for c in report["cpus"]})
    tap.ok(f"{name} ftrace: tree", says(out, "tree"))
    if not any(says(out, "tree")):
        live = judge.hierarchy_of_tree(json.loads(out["tree.json"]))
        boot = judge.hierarchy_of_boot(out["boot-trace.txt"].decode())
        tap.ok(f"{name} ftrace: the hierarchy of the boot's connect events, as far as it has shown",
               judge.contradicts(judge.without_nodes(live), judge.without_nodes(boot)))
    tap.ok(f"{name} tree --boot", says(out, "boot"))
    if not any(says(out, "boot")):
        tap.ok(f"{name} tree --boot: the same as now", json.loads(out["boot.json"])["boot"]["differences"])


def compare_sources(tap, name, paths, blind, capacities):
    """`blind`: for how long in all ftrace did not know who held. That has to be at the start, for
    behind it nothing may be unknown."""
    programs_here = host_programs() / "tests/programs"
    recordings = {n: sources.Recording(programs_here, p) for n, p in paths.items()}
    # Half a second at least in which the others learn what BPF reads at the start.
    start = max(r.start for r in recordings.values()) + max(blind, 500_000_000)
    end = min(r.end for r in recordings.values())
    tap.ok(f"{name}: the common window is one to tell by", [] if end - start >= COMMON_NS else [f"{end - start} ns"])
    answers = {n: sources.answer(programs_here, r, start, end, capacities) for n, r in recordings.items()}
    for n, a in answers.items():
        tap.ok(f"{name} {n}: nothing is unknown in the common window",
               [f"{ns} ns of {what}" for ns, what in zip(sources.unknown(a), ("CPUs", "roots")) if ns])
    for n in "ftrace", "trace.dat":
        found = sources.differences(answers["BPF"], answers[n])
        tap.ok(f"{name} {n}: residency, holders, holdings and matrix are BPF's",
               [text for _, text in found])
    held = sum(h["holdings"] for r in answers["BPF"]["roots"] for h in r["holders"])
    tap.note(f"{(end - start) / 1e9:.2f} s, {answers['BPF']['records']} records, {held} holdings")


def check_old(tap, name, out, _):
    """A kernel without timer migration: what its CPUs do is measured and shown; of the rest it is said
    that there is none."""
    none = "this kernel has no timer-migration hierarchy"
    doctor = out["doctor.text"].decode()
    tap.ok(f"{name} doctor: says what is missing, and of nothing else that it is",
           [*says(out, "doctor", b"1"), *(x for x in doctor.splitlines() if x.startswith("FAIL") and none not in x),
            *([] if none in doctor and "KALLSYMS" not in doctor else [doctor])])
    for what in "tree", "boot", "served-tree":
        tap.ok(f"{name} {what}: there is none",
               [*says(out, what, b"1"), *([] if none.encode() in out[f"{what}.err"] else [out[f"{what}.err"]])])
    for what in "top", "served-top":
        now = re.findall(r"^ *\d+ (?:LITTLE|big) +(\S+)", out[f"{what}.text"].decode(), re.M)
        tap.ok(f"{name} {what}: what each CPU is in",
               [*says(out, what), *([] if len(now) == 8 and set(now) <= {"running", "WFI", "cpu-sleep"} else [now])])
    tap.ok(f"{name} top by ftrace", says(out, "top-ftrace"))
    tap.ok(f"{name} tmigr run", says(out, "all"))
    report = json.loads(out["all/report.json"])
    seen, whole = judge.windows_of(report, out["all.trace"].decode(), out["boot-trace.txt"].decode())
    took_turns = turns.Turns(whole, True)
    problems, idle, _ = turns.side_by_side(
        recorded(out["all/events.tmr"]), whole, took_turns, seen.start, seen.end)
    tap.ok(f"{name}: sums are exact, nothing is unknown, nothing lost", judge.sums(report))
    tap.ok(f"{name}: the capture's events one by one, at the same time", problems)
    tap.ok(f"{name}: residency is the capture's", judge.residency(report, seen, idle))
    tap.ok(f"{name}: reported again, the same bytes", same_text(out, "all"))
    tap.ok(f"{name} tmigrd: ends by SIGTERM", says(out, "tmigrd"))
    tap.note(report["answer"]["text"])


def prepare(arch):
    """All that the boots share, before there are several at a time."""
    need_qemu(arch)  # what costs least to find missing comes first
    programs(arch)
    host_programs()
    machine.base(arch)


def run_session(board, label, image, session, keep):
    """What there is to say of one boot, whatever becomes of it."""
    tap = Tap()
    name = f"{board.name} {label}"
    judged, append, *events = SESSIONS[session]
    append = append.format(half=board.cpus // 2, last=board.cpus - 1, other=board.cpus - 2)
    try:
        out = boot(tap, f"{name} {session}", board, image, f"{session}.sh", append, *events)
        if out:
            keep_files(keep, f"{name} {session}", out)
            judged(tap, name, out, board)
    except Exception:  # pylint: disable=broad-except
        tap.ok(f"{name} {session}: could be judged", traceback.format_exc().splitlines()[-10:])
    return tap


def plan(board, kernel, only, keep):
    """Yields ((board, kernel, session), function that gives its Tap); where the kernel cannot be had,
    one that says why, of no session."""
    tap = Tap()
    try:
        prepare(board.arch)
        label, image = image_of(kernel, board.arch)
    except packages.Unavailable as e:
        tap.skip(f"{board.name} {kernel}", e)
    except BuildFailed as e:
        tap.ok(f"{board.name} {kernel}: the programs build", [str(e)])
    else:
        old = kernel in OLD_SERIES
        for session in only:
            if (session == "old") == old and (session not in ONE_BOARD or board.name == "rk3576"):
                yield (board.name, label, session), functools.partial(
                    run_session, board, label, image, session, keep)
        return
    yield (board.name, kernel, None), lambda: tap


# One boot each: guest/NAME.sh, what judges it, what the kernel's command line gets, and what the
# boot's trace has beside the hierarchy's events.
SESSIONS = {
    "session": (check_session, ""),
    "late": (check_late, "maxcpus={half}"),
    "isolated": (check_isolated, "isolcpus={last} nohz_full={other}"),
    "programs": (check_programs, ""),
    "changes": (changes.check, ""),  # of the rk3576 alone
    # CLOCK_MONOTONIC goes by the jiffy while the boot brings CPUs up.
    "cycle": (cycle.check, "trace_clock=local", STEP_EVENTS),  # of the rk3576 alone
    "daemon": (check_daemon, ""),
    "sources": (check_sources, ""),
    "old": (check_old, ""),  # of the rk3576 alone, with OLD_SERIES
    "latency": (lambda tap, name, out, _: latency.check(tap, name, out, recorded), ""),
}


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--board", nargs="+", default=["rk3576"])
    parser.add_argument("--kernel", nargs="+", default=["6.12", "7.3"])
    parser.add_argument("--keep")
    parser.add_argument("--only", nargs="+", choices=list(SESSIONS), default=list(SESSIONS))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    if args.jobs < 1:
        sys.exit(f"check: --jobs {args.jobs}: one boot at a time is the least")
    args.board = list(BOARDS) if args.board == ["all"] else args.board
    unknown = [n for n in args.board if n not in BOARDS]
    if unknown:
        sys.exit(f"check: no board {unknown[0]}; there are {', '.join(BOARDS)}")
    args.kernel = [k for name in args.kernel for k in (SERIES if name == "all" else (name,))]
    return args


def main():
    args = arguments()
    # Ended from outside, it takes what it has started along: the boots, these their QEMU.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if len({BOARDS[n].arch for n in args.board}) == 1:  # the reason for all
        try:
            need_qemu(BOARDS[args.board[0]].arch)
        except packages.Unavailable as e:
            print(f"1..0 # SKIP {e}")
            return
    boots = (boot for n in args.board for kernel in args.kernel
             for boot in plan(BOARDS[n], kernel, args.only, args.keep))
    printed = Stream()
    for key, tap in jobs.in_order(boots, args.jobs):
        if isinstance(tap, jobs.Died):
            died, tap = tap, Tap()
            tap.ok(f"{' '.join(key)}: its check ends", [died])
        printed.add(*key, tap)
    printed.end()
    sys.exit(bool(printed.failures))


if __name__ == "__main__":
    main()
