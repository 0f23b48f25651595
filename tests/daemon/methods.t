#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every method of tmigrd, by a raw socket."""

import grp
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(os.environ.get('TMIGR_TESTS', pathlib.Path(__file__).parent.parent))
sys.path.insert(0, str(TESTS / 'oracle'))
sys.dont_write_bytecode = True

import daemon  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

METHODS = {'Status', 'Topology', 'Hierarchy', 'Totals', 'OpenWindow', 'ReadWindow', 'CloseWindow',
           'Subscribe', 'Mark', 'DumpFlight', 'StartRecording', 'StopRecording', 'Metrics'}

STREAMS = {'Subscribe', 'DumpFlight', 'StartRecording'}


def service(t, d):
    c = d.client()
    info = c.call(daemon.SERVICE + 'GetInfo')
    t.same(info['interfaces'], ['org.varlink.service', 'org.tmigrd'], 'GetInfo: interfaces')
    for name in info['interfaces']:
        text = c.call(daemon.SERVICE + 'GetInterfaceDescription', {'interface': name})
        t.ok(f'interface {name}\n' in text['description'], f'description of {name}')
    found = {line.split('(')[0].split()[1] for line in text['description'].splitlines()
             if line.startswith('method ')}
    t.same(found, METHODS, 'the description has all methods')
    t.same(c.error(daemon.SERVICE + 'GetInterfaceDescription', {'interface': 'a.b'}),
           ('org.varlink.service.InterfaceNotFound', {'interface': 'a.b'}),
           'description of an unknown interface')
    for name in sorted(METHODS):
        error, _ = c.error(name, {'no such parameter': 1}, more=name in STREAMS)
        t.same(error, 'org.varlink.service.InvalidParameter', f'{name} is there, checks')
    c.close()


def state(t, d):
    c = d.client()
    s = c.call('Status')
    t.ok(s['clients'] >= 1 and s['start_ns'] < s['now_ns'], 'Status', [str(s)])
    t.same(s['kernel'], os.uname().release, 'Status: kernel')
    topo = c.call('Topology')['topology']
    online = len(os.sched_getaffinity(0))
    t.ok(len(topo['cpus']) >= online, 'Topology: CPUs', [str(topo)])
    error, tree = c.error('Hierarchy')
    if error:
        t.same(error, 'NoHierarchy', 'Hierarchy: none known yet is a typed error')
    else:
        t.same(tree['tree']['schema'], 'tmigr-tree', 'Hierarchy: the tree object')
        t.same(len(tree['tree']['cpus']), len(topo['cpus']), 'Hierarchy: all CPUs')
        t.same(bool(tree['tree']['groups']), s['timer_migration_hierarchy'], 'Hierarchy: groups, where there are any')
    first, second = (c.call('Totals')['report'] for _ in range(2))
    t.same(daemon.check_sums(first), None, 'Totals: sums')
    t.same(daemon.check_sums(second), None, 'Totals again: sums')
    t.ok(first['start_ns'] == second['start_ns'] == s['start_ns'] and
         first['window_ns'] < second['window_ns'], 'Totals: since the start, growing')
    grew = all(a['running_ns'] <= b['running_ns'] and
               all(x['time_ns'] <= y['time_ns'] for x, y in zip(a['states'], b['states']))
               for a, b in zip(first['cpus'], second['cpus']))
    t.ok(grew, 'Totals: no figure shrinks')
    c.close()


def metrics(t, d):
    c = d.client()
    text = c.call('Metrics')['text']
    t.ok(text.endswith('# EOF\n'), 'Metrics: ends with # EOF')
    families, bad = {}, []
    for line in text.splitlines():
        if line.startswith('# TYPE '):
            _, _, name, kind = line.split(' ')
            bad += [line] * (name in families)
            families[name] = kind
        elif not line.startswith('#'):
            name, value = line.split('{')[0].split(' ')[0], line.rsplit(' ', 1)[1]
            base = name.removesuffix('_total')
            bad += [line] * (base not in families or float(value) < 0 or
                             (families.get(base) == 'counter') != name.endswith('_total'))
    t.ok(not bad and len(families) >= 10, 'Metrics: OpenMetrics', bad)
    report = c.call('Totals')['report']
    running = sum(float(line.rsplit(' ', 1)[1]) for line in text.splitlines()
                  if line.startswith('tmigr_cpu_state_seconds_total') and 'running' in line)
    t.ok(running * 1e9 <= sum(c['running_ns'] for c in report['cpus']) + 1,
         'Metrics: not more than the totals read later')
    c.close()


