#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""trace.dat: the events of real captures written as such give what their text
gives; trace-cmd reads the same; version 7; other endian; losses; and files that are
cut off, bit-flipped, contradictory or nothing of the kind."""

import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS',
                                    pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import events  # noqa: E402
import tracedat  # noqa: E402
from tap import Tap, built_without, skip_all  # noqa: E402

B = pathlib.Path(os.environ['B'])
TMIGR = B / 'tmigr'
DUMP = B / 'tests/programs/traced-dump'
CAPTURES = TESTS / 'fixtures/captures'
KERNELS = TESTS / 'fixtures/kernels'
tap = Tap()


def check(name, good, *details):
    return tap.ok(bool(good), name, details)


def run(*args, **kwargs):
    return subprocess.run(args, capture_output=True, text=True, errors='replace',
                          timeout=300, **kwargs)


def dump(path):
    """{cpu: [line]} and the last line, or the error."""
    done = run(DUMP, path)
    if done.returncode:
        return None, done.stderr.strip()
    *lines, last = done.stdout.splitlines()
    cpus = {}
    for line in lines:
        cpus.setdefault(line.split()[1] if ' ' in line else line, []).append(line)
    return cpus, last


def report(path, *options):
    done = run(TMIGR, 'report', '--json', *options, path)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


# What a trace.dat knows of its machine, and text does not.
ABOUT = ('tool', 'kernel', 'machine', 'host', 'import', 'start_time', 'format')


def figures(r):
    return {k: v for k, v in r.items() if k not in ABOUT} if isinstance(r, dict) else r


def differences(a, b):
    if not isinstance(a, dict) or not isinstance(b, dict):
        return [f'{a!r:.200}', f'{b!r:.200}']
    return [f'{k}: {json.dumps(a.get(k)):.120} / {json.dumps(b.get(k)):.120}'
            for k in sorted({*a, *b}) if a.get(k) != b.get(k)]


def text_and_dat(tmp):
    for folder in sorted(CAPTURES.iterdir()):
        if not folder.is_dir():
            continue
        meta = json.loads((folder / 'meta.json').read_text())
        kernel = '6.12.117' if meta['kernel'].startswith('6.12') else '7.3.4'
        evs = events.read(folder / 'trace.txt.gz')
        dat, text = tmp / f'{folder.name}.dat', tmp / f'{folder.name}.txt'
        tracedat.from_events(dat, KERNELS / kernel, evs, len(meta['capacity']))
        with text.open('wb') as f:
            subprocess.run(['zcat', folder / 'trace.txt.gz'], stdout=f, check=True)
        options = [f'--class={k}={v}' for k, v in meta['classes'].items()]
        a, b = figures(report(text, *options)), figures(report(dat, *options))
        bad = differences(a, b) if a != b or not isinstance(a, dict) else []
        check(f'{folder.name}: text and trace.dat give the same report', not bad, *bad)
        got, last = dump(dat)
        want, _ = dump(text)
        check(f'{folder.name}: and the same events', got == want and got, last)
        check(f'{folder.name}: none comes later than was told', got and 'LATE' not in got)


def real(tmp):
    """What trace-cmd wrote, in both versions, and its own text of it."""
    folder = TESTS / 'fixtures/tracedat'
    for name in 'version-6.dat', 'report.txt':
        with gzip.open(folder / f'{name}.gz') as f:
            (tmp / name).write_bytes(f.read())
    want, _ = dump(tmp / 'report.txt')
    check('a real trace: its text has events', want and sum(map(len, want.values())) > 2000)
    for path in tmp / 'version-6.dat', folder / 'version-7-zstd.dat':
        got, last = dump(path)
        check(f'{path.name}: the events of its text', got == want, last)
        a, b = (figures(report(p, '--class=LITTLE=0-3', '--class=big=4-7')) for p in (path, tmp / 'report.txt'))
        bad = differences(a, b) if a != b or not isinstance(a, dict) else []
        check(f'{path.name}: the report of its text', not bad, *bad)


def compression(tmp):
    """One that no library reads."""
    path = tmp / 'compression.dat'
    data = (TESTS / 'fixtures/tracedat/version-7-zstd.dat').read_bytes()
    path.write_bytes(data.replace(b'zstd', b'lz\x1b9', 1))
    done = run(TMIGR, 'report', path)
    check('a compression that cannot be read: told, with its name', done.returncode == 1 and
          "compressed with 'lz?9'" in done.stderr and done.stderr.count('\n') == 1, done.stderr)


def versions(tmp, dat):
    """The same through trace-cmd's own conversion."""
    if not shutil.which('trace-cmd'):
        tap.skip('trace-cmd reads the file too', 'no such command')
        return
    n = len(run('trace-cmd', 'report', '-i', dat).stdout.splitlines())
    want, _ = dump(dat)
    check('trace-cmd reads the file too, all of its events',
              want and n - 1 == sum(map(len, want.values())), f'{n - 1} lines')
    for compression in 'none', 'zstd', 'zlib':
        out = tmp / f'v7-{compression}.dat'
        run('trace-cmd', 'convert', '-i', dat, '-o', out, '--file-version', '7',
                   '--compression', compression)
        if not out.exists():
            tap.skip(f'version 7, {compression}', 'this trace-cmd cannot make it')
            continue
        got, last = dump(out)
        check(f'version 7, {compression}: the same events', got == want, last)
        check(f'version 7, {compression}: named so', 'trace.dat version 7' in last, last)
    pipe = run('sh', '-c', f'cat {dat} | {TMIGR} report -')
    check('a trace.dat through a pipe is refused with the reason',
              pipe.returncode == 1 and 'pipe' in pipe.stderr, pipe.stderr)
    with open(dat) as f:
        whole = run(TMIGR, 'report', '-', stdin=f)
    check('as standard input that is a file it is read', whole.returncode == 0, whole.stderr)


