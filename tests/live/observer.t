#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the report says about the tool's own cost, against the kernel's books.

The traced command is this script once more. It runs wholly inside the window,
so what the kernel counts for the BPF programs from the command's begin to its
end is the least that the report may say; what is counted from their load to
their end is the most.

The tool's own figures are read from /proc all the time, each reading with the
times before and after it. The report's are taken when an edge is announced,
which is up to 2 ms ahead of it, and the tool does not sleep between the two: so
readings before and after that bound them from both sides. A machine that
stalls makes bounds wide, never wrong; where they are too wide to tell anything
the run is repeated."""

import ctypes
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import live  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

SECONDS = 2.2  # more than two of the tool's drains
RAW_TRACEPOINT = 17
NR_BPF = {'x86_64': 321, 'aarch64': 280}
BPF_PROG_GET_FD_BY_ID = 13
COUNTS = 'switches', 'cpu_ns', 'bpf_ns', 'bpf_runs'
AHEAD_NS = 10_000_000  # an edge is announced less than this before it
TRIES = 6


def pairs(path):
    out = {}
    for line in pathlib.Path(path).read_text().splitlines():
        key, _, value = line.partition(':')
        out[key] = value.strip()
    return out


def programs(pid):
    """{id: (ns, runs)} of the tracing programs a process has open."""
    out = {}
    for fd in pathlib.Path(f'/proc/{pid}/fdinfo').iterdir():
        try:
            info = pairs(fd)
        except OSError:
            continue  # closed meanwhile
        if info.get('prog_type') == str(RAW_TRACEPOINT):
            out[int(info['prog_id'])] = (int(info['run_time_ns']),
                                         int(info['run_cnt']))
    return out


def own(pid):
    """Voluntary switches and then time on a CPU of a process of one thread; of
    one that has ended too, as long as nobody waited for it. The time lacks what
    the process has run since it last got the CPU."""
    return {'switches': int(pairs(f'/proc/{pid}/status')
                            ['voluntary_ctxt_switches']),
            'cpu_ns': int(pathlib.Path(f'/proc/{pid}/schedstat').read_text()
                          .split()[0])}


def books(pid):
    progs = programs(pid)
    return {**own(pid), 'ids': sorted(progs), 'mono': time.monotonic(),
            'cpus': pairs(f'/proc/{pid}/status')['Cpus_allowed_list'],
            'threads': len(os.listdir(f'/proc/{pid}/task')),
            'bpf_ns': sum(ns for ns, _ in progs.values()),
            'bpf_runs': sum(runs for _, runs in progs.values())}


def inside(folder):
    """The traced command."""
    first = books(os.getppid())
    part = folder / 'begin.part'
    part.write_text(json.dumps(first))
    part.rename(folder / 'begin')
    while not (folder / 'go').exists():
        time.sleep(.01)
    time.sleep(SECONDS)
    (folder / 'end').write_text(json.dumps(books(os.getppid())))


def program_fd(prog_id):
    """A descriptor that keeps a program, and its counts, beyond its owner."""
    attr = ctypes.create_string_buffer(prog_id.to_bytes(4, sys.byteorder), 128)
    fd = ctypes.CDLL(None, use_errno=True).syscall(
        NR_BPF[platform.machine()], BPF_PROG_GET_FD_BY_ID, attr, len(attr))
    if fd < 0:
        raise OSError(ctypes.get_errno(), f'program {prog_id}')
    return fd


class Readings:
    """own() of a process, again and again."""

    def __init__(self, pid):
        self.pid = pid
        self.all = []

    def take(self):
        before = time.monotonic_ns()
        counts = own(self.pid)
        self.all.append((before, time.monotonic_ns(), counts))

    def before(self, t):
        """The last one that was over at t, or what a process begins with."""
        zero = {'switches': 0, 'cpu_ns': 0}
        return ([zero] + [c for _, end, c in self.all if end <= t])[-1]

    def after(self, t):
        """The first one that was begun at t or later."""
        return next(c for begin, _, c in self.all if begin >= t)

    def beyond(self, t):
        """The first one after another sleep than that one: its time on a CPU is
        that at t, or more."""
        switches = self.after(t)['switches']
        return next((c for _, _, c in self.all if c['switches'] > switches),
                    self.all[-1][2])

    def bounds(self, start, end):
        """{count: (least, most)} of a window."""
        least, most = self.before(end - AHEAD_NS), self.after(end)
        first = self.before(start - AHEAD_NS)
        return {'switches': (least['switches'] - self.after(start)['switches'],
                             most['switches'] - first['switches']),
                'cpu_ns': (least['cpu_ns'] - self.beyond(start)['cpu_ns'],
                           self.beyond(end)['cpu_ns'] - first['cpu_ns'])}


def ended(tool):
    return os.waitid(os.P_PID, tool.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)


def watch(tool, folder):
    """Reads until the tool ends: (readings, descriptors of its programs)"""
    readings, fds = Readings(tool.pid), []
    while not ended(tool):
        readings.take()
        if not fds and (folder / 'begin').exists():
            begin = json.loads((folder / 'begin').read_text())
            fds = [program_fd(i) for i in begin['ids']]
            (folder / 'go').touch()
        time.sleep(.001)
    readings.take()
    return readings, fds


def traced(folder):
    """(report, books at the command's begin, at its end, bounds)"""
    folder.mkdir()
    tool = subprocess.Popen(
        [live.BUILD / 'tmigr', 'run', '-o', folder / 'run', '--',
         sys.executable, os.path.abspath(__file__), folder],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    readings, fds = watch(tool, folder)
    infos = [pairs(f'/proc/self/fdinfo/{fd}') for fd in fds]
    for fd in fds:
        os.close(fd)
    if tool.wait():
        raise RuntimeError(f'tmigr run: {tool.stderr.read().strip()}')
    report = json.loads((folder / 'run/report.json').read_text())
    begin, end = (json.loads((folder / n).read_text()) for n in ('begin', 'end'))
    bounds = readings.bounds(report['start_ns'],
                             report['start_ns'] + report['window_ns'])
    for key, name in (('bpf_ns', 'run_time_ns'), ('bpf_runs', 'run_cnt')):
        bounds[key] = end[key] - begin[key], sum(int(i[name]) for i in infos)
    return report, begin, end, bounds


def tight(bounds):
    """No count could be twice as high without being seen."""
    return all(0 < least and most < 2 * least for least, most in bounds.values())


def housekeeping(tap):
    """Where the tool is told to run, it says that it ran: the first CPUs and the
    last one."""
    cpus = sorted(os.sched_getaffinity(0))
    for cpu in sorted({*cpus[:2], cpus[-1]}):
        done = subprocess.run(
            [live.BUILD / 'tmigr', 'run', '--json', '--housekeeping', str(cpu),
             '--', 'sh', '-c', 'cat /proc/$PPID/status >&2'],
            capture_output=True, text=True)
        told = json.loads(done.stdout)['observer']['housekeeping_cpu']
        where = next(line.split()[1] for line in done.stderr.splitlines()
                     if line.startswith('Cpus_allowed_list'))
        tap.same((str(told), where), (str(cpu), str(cpu)),
                 f'--housekeeping {cpu}: it ran there, and says so')


def main():
    if os.geteuid() != 0:
        skip_all('needs root')
    if platform.machine() not in NR_BPF:
        skip_all(f'bpf(2) has no number here for {platform.machine()}')
    if subprocess.run([live.BUILD / 'tmigr', 'doctor'],
                      capture_output=True).returncode:
        skip_all('tmigr doctor says that it cannot work here')
    tap = Tap()
    with tempfile.TemporaryDirectory() as tmp, live.load(90):
        for n in range(TRIES):
            report, begin, end, bounds = traced(pathlib.Path(tmp) / str(n))
            if tight(bounds):
                break
            tap.note(f'held up, the bounds say little: {bounds}')
    observer = report['observer']
    told = {'switches': observer['wakeups'], 'cpu_ns': observer['cpu_ns'],
            'bpf_ns': observer['bpf_ns'], 'bpf_runs': observer['bpf_runs']}
    tap.same((begin['threads'], end['threads']), (1, 1), 'the tool is one thread')
    tap.ok(begin['ids'] and begin['ids'] == end['ids'], 'its programs are there')
    for key in COUNTS:
        least, most = bounds[key]
        tap.ok(least <= told[key] <= most,
               f'{key}: the report is between what the kernel counted just '
               'inside the window and just around it',
               [f'{least} <= {told[key]} <= {most}'])
        tap.note(f'{key}: {least} <= {told[key]} <= {most}')
    if not tight(bounds):
        tap.skip('tight bounds', f'the machine was too busy {TRIES} times')
    elapsed = end['mono'] - begin['mono']
    switches = end['switches'] - begin['switches']
    tap.ok(switches <= 4 + 2 * elapsed, 'it wakes about once a second',
           [f'{switches} switches in {elapsed:.1f} s'])
    tap.same((begin['cpus'], end['cpus']),
             (str(observer['housekeeping_cpu']),) * 2,
             'it was bound to the CPU that the report names')
    housekeeping(tap)
    tap.done()


if len(sys.argv) == 2:
    inside(pathlib.Path(sys.argv[1]))
else:
    main()