def windows(t, d):
    c = d.client()
    w = c.call('OpenWindow')
    mark = c.call('Mark', {'text': 'begin of "work" \N{GREEK SMALL LETTER MU}'})
    so_far = c.call('ReadWindow', {'window': w['window']})['report']
    t.same(so_far['start_ns'], w['start_ns'], 'ReadWindow: start')
    t.same(daemon.check_sums(so_far), None, 'ReadWindow: sums')
    t.same(so_far['marks'], [{'time_ns': mark['time_ns'],
                              'text': 'begin of "work" \N{GREEK SMALL LETTER MU}'}],
           'ReadWindow: marks')
    end = c.call('CloseWindow', {'window': w['window']})['report']
    t.same(daemon.check_sums(end), None, 'CloseWindow: sums')
    t.ok(end['window_ns'] > so_far['window_ns'], 'CloseWindow: longer than what was read')
    t.same(end['marks'], so_far['marks'], 'CloseWindow: marks')
    t.same(c.error('ReadWindow', {'window': w['window']})[0], 'NoSuchWindow', 'it is gone')
    later = c.call('OpenWindow')
    t.same(c.call('CloseWindow', {'window': later['window']})['report']['marks'], [],
           'a later window has not the mark')
    other = d.client()
    w = c.call('OpenWindow')['window']
    t.same(other.error('CloseWindow', {'window': w})[0], 'NoSuchWindow',
           "another connection's window is not to be had")
    for _ in range(15):
        c.call('OpenWindow')
    t.same(c.error('OpenWindow')[0], 'TooMany', 'windows of a connection are bounded')
    c.close()
    other.call('Status')  # the other's end is seen by then
    while other.call('Status')['windows']:
        pass
    t.ok(True, 'windows go with their connection')
    other.close()


def marks(t, d):
    c = d.client()
    for text, name in ((None, 'absent'), ('', 'empty'), ('x' * 1025, 'too long'), (5, 'no text'),
                       ('a\x1b[2Jb', 'an escape'), ('a\n', 'a line feed'), ('\x7f', 'DEL'),
                       ('\x9b2J', 'a C1 control')):
        params = {} if text is None else {'text': text}
        t.same(c.error('Mark', params), ('org.varlink.service.InvalidParameter',
                                         {'parameter': 'text'}), f'Mark: {name}')
    c.close()


def subscribe(t, d):
    c, late = d.client(), d.client()
    c.ask('Subscribe', {'period_ms': 1000}, more=True)
    first = c.reply()
    late.ask('Subscribe', {'period_ms': 1000}, more=True)
    second, third = c.reply(), c.reply()
    reports = [r['parameters']['report'] for r in (first, second, third)]
    t.ok(all(r['continues'] for r in (first, second, third)), 'Subscribe: continues')
    t.same([daemon.check_sums(r) for r in reports], [None] * 3, 'Subscribe: sums')
    t.same([r['start_ns'] + r['window_ns'] for r in reports[:2]],
           [r['start_ns'] for r in reports[1:]], 'Subscribe: each begins where the last ended')
    theirs = late.reply()['parameters']['report']
    t.ok(theirs in reports, 'Subscribe: those of one period share the windows')
    c.close()
    late.close()
    c = d.client()
    t.same(c.error('Subscribe', {'period_ms': 1000})[0], 'org.varlink.service.ExpectedMore',
           'Subscribe without more')
    for ms in 999, 0, -1, 1 << 40, '1000', 1000.0, None:
        t.same(c.error('Subscribe', {'period_ms': ms}, more=True),
               ('org.varlink.service.InvalidParameter', {'parameter': 'period_ms'}),
               f'Subscribe: period {ms!r}')
    c.close()