def moved(tmp, dat, evs, n_cpus):
    """Stamps that are not those in the pages."""
    path, by = tmp / 'moved.dat', 12345
    tracedat.from_events(path, KERNELS / '7.3.4', evs, n_cpus, options=tracedat.option_offset(by))
    plain, _ = dump(dat)
    got, last = dump(path)
    want = {cpu: [f'{int(t) + by} {rest}' for t, rest in (x.split(' ', 1) for x in lines)]
            for cpu, lines in plain.items()}
    check('a file whose stamps are to be moved: they are', got == want and got, last)


COMMON = """format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned int cpu;\toffset:8;\tsize:4;\tsigned:0;
"""
ENTER = 'name: cpuhp_enter\nID: 210\n' + COMMON + """\tfield:int target;\toffset:12;\tsize:4;\tsigned:1;
\tfield:int idx;\toffset:16;\tsize:4;\tsigned:1;
\tfield:void * fun;\toffset:24;\tsize:8;\tsigned:0;

print fmt: "cpu: %04u target: %3d step: %3d (%ps)", REC->cpu, REC->target, REC->idx, REC->fun
"""
LEAVE = 'name: cpuhp_exit\nID: 208\n' + COMMON + """\tfield:int state;\toffset:12;\tsize:4;\tsigned:1;
\tfield:int idx;\toffset:16;\tsize:4;\tsigned:1;
\tfield:int ret;\toffset:20;\tsize:4;\tsigned:1;

print fmt: " cpu: %04u  state: %3d step: %3d ret: %d", REC->cpu, REC->state, REC->idx, REC->ret
"""
# Where functions of the kernel lie.
SYMBOLS = {'bringup_cpu': 0xffffffff81000100, 'cpuhp_bringup_ap': 0xffffffff81000180,
           'takedown_cpu': 0xffffffff81000200, 'finish_cpu': 0xffffffff81000300,
           'cpuhp_kick_ap_work': 0xffffffff81000400, 'the_end': 0xffffffff81000500}


