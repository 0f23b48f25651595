#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What two JSON objects of the tool have in common.

reports.py shape A B: the same members everywhere.
reports.py inside INNER OUTER: the inner report's window lies in the outer one's, and
both are of the same CPUs, classes and roots. (Figures of two engines differ by the
time from one's stamp of an event to the other's.)
"""
import json
import sys


def shape(value):
    """Members, whatever the values and however long the lists are."""
    if isinstance(value, dict):
        return {key: shape(v) for key, v in value.items()}
    if isinstance(value, list):
        shapes = []
        for v in value:
            if shape(v) not in shapes:
                shapes.append(shape(v))
        return shapes
    return None


def compare(a, b, where):
    """Lists may be empty on one side; null stands for any value."""
    if isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            sys.exit(f'{where}: {list(a)} is not {list(b)}')
        for key in a:
            compare(a[key], b[key], f'{where}.{key}')
    elif isinstance(a, list) and isinstance(b, list) and a and b:
        for x in a:
            if all(isinstance(v, (dict, list)) for v in (x, b[0])):
                compare(x, b[0], where + '[]')


def inside(inner, outer):
    end = [r['start_ns'] + r['window_ns'] for r in (inner, outer)]
    if inner['start_ns'] < outer['start_ns'] or end[0] > end[1]:
        sys.exit(f"not inside: {inner['start_ns']}-{end[0]}, {outer['start_ns']}-{end[1]}")
    for key, members in (('cpus', ('cpu', 'class')), ('classes', ('name', 'cpus')),
                         ('roots', ('group', 'cpus'))):
        mine, theirs = ([[x[m] for m in members] for x in r[key]] for r in (inner, outer))
        if mine != theirs:
            sys.exit(f'{key}: {mine} is not {theirs}')
    for r in inner, outer:
        if r['residency_source'] != 'maps':
            sys.exit('residency is not from the maps')


def main():
    what, *paths = sys.argv[1:]
    a, b = (json.load(open(p, encoding='utf-8')) for p in paths)
    if what == 'shape':
        compare(shape(a), shape(b), '')
    else:
        inside(a, b)


main()
