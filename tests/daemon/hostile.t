#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that mean harm: what they pass, and how they go, at the worst moment."""

import array
import json
import os
import pathlib
import resource
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

HELD_MAX = 96 << 20  # CLIENTS_HELD_MAX
READERS = 100


def wait_for_flight(d):
    while not d.status()['flight']['from_ns']:
        pass


class HungFile:
    """A file that can be opened; after hang() all who ask of it wait for its server."""

    def __init__(self, folder):
        self.folder, self.why_not = folder, None
        self.server = subprocess.Popen([sys.executable, TESTS / 'oracle/hungfs.py', folder],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.server.stdout.readline() != 'mounted\n':
            self.why_not = self.server.communicate()[1].strip().splitlines()[-1]

    def open(self):
        return os.open(os.path.join(self.folder, 'file'), os.O_RDWR)

    def hang(self):
        os.kill(self.server.pid, signal.SIGUSR1)  # also from a child of ours

    def end(self):
        self.server.kill()  # whoever waits gets an error
        self.server.wait()
        self.server.stdout.close()
        self.server.stderr.close()
        subprocess.run(['umount', '-l', self.folder], check=False, stderr=subprocess.DEVNULL)


def pass_fds(sock, fds, data):
    """True: they went; False: the kernel refuses."""
    try:
        sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', fds))])
        return True
    except PermissionError:
        sock.sendall(data)
        return False


def request(method, **more):
    return json.dumps({'method': daemon.OURS + method, **more}).encode() + b'\0'


class Passer:
    """A process that holds the descriptor and passes it: whoever has it may hang at the
    end, and at any exec."""

    def __init__(self, make, path):
        self.early = daemon.Client(path)
        gone = daemon.Client(path)
        self.mine, its = socket.socketpair()
        self.mine.settimeout(daemon.TIMEOUT)
        self.pid = os.fork()
        if self.pid:
            its.close()
            gone.close()
            return
        self.mine.close()
        fd = make()
        sent = pass_fds(self.early.sock, [fd] * 3, request('Status') * 2)
        pass_fds(gone.sock, [fd], request('StartRecording', more=True))
        pass_fds(gone.sock, [fd], request('Status') * 1000)
        gone.close()
        its.sendall(b'Y' if sent else b'N')
        its.recv(1)
        c = daemon.Client(path)
        refused = sum(not pass_fds(c.sock, [fd], request('Status')) for _ in range(50))
        its.sendall(bytes([refused, sum('version' in c.take() for _ in range(50))]))
        its.recv(1)
        try:
            os.close(fd)
        finally:
            os._exit(0)

    def waits(self):
        """It has closed the descriptor: that waits for the server."""
        self.mine.sendall(b'x')
        while True:
            if 'fuse' in pathlib.Path(f'/proc/{self.pid}/stack').read_text():
                return True
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self.pid = None
                return False

    def end(self):
        self.mine.close()
        self.early.close()
        if self.pid:
            os.waitpid(self.pid, 0)


def descriptors(t, make, what, hung=None):
    """Whatever is passed, before there is a daemon (no kernel refuses it then) and
    after: nobody waits, nothing stays."""
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, 'sock')
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        p = Passer(make, path)
        t.same(p.mine.recv(1), b'Y', f'{what}: passed before the daemon is there')
        shell = ['sh', '-c', f'exec 3<&{listener.fileno()}; LISTEN_PID=$$ exec "$@"', 'sh']
        d = daemon.Daemon(env={'LISTEN_FDS': '1'}, pass_fds=[listener.fileno()],
                          wrapper=shell).wait_ready()
        t.ok(p.early.take() and p.early.take(), f'{what}: the requests that it came with are '
             'answered')
        p.mine.sendall(b'x')
        refused, answered = p.mine.recv(2)
        t.same(answered, 50, f'{what}: later ones, too')
        t.note(f'{what}: {refused} of 50 refused by the kernel')
        c = daemon.Client(path)
        links = [os.readlink(f'/proc/{d.pid}/fd/{n}') for n in os.listdir(f'/proc/{d.pid}/fd')]
        t.same([x for x in links if x.startswith('pipe:') or x.endswith('/file')], [],
               f'{what}: the daemon has none')
        before = c.call('Status')['observer']['drains']
        while c.call('Status')['observer']['drains'] == before:
            pass
        t.ok(True, f'{what}: it drains on')
        if hung:
            t.ok(p.waits(), f'{what}: while close(2) elsewhere waits')
        c.close()
        t.same(d.stop(), 0, f'{what}: SIGTERM: exit 0')
        if hung:
            hung.end()
        p.end()
        listener.close()


def passed(t):
    with tempfile.TemporaryDirectory() as tmp:
        hung = HungFile(tmp)

        def make():
            fd = hung.open()
            hung.hang()
            return fd

        if hung.why_not:
            t.skip('a file whose server hangs', hung.why_not)
            hung.end()
        else:
            descriptors(t, make, 'a file whose server hangs', hung)
    descriptors(t, lambda: os.pipe()[1], 'a pipe')


def gone_in_a_dump(t, d):
    """A client that goes while its dump is on its way, in any state."""
    for size in 1, 4096, 100000:
        c = d.client()
        c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.ask('DumpFlight', {}, more=True)
        c.sock.recv(size)
        c.close()
        r = daemon.Recording(d.path)
        r.c.close()
    t.ok(d.status(), 'clients that go in the middle of a transfer: the daemon goes on')


def together(t, d):
    """Each within its own bound, but all of them too much: marks make answers large."""
    c = d.client()
    for _ in range(1024):
        c.ask('Mark', {'text': '"' * 1024}, oneway=True)
    before = c.call('Status')
    large = len(d.client().call('Totals')['report']['marks'])
    t.same(large, 1024, 'an answer of 2 MB')
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
    t.note(f"{READERS} answers of 2 MB not read: {grown >> 20} MB more, "
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
        gone_in_a_dump(t, d)
        together(t, d)
        t.same(d.stop(), 0, 'SIGTERM: exit 0')
        t.ok('ERROR: ' not in d.messages() and 'runtime error' not in d.messages(),
             'no complaint', d.messages().splitlines())
    passed(t)
    t.done()


main()
