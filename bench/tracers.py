# SPDX-License-Identifier: GPL-2.0-or-later
"""The tracers that bench/run compares, and how one of them is run and watched.

A tracer gets as its command not the load but a gate: a shell that says "ready"
and then waits.  So the load runs when tracing has begun and no longer while the
tracer starts or writes its file; its own cost over the load is the difference
of two samples of its processes, and its cost in all is what wait4() says.
"""
import glob
import json
import os
import select
import shutil
import signal
import subprocess
import time

GATE = 'echo $$ >"$0.ready"; read go <"$0.go"'
READY_TIMEOUT_S = 20
STOP_TIMEOUT_S = 30


class Failed(Exception):
    """A tracer or the load did not work; the text says why, in one line."""


def last_line(text, otherwise):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else otherwise


def same_events(tracefs):
    """What `tmigr` attaches to, as "system:event": the peers get the same.

    All of timer_migration but tmigr_update_events, which the model does not need.
    """
    names = sorted(os.listdir(tracefs + "/events/timer_migration"))
    return ["power:cpu_idle", "power:cpu_idle_miss"] + [
        "timer_migration:" + n for n in names
        if n.startswith("tmigr_") and n != "tmigr_update_events"]


# ---- watching processes ----

def process_tree(root, without):
    """Process numbers of @root and all below it, without @without and below."""
    children = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.split("/")[2]))
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        if pid != without:
            found.append(pid)
            todo += children.get(pid, [])
    return found


def thread_cost(path):
    """(CPU time in ns, voluntary switches) of one thread so far."""
    with open(path + "/schedstat") as f:
        cpu_ns = int(f.read().split()[0])
    with open(path + "/status") as f:
        for line in f:
            if line.startswith("voluntary_ctxt_switches:"):
                return cpu_ns, int(line.split()[1])
    raise OSError("no voluntary_ctxt_switches in " + path)


def tracer_cost(root, gate):
    cpu_ns = switches = 0
    for pid in process_tree(root, gate):
        for path in glob.glob(f"/proc/{pid}/task/[0-9]*"):
            try:
                cost = thread_cost(path)
            except OSError:
                continue  # gone meanwhile
            cpu_ns += cost[0]
            switches += cost[1]
    return cpu_ns, switches


# ---- the gate ----

