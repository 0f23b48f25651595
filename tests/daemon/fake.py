#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fake.py SOCKET MODE [REAL]: what a client may meet behind a socket.

silent, close, text, endless, json, half: what each connection gets.
liar: answers Status and Topology as the daemon at REAL does, a recording and a
dump with nonsense. mute: as liar, but the recording begins and never goes on.
"""
import array
import json
import os
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
    """(method, descriptor or None) of each request."""
    data, fds = b'', array.array('i')
    while True:
        while b'\0' not in data:
            new, anc, _, _ = conn.recvmsg(65536, socket.CMSG_SPACE(4))
            if not new:
                return
            data += new
            for level, kind, cdata in anc:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    fds.frombytes(cdata)
        text, data = data.split(b'\0', 1)
        yield json.loads(text)['method'], fds.pop() if fds else None


def lie(conn, mode, real):
    for name, fd in requests(conn):
        interface, method = name.rsplit('.', 1)
        if method in ('Status', 'Topology'):
            conn.sendall(ask(real, name))
        elif method == 'StartRecording':
            conn.sendall(b'{"parameters":{"window":1,"start_ns":1000}}\0')
            if mode == 'liar':
                os.write(fd, b'TMIGREC\n\1\0\0\0\0\0\0\0' + b'nonsense' * 100)
                os.close(fd)
        elif method == 'Hierarchy':
            conn.sendall(b'{"parameters":{"tree":{"groups":7}}}\0')
        elif method == 'DumpFlight':
            os.close(fd)
            conn.sendall(json.dumps({'error': interface + '.NoFlight',
                                     'parameters': {'reason': 'off'}}).encode() + b'\0')


def serve(conn, mode, real):
    try:
        if mode in ('liar', 'mute'):
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
