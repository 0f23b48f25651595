# SPDX-License-Identifier: GPL-2.0-or-later
"""A Perfetto trace as protoc shows it, checked as its readers would: every name
and track is known before it is used, slices begin and end in pairs, clocks are
declared. What is on the tracks comes out as plain lists."""

import collections
import re
import subprocess

FIELD = re.compile(r'\s*(\w+)(?:: (.*)| \{)$')
UNKNOWN = re.compile(r'\s*\d+[:\s]')
MONOTONIC, BOOTTIME = 3, 6


def unquote(text):
    """A string of the text format."""
    raw = re.sub(rb'\\([0-7]{3}|.)', lambda m: bytes([int(m[1], 8)])
                 if len(m[1]) == 3 else {b'n': b'\n', b't': b'\t', b'r': b'\r'}
                 .get(m[1], m[1]), text[1:-1].encode())
    return raw.decode()


def value(text):
    if text.startswith('"'):
        return unquote(text)
    if re.fullmatch(r'-?\d+', text):
        return int(text)
    return {'true': True, 'false': False}.get(text, text)


def parse(text):
    """Top-level messages: dicts of lists."""
    stack = [collections.defaultdict(list)]
    for line in text.splitlines():
        if line.strip() == '}':
            stack.pop()
            continue
        if UNKNOWN.match(line):
            raise ValueError(f'a field that is not in the .proto: {line}')
        name, val = FIELD.match(line).groups()
        if val is None:
            new = collections.defaultdict(list)
            stack[-1][name].append(new)
            stack.append(new)
        else:
            stack[-1][name].append(value(val))
    return stack[0]


Slice = collections.namedtuple('Slice', 'start end name args')
Instant = collections.namedtuple('Instant', 't name args')


class Trace:
    def __init__(self, path, proto):
        with open(path, 'rb') as f:
            done = subprocess.run(
                ['protoc', f'--proto_path={proto.parent}',
                 '--decode=perfetto.protos.Trace', proto.name],
                stdin=f, capture_output=True, check=True)
        self.wrong = []
        self.tracks = {}  # uuid: (name, parent, is a counter)
        self.slices = collections.defaultdict(list)
        self.instants = collections.defaultdict(list)
        self.counters = collections.defaultdict(list)
        self.idle = []  # (t, cpu, state) in the order of each CPU
        self.lost = collections.Counter()
        self.clocks = {}
        self.names = {'event_names': {}, 'event_categories': {},
                      'debug_annotation_names': {}}
        self._open = {}
        self._cleared = False
        for p in parse(done.stdout.decode())['packet']:
            self._packet(p)
        self._check(not self._open, f'slices without an end: {self._open}')

    def _check(self, good, why):
        if not good:
            self.wrong.append(why)
        return good

    def _packet(self, p):
        flags = p['sequence_flags'][0] if p['sequence_flags'] else 0
        self._check(p['trusted_packet_sequence_id'] == [1], 'another sequence')
        for snap in p['clock_snapshot']:
            self._check(not self.clocks, 'clocks twice')
            self.clocks = {c['clock_id'][0]: c['timestamp'][0]
                           for c in snap['clocks']}
            self._check(snap['primary_trace_clock'] == [MONOTONIC],
                        'primary clock')
        self._check(self.clocks, 'something before the clocks')
        if flags & 1:
            self._cleared = True
            self._check(p['trace_packet_defaults'][0]['timestamp_clock_id']
                        == [MONOTONIC], 'clock of time stamps')
        if p['interned_data'] or p['track_event']:
            self._check(flags == 2 and self._cleared,
                        'a packet does not say that it needs the state')
        for data in p['interned_data']:
            self._intern(data)
        for d in p['track_descriptor']:
            self._track(d)
        for e in p['track_event']:
            self._event(p['timestamp'][0], e)
        for b in p['ftrace_events']:
            self._bundle(b)

    def _intern(self, data):
        for kind, known in self.names.items():
            for entry in data[kind]:
                iid = entry['iid'][0]
                self._check(iid > 0 and iid not in known, f'{kind} {iid} twice')
                known[iid] = entry['name'][0] if entry['name'] else ''

    def _name(self, kind, iid):
        self._check(iid in self.names[kind], f'{kind} {iid} is not known')
        return self.names[kind].get(iid)

    def _track(self, d):
        uuid, parent = d['uuid'][0], (d['parent_uuid'] or [0])[0]
        self._check(uuid not in self.tracks, f'track {uuid} twice')
        self._check(not parent or parent in self.tracks, f'parent of {uuid}')
        self.tracks[uuid] = (d['name'][0], parent, bool(d['counter']))

    def _args(self, e):
        return {self._name('debug_annotation_names', a['name_iid'][0]):
                (a['uint_value'] or a['string_value'])[0]
                for a in e['debug_annotations']}

    def _event(self, t, e):
        uuid, kind = e['track_uuid'][0], e['type'][0]
        if not self._check(uuid in self.tracks, f'no track {uuid}'):
            return
        self._check(self.tracks[uuid][2] == (kind == 'TYPE_COUNTER'),
                    f'{kind} on track {self.tracks[uuid]}')
        if kind == 'TYPE_COUNTER':
            self.counters[uuid].append((t, e['counter_value'][0]))
            return
        if kind == 'TYPE_SLICE_END':
            if self._check(uuid in self._open, f'an end without a slice: {t}'):
                start, name, args = self._open.pop(uuid)
                self._check(start < t, f'a slice ends before it starts: {t}')
                self.slices[uuid].append(Slice(start, t, name, args))
            return
        self._check(len(e['category_iids']) == 1, 'category')
        for c in e['category_iids']:
            self._name('event_categories', c)
        name = (self._name('event_names', e['name_iid'][0]) if e['name_iid']
                else e['name'][0])
        if kind == 'TYPE_INSTANT':
            self.instants[uuid].append(Instant(t, name, self._args(e)))
            return
        self._check(kind == 'TYPE_SLICE_BEGIN', kind)
        self._check(uuid not in self._open, f'slices overlap at {t}')
        self._open[uuid] = (t, name, self._args(e))

    def _bundle(self, b):
        cpu = b['cpu'][0]
        self.lost[cpu] += bool(b['lost_events'])
        for e in b['event']:
            idle = e['cpu_idle'][0]
            self._check(idle['cpu_id'] == [cpu] and e['pid'] == [0],
                        f'CPU {cpu}: {idle}')
            self.idle.append((e['timestamp'][0], cpu, idle['state'][0]))

    def without_parent(self):
        """Names of the tracks that lie in no other."""
        return [name for name, parent, _ in self.tracks.values() if not parent]

    def in_folder(self, folder):
        """Tracks of a folder, in order: {name: uuid}."""
        top = next(u for u, t in self.tracks.items() if t[0].startswith(folder))
        return {t[0]: u for u, t in self.tracks.items() if t[1] == top}
