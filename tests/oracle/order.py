# SPDX-License-Identifier: GPL-2.0-or-later
"""The order in which a group's state word was written.

The trace has the word that each update left, without its sequence number, and
a stamp taken some time after the update: with two CPUs at one group the
stamps' order need not be the words' order. But each update changes only its own
child's bit, and moves the migrator only by the rules below, so the words tell
what can follow what; and the updates of one CPU are in order. What is left is
decided by the stamps: of all orders that the words allow, the one that puts
the fewest and shortest stamps the wrong way round."""

NOBODY = 0xff
LOOKAHEAD_NS = 100_000_000
HORIZONS_NS = (0, 30_000, 300_000, 5_000_000, LOOKAHEAD_NS)
BEAM = 64
ODD = 10**12    # cost of a migrator that the rules do not explain
BREAK = 10**15  # cost of a word that cannot follow the one before


class Update:
    """One update of one group: its event, and what is found out about it."""
    __slots__ = ('e', 'active', 'migrator', 'mask', 'sets', 'level', 'seq',
                 'effective')

    def __init__(self, e):
        self.e = e
        self.active = e.f['active']
        self.migrator = e.f['migrator']
        self.mask = e.f['childmask']
        self.level = e.f['lvl']
        self.sets = e.name == 'tmigr_group_set_cpu_active'
        self.seq = None        # place in the group's order, from 0
        self.effective = None  # ns; see effective_times()


def step_cost(prev, u):
    """0 when @u can follow the update @prev (None: start), else a penalty."""
    if prev is None:
        return 0
    if (prev.active ^ u.active) & ~u.mask:
        return BREAK
    has = bool(u.active & u.mask)
    if u.sets:
        if not has:
            return BREAK
        want = u.mask if prev.migrator == NOBODY else prev.migrator
        return 0 if u.migrator == want else ODD
    if has and u.level == 0:
        return BREAK  # a CPU's own deactivation clears its bit, always
    if prev.migrator != u.mask or has:
        return 0 if u.migrator == prev.migrator else ODD
    if u.active == 0:
        return 0 if u.migrator == NOBODY else ODD
    # Which of the active children takes over is the kernel's policy.
    return 0 if u.migrator != NOBODY and u.migrator & u.active else ODD


def _candidates(lists, pos, horizon_ns):
    """(cpu slot, update) of each CPU's next, none far behind the first."""
    heads = [(i, lst[p]) for i, (lst, p) in enumerate(zip(lists, pos))
             if p < len(lst)]
    first = min(u.e.t for _, u in heads)
    return [(i, u) for i, u in heads if u.e.t <= first + horizon_ns]


def _inversions(lists, pos, slot, u):
    """Sum of the time by which @u overtakes updates with earlier stamps."""
    total = 0
    for i, (lst, p) in enumerate(zip(lists, pos)):
        if i == slot:
            continue
        while p < len(lst) and lst[p].e.t < u.e.t:
            total += u.e.t - lst[p].e.t + 1
            p += 1
    return total


def _search(updates, horizon_ns):
    """The cheapest order in which no update overtakes one whose stamp is more
    than @horizon_ns before its own, and its cost."""
    by_cpu = {}
    for u in updates:
        by_cpu.setdefault(u.e.cpu, []).append(u)
    lists = list(by_cpu.values())
    # A state: cost, position in each list, last update, chain of choices.
    beam = [(0, (0,) * len(lists), None, None)]
    for _ in updates:
        steps = [(step_cost(last, u), cost, pos, slot, u, chain)
                 for cost, pos, last, chain in beam
                 for slot, u in _candidates(lists, pos, horizon_ns)]
        least = min(s[0] for s in steps)
        best = {}
        for step, cost, pos, slot, u, chain in steps:
            if step > least:
                continue
            c = cost + step + _inversions(lists, pos, slot, u)
            new = pos[:slot] + (pos[slot] + 1,) + pos[slot + 1:]
            if (new, slot) not in best or c < best[new, slot][0]:
                best[new, slot] = (c, new, u, (u, chain))
        beam = sorted(best.values(), key=lambda s: s[0])[:BEAM]
    cost, _, _, chain = beam[0]
    order = []
    while chain:
        order.append(chain[0])
        chain = chain[1]
    order.reverse()
    return order, cost


def rebuild(updates):
    """@updates of one group in the trace's order -> in the words' order.
    Returns (list, odd, breaks): the last two count what does not fit."""
    # Whole wake-ups of CPUs can change places as far as words go, so a wide
    # horizon has many answers to weigh; mostly a narrow one has an answer.
    best = None
    for horizon_ns in HORIZONS_NS:
        order, cost = _search(updates, horizon_ns)
        if best is None or cost < best[1]:
            best = order, cost
        if cost < ODD:
            break
    order, cost = best
    for i, u in enumerate(order):
        u.seq = i
    return order, cost % BREAK // ODD, cost // BREAK


def effective_times(order):
    """An update was made before its own stamp, and before the stamp of every
    later update of its group: the least of these is when it counts."""
    least = None
    for u in reversed(order):
        least = u.e.t if least is None else min(least, u.e.t)
        if u.e.t - least > LOOKAHEAD_NS:
            raise ValueError(f'stamps {u.e.t - least} ns the wrong way round')
        u.effective = least


def groups(events):
    """{group: [updates in the words' order]}, with seq and effective time, and
    counts (odd, breaks, moved) over all groups."""
    raw = {}
    for e in events:
        if e.name in ('tmigr_group_set_cpu_active',
                      'tmigr_group_set_cpu_inactive'):
            raw.setdefault(e.f['group'], []).append(Update(e))
    out, odd, breaks, moved = {}, 0, 0, 0
    for g, updates in raw.items():
        order, o, b = rebuild(updates)
        effective_times(order)
        out[g] = order
        odd, breaks = odd + o, breaks + b
        moved += sum(a is not b for a, b in zip(order, updates))
    return out, (odd, breaks, moved)
