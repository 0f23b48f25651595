#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces as text: the captures of boards through `tmigr import`, in each of the
forms that text comes in, against the oracle's figures of the same events."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import capture  # noqa: E402
import compare  # noqa: E402
import events  # noqa: E402
import gzip  # noqa: E402
import hierarchy  # noqa: E402
import order  # noqa: E402
import textform  # noqa: E402
from tap import Tap  # noqa: E402

B = pathlib.Path(os.environ['B'])
FEED, DUMP, TMIGR = (B / 'tests/programs/model-feed',
                     B / 'tests/programs/rec-dump', B / 'tmigr')
# Dated back from the first events, which the oracle does not do.
SNAP = {34, 35}
tap = Tap()
tmp = pathlib.Path(tempfile.mkdtemp())


def tmigr(*args, text=None):
    data = text if text is None or isinstance(text, bytes) else text.encode()
    return subprocess.run([TMIGR, *map(str, args)], input=data,
                          capture_output=True, check=False)


def report(text, *args, rc=0):
    """The report of a text by standard input, as an object."""
    r = tmigr('report', '--json', *args, '-', text=text)
    if r.returncode != rc:
        tap.ok(False, 'report', [r.stderr.decode(errors='replace')])
        return {}
    return json.loads(r.stdout)


def imported(name, text, *args):
    """Of a run directory made of @text: (report, lines of its records)."""
    out = tmp / name
    r = tmigr('import', '-q', '-o', out, *args, '-', text=text)
    if r.returncode:
        tap.ok(False, f'{name}: import', [r.stderr.decode(errors='replace')])
        return {}, []
    dump = subprocess.run([DUMP, out / 'events.tmr'], capture_output=True,
                          text=True, check=True)
    return (json.loads((out / 'report.json').read_text()),
            dump.stdout.splitlines())


def figures_of(rep):
    """What must not depend on the form of the text."""
    return {k: rep.get(k) for k in
            ('start_ns', 'window_ns', 'answer', 'classes', 'roots', 'remote',
             'cpus', 'lost')}


def without_snaps(recs):
    return [x for x in recs if not (x.startswith('rec ') and
                                    int(x.split()[3]) in SNAP)]


def against_oracle(cap, name, text, window, snapshot):
    """Every figure, to the ns."""
    rep, recs = imported(name, text, '--cpus', snapshot)
    if not recs:
        return rep
    lines = [x for x in without_snaps(recs) if not x.startswith('advance')]
    # The window comes last in the dump.
    answer = cap.feed_lines(FEED, [lines[-1], *lines[:-1]])
    diff = compare.differences(window, answer)
    tap.ok(not diff, f'{name}: the records give what the oracle says', diff)
    residency(name, window, rep)
    holders(name, window, rep)
    again = tmigr('report', '--json', tmp / name / 'events.tmr')
    tap.ok(again.stdout == tmigr('report', '--json', tmp / name).stdout,
           f'{name}: run directory and recording: the same bytes')
    return rep


def residency(name, window, rep):
    bad = []
    for c in rep['cpus']:
        time, entries, _ = window.residency(c['cpu'])
        got = {1 + s['index']: (s['time_ns'], s['entries'])
               for s in c['states'] if s['time_ns'] or s['entries']}
        want = {k: (time.get(k, 0), entries.get(k, 0))
                for k in set(time) | set(entries) if 1 <= k <= 10}
        if (got, c['running_ns'], c['unknown_ns']) != (
                want, time.get(0, 0), time.get(11, 0)):
            bad.append(f"CPU {c['cpu']}: {got}, oracle {want}")
    tap.ok(not bad, f"{name}: the report's residency is the oracle's", bad)
    want = {p: n for p, (n, _) in window.remote().items()}
    tap.same({(r['executor'], r['target']): r['count'] for r in rep['remote']},
             want, f"{name}: the report's remote expiries")


def holders(name, window, rep):
    """The same, but for what was unknown at the window's start and is not any
    more: only that may grow, and by no more than that."""
    bad = []
    for want, got in zip(window.roots(), rep['roots']):
        spare = want['regimes'].get('unknown', 0) - got['unknown_ns']
        now = {h['cpu']: h['held_ns'] for h in got['holders']}
        grown = [now.get(c, 0) - h['held'] for c, h in want['holders'].items()]
        if spare < 0 or min(grown + [0]) < 0 or sum(grown) > spare:
            bad.append(f'unknown less by {spare}, held more by {grown}')
        extra = set(now) - set(want['holders'])
        if sum(now[c] for c in extra) > spare:
            bad.append(f'holders {extra} are not the oracle\'s')
    tap.ok(len(rep['roots']) == len(window.roots()) and not bad,
           f"{name}: the report's holders are the oracle's", bad)


