#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigr export --format csv: tables against the report, their description, and
pandas and R reading them."""

import collections
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path[:0] = [str(TESTS / 'oracle'), str(TESTS / 'lib-shell')]
sys.dont_write_bytecode = True

import exported  # noqa: E402
from exported import DEMO, NASTY, RECORDINGS  # noqa: E402
from tap import Tap, needs_zstd  # noqa: E402

needs_zstd()
tap = Tap()
TABLES = ['runs', 'residency', 'migrator', 'migrator-states',
          'migrator-segments', 'remote']

PANDAS = '''
import sys, pandas
folder, windows = sys.argv[1], {}
runs = pandas.read_csv(folder + '/runs.csv')
for r in runs.itertuples():
    windows[r.label, r.run] = r.window_ns
res = pandas.read_csv(folder + '/residency.csv')
assert str(res.time_ns.dtype) == 'int64' and str(res.run.dtype) == 'int64'
sums = res.groupby(['label', 'run', 'cpu']).time_ns.sum()
assert len(sums) == runs.cpus.sum(), sums
assert all(v == windows[k[0], k[1]] for k, v in sums.items()), sums
mig = pandas.read_csv(folder + '/migrator.csv')
sums = mig.groupby(['label', 'run', 'root']).time_ns.sum()
assert all(v == windows[k[0], k[1]] for k, v in sums.items()), sums
seg = pandas.read_csv(folder + '/migrator-segments.csv')
held = (seg[seg.regime == 'held'].assign(ns=lambda d: d.end_ns - d.start_ns)
        .groupby(['label', 'run', 'root', 'cpu']).ns.sum())
want = mig[mig.regime == 'held'].set_index(['label', 'run', 'root', 'cpu']).time_ns
assert held.to_dict() == want.to_dict(), (held, want)
print(len(runs), 'runs')
'''

R = '''
d <- commandArgs(TRUE)[1]
runs <- read.csv(file.path(d, "runs.csv"))
res <- read.csv(file.path(d, "residency.csv"))
sums <- aggregate(time_ns ~ label + run + cpu, res, sum)
both <- merge(sums, runs[c("label", "run", "window_ns")])
stopifnot(nrow(both) == sum(runs$cpus), all(both$time_ns == both$window_ns))
cat(nrow(runs), "runs\\n")
'''


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline='')))


def read_file(path):
    return read(path.read_bytes().decode())


def residency(report):
    """Rows as they must be, without label and run."""
    for c in report['cpus']:
        head = [c['cpu'], c['class'], c['capacity']]
        parts = c['running_tmigr']
        yield [*head, -1, 'running', c['running_ns'], '', '', '', parts['idle_ns'], parts['unknown_ns']]
        for s in c['states']:
            yield [*head, s['index'], s['name'], s['time_ns'], s['entries'],
                   s['above'], s['below'], '', '']
        for key in ('offline', 'unknown'):
            if c[f'{key}_ns']:
                yield [*head, '', key, c[f'{key}_ns'], '', '', '', '', '']


def migrator(report):
    for r in report['roots']:
        for h in r['holders']:
            yield [r['group'], h['cpu'], h['class'], 'held', h['held_ns'],
                   h['holdings'], h['longest_ns'], h['avoidable_ns'],
                   h['avoidable_unknown_ns']]
        for key in ('handover', 'duty', 'free', 'unknown'):
            yield [r['group'], '', '', key, r[f'{key}_ns'], '', '', '', '']


def remote(report):
    of = {c['cpu']: c['class'] for c in report['cpus']}
    for p in report['remote']:
        yield [p['executor'], of[p['executor']], p['target'], of[p['target']],
               p['count'], p['woke_executor']]


def rows_of(table, label, run):
    return [list(r.values())[2:] for r in table
            if (r['label'], r['run']) == (label, str(run))]


def text(rows):
    return [[str(v) for v in r] for r in rows]


def segments_add_up(rows, report, name):
    sums = collections.Counter()
    ends = collections.defaultdict(int)
    gaps = 0
    for root, regime, cpu, _, start, end in rows:
        gaps += int(start) != ends[root]
        ends[root] = int(end)
        sums[root, regime, cpu] += int(end) - int(start)
    want = {(r['group'], 'held', str(h['cpu'])): h['held_ns']
            for r in report['roots'] for h in r['holders']}
    want.update({(r['group'], k, ''): r[f'{k}_ns'] for r in report['roots']
                 for k in ('handover', 'duty', 'free', 'unknown')
                 if r[f'{k}_ns']})
    tap.same(dict(sums), want, f'{name}: segments add up to the report')
    tap.ok(not gaps and set(ends.values()) == {report['window_ns']},
           f'{name}: segments fill the window')


def described(folder):
    """Each file has its table, each column its words."""
    meta = json.loads((folder / 'csv-metadata.json').read_text())
    tap.same(meta['@context'], 'http://www.w3.org/ns/csvw', 'CSV on the Web')
    tap.same(sorted(t['url'] for t in meta['tables']),
             sorted(p.name for p in folder.glob('*.csv')), 'all files described')
    for t in meta['tables']:
        columns = t['tableSchema']['columns']
        head = next(csv.reader([(folder / t['url']).read_text().split('\n')[0]]))
        tap.same([c['name'] for c in columns], head, f"{t['url']}: columns")
        bad = [c['name'] for c in columns if not all(
            c.get(k) for k in ('titles', 'dc:title', 'dc:description', 'datatype'))
            or c['name'].endswith('_ns') != (c.get('schema:unitText') == 'ns')]
        tap.same(bad, [], f"{t['url']}: title, unit, meaning")
        types = {c['name']: c['datatype'] for c in columns}
        for row in read_file(folder / t['url']):
            for name, cell in row.items():
                if cell and types[name] in ('integer', 'number'):
                    (int if types[name] == 'integer' else float)(cell)


def tables(tmp):
    """Many runs in one table."""
    folder = tmp / 'tables'
    exported.export('csv', '-o', folder, *RECORDINGS)
    tap.same(sorted(p.name for p in folder.iterdir()),
             sorted([*(f'{t}.csv' for t in TABLES), 'csv-metadata.json']),
             'a file a table, no other')
    of = {t: read_file(folder / f'{t}.csv') for t in TABLES}
    tap.same([r['label'] for r in of['runs']],
             ['demo',
              *(p.stem for p in exported.ANSWERS)], 'a row a run')
    for row, path in zip(of['runs'], RECORDINGS):
        report, label = exported.report_of(path), row['label']
        for name, want in (('residency', residency), ('migrator', migrator),
                           ('remote', remote)):
            tap.same(rows_of(of[name], label, 1), text(want(report)),
                     f'{label}: {name}')
        segments_add_up(rows_of(of['migrator-segments'], label, 1), report,
                        label)
    described(folder)
    for python, script, name in ((exported.python_with('pandas'), PANDAS, 'pandas'),
                                 (shutil.which('Rscript'), R, 'R')):
        if not python:
            tap.skip(f'{name} reads them', f'no {name}')
            continue
        (tmp / 'script').write_text(script)
        done = subprocess.run([python, tmp / 'script', folder],
                              capture_output=True, text=True)
        tap.same(done.stdout, f'{len(RECORDINGS)} runs\n',
                 f'{name} reads them, sums are exact')
        tap.note(done.stderr[-300:].replace('\n', ' '))


def one_table(tmp):
    report = exported.report_of(DEMO)
    said = exported.export('csv', DEMO)
    tap.same(read(said), read(exported.export('csv', '-t', 'residency', DEMO)),
             'residency if nothing is said')
    path = tmp / 'm.csv'
    path.write_text('old')
    exported.export('csv', '--table', 'migrator', '-o', path, DEMO)
    tap.same(rows_of(read_file(path), 'demo', 1), text(migrator(report)),
             'one table into a file, which is replaced')
    meta = json.loads((tmp / 'm.csv-metadata.json').read_text())
    tap.same([t['url'] for t in meta['tables']], ['m.csv'],
             'its description beside it')


def labels(tmp):
    """Label directories: numbers in order, label and run of each row."""
    base = exported.report_of(DEMO)
    for n in (1, 2, 10):
        exported.make_run(tmp / f'res/aware/run-{n}', base, DEMO)
    exported.make_run(tmp / 'res/split/run-1', exported.report_of(exported.ANSWERS[1]),
                      exported.ANSWERS[1])
    got = read(exported.export('csv', '-t', 'runs', tmp / 'res/aware',
                               tmp / 'res/split'))
    tap.same([(r['label'], r['run']) for r in got],
             [('aware', '1'), ('aware', '2'), ('aware', '10'), ('split', '1')],
             'label and run of directories')
    # A directory's own file of segments gives the rows that its recording does.
    run = tmp / 'res/aware/run-2'
    before = exported.export('csv', '-t', 'migrator-segments', run)
    rows = [line.split(',', 2)[2] for line in before.splitlines()]
    (run / 'migrator-segments.csv').write_text('\n'.join(rows) + '\n')
    (run / 'events.tmr').unlink()
    tap.same(exported.export('csv', '-t', 'migrator-segments', run), before,
             'segments from the table of the run directory')
    (run / 'migrator-segments.csv').write_text('\n'.join(rows)[:-1])
    done = exported.tmigr('export', '-f', 'csv', '-t', 'migrator-segments', run)
    tap.ok(done.returncode == 1 and b'middle of a row' in done.stderr,
           'a table that ends too early', [done.stderr])
    (run / 'migrator-segments.csv').write_text('a,b\n1,2\n')
    done = exported.tmigr('export', '-f', 'csv', '-t', 'migrator-segments', run)
    tap.ok(done.returncode == 1 and b'not a table' in done.stderr,
           "a table that is somebody else's", [done.stderr])


def hostile(tmp):
    report = exported.nasty_report()
    run = exported.make_run(tmp / 'nasty', report, DEMO)
    folder = tmp / 'out'
    exported.export('csv', '-o', folder, run)
    tap.ok((folder / 'metrics.csv').exists() and (folder / 'energy.csv').exists(),
           'metrics and energy where a run has them')
    of = {p.stem: read_file(p) for p in folder.glob('*.csv')}
    tap.same({(r['label'], r['run']) for t in of.values() for r in t},
             {(NASTY + '3', '7')}, 'the label comes through in every row')
    label = NASTY + '3'
    tap.same(rows_of(of['residency'], label, 7), text(residency(report)),
             'hostile names: residency')
    tap.same(rows_of(of['migrator'], label, 7), text(migrator(report)),
             'hostile names: migrator')
    tap.same(rows_of(of['remote'], label, 7), text(remote(report)),
             'hostile names: remote')
    tap.same(rows_of(of['metrics'], label, 7),
             [[NASTY, '14.4431', NASTY, 'higher'], ['n', '3', '', '']], 'metrics')
    tap.same(rows_of(of['energy'], label, 7), [[NASTY, '12000345']], 'energy')
    described(folder)


def main():
    with tempfile.TemporaryDirectory() as place:
        tmp = pathlib.Path(place)
        for part in (tables, one_table, labels, hostile):
            part(tmp)
    tap.done()


main()
