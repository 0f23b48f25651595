#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`run --latency` on this kernel: every idle interval has one cause, sums agree with
residency's, a pinned sleeper's wake-ups are its own timer's and no later than it
says itself, a pinned pair's come from each other; and without the option nothing of
it is loaded."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

from tap import Tap, skip_all  # noqa: E402

BUILD = pathlib.Path(os.environ.get('B', 'build'))
TMIGR = BUILD / 'tmigr'
SECONDS = 2
SLEEP_NS = 4_000_000
RAW_TRACEPOINT = '17'

tap = Tap()


def run(folder, *args):
    argv = [TMIGR, 'run', '--no-daemon', '--latency', '-d', str(SECONDS), '--record', '-o', folder, *args]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def report_of(folder):
    return json.loads((folder / 'report.json').read_text())


def causes(states):
    out = {}
    for s in states:
        for w in s['wakeups']:
            out[w['cause']] = out.get(w['cause'], 0) + w['count']
    return out


def of_cpu(report, cpu):
    return next(c['states'] for c in report['latency']['cpus'] if c['cpu'] == cpu)


def sums(report, what):
    """Entries, causes and details, by CPU and by class."""
    bad = []
    residency = {(c['cpu'], s['index']): s['entries'] for c in report['cpus'] for s in c['states'] if s['entries']}
    lat = report['latency']
    ours = {(c['cpu'], s['index']): s['entries'] for c in lat['cpus'] for s in c['states'] if s['entries']}
    for of in lat['cpus'] + lat['classes']:
        for s in of['states']:
            n = sum(w['count'] for w in s['wakeups'])
            if s['entries'] + s['open_start'] != n + s['open_end']:
                bad.append(f'{of}: {n} causes')
            parts = sum(d['count'] for d in s['irqs'] + s['remote']) + s['detail_lost']
            if parts != sum(causes([s]).get(k, 0) for k in ('device-irq', 'remote-duty')):
                bad.append(f'{of}: {parts} in details')
            for kind in 'entry', 'tmigr', 'wake':
                d = s[kind]
                if sum(d['hist']) != d['n'] or (d['n'] and not d['p50_ns'] <= d['p99_ns'] <= d['max_ns']):
                    bad.append(f'{of}: {kind}: {d}')
    for c in lat['classes']:
        cpus = [x for x in lat['cpus'] if x['class'] == c['class']]
        if causes(c['states']) != causes([s for x in cpus for s in x['states']]):
            bad.append(f'class {c["class"]}: not the sum of its CPUs')
    tap.ok(not bad, f'{what}: every interval has one cause, in every sum', bad)
    tap.same(ours, residency, f'{what}: entries are those of residency')


def again(folder, text, what):
    for source in folder, folder / 'events.tmr':
        done = subprocess.run([TMIGR, 'report', source], capture_output=True, text=True)
        tap.ok(done.stdout == text, f'{what}: reported again, the same bytes ({source.name})', [done.stderr])


def sleeper(cpu, stop, late):
    """How late clock_nanosleep() came back, ns."""
    os.sched_setaffinity(0, [cpu])
    while not stop.is_set():
        due = time.monotonic_ns() + SLEEP_NS
        time.sleep(SLEEP_NS / 1e9)
        late.append(max(0, time.monotonic_ns() - due))


def measured_sleeper(folder, cpu):
    late, stop = [], threading.Event()
    thread = threading.Thread(target=sleeper, args=(cpu, stop, late))
    tool = run(folder)
    thread.start()
    text = tool.communicate()[0]
    stop.set()
    thread.join()
    return text, late


