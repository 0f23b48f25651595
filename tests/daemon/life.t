#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigrd's life: one a socket, ended in every way, passed sockets, readiness,
who may connect, what it may do itself."""

import grp
import json
import os
import pathlib
import pty
import signal
import socket
import stat
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

NOBODY = 65534


def have_bpftool():
    return any(os.access(os.path.join(p, 'bpftool'), os.X_OK)
               for p in (os.environ['PATH'] + ':/usr/sbin').split(':'))


def sigterm(t):
    d = daemon.Daemon().wait_ready()
    waits, idle = d.client(), d.client()
    waits.ask('Subscribe', {'period_ms': 86400000}, more=True)
    while not idle.call('Status')['subscribers']:
        pass
    d.proc.send_signal(signal.SIGHUP)
    t.ok(idle.call('Status'), 'SIGHUP does nothing')
    t.same(d.stop(), 0, 'SIGTERM: exit 0')
    t.same(waits.reply().get('error'), daemon.OURS + 'ShuttingDown', 'who waits is told')
    for c, what in (waits, 'who was told'), (idle, 'who is idle'):
        try:
            c.reply()
            t.ok(False, f'{what}: closed')
        except daemon.Gone as e:
            t.same(e.args[0], b'', f'{what}: closed')
    t.ok(not os.path.exists(d.path), 'the socket is removed')
    d = daemon.Daemon().wait_ready()
    t.same(d.stop(signal.SIGINT), 0, 'SIGINT: exit 0')


def killed(t):
    d = daemon.Daemon().wait_ready()
    own = daemon.programs_of(d.pid)
    t.same({kind for kind, _ in own}, {'prog', 'link'}, 'its programs and links are there')
    c = d.client()
    c.ask('Subscribe', {'period_ms': 1000}, more=True)
    c.take()
    if have_bpftool():
        t.same(own - daemon.programs(), set(), 'and bpftool shows them')
    t.same(d.stop(signal.SIGKILL), -signal.SIGKILL, 'killed')
    try:
        c.reply()
        t.ok(False, 'the client sees it')
    except daemon.Gone:
        t.ok(True, 'the client sees it')
    if not have_bpftool():
        t.skip('no program or link is left', 'no bpftool')
    else:
        for _ in range(1000):  # the kernel frees them a little later
            left = own & daemon.programs()
            if not left:
                break
        t.same(left, set(), 'no program or link is left')
    t.ok(os.path.exists(d.path), 'its socket is left')
    with daemon.Daemon(path=d.path) as e:
        t.ok(e.status(), 'the next one takes the path over')
        second(t, e)
    t.same(e.stop(), 0, 'SIGTERM: exit 0')


def second(t, first):
    e = daemon.Daemon(path=first.path)
    t.same(e.proc.wait(daemon.TIMEOUT), 1, 'a second one on the same socket refuses')
    t.ok('another tmigrd serves this socket' in e.messages(), 'and says why', [e.messages()])
    t.ok(first.status(), 'the first one goes on')
    os.unlink(first.path + '.lock')
    e = daemon.Daemon(path=first.path)
    t.same(e.proc.wait(daemon.TIMEOUT), 1, 'so too where the lock was removed')
    t.ok('somebody listens there' in e.messages(), 'and says why', [e.messages()])
    t.ok(first.status(), 'the first one goes on')


def no_socket(t):
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, 'file')
        pathlib.Path(path).write_text('precious')
        e = daemon.Daemon(path=path)
        t.same(e.proc.wait(daemon.TIMEOUT), 1, 'a file at the path: refuses')
        t.same(pathlib.Path(path).read_text(), 'precious', 'and the file stays')
        e = daemon.Daemon(path=os.path.join(tmp, 'x' * 200))
        t.same(e.proc.wait(daemon.TIMEOUT), 1, 'a path too long: refuses')
        path = os.path.join(tmp, 'no/such/sock')
        e = daemon.Daemon(path=path)
        t.same(e.proc.wait(daemon.TIMEOUT), 1, 'no folder for it: refuses')
        t.ok(e.messages().startswith(f'<3>tmigrd: {path}.lock: no such folder: --socket'),
             'and says what to do, with a priority', [e.messages()])
        ours, theirs = pty.openpty()
        refused = subprocess.run([daemon.TMIGRD, '--foreground', '--socket', path], check=False, stderr=theirs)
        os.close(theirs)
        t.ok(refused.returncode == 1 and os.read(ours, 4096).startswith(b'tmigrd: '), 'to a terminal without')
        os.close(ours)


def connect_as(path, uid, gid, groups=()):
    """What a process of that user gets: 'reply', 'error NAME', or an errno's name."""
    code = ('import json, os, socket, sys\n'
            'path, uid, gid, groups = sys.argv[1], *map(json.loads, sys.argv[2:])\n'
            'os.setgroups(groups); os.setgid(gid); os.setuid(uid)\n'
            's = socket.socket(socket.AF_UNIX)\n'
            'try:\n'
            '    s.connect(path)\n'
            '    try:\n'
            '        s.sendall(b\'{"method":"org.tmigrd.Status"}\\0\')\n'
            '    except BrokenPipeError:\n'
            '        pass\n'
            '    r = json.loads(s.recv(1 << 16).split(b"\\0")[0])\n'
            '    print(r.get("error", "reply"))\n'
            'except OSError as e:\n'
            '    print(type(e).__name__)\n')
    out = subprocess.run([sys.executable, '-c', code, str(path), str(uid), str(gid),
                          json.dumps(groups)], capture_output=True, text=True, check=True)
    return out.stdout.strip()