def hotplug(tmp, brings_up):
    """CPU 1 is taken down, fails to be once, and brought up again: text, trace.dat, and
    that without symbols. The steps' numbers are nobody's."""
    us, n = 1000, 5_000_000_000
    steps = [  # t, kind, target or ret, step, function
        (n + 100 * us, 'enter', 0, 142, 'takedown_cpu'),
        (n + 200 * us, 'exit', -16, 142, None),     # a device would not
        (n + 300 * us, 'enter', 0, 142, 'takedown_cpu'),
        (n + 400 * us, 'exit', 0, 142, None),
        (n + 450 * us, 'enter', 0, 83, 'finish_cpu'),
        (n + 460 * us, 'exit', 0, 83, None),
        (n + 700 * us, 'enter', 235, 84, 'cpuhp_kick_ap_work'),
        (n + 900 * us, 'enter', 235, 83, brings_up),
        (n + 950 * us, 'exit', 0, 83, None)]
    systems, header_page = tracedat.formats_of(KERNELS / '7.3.4')
    systems = {**systems, 'cpuhp': [ENTER, LEAVE]}
    formats = {f.name: f for texts in systems.values() for f in map(tracedat.Format, texts)}
    idles = [(n + k * 100 * us, cpu, state) for k, cpu, state in (
        (0, 0, 1), (0, 1, 1), (1, 1, 0xffffffff), (10, 1, 1), (11, 0, 0xffffffff),
        (11, 1, 0xffffffff))]
    cpus, lines = [tracedat.Pages() for _ in range(2)], []
    for t, kind, x, step, fun in steps:
        values = {'cpu': 1, 'idx': step, **({'target': x, 'fun': SYMBOLS[fun]} if fun else {
            'state': step - 1, 'ret': x})}
        rest = (f'cpu: 0001 target: {x:3} step: {step:3} ({fun})' if fun else
                f' cpu: 0001  state: {step - 1:3} step: {step:3} ret: {x}')
        lines.append((t, 0, f'cpuhp_{kind}', rest, formats[f'cpuhp_{kind}'].record(7, values)))
    for t, cpu, state in idles:
        lines.append((t, cpu, 'cpu_idle', f'state={state} cpu_id={cpu}',
                      formats['cpu_idle'].record(0, {'state': state, 'cpu_id': cpu})))
    lines.sort(key=lambda x: (x[0], x[1]))
    for t, cpu, name, rest, record in lines:
        cpus[cpu].add(t, record)
    text, dat, bare = (tmp / f'hotplug.{x}' for x in ('txt', 'dat', 'bare.dat'))
    text.write_text(''.join(
        f'{"sh":>16}-{7 if name != "cpu_idle" else 0:<7} [{cpu:03}] ..... {t // 10**9:5}.'
        f'{t % 10**9 // 1000:06}: {name}: {rest}\n' for t, cpu, name, rest, _ in lines))
    pages = [c.bytes() for c in cpus]
    symbols = ''.join(f'{a:x} t {name}\n' for name, a in SYMBOLS.items())
    tracedat.write(dat, header_page, systems, pages, kallsyms=symbols)
    tracedat.write(bare, header_page, systems, pages)
    for path in text, dat:
        r = report(path)
        got = [c['offline_ns'] for c in r['cpus']] if isinstance(r, dict) else r
        check(f'{path.suffix}, {brings_up}: CPU 1 is offline from its teardown to its bring-up',
              got == [0, 500 * us], got)
        check(f'{path.suffix}: sums', sane(run(TMIGR, 'report', '--json', path)))
    a, b = (figures(report(p)) for p in (text, dat))
    check('and the report is the same', a == b and isinstance(a, dict), *differences(a, b))
    r = report(bare)
    check('without symbols no step is known', isinstance(r, dict) and
          [c['offline_ns'] for c in r['cpus']] == [0, 0], r if isinstance(r, str) else '')


def losses(tmp, evs, n_cpus):
    """Lost events at some places, with and without a count."""

    def before(i, pages):
        if i in (500, 900, 1500):
            pages.lost(i)

    dat = tmp / 'lost.dat'
    tracedat.from_events(dat, KERNELS / '7.3.4', evs, n_cpus, before)
    r = report(dat)
    check('losses are told, with their numbers',
              isinstance(r, dict) and r['lost']['records'] == 1 + 900 + 1500, json.dumps(r)[:300])
    check('and blur time', isinstance(r, dict) and sum(c['unknown_ns'] for c in r['cpus']) > 0)


def sane(done):
    """A line on standard error and status 1, and a report that adds up where there is
    one; it says then that it is partial."""
    lines = done.stderr.splitlines()
    if done.returncode not in (0, 1):
        return False
    if done.returncode and (len(lines) != 1 or not lines[0].startswith('tmigr report: ')):
        return False
    if done.returncode and not done.stdout:
        return True
    try:
        r = json.loads(done.stdout)
    except ValueError:
        return False
    if bool(done.returncode) != ('partial' in r):
        return False
    return all(c['running_ns'] + c['offline_ns'] + c['unknown_ns']
               + sum(s['time_ns'] for s in c['states']) == r['window_ns'] for c in r['cpus'])


