# SPDX-License-Identifier: GPL-2.0-or-later
"""The oracle's figures against the model's, both ways, to the ns."""

REGIMES = ('held', 'handover', 'duty', 'free', 'unknown')


def dense(mapping, n):
    return [mapping.get(i, 0) for i in range(n)]


def _one(out, what, want, got):
    if want != got:
        out.append(f'{what}: oracle {want}, model {got}')


def _cpus(window, answer, out):
    got = {c['cpu']: c for c in answer['cpus']}
    _one(out, 'CPUs', window.cpus, sorted(got))
    for cpu in window.cpus:
        time, entries, hist = window.residency(cpu)
        above, below = window.misses(cpu)
        c = got[cpu]
        n = len(c['time_ns'])
        _one(out, f'CPU {cpu} time', dense(time, n), c['time_ns'])
        _one(out, f'CPU {cpu} entries', dense(entries, n), c['entries'])
        _one(out, f'CPU {cpu} above', dense(above, n), c['above'])
        _one(out, f'CPU {cpu} below', dense(below, n), c['below'])
        _one(out, f'CPU {cpu} hist',
             [dense(hist.get(s, {}), len(c['hist'][0])) for s in range(n)],
             c['hist'])
        _one(out, f'CPU {cpu} sum', window.end - window.start,
             sum(c['time_ns']))


def _roots(window, answer, out):
    roots = window.roots()
    _one(out, 'number of roots', len(roots), len(answer['roots']))
    for i, (root, got) in enumerate(zip(roots, answer['roots'])):
        want = {r: root['regimes'].get(r, 0) for r in REGIMES}
        _one(out, f'root {i} regimes', want, dict(zip(REGIMES,
                                                      got['regimes'])))
        _one(out, f'root {i} sum', window.end - window.start,
             sum(got['regimes']))
        segments = [(a, b, (REGIMES[r], cpu if cpu >= 0 else None))
                    for at, r, cpu, a, b in answer['segments'] if at == i]
        _segments(root['segments'], segments, i, out)
        holders = {h['cpu']: h for h in got['holders']}
        _one(out, f'root {i} holders', sorted(root['holders']),
             sorted(holders))
        for cpu in set(holders) & set(root['holders']):
            h, g = root['holders'][cpu], holders[cpu]
            for key in ('held', 'holdings', 'longest', 'avoidable',
                        'avoidable_unknown'):
                _one(out, f'root {i} holder {cpu} {key}', h[key], g[key])
            _one(out, f'root {i} holder {cpu} slots',
                 dense(h['slots'], len(g['slots'])), g['slots'])


def _segments(want, got, i, out):
    if want == got:
        return
    for n, (w, g) in enumerate(zip(want, got)):
        if w != g:
            out.append(f'root {i} segment {n}: oracle {w}, model {g}')
            return
    out.append(f'root {i}: oracle {len(want)} segments, model {len(got)}')


def _remote(window, answer, out):
    n = len(answer['cpus'][0]['time_ns'])
    want = {pair: (count, dense(woke, n))
            for pair, (count, woke) in window.remote().items()}
    got = {(r['executor'], r['target']): (r['count'], r['woke'])
           for r in answer['remote']}
    for pair in sorted(set(want) | set(got)):
        _one(out, f'remote {pair}', want.get(pair), got.get(pair))


def differences(window, answer):
    """Lines that say where model-feed's @answer is not the oracle's."""
    out = []
    _cpus(window, answer, out)
    _roots(window, answer, out)
    _remote(window, answer, out)
    for key in ('lost_records', 'lost_updates', 'late_updates'):
        _one(out, key, 0, answer[key])
    return out