def who_may(t):
    with daemon.Daemon() as d:
        st = os.stat(d.path)
        t.same(stat.S_IMODE(st.st_mode), 0o660, 'the socket: mode 0660')
        try:
            gid = grp.getgrnam('tmigr').gr_gid
        except KeyError:
            gid = 0
        t.same((st.st_uid, st.st_gid), (0, gid), 'the socket: root, and the group if there is one')
        t.same(connect_as(d.path, NOBODY, NOBODY), 'PermissionError',
               'another user cannot connect')
        os.chmod(d.path, 0o666)  # an administrator's slip
        t.same(connect_as(d.path, NOBODY, NOBODY), daemon.SERVICE + 'PermissionDenied',
               'and is refused where the mode would let him')
        t.same(connect_as(d.path, 0, 0), 'reply', 'root may')
        if gid:
            t.same(connect_as(d.path, NOBODY, gid), 'reply', "the group's members may")
            t.same(connect_as(d.path, NOBODY, NOBODY, [gid]), 'reply',
                   'also by a supplementary group')
        else:
            t.skip("the group's members may", 'no group tmigr on this machine')
            t.skip('also by a supplementary group', 'no group tmigr on this machine')
        status = dict(line.split(':\t', 1)
                      for line in open(f'/proc/{d.pid}/status').read().splitlines()
                      if ':\t' in line)
        for what in 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb':
            t.same(int(status[what], 16), 0, f'the daemon: {what} is empty')
        t.same(status['NoNewPrivs'], '1', 'the daemon: no_new_privs')
        t.same(status['Threads'], '1', 'the daemon: one thread')
        t.same(d.stop(), 0, 'SIGTERM: exit 0')


def passed(t):
    """Socket activation and readiness, as a service manager does it."""
    with tempfile.TemporaryDirectory() as tmp:
        path, notify = os.path.join(tmp, 'passed'), os.path.join(tmp, 'notify')
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        ready.settimeout(daemon.TIMEOUT)
        ready.bind(notify)
        early = daemon.Client(path)  # before there is a daemon
        early.ask('Status')
        # The shell puts the socket to descriptor 3 and knows its own number.
        shell = ['sh', '-c', f'exec 3<&{listener.fileno()}; LISTEN_PID=$$ exec "$@"', 'sh']
        d = daemon.Daemon(env={'LISTEN_FDS': '1', 'NOTIFY_SOCKET': notify},
                          pass_fds=[listener.fileno()], wrapper=shell).wait_ready()
        t.same(ready.recv(4096), b'READY=1', 'the service manager is told')
        t.ok(early.take(), 'who connected before it was there is served')
        t.ok(not os.path.exists(d.path), 'no other socket is made')
        t.same(d.stop(), 0, 'SIGTERM: exit 0')
        t.ok(os.path.exists(path), 'the passed socket stays')
        last = b''
        while last != b'STOPPING=1':
            last = ready.recv(4096)
        t.ok(True, 'the service manager is told of the end')


def background(t):
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, 'sock')
        done = subprocess.run([daemon.TMIGRD, '--socket', path], check=False, timeout=300,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        t.same(done.returncode, 0, 'without --foreground: returns when it is ready')
        c = daemon.Client(path)
        t.ok(c.call('Status'), 'and it serves')
        pid = peer_pid(c)
        again = subprocess.run([daemon.TMIGRD, '--socket', path], check=False, timeout=300,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True)
        t.same(again.returncode, 1, 'a second one: the error comes back')
        os.kill(pid, signal.SIGTERM)
        try:
            while True:
                c.reply()
        except daemon.Gone:
            t.ok(True, 'SIGTERM ends it')


def peer_pid(c):
    return int.from_bytes(c.sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4],
                          sys.byteorder)


def usage(t):
    for options in (['--drain', '0'], ['--drain', '500ms'], ['--flight', 'x'], ['--flight', '-1'],
                    ['--flight-mem', '1T'], ['--max-clients', '0'], ['--housekeeping', 'a'],
                    ['--nope'], ['argument'], ['--drain']):
        done = subprocess.run([daemon.TMIGRD, '--foreground', *options], check=False,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        t.ok(done.returncode == 2 and not done.stdout and done.stderr, f'usage: {options}',
             [str(done)])
    for option in '--help', '--version':
        done = subprocess.run([daemon.TMIGRD, option], check=False, capture_output=True, text=True)
        t.ok(done.returncode == 0 and 'tmigrd' in done.stdout and not done.stderr, option)
    d = daemon.Daemon('--housekeeping', '60000')
    t.same(d.proc.wait(daemon.TIMEOUT), 1, 'a CPU that is not there')
    d = daemon.Daemon('--class', 'x=70000')
    t.same(d.proc.wait(daemon.TIMEOUT), 1, 'a class of CPUs that are not there')
    t.ok(not os.path.exists(d.path), 'no socket is left')


def unprivileged(t):
    with tempfile.TemporaryDirectory() as tmp:
        os.chmod(tmp, 0o777)
        done = subprocess.run([sys.executable, '-c',
                               'import os, sys; os.setgroups([]); os.setgid(65534); '
                               'os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])',
                               daemon.TMIGRD, '--foreground', '--socket', tmp + '/s'],
                              check=False, capture_output=True, text=True, timeout=300)
        t.same(done.returncode, 1, 'started by somebody else: an error')
        t.ok('CAP_' in done.stderr or 'ermi' in done.stderr, 'that says what is missing',
             [done.stderr])


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    t = Tap()
    usage(t)
    sigterm(t)
    killed(t)
    no_socket(t)
    who_may(t)
    passed(t)
    background(t)
    unprivileged(t)
    t.done()


main()
