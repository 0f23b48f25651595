#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The ftrace source on this kernel: what it measures, that it leaves tracefs as it was
on every exit, and what it says where it cannot be had."""

import contextlib
import ctypes
import json
import os
import pathlib
import platform
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import tracefs  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

B = pathlib.Path(os.environ['B'])
TMIGR = str(B / 'tmigr')
LOAD = str(B / 'tests/programs/tm-load')
TRACEFS = tracefs.FOLDER
tap = Tap()


# With a sanitizer a start takes some 20 s on a quiet machine, most of it in copying memory below
# libtracefs, and minutes on a busy one.
WAIT_S = 600


def check(name, good, *details):
    return tap.ok(bool(good), name, details)


def run(*args, **kwargs):
    return subprocess.run(args, capture_output=True, text=True, timeout=WAIT_S, **kwargs)


def instances():
    return sorted(p.name for p in (TRACEFS / 'instances').iterdir() if p.name.startswith('tmigr-'))


def settings(folder):
    """Everything that a tracer sets, as it reads now."""
    names = ['tracing_on', 'trace_clock', 'current_tracer', 'set_event', 'buffer_size_kb', 'buffer_percent',
             'tracing_cpumask', 'trace_options', 'set_event_pid', 'events/enable',
             'events/power/cpu_idle/enable', 'events/timer_migration/enable']
    return {n: (folder / n).read_text() for n in names if (folder / n).exists()}


def gone(mine, seconds=60):
    """Nothing of ours is left within that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not set(instances()) & mine:
            return True
        time.sleep(0.02)
    return False


