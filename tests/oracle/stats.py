# SPDX-License-Identifier: GPL-2.0-or-later
"""Student's t, Welch's test, the interval of a ratio and Holm's correction, written from
their definitions: the t distribution by integrating its density."""

import functools
import math


@functools.lru_cache(None)
def _half_mass(df, t):
    """P(0 < T < t). With x = t/sqrt(df) = tan(a) the density is cos(a)^(df-1)."""
    end = math.atan(t / math.sqrt(df))
    n = 600  # Simpson
    h = end / n
    f = lambda a: math.cos(a) ** (df - 1)  # noqa: E731
    total = f(0) + f(end) + sum((4 if i % 2 else 2) * f(i * h) for i in range(1, n))
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    return scale * total * h / 3


def t_p(t, df):
    return max(0.0, 1 - 2 * _half_mass(df, abs(t)))


@functools.lru_cache(None)
def t_limit(df, alpha=0.05):
    low, high = 0.0, 1.0
    while t_p(high, df) > alpha:
        high *= 2
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if t_p(mid, df) > alpha else (low, mid)
    return low


def mean(v):
    return math.fsum(v) / len(v)


def var(v):
    m = mean(v)
    return math.fsum((x - m) ** 2 for x in v) / (len(v) - 1)


def welch(a, b, ratio=1.0):
    """t, degrees of freedom and p of the question: is mean(b) = ratio * mean(a)?"""
    wa, wb = ratio * ratio * var(a) / len(a), var(b) / len(b)
    t = (mean(b) - ratio * mean(a)) / math.sqrt(wa + wb)
    df = (wa + wb) ** 2 / (wa * wa / (len(a) - 1) + wb * wb / (len(b) - 1))
    return t, df, t_p(t, df)


def percent_interval(a, b):
    """By stepping outwards from the ratio until Welch's test rejects, then bisecting; None
    where it does not within a factor of 10000."""
    centre = mean(b) / mean(a)
    rejects = lambda r: welch(a, b, r)[2] < 0.05  # noqa: E731
    ends = []
    for side in (-1, 1):
        step, inside = 1e-4 * max(1, abs(centre)), centre
        while not rejects(centre + side * step):
            inside = centre + side * step
            step *= 1.5
            if step > 1e4:
                return None
        outside = centre + side * step
        for _ in range(45):
            mid = (inside + outside) / 2
            inside, outside = (inside, mid) if rejects(mid) else (mid, outside)
        ends.append(inside)
    ends = sorted(100 * (r - 1) * math.copysign(1, mean(a)) for r in ends)
    return tuple(ends)


def holm(p):
    """Adjusted values: the largest (m - rank) * p of all that are not larger."""
    m = len(p)
    order = sorted(range(m), key=lambda i: p[i])
    adjusted, least = [0.0] * m, 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (m - rank) * p[i]))
        adjusted[i] = least
    return adjusted


def far(groups, k, i):
    """Chance that one value of all is as far from its siblings as groups[k][i]."""
    rest = [x for n, x in enumerate(groups[k]) if n != i]
    if len(rest) < 2:
        return 1.0
    squares, df = var(rest) * (len(rest) - 1), len(rest) - 1
    for n, g in enumerate(groups):
        if n != k and len(g) > 1 and var(g) > 0:
            squares += var(g) * (len(g) - 1)
            df += len(g) - 1
    sd = math.sqrt(max(var(rest), squares / df))
    if sd == 0:
        return 1.0
    t = (groups[k][i] - mean(rest)) / (sd * math.sqrt(1 + 1 / len(rest)))
    return min(1.0, t_p(t, df) * sum(map(len, groups)))
