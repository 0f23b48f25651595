#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Real traces of boards, read twice: by the oracle of tests/oracle, which knows
all events at once, and by the product's model, fed record by record. Same
figures, to the ns, or the test fails."""

import os
import pathlib
import random
import sys

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import capture  # noqa: E402
import compare  # noqa: E402
import hierarchy  # noqa: E402
import order  # noqa: E402
from tap import Tap  # noqa: E402

FEED = pathlib.Path(os.environ['B']) / 'tests/programs/model-feed'
tap = Tap()


def same_answer(cap):
    """Whole trace, and a part of it that begins and ends nowhere special."""
    whole = cap.window()
    odd, breaks, moved = whole.order_counts
    tap.ok(breaks == 0 and odd == 0, f'{cap.name}: the words have an order',
           [f'{breaks} words that cannot follow, {odd} odd migrators'])
    tap.note(f'{moved} updates are not where the trace has them')
    span = whole.end - whole.start
    part = cap.window(whole.start + span // 4 + 1234567,
                      whole.end - span // 4 - 7654321)
    answer = cap.feed(FEED, whole)
    diff = compare.differences(whole, answer)
    tap.ok(not diff, f'{cap.name}: oracle and model agree, whole', diff)
    diff = compare.differences(part, cap.feed(FEED, part))
    tap.ok(not diff, f'{cap.name}: oracle and model agree, part', diff)
    by_cpu = sorted(cap.events, key=lambda e: (-e.cpu, e.order))
    tap.ok(cap.feed(FEED, whole, by_cpu) == answer,
           f'{cap.name}: one CPU after the other gives the same answer')
    return whole, answer


def split_or_not(cap, window):
    """What is known about these two kernels, which differ in one thing."""
    roots = window.roots()
    span = window.end - window.start
    crossing = sum(n for (by, of), (n, _) in window.remote().items()
                   if cap.classes[by] != cap.classes[of])
    if 'split' in cap.name:
        each = [{name} for name in dict.fromkeys(cap.classes[c][0] for c in sorted(cap.classes))]
        tap.same([{cap.classes[c][0] for c in r['cpus']} for r in roots], each,
                 f'{cap.name}: one root a class')
        tap.same(crossing, 0, f'{cap.name}: no remote expiry across classes')
        tap.same([set(window.classes_held(r)) for r in roots], each,
                 f'{cap.name}: each holds its own')
    else:
        tap.same(len(roots), 1, f'{cap.name}: one root')
        held, avoidable = window.classes_held(roots[0]).get('big', (0, 0))
        tap.ok(held * 10 > span, f'{cap.name}: a big CPU holds the migrator',
               [f'big {held} ns of {span}'])
        tap.ok(0 < avoidable < held, f'{cap.name}: part of it was avoidable')
        tap.ok(crossing > 0, f'{cap.name}: remote expiries across classes')


def lost_update(cap, window):
    """One group update less: the model says that it misses one."""
    order_ = max(window.updates.values(), key=len)
    victim = order_[len(order_) // 2].e
    answer = cap.feed(FEED, window, [e for e in cap.events if e is not victim])
    tap.same(answer['lost_updates'], 1, f'{cap.name}: a lost update is told')
    tap.ok(compare.differences(window, answer),
           f'{cap.name}: and the comparison sees it')


def late_records(cap, window, seed):
    """Stamps of some updates put off, as if their CPU had been held up between
    the update and its record: the words' order must come out as it was. Some
    remote expiries, too, as if a task had run them, which wakes no CPU."""
    rng = random.Random(seed)
    by_cpu, late = {}, 0
    want = {g: [id(u.e) for u in us] for g, us in window.updates.items()}
    for e in cap.events:
        by_cpu.setdefault(e.cpu, []).append(e)
    for evs in by_cpu.values():
        for e, after in zip(evs, evs[1:]):
            if e.name in hierarchy.GROUP_SET and rng.random() < .1:
                t = min(e.t + rng.randrange(500_000), after.t)
                late += t > e.t
                e.t = t
    for e in cap.events:
        if e.name == 'tmigr_handle_remote_cpu' and rng.random() < .3:
            e.pid = 99
    shuffled = sorted(cap.events, key=lambda e: e.t)
    for i, e in enumerate(shuffled):
        e.order = i
    got, (odd, breaks, moved) = order.groups(shuffled)
    tap.ok(late and {g: [id(u.e) for u in us] for g, us in got.items()} == want
           and not odd and not breaks,
           f'{cap.name}: the order is rebuilt from records that came late')
    tap.note(f'{late} put off, {moved} out of place')
    span = window.end - window.start
    for start, end in ((window.start, window.end),
                       (window.start + span // 3, window.end - span // 3)):
        late_window = cap.window(start, end, shuffled)
        diff = compare.differences(late_window, cap.feed(FEED, late_window, shuffled))
        tap.ok(not diff, f'{cap.name}: oracle and model agree on them', diff)
    return moved


def main():
    folders = capture.folders(TESTS)
    tap.ok(folders, 'there are captures')
    moved = 0
    for seed, folder in enumerate(folders):
        cap = capture.Capture(folder)
        window, _ = same_answer(cap)
        if cap.name.endswith(('-split-all', '-unaware-all')):
            split_or_not(cap, window)
        lost_update(cap, window)
        moved += late_records(cap, window, seed)
    tap.ok(moved, 'late records did get out of place')
    tap.done()


main()