class Running:
    """tmigr run --source ftrace, once it measures."""

    def __init__(self, *options):
        self.proc = subprocess.Popen([TMIGR, 'run', '--no-daemon', '--source', 'ftrace', '-d', '3600', *options],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        name = f'tmigr-{self.proc.pid}'
        self.mine = {name}
        end = time.monotonic() + WAIT_S
        while not self.measures(TRACEFS / 'instances' / name):
            if self.proc.poll() is not None or time.monotonic() > end:
                raise SystemExit(f'Bail out! {self.proc.args} does not measure: {self.proc.poll()}')
            time.sleep(0.02)

    @staticmethod
    def measures(folder):
        """A new instance is on before it is set up: the clock is set while it is off, and that comes first.
        Its folder is there before its files are."""
        try:
            return ('[mono]' in (folder / 'trace_clock').read_text()
                    and (folder / 'tracing_on').read_text() == '1\n')
        except FileNotFoundError:
            return False

    def guard(self):
        for stat in pathlib.Path('/proc').glob('[0-9]*/stat'):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                pid, name, parent = re.match(r'(\d+) \((.*)\) \S (\d+)', stat.read_text(), re.S).groups()
                if name == 'tmigr-guard' and int(parent) == self.proc.pid:
                    return int(pid)
        return None


def measure(tmp):
    before = settings(TRACEFS)
    done = run(TMIGR, 'run', '--no-daemon', '--source', 'ftrace', '--record', '-o', tmp / 'run', '--json', '--',
               LOAD, '-d', '2', '-p', '1', '-q')
    check('it measures', done.returncode == 0, done.stderr)
    check('settings of the global buffer are what they were', settings(TRACEFS) == before)
    r = json.loads(done.stdout)
    check('the report names the source', r.get('source') == 'ftrace' and r['residency_source'] == 'timeline',
          r.get('source'))
    check('a source that was asked for needs no reason', 'source_why' not in r)
    bad = [c['cpu'] for c in r['cpus']
           if c['running_ns'] + c['offline_ns'] + c['unknown_ns'] + sum(s['time_ns'] for s in c['states'])
           != r['window_ns']]
    check('every CPU\'s times add up to the window', not bad, *bad)
    bad = [x['group'] for x in r['roots']
           if x['held_ns'] + x['handover_ns'] + x['duty_ns'] + x['free_ns'] + x['unknown_ns'] != r['window_ns']]
    check('every root\'s too', not bad, *bad)
    check('records were read', r['observer']['records'] > 0)
    check('nothing was lost', r['lost']['records'] == 0, r['lost'])
    for what in tmp / 'run', tmp / 'run/events.tmr':
        again = run(TMIGR, 'report', '--json', what)
        check(f'{what.name}: the same report, byte for byte', again.stdout == done.stdout, again.stderr)
    text = run(TMIGR, 'report', tmp / 'run').stdout
    check('the text says what is unknown with ftrace', 'measured by ftrace' in text)


def instance():
    """What it sets in its own: no event wakes a reader, and stamps are CLOCK_MONOTONIC's."""
    r = Running()
    name, = r.mine
    folder = TRACEFS / 'instances' / name
    try:
        tap.same((folder / 'buffer_percent').read_text().strip(), '100', 'no reader is woken before a buffer is full')
        check('the clock is mono', '[mono]' in (folder / 'trace_clock').read_text())
        on = {p.parent.name for system in ('power', 'timer_migration')
              for p in (folder / 'events' / system).glob('*/enable') if p.read_text().strip() == '1'}
        check('cpu_idle and the hierarchy\'s events are on there', {'cpu_idle', 'tmigr_group_set_cpu_active'} <= on, on)
        off = {p.parent.name for system in ('sched', 'irq', 'timer')
               for p in (folder / 'events' / system).glob('*/enable') if p.read_text().strip() == '1'}
        check('and no others', not off, off)
    finally:
        r.proc.send_signal(signal.SIGINT)
        r.proc.wait(WAIT_S)


def small_buffer(tmp):
    """Overwritten pages are told of as losses."""
    done = run(TMIGR, 'run', '--no-daemon', '--source', 'ftrace', '--ring-bytes', '4096', '--json', '--',
               LOAD, '-d', '3', '-p', '1', '-q')
    r = json.loads(done.stdout)
    lost = sum(c['records'] for c in r['lost']['cpus'])
    check('losses: those of the CPUs are the sum', lost == r['lost']['records'], r['lost'])
    if r['observer']['records'] + lost < 2000:
        tap.skip('losses are told', 'too few events come on this machine to lose any')
    else:
        check('losses are told', lost > 0, r['lost'], r['observer'])


def busy():
    """A CPU that never idles makes no idle event, and yet is not unknown."""
    cpu = min(os.sched_getaffinity(0))
    load = subprocess.Popen(['taskset', '-c', str(cpu), 'nice', sys.executable, '-c', 'while True: pass'])
    try:
        time.sleep(0.3)
        done = run(TMIGR, 'run', '--no-daemon', '--source', 'ftrace', '-d', '1.5', '--json')
    finally:
        load.kill()
        load.wait()
    c = next(c for c in json.loads(done.stdout)['cpus'] if c['cpu'] == cpu)
    check('a CPU that is busy all the time was running', c['unknown_ns'] == 0 and c['running_ns'] > 1_400_000_000, c)


def exits():
    for name, how in (('SIGINT', [signal.SIGINT]), ('SIGTERM', [signal.SIGTERM]), ('SIGHUP', [signal.SIGHUP]),
                      ('two SIGINTs', [signal.SIGINT] * 2), ('SIGQUIT', [signal.SIGQUIT]),
                      ('SIGSEGV', [signal.SIGSEGV]), ('SIGKILL', [signal.SIGKILL])):
        r = Running()
        there = set(instances()) & r.mine
        for sig in how:
            r.proc.send_signal(sig)
        r.proc.wait(WAIT_S)
        check(f'{name}: the instance was there, and is gone', there and gone(r.mine), instances())
    for verb in 'tree', 'top':
        before = set(instances())
        p = subprocess.Popen([TMIGR, verb, '--no-daemon', '--source', 'ftrace',
                              *(['--watch', '1'] if verb == 'tree' else ['--once', '-d', '30'])],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mine = {f'tmigr-{p.pid}'}
        end = time.monotonic() + WAIT_S
        while not mine & set(instances()) and p.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        there = mine & set(instances()) - before
        p.send_signal(signal.SIGINT)
        p.wait(WAIT_S)
        check(f'{verb}, interrupted: the instance was there, and is gone', there and gone(mine), instances())


def stale():
    r = Running()
    guard = r.guard()
    other = Running()
    named = TRACEFS / 'instances' / f'tmigr-mine{os.getpid()}'
    named.mkdir()
    check('it has a guard', guard)
    if guard:
        os.kill(guard, signal.SIGKILL)
    r.proc.kill()
    r.proc.wait()
    time.sleep(0.3)
    check('killed with its guard, the instance stays', r.mine <= set(instances()))
    run(TMIGR, 'run', '--no-daemon', '--source', 'ftrace', '-d', '0.1')
    check('the next start removes it', gone(r.mine))
    check('but not that of one who runs', other.mine <= set(instances()))
    check('nor one that a user named so', named.is_dir())
    named.rmdir()
    other.proc.send_signal(signal.SIGINT)
    other.proc.wait(WAIT_S)
    check('which removes its own', gone(other.mine))


def other_tracer():
    """Somebody else's instance goes on as if we were not there."""
    theirs = TRACEFS / 'instances' / f'other-{os.getpid()}'
    theirs.mkdir()
    try:
        (theirs / 'events/power/cpu_idle/enable').write_text('1')
        (theirs / 'trace_clock').write_text('boot')
        before = settings(theirs)
        (theirs / 'trace_marker').write_text('before')
        run(TMIGR, 'run', '--no-daemon', '--source', 'ftrace', '-d', '0.5')
        (theirs / 'trace_marker').write_text('after')
        check('another instance keeps its settings', settings(theirs) == before)
        trace = (theirs / 'trace').read_text()
        check('and what it recorded', 'before' in trace and 'after' in trace)
    finally:
        (theirs / 'events/power/cpu_idle/enable').write_text('0')
        theirs.rmdir()


def unmounted():
    done = run('unshare', '-m', 'sh', '-c', f'umount {TRACEFS} && umount -a -t tracefs 2>/dev/null; '
               f'{TMIGR} run --no-daemon --source ftrace -d 1')
    check('without tracefs: what to do is said', done.returncode == 1 and
          'mount -t tracefs nodev /sys/kernel/tracing' in done.stderr, done.stderr)
    done = run('unshare', '-m', 'sh', '-c', f'umount {TRACEFS}; umount -a -t tracefs 2>/dev/null; {TMIGR} tree --boot')
    check('tree --boot too', done.returncode == 1 and 'mount -t tracefs' in done.stderr, done.stderr)


def forbid_bpf():
    """In a child: bpf(2) is not there (ENOSYS), as in a kernel without CONFIG_BPF_SYSCALL."""
    number = {'x86_64': 321, 'aarch64': 280}[platform.machine()]
    steps = [(0x20, 0, 0, 0),            # the call's number
             (0x15, 0, 1, number),       # is it that?
             (0x06, 0, 0, 0x00050026),   # fails with ENOSYS
             (0x06, 0, 0, 0x7fff0000)]   # allowed
    code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *s) for s in steps))
    program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(steps), ctypes.addressof(code)))
    if ctypes.CDLL(None).prctl(22, 2, ctypes.byref(program), 0, 0):  # PR_SET_SECCOMP, a filter
        os._exit(99)


