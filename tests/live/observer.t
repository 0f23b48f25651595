#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the report says about the tool's own cost, against the kernel's books.

The traced command is this script once more. It runs wholly inside the window,
so what /proc counts for the tool from the command's begin to its end is the
least that the report may say; what is counted from the tool's start to its end
is the most. No clock is involved."""

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
    """Voluntary switches and time on a CPU of a process of one thread; of one
    that has ended too, as long as nobody waited for it."""
    return {'switches': int(pairs(f'/proc/{pid}/status')
                            ['voluntary_ctxt_switches']),
            'cpu_ns': int(pathlib.Path(f'/proc/{pid}/schedstat').read_text()
                          .split()[0])}


def books(pid):
    progs = programs(pid)
    return {**own(pid), 'ids': sorted(progs), 'mono': time.monotonic(),
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


def traced(folder):
    """(report, books at the command's begin, at its end, at the tool's end)"""
    tool = subprocess.Popen(
        [live.BUILD / 'tmigr', 'run', '-o', folder / 'run', '--',
         sys.executable, os.path.abspath(__file__), folder],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (folder / 'begin').exists():
        if os.waitid(os.P_PID, tool.pid,
                     os.WEXITED | os.WNOHANG | os.WNOWAIT):
            raise RuntimeError(f'tmigr run: {tool.stderr.read().strip()}')
        time.sleep(.01)
    begin = json.loads((folder / 'begin').read_text())
    fds = [program_fd(i) for i in begin['ids']]
    (folder / 'go').touch()
    os.waitid(os.P_PID, tool.pid, os.WEXITED | os.WNOWAIT)
    all_ = own(tool.pid)
    infos = [pairs(f'/proc/self/fdinfo/{fd}') for fd in fds]
    all_['bpf_ns'] = sum(int(i['run_time_ns']) for i in infos)
    all_['bpf_runs'] = sum(int(i['run_cnt']) for i in infos)
    for fd in fds:
        os.close(fd)
    tool.wait()
    if tool.returncode:
        raise RuntimeError(f'tmigr run: {tool.stderr.read().strip()}')
    report = json.loads((folder / 'run/report.json').read_text())
    return report, begin, json.loads((folder / 'end').read_text()), all_


def main():
    if os.geteuid() != 0:
        skip_all('needs root')
    if platform.machine() not in NR_BPF:
        skip_all(f'bpf(2) has no number here for {platform.machine()}')
    if subprocess.run([live.BUILD / 'tmigr', 'doctor'],
                      capture_output=True).returncode:
        skip_all('tmigr doctor says that it cannot work here')
    tap = Tap()
    with tempfile.TemporaryDirectory() as tmp, live.load(60):
        report, begin, end, all_ = traced(pathlib.Path(tmp))
    observer = report['observer']
    told = {'switches': observer['wakeups'], 'cpu_ns': observer['cpu_ns'],
            'bpf_ns': observer['bpf_ns'], 'bpf_runs': observer['bpf_runs']}
    tap.same((begin['threads'], end['threads']), (1, 1), 'the tool is one thread')
    tap.ok(begin['ids'] and begin['ids'] == end['ids'], 'its programs are there')
    for key in COUNTS:
        least, most = end[key] - begin[key], all_[key]
        tap.ok(0 < least <= told[key] <= most,
               f'{key}: the report is between what the kernel counted for the '
               'command and for the whole',
               [f'{least} <= {told[key]} <= {most}'])
        tap.note(f'{key}: {least} <= {told[key]} <= {most}')
    elapsed = end['mono'] - begin['mono']
    switches = end['switches'] - begin['switches']
    tap.ok(switches <= 4 + 2 * elapsed, 'it wakes about once a second',
           [f'{switches} switches in {elapsed:.1f} s'])
    tap.done()


if len(sys.argv) == 2:
    inside(pathlib.Path(sys.argv[1]))
else:
    main()
