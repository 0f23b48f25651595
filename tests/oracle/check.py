# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks of a run against the trace buffer of the same time.

The trace has neither sequence numbers nor snapshots; the oracle makes do with
what it has, and claims nothing where that is not enough. Every bound comes from
the stamps of the very run, so a machine that stalls cannot make one fail."""

import collections
import statistics

import align
import figures
import hierarchy

FEW = 20  # idle entries that can be missing from a trace by chance


def nobody(regime):
    """Duty and free need the snapshots; to the trace both are "nobody"."""
    return 'nobody' if regime in ('duty', 'free') else regime


class Oracle(figures.Window):
    """Who holds, as far as the words tell: no duties."""

    def _duty(self, cpu):
        return figures.Line(True)


def window(run, evs):
    hier = hierarchy.Hierarchy()
    hier.learn(evs)
    classes = {c['cpu']: (c['class'], c['capacity'])
               for c in run.report['cpus']}
    return Oracle(evs, hier, classes, run.start, run.end)


def sequences(tap, run, pairs, blind):
    tap.ok(not pairs.problems, 'each CPU: same events in the same order',
           pairs.problems)
    alone = {cpu: len(evs) for cpu, evs in pairs.alone.items()
             if cpu not in blind}  # its records were not paired at all
    tap.ok(all(n <= 1 for n in alone.values()),
           'no event in the window but those at its edges lacks a record',
           [f'{alone}'])
    apart = [abs(e.t - r.t) for e, r in pairs.of.items()]
    if apart:
        tap.note(f'{len(apart)} events, {len(run.records)} records; stamps '
                 f'apart: median {statistics.median(apart)} ns, most '
                 f'{max(apart)} ns')
        tap.ok(statistics.median(apart) < 100_000, 'stamps are near each other')
    for cpu, n in blind.items():
        tap.skip(f'CPU {cpu}', unseen(n))
    tap.same(run.report['lost']['records'], 0, 'no record lost')


def word_order(tap, oracle, origin, pairs):
    """The rebuilt order is the order of the sequence numbers."""
    wrong, n = [], 0
    for group, updates in oracle.updates.items():
        seqs = [pairs.of[origin[u.e]].seq for u in updates
                if origin[u.e] in pairs.of]
        n += len(seqs)
        wrong += [f'{group:#x}: {a} then {b}' for a, b in zip(seqs, seqs[1:])
                  if (b - a) & 0xffff != 1]
    if n:
        tap.ok(not wrong, f'{n} updates: order rebuilt = order by seq', wrong)
    else:
        tap.skip('order rebuilt = order by seq', 'no update in the window')
    tap.note(f'{oracle.order_counts[2]} not where the trace has them')


def residency(tap, run, oracle, raw, pairs):
    """Time per state to the ns on the records' clock; on the trace's own it
    differs by no more than the stamps do."""
    for c in run.report['cpus']:
        cpu = c['cpu']
        time, entries, hist = oracle.residency(cpu)
        if figures.UNKNOWN_SLOT in time:
            tap.skip(f'CPU {cpu}: idle times', 'the trace has no event before')
            continue
        if c['unknown_ns'] and not any(e.cpu == cpu for e in pairs.of):
            tap.skip(f'CPU {cpu}: idle times', 'the product has no event')
            continue
        got = {s['index'] + 1: s for s in c['states']}
        got_time = {k: s['time_ns'] for k, s in got.items() if s['time_ns']}
        if c['running_ns']:
            got_time[figures.RUNNING] = c['running_ns']
        tap.same(got_time, time, f'CPU {cpu}: time per state, exact')
        tap.same({k: s['entries'] for k, s in got.items() if s['entries']},
                 entries, f'CPU {cpu}: entries per state')
        durations(tap, cpu, got, hist)
        shift = sum(abs(e.t - r.t) for e, r in pairs.of.items()
                    if e.cpu == cpu and e.name == 'cpu_idle')
        edge = sum(run.end - e.t for e in pairs.alone.get(cpu, ()))
        own = raw.residency(cpu)[0]
        off = max(abs(own.get(s, 0) - time.get(s, 0))
                  for s in set(own) | set(time))
        tap.ok(off <= shift + edge, f"CPU {cpu}: on the trace's own clock too",
               [f'{off} ns off, stamps {shift} ns, edges {edge} ns'])
        tap.same(c['unknown_ns'] + c['offline_ns'], 0, f'CPU {cpu}: all known')


def durations(tap, cpu, got, hist):
    """An interval that began before the programs were attached is known to the
    trace alone: one a CPU at most."""
    more = less = 0
    for slot in set(got) | set(hist):
        have = dict(enumerate(got[slot]['hist'])) if slot in got else {}
        want = hist.get(slot, {})
        for k in set(have) | set(want):
            d = want.get(k, 0) - have.get(k, 0)
            more, less = more + max(d, 0), less + max(-d, 0)
    tap.ok(less == 0 and more <= 1, f'CPU {cpu}: durations of idle intervals',
           [f'{more} missing, {less} too many'])


def remote(tap, run, oracle, blind):
    want = {pair: (n, woke) for pair, (n, woke) in oracle.remote().items()
            if pair[0] not in blind}
    got = {(r['executor'], r['target']): (r['count'], woken(r))
           for r in run.report['remote'] if r['executor'] not in blind}
    if not got and not want:
        tap.skip('remote expiries', 'none in the window')
        return
    tap.ok(got == want, 'remote expiries: count, and what they woke from',
           [f'{p}: product {got.get(p)}, oracle {want.get(p)}'
            for p in sorted(set(got) | set(want)) if got.get(p) != want.get(p)])
    tap.note(f'{sum(n for n, _ in want.values())} remote expiries')


def woken(entry):
    """{slot: count} of one pair."""
    out = {w['index'] + 1: w['count'] for w in entry['woke'] if w['count']}
    rest = entry['woke_executor'] - sum(out.values())
    return {**out, figures.UNKNOWN_SLOT: rest} if rest else out


def overlap(ours, theirs):
    """Two lists of (from, to, value) as [(ns, our value, their value, to)]."""
    out, j = [], 0
    for a, b, v in ours:
        while j < len(theirs) and theirs[j][1] <= a:
            j += 1
        k = j
        while k < len(theirs) and theirs[k][0] < b:
            p, q, w = theirs[k]
            out.append((min(b, q) - max(a, p), v, w, min(b, q)))
            k += 1
    return out


def holder(tap, run, oracle, raw):
    """Who holds, at every instant of the window."""
    roots = {tuple(r['cpus']): r for r in oracle.roots()}
    raw_roots = {tuple(r['cpus']): r for r in raw.roots()}
    names = {name(r): tuple(cpus_of(r)) for r in run.report['roots']}
    if not any(r.kind in (4, 5, 32, 33, 34) for r in run.records):
        tap.same(names, {}, 'no roots without a record of one')
        return
    # A CPU without an event is in no root of the oracle's.
    tap.ok(all(any(set(r) <= set(n) for n in names.values()) for r in roots),
           'same roots', [f'oracle {list(roots)}, product {names}'])
    for root, cpus in names.items():
        mine = next((r for c, r in roots.items() if set(c) <= set(cpus)), None)
        if mine is None:
            tap.skip(f'{root}: holder', 'the trace has none of its updates')
            continue
        theirs = [(run.start + int(s['start_ns']),
                   run.start + int(s['end_ns']),
                   (nobody(s['regime']),
                    int(s['cpu']) if s['regime'] == 'held' else None))
                  for s in run.segments if s['root'] == root]
        ours = [(a, b, (nobody(r), c)) for a, b, (r, c) in mine['segments']]
        rows = [(s['regime'], s['cpu']) for s in run.segments
                if s['root'] == root]
        tap.ok(all(a != b for a, b in zip(rows, rows[1:])),
               f'{root}: each segment is as long as can be')
        known = learnt(run, oracle, mine['top'])
        exact(tap, root, ours, theirs, known)
        on_own_clock(tap, root, oracle, raw, raw_roots, mine, theirs, known)
        figures_of(tap, root, run, oracle, mine, known)


def learnt(run, oracle, root):
    """From when on the product could know all of a root: the words of its
    groups and the duties of its CPUs, by a record of each. A machine without
    one idle moment gives it no chance before; then it must say "unknown"."""
    groups, cpus = {}, {}
    for r in run.records:
        if r.kind in (4, 5, 34):
            groups.setdefault(r.a, r.t)
        elif r.kind in (6, 7, 8, 10, 35, 37):
            cpus.setdefault(r.b, r.t)
    below = [g for g in oracle.hier.groups if oracle.hier.top(g) == root]
    mine = [c for c, (g, _) in oracle.hier.cpus.items() if g in below]
    return max([groups.get(g, run.end) for g in below]
               + [cpus.get(c, run.end) for c in mine])


def exact(tap, root, ours, theirs, known):
    both = overlap(ours, theirs)
    wrong = [x for x in both if x[1][0] != 'unknown' and x[1] != x[2]
             and not (x[2][0] == 'unknown' and x[3] <= known)]
    claimed = sum(x[0] for x in both if x[1][0] != 'unknown')
    tap.note(f'{root}: {len(ours)} segments; the trace tells the holder for '
             f'{claimed} of {sum(x[0] for x in both)} ns')
    if not claimed:
        tap.skip(f'{root}: holder', 'the trace does not tell it')
        return
    tap.ok(not wrong, f'{root}: same holder at every instant', wrong)


def on_own_clock(tap, root, oracle, raw, raw_roots, mine, theirs, known):
    """With the trace's own stamps: what differs is no more than the times at
    which the words changed differ."""
    other = next(r for c, r in raw_roots.items() if set(c) >= set(mine['cpus']))
    ours = [(a, b, (nobody(r), c)) for a, b, (r, c) in other['segments']]
    off = sum(ns for ns, v, w, to in overlap(ours, theirs)
              if v[0] != 'unknown' and v != w
              and not (w[0] == 'unknown' and to <= known))
    when = {u.e.order: u.effective for us in raw.updates.values() for u in us}
    bound = sum(abs(u.effective - when[u.e.order])
                for us in oracle.updates.values() for u in us)
    tap.ok(off <= bound, f"{root}: the same on the trace's own clock",
           [f'{off} ns differ, words changed {bound} ns apart in all'])
    tap.note(f'{root}: {off} ns of {oracle.end - oracle.start} differ there')


def figures_of(tap, root, run, oracle, mine, known):
    """Holdings, when the trace knew the holder all the time."""
    if mine['regimes'].get('unknown') or known > run.start:
        tap.skip(f'{root}: holdings', 'one of the two does not know the start')
        return
    report = next(r for r in run.report['roots'] if name(r) == root)
    got = {h['cpu']: (h['held_ns'], h['holdings'], h['longest_ns'])
           for h in report['holders']}
    want = {cpu: (h['held'], h['holdings'], h['longest'])
            for cpu, h in mine['holders'].items()}
    tap.same(got, want, f'{root}: held, holdings, longest of each CPU')
    got = {h['cpu']: (slots_of(h), h['avoidable_ns']) for h in report['holders']}
    want = {cpu: (h['slots'], h['avoidable'])
            for cpu, h in mine['holders'].items()}
    tap.same(got, want, f'{root}: what the holders were in, what was avoidable')
    got = {c['name']: (c['held_ns'], c['avoidable_ns'])
           for c in report['classes'] if c['held_ns']}
    tap.same(got, oracle.classes_held(mine), f'{root}: held by class')
    tap.same(report['unknown_ns'], 0, f'{root}: nothing unknown')


def slots_of(holder_):
    out = {s['index'] + 1: s['time_ns'] for s in holder_['idle_ns']}
    out[figures.RUNNING] = holder_['running_ns']
    return {slot: ns for slot, ns in out.items() if ns}


def name(root):
    return root.get('group') if isinstance(root.get('group'), str) else \
        root['name']


def cpus_of(root):
    out = []
    for part in root['cpus'].split(','):
        a, _, b = part.partition('-')
        out += range(int(a), int(b or a) + 1)
    return out


def blind_cpus(evs, run):
    """{cpu: idle entries by the records} of CPUs of which the trace has no idle
    event at all, though they were idle in the window by the records. Seen on a
    virtual machine: neither ftrace nor perf got any event of one CPU's idle
    task, but BPF did. The test cannot tell that from records of what never was;
    so nothing is compared there, and nothing is claimed."""
    seen = {e.cpu for e in evs if e.name == 'cpu_idle'}
    entries = collections.Counter(r.cpu for r in run.records if r.kind == 1
                                  and run.start <= r.t < run.end)
    return {cpu: n for cpu, n in sorted(entries.items()) if cpu not in seen}


def unseen(n):
    """Why a blind CPU with so many idle entries is not compared."""
    if n < FEW:
        return (f'the trace has none of its {n} idle entries: too few to say '
                'whether its idle task is traced at all')
    return (f'the trace has none of its {n} idle entries: its idle task seems '
            'not to be traced')


def everything(tap, run, evs, overrun):
    """All checks."""
    tap.same(overrun, 0, 'the trace is whole')
    blind = blind_cpus(evs, run)
    pairs = align.align(evs, [r for r in run.records if r.cpu not in blind],
                        run.start, run.end)
    sequences(tap, run, pairs, blind)
    stamped, origin = align.restamped(evs, pairs, run.start, run.end)
    oracle, raw = window(run, stamped), window(run, evs)
    residency(tap, run, oracle, raw, pairs)
    remote(tap, run, oracle, blind)
    if blind:
        cpus = ', '.join(str(cpu) for cpu in blind)
        tap.skip('holder', 'the trace may lack updates that were made by CPU '
                 f'{cpus}, of which it has no idle event')
        return
    odd, breaks, _ = oracle.order_counts
    tap.ok(not odd and not breaks, 'the words have an order',
           [f'{odd + breaks} updates do not follow from the one before'])
    word_order(tap, oracle, origin, pairs)
    holder(tap, run, oracle, raw)
    tap.same(run.report['lost']['group_updates'], 0, 'no update lost')
