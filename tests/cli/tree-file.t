#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tmigr tree FILE: the hierarchy that a boot trace tells, in the variants of all kernel
series, against another reading of it."""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.path.insert(0, str(TESTS / 'board'))
sys.dont_write_bytecode = True

import events  # noqa: E402
import judge  # noqa: E402
import tracedat  # noqa: E402
from tap import Tap, built_without  # noqa: E402

TMIGR = pathlib.Path(os.environ['B']) / 'tmigr'
CAPTURES = TESTS / 'fixtures/captures'
tap = Tap()


def run(*args, **kwargs):
    return subprocess.run([TMIGR, 'tree', *args], capture_output=True, text=True, timeout=100, **kwargs)


def same(name, path, text, *options, **kwargs):
    done = run('--json', *options, path, **kwargs)
    tree = json.loads(done.stdout) if done.returncode == 0 else {'groups': [], 'cpus': []}
    got, want = judge.hierarchy_of_tree(tree), judge.hierarchy_of_boot(text)
    tap.ok(want and got == want, name, [done.stderr, f'got  {got}', f'want {want}'])
    return tree


def hashed(text):
    """Pointers as a kernel prints them that hides them: others, but consistent."""
    names = {}
    return re.sub(r'\b(ffff[0-9a-f]{12}|0xffff[0-9a-f]{12})\b',
                  lambda m: f'{names.setdefault(m[0][-12:], 0x5a1f3c00 + 0x1111 * len(names)):016x}', text)


def variants(tmp, text):
    """The same hierarchy as other kernels would have written it."""
    path = tmp / 'trace'
    for name, change in {
            'v6.9: childmask': lambda t: t.replace('groupmask=', 'childmask='),
            'out of tree: family, no capacity': lambda t: re.sub(r' capacity=\d+', '', t).replace('numa=', 'family='),
            'before v7.2: no capacity': lambda t: re.sub(r' capacity=\d+', '', t),
            'later: a field that nobody knows': lambda t: t.replace(' lvl=', ' novelty=0x77 lvl='),
            'hashed pointers': hashed,
            'DOS line ends': lambda t: t.replace('\n', '\r\n')}.items():
        path.write_text(change(text))
        done = run('--json', path)
        tree = json.loads(done.stdout) if done.returncode == 0 else {'groups': [], 'cpus': []}
        got, want = judge.hierarchy_of_tree(tree), judge.hierarchy_of_boot(text)
        if 'family' in name:  # another meaning than that of a node
            got, want = judge.without_nodes(got), judge.without_nodes(want)
        tap.ok(got == want, name, [done.stderr, f'got  {got}', f'want {want}'])


FROM_NOTHING = '''\
  swapper/0-1  [000] .....  {0}: tmigr_cpu_available: cpu=0 parent=00000000b5dfa6a4
  swapper/0-1  [000] .....  {0}: tmigr_connect_cpu_parent: cpu=0 groupmask=01 parent=00000000b5dfa6a4 lvl=0 numa_node=-1 num_children=1
  swapper/0-1  [000] .....  0.020000: tmigr_connect_cpu_parent: cpu=1 groupmask=02 parent=00000000b5dfa6a4 lvl=0 numa_node=-1 num_children=2
  swapper/0-1  [000] .....  0.030000: tmigr_cpu_available: cpu=1 parent=00000000b5dfa6a4
'''


def from_nothing(tmp):
    """The first stamps of a boot may be 0, which is one like any other."""
    shown = []
    for stamp in '0.000000', '0.010000':
        (tmp / 'trace').write_text(FROM_NOTHING.format(stamp))
        done = run(tmp / 'trace')
        shown.append(done.stdout if done.returncode == 0 else done.stderr)
    tap.ok('CPU 0' in shown[0] and 'left' not in shown[0] and shown[0] == shown[1],
           'a boot trace from stamp 0 on', shown)


def nothing_invented():
    """What the trace does not tell: capacities, names of idle states, a driver."""
    trace = CAPTURES / 'o6-7.3.4-all/trace.txt.gz'
    text = gzip.open(trace, 'rt').read()
    cpus = json.loads(run('--json', '-', input=text).stdout)['cpus']
    names = {c['state_name'] for c in cpus}
    tap.ok({c['capacity'] for c in cpus} == {None} and names == {'running', 'state1'},
           'no capacity and no name is made up', [cpus])
    shown = run('-', input=text).stdout
    tap.ok('all -  idle' in shown and '1024' not in shown, 'nor printed', [shown])


def main():
    folders = sorted(f for f in CAPTURES.iterdir() if (f / 'boot-trace.txt').exists())
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        for f in folders:
            text = (f / 'boot-trace.txt').read_text()
            tree = same(f'{f.name}: the boot trace\'s hierarchy', f / 'boot-trace.txt', text)
            n = len(re.findall('connect_(?:cpu|child)_parent:', text))
            tap.same(tree.get('boot', {}).get('connects'), n, f'{f.name}: its connect events are counted')
            meta = json.loads((f / 'meta.json').read_text())
            kernel = '6.12.117' if meta['kernel'].startswith('6.12') else '7.3.4'
            tracedat.from_events(tmp / 'boot.dat', TESTS / 'fixtures/kernels' / kernel,
                                 [e for e in events.read(f / 'boot-trace.txt') if e.name.startswith('tmigr_')],
                                 len(meta['capacity']))
            if built_without('libtracecmd'):
                tap.skip(f'{f.name}: the same from a trace.dat', 'built without libtracecmd')
            else:
                same(f'{f.name}: the same from a trace.dat', tmp / 'boot.dat', text)
        text = (CAPTURES / 'o6-7.3.4-all/boot-trace.txt').read_text()
        variants(tmp, text)
        from_nothing(tmp)
        nothing_invented()
        with open(CAPTURES / 'o6-7.3.4-all/boot-trace.txt') as f:
            same('from standard input', '-', text, stdin=f)
        shown = run('--class', 'LITTLE=0-3', '--class', 'big=4-7', CAPTURES / 'rk3576-7.3.4-split-all/boot-trace.txt')
        tap.ok(shown.returncode == 0 and 'LITTLE' in shown.stdout and '2 hierarchies' in shown.stdout,
               'classes are what the user says', [shown.stdout, shown.stderr])
        dot = run('--dot', CAPTURES / 'o6-7.3.4-all/boot-trace.txt')
        tap.ok(dot.returncode == 0 and dot.stdout.startswith('digraph') and '\n// ' in dot.stdout,
               'as a graph, with a comment', [dot.stdout[-200:]])
        for name, content in {'empty': '', 'no trace': 'hello\n', 'a trace without the hierarchy':
                              '  <idle>-0 [000] d..1. 5.000001: cpu_idle: state=1 cpu_id=0\n'}.items():
            (tmp / 'bad').write_text(content)
            done = run(tmp / 'bad')
            tap.ok(done.returncode == 1 and len(done.stderr.splitlines()) == 1 and not done.stdout,
                   f'{name}: an error of one line', [done.returncode, done.stderr, done.stdout])
        done = run(TESTS.parent / 'demo/events.tmr')
        tap.ok(done.returncode == 1 and 'recording' in done.stderr, 'a recording is none', [done.stderr])
    tap.done()


main()