class Gate:
    def __init__(self, folder):
        self.path = folder + "/gate"
        for name in ("ready", "go"):
            os.mkfifo(f"{self.path}.{name}")
        # Opened for both directions, so that neither side waits for the other.
        self.ready = os.open(self.path + ".ready", os.O_RDWR | os.O_CLOEXEC)
        self.go = os.open(self.path + ".go", os.O_RDWR | os.O_CLOEXEC)

    def command(self):
        return ["sh", "-c", GATE, self.path]

    def wait_ready(self, tracer):
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            if select.select([self.ready], [], [], 0.05)[0]:
                return int(os.read(self.ready, 64))
            if os.waitid(os.P_PID, tracer.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                raise Failed("ended before it began to trace")
        raise Failed(f"did not begin to trace within {READY_TIMEOUT_S} s")

    def open(self):
        os.write(self.go, b"\n")

    def close(self):
        for fd in (self.ready, self.go):
            os.close(fd)
        for name in ("ready", "go"):
            os.unlink(f"{self.path}.{name}")


def reap(tracer):
    """Waits for the end; kills what does not end.  Returns (status, rusage)."""
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while True:
        pid, status, usage = os.wait4(tracer.pid, os.WNOHANG)
        if pid:
            tracer.returncode = os.waitstatus_to_exitcode(status)
            return tracer.returncode, usage
        if time.monotonic() > deadline:
            tracer.send_signal(signal.SIGKILL)
        time.sleep(0.01)


def busy_ns():
    """CPU time used by anybody so far, all CPUs; by the tick, so a rough figure."""
    with open("/proc/stat") as f:
        user, nice, system, _idle, _iowait, irq, softirq = map(int, f.readline().split()[1:8])
    return (user + nice + system + irq + softirq) * 10**9 // os.sysconf("SC_CLK_TCK")


def run_load(load):
    """What the load says, and "busy_ns": what all CPUs were busy meanwhile."""
    before = busy_ns()
    r = subprocess.run(load, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        raise Failed("the load: " + last_line(r.stderr, f"exit status {r.returncode}"))
    return {**json.loads(r.stdout), "busy_ns": busy_ns() - before}


# ---- the tracers ----

class Untraced:
    def __init__(self, name):
        self.name = name

    def run(self, load, _folder):
        return {"load": run_load(load)}


class Tracer:
    """One tool with its options; @command(folder) without the gate.

    @told(folder): what the tool says of itself, where it says something:
    {"events", "lost"}, and "bpf_ns", "bpf_runs" of a tool that knows.
    """

    def __init__(self, name, command, told=None):
        self.name = name
        self.command = command
        self.told = told

    def run(self, load, folder):
        gate = Gate(folder)
        log = open(folder + "/stderr", "w+")
        begun = time.monotonic()
        with open(folder + "/stdout", "w") as out:
            tracer = subprocess.Popen(self.command(folder) + gate.command(), stdout=out,
                                      stdin=subprocess.DEVNULL, stderr=log)
        status = usage = None
        try:
            gate_pid = gate.wait_ready(tracer)
            start_s = time.monotonic() - begun
            time.sleep(0.1)  # what it still does after starting its command
            before = tracer_cost(tracer.pid, gate_pid)
            result = run_load(load)
            after = tracer_cost(tracer.pid, gate_pid)
            gate.open()
            stopped = time.monotonic()
            status, usage = reap(tracer)
        except Failed as e:
            if tracer.returncode is None:
                gate.open()
                reap(tracer)
            log.seek(0)
            raise Failed(f"{e}: " + last_line(log.read(), "no message")) from None
        finally:
            gate.close()
            log.seek(0)
            message = log.read()
            log.close()
        if status:
            raise Failed(last_line(message, f"exit status {status}"))
        return {
            "load": result,
            "tracer_cpu_ns": after[0] - before[0],
            "tracer_wakeups": after[1] - before[1],
            "tracer_total_cpu_ns": round((usage.ru_utime + usage.ru_stime) * 1e9),
            "tracer_start_s": round(start_s, 3),
            "tracer_stop_s": round(time.monotonic() - stopped, 3),
            "told": self.told(folder) if self.told else {},
        }


def options_of(tmigr):
    r = subprocess.run([tmigr, "run", "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       text=True)
    return r.stdout if r.returncode == 0 else ""


def told_by_tmigr(folder):
    with open(folder + "/stdout") as f:
        report = json.load(f)
    observer = report["observer"]
    told = {"events": observer["records"], "lost": report["lost"]["records"]}
    if observer["bpf_runs"]:
        told.update(bpf_ns=observer["bpf_ns"], bpf_runs=observer["bpf_runs"])
    return told


def own_tracers(build, missing):
    """`tmigr run` in its ways."""
    tmigr = build + "/tmigr"
    if not os.access(tmigr, os.X_OK):
        missing.append({"tracer": "tmigr run", "why": tmigr + " is not built"})
        return []
    run = [tmigr, "run", "--json"]
    tracers = []
    for name, option in (("tmigr residency only", "--no-timeline"),
                         ("tmigr run --no-stats", "--no-stats")):
        if option in options_of(tmigr):
            tracers.append(Tracer(name, lambda d, o=option: [*run, o, "--"], told_by_tmigr))
        else:
            missing.append({"tracer": name, "why": "tmigr run has no option for it"})
    return tracers + [
        Tracer("tmigr run", lambda d: [*run, "--"], told_by_tmigr),
        Tracer("tmigr run --record",
               lambda d: [*run, "--record", "-o", d + "/run", "--"], told_by_tmigr),
    ]


def perf_tracer(events, missing):
    perf = shutil.which("perf")
    if not perf:
        missing.append({"tracer": "perf record", "why": "perf is not installed (Debian: linux-perf)"})
        return []
    selected = [arg for e in events for arg in ("-e", e)]
    return [Tracer("perf record", lambda d: [perf, "record", "-q", "-a", "-o", d + "/perf.data",
                                             *selected, "--"])]


def ftrace_tracers(build, events, folder, missing):
    """trace-cmd where it may record, else what stands in for it."""
    selected = [arg for e in events for arg in ("-e", e)]
    trace_cmd = shutil.which("trace-cmd")
    why = "trace-cmd is not installed (Debian: trace-cmd)"
    if trace_cmd:
        r = subprocess.run([trace_cmd, "record", "-o", folder + "/probe.dat", "-e", events[0],
                            "true"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if r.returncode == 0:
            return [Tracer("trace-cmd record",
                           lambda d: [trace_cmd, "record", "-o", d + "/trace.dat", *selected])]
        why = "may not record here: " + " ".join(r.stderr.split())
    missing.append({"tracer": "trace-cmd record",
                    "why": why + "; ftrace-drain stands in for it"})
    drain = build + "/bench/ftrace-drain"

    def told(d):
        with open(d + "/drain.json") as f:
            stats = json.load(f)
        return {"events": stats["events"], "lost": stats["lost"]}

    return [Tracer("ftrace drained each ms",
                   lambda d: [drain, "-o", d + "/drain.json", *selected, "--"], told)]


def all_tracers(build, tracefs, folder):
    """(tracers in the table's order, [{tracer, why}] of those that are missing)"""
    missing = []
    tracers = [Untraced("untraced"), Untraced("untraced again")]
    if os.geteuid() != 0:
        missing.append({"tracer": "all of them", "why": "tracing needs root"})
        return tracers, missing
    tracers += own_tracers(build, missing)
    if not os.path.isdir(tracefs + "/events/timer_migration"):
        missing.append({"tracer": "perf record, trace-cmd record",
                        "why": "this kernel has no timer_migration tracepoints (or no tracefs at "
                               + tracefs + ")"})
        return tracers, missing
    events = same_events(tracefs)
    tracers += perf_tracer(events, missing)
    tracers += ftrace_tracers(build, events, folder, missing)
    return tracers, missing