def replay(path):
    out = subprocess.run([daemon.TMIGR, 'report', '--json', path], capture_output=True,
                         check=False, text=True)
    if out.returncode:
        return {'error': out.stderr}
    return json.loads(out.stdout)


def same_report(got, want):
    """Byte for byte, but for what only a live run knows."""
    return json.dumps(got) == json.dumps(want)


def wait_drains(d, n):
    c = d.client()
    c.ask('Subscribe', {'period_ms': 1000}, more=True)
    for _ in range(n):
        c.take()
    c.close()


def recording(t, d, tmp):
    c = d.client()
    rec = daemon.Recording(d.path)
    c.call('Mark', {'text': 'inside'})
    t.same(c.error('CloseWindow', {'window': rec.window}), ('NoSuchWindow',
                                                            {'window': rec.window}),
           "a recording's window is its own connection's")
    wait_drains(d, 2)
    data, end = rec.stop(c)
    t.same(len(data), end['bytes'], 'StopRecording: all bytes are there')
    t.same(daemon.check_sums(end['report']), None, 'StopRecording: sums')
    t.ok(end['report']['marks'], 'StopRecording: marks')
    (tmp / 'events.tmr').write_bytes(data)
    t.same(json.dumps(replay(tmp / 'events.tmr')), json.dumps(end['report']),
           'the recording gives the same report, byte for byte')
    t.same(end['report'].get('engine'), f"tmigrd {c.call('Status')['version']} (PID {d.pid})",
           'it names its engine')
    t.same(c.call('Totals')['report'].get('engine'), end['report']['engine'],
           'so do the totals')
    t.same(c.error('StopRecording', {'window': rec.window})[0], 'NoSuchWindow', 'it is gone')
    w = c.call('OpenWindow')['window']
    t.same(c.error('StopRecording', {'window': w})[0], 'NoSuchWindow',
           'StopRecording does not end a window')
    t.same(c.error('StartRecording')[0], 'org.varlink.service.ExpectedMore',
           'StartRecording without more')
    gone = daemon.Recording(d.path)
    gone.c.close()
    while c.call('Status')['windows'] > 1:
        pass
    t.ok(True, 'a recording goes with its connection')
    c.close()


def exact_end(t, d, tmp):
    """To the ns, wherever it lies between the drains; far enough from one another that
    one edge is over when the next comes."""
    recs = [(ns, daemon.Recording(d.path, ns)) for ns in
            (1_234_567_890, 1_500_000_000, 1_900_000_001, 700_000_000)]
    for ns, rec in recs:
        data, end = rec.finish()
        t.same(end['report']['window_ns'], ns, f'StartRecording: ends by itself after {ns} ns')
        t.same(daemon.check_sums(end['report']), None, 'its sums')
        (tmp / 'exact.tmr').write_bytes(data)
        t.same(replay(tmp / 'exact.tmr'), end['report'], 'its replay')
    c = d.client()
    early = daemon.Recording(d.path, 3600 * 10**9)
    _, end = early.stop(c)
    t.ok(end['report']['window_ns'] < 3600 * 10**9, 'or earlier, by StopRecording')
    for ns in 0, -1, 1 << 63, '1', 1.5:
        error, _ = c.error('StartRecording', {'duration_ns': ns}, more=True)
        t.ok(error in ('org.varlink.service.InvalidParameter', 'InvalidRequest'),
             f'duration {ns!r}: {error}')
        if error == 'InvalidRequest':  # no number of JSON's
            c = d.client()
    c.close()


def users(t, d):
    """Who began it may end it, and root."""
    try:
        gid = grp.getgrnam('tmigr').gr_gid
    except KeyError:
        t.skip("another user's recording", 'no group tmigr on this machine')
        return
    rec = daemon.Recording(d.path)
    pid = os.fork()
    if not pid:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(65534)
        error, _ = d.client().error('StopRecording', {'window': rec.window})
        os._exit(error != 'NoSuchWindow')
    t.same(os.waitpid(pid, 0)[1], 0, "another user's recording cannot be ended")
    c = d.client()
    rec.stop(c)
    c.close()


