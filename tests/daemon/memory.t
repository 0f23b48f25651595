#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of memory: within the unit's own limit (MemoryMax=) clients that ask for
all that they can get do no harm; where a limit is reached and the kernel kills it,
clients are told by the end of the connection, and the next start works; where it
gets no more memory (a limit on its own data), it says so, to clients and in the
log, and serves on or ends."""

import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import sys
import time

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

UNIT = TESTS.parent / 'systemd/tmigrd.service'
PAGE = resource.getpagesize()


class Cgroup:
    """A group of the memory controller, of version 2 or 1, for what is started in it."""

    def __init__(self, limit):
        unified = pathlib.Path('/sys/fs/cgroup/cgroup.controllers')
        v2 = unified.exists() and 'memory' in unified.read_text().split()
        top = pathlib.Path('/sys/fs/cgroup' if v2 else '/sys/fs/cgroup/memory')
        self.path = top / f'tmigrd-test-{os.getpid()}'
        self.limit = self.path / ('memory.max' if v2 else 'memory.limit_in_bytes')
        self.usage = self.path / ('memory.current' if v2 else 'memory.usage_in_bytes')
        self.peak = self.path / ('memory.peak' if v2 else 'memory.max_usage_in_bytes')
        self.events = self.path / ('memory.events' if v2 else 'memory.oom_control')
        self.path.mkdir()
        try:
            self.limit.write_text(str(limit))
            self.events.read_text()
        except OSError:
            self.path.rmdir()
            raise

    def wrapper(self):
        """Starts a command in it."""
        return ['sh', '-c', f'echo $$ >{self.path}/cgroup.procs && exec "$@"', 'sh']

    def kills(self):
        found = re.search(r'^oom_kill (\d+)', self.events.read_text(), re.M)
        return int(found[1]) if found else None

    def close(self):
        for _ in range(2000):
            with contextlib.suppress(OSError):
                self.path.rmdir()
                return
            time.sleep(0.05)


def unit_limit():
    number, unit = re.search(r'^MemoryMax=(\d+)([KMG])$', UNIT.read_text(), re.M).groups()
    return int(number) << {'K': 10, 'M': 20, 'G': 30}[unit]


def greedy(d, n):
    """Clients that hold what they can: windows, replies that nobody reads, half a
    request of the greatest size."""
    clients = [d.client() for _ in range(n)]
    topology = json.dumps({'method': daemon.OURS + 'Topology'}).encode() + b'\0'
    for i, c in enumerate(clients):
        with contextlib.suppress(daemon.Error):
            for _ in range(4):
                c.call('OpenWindow')
        c.sock.settimeout(0.2)
        with contextlib.suppress(TimeoutError, OSError):
            c.send(topology * 2000 if i % 2 else b'{"method":"' + b'x' * 1000000)
    return clients


def within(t, limit):
    """The limit is the unit's: nothing happens."""
    try:
        group = Cgroup(limit)
    except OSError as e:
        t.skip('in a memory group with the limit of the unit', f'cannot make one: {e}')
        return
    try:
        with daemon.Daemon(wrapper=group.wrapper()) as d:
            held = greedy(d, 200)
            last = d.client()
            t.ok(last.call('Status')['clients'] >= 100,
                 f'MemoryMax={limit >> 20}M: greedy clients are there, and another is served')
            t.same(daemon.check_sums(last.call('Totals')['report']), None, 'with sums that add up')
            t.note(f'{int(group.peak.read_text()) >> 20} MB at most, of {limit >> 20}')
            t.same(group.kills(), 0, 'nobody was killed')
            for c in held:
                c.close()
            t.same(d.stop(), 0, 'SIGTERM: exit 0')
    finally:
        group.close()


def killed(t):
    """A limit that is reached while it runs: the kernel has nothing to give."""
    try:
        group = Cgroup(1 << 30)
    except OSError as e:
        t.skip('a limit that is reached', f'cannot make a memory group: {e}')
        return
    try:
        with daemon.Daemon(wrapper=group.wrapper()) as d:
            c = d.client()
            c.call('Status')
            group.limit.write_text(str(int(group.usage.read_text()) + (1 << 20)))
            held = []
            with contextlib.suppress(daemon.Gone, OSError):
                held = greedy(d, 40)
            told = False
            try:
                c.call('Status')
            except (daemon.Gone, OSError):
                told = True
            if told:
                t.same((d.proc.wait(daemon.TIMEOUT), group.kills()), (-signal.SIGKILL, 1),
                       'a limit that is reached: killed, and clients are told by the end')
            else:
                t.same(d.stop(), 0, 'a limit that is reached: survived')
            with daemon.Daemon(path=d.path) as again:
                t.ok(again.client().call('Status'), 'the next start takes the socket over')
                t.same(again.stop(), 0, 'SIGTERM: exit 0')
            for h in held:
                h.close()
    finally:
        group.close()


def ask(d, method):
    """How a client of its own that asks for it is answered."""
    try:
        c = d.client()
    except ConnectionError:
        return 'ended'
    try:
        c.call(method)
        return 'answered'
    except daemon.Error as e:
        return e.name if re.search(r'[Mm]emory', str(e)) else f'wrong: {e}'
    except (daemon.Gone, ConnectionError):
        return 'cut off'
    finally:
        c.close()


def no_more(t):
    """No memory is given any more: errors that say so; then on with it, or the end."""
    with daemon.Daemon() as d:
        d.status()
        status = pathlib.Path(f'/proc/{d.pid}/status').read_text()
        data = int(re.search(r'^VmData:\s+(\d+)', status, re.M)[1]) << 10
        old = resource.prlimit(d.pid, resource.RLIMIT_DATA)
        resource.prlimit(d.pid, resource.RLIMIT_DATA, (data + PAGE, old[1]))
        asked = ('OpenWindow', 'Totals', 'Hierarchy', 'Status')
        answers = [ask(d, m) for m in asked * 8]
        # As much as it keeps of a request that is not at its end: more than it has, all together.
        held = [d.client() for _ in range(64)]
        for c in held:
            with contextlib.suppress(OSError):
                c.send(b'{"method":"' + b'x' * 16000)
        answers += [ask(d, m) for m in asked]
        t.same([a for a in answers if a.startswith('wrong')], [],
               'no memory: answered, told that there is none, or cut off')
        if d.proc.poll() is None:
            resource.prlimit(d.pid, resource.RLIMIT_DATA, old)
        for c in held:
            c.close()
        try:
            report = d.client().call('Totals')['report']
        except (daemon.Error, daemon.Gone, ConnectionError) as e:
            # Without memory it cannot follow the records, and ends with the next drain.
            t.note(f'no totals any more: {e}')
            t.same(d.proc.wait(daemon.TIMEOUT), 1, 'it ended with an error')
        else:
            t.same(daemon.check_sums(report), None,
                   'when there is some again: served, and the sums add up')
            t.same(d.stop(), 0, 'SIGTERM: exit 0')
        t.ok(re.search('no memory|was told that the engine failed: .*memory', d.messages()), 'the log says what happened',
             d.messages().splitlines())
        t.note(", ".join(sorted(set(answers))))


def main():
    why = daemon.why_not()
    if not why and 'asan' in str(daemon.BUILD):
        why = "a sanitizer's memory is not the daemon's"
    if why:
        skip_all(why)
    t = Tap()
    within(t, unit_limit())
    killed(t)
    no_more(t)
    t.done()


main()
