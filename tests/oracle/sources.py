# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of one and the same time from different sources: the model's figures
of the part that all of them have, held against each other.

Each source stamps an event for itself, BPF in its handler and ftrace in its own,
one some hundred ns after the other; so a stretch between two events may differ by
what two stamps may, STAMP_NS each, and so may sums of stretches, per event."""

import subprocess
import tempfile

import records

STAMP_NS = 20_000
RUNNING, UNKNOWN = 0, 11


class Recording:
    def __init__(self, programs, path):
        done = subprocess.run([programs / 'rec-dump', path], capture_output=True, text=True, check=True)
        *lines, window = done.stdout.splitlines()
        self.lines = [x for x in lines if x.startswith('rec ')]
        self.start, self.end = map(int, window.split()[1:])


def answer(programs, recording, start, end, capacities):
    """model-feed's figures of that window."""
    with tempfile.TemporaryDirectory() as root:
        records.make_sysfs(root, capacities)
        return records.feed(programs / 'model-feed', root,
                            [f'window {start} {end}', *recording.lines])


def _cpu(a, b):
    events = sum(a['entries']) + sum(b['entries'])
    for slot, (x, y) in enumerate(zip(a['time_ns'], b['time_ns'])):
        yield abs(x - y) - STAMP_NS * (events + 2), f'CPU {a["cpu"]} slot {slot}: {x} ns and {y} ns'
    for slot, (x, y) in enumerate(zip(a['entries'], b['entries'])):
        # One more or less where an entry lies at an edge of the window.
        if abs(x - y) > 1:
            yield None, f'CPU {a["cpu"]} slot {slot}: entered {x} times and {y} times'


def _root(n, a, b):
    held = [{h['cpu']: h for h in r['holders']} for r in (a, b)]
    changes = sum(h['holdings'] for of in held for h in of.values())
    slack = STAMP_NS * (changes + 2)
    for cpu in sorted({*held[0], *held[1]}):
        x, y = (of.get(cpu, {'held': 0, 'holdings': 0}) for of in held)
        yield abs(x['held'] - y['held']) - slack, f'root {n}, CPU {cpu} held {x["held"]} ns and {y["held"]} ns'
        if abs(x['holdings'] - y['holdings']) > 1:
            yield None, f'root {n}, CPU {cpu}: {x["holdings"]} and {y["holdings"]} holdings'
    for k, (x, y) in enumerate(zip(a['regimes'], b['regimes'])):
        yield abs(x - y) - slack, f'root {n}, regime {k}: {x} ns and {y} ns'


def _matrix(a, b):
    counts = [{(r['executor'], r['target']): r['count'] for r in x['remote']} for x in (a, b)]
    for pair in sorted({*counts[0], *counts[1]}):
        x, y = (c.get(pair, 0) for c in counts)
        if abs(x - y) > 1:
            yield None, f'CPU {pair[0]} for CPU {pair[1]}: {x} and {y} expiries'


def differences(a, b):
    """[(excess in ns beyond what stamps explain, or None: not a matter of stamps;
    text)]."""
    found = [d for x, y in zip(a['cpus'], b['cpus']) for d in _cpu(x, y)]
    if len(a['roots']) != len(b['roots']):
        found.append((None, f'{len(a["roots"])} and {len(b["roots"])} roots'))
    found += [d for n, (x, y) in enumerate(zip(a['roots'], b['roots'])) for d in _root(n, x, y)]
    found += _matrix(a, b)
    return [(excess, text) for excess, text in found if excess is None or excess > 0]


def unknown(a):
    """Time in no known state, of CPUs and of roots."""
    return sum(c['time_ns'][UNKNOWN] for c in a['cpus']), sum(r['regimes'][4] for r in a['roots'])
