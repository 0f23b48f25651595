# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace events as the model's input (the lines that model-feed reads), and a
made-up sysfs for it. The sequence numbers that the trace lacks come from the
rebuilt order."""

import json
import os
import subprocess

from figures import IDLE_EXIT

SEQ_BASE = 0xff80  # any start will do; this one wraps soon
SUBJECT = {'tmigr_cpu_active': 6, 'tmigr_cpu_idle': 7,
           'tmigr_cpu_new_timer_idle': 8, 'tmigr_cpu_new_timer': 9}
HOTPLUG = {'tmigr_cpu_online': 11, 'tmigr_cpu_available': 11,
           'tmigr_cpu_offline': 12, 'tmigr_cpu_unavailable': 12}
NODE_GROUP, NODE_CPU = 32, 33


def rec(t, cpu, kind, flags=0, level=0, mask=0, a=0, b=0):
    return f'rec {t} {cpu} {kind} {flags} {level} {mask} {a} {b}'


def knowledge(hier, t):
    """What was known before the window: the hierarchy."""
    out = [rec(t, g.node & 0xffffffff, NODE_GROUP, level=g.level, mask=g.mask,
               a=g.key, b=g.parent)
           for g in sorted(hier.groups.values(), key=lambda g: g.key)]
    return out + [rec(t, cpu, NODE_CPU, mask=mask, a=group, b=cpu)
                  for cpu, (group, mask) in sorted(hier.cpus.items())]


def one(e, update):
    """The record of an event, or None when the model takes none."""
    f = e.f
    if e.name == 'cpu_idle':
        if f['state'] == IDLE_EXIT:
            return rec(e.t, e.cpu, 2)
        return rec(e.t, e.cpu, 1, a=f['state'])
    if e.name == 'cpu_idle_miss':
        return rec(e.t, e.cpu, 3, a=f['state'], b=f['below'])
    if update:
        word = (update.active | update.migrator << 8
                | (SEQ_BASE + update.seq & 0xffff) << 16)
        return rec(e.t, e.cpu, 4 if update.sets else 5, level=f['lvl'],
                   mask=f['childmask'], a=f['group'], b=word)
    if e.name in SUBJECT:
        return rec(e.t, e.cpu, SUBJECT[e.name], a=f['wakeup'], b=f['cpu'])
    if e.name == 'tmigr_handle_remote_cpu':
        return rec(e.t, e.cpu, 10, flags=int(e.pid == 0), b=f['cpu'])
    if e.name in HOTPLUG:
        return rec(e.t, e.cpu, HOTPLUG[e.name], b=f['cpu'])
    return None


def lines(window, order):
    """All records of a figures.Window, events in the given order."""
    of = {u.e: u for us in window.updates.values() for u in us}
    first = min(window.start, min(e.t for e in order))
    made = (one(e, of.get(e)) for e in order)
    return ([f'window {window.start} {window.end}']
            + knowledge(window.hier, first) + [r for r in made if r])


def feed(program, sysfs, text):
    """model-feed's answer."""
    done = subprocess.run([program, sysfs], input='\n'.join(text) + '\n',
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f'model-feed: {done.stderr.strip()}')
    return json.loads(done.stdout)


def _write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(f'{text}\n')


def make_sysfs(root, capacities, states=(('WFI', 1, 1),
                                         ('cpu-sleep', 370, 900))):
    """A machine below @root: @capacities {cpu: capacity}."""
    base = os.path.join(root, 'sys/devices/system/cpu')
    listed = ','.join(map(str, sorted(capacities)))
    for name in ('possible', 'present', 'online'):
        _write(f'{base}/{name}', listed)
    _write(f'{base}/cpuidle/current_driver', 'psci_idle')
    _write(f'{base}/cpuidle/current_governor', 'menu')
    for cpu, capacity in capacities.items():
        _write(f'{base}/cpu{cpu}/cpu_capacity', capacity)
        for i, (name, latency, residency) in enumerate(states):
            at = f'{base}/cpu{cpu}/cpuidle/state{i}'
            _write(f'{at}/name', name)
            _write(f'{at}/latency', latency)
            _write(f'{at}/residency', residency)
            _write(f'{at}/disable', 0)
