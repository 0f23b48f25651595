#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigr export --format json, and the JSON Schema: real reports fit it, and what
is done to them by hand does not."""

import copy
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path[:0] = [str(TESTS / 'oracle'), str(TESTS / 'lib-shell')]
sys.dont_write_bytecode = True

import exported  # noqa: E402
from exported import DEMO, RECORDINGS, TMIGR  # noqa: E402
from tap import Tap, needs_zstd  # noqa: E402

needs_zstd()
tap = Tap()
SCHEMA = TESTS.parent / 'docs/report.schema.json'

# Reads JSON documents, one a line; says of each what is wrong ("" nothing).
VALIDATE = '''
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
v = jsonschema.Draft202012Validator(schema)
for line in sys.stdin:
    e = jsonschema.exceptions.best_match(v.iter_errors(json.loads(line)))
    print('' if e is None else json.dumps(e.message)[:200])
'''


def validate(documents):
    python = exported.python_with('jsonschema')
    done = subprocess.run([python, '-c', VALIDATE, SCHEMA], text=True,
                          input=''.join(json.dumps(d) + '\n' for d in documents),
                          capture_output=True, check=True)
    return done.stdout.split('\n')[:-1]


def places(schema, defs, path=()):
    """(path, its schema, is it required) of everything a report may hold."""
    while '$ref' in schema or 'anyOf' in schema:
        schema = (defs[schema['$ref'].rsplit('/', 1)[1]] if '$ref' in schema
                  else schema['anyOf'][0])
    for name, sub in schema.get('properties', {}).items():
        yield (*path, name), sub, name in schema.get('required', ())
        yield from places(sub, defs, (*path, name))
    if 'items' in schema:
        yield from places(schema['items'], defs, (*path, 0))


def find(doc, path):
    """The container of @path, or None."""
    for key in path[:-1]:
        try:
            doc = doc[key]
        except (KeyError, IndexError, TypeError):
            return None
    return doc if isinstance(doc, dict) and path[-1] in doc else None


def refused(tmp, report, n):
    """By the tool's own reader of run directories."""
    run = exported.make_run(tmp / f'm{n}', report)
    return exported.tmigr('report', run).returncode == 1


def mutations(tmp, report):
    """Every field taken away, and given another type."""
    schema = json.loads(SCHEMA.read_text())
    defs = schema['$defs']
    docs, what, required = [], [], []
    seen = 0
    for path, _, need in places(defs['report'], defs):
        if find(report, path) is None:
            continue
        seen += 1
        for kind in ('gone', 'another type'):
            doc = copy.deepcopy(report)
            holder = find(doc, path)
            if kind == 'gone':
                if not need:
                    continue
                del holder[path[-1]]
            else:
                holder[path[-1]] = ([] if not isinstance(holder[path[-1]], list)
                                    else {})
            docs.append(doc)
            what.append(f'{path}: {kind}')
            # What the run only tells of itself is not looked at.
            required.append(kind == 'gone' and (path[0] in defs['report']['required']
                                                or path[0] == 'hotplug' and len(path) > 1))
    for path, value in ((('window_ns',), -1), (('cpus', 0, 'cpu'), 70000),
                        (('answer', 'big_share'), 1.5), (('version',), 2),
                        (('roots', 0, 'holders', 0, 'held_ns'), 0.5),
                        (('schema',), 'tmigr-tree'), (('cpus', 0, 'cpu'), None),
                        (('classes', 0, 'cpus'), '0-3;4'),
                        (('residency_source',), 'guessed')):
        doc = copy.deepcopy(report)
        find(doc, path)[path[-1]] = value
        docs.append(doc)
        what.append(f'{path}: {value}')
        required.append(False)
    said = validate(docs)
    tap.same([w for w, s in zip(what, said) if not s], [],
             'the schema refuses what is not a report')
    tap.note(f'{len(docs)} changes of {seen} fields')
    tap.same([w for i, w in enumerate(what) if required[i]
              and not refused(tmp, docs[i], i)], [],
             'the tool refuses what the schema refuses')


def fields_are_there(report):
    """The schema knows every field that there is, at every depth."""
    schema = json.loads(SCHEMA.read_text())
    known = {path for path, _, _ in places(schema['$defs']['report'],
                                           schema['$defs'])}

    def walk(value, path=()):
        if isinstance(value, dict):
            for k, v in value.items():
                if (*path, k) not in known:
                    yield (*path, k)
                yield from walk(v, (*path, k))
        elif isinstance(value, list) and value:
            yield from walk(value[0], (*path, 0))
    tap.same(list(walk(report)), [], 'the schema knows every field')


def hotplug(tmp):
    """The member of a report, of a trace of a virtual board."""
    trace = tmp / 'hotplug.txt'
    trace.write_bytes(gzip.decompress((TESTS / 'fixtures/hotplug/rk3576-7.3.4-unaware.txt.gz').read_bytes()))
    return json.loads(exported.tmigr('hotplug', '--json', trace).stdout)['hotplug']


def live(tmp):
    """A real report of this kernel, where it can."""
    if os.geteuid() or subprocess.run([TMIGR, 'doctor'],
                                      capture_output=True).returncode:
        tap.skip('a report of this kernel', 'needs root and a kernel that can')
        return []
    done = exported.tmigr('run', '--json', '-d', '0.3', '-o', tmp / 'live', '--record')
    return [json.loads(done.stdout)]


def main():
    with tempfile.TemporaryDirectory() as place:
        tmp = pathlib.Path(place)
        reports = [exported.report_of(p) for p in RECORDINGS]
        tap.same(exported.export('json', DEMO).encode(),
                 exported.tmigr('report', '--json', DEMO).stdout,
                 'one run: the bytes of the report')
        several = json.loads(exported.export('json', *RECORDINGS))
        tap.same([{k: v for k, v in r.items() if k not in ('label', 'run')}
                  for r in several], reports, 'several: an array of the reports')
        tap.same([(r['label'], r['run']) for r in several],
                 [(p.stem if p != DEMO else 'demo', 1) for p in RECORDINGS],
                 'that say which they are')
        nasty = exported.nasty_report()
        run = exported.make_run(tmp / 'nasty', nasty)
        tap.same(json.loads(exported.export('json', run)), nasty, 'hostile names')
        nasty.update(failed='x', warmup_ns=1, settle_ns=2, metric_notes=['y'],
                     changed={'offline': '5-7', 'timer_migration': 0},
                     marks=[{'time_ns': 5, 'text': 'm'}], engine='own', hotplug=hotplug(tmp))
        if not exported.python_with('jsonschema'):
            tap.skip('against the schema', 'no python3-jsonschema')
            tap.done()
        good = [*reports, several, nasty, *live(tmp)]
        said = validate(good)
        tap.same([s for s in said if s], [], 'real reports fit the schema')
        tap.note(f'{len(good)} documents')
        for r in [nasty, *reports]:
            fields_are_there(r)
        mutations(tmp, nasty)
    tap.done()


main()