def check_sleeper(tmp, cpu):
    text, late = measured_sleeper(tmp / 'sleeper', cpu)
    report = report_of(tmp / 'sleeper')
    sums(report, 'sleeper')
    again(tmp / 'sleeper', text, 'sleeper')
    states = of_cpu(report, cpu)
    got = causes(states)
    n = sum(got.values())
    wake = [s['wake'] for s in states if s['wake']['n']]
    if n < 20 or not wake:
        tap.skip('a sleeper is woken by its own timer', f'the CPU was idle {n} times: the machine is too busy')
        tap.skip('no wake-up comes later than its sleeper says', 'too busy')
        return
    tap.ok(got.get('own-timer', 0) > 0, 'a sleeper is woken by its own timer', [got])
    late.sort()
    # A sleeper is late by its wake-up's latency, and by the way from there to it.
    fastest = min(2**next(i for i, k in enumerate(w['hist']) if k) for w in wake)
    tap.ok(fastest <= late[len(late) // 2] * 2, 'wake latencies begin below what the sleeper itself has seen',
           [f'{fastest} ns', late[:5], wake])
    tap.note(f'sleeper late by {late[len(late) // 2]} ns (median); wake {wake}')


def ping(cpus, stop):
    """A byte to and fro between two pinned processes, with pauses in which both sleep."""
    there, back = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        os.sched_setaffinity(0, [cpus[1]])
        os.close(there[1])
        while os.read(there[0], 1):
            os.write(back[1], b'x')
        os._exit(0)
    os.close(there[0])
    os.sched_setaffinity(0, [cpus[0]])
    n = 0
    while not stop.is_set():
        os.write(there[1], b'x')
        os.read(back[0], 1)
        time.sleep(0.001)
        n += 1
    os.close(there[1])
    os.waitpid(child, 0)
    return n


def check_pair(tmp, cpus):
    stop = threading.Event()
    tool = run(tmp / 'pair')
    thread = threading.Thread(target=ping, args=(cpus, stop))
    thread.start()
    tool.communicate()
    stop.set()
    thread.join()
    report = report_of(tmp / 'pair')
    sums(report, 'pair')
    got = causes(of_cpu(report, cpus[1]))
    if sum(got.values()) < 20:
        tap.skip('a pair wakes each other', f'the CPU was idle {sum(got.values())} times: too busy')
        return
    tap.ok(sum(got.get(k, 0) for k in ('reschedule-ipi', 'call-ipi', 'polled')) > 0, 'a pair wakes each other', [got])


def loaded(folder, *args):
    """Tags of the tracing programs that a run has open, and how many of each."""
    begun = folder / 'begun'
    proc = subprocess.Popen([TMIGR, 'run', '--no-daemon', *args, '--', 'sh', '-c', f'touch {begun}; exec sleep 3600'],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tags = []
    while proc.poll() is None and not begun.exists():
        time.sleep(0.02)
    for fd in pathlib.Path(f'/proc/{proc.pid}/fdinfo').iterdir():
        try:
            info = dict(line.split(':', 1) for line in fd.read_text().splitlines() if ':' in line)
        except OSError:
            continue
        if info.get('prog_type', '').strip() == RAW_TRACEPOINT:
            tags.append(info['prog_tag'].strip())
    begun.unlink()
    proc.terminate()
    proc.wait()
    return tags


def check_off(tmp):
    """A program's tag is a hash of its instructions."""
    off, on = loaded(tmp), loaded(tmp, '--latency')
    rest = list(on)
    gone = [t for t in off if t not in rest or rest.remove(t)]
    tap.ok(len(gone) == 1, 'without --latency the programs are the same but that of cpu_idle', [off, on])
    tap.ok(len(on) > len(off) + 5, 'with it there are more', [off, on])


def main():
    if os.geteuid():
        skip_all('needs root')
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip_all('needs two CPUs')
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        tool = run(tmp / 'probe')
        _, err = tool.communicate()
        if tool.returncode:
            skip_all(err.strip() or 'cannot trace here')
        check_sleeper(tmp, cpus[-1])
        check_pair(tmp, (cpus[0], cpus[-1]))
        check_off(tmp)
    done = subprocess.run([TMIGR, 'run', '--latency', '--source', 'ftrace', '-d', '1'], capture_output=True, text=True)
    tap.ok(done.returncode == 1 and 'BPF' in done.stderr, 'by ftrace: refused', [done.returncode, done.stderr])
    tap.done()


main()
