#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that mean harm: what they pass, and how they go, at the worst moment."""

import fcntl
import grp
import os
import pathlib
import resource
import signal
import sys

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

HELD_MAX = 96 << 20  # CLIENTS_HELD_MAX
READERS = 40
F_SETPIPE_SZ = 1031


def wait_for_flight(d):
    while not d.status()['flight']['from_ns']:
        pass


def fill(fd):
    os.set_blocking(fd, False)
    try:
        while True:
            os.write(fd, b'x' * 4096)
    except BlockingIOError:
        pass


def waiting_dump(d):
    """A client whose dump waits for room in a pipe, and the pipe's reading end."""
    c = d.client()
    read, write = os.pipe()
    fill(write)
    c.ask('DumpFlight', {}, fds=[write])
    os.close(write)
    d.status()
    d.status()
    return c, read


def gone_in_a_transfer(t, d):
    """Both ends of it are seen in one round, in either order."""
    for k in range(4):
        c, read = waiting_dump(d)
        os.kill(d.pid, signal.SIGSTOP)
        for close in (c.close, lambda: os.close(read))[::1 if k % 2 else -1]:
            close()
        os.kill(d.pid, signal.SIGCONT)
        d.status()
    t.ok(d.status(), 'a client that goes with its pipe: the daemon goes on')


def blocking_pipes(t, d, tmp):
    """The client owns O_NONBLOCK too; the daemon must not wait whatever it does."""
    path = os.path.join(tmp, 'fifo')
    os.mkfifo(path)
    read = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write = os.open(path, os.O_WRONLY)
    c = d.client()
    t.same(c.error('DumpFlight', {}, fds=[write])[0], 'BadDescriptor', 'a named pipe is refused')
    os.close(read)
    os.close(write)
    read, write = os.pipe()
    with open('/etc/passwd', 'rb', buffering=0) as f:
        try:
            os.splice(f.fileno(), write, 100)
        except (OSError, AttributeError):
            pass
    fcntl.fcntl(write, F_SETPIPE_SZ, 4096)
    c.ask('DumpFlight', {}, fds=[write])
    d.status()
    t.ok(not fcntl.fcntl(write, fcntl.F_GETFL) & os.O_NONBLOCK,
         "a pipe's O_NONBLOCK is left alone")
    os.close(write)
    os.close(read)
    c.close()
    t.ok(d.status(), 'and the daemon goes on')


def strange(t, d, tmp):
    """Descriptors that are none to write to: an error, and the connection goes on."""
    path = os.path.join(tmp, 'file')
    pathlib.Path(path).write_text('x')
    c = d.client()
    opened = {what: os.open(name, flags) for what, name, flags in (
        ('a directory', tmp, os.O_RDONLY),
        ('/dev/full', '/dev/full', os.O_WRONLY),
        ('a read-only file', path, os.O_RDONLY),
        ('an O_PATH descriptor', path, os.O_PATH),
        ('an O_SYNC file', path, os.O_WRONLY | os.O_SYNC))}
    opened['the connection itself'] = c.sock.fileno()
    for what, fd in opened.items():
        for method in 'DumpFlight', 'StartRecording':
            t.same(c.error(method, {}, fds=[fd])[0], 'BadDescriptor', f'{method}: {what}')
    for what, fd in opened.items():
        if fd != c.sock.fileno():
            os.close(fd)
    read, write = os.pipe()
    os.close(read)
    t.same(c.error('DumpFlight', {}, fds=[write])[0], 'WriteFailed', 'a pipe without a reader')
    os.close(write)
    t.ok(c.call('Status'), 'and the connection goes on')
    c.close()


def files_in_memory(t):
    """A tmpfs file's pages count as the daemon's memory: not for everybody."""
    try:
        gid = grp.getgrnam('tmigr').gr_gid
    except KeyError:
        t.skip('a file in memory, of another than root', 'no group tmigr on this machine')
        return
    with daemon.Daemon() as d:
        wait_for_flight(d)
        pid = os.fork()
        if not pid:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(65534)
            fd = os.memfd_create('x')
            os._exit(d.client().error('DumpFlight', {}, fds=[fd])[0] != 'BadDescriptor')
        t.same(os.waitpid(pid, 0)[1], 0, 'a file in memory, of another than root: refused')


def together(t, d):
    """Each within its own bound, but all of them too much: marks make answers large."""
    c = d.client()
    for _ in range(1024):
        c.ask('Mark', {'text': '\x01' * 1024}, oneway=True)
    before = c.call('Status')
    large = len(d.client().call('Totals')['report']['marks'])
    t.same(large, 1024, 'an answer of 6 MB')
    mute = [d.client() for _ in range(READERS)]
    for m in mute:
        m.ask('Totals')
    while c.call('Status')['requests'] < before['requests'] + 2 * READERS:
        pass  # each of these is one, too; those of all others come in between
    during = c.call('Status')
    t.ok(during['clients_cut_off'] > before['clients_cut_off'], 'some are cut off', [str(during)])
    grown = during['resident_bytes'] - before['resident_bytes']
    # And one answer in the making: its JSON and its text.
    t.ok(grown < HELD_MAX + (64 << 20), 'memory is bounded over all clients', [f'{grown} bytes'])
    t.note(f"{READERS} answers of 6 MB not read: {grown >> 20} MB more, "
           f"{during['clients_cut_off']} cut off")
    for m in mute:
        m.close()
    c.close()


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    t = Tap()
    with daemon.Daemon() as d:
        wait_for_flight(d)
        gone_in_a_transfer(t, d)
        blocking_pipes(t, d, d.dir.name)
        strange(t, d, d.dir.name)
        together(t, d)
        t.same(d.stop(), 0, 'SIGTERM: exit 0')
        t.ok('ERROR: ' not in d.messages() and 'runtime error' not in d.messages(),
             'no complaint', d.messages().splitlines())
    files_in_memory(t)
    t.done()


main()
