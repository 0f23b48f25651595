#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is no proper request: a typed error or a clean close, and the daemon
goes on. Nothing that a client sends is held in quantity."""

import json
import os
import pathlib
import random
import sys

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

STATUS = daemon.OURS + 'Status'
REFUSED = {  # sent with a NUL: answered with InvalidRequest, then closed
    'empty': b'',
    'no JSON': b'hello',
    'cut JSON': b'{"method":"',
    'two values': b'{} {}',
    'an array': b'[]',
    'a number': b'1',
    'null': b'null',
    'no method': b'{}',
    'method is a number': b'{"method":1}',
    'method is null': b'{"method":null}',
    'parameters are an array': b'{"method":"%s","parameters":[]}' % STATUS.encode(),
    'parameters are text': b'{"method":"%s","parameters":"x"}' % STATUS.encode(),
    'more is text': b'{"method":"%s","more":"yes"}' % STATUS.encode(),
    'oneway is a number': b'{"method":"%s","oneway":1}' % STATUS.encode(),
    'more and oneway': b'{"method":"%s","oneway":true,"more":true}' % STATUS.encode(),
    'a member too many': b'{"method":"%s","x":1}' % STATUS.encode(),
    'a member twice': b'{"method":"a.b","method":"%s"}' % STATUS.encode(),
    'invalid UTF-8': b'{"method":"\xff\xfe"}',
    'an overlong UTF-8': b'{"method":"\xc0\xaf"}',
    'a surrogate': b'{"method":"\\ud800"}',
    'an escaped NUL': b'{"method":"a\\u0000b"}',
    'control characters': b'{"method":"a\nb"}',
    'a huge number': b'{"method":"%s","parameters":{"x":%s}}' % (STATUS.encode(), b'9' * 400),
    'nested 17 deep': b'{"method":"a.b","parameters":' + b'{"x":' * 16 + b'1' + b'}' * 17,
    'nested 5000 deep': b'[' * 5000,
    'nested 5000 deep, objects': b'{"a":' * 3000,
    'just too large': b'{"method":"%s"%s}' % (STATUS.encode(), b' ' * 16384),
}
ANSWERED = {  # a typed error, and the connection goes on
    'unknown method': ({'method': daemon.OURS + 'Nope'}, 'org.varlink.service.MethodNotFound'),
    'unknown interface': ({'method': 'org.example.Nope'}, 'org.varlink.service.InterfaceNotFound'),
    'no dot': ({'method': 'Status'}, 'org.varlink.service.InterfaceNotFound'),
    'empty method': ({'method': ''}, 'org.varlink.service.InterfaceNotFound'),
    'only a dot': ({'method': '.'}, 'org.varlink.service.InterfaceNotFound'),
    'interface and dot': ({'method': daemon.OURS}, 'org.varlink.service.MethodNotFound'),
    'another case': ({'method': STATUS.lower()}, 'org.varlink.service.MethodNotFound'),
    'another case, interface': ({'method': STATUS.upper()},
                                'org.varlink.service.InterfaceNotFound'),
    'unknown parameter': ({'method': STATUS, 'parameters': {'x': 1}},
                          'org.varlink.service.InvalidParameter'),
    'more where there is none': ({'method': STATUS, 'more': True},
                                 'org.varlink.service.InvalidParameter'),
    'no more where it must be': ({'method': daemon.OURS + 'Subscribe',
                                  'parameters': {'period_ms': 1000}},
                                 'org.varlink.service.ExpectedMore'),
    'upgrade': ({'method': STATUS, 'upgrade': True}, 'org.varlink.service.InvalidParameter'),
    'wrong type': ({'method': daemon.OURS + 'ReadWindow', 'parameters': {'window': 'x'}},
                   'org.varlink.service.InvalidParameter'),
    'negative window': ({'method': daemon.OURS + 'ReadWindow', 'parameters': {'window': -1}},
                        'org.varlink.service.InvalidParameter'),
    'no such window': ({'method': daemon.OURS + 'ReadWindow', 'parameters': {'window': 99999}},
                       'org.tmigrd.NoSuchWindow'),
}


def ended(c):
    """Replies up to the close."""
    out = []
    try:
        while True:
            out.append(c.reply())
    except daemon.Gone as e:
        return out, e.args[0]


def refused(t, d):
    for what, text in REFUSED.items():
        c = d.client()
        try:
            c.send(text + b'\0')
        except BrokenPipeError:
            pass  # its head was enough
        out, rest = ended(c)
        t.ok([r.get('error') for r in out] == ['org.tmigrd.InvalidRequest'] and not rest and
             isinstance(out[0]['parameters']['reason'], str), f'refused: {what}', [str(out)])
        c.close()


def answered(t, d):
    c = d.client()
    for what, (call, error) in ANSWERED.items():
        c.send(json.dumps(call).encode() + b'\0')
        reply = c.reply()
        t.same(reply.get('error'), error, f'answered: {what}')
    t.ok(c.call('Status'), 'and the connection goes on')
    c.send(json.dumps({'method': STATUS, 'oneway': True}).encode() + b'\0')
    c.send(json.dumps({'method': daemon.OURS + 'Nope', 'oneway': True}).encode() + b'\0')
    t.ok('mark' not in c.call('Mark', {'text': 'after oneway'}) and not c.buf,
         'oneway calls are not answered')
    c.send(b''.join(json.dumps({'method': m}).encode() + b'\0'
                    for m in [STATUS, daemon.OURS + 'Nope', daemon.OURS + 'Topology']))
    t.same([sorted(c.reply().get('parameters', {}))[:1] for _ in range(3)],
           [['clients'], ['method'], ['topology']], 'requests sent at once: answered in order')
    for byte in json.dumps({'method': STATUS}).encode() + b'\0':
        c.send(bytes([byte]))
    t.ok('version' in c.take(), 'a byte at a time is fine')
    c.close()


def half_closed(t, d):
    c = d.client()
    c.send(json.dumps({'method': STATUS}).encode() + b'\0')
    c.sock.shutdown(1)
    out, _ = ended(c)
    t.same(len(out), 1, 'who says nothing more gets the answer, and then the end')
    c.close()
    c = d.client()
    c.ask('Mark', {'text': 'from one who has gone'}, oneway=True)
    c.close()
    c = d.client()
    w = c.call('Totals')['report']
    t.ok('from one who has gone' in [m['text'] for m in w['marks']],
         'a oneway call counts though the client is gone')
    c.close()


def endless(t, d):
    before = d.status()['resident_bytes']
    c, sent, block = d.client(), 0, b'{"method":"' + b'x' * 65525
    try:
        while sent < 100 << 20:
            c.send(block)
            sent += len(block)
    except (BrokenPipeError, ConnectionResetError):
        pass
    out, _ = ended(c)
    t.ok(sent < 100 << 20, '100 MB without a NUL are not taken', [f'{sent} bytes'])
    t.same([r.get('error') for r in out], ['org.tmigrd.InvalidRequest'], 'and answered')
    c.close()
    clients = [d.client() for _ in range(100)]
    for c in clients:
        c.send(b'{"method":"' + b'x' * 16000)
    grown = d.status()['resident_bytes'] - before
    # A request is 16 KiB at most, its buffer with what one read may add 48 KiB.
    t.ok(grown < 100 * (64 << 10) + (16 << 20), '100 unfinished requests: little memory',
         [f'{grown} bytes'])
    for c in clients:
        c.close()


def noise(t, d):
    """Mutations of real requests; the seed is shown."""
    seed = int.from_bytes(os.urandom(4), 'little')
    rng = random.Random(seed)
    t.note(f'seed {seed}')
    calls = [json.dumps({'method': daemon.OURS + m, 'parameters': p, 'more': more}).encode()
             for m, p, more in (('Status', {}, False), ('Mark', {'text': 'x'}, False),
                                ('Subscribe', {'period_ms': 1000}, True),
                                ('DumpFlight', {'last_s': 1}, True),
                                ('ReadWindow', {'window': 1}, False))]
    for _ in range(300):
        c = d.client()
        data = bytearray(rng.choice(calls) + b'\0')
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data))
            if rng.random() < 0.5:
                data[at] = rng.randrange(256)
            else:
                data[at:at + 1] = rng.randbytes(rng.randrange(4))
        try:
            c.send(bytes(data or b'\0') + b'\0')
        except (BrokenPipeError, ConnectionResetError):
            pass
        c.close()
    t.ok(d.status()['version'], 'noise: it goes on')


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    t = Tap()
    with daemon.Daemon() as d:
        refused(t, d)
        answered(t, d)
        half_closed(t, d)
        endless(t, d)
        noise(t, d)
        while d.status()['clients'] > 1:
            pass
        t.ok(True, 'all that went are forgotten')
        t.same(d.stop(), 0, 'SIGTERM: exit 0')
        t.ok('ERROR: ' not in d.messages() and 'runtime error' not in d.messages(),
             'no complaint', d.messages().splitlines())
    t.done()


main()
