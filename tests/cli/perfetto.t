#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigr export --format perfetto: the trace, decoded by protoc, against the
report and the recording."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import align  # noqa: E402
import perfetto  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

BUILD = pathlib.Path(os.environ['B'])
TMIGR = BUILD / 'tmigr'
PROTO = TESTS.parent / 'lib/perfetto.proto'
IDLE_ENTER, IDLE_EXIT, REMOTE, LOST = 1, 2, 10, 64
SPECIAL = {-1: 'running_ns', -2: 'offline_ns', -3: 'unknown_ns'}
REGIMES = {'hand-over in flight': 'handover_ns', 'unknown': 'unknown_ns',
           'nobody: an idle CPU has the wakeup duty': 'duty_ns',
           'nobody: no global timer pending': 'free_ns'}
tap = Tap()


def report_of(recording):
    done = subprocess.run([TMIGR, 'report', '--json', recording],
                          capture_output=True)
    return json.loads(done.stdout)


def records_of(recording):
    dump = subprocess.run([BUILD / 'tests/programs/rec-dump', recording],
                          capture_output=True, text=True)
    return [align.Record(x) for x in dump.stdout.splitlines()
            if x.startswith('rec ')]


def export(recording, out, want=0):
    done = subprocess.run([TMIGR, 'export', '--format', 'perfetto', '-o', out,
                           recording], capture_output=True, text=True)
    tap.ok(done.returncode == want, f'exit {want}', [done.stderr])
    return done.stderr


class Export:
    """A trace and what it must show."""

    def __init__(self, name, recording, out, want=0):
        self.name = name
        self.said = export(recording, out, want)
        self.report = report_of(recording)
        self.start = self.report['start_ns']
        self.end = self.start + self.report['window_ns']
        self.records = [r for r in records_of(recording)
                        if self.start <= r.t < self.end]
        self.trace = perfetto.Trace(out, PROTO)
        self.cpus = {f"CPU {c['cpu']} ({c['class']})": c['cpu']
                     for c in self.report['cpus']}

    def same(self, got, want, what):
        tap.same(got, want, f'{self.name}: {what}')

    def ok(self, good, what, why=()):
        tap.ok(good, f'{self.name}: {what}', why)


def well_formed(x):
    x.ok(not x.trace.wrong, 'well formed', x.trace.wrong)
    x.same(x.trace.clocks, {perfetto.MONOTONIC: x.start,
                            perfetto.BOOTTIME: x.start}, 'clocks')


def fills(x, slices):
    at = x.start
    for s in slices:
        if s.start != at:
            return False
        at = s.end
    return at == x.end


def add_up(slices):
    sums = collections.Counter()
    for s in slices:
        sums[s.name] += s.end - s.start
    return sums


def folders(x):
    """What is drawn lies below one track."""
    x.same(x.trace.without_parent(), ['Timer migration'], 'one track holds the others')


def holders(x):
    """One track a root: its slices are the report's figures, to the ns."""
    tracks = x.trace.in_folder('Global migrator')
    x.same(list(tracks), [f"of {r['group']} [CPU {r['cpus']}]"
                          for r in x.report['roots']], 'a track a root')
    for root, uuid in zip(x.report['roots'], tracks.values()):
        slices = x.trace.slices[uuid]
        x.ok(fills(x, slices), f"{root['group']}: slices fill the window")
        sums = add_up(slices)
        want = {f"CPU {h['cpu']} ({h['class']})": h['held_ns']
                for h in root['holders']}
        want.update({n: root[key] for n, key in REGIMES.items()})
        x.same({n: v for n, v in sums.items() if v},
               {n: v for n, v in want.items() if v},
               f"{root['group']}: slices add up to the report")
        of = collections.defaultdict(list)
        for s in slices:
            of[s.name].append(s)
            if s.name not in REGIMES and s.args != {'cpu': x.cpus[s.name]}:
                x.ok(False, f'arguments of {s}')
        x.same({h['cpu']: (len(of[n]), max(s.end - s.start for s in of[n]))
                for h in root['holders']
                for n in [f"CPU {h['cpu']} ({h['class']})"]},
               {h['cpu']: (h['holdings'], h['longest_ns'])
                for h in root['holders']},
               f"{root['group']}: number and longest of holdings")


class Walk:
    """From a group down, by the groups' tracks."""

    def __init__(self, x):
        self.x = x
        self.slices = {name.split(' ')[0]: x.trace.slices[uuid] for name, uuid
                       in x.trace.in_folder('Migrator of each').items()}
        self.at = dict.fromkeys(self.slices, 0)

    def down(self, group, t):
        """t never goes back."""
        while group in self.slices:
            of, i = self.slices[group], self.at[group]
            while of[i].end <= t:
                i += 1
            self.at[group] = i
            group = of[i].name
        return group


