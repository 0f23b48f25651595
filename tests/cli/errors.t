#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every error that a user can make, of every verb: it exits with what the manual says, with
one line on standard error that says of which object, what is wrong and what to do, with
nothing on standard output, and nothing is left behind.  The lines are held against the
messages in the sources: one that no case here makes and no other test has words of, and that is
not among UNMADE (tools/) or in a file of UNMADE_FILES, fails."""

import gzip
import io
import os
import pathlib
import pty
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import messages  # noqa: E402
from tap import Tap, needs_zstd  # noqa: E402

needs_zstd()
TREE = TESTS.parent
TMIGR = pathlib.Path(os.environ.get('B', 'build')).resolve() / 'tmigr'
FIXTURES = TESTS / 'fixtures'
DEMO = TREE / 'demo/events.tmr'
ROOT = os.geteuid() == 0
TRACECMD = 'no libtracecmd' not in subprocess.run([TMIGR, '--version'], capture_output=True, text=True).stdout
MEMORY = 'no allocation fails here'
SYSTEM = 'no system call fails so here'
DAEMON = 'tests/daemon/client.t: of a daemon that ends, or lies'
KERNEL = 'tests/board: of another kernel'
SIGNALS = 'tests/cli/signals.t'
tap = Tap()
lines = []  # all that was said

VERBS = ['run', 'report', 'compare', 'hotplug', 'export', 'import', 'tree', 'top', 'status', 'mark',
         'dump', 'metrics', 'doctor']

# Wrong usage: verb and arguments; what the line must name.  The hint is the same for all:
# (see 'tmigr VERB --help').
USAGE = [
    ('', 'no verb'), ('frob', "'frob'"), ('r', "'r'.*run, report"), ('--frob', "'--frob'"),
    ('help frob', "'frob'"), ('help run tree', "'tree'"), ('help --frob', "'--frob'"), 
    *((f'{v} --frob', "'--frob'") for v in VERBS),
    *((f'{v} -Q', "'-Q'") for v in VERBS),
    *((f'{v} x', "'x'") for v in ('status', 'metrics', 'top', 'doctor')),
    *((f'{v} {o}', f"'{o}' needs a value") for v, o in (
        ('run', '-d'), ('run', '--class'), ('report', '--html'), ('compare', '--baseline'), ('hotplug', '--cycle'),
        ('export', '--format'), ('import', '-o'), ('tree', '--watch'), ('top', '--sort'), ('status', '--socket'),
        ('mark', '--socket'), ('dump', '-o'), ('metrics', '-o'))),
    *((f'{v} --json=x', "'--json' takes no value") for v in ('run', 'report', 'hotplug', 'tree', 'status', 'doctor')),
    *((f'{v} --socket= {a}', '--socket: the path is empty') for v, a in (
        ('run', 'true'), ('tree', ''), ('top', ''), ('status', ''), ('mark', 'x'), ('dump', '-o x'))),
    *((f'{v} --socket /x --no-daemon', 'either --socket or --no-daemon') for v in ('run', 'tree', 'top')),
    *((f'{v} --source x', "--source: 'x' is none of bpf, ftrace, auto") for v in ('run', 'tree', 'top', 'hotplug')),
    *((f'{v} --class big', "class 'big' is not of the form NAME=CPULIST") for v in (
        'run --no-daemon', 'tree --no-daemon', 'top --no-daemon --once')),
    *((f'run {a}', n) for a, n in (
        ('-d 0', "-d: '0'"), ('-d abc', "-d: 'abc'"), ('--settle 1e3', "--settle: '1e3'"), ('--warmup x', "--warmup: 'x'"),
        ('-l a/b', "-l: the label 'a/b'"), ('-l %', '-l: the label'), ('-l =', '-l: the label is empty'),
        (f'-l {"x" * 101}', '-l: the label is longer'),
        ('--metric @', "--metric: '@'"), ('--metric x=(', "--metric: the regex of 'x'"), ('--metric x=y', "--metric: the regex of 'x'"),
        ('--metric x=(y) --metric x=(y)', "'x' is given twice"), ('--metric !=(y) -o x true', "'!'"),
        ('--offline x', "--offline: 'x'"), ('--offline =', '--offline: the list of CPUs is empty'),
        ('--timer-migration x', "--timer-migration: .*'x'"), ('-n 0', "-n: '0'"), ('-o =', '-o: '),
        ('--housekeeping x', "--housekeeping: 'x'"), ('--ring-bytes x', "--ring-bytes: 'x'"), ('=', 'command'),
        ('--record true', '--record needs -o'), ('--no-timeline --record -o x true', '--no-timeline .*--record'),
        ('--no-timeline --source ftrace true', '--no-timeline .*--source ftrace'), ('--force true', '--force needs -o'),
        ('-n 2 true', '-n needs -o'), ('-n 2 -o x', '-n needs a COMMAND'), ('--continue -o x true', '--continue needs -n'),
        ('--continue --force -n 2 -o x true', '--continue .*--force'), ('--warmup 1', '--warmup needs a COMMAND'),
        ('--metric hackbench -o x', '--metric needs a COMMAND'), ('--metric hackbench true', '--metric needs -o'),
        ('--kick --socket /x true', '--kick .*--socket'), ('--housekeeping 60000 --no-daemon true', 'no CPU 60000'),
        ('--offline 60000 --no-daemon true', 'no CPU 60000'), ('--fail-if big_share true', "--fail-if: 'big_share'"),
        ('--class x=60000 --no-daemon true', 'no CPU 60000'), ('--class x=0 --class y=0 --no-daemon true', 'CPU 0'),
        ('--class %=0 --no-daemon true', 'a name is'), ('--class x=9-1 --no-daemon true', "'9-1'"),
        ('--class x= --no-daemon true', 'has no CPU'))),
    *((f'report {a}', n) for a, n in (
        ('', 'DIR, events.tmr, or a trace'), ('a b', "'b'"), ('--class x=0 {run}', '{run}'), ('--html p --json {run}', '--html .*--json'),
        ('--html p -', '--html .*standard input'), ('--fail-if x {demo}', "--fail-if: 'x'"))),
    *((f'compare {a}', n) for a, n in (
        ('', 'which runs'), ('--csv=x {run}', "--csv: 'x'"), ('--csv --json {run}', '--json, --csv and --markdown'))),
    *((f'hotplug {a}', n) for a, n in (
        ('--cycle x', "--cycle: 'x'"), ('--cycle =', '--cycle: the list'), ('--together', '--cycle'), ('--cycle 1 -- true', 'COMMAND'),
        ('--cycle 1 -d 1', '-d'), ('--cycle 1', '--yes'), ('a b', "'b'"), ('--cpus x', '--cpus'), ('--boot x', '--boot or a FILE'),
        ('--boot -d 1', 'the boot'), ('-d 1 x', 'a FILE'), ('--no-frob', "'--no-frob'"))),
    *((f'export {a}', n) for a, n in (
        ('', 'which format'), ('-f x {run}', "'x'"), ('-f csv', 'which run'), ('-f csv -', 'standard input'),
        ('-f csv -t x {run}', "'x'.*residency"), ('-f json -t runs {run}', '--table .*json'), ('-f perfetto {demo} {run}', '{run}'))),
    *((f'import {a}', n) for a, n in (('', 'which trace'), ('-o x a b', "'b'"), ('a', '-o DIR'))),
    *((f'tree {a}', n) for a, n in (
        ('--cpus x', '--cpus'), ('--boot x', 'a FILE'), ('--boot --watch 1', '--boot .*--watch'), ('--watch x', "--watch: 'x'"),
        ('a b', "'b'"), ('--source bpf --socket /x', '--source .*--socket'), ('--json --dot', '--json or --dot'),
        ('--dot --watch 1', '--dot .*--watch'))),
    *((f'top {a}', n) for a, n in (
        ('--sort x', "--sort: 'x'"), ('--group x', "--group: 'x'"), ('--delay 0', "--delay: '0'"), ('x', "'x'"),
        ('--source bpf --socket /x', '--source .*--socket'), ('--class x=0 --socket /x', '--class .*--socket'))),
    *((f'mark {a}', n) for a, n in (
        ('', 'which TEXT'), ('a b', "'b'"), ('x' * 1025, '1024 bytes'), ('%', 'UTF-8'))),
    *((f'dump {a}', n) for a, n in (('', '-o FILE'), ('-o x y', "'y'"), ('-o x --last 0', "--last: '0'"))),
]
# '=' is an empty argument, '%' one that is no UTF-8.
SPECIAL = {'=': b'', '%': b'\xff'}

NOT_FOUND = 'No such file or directory$'
# Other errors: arguments; exit status; what the line must name; what it must say to do, or
# what it says is the case where that is all there is to say (a plain error of the system).
ERRORS = [
    *((f'{v} {{T}}/nope', 1, '{T}/nope', NOT_FOUND) for v in (
        'report', 'compare', 'hotplug', 'export -f json', 'export -f perfetto', 'import -o new', 'tree', 'report --html p')),
    *((f'{v} {{T}}/empty', 1, '{T}/empty', 'empty') for v in (
        'report', 'compare', 'hotplug', 'export -f json', 'import -o new', 'tree')),
    *((f'{v} {{T}}/folder', 1, '{T}/folder', 'not a run directory|is a folder|Is a directory') for v in (
        'report', 'compare', 'hotplug', 'export -f json', 'import -o new', 'tree')),
    ('report {T}/endless', 1, '{T}/endless', 'no line of it is an event of a trace, and line 1 has no end'),
    *((f'{v} {{T}}/text', 1, '{T}/text', 'no line of it is an event|not a tmigr recording') for v in (
        'report', 'compare', 'hotplug', 'export -f json', 'import -o new', 'tree')),
    *((f'{v} {{T}}/{f}', 1, f'{{T}}/{f}', "not a tmigr recording .'tmigr import' makes a run directory of a trace") for v in (
        'compare', 'export -f json', 'export -f csv', 'export -f perfetto -o {T}/here/x', 'report --html {T}/here/x')
      for f in ('trace', 'cut.dat')),
    *((f'{v} {{T}}/gzip', 1, '{T}/gzip', "compressed: give what 'zcat' makes of it") for v in (
        'report', 'hotplug', 'import -o new', 'tree')),
    *((f'{v} --cpus {{T}}/nope {{T}}/trace', 1, '{T}/nope', NOT_FOUND) for v in ('report', 'import -o new', 'tree')),
    *((f'{v} --cpus {{T}}/text {{T}}/trace', 1, '{T}/text', 'tar') for v in ('report', 'import -o new', 'tree')),
    *((f'{v} --cpus {{T}}/folder {{T}}/trace', 1, '{T}/folder', '/sys/devices/system/cpu') for v in (
        'report', 'import -o new', 'tree')),
    *((f'{v} --class x=60000 {{T}}/counted', 1, "class 'x=60000'", 'no CPU 60000') for v in ('report', 'import -o new')),
    ('report --class x=0 {demo}', 1, '{demo}', 'no --class or --cpus'),
    ('report {T}/killed', 1, '{T}/killed', r'its recording can be read: {T}/killed/events\.tmr\.partial'),
    ('report {T}/badrun', 1, '{T}/badrun/report.json', 'line 1'),
    ('report {T}/newer.tmr', 1, '{T}/newer.tmr', 'this tool reads versions 1 to'),
    ('compare --baseline nope {run}', 1, "'nope'", 'only: '),
    ('export -f perfetto {T}/norecording', 1, '{T}/norecording', 'run it with --record'),
    ('export -f csv -o {T}/empty {run}', 1, '{T}/empty', '--table NAME: one table into a file'),
    ('export -f csv -o {T}/nope/x {run}', 1, '{T}/nope/x', NOT_FOUND),
    ('export -f json -o {T}/nope/x {run}', 1, '{T}/nope/x', NOT_FOUND),
    ('report --html {T}/nope/x {run}', 1, '{T}/nope/x', NOT_FOUND),
    ('import -o {T}/text/x {demo}', 1, '{T}/text/x', 'Not a directory$'),
    ('import -o {T}/full {demo}', 1, '{T}/full', '--force replaces an earlier run'),
    ('import --force -o {T}/full {demo}', 1, '{T}/full/stdout', 'is not from an earlier run, not replaced'),
    ('import -o / {demo}', 1, '/', 'a run needs a directory of its own'),
    ('import -o {T}/empty {demo}', 1, '{T}/empty', 'Not a directory$|File exists$'),
    *((f'{v} --socket {{T}}/nope {a}', 1, '{T}/nope', 'is tmigrd running') for v, a in (
        ('run', 'true'), ('tree', ''), ('top --once', ''), ('status', ''), ('mark', 'x'), ('dump -o x', ''), ('metrics', ''),
        ('export -f openmetrics', ''))),
    *((f'{v} --socket {{T}}/deaf {a}', 1, '{T}/deaf', 'is tmigrd running') for v, a in (
        ('run', 'true'), ('tree', ''), ('top --once', ''), ('status', ''), ('mark', 'x'), ('dump -o x', ''), ('metrics', ''))),
    *((f'{v} --socket {{T}}/text.sock {a}', 1, '{T}/text.sock', 'no tmigrd') for v, a in (
        ('run', 'true'), ('tree', ''), ('top --once', ''), ('status', ''), ('mark', 'x'), ('dump -o x', ''), ('metrics', ''),
        ('export -f openmetrics', ''))),
    ('metrics --socket {T}/nope -o {T}/nope/x', 1, '{T}/nope', 'is tmigrd running'),
    (f'status --socket {{T}}/{"x" * 108}', 1, 'xxx', '1 to 107 bytes'),
    ('tree {T}/trace', 1, '{T}/trace', "no event in it tells a CPU's place"),
    ('tree {demo}', 1, '{demo}', 'a recording: it has no boot trace'),
    ('hotplug {demo}', 1, '{demo}', 'a recording: it has no steps of CPU hotplug'),
    ('hotplug {T}/trace', 1, '{T}/trace', 'none of them of CPU hotplug'),
    ('report {T}/noidle', 1, '{T}/noidle', 'none of them cpu_idle or of timer migration'),
    ('report {T}/counter', 1, '{T}/counter', "trace with 'mono' or 'local'"),
    ('report {T}/head.tmr', 1, '{T}/head.tmr', 'stops at byte 8, inside its own head'),
    ('report {T}/noschema', 1, '{T}/noschema/report.json', 'not a report of tmigr'),
    ('compare {T}/noschema', 1, '{T}/noschema/report.json', 'not a report of tmigr'),
    ('report --cpus {T}/other.tar {T}/trace', 1, '{T}/other.tar', 'no tar file of /sys/devices/system/cpu'),
    ('report --cpus {T}/one.tar {T}/trace', 1, '{T}/one.tar', 'has no CPU 1, .*of another machine'),
    ('report --cpus {T}/cut.tar {T}/trace', 1, '{T}/cut.tar', 'a tar file that is cut off.*; a folder made by cp -r'),
    ('export -f csv -t migrator-segments {T}/segments-other', 1, '{T}/segments-other', "not a table of tmigr's segments"),
    ('export -f csv -t migrator-segments {T}/segments-cut', 1, '{T}/segments-cut', 'ends in the middle of a row'),
    *((f'report {{T}}/{name}', 1, f'{{T}}/{name}', hint) for name, hint in (
        ('version8.dat', "of version '8': 6 and 7 can be read"), ('cut.dat', 'is damaged or cut off')) if TRACECMD),
]
# Where a write to standard output fails.
FULL = ['--help', '--version', 'help run', 'report {demo}', 'report --json {demo}', 'report {run}', 'compare {run}',
        'compare --json {run}', 'export -f csv {run}', 'export -f json {run}', 'export -f openmetrics {run}',
        'tree {T}/boot', 'tree --dot {T}/boot', 'tree --json {T}/boot', 'hotplug {T}/hotplug', 'doctor', 'doctor --json',
        'report --html - {run}']
# Of whom nothing is theirs: no root, no capability, no daemon.
NOBODY = [
    *((f'{v}', 1, 'not permitted', 'root') for v in ('run true', 'run -d 1 --source bpf', 'tree', 'top --once', 'hotplug -d 1')),
    # (Whoever mounts it is root.)
    *((f'{v}', 1, 'tracefs|/sys/kernel/(debug/)?tracing', 'root|not mounted: mount -t tracefs nodev /sys/kernel/tracing$') for v in (
        'run -d 1 --source ftrace', 'hotplug --boot', 'tree --boot')),
    ('run --timer-migration off true', 1, 'timer_migration', 'root'),
    ('run --offline 1 true', 1, 'CPU 1', 'root'),
    ('hotplug --cycle 1 --yes', 1, 'not permitted|CPU 1', 'root'),
    ('report {T}/secret', 1, '{T}/secret', 'Permission denied$'),
    ('import -o {T}/locked/x {demo}', 1, '{T}/locked/x', 'Permission denied$'),
    ('export -f json -o {T}/locked/x {run}', 1, '{T}/locked/x', 'Permission denied$'),
    ('status --socket {T}/closed', 1, '{T}/closed', 'usermod -aG'),
    *((f'{v} --socket {{T}}/roots', 1, '{T}/roots', 'groupadd -r tmigr, usermod -aG') for v in ('status',) if ROOT),
    ('run --latency true', 1, 'not permitted', 'for --latency no daemon is asked'),
]

# With a terminal (of this type) as standard input and output.
TERMINAL = [
    ('xterm', 'dump -o -', 2, 'recording', 'terminal'),
    ('xterm', 'export -f perfetto {demo}', 2, 'Perfetto', 'give -o'),
    ('nonsense', 'top --no-daemon', 1, "'nonsense'", 'TERM'),
    ('dumb', 'top --no-daemon', 1, "'dumb'", 'TERM'),
]
# What can be said only on a kernel that can be measured: beside the line there may be a report.
LIVE = [
    ('run nope-nope', 127, "'nope-nope'", r'no such command in \$PATH'),
    ('run {T}/nope', 127, '{T}/nope', 'no such file'),
    ('run {T}/text', 126, '{T}/text', r'chmod \+x'),
    ('run {T}/folder', 126, '{T}/folder', 'a folder'),
    ('run --fail-if window_s>=0 true', 3, 'window_s>=0', 'is true'),
    ('run --fail-if metric.x>1 true', 2, 'metric.x', 'there are:'),
    ('run -o {T}/empty true', 1, '{T}/empty', 'Not a directory$|File exists$'),
    ('run -o {T}/full true', 1, '{T}/full', '--force replaces'),
    ('run -n 2 -o {T}/run true', 1, '{T}/run', '-n needs one of its own'),
    ('run -n 2 -o {T}/series true', 1, '{T}/series/run-', '--continue goes on .* --force replaces'),
    ('run -n 1 --continue -o {T}/inway/folder true', 1, '{T}/inway/folder/run-1', 'in the way.*take it away'),
    ('run -n 1 --continue -o {T}/inway/file true', 1, '{T}/inway/file/run-1', 'in the way.*take it away'),
    ('run -n 1 --continue -o {T}/inway/label true', 1, '{T}/inway/label/run-1', 'in the way.*take it away'),
    ('run -n 1 -o {T}/here/s false', 1, 'run 1', 'failed'),
    ('run -n 1 -o {T}/series true', 1, '{T}/series/run-2', 'take it away, or give -n 2'),
]
# What is told beside a result: a report of a part, and figures that are not what was wanted.
BESIDE = [
    *((f'{v} {{T}}/cut.tmr', 1, '{T}/cut.tmr', 'a part of the run only') for v in (
        'report', 'report --json', 'export -f csv', 'export -f json')),
    ('export -f perfetto -o {T}/here/x {T}/cut.tmr', 1, '{T}/cut.tmr', 'a part of the run only'),
    ('report --html {T}/here/x {T}/cut.tmr', 1, '{T}/cut.tmr', 'a part of the run only'),
    ('report {T}/disorder', 1, '{T}/disorder', 'line 3: time goes back'),
    ('import -o {T}/here/x {T}/cut.tmr', 1, 'import', 'a part of the trace only|a part of the run only'),
    ('report --fail-if x>1 {demo}', 2, "'x'", 'there are: big_share,'),
    ('report --fail-if exit_status>1 {demo}', 1, 'exit_status', 'is not known here'),
    ('report --fail-if big_share>0 {demo}', 3, 'big_share>0', 'is true: big_share is'),
]

# Messages in tools/ that no case here makes and no other test looks for: why.
UNMADE = {
    'out of memory': MEMORY,
    'no memory for the answer': MEMORY,
    **dict.fromkeys((
        'cannot set up signals: %s', 'cannot take signals: %s', 'cannot set a timer: %s', 'cannot make a timer: %s',
        'cannot wait: %s', 'poll: %s', '--metric: cannot read %s: %s', 'cannot create %s: %s',
        "the recording has no end: %s", '%s; the recording ends here, the run goes on'), SYSTEM),
    **dict.fromkeys((
        '%s: the daemon has been silent for %d s', '%s: the daemon was stopped', 'the CPUs are not the same as before',
        "%s: not a tmigrd's answer: %s", "%s: not a tmigrd's answer", "%s: not a tmigrd's answer: it holds no text",
        'its figures are of other CPUs', '%s: %s cannot be used: %s', '%s: %s has no end',
        '%s; the report is of what had come by then', "the daemon's answer has no report",
        'the TEXT has control characters, or is too long'), DAEMON),
    **dict.fromkeys((
        'this kernel has no timer-migration hierarchy (Linux 6.9 or later with CONFIG_NO_HZ_COMMON and CONFIG_SMP has)',
        'no CPU has shown its place in the hierarchy within two seconds, and by ftrace it cannot be looked up; try again',
        'no CPU has shown its place in the hierarchy within a second: all are busy, and this kernel has no symbol that tells '
        'it (CONFIG_KALLSYMS_ALL); try again',
        'energy of %s: its counter could not be read at the end, or was reset; it is left out'), KERNEL),
    **dict.fromkeys((
        'the window has ended; waiting for the command to end (interrupt again to kill it)',
        'stopped at once, without a report'), SIGNALS),
    'a part only: %s': 'a trace.dat that is cut off',
    'run %lu stays (%s); take %s away to repeat it': 'tests/cli/series.t',
    'cannot open %s: %s': 'what top shows in its own tests',
}


# Files of lib/ and daemon/ with messages whose words stand in no test and that no case here makes: why.
REFUSED = 'tests/unit: that it is refused, whatever the words'
GRANTED = 'what this kernel grants, or has; by hand on others (tests/board)'
CALLER = 'of a caller that is not in order, which the tools are'
UNMADE_FILES = {
    **dict.fromkeys((f'lib/{x}.c' for x in (
        'decode', 'decode_layout', 'kernel_btf', 'replay', 'report_check', 'timeline_csv', 'top_sum', 'topology',
        'topology_json', 'totals', 'totals_latency', 'tracedat', 'tree_parse', 'import', 'import_info')), REFUSED),
    **dict.fromkeys((f'lib/{x}.c' for x in (
        'boot', 'clock', 'engine_bpf', 'engine_ftrace', 'engine_latency', 'engine_moment', 'engine_source',
        'ftrace_instance', 'ftrace_read', 'hotplug_file', 'hotplug_live', 'live', 'live_drain', 'live_edge', 'live_latency',
        'live_load', 'live_snapshot', 'perfetto')), GRANTED),
    **dict.fromkeys((f'lib/{x}.c' for x in (
        'housekeeping', 'import_topology', 'import_untar', 'machine_change', 'recording_write', 'rundir', 'rundir_make')), SYSTEM),
    **dict.fromkeys((f'lib/{x}.c' for x in ('compare', 'engine', 'engine_edge', 'engine_window', 'runset')), CALLER),
    'lib/varlink_client.c': DAEMON,
    'daemon/client.c': 'tests/daemon/memory.t: that the log tells of it',
    **dict.fromkeys((f'daemon/{x}.c' for x in (
        'feed', 'flight', 'listen', 'main', 'notify', 'record', 'serve', 'topology')), SYSTEM),
}


def fill(text, folder, verb=None):
    """The arguments of a row."""
    words = text.format(T=folder, demo=DEMO, run=folder / 'run')
    return [SPECIAL.get(w, os.fsencode(w)) for w in words.split()] if verb is None else words


def listing(folder):
    """What is in it: names, sizes and times."""
    return sorted((str(p), p.lstat().st_size, p.lstat().st_mtime_ns) for p in folder.rglob('*') if not p.is_dir()) + \
        sorted(str(p) for p in folder.rglob('*') if p.is_dir())


def tarball(path, files):
    with tarfile.open(path, 'w') as t:
        for name, body in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            t.addfile(member, io.BytesIO(body))


def odd_files(t):
    """Traces, recordings, run directories and copies of sysfs that are not what was wanted."""
    (t / 'counter').write_text(re.sub(r' (\d+)\.(\d+): ', r' \1\2: ', TRACE))
    (t / 'disorder').write_text(''.join(reversed(TRACE.splitlines(True))))
    (t / 'noidle').write_text(TRACE.replace('cpu_idle: state', 'cpu_frequency: state'))
    (t / 'head.tmr').write_bytes(b'TMIGREC\n')
    for name, version in ('version8.dat', b'8'), ('cut.dat', b'6'):
        (t / name).write_bytes(b'\x17\x08\x44tracing' + version + bytes(100))
    for name in 'noschema', 'segments-other', 'segments-cut':
        shutil.copytree(t / 'run', t / name)
    (t / 'noschema/report.json').write_text('{}')
    table = (t / 'run/migrator-segments.csv').read_text()
    (t / 'segments-other/migrator-segments.csv').write_text('a,b\n' + table)
    (t / 'segments-cut/migrator-segments.csv').write_text(table + 'GRP0:0,held')
    cpus = 'sys/devices/system/cpu'
    tarball(t / 'other.tar', {'etc/hostname': b'board\n'})
    tarball(t / 'one.tar', {f'{cpus}/{x}': b'0\n' for x in ('present', 'possible', 'online')} |
            {f'{cpus}/cpu0/cpu_capacity': b'1024\n'})
    (t / 'cut.tar').write_bytes((t / 'one.tar').read_bytes()[:512 + 1])


class World:
    """A folder of things that are in the way."""

    def __init__(self, folder):
        self.folder = folder
        self.work = folder / 'here'
        (self.work / 'tmp').mkdir(parents=True)
        for d in self.work, self.work / 'tmp':
            d.chmod(0o777)
        self.env = dict(os.environ, TMPDIR=str(self.work / 'tmp'), TMIGR_SOCKET='/nonexistent/tmigrd.sock', LC_ALL='C')
        self.env.pop('TMIGR_DEBUG', None)
        self.program = folder / 'tmigr'
        shutil.copy(TMIGR, self.program)
        self.fill()

    def fill(self):
        t = self.folder
        (t / 'empty').touch()
        (t / 'folder').mkdir()
        (t / 'text').write_text('Dear Sir or Madam,\n' * 100)
        (t / 'gzip').write_bytes(bytes.fromhex('1f8b0800') + bytes(60))
        (t / 'trace').write_text(TRACE)
        (t / 'endless').write_text('hello')
        (t / 'counted').write_text(f'#P:2\n{TRACE}')
        (t / 'hotplug').write_bytes(gzip.decompress((FIXTURES / 'hotplug/rk3576-7.3.4-unaware.txt.gz').read_bytes()))
        shutil.copy(FIXTURES / 'captures/rk3576-7.3.4-all/boot-trace.txt', t / 'boot')
        head = DEMO.read_bytes()[:4096]
        (t / 'newer.tmr').write_bytes(head[:8] + bytes([99]) + head[9:])
        subprocess.run([TMIGR, 'import', '-q', '-o', t / 'run', '--no-recording', t / 'trace'], check=True)
        shutil.copytree(t / 'run', t / 'norecording')
        shutil.copytree(t / 'run', t / 'badrun')
        (t / 'badrun/report.json').write_text('{nonsense\n')
        (t / 'full').mkdir()
        (t / 'full/stdout').write_text('of another program\n')
        (t / 'killed').mkdir()
        (t / 'killed/run.json').write_text('{"schema": "tmigr-run", "version": 1, "state": "running"}\n')
        (t / 'killed/events.tmr.partial').write_bytes(head)
        (t / 'secret').write_text(TRACE)
        (t / 'secret').chmod(0)
        (t / 'locked').mkdir(mode=0o555)
        (t / 'cut.tmr').write_bytes(DEMO.read_bytes()[:-100])
        odd_files(t)
        (t / 'inway/folder/run-1').mkdir(parents=True)
        (t / 'inway/folder/run-1/letter').touch()
        (t / 'inway/file').mkdir()
        for k in 1, 2:
            shutil.copytree(t / 'run', t / f'inway/label/run-1/run-{k}')
        (t / 'inway/file/run-1').touch()
        for k in 1, 2:
            shutil.copytree(t / 'run', t / 'series' / f'run-{k}')
        for name, mode in ('deaf', 0o600), ('closed', 0), ('roots', 0):
            with socket.socket(socket.AF_UNIX) as s:
                s.bind(str(t / name))
            (t / name).chmod(mode)
        if ROOT:
            os.chown(t / 'closed', 0, 65534)

    def clean(self):
        shutil.rmtree(self.work)
        (self.work / 'tmp').mkdir(parents=True)
        for d in self.work, self.work / 'tmp':
            d.chmod(0o777)

    def run(self, args, prefix=(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE):
        return subprocess.run([*prefix, self.program, *args], cwd=self.work, env=self.env, stdin=stdin,
                              stdout=stdout, stderr=subprocess.PIPE, timeout=300)

    def check(self, row, status, names, hint, beside=False, **kwargs):
        """One row: all that is the same for every error; @beside: of a result."""
        before = listing(self.folder)
        done = self.run(fill(row, self.folder), **kwargs)
        said = done.stderr.decode('utf-8', 'backslashreplace')
        lines.append(said.rstrip('\n'))
        faults = []
        if done.returncode != status:
            faults.append(f'exit {done.returncode}, not {status}')
        if said.count('\n') != 1 or not re.match('tmigr( [a-z]+)?: ', said):
            faults.append('not one line from tmigr')
        # A name stands as it is; around it a pattern.
        for what, text in ('name', names), ('hint', hint):
            text = re.sub(r'\{(\w+)\}', lambda m: re.escape(fill(m.group(), self.folder, 1)), text)
            if not re.search(text, said.rstrip('\n')):
                faults.append(f'no {what}: {text}')
        if done.stdout and not beside:
            faults.append(f'on standard output: {done.stdout[:200]}')
        left = set(map(str, listing(self.folder))) ^ set(map(str, before))
        if beside:
            self.clean()
        elif left:
            faults.append(f'left behind: {sorted(left)[:5]}')
        tap.ok(not faults, f'exit {status}: tmigr {row[:80]}', faults + [f'said: {said}'])


def other_tests():
    """The text of all tests but this one."""
    return '\n'.join(p.read_text(encoding='utf-8', errors='replace') for d in ('cli', 'daemon', 'live', 'unit', 'board')
                     for p in (TESTS / d).rglob('*') if p.suffix in ('.t', '.c', '.py', '.sh') and p.name != 'errors.t')


def unmade(folder, elsewhere):
    """(place, format) of messages in a folder that no line here is one of, nor any other test
    has some words of."""
    for path in sorted((TREE / folder).glob('*.c')):
        for line, fmt in messages.formats(path, ['tool_error', 'tool_usage', 'tmigr_fail', 'log_line']):
            if not messages.says_something(fmt) or any(messages.pattern(fmt).search(said) for said in lines):
                continue
            if not any(words in elsewhere for words in messages.phrases(fmt)):
                yield f'{folder}/{path.name}:{line}', fmt


def on_terminal(world):
    here, there = pty.openpty()
    for world.env['TERM'], row, status, names, hint in TERMINAL:
        if row.startswith('top') and why_not_live():
            tap.skip(f'tmigr {row}', why_not_live())
            continue
        world.check(row, status, names, hint, stdin=there, stdout=there)
    os.close(here)
    os.close(there)


def as_nobody(world):
    drop = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--bounding-set=-all'] if ROOT else []
    try:
        able = world.run(['--version'], prefix=drop).returncode == 0
    except OSError:
        able = False
    if not able:
        tap.skip('without privileges', 'setpriv, or the program, does not work as nobody')
        return
    for row, status, names, hint in NOBODY:
        world.check(row, status, names, hint, prefix=drop)


def why_not_live():
    if not ROOT:
        return 'needs root'
    done = subprocess.run([TMIGR, 'doctor'], capture_output=True)
    return '' if done.returncode == 0 else 'this kernel cannot (tmigr doctor says why)'


class Nonsense:
    """Something that listens and is no tmigrd."""

    def __init__(self, world):
        self.path = world.folder / 'text.sock'
        self.server = subprocess.Popen([sys.executable, TESTS / 'daemon/fake.py', self.path, 'text'])

    def __enter__(self):
        while True:
            with socket.socket(socket.AF_UNIX) as s:
                try:
                    s.connect(str(self.path))
                    return self
                except OSError:
                    time.sleep(0.02)

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        self.path.unlink()


def all_cases(world):
    for row, names in USAGE:
        verb = next((v for v in VERBS if row.split(' ')[0] == v), None)
        if row.startswith('help ') and row != 'help frob':
            verb = 'help'
        world.check(row, 2, names, rf"\(see 'tmigr {verb + ' ' if verb else ''}--help'\)")
    with Nonsense(world):
        for row, status, names, hint in ERRORS:
            world.check(row, status, names, hint)
    for row, status, names, hint in BESIDE:
        world.check(row, status, names, hint, beside=True)
    if os.access('/dev/full', os.W_OK):
        for row in FULL:
            with open('/dev/full', 'wb') as full:
                world.check(row, 1, 'standard output', 'No space left on device$', stdout=full)
    on_terminal(world)
    as_nobody(world)
    why = why_not_live()
    for row, status, names, hint in LIVE:
        if why:
            tap.skip(f'tmigr {row}', why)
        else:
            world.check(row, status, names, hint, beside=True)


def main():
    with tempfile.TemporaryDirectory(prefix='tmigr-test.') as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        all_cases(World(folder))
    elsewhere = other_tests()
    why = why_not_live()
    if why:
        tap.skip('each message in tools/ is made by a case', why)
    for where, fmt in unmade('tools', elsewhere) if not why else ():
        if fmt not in UNMADE:
            tap.ok(False, f'{where}: a case makes it', [fmt])
        elif UNMADE[fmt] != MEMORY:
            tap.note(f'{where}: not made ({UNMADE[fmt]}): {fmt}')
    rest = [m for d in ('lib', 'daemon') for m in unmade(d, elsewhere) if 'memory' not in m[1]]
    for where, fmt in rest if not why else ():
        if where.split(':')[0] not in UNMADE_FILES:
            tap.ok(False, f'{where}: a test makes it', [fmt])
    for reason in dict.fromkeys(UNMADE_FILES.values()):
        told = [where for where, _ in rest if UNMADE_FILES.get(where.split(':')[0]) == reason]
        tap.note(f'{len(told)} messages not made ({reason}): ' + ', '.join(told))
    tap.done()


TRACE = ''.join(f'          <idle>-0       [{c:03}] d..2. {100 + i / 1000:.6f}: cpu_idle: state={s} cpu_id={c}\n'
                for i, (c, s) in enumerate([(0, 1), (1, 1), (0, 4294967295), (1, 4294967295)] * 3))
main()
