#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""500 clients at once, bad ones among them: the others get all their samples,
memory stays bounded, no record is lost because of them."""

import json
import os
import pathlib
import resource
import selectors
import sys
import threading

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

CROWD = 500
SAMPLES = 3
# The bound of what clients may hold in the daemon: a request's buffer each, and
# the queues' messages, which are shared.
MEMORY = CROWD * (64 << 10) + (96 << 20)
WINDOWS = 128 << 20  # --window-mem


class Flood(threading.Thread):
    """Sends requests without end, and reads what comes."""

    def __init__(self, d):
        super().__init__(daemon=True)
        self.c = d.client()
        self.stop = False
        self.answers = 0

    def run(self):
        block = (json.dumps({'method': daemon.OURS + 'Topology'}).encode() + b'\0') * 100
        sel = selectors.DefaultSelector()
        sel.register(self.c.sock, selectors.EVENT_READ | selectors.EVENT_WRITE)
        self.c.sock.setblocking(False)
        rest = block
        while not self.stop:
            for _, what in sel.select(1):
                try:
                    if what & selectors.EVENT_READ:
                        self.answers += self.c.sock.recv(1 << 16).count(b'\0')
                    if what & selectors.EVENT_WRITE:
                        rest = rest[self.c.sock.send(rest):] or block
                except BlockingIOError:
                    pass
        self.c.close()


class Mute(threading.Thread):
    """Sends requests without end, and reads nothing."""

    def __init__(self, d):
        super().__init__(daemon=True)
        self.c = d.client()
        self.sent = 0
        self.stop = False

    def run(self):
        block = (json.dumps({'method': daemon.OURS + 'Topology'}).encode() + b'\0') * 100
        self.c.sock.settimeout(1)
        while not self.stop:
            try:
                self.sent += self.c.sock.send(block)
            except TimeoutError:
                pass
        self.c.close()


def crowd(t, d):
    before = d.status()
    flood, mute = Flood(d), Mute(d)
    slow, vanishing, silent = d.client(), d.client(), d.client()
    vanishing.send(b'{"method":"org.tmigrd.Sub')
    vanishing.close()
    subscribers = [d.client() for _ in range(CROWD)]
    for c in subscribers:
        c.ask('Subscribe', {'period_ms': 1000}, more=True)
    silent.ask('Subscribe', {'period_ms': 1000}, more=True)  # reads none of them
    flood.start()
    mute.start()
    call = json.dumps({'method': daemon.OURS + 'Status'}).encode() + b'\0'
    slow.send(call[:1])
    reports = []
    for k in range(SAMPLES):
        slow.send(call[k + 1:k + 2])
        if k == 1:  # one in ten goes, in the middle
            for c in subscribers[::10]:
                c.close()
            subscribers = [c for i, c in enumerate(subscribers) if i % 10]
        reports.append([c.take()['report'] for c in subscribers])
    during = d.status()
    flood.stop = mute.stop = True
    flood.join()
    mute.join()
    check_samples(t, reports, subscribers)
    t.ok(flood.answers > 0, 'the one who floods is answered', [str(flood.answers)])
    t.ok(during['clients'] >= len(subscribers), 'all are there', [str(during)])
    t.ok(during['resident_bytes'] - before['resident_bytes'] < MEMORY, 'memory is bounded',
         [f"{before['resident_bytes']} before, {during['resident_bytes']} during"])
    t.same(during['lost_records'], before['lost_records'], 'no record is lost')
    t.note(f"resident {before['resident_bytes']} before, {during['resident_bytes']} during; "
           f"{flood.answers} answers to the one who floods")
    slow.send(call[SAMPLES + 1:])
    t.ok('version' in slow.take(), 'a byte at a time: answered in the end')
    for c in [slow, silent, *subscribers]:
        c.close()


def crowd_of_windows(t, d):
    """A window for each of them at once; a typed error where memory is not set aside."""
    before = d.status()
    clients = [d.client() for _ in range(CROWD)]
    opened = [c.call('OpenWindow') for c in clients]
    starts = [w['start_ns'] for w in opened]
    t.same(len(set(starts)), CROWD, f'{CROWD} clients have a window each, with its own start')
    during = clients[0].call('Status')
    t.same(during['windows'], CROWD, 'Status counts them')
    t.ok(during['resident_bytes'] - before['resident_bytes'] < WINDOWS + CROWD * (8 << 10),
         'within the memory that is set aside', [str(before), str(during)])
    t.note(f"{(during['resident_bytes'] - before['resident_bytes']) // CROWD} bytes a client "
           'and its window')
    drains = during['observer']['drains']
    while clients[0].call('Status')['observer']['drains'] < drains + 2:
        pass
    reports = [c.call('CloseWindow', {'window': w['window']})['report']
               for w, c in zip(opened, clients)]
    t.same({daemon.check_sums(r) for r in reports}, {None}, 'the sums of all')
    t.same([r['start_ns'] for r in reports], starts, 'each from its own start')
    t.same(clients[0].call('Status')['lost_records'], before['lost_records'],
           'no record is lost')
    for c in clients:
        c.close()
    with daemon.Daemon('--window-mem', '300K') as small:
        c, n, why = [small.client() for _ in range(4)], 0, None
        while not why and n < 64:
            why, reply = c[n // 16].error('OpenWindow')
            n += not why
        t.same((why, 'window-mem' in reply.get('reason', '')), ('TooMany', True),
               f'--window-mem 300K: {n} windows, then a typed error')
        t.ok(n > 0 and n * 10000 < 300 << 10, 'as many as fit', [str(n)])
        t.same(small.stop(), 0, 'SIGTERM: exit 0')


def check_samples(t, reports, subscribers):
    n = len(subscribers)
    t.same([len(r) for r in reports[1:]], [n] * (SAMPLES - 1), 'every subscriber got every sample')
    starts = [{r['start_ns'] for r in sample} for sample in reports]
    t.ok(all(len(s) <= 2 for s in starts), 'the samples are the same for all',
         [str(s) for s in starts])
    mine = [sample[-1] for sample in reports]
    t.same([r['start_ns'] + r['window_ns'] for r in mine[:-1]], [r['start_ns'] for r in mine[1:]],
           'none is left out')
    t.same([daemon.check_sums(r) for r in mine], [None] * SAMPLES, 'sums')


def too_slow(t, d):
    """Who does not read its samples is cut off once its queue is full; many long
    marks make them large. The others go on."""
    mute, reader, marker = d.client(), d.client(), d.client()
    for c in mute, reader:
        c.ask('Subscribe', {'period_ms': 1000}, more=True)
    call = {'method': daemon.OURS + 'Mark', 'parameters': {'text': 'm' * 1000}, 'oneway': True}
    block = (json.dumps(call).encode() + b'\0') * 1024
    cut = marker.call('Status')['clients_cut_off']
    for n in range(200):
        marker.send(block)
        if marker.call('Status')['clients_cut_off'] > cut:
            break
        reader.take()
    t.ok(n < 199, 'who does not read is cut off', [f'{n} samples'])
    t.note(f'after {n} samples')
    error = None
    try:
        while not error:
            error = mute.reply().get('error')
        mute.reply()
    except daemon.Gone as e:
        t.same((error, e.args[0]), (daemon.OURS + 'TooSlow', b''), 'and told so')
    t.ok(reader.take(), 'others go on')
    for c in mute, reader, marker:
        c.close()


def late_reader(t, d):
    c = d.client()
    for _ in range(400):
        c.ask('Topology')
    others = d.client()
    t.ok(others.call('Status'), 'others are served meanwhile')
    t.same(sum('topology' in c.take() for _ in range(400)), 400,
           'who reads late gets all the answers that it asked for')
    c.close()
    others.close()


def full_table(t, d):
    """No descriptor left: connections wait, and are served when one is free."""
    held = [d.client() for _ in range(4)]
    for c in held:
        c.call('Status')
    n = len(os.listdir(f'/proc/{d.pid}/fd'))
    old = resource.prlimit(d.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(d.pid, resource.RLIMIT_NOFILE, (n + 2, old[1]))
    more = [d.client() for _ in range(8)]
    for c in more:
        c.ask('Status')
    t.ok(held[0].call('Status'), 'a full descriptor table: who is connected is served')
    for c in held:
        c.close()
    for c in more[:4]:
        c.take()
    t.ok(True, 'those who wait are taken as others go')
    resource.prlimit(d.pid, resource.RLIMIT_NOFILE, old)
    for c in more[4:]:
        c.take()
    t.same(d.messages().count('no more clients for now'), 1, 'and the log says it, once')
    for c in more:
        c.close()


def max_clients(t):
    with daemon.Daemon('--max-clients', '3') as d:
        held = [d.client() for _ in range(3)]
        for c in held:
            c.call('Status')
        c = d.client()
        try:
            t.same(c.reply().get('error'), daemon.OURS + 'TooManyClients', 'one too many')
        except daemon.Gone:
            t.ok(False, 'one too many: told')
        held[0].close()
        while True:  # until the end of that one is seen
            c = d.client()
            try:
                c.call('Status')
                break
            except (daemon.Error, daemon.Gone, BrokenPipeError):
                pass
        t.ok(True, 'its place is free again')
        t.same(d.stop(), 0, 'SIGTERM: exit 0')


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * CROWD + 100:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * CROWD + 100, max(hard, 2 * CROWD + 100)))
    t = Tap()
    with daemon.Daemon() as d:
        crowd(t, d)
        crowd_of_windows(t, d)
        late_reader(t, d)
        too_slow(t, d)
        full_table(t, d)
        t.same(d.stop(), 0, 'SIGTERM: exit 0')
        t.ok('ERROR: ' not in d.messages() and 'runtime error' not in d.messages(),
             'no complaint', d.messages().splitlines())
    max_clients(t)
    t.done()


main()