def groups(x):
    tree = x.report['hierarchy']['groups']
    tracks = x.trace.in_folder('Migrator of each')
    x.same(list(tracks), [f"{g['name']} [CPU {g['cpus']}]" for g in tree],
           'a track a group')
    x.same([n for n, u in tracks.items() if not fills(x, x.trace.slices[u])],
           [], 'slices of groups fill the window')
    bad = []
    for root, uuid in zip(x.report['roots'],
                          x.trace.in_folder('Global migrator').values()):
        walk = Walk(x)
        for s in x.trace.slices[uuid]:
            want = s.name if s.name in x.cpus else 'none'
            for t in (s.start, s.end - 1):
                got = walk.down(root['group'], t)
                if got != want and s.name != 'unknown':
                    bad.append(f'{t}: {got} is not {want}')
    x.ok(not bad, 'from the root down they lead to the holder', bad)


def states(x):
    """Counters of idle states: the residency of the timeline."""
    tracks = x.trace.in_folder('cpu_idle')
    x.same(list(tracks), list(x.cpus), 'a counter a CPU')
    timeline = x.report['residency_source'] == 'timeline'
    for cpu, uuid in zip(x.report['cpus'], tracks.values()):
        points = x.trace.counters[uuid]
        sums = collections.Counter()
        for (t, value), (after, _) in zip(points, points[1:] + [(x.end, 0)]):
            if t >= after:
                x.ok(False, f"CPU {cpu['cpu']}: counter goes back at {t}")
            sums[value] += after - t
        want = {k: cpu[name] for k, name in SPECIAL.items()}
        want.update({s['index']: s['time_ns'] for s in cpu['states']})
        off = {k: sums[k] - v for k, v in want.items() if sums[k] != v}
        if points[0][0] != x.start:
            off['start'] = points[0][0] - x.start
        # What was counted in maps has stamps of its own.
        limit = 0 if timeline else x.report['window_ns'] // 1000
        if any(abs(v) > limit for v in off.values()):
            x.ok(False, f"CPU {cpu['cpu']}: residency", [f'off by {off} ns'])
    x.ok(True, 'residency of every CPU was looked at')


def idle_events(x):
    """ftrace's own events: those of the recording."""
    by_cpu = collections.defaultdict(list)
    for r in x.records:
        if r.kind in (IDLE_ENTER, IDLE_EXIT):
            by_cpu[r.cpu].append((r.t, r.cpu, r.a if r.kind == IDLE_ENTER
                                  else 2 ** 32 - 1))
    got = collections.defaultdict(list)
    for e in x.trace.idle:
        got[e[1]].append(e)
    x.ok(x.trace.idle and got == by_cpu, 'cpu_idle events are the recorded ones',
         [f'{len(x.trace.idle)} events'])
    x.same({c for c, n in x.trace.lost.items() if n},
           {r.cpu for r in x.records if r.kind == LOST}, 'losses are told')


def remote(x):
    """Instants: the expiries of the recording, and of the report."""
    tracks = x.trace.in_folder('Remote expiries')
    got = []
    for name, uuid in tracks.items():
        for i in x.trace.instants[uuid]:
            got.append((i.t, i.args['executor'], i.args['target']))
            cpu = f"CPU {i.args['executor']} ({i.args['executor_class']})"
            target = f"CPU {i.args['target']} ({i.args['target_class']})"
            if name != f'run by {cpu}' or target not in x.cpus:
                x.ok(False, f'arguments of {i} on {name}')
    want = [(r.t, r.cpu, r.b) for r in x.records if r.kind == REMOTE]
    x.same(sorted(got), sorted(want), 'remote expiries are the recorded ones')
    if x.report['residency_source'] != 'timeline':
        return
    woke = collections.Counter(
        (i.args['executor'], i.args['target'], i.args['woke_executor_from'])
        for u in tracks.values() for i in x.trace.instants[u]
        if 'woke_executor_from' in i.args)
    x.same(dict(woke), {(p['executor'], p['target'], w['name'] or 'unknown'):
                        w['count'] for p in x.report['remote']
                        for w in p['woke'] if w['count']},
           'what they woke the executor from')


def notes(x):
    uuid = next(u for u, t in x.trace.tracks.items() if t[0] == 'Run and marks')
    run, *marks = x.trace.instants[uuid]
    x.same((run.t, run.args['window_ns'], run.args['answer']),
           (x.start, x.end - x.start, x.report['answer']['text']), 'the run')
    x.same(run.args.get('partial'), x.report.get('partial'), 'partial or not')
    x.same([(m.t, m.name, m.args['label']) for m in marks],
           [(m['time_ns'], m['text'], m['text'])
            for m in x.report.get('marks', [])], 'marks')