def damaged(tmp, dat, rounds):
    data, rng, bad = dat.read_bytes(), random.Random(4711), []
    sizes = [0, 1, 9, 10, 11, 12, 13, 16, 20, 100, 1000, 4095, 4096, 5000, 8192, 9000, 20000]
    cases = [('cut', n, data[:n]) for n in sizes if n < len(data)]
    for i in range(rounds):
        size = rng.randrange(len(data))
        cases.append(('cut', size, data[:size]))
        flipped = bytearray(data)
        # Most of what matters is in the head.
        for _ in range(rng.choice([1, 1, 3, 20])):
            at = rng.randrange(rng.choice([300, 12000, len(data)]))
            flipped[at] ^= 1 << rng.randrange(8)
        cases.append(('flipped', i, bytes(flipped)))
    for i in range(rounds // 4):
        cases.append(('random', i, data[:12] + rng.randbytes(rng.randrange(1, 30000))))
    partial = errors = 0
    for what, n, content in cases:
        path = tmp / 'bad.dat'
        path.write_bytes(content)
        done = run(TMIGR, 'report', '--json', path)
        errors += done.returncode == 1 and not done.stdout
        partial += bool(done.returncode and done.stdout)
        if not sane(done):
            bad.append(f'{what} {n}: status {done.returncode}: {done.stderr[:200]!r}')
    check(f'{len(cases)} damaged files: an error of one line, or a report that adds up',
              not bad, *bad[:5])
    tap.note(f'{errors} errors, {partial} partial reports')
    check('some of each kind', errors and partial)


def contradictions(tmp, evs, n_cpus):
    """Formats that do not fit the records, or themselves."""
    systems, header_page = tracedat.formats_of(KERNELS / '7.3.4')
    idle = next(t for t in systems['power'] if 'name: cpu_idle\n' in t)
    variants = {
        'no cpu_id': idle.replace('cpu_id;', 'processor;'),
        'offset out of the record': idle.replace('offset:12', 'offset:4000'),
        'offset beyond all': idle.replace('offset:12', 'offset:4294967295'),
        'size 0': idle.replace('offset:12;\tsize:4', 'offset:12;\tsize:0'),
        'fields in each other': idle.replace('offset:12', 'offset:9'),
        'number of another event': idle.replace('ID: 457', 'ID: 391'),
        'cut in the middle': idle[:len(idle) // 2],
        'empty': '',
    }
    good = tmp / 'good.dat'
    tracedat.from_events(good, KERNELS / '7.3.4', evs[:400], n_cpus)
    formats = {f.name: f for texts in systems.values() for f in map(tracedat.Format, texts)}
    pages = tracedat.pages_of(formats, evs[:400], n_cpus)
    for what, text in variants.items():
        path = tmp / 'odd.dat'
        tracedat.write(path, header_page,
                       {**systems, 'power': [text if t is idle else t for t in systems['power']]},
                       pages)
        done = run(TMIGR, 'report', '--json', path)
        check(f'a format with {what}: told, nothing else breaks', sane(done) and (
            done.returncode == 1 or what in ('cut in the middle', 'empty')),
            done.stderr[:200], done.stdout[:100])


def main():
    if built_without('libtracecmd'):
        skip_all('built without libtracecmd')
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        text_and_dat(tmp)
        capture = CAPTURES / 'rk3576-7.3.4-all'
        evs = events.read(capture / 'trace.txt.gz')
        dat = tmp / 'rk3576-7.3.4-all.dat'
        real(tmp)
        compression(tmp)
        versions(tmp, dat)
        moved(tmp, dat, evs, 8)
        hotplug(tmp, 'bringup_cpu')
        hotplug(tmp, 'cpuhp_bringup_ap')
        losses(tmp, evs, 8)
        rounds = int(os.environ.get('TMIGR_DAMAGED', '60'))
        damaged(tmp, dat, rounds)
        several = tmp / 'several.dat'
        tracedat.from_events(several, KERNELS / '7.3.4', evs[::2], 8, buffers=[('a', evs[:800]), ('b', evs[1::2])])
        damaged(tmp, several, rounds)
        contradictions(tmp, evs, 8)
    tap.done()


main()
