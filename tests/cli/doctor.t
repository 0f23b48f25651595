#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigr doctor: its output, exit status and claims, as this user and as others."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TMIGR = os.path.join(os.environ.get("B", "build"), "tmigr")
NAMES = ["kernel", "tmigr-tracepoints", "cpu-idle", "btf", "kallsyms", "tracefs", "ftrace", "privileges",
         "bpf-load", "lockdown", "cpuidle-driver", "capacity", "timer-migration", "isolated",
         "libraries"]
count = failed = 0


def ok(good, name, why=""):
    global count, failed
    count += 1
    failed += not good
    print(("ok" if good else "not ok"), count, "-", name)
    if not good and why:
        print("#", str(why).replace("\n", "\n# "))


def skip(name, reason):
    global count
    count += 1
    print("ok", count, "-", name, "# SKIP", reason)


def run(*args, before=(), prog=TMIGR, **kw):
    kw.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([*before, prog, *args], stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, **kw)


def read(path):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return None


def checks_of(p):
    return {c["name"]: c for c in json.loads(p.stdout)}


def claims():
    """What it says of this machine, against the files themselves."""
    p = run("doctor", "--json")
    array = json.loads(p.stdout)
    c = checks_of(p)
    ok([x["name"] for x in array] == NAMES, "the names are the known ones, in order", p.stdout)
    ok(all(set(x) == {"name", "state", "text", "remedy"} and x["text"] and
           x["state"] in ("ok", "note", "fail") for x in array), "every member is whole", p.stdout)
    ok(all(x["remedy"] for x in array if x["state"] == "fail"), "every failure has a remedy")
    fails = [x["name"] for x in array if x["state"] == "fail"]
    ok(p.returncode == (1 if fails else 0), "exit 0 only without failures", p.returncode)
    ok(p.stderr == "", "nothing on stderr", p.stderr)
    ok(os.uname().release in c["kernel"]["text"], "names the kernel")
    btf = os.access("/sys/kernel/btf/vmlinux", os.R_OK)
    # Where ftrace can measure instead, it is no failure.
    instead = c["ftrace"]["text"].startswith("measures here")
    ok(c["btf"]["state"] == ("ok" if btf else "note" if instead else "fail"), "btf as it is", c["btf"])
    sysctl = read("/proc/sys/kernel/timer_migration")
    ok((c["timer-migration"]["state"] == "ok") == (sysctl == "1"), "timer-migration as it is")
    driver = read("/sys/devices/system/cpu/cpuidle/current_driver") or "none"
    ok("driver " + driver in c["cpuidle-driver"]["text"], "driver as it is", c["cpuidle-driver"])
    events = "/sys/kernel/tracing/events/timer_migration/tmigr_group_set_cpu_active"
    if btf and os.access("/sys/kernel/tracing/events", os.R_OK | os.X_OK):
        ok((c["tmigr-tracepoints"]["state"] != "fail") == os.path.isdir(events),
           "tmigr-tracepoints as tracefs has them", c["tmigr-tracepoints"])
    else:
        skip("tmigr-tracepoints as tracefs has them", "tracefs or BTF is not readable")
    return array


def text_form(array):
    p = run("doctor")
    lines = p.stdout.splitlines()
    words = {"ok": "ok", "note": "note", "fail": "FAIL"}
    same = len(lines) == len(array) + 1 and all(
        line.split()[:2] == [words[c["state"]], c["name"]] and c["text"] in line and
        c["remedy"] in line for line, c in zip(lines, array))
    ok(same, "text and JSON say the same, a line each", p.stdout)
    fails = [c["name"] for c in array if c["state"] == "fail"]
    ok(all(name in lines[-1] for name in fails) and
       lines[-1].startswith("The main job does not" if fails else "The main job works"),
       "the last line is the verdict", p.stdout)
    ok(p.returncode == (1 if fails else 0), "the text form's exit status", p.returncode)


def usage():
    p = run("doctor", "--help")
    ok(p.returncode == 0 and p.stdout.startswith("Usage: tmigr doctor") and not p.stderr,
       "--help on stdout, exit 0", p)
    for args in (["--nonsense"], ["-x"], ["extra"], ["--json=1"]):
        p = run("doctor", *args)
        ok(p.returncode == 2 and not p.stdout and p.stderr.count("\n") == 1 and
           args[0].split("=")[0] in p.stderr, f"refuses {args[0]}: one line, exit 2", p)
    with open("/dev/full", "w") as full:
        for args in ([], ["--json"]):
            p = run("doctor", *args, stdout=full)
            ok(p.returncode == 1 and p.stderr.count("\n") == 1 and "tmigr doctor:" in p.stderr,
               f"a full disk is told {args}", p)


def other_users():
    """nobody; and root's uid with two capabilities only."""
    names = ["nobody fails", "nobody lacks the capabilities", "nobody's program is refused",
             "nobody's stderr is empty", "CAP_BPF and CAP_PERFMON suffice",
             "CAP_BPF alone does not"]
    if os.getuid() != 0 or not shutil.which("setpriv"):
        for name in names:
            skip(name, "needs root and setpriv")
        return
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o755)
        prog = shutil.copy(TMIGR, os.path.join(d, "tmigr"))
        os.chmod(prog, 0o755)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                  "--bounding-set=-all", "--inh-caps=-all"]
        p = run("doctor", "--json", before=nobody, prog=prog)
        c = checks_of(p)
        ok(p.returncode == 1, names[0], p)
        ok(c["privileges"]["state"] == "fail" and "CAP_BPF, CAP_PERFMON" in
           c["privileges"]["text"], names[1], c["privileges"])
        ok(c["bpf-load"]["state"] == "fail" and "privileges" in c["bpf-load"]["remedy"], names[2],
           c["bpf-load"])
        ok(p.stderr == "", names[3], p.stderr)
        mine = checks_of(run("doctor", "--json"))
        p = run("doctor", "--json", prog=prog, before=[
            "setpriv", "--bounding-set=-all,+cap_38,+cap_39", "--inh-caps=-all"])
        c = checks_of(p)
        ok(c["privileges"]["state"] == "ok" and
           c["bpf-load"]["state"] == mine["bpf-load"]["state"], names[4], p)
        p = run("doctor", "--json", prog=prog, before=[
            "setpriv", "--bounding-set=-all,+cap_39", "--inh-caps=-all"])
        c = checks_of(p)
        ok(p.returncode == 1 and c["privileges"]["state"] == "fail" and
           c["bpf-load"]["state"] == "fail", names[5], p)


text_form(claims())
usage()
other_users()
print(f"1..{count}")
sys.exit(1 if failed else 0)
