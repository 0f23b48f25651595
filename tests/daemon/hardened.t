#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigrd under the restrictions of its unit (systemd/tmigrd.service), applied by
tests/programs/confine.c: no systemd has to run here. And what must not suffice:
with less than the unit gives, it ends with a message."""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

UNIT = TESTS.parent / 'systemd/tmigrd.service'
METRICS_UNIT = TESTS.parent / 'systemd/tmigrd-metrics.service'
CONFINE = daemon.BUILD / 'tests/programs/confine'
UID, GID, NOBODY = 977, 976, 65534
ATTACH = 'CAP_BPF CAP_PERFMON'
# LeakSanitizer needs ptrace.
ASAN = daemon.ASAN + ':detect_leaks=0'
CGROUPS = '/sys/fs/cgroup/memory', '/sys/fs/cgroup'


def settings():
    """The unit's [Service] settings; of several, the last."""
    lines = UNIT.read_text().split('[Service]')[1].split('[Install]')[0].splitlines()
    return dict(line.split('=', 1) for line in lines if '=' in line and line[0] != '#')


def caps(names):
    return ['-p', f'CapabilityBoundingSet={names}', '-p', f'AmbientCapabilities={names}']


class Place:
    """A folder under /run (the unit hides /tmp), and what the launcher needs."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix='tmigrd-test.', dir='/run')
        self.path = pathlib.Path(self.dir.name)
        self.path.chmod(0o755)
        self.groups = TESTS / 'confine/syscall-groups'
        if shutil.which('systemd-analyze'):
            self.groups = self.path / 'groups'
            with open(self.groups, 'w', encoding='utf-8') as out:
                subprocess.run(['systemd-analyze', 'syscall-filter', '--no-pager'], stdout=out,
                               check=True)
        self.passwd = self.names('passwd', f'tmigrd:x:{UID}:{GID}::/:/usr/sbin/nologin\n')
        self.group = self.names('group', f'tmigr:x:{GID}:\n')

    def names(self, name, line):
        """/etc/NAME with what sysusers would have added, in the daemon's view only."""
        old = [x for x in pathlib.Path('/etc', name).read_text().splitlines(keepends=True)
               if x.split(':')[0] not in ('tmigr', 'tmigrd')]
        new = self.path / name
        new.write_text(line + ''.join(old))
        return f'{new}:/etc/{name}'

    def command(self, *options, unit=UNIT):
        return [CONFINE, unit, '-g', self.groups, '-b', self.passwd, '-b', self.group, *options,
                '--']


class MemoryLimit:
    """MemoryMax= by a cgroup of our own, where this user may make one."""

    def __init__(self, text):
        self.bytes = int(text.removesuffix('M')) << 20
        self.path = self.why_not = None
        for root in map(pathlib.Path, CGROUPS):
            path = root / f'tmigrd-test.{os.getpid()}'
            with contextlib.suppress(OSError):
                path.mkdir()
                self.path = path
                # Elsewhere than in a cgroup file system it would be a plain folder.
                (path / 'cgroup.procs').read_text()
                self.limit().write_text(str(self.bytes))
                return
            self.remove()
        self.why_not = 'no memory cgroup can be made here'

    def limit(self):
        v1 = self.path / 'memory.limit_in_bytes'
        return v1 if v1.exists() else self.path / 'memory.max'

    def peak(self):
        v1 = self.path / 'memory.max_usage_in_bytes'
        return int((v1 if v1.exists() else self.path / 'memory.peak').read_text())

    def enter(self):
        if self.path:
            (self.path / 'cgroup.procs').write_text('0')

    def remove(self):
        if self.path:
            with contextlib.suppress(OSError):
                self.path.rmdir()
            self.path = None


