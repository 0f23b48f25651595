#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigr hotplug of a trace (of a virtual board: CPUs 1 and 4 of eight went and came), against
another reading of it; compared, exported; what --cycle refuses. No CPU of this machine goes
anywhere."""

import csv
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import hotplug  # noqa: E402
from tap import Tap, needs_zstd  # noqa: E402

needs_zstd()
TMIGR = pathlib.Path(os.environ['B']) / 'tmigr'
TRACE = gzip.decompress((TESTS / 'fixtures/hotplug/rk3576-7.3.4-unaware.txt.gz').read_bytes()).decode()
tap = Tap()


def run(*args, **kwargs):
    return subprocess.run([TMIGR, *map(str, args)], capture_output=True, text=True, timeout=200,
                          stdin=subprocess.DEVNULL, **kwargs)


def refused(name, code, text, *args):
    done = run('hotplug', *args)
    tap.ok(done.returncode == code and text in done.stderr and done.stderr.count('\n') == 1 and not done.stdout,
           name, [f'exit {done.returncode}', done.stderr, done.stdout])


def of(folder, text, *options):
    path = folder / 'trace.txt'
    path.write_text(text)
    done = run('hotplug', '--json', *options, path)
    tap.ok(done.returncode == 0, 'tmigr hotplug FILE', [done.stderr])
    return json.loads(done.stdout)


def figures(folder):
    report = of(folder, TRACE)
    ops, want = report['hotplug']['operations'], hotplug.operations(TRACE)
    tap.ok(len(want) == 4 and [o['up'] for o in ops].count(True) == 2, 'two went and came back', [want])
    tap.ok(not hotplug.differences(ops, want, report['start_ns']), 'each step, as counted by the microsecond',
           hotplug.differences(ops, want, report['start_ns']))
    tap.ok(not hotplug.sums(report['hotplug']), 'steps and the time between add up', hotplug.sums(report['hotplug']))
    marked = {s['name'] for o in ops for s in o['steps'] if 'timer_migration' in s}
    tap.ok(marked == {'tmigr_cpu_prepare', 'tmigr_set_cpu_available', 'tmigr_clear_cpu_available'},
           'steps of timer migration are marked, by the functions in the text', [marked])
    tap.ok(all(not o['cut'] and o['failed'] is None for o in ops), 'all are whole')
    return report


def names(folder):
    """A copy of sysfs has the names."""
    steps = sorted({int(n) for n in re.findall(r'step: +(\d+)', TRACE)})
    root = folder / 'sysfs/sys/devices/system/cpu'
    for c in range(8):
        (root / f'cpu{c}').mkdir(parents=True)
    for name in 'present', 'possible', 'online':
        (root / name).write_text('0-7\n')
    (root / 'hotplug').mkdir()
    (root / 'hotplug/states').write_text(''.join(
        f'{s:3}: {"online" if s == max(steps) else "tmigr:online" if s == 184 else f"some:{s}"}\n' for s in steps))
    report = of(folder, TRACE, '--cpus', folder / 'sysfs', '--class', 'big=4-7')
    seen = {(s['step'], s['name']) for o in report['hotplug']['operations'] for s in o['steps']}
    tap.ok((184, 'tmigr:online') in seen and (83, 'some:83') in seen and (max(steps), 'cpuhp_kick_ap_work') in seen,
           'names come from the copy of sysfs', [sorted(seen)])
    tap.ok({c['cpu']: c['class'] for c in report['cpus']}[4] == 'big', 'and classes from --class')


def torn(folder):
    """Whatever part of the trace there is: no crash, sums exact, what is cut is said."""
    lines = [x for x in TRACE.splitlines(keepends=True) if 'cpuhp_' in x]
    bad = []
    for a in range(1, len(lines), 7):
        for b in (len(lines), a + 40):
            report = of_quiet(folder, ''.join(lines[a:b]))
            bad += hotplug.sums(report['hotplug'])
            first = report['hotplug']['operations'][0]
            # (Of one that ends with it there is nothing.)
            if 'cpuhp_exit' in lines[a] and first['start_ns'] == 0 and 'start' not in first['cut']:
                bad.append(f'line {a}: it begins with an exit, but is not cut')
    tap.ok(not bad, 'parts of it: sums are exact, cuts are told', bad[:5])


def of_quiet(folder, text):
    (folder / 'part.txt').write_text(text)
    return json.loads(run('hotplug', '--json', folder / 'part.txt').stdout)


def slower(report, factor):
    """The same with longer steps."""
    other = json.loads(json.dumps(report['hotplug']))
    for op in other['operations']:
        op['total_ns'] = 0
        for s in op['steps']:
            s['time_ns'] *= factor
            op['total_ns'] += s['time_ns']
        op['total_ns'] += op['between_ns']
    return other


def compared(folder, report):
    for label, factors in ('a', (10, 11, 12)), ('b', (20, 21, 22)):
        for i, factor in enumerate(factors):
            place = folder / f'{label}/run-{i + 1}'
            run('import', '-q', '-o', place, TESTS.parent / 'demo/events.tmr')
            whole = json.loads((place / 'report.json').read_text())
            whole.update(label=label, run=i + 1, hotplug=slower(report, factor))
            (place / 'report.json').write_text(json.dumps(whole))
    done = run('compare', '--json', '--cpus', folder / 'a', folder / 'b')
    tap.ok(done.returncode == 0, 'compare', [done.stderr])
    text = json.dumps(json.loads(done.stdout))
    for key in 'bring-up/any CPU', "bring-up/a CPU's mean", 'bring-up-step/tmigr_set_cpu_available', 'cpu-bring-up/cpu4':
        tap.ok(key in text, f'it has {key}')
    found = [q for q in walk(json.loads(done.stdout)) if q.get('key') == 'cpu-bring-up/cpu4']
    op = [o for o in report['hotplug']['operations'] if o['cpu'] == 4 and o['up']][0]
    mean = sum(op['between_ns'] + f * (op['total_ns'] - op['between_ns']) for f in (10, 11, 12)) / 3e6
    tap.ok(len(found) == 1 and abs(mean - mean_of(found[0])) < 1e-9, 'a CPU by itself has its mean', [mean, found])
    done = run('export', '-f', 'csv', '-t', 'hotplug', folder / 'a')
    rows = list(csv.DictReader(done.stdout.splitlines()))
    sums = {}
    for r in rows:
        key = r['run'], r['operation'], int(r['total_ns'])
        sums[key] = sums.get(key, 0) + int(r['time_ns'])
    tap.ok(len(sums) == 12 and all(k[2] == v for k, v in sums.items()), 'hotplug.csv adds up', [sums, done.stderr])
    done = run('report', folder / 'a/run-1')
    tap.ok('Steps of a bring-up' in done.stdout, 'report has it too', [done.stderr])


def walk(node):
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(child)


def mean_of(quantity):
    return next(x['mean'] for x in walk(quantity) if 'mean' in x)


def machine(folder):
    """A made-up one of four CPUs, whose CPU 0 stays."""
    root = folder / 'machine'
    cpus = root / 'sys/devices/system/cpu'
    for c in range(4):
        (cpus / f'cpu{c}').mkdir(parents=True)
        if c:
            (cpus / f'cpu{c}/online').write_text('0\n' if c == 3 else '1\n')
    for name, text in ('present', '0-3'), ('possible', '0-3'), ('online', '0-2'):
        (cpus / name).write_text(text + '\n')
    return root


def refusals(folder):
    root = machine(folder)
    cycle = '--sys-root', root, '--cycle'
    refused('it asks, and there is no terminal', 2, '--yes', *cycle, '1')
    refused('CPU 0 stays', 2, 'CPU 0 cannot be taken offline', *cycle, '0', '--yes')
    refused('one that is offline already', 2, 'CPU 3 is offline already', *cycle, '1-3', '--yes')
    refused('one that there is not', 2, 'no CPU 7', *cycle, '7', '--yes')
    refused('all of a class', 1, '--force does it', *cycle, '0-2', '--together', '--yes')
    refused('all there are', 1, 'no CPU would be left', *cycle, '0-2', '--together', '--yes', '--force')
    refused('an empty list', 2, 'empty', *cycle, '', '--yes')
    refused('with a command', 2, 'COMMAND', *cycle, '1', '--yes', '--', 'true')
    tap.ok([(root / f'sys/devices/system/cpu/cpu{c}/online').read_text() for c in (1, 2, 3)] == ['1\n', '1\n', '0\n'],
           'nothing was done')
    refused('--yes alone', 2, 'for --cycle', '--yes')
    refused('a file and a window', 2, 'no option for a window', '-d', '1', folder / 'trace.txt')
    refused('--cpus alone', 2, 'FILE', '--cpus', folder)
    refused('two files', 2, "behind '--'", 'sleep', '1')
    empty = folder / 'other.txt'
    empty.write_text('  sh-1 [000] .....  1.000000: sched_waking: comm=x pid=1\n')
    refused('a trace without such events', 1, 'none of them of CPU hotplug', empty)


with tempfile.TemporaryDirectory() as place:
    here = pathlib.Path(place)
    compared(here, figures(here))
    names(here)
    torn(here)
    refusals(here)
tap.done()