def half_closed(t, d):
    """A client that shuts down its sending side gets all that it asked for."""
    for ask, check in (
            (lambda c: c.ask('Topology'), lambda c: 'topology' in c.take()),
            (lambda c: [c.ask('Status') for _ in range(20)],
             lambda c: all('version' in c.take() for _ in range(20))),
            (lambda c: [c.ask('Topology') for _ in range(300)],
             lambda c: all('topology' in c.take() for _ in range(300))),
            (lambda c: c.ask('DumpFlight', {}, more=True), lambda c: c.data()[0])):
        c = d.client()
        ask(c)
        c.sock.shutdown(socket.SHUT_WR)
        t.ok(check(c), 'a half-closed connection: answered')
        try:
            c.reply()
            t.ok(False, 'and closed then')
        except daemon.Gone as e:
            t.same(e.args[0], b'', 'and closed then')
    for method, params in ('Subscribe', {'period_ms': 1000}), ('StartRecording', {}):
        c = d.client()
        c.ask(method, params, more=True)
        c.sock.shutdown(socket.SHUT_WR)
        t.ok(all(c.reply().get('continues') for _ in range(3)),
             f'{method}: a half-closed stream goes on')
        c.close()
    c = d.client()
    c.send(b'{"method":"org.tmigrd.Status"}')  # without its NUL
    c.sock.shutdown(socket.SHUT_WR)
    try:
        c.reply()
        t.ok(False, 'half a request, half closed: closed')
    except daemon.Gone as e:
        t.same(e.args[0], b'', 'half a request, half closed: closed')
    c = d.client()
    while c.call('Status')['subscribers'] or c.call('Status')['windows'] > 0:
        pass
    t.ok(True, 'the streams end when the connections do')
    c.close()


def flight(t, d, tmp):
    c = d.client()
    path = tmp / 'dump.tmr'
    c.ask('DumpFlight', {}, more=True)
    data, got = c.data()
    path.write_bytes(data)
    t.same(len(data), got['bytes'], 'DumpFlight: all bytes are there')
    report = replay(path)
    t.same(daemon.check_sums(report) if 'cpus' in report else report, None, 'the dump: sums')
    t.same((report.get('start_ns'), report.get('window_ns')),
           (got['start_ns'], got['end_ns'] - got['start_ns']), 'the dump: its window')
    t.ok('partial' not in report, 'the dump is whole')
    t.ok(report.get('marks'), 'the dump has marks')
    t.same(sum(cpu['unknown_ns'] for cpu in report.get('cpus', [])), 0,
           'the dump: every idle state is known from its start on')
    t.same(sum(r['unknown_ns'] for r in report.get('roots', [])), 0,
           'the dump: the migrator is known from its start on')
    t.same(report.get('engine', '').split()[0], 'tmigrd', 'the dump: its engine')
    t.same(c.error('DumpFlight')[0], 'org.varlink.service.ExpectedMore', 'DumpFlight without more')
    c.call('Mark', {'text': 'since the last drain'})
    c.ask('DumpFlight', {'last_s': 1000}, more=True)
    data, got = c.data()
    (tmp / 'dump2.tmr').write_bytes(data)
    report = replay(tmp / 'dump2.tmr')
    t.same(daemon.check_sums(report), None, 'it is a recording')
    t.same([m for m in report['marks'] if not got['start_ns'] <= m['time_ns'] < got['end_ns']], [],
           'whose marks are all in it')
    c.close()


def main():
    why = daemon.why_not()
    if why:
        skip_all(why)
    t = Tap()
    with daemon.Daemon() as d, tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        service(t, d)
        state(t, d)
        metrics(t, d)
        windows(t, d)
        marks(t, d)
        subscribe(t, d)
        recording(t, d, tmp)
        exact_end(t, d, tmp)
        users(t, d)
        half_closed(t, d)
        flight(t, d, tmp)
        t.same(d.stop(), 0, 'SIGTERM: exit 0')
        t.ok('ERROR: ' not in d.messages() and 'runtime error' not in d.messages(),
             'no complaint', d.messages().splitlines())
    t.done()


main()
