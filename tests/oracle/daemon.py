# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigrd under test, and a Varlink client made of nothing but a socket."""

import base64
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile

BUILD = pathlib.Path(os.environ.get('B', 'build'))
TMIGRD = BUILD / 'tmigrd'
TMIGR = BUILD / 'tmigr'
OURS = 'org.tmigrd.'
SERVICE = 'org.varlink.service.'
# Freed memory that ASan keeps would count as the daemon's.
ASAN = os.environ.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=4'
TIMEOUT = 120  # for what hangs; nothing is judged by it


def why_not():
    """Why no daemon can run here, or None."""
    if os.geteuid() != 0:
        return 'needs root'
    done = subprocess.run([TMIGR, 'doctor'], capture_output=True, check=False)
    return 'this kernel cannot (tmigr doctor says why)' if done.returncode else None


class Error(Exception):
    """An error reply: name without our interface's, parameters."""

    def __init__(self, reply):
        self.name = reply['error'].removeprefix(OURS)
        self.params = reply.get('parameters') or {}
        super().__init__(f'{self.name} {self.params}')


class Gone(Exception):
    """The daemon closed the connection."""


class Client:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(str(path))
        self.buf = b''

    def close(self):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)

    def ask(self, method, params=None, **flags):
        method = method if '.' in method else OURS + method
        call = {'method': method, **flags}
        if params is not None:
            call['parameters'] = params
        self.send(json.dumps(call).encode() + b'\0')

    def reply(self):
        """The next reply as it came; Gone."""
        while b'\0' not in self.buf:
            try:
                data = self.sock.recv(1 << 20)
            except ConnectionResetError:
                data = b''
            if not data:
                raise Gone(self.buf)
            self.buf += data
        text, self.buf = self.buf.split(b'\0', 1)
        return json.loads(text)

    def take(self):
        """Parameters of the next reply; Error."""
        reply = self.reply()
        if 'error' in reply:
            raise Error(reply)
        return reply['parameters']

    def call(self, method, params=None, **flags):
        self.ask(method, params, **flags)
        return self.take()

    def data(self):
        """The bytes of all replies up to the last, and that one's parameters."""
        data = b''
        while True:
            reply = self.reply()
            if 'error' in reply:
                raise Error(reply)
            data += base64.b64decode(reply['parameters'].get('data') or '')
            if not reply.get('continues'):
                return data, reply['parameters']

    def error(self, method, params=None, **flags):
        """Name and parameters of the error that must come; (None, reply) else."""
        try:
            return None, self.call(method, params, **flags)
        except Error as e:
            return e.name, e.params


class Recording:
    """One under way, by a connection of its own."""

    def __init__(self, path, duration_ns=None):
        self.c = Client(path)
        self.c.ask('StartRecording', duration_ns and {'duration_ns': duration_ns}, more=True)
        first = self.c.take()
        self.window, self.start_ns = first['window'], first['start_ns']

    def finish(self):
        """Until it ends: the recording, and the last reply."""
        try:
            return self.c.data()
        finally:
            self.c.close()

    def stop(self, other):
        """Ended by @other, a client."""
        other.call('StopRecording', {'window': self.window})
        return self.finish()


class Daemon:
    """with Daemon(...) as d: d.path, d.pid, d.client()."""

    def __init__(self, *options, path=None, env=None, pass_fds=(), wrapper=()):
        self.dir = tempfile.TemporaryDirectory(prefix='tmigrd-test.')
        os.chmod(self.dir.name, 0o755)
        self.path = path or os.path.join(self.dir.name, 'sock')
        self.log = tempfile.TemporaryFile(mode='w+')
        self.proc = subprocess.Popen(
            [*wrapper, TMIGRD, '--foreground', '--socket', self.path, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log,
            env={**os.environ, 'ASAN_OPTIONS': ASAN, **(env or {})}, pass_fds=pass_fds)

    def messages(self):
        self.log.seek(0)
        return self.log.read()

    def wait_ready(self):
        """Its log says so; RuntimeError when it ended instead."""
        while 'ready' not in self.messages():
            if self.proc.poll() is not None:
                raise RuntimeError(f'tmigrd ended: {self.messages()}')
            try:
                self.proc.wait(0.05)
            except subprocess.TimeoutExpired:
                pass
        return self

    def __enter__(self):
        return self.wait_ready()

    def __exit__(self, *exc):
        self.stop()
        return False

    @property
    def pid(self):
        return self.proc.pid

    def client(self):
        return Client(self.path)

    def status(self):
        c = self.client()
        try:
            return c.call('Status')
        finally:
            c.close()

    def stop(self, sig=signal.SIGTERM):
        """Its exit status; 0 is what a signal must give."""
        if self.proc.poll() is None:
            self.proc.send_signal(sig)
        return self.proc.wait(TIMEOUT)


def programs():
    """Ids of all BPF programs and links."""
    ids = set()
    for what in 'prog', 'link':
        out = subprocess.run(['bpftool', '-j', what, 'show'], capture_output=True, check=True,
                             env={**os.environ, 'PATH': os.environ['PATH'] + ':/usr/sbin'})
        ids |= {(what, item['id']) for item in json.loads(out.stdout or '[]')}
    return ids


def programs_of(pid):
    """Those that the process holds by a descriptor."""
    ids = set()
    for info in pathlib.Path(f'/proc/{pid}/fdinfo').iterdir():
        for line in info.read_text().splitlines():
            key, _, value = line.partition(':')
            if key in ('prog_id', 'link_id'):
                ids.add((key.removesuffix('_id'), int(value)))
    return ids


def switches(pid):
    """Voluntary context switches: the times that it went to sleep."""
    text = pathlib.Path(f'/proc/{pid}/status').read_text()
    return int(re.search(r'^voluntary_ctxt_switches:\s*(\d+)', text, re.MULTILINE)[1])


def check_sums(report):
    """The laws of a report; a text what is wrong, or None."""
    window = report['window_ns']
    for cpu in report['cpus']:
        times = [cpu['running_ns'], cpu['offline_ns'], cpu['unknown_ns']]
        times += [s['time_ns'] for s in cpu['states']]
        if sum(times) != window or min(times) < 0:
            return f"CPU {cpu['cpu']}: {sum(times)} is not {window}"
    for root in report['roots']:
        times = [root[r + '_ns'] for r in ('held', 'handover', 'duty', 'free', 'unknown')]
        if sum(times) != window or min(times) < 0:
            return f"{root['group']}: {sum(times)} is not {window}"
        if sum(h['held_ns'] for h in root['holders']) != root['held_ns']:
            return f"{root['group']}: holders"
    return None