class Service:
    """The daemon as the service manager would start it."""

    def __init__(self, place, *options, limit=None):
        self.path = place.path / 'tmigrd.sock'
        self.path.unlink(missing_ok=True)
        notify = place.path / 'notify'
        notify.unlink(missing_ok=True)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(str(notify))
        notify.chmod(0o666)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(self.path))
        os.chown(self.path, 0, GID)
        self.path.chmod(0o660)
        listening.listen()
        self.log = tempfile.TemporaryFile(mode='w+')
        # None in the unit, whatever this test itself runs under.
        os.environ.pop('WATCHDOG_USEC', None)
        fd = fcntl.fcntl(listening, fcntl.F_DUPFD, 10)
        self.proc = subprocess.Popen(
            ['bash', '-c', f'exec "$0" "$@" 3<&{fd} {fd}<&-', *place.command(*options),
             daemon.TMIGRD, '--foreground'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log, pass_fds=(fd,),
            preexec_fn=limit.enter if limit else None,
            env={**os.environ, 'ASAN_OPTIONS': ASAN, 'LISTEN_FDS': '1',
                 'NOTIFY_SOCKET': str(notify)})
        listening.close()
        os.close(fd)

    def told(self):
        """What it has told the manager since the last call."""
        found = []
        self.manager.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(self.manager.recv(4096).decode())
        return found

    def wait_ready(self):
        """None, or why it is not."""
        self.manager.settimeout(0.2)
        while self.proc.poll() is None:
            with contextlib.suppress(TimeoutError):
                if self.manager.recv(4096) == b'READY=1':
                    return None
        return f'exit {self.proc.returncode}: {self.messages()}'

    def messages(self):
        self.log.seek(0)
        return self.log.read()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.end()

    def end(self):
        """Its exit status; negative: the signal that killed it."""
        if self.proc.poll() is None:
            self.proc.terminate()
        status = self.proc.wait(daemon.TIMEOUT)
        self.manager.close()
        return status


def process_facts(t, s):
    lines = pathlib.Path(f'/proc/{s.proc.pid}/status').read_text().splitlines()
    facts = {k: v.split() for k, v in (line.split(':', 1) for line in lines)}
    t.same(facts['Uid'] + facts['Gid'], [str(UID)] * 4 + [str(GID)] * 4, 'user and group')
    for which in 'CapPrm', 'CapEff', 'CapInh', 'CapAmb':
        t.same(int(facts[which][0], 16), 0, f'serving: {which} is empty')
    t.same((facts['NoNewPrivs'], facts['Seccomp']), (['1'], ['2']),
           'serving: no new privileges, system calls filtered')
    limits = pathlib.Path(f'/proc/{s.proc.pid}/limits').read_text()
    nofile = next(x for x in limits.splitlines() if x.startswith('Max open files')).split()[3:5]
    t.same(nofile, [settings()['LimitNOFILE']] * 2, 'LimitNOFILE')


def window(t, s, seconds=2):
    c = daemon.Client(s.path)
    w = c.call('OpenWindow')['window']
    subprocess.run(['sleep', str(seconds)], check=True)
    report = c.call('CloseWindow', {'window': w})['report']
    t.same(daemon.check_sums(report), None, 'a window: its sums')
    t.ok(report['window_ns'] >= seconds * 10**9, 'a window: its length', [report['window_ns']])
    c.close()
    return report


def methods(s):
    c = daemon.Client(s.path)
    text = c.call(daemon.SERVICE + 'GetInterfaceDescription',
                  {'interface': daemon.OURS[:-1]})['description']
    c.close()
    return set(re.findall(r'^method (\w+)', text, re.MULTILINE))


def state(t, s):
    c = daemon.Client(s.path)
    asked = {'Status', 'Topology', 'Totals', 'Metrics'}
    for method in sorted(asked):
        t.ok(c.call(method), method)
    error, tree = c.error('Hierarchy')
    t.ok(error == 'NoHierarchy' or tree['tree']['cpus'], 'Hierarchy', [error])
    w = c.call('OpenWindow')['window']
    t.same(daemon.check_sums(c.call('ReadWindow', {'window': w})['report']), None, 'ReadWindow')
    t.ok(c.call('Mark', {'text': 'hardened'})['time_ns'], 'Mark')
    t.same(c.error('NoSuchMethod')[0], daemon.SERVICE + 'MethodNotFound', 'an unknown method')
    c.close()
    return asked | {'Hierarchy', 'ReadWindow', 'Mark'}


def streams(t, s):
    c = daemon.Client(s.path)
    c.ask('Subscribe', {'period_ms': 1000}, more=True)
    first, second = c.take()['report'], c.take()['report']
    t.same(first['start_ns'] + first['window_ns'], second['start_ns'], 'Subscribe: two reports, one after the other')
    c.close()
    c = daemon.Client(s.path)
    c.sock.sendall(b'no JSON\0')
    t.same(c.reply().get('error'), daemon.OURS + 'InvalidRequest', 'what is no request')
    c.close()
    return {'Subscribe'}


def recordings(t, s, place):
    """They go over the connection, for it may open nothing."""
    c = daemon.Client(s.path)
    for method in 'StartRecording', 'DumpFlight':
        name = place.path / 'events.tmr'
        if method == 'StartRecording':
            data, reply = daemon.Recording(s.path).stop(c)
        else:
            c.ask(method, {}, more=True)
            data, reply = c.data()
        name.write_bytes(data)
        done = subprocess.run([daemon.TMIGR, 'report', name], capture_output=True, check=False)
        t.ok(len(data) == reply['bytes'] and done.returncode == 0, f'{method}: a recording',
             [len(data), done.stderr])
    _, reply = daemon.Recording(s.path, 10**9).finish()
    t.same(reply['report']['window_ns'], 10**9, 'one that ends by itself')
    c.close()
    return {'StartRecording', 'StopRecording', 'DumpFlight'}


def who_may(t, s):
    ask = [daemon.TMIGR, 'metrics', '--socket', s.path]
    setpriv = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}']
    cases = (([], True, 'root'), ([*setpriv, f'--groups={GID}'], True, 'a member of the group'),
             ([*setpriv, '--clear-groups'], False, 'somebody else'))
    probe = subprocess.run([*setpriv, '--clear-groups', daemon.TMIGR, '--version'],
                           capture_output=True, check=False)
    for prefix, may, who in cases:
        if prefix and probe.returncode:
            t.skip(f'{who} asks', 'the build cannot be run by others')
            continue
        done = subprocess.run([*prefix, *ask], capture_output=True, text=True, check=False)
        if may:
            t.ok(done.returncode == 0 and done.stdout.endswith('# EOF\n'), f'{who} may ask',
                 [done.stderr])
        else:
            t.ok(done.returncode == 1 and 'lets in only root and the group' in done.stderr, f'{who} may not',
                 [done.stderr])


