#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigr export --format openmetrics: read by Prometheus' own client and promtool,
against the report."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path[:0] = [str(TESTS / 'oracle'), str(TESTS / 'lib-shell')]
sys.dont_write_bytecode = True

import exported  # noqa: E402
from exported import DEMO, NASTY, RECORDINGS  # noqa: E402
from tap import Tap, needs_zstd  # noqa: E402

needs_zstd()
tap = Tap()
SAMPLE = re.compile(r'(\w+)\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\} (\d+(?:\.\d+)?)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

PARSE = '''
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
out = [[f.name, f.type, f.unit, f.documentation != "", [[s.name, s.labels] for s in f.samples]]
       for f in text_string_to_metric_families(sys.stdin.buffer.read().decode())]
print(json.dumps(out))
'''


def unescape(text):
    return re.sub(r'\\(.)', lambda m: {'n': '\n'}.get(m[1], m[1]), text)


def samples(text):
    """{(name, labels as a sorted tuple): exact value}"""
    out = {}
    for line in text.split('\n')[:-1]:
        if line.startswith('#'):
            continue
        name, labels, value = SAMPLE.match(line).groups()
        key = name, tuple(sorted((k, unescape(v))
                                 for k, v in LABEL.findall(labels)))
        assert key not in out, key
        out[key] = Fraction(value)
    return out


def wanted(report, label, run):
    """The same from the report."""
    out = collections.Counter()

    def put(name, value, **labels):
        labels.update(label=label, run=str(run))
        out[name, tuple(sorted(labels.items()))] += value

    def seconds(name, ns, **labels):
        put(name, Fraction(ns, 10 ** 9), **labels)
    for c in report['cpus']:
        of = {'cpu': str(c['cpu']), 'class': c['class']}
        for key in ('running', 'offline', 'unknown'):
            seconds('tmigr_cpu_state_seconds_total', c[f'{key}_ns'], **of, state=key)
        for s in c['states']:
            seconds('tmigr_cpu_state_seconds_total', s['time_ns'], **of,
                    state=s['name'])
            put('tmigr_cpu_idle_entries_total', s['entries'], **of, state=s['name'])
    for r in report['roots']:
        for key in ('held', 'handover', 'duty', 'free', 'unknown'):
            seconds('tmigr_root_seconds_total', r[f'{key}_ns'], root=r['group'],
                    regime=key)
        for h in r['holders']:
            of = {'cpu': str(h['cpu']), 'class': h['class'], 'root': r['group']}
            seconds('tmigr_migrator_held_seconds_total', h['held_ns'], **of)
            seconds('tmigr_migrator_avoidable_seconds_total', h['avoidable_ns'], **of)
            put('tmigr_migrator_holdings_total', h['holdings'], **of)
    names = [c['name'] for c in report['classes']]
    of = {c['cpu']: c['class'] for c in report['cpus']}
    for a in names:
        for b in names:
            put('tmigr_remote_expiries_total',
                sum(p['count'] for p in report['remote']
                    if (of[p['executor']], of[p['target']]) == (a, b)),
                executor_class=a, target_class=b)
    seconds('tmigr_window_seconds_total', report['window_ns'])
    put('tmigr_lost_records_total', report['lost']['records'])
    for e in report.get('energy', []):
        put('tmigr_energy_joules_total', Fraction(e['energy_uj'], 10 ** 6),
            domain=e['domain'])
    return dict(out)


def form(text, name):
    """What any reader of OpenMetrics asks for."""
    lines = text.split('\n')
    tap.same(lines[-2:], ['# EOF', ''], f'{name}: its end')
    now, kinds, bad = None, {}, []
    for line in lines[:-2]:
        if line.startswith('# TYPE '):
            now = line.split(' ')[2]
            bad += [line] if now in kinds else []
            kinds[now] = {'TYPE'}
        elif line.startswith('# '):
            kinds[now].add(line.split(' ')[1])
            bad += [line] if line.split(' ')[2] != now else []
        elif not line.startswith(f'{now}_total{{'):
            bad.append(line)
    bad += [k for k, v in kinds.items() if not {'TYPE', 'HELP'} <= v
            or ('UNIT' in v) != k.endswith(('_seconds', '_joules'))]
    tap.same(bad, [], f'{name}: families whole, with type, help and unit')


def readers(text, name):
    python = exported.python_with('prometheus_client.openmetrics.parser')
    if python:
        done = subprocess.run([python, '-c', PARSE], input=text.encode(),
                              capture_output=True)
        got = json.loads(done.stdout) if done.returncode == 0 else []
        tap.ok(done.returncode == 0 and all(t == 'counter' and d for _, t, _, d, _ in got),
               f"{name}: Prometheus' client reads it", [done.stderr[-300:]])
        tap.same({(n, tuple(sorted(labels.items())))
                  for *_, of in got for n, labels in of}, set(samples(text)),
                 f'{name}: and sees the same samples')
    else:
        tap.skip(f"{name}: Prometheus' client reads it",
                 'no python3-prometheus-client')
    promtool = shutil.which('promtool')
    if not promtool:
        tap.skip(f'{name}: promtool reads it', 'no promtool (Debian: prometheus)')
        return
    done = subprocess.run([promtool, 'check', 'metrics'], input=text.encode(),
                          capture_output=True)
    # It reads the older text format, where HELP and TYPE of a counter name
    # `_total` themselves: that is the only thing it may remark.
    said = [x for x in done.stderr.decode().split('\n')
            if x and not x.endswith('_total no help text')]
    tap.ok(done.returncode in (0, 3) and not said, f'{name}: promtool reads it',
           [done.returncode, *said])


def main():
    with tempfile.TemporaryDirectory() as place:
        tmp = pathlib.Path(place)
        text = exported.export('openmetrics', *RECORDINGS)
        want = {}
        for path in RECORDINGS:
            want.update(wanted(exported.report_of(path),
                               path.stem if path != DEMO else 'demo', 1))
        tap.same(samples(text), want, 'several runs: every figure is the report\'s')
        form(text, 'several runs')
        readers(text, 'several runs')
        report = exported.nasty_report()
        run = exported.make_run(tmp / 'nasty', report)
        text = exported.export('openmetrics', run)
        tap.same(samples(text), wanted(report, NASTY + '3', 7), 'hostile names')
        form(text, 'hostile names')
        readers(text, 'hostile names')
        exported.export('openmetrics', '-o', tmp / 'x.prom', run)
        tap.same((tmp / 'x.prom').read_bytes().decode(), text, 'a file: the same')
        done = exported.tmigr('export', '-f', 'openmetrics', '--socket', tmp / 'none')
        tap.ok(done.returncode == 1 and done.stderr.count(b'\n') == 1
               and b'none' in done.stderr, 'no daemon: one line', [done.stderr])
    tap.done()


main()