def late(cap, seed):
    """Lines of the capture with stamps of updates put off (by up to 0.5 ms, but
    not beyond the CPU's next event), sorted by them: the file's order is then
    not the words' order."""
    rng = random.Random(seed)
    ls = textform.lines(gzip.open(cap.folder / 'trace.txt.gz', 'rt').read())
    by_cpu = {}
    for x in ls:
        by_cpu.setdefault(x.cpu, []).append(x)
    for xs in by_cpu.values():
        for x, after in zip(xs, xs[1:]):
            if x.name in hierarchy.GROUP_SET and rng.random() < .1:
                x.t = min(x.t + rng.randrange(500) * 1000, after.t)
    return sorted(ls, key=lambda x: x.t)


def forms(cap, ls, snapshot):
    """The same figures from all."""
    base = figures_of(report('\n'.join(textform.ftrace(ls)) + '\n',
                             '--cpus', snapshot))
    hostile = textform.lines('\n'.join(textform.ftrace(ls)))
    for i, x in enumerate(hostile):
        if i % 3 == 0:
            x.comm = textform.HOSTILE[i // 3 % len(textform.HOSTILE)]
    stripped = [t.lstrip() for t in textform.ftrace(ls)]
    variants = {
        'no flags': textform.ftrace(ls, flags=False),
        'thread groups': textform.ftrace(ls, tgid=True),
        'nanoseconds': textform.ftrace(ls, digits=9),
        'trace-cmd report': textform.trace_cmd(ls),
        'trace-cmd report -t': textform.trace_cmd(ls, digits=9),
        'trace-cmd report -l': textform.latency(ls),
        'perf script': textform.perf(ls),
        'perf script --ns': textform.perf(ls, digits=9),
        'perf script with thread numbers': textform.perf(ls, tids=True),
        'hostile names': textform.ftrace(hostile),
        'hostile names, perf': textform.perf(hostile),
        'blanks taken away': stripped,
        'other events and lines': textform.mixed(textform.ftrace(ls), 1),
        'old names': (t.replace('childmask=', 'groupmask=')
                      for t in textform.ftrace(ls)),
        'new names and fields': (
            t.replace('numa=', 'family=').replace('lvl=', 'x_y=7 lvl=')
            + ' later=thing' for t in textform.ftrace(ls)),
    }
    for name, texts in variants.items():
        text = '\n'.join(texts) + '\n'
        tap.same(figures_of(report(text, '--cpus', snapshot)), base,
                 f'{cap.name}: {name}')
    crlf = '\r\n'.join(textform.ftrace(ls)) + '\r\n'
    tap.same(figures_of(report(crlf, '--cpus', snapshot)), base,
             f'{cap.name}: lines that end with CR LF')


def hashed(cap, ls, window, snapshot):
    """Pointers hashed: other keys, the same figures."""
    import re
    text = '\n'.join(textform.ftrace(ls)) + '\n'
    swap = re.sub(r'(group|parent|child)=([0-9a-f]{16})',
                  lambda m: f'{m[1]}=' + ('0' * 16 if not int(m[2], 16) else
                                          f'{hash(m[2]) & 0xffffffff:016x}'),
                  text)
    tap.same(figures_of(report(swap, '--cpus', snapshot)),
             figures_of(report(text, '--cpus', snapshot)),
             f'{cap.name}: hashed pointers')


def main():
    folders = capture.folders(TESTS)
    tap.ok(folders, 'there are captures')
    moved = 0
    for seed, folder in enumerate(folders):
        cap = capture.Capture(folder, boot=False)
        snapshot = tmp / f'sysfs-{seed}'
        cap.make_sysfs(snapshot)
        text = gzip.open(folder / 'trace.txt.gz').read()
        against_oracle(cap, cap.name, text, cap.window(), snapshot)
        ls = late(cap, seed)
        text = '\n'.join(textform.ftrace(ls)) + '\n'
        cap.events = events.parse(text.splitlines())
        window = cap.window()
        rep = against_oracle(cap, f'{cap.name}, late', text, window, snapshot)
        moved += rep['import']['reordered']
        if seed == 0:
            forms(cap, ls, snapshot)
            hashed(cap, ls, window, snapshot)
    tap.ok(moved, 'records were put in order', [f'{moved}'])
    tap.done()


try:
    main()
finally:
    subprocess.run(['rm', '-rf', tmp], check=False)
