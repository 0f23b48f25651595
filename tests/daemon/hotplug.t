#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A CPU that was offline when the daemon started: its capacity and idle states are
known once it is online. The machine's sysfs is a made-up one (the host's CPUs stay as
they are); tests/board has the real thing."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402


class Machine:
    """The host's CPUs, the last of them offline at first."""

    def __init__(self, root):
        self.cpu = pathlib.Path(root) / 'sys/devices/system/cpu'
        self.cpus = sorted(os.sched_getaffinity(0))
        self.late = self.cpus[-1]
        for name in 'possible', 'present':
            self.write(name, pathlib.Path('/sys/devices/system/cpu', name).read_text())
        self.write('online', self.list(self.cpus[:-1]))
        for cpu in self.cpus[:-1]:
            self.describe(cpu, 442, 'WFI')

    @staticmethod
    def list(cpus):
        return ','.join(map(str, cpus)) + '\n'

    def write(self, name, text):
        path = self.cpu / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))

    def describe(self, cpu, capacity, state):
        self.write(f'cpu{cpu}/cpu_capacity', capacity)
        for name, value in (('name', state), ('latency', 1), ('residency', 1), ('disable', 0)):
            self.write(f'cpu{cpu}/cpuidle/state0/{name}', value)


def cpu_of(report, number):
    return next(c for c in report['cpus'] if c['cpu'] == number)


def replay(path):
    done = subprocess.run([daemon.TMIGR, 'report', '--json', path], capture_output=True,
                          check=False)
    return json.loads(done.stdout) if not done.returncode else {'error': done.stderr}


def printed(obj):
    """With the 9 digits of reals that `tmigr report --json` prints."""
    if isinstance(obj, dict):
        return {k: printed(v) for k, v in obj.items()}
    if isinstance(obj, list):
        return [printed(v) for v in obj]
    return float(f'{obj:.9g}') if isinstance(obj, float) else obj


def wait_status(d, wanted):
    while not wanted(d.status()):
        time.sleep(0.05)


def wait_drains(d, n):
    last = d.status()['observer']['drains'] + n
    wait_status(d, lambda s: s['observer']['drains'] >= last)


def comes_online(t, m, d, tmp):
    c = d.client()
    before = c.call('Topology')['topology']
    t.same([k['name'] for k in before['classes']], ['LITTLE', 'big'],
           'offline: its class is a guess')
    t.ok(cpu_of(c.call('Totals')['report'], m.late).get('class_guessed'), 'and reports say so')
    t.same(cpu_of(before, m.late)['online'], False, 'Topology: not online')
    w = c.call('OpenWindow')['window']
    rec = daemon.Recording(d.path)
    run = subprocess.Popen([daemon.TMIGR, 'run', '--socket', d.path, '-o', tmp / 'run', '--record',
                            '--json', '-d', '4'], stdout=subprocess.PIPE)
    wait_status(d, lambda s: s['windows'] == 3 and s['flight']['from_ns'])
    m.describe(m.late, 300, 'retention')
    m.write('online', m.list(m.cpus))
    wait_drains(d, 3)
    late = cpu_of(c.call('Topology')['topology'], m.late)
    t.same((late['capacity'], [s['name'] for s in late['states']], late['online']),
           (300, ['retention'], True), 'online: Topology has its capacity and idle states')
    reports = {'Totals': c.call('Totals')['report'],
               'CloseWindow': c.call('CloseWindow', {'window': w})['report']}
    data, end = rec.stop(c)
    reports['StopRecording'] = end['report']
    (tmp / 'events.tmr').write_bytes(data)
    reports['its replay'] = replay(tmp / 'events.tmr')
    t.same(reports['its replay'], printed(end['report']), 'the replay is the same object')
    c.ask('DumpFlight', {}, more=True)
    (tmp / 'dump.tmr').write_bytes(c.data()[0])
    reports['DumpFlight'] = replay(tmp / 'dump.tmr')
    out = run.communicate()[0]
    t.same(run.returncode, 0, 'tmigr run over it')
    reports['tmigr run'] = json.loads(out or '{}')
    reports['its recording'] = replay(tmp / 'run/events.tmr')
    for name, r in reports.items():
        cpu = cpu_of(r, m.late) if 'cpus' in r else r
        t.same((cpu.get('capacity'), cpu.get('class'), cpu.get('class_guessed', False),
                [s['name'] for s in cpu.get('states', [])][:1]),
               (300, 'LITTLE', False, ['retention']), f'{name}: knows the CPU')
        t.same(cpu.get('online'), False, f'{name}: offline when it began')
        t.same(daemon.check_sums(r) if 'cpus' in r else r, None, f'{name}: sums')
    # A recording from now on has it in its head.
    data, end = daemon.Recording(d.path).stop(c)
    (tmp / 'later.tmr').write_bytes(data)
    again = replay(tmp / 'later.tmr')
    t.ok(again == end['report'], 'a recording that begins later',
         [f'{k}: {again.get(k)} {end["report"].get(k)}' for k in end['report']
          if again.get(k) != end['report'][k]])
    t.same(cpu_of(end['report'], m.late)['online'], True, 'which says that it is online')
    goes_offline(t, m, d, tmp)
    c.close()


def goes_offline(t, m, d, tmp):
    """What began while the CPU was online says so, what begins later does not."""
    c = d.client()
    during = c.call('OpenWindow')['window']
    rec = daemon.Recording(d.path)
    m.write('online', m.list(m.cpus[:-1]))
    wait_drains(d, 2)
    cpu = cpu_of(c.call('Topology')['topology'], m.late)
    t.same((cpu['capacity'], cpu['online']), (300, False), 'offline again: what was learnt stays')
    after = c.call('OpenWindow')['window']
    for window, online in ((during, True), (after, False)):
        for method in 'ReadWindow', 'CloseWindow':
            cpu = cpu_of(c.call(method, {'window': window})['report'], m.late)
            t.same((cpu['capacity'], cpu['online']), (300, online),
                   f'{method} of one that began with the CPU {"online" if online else "offline"}')
    data, end = rec.stop(c)
    (tmp / 'off.tmr').write_bytes(data)
    t.same(cpu_of(end['report'], m.late)['online'], True, 'a recording that began online')
    t.same(replay(tmp / 'off.tmr'), printed(end['report']), 'and its replay')
    c.ask('Subscribe', {'period_ms': 1000}, more=True)
    t.same(cpu_of(c.take()['report'], m.late)['online'], False, 'a sample')
    c.close()


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    if len(os.sched_getaffinity(0)) < 2:
        skip_all('needs two CPUs')
    t = Tap()
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        m = Machine(tmp / 'root')
        with daemon.Daemon('--sysfs', tmp / 'root', '--flight', '60s') as d:
            comes_online(t, m, d, tmp)
            t.same(d.stop(), 0, 'SIGTERM: exit 0')
            t.ok('ERROR: ' not in d.messages() and '<4>' not in d.messages(),
                 'no complaint', d.messages().splitlines())
    t.done()


main()