def no_bpf_syscall():
    """A kernel with BTF and without BPF."""
    if platform.machine() not in ('x86_64', 'aarch64'):
        tap.skip('without bpf(2)', 'its number is not known here')
        return
    done = run(TMIGR, 'run', '--no-daemon', '-d', '0.3', '--json', preexec_fn=forbid_bpf)
    r = json.loads(done.stdout) if done.returncode == 0 else {}
    check('without bpf(2) it is chosen by itself, with the reason', r.get('source') == 'ftrace' and
          r.get('source_why'), done.returncode, done.stderr, r.get('source_why'))
    tap.note(r.get('source_why'))


def no_bpf():
    """A kernel without BTF: ftrace by itself, and it says why."""
    hide = 'mount -t tmpfs none /sys/kernel/btf && '
    done = run('unshare', '-m', 'sh', '-c', f'{hide}{TMIGR} run --no-daemon -d 0.3 --json')
    r = json.loads(done.stdout) if done.returncode == 0 else {}
    check('without BTF it is chosen by itself, with the reason', r.get('source') == 'ftrace' and
          'BTF' in r.get('source_why', ''), done.stderr, r.get('source_why'))
    done = run('unshare', '-m', 'sh', '-c', f'{hide}{TMIGR} run --no-daemon -d 0.3 --source bpf')
    check('--source bpf does not give way', done.returncode == 1 and 'BTF' in done.stderr, done.stderr)
    # debugfs has a second place for it, which may be mounted, or mounts itself.
    gone = 'umount -a -t tracefs; umount -l /sys/kernel/debug 2>/dev/null'
    done = run('unshare', '-m', 'sh', '-c', f'{hide}{gone}; {TMIGR} run --no-daemon -d 0.3')
    check('with neither, both reasons are said in one line', done.returncode == 1 and 'BTF' in done.stderr and
          'tracefs' in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr)
    done = run('unshare', '-m', 'sh', '-c', f'{hide}{TMIGR} doctor')
    check('doctor says that ftrace does it, and what is lost', done.returncode == 0 and
          'ftrace' in done.stdout, done.stdout, done.stderr)


def main():
    if os.geteuid() != 0:
        skip_all('needs root')
    if not tracefs.is_there():
        skip_all('no tracefs here')
    with tempfile.TemporaryDirectory() as folder:
        measure(pathlib.Path(folder))
        instance()
        small_buffer(pathlib.Path(folder))
    busy()
    exits()
    stale()
    other_tracer()
    unmounted()
    no_bpf()
    no_bpf_syscall()
    tap.done()


main()
