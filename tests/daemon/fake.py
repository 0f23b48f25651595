#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fake.py SOCKET MODE [REAL]: what a client may meet behind a socket.

silent, close, text, endless, json, half: what each connection gets.
liar: answers Status and Topology as the daemon at REAL does, a recording and a
dump with nonsense. mute: as liar, but the recording, or the dump, begins and
never goes on.
text64: as liar, but what should be base64 is not. flat: as liar, but the tree is
that of a kernel without a hierarchy.
"""
import base64
import json
import socket
import sys
import threading

ANSWERS = {'close': b'', 'text': b'220 mail.example ESMTP\r\n\0', 'half': b'{"parameters": {',
           'json': b'{"parameters":{}}\0'}


def ask(path, method):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(json.dumps({'method': method}).encode() + b'\0')
        data = b''
        while not data.endswith(b'\0'):
            data += s.recv(65536)
        return data


def requests(conn):
    """The method of each request."""
    data = b''
    while True:
        while b'\0' not in data:
            new = conn.recv(65536)
            if not new:
                return
            data += new
        text, data = data.split(b'\0', 1)
        yield json.loads(text)['method']


def flat(real, interface):
    none = {'known': False, 'at_ns': None, 'in_ns': None}
    topo = json.loads(ask(real, f'{interface}.Topology')[:-1])['parameters']['topology']
    return {'schema': 'tmigr-tree', 'version': 1, 'time_ns': 1, 'groups': [], 'roots': [],
            'cpus': [{'cpu': c['cpu'], 'group': None, 'mask': 0, 'tmigr': 'unknown', 'state_name': 'running',
                      'state': None, 'wakeup_duty': none, 'next_expiry': none} for c in topo['cpus']]}


def lie(conn, mode, real):
    for name in requests(conn):
        interface, method = name.rsplit('.', 1)
        if method in ('Status', 'Topology'):
            conn.sendall(ask(real, name))
        elif method == 'StartRecording':
            first = {'window': 1, 'start_ns': 1000, 'bytes': 0}
            conn.sendall(json.dumps({'parameters': first, 'continues': True}).encode() + b'\0')
            nonsense = b'TMIGREC\n\1\0\0\0\0\0\0\0' + b'nonsense' * 100
            if mode == 'liar':
                first['data'] = base64.b64encode(nonsense).decode()
            if mode == 'text64':
                first['data'] = 'no base64!'
            if mode != 'mute':
                conn.sendall(json.dumps({'parameters': first, 'continues': True}).encode() +
                             b'\0')
        elif method == 'Hierarchy' and mode == 'flat':
            conn.sendall(json.dumps({'parameters': {'tree': flat(real, interface)}}).encode() + b'\0')
        elif method == 'Hierarchy':
            conn.sendall(b'{"parameters":{"tree":{"groups":7}}}\0')
        elif method == 'DumpFlight' and mode == 'text64':
            conn.sendall(b'{"parameters":{"data":"no base64!"},"continues":true}\0')
        elif method == 'DumpFlight' and mode == 'mute':
            conn.sendall(b'{"parameters":{"data":"VE1JR1JFQwo="},"continues":true}\0')
        elif method == 'DumpFlight':
            conn.sendall(json.dumps({'error': interface + '.NoFlight',
                                     'parameters': {'reason': 'off'}}).encode() + b'\0')


def serve(conn, mode, real):
    try:
        if mode in ('liar', 'mute', 'text64', 'flat'):
            lie(conn, mode, real)
        elif mode == 'endless':
            while True:
                conn.sendall(b'x' * 65536)
        elif mode == 'silent':
            while conn.recv(65536):
                pass
        else:
            conn.sendall(ANSWERS[mode])
            if mode != 'close':
                while conn.recv(65536):
                    pass
    except OSError:
        pass
    conn.close()


def main():
    path, mode = sys.argv[1:3]
    real = sys.argv[3] if len(sys.argv) > 3 else None
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(16)
    while True:
        threading.Thread(target=serve, args=(server.accept()[0], mode, real), daemon=True).start()


main()