def check(x):
    for part in (well_formed, folders, holders, groups, states, idle_events, remote,
                 notes):
        part(x)


def made_up(tmp, name, args, info=None):
    """A recording with names and facts as asked for."""
    path = tmp / f'{name}.tmr'
    if info is not None:
        (tmp / 'info.json').write_text(json.dumps(info))
        args = [*args, '-i', tmp / 'info.json']
    subprocess.run([BUILD / 'tests/programs/make-recording', *args, path],
                   check=True)
    return path


def hostile(tmp):
    """Names that would break out of a weaker format."""
    plain = 'a"b,<c>\\\'] {'  # recordings hold no other names
    nasty = plain + 'é\n\t\r"'
    marks = [{'time_ns': 10 ** 12 + 5 * 10 ** 6, 'text': nasty},
             {'time_ns': 10 ** 12 + 9 * 10 ** 6, 'text': 'x\x01\u202e} packet {'}]
    path = made_up(tmp, 'hostile', ['-c', '4', '-l', plain, '-s', plain],
                   {'label': nasty, 'marks': marks})
    x = Export('hostile names', path, tmp / 'hostile.pftrace')
    tap.same(x.report['classes'][0]['name'], plain, 'the name is as meant')
    check(x)


def cut(tmp):
    """Recordings that stop early: what they hold, and it is said."""
    whole = (TESTS.parent / 'demo/events.tmr').read_bytes()
    for share in (50, 90):
        path = tmp / 'cut.tmr'
        path.write_bytes(whole[:len(whole) * share // 100])
        x = Export(f'cut at {share} %', path, tmp / 'cut.pftrace', 1)
        x.ok('a part of the run only' in x.said and x.said.count('\n') == 1,
             'one line says so', [x.said])
        x.ok(x.report['window_ns'] and x.report['roots'], 'it holds something')
        check(x)
    path.write_bytes(whole[:40])
    said = export(path, tmp / 'none.pftrace', 1)
    tap.ok(said.count('\n') == 1 and not (tmp / 'none.pftrace').exists(),
           'cut in its head: one line, no file', [said])


def refusals(tmp):
    demo = TESTS.parent / 'demo/events.tmr'
    (tmp / 'empty').mkdir()
    for args, why, want in (
            ([demo, demo], 'of one run', 2), ([tmp / 'empty'], '--record', 1),
            (['-'], 'standard input', 2), ([tmp / 'nothing'], 'nothing', 1)):
        done = subprocess.run([TMIGR, 'export', '-f', 'perfetto', *args],
                              capture_output=True, text=True, input='')
        tap.ok(done.returncode == want and why in done.stderr
               and done.stderr.count('\n') == 1 and not done.stdout,
               f'{why}: one line', [done.returncode, done.stderr])
    os.mkfifo(tmp / 'fifo')
    done = subprocess.run([TMIGR, 'export', '-f', 'perfetto', tmp / 'fifo'],
                          capture_output=True, text=True, timeout=300)
    tap.ok(done.returncode == 1 and 'pipe' in done.stderr, 'no pipe',
           [done.stderr])


def run_dir(tmp):
    d = tmp / 'run'
    d.mkdir()
    shutil.copy(TESTS.parent / 'demo/events.tmr', d)
    a, b = tmp / 'a.pftrace', tmp / 'b.pftrace'
    export(d, a)
    done = subprocess.run([TMIGR, 'export', '-f', 'perfetto',
                           d / 'events.tmr'], capture_output=True)
    b.write_bytes(done.stdout)
    tap.ok(a.read_bytes() == b.read_bytes() != b'',
           'a run directory, a recording, a file, a pipe: the same bytes')


def main():
    said = subprocess.run([TMIGR, '--version'], capture_output=True, text=True)
    if 'no protobuf-c' in said.stdout:
        skip_all('built without protobuf-c')
    if not shutil.which('protoc'):
        skip_all('no protoc to decode with')
    recordings = [TESTS.parent / 'demo/events.tmr',
                  *sorted((TESTS / 'fixtures/runs').glob('*/*.tmr'))]
    with tempfile.TemporaryDirectory() as place:
        tmp = pathlib.Path(place)
        for recording in recordings:
            name = f'{recording.parent.name}/{recording.name}'
            check(Export(name, recording, tmp / 'x.pftrace'))
        for n_cpus in (2, 20, 130):
            path = made_up(tmp, 'made', ['-c', str(n_cpus)])
            check(Export(f'{n_cpus} CPUs', path, tmp / 'x.pftrace'))
        hostile(tmp)
        cut(tmp)
        refusals(tmp)
        run_dir(tmp)
    tap.done()


main()