def metrics_service(t, s, place):
    """The other unit, its folder elsewhere; the folder is another user's."""
    folder = place.path / 'collector'
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    file = folder / 'tmigr.prom'
    ask = [daemon.TMIGR, 'metrics', '--socket', s.path, '--output', file]
    confined = place.command('-k', '-p', f'ReadWritePaths=-{folder}', unit=METRICS_UNIT)
    env = {**os.environ, 'ASAN_OPTIONS': ASAN}
    for what in 'makes the file', 'replaces it':
        before = file.stat().st_ino if file.exists() else None
        done = subprocess.run([*confined, *ask], capture_output=True, env=env, check=False)
        t.ok(done.returncode == 0 and file.stat().st_ino != before, f'metrics service: {what}',
             [done.stderr, done.returncode])
    t.same([p.name for p in folder.iterdir()], ['tmigr.prom'], 'metrics service: nothing else')
    t.ok(file.stat().st_mode & 0o777 == 0o644 and file.read_text().endswith('# EOF\n'),
         'metrics service: whole, and readable by all')
    elsewhere = place.command('-p', 'ReadWritePaths=-/nowhere', unit=METRICS_UNIT)
    done = subprocess.run([*elsewhere, *ask], capture_output=True, text=True, env=env, check=False)
    t.ok(done.returncode == 1 and 'Read-only' in done.stderr,
         'metrics service: writes nowhere else', [done.stderr])


def serving(t, s, place):
    process_facts(t, s)
    report = window(t, s)
    t.ok(report['observer']['bpf_runs'], "the programs' own cost is measured",
         [report['observer']])
    called = {'OpenWindow', 'CloseWindow'} | state(t, s) | streams(t, s)
    called |= recordings(t, s, place)
    t.same(called, methods(s), 'every method was called')
    who_may(t, s)
    metrics_service(t, s, place)
    t.same([x for x in s.told() if 'WATCHDOG' in x], [],
           'without a watchdog the manager is left asleep')


def as_the_unit_says(t, place):
    limit = MemoryLimit(settings()['MemoryMax'])
    with Service(place, '-k', limit=limit) as s:
        if t.same(s.wait_ready(), None, 'ready under the unit; a call not allowed would kill it'):
            serving(t, s, place)
        t.same(s.end(), 0, 'SIGTERM: exit 0')
    if limit.why_not:
        t.skip('MemoryMax', limit.why_not)
    else:
        t.ok(0 < limit.peak() <= limit.bytes // 2, 'MemoryMax leaves room for as much again',
             [f'{limit.peak()} of {limit.bytes}'])
        t.note(f'peak: {limit.peak() >> 20} MB of {limit.bytes >> 20}')
    limit.remove()


def without_the_cost(t, place):
    with Service(place, '-k', *caps(ATTACH)) as s:
        if t.same(s.wait_ready(), None, f'ready with {ATTACH} alone'):
            report = window(t, s, 1)
            t.ok(report['observer']['bpf_runs'] is None, "the programs' own cost is not known",
                 [report['observer']])
        t.same(s.end(), 0, 'and its end')


def too_little(t, place):
    """Each must end it with a message; else the test above proves nothing."""
    calls = settings()['SystemCallFilter'].replace('bpf ', '')
    no_bpf = ['-p', 'SystemCallFilter=@basic-io @file-system @io-event @network-io @signal ' +
              calls]
    for what, options in (('CAP_PERFMON', caps('CAP_BPF')), ('CAP_BPF', caps('CAP_PERFMON')),
                          ('any capability', caps('')),
                          ('bpf(2)', no_bpf)):
        with Service(place, *options) as s:
            why = s.wait_ready()
            errors = [x for x in s.messages().splitlines() if x.startswith('<3>tmigrd: ')]
            t.ok(s.end() == 1 and len(errors) == 1, f'without {what}: exit 1, one error message',
                 [why])
    with Service(place, '-k', *no_bpf) as s:
        s.wait_ready()
        t.same(s.end(), -signal.SIGSYS, 'a call that is not allowed does kill')


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    place = Place()
    probe = subprocess.run([*place.command(), '/bin/true'], capture_output=True, text=True,
                           check=False)
    if probe.returncode and 'is not known here' not in probe.stderr:
        skip_all(f'restrictions cannot be applied here: {probe.stderr.strip()}')
    t = Tap()
    t.ok(not probe.returncode, "the launcher knows all of the unit's settings", [probe.stderr])
    as_the_unit_says(t, place)
    without_the_cost(t, place)
    too_little(t, place)
    t.done()


main()
