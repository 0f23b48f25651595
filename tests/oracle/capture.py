# SPDX-License-Identifier: GPL-2.0-or-later
"""The captures of tests/fixtures: a folder with trace.txt.gz, boot-trace.txt and
meta.json, and what the oracle says of it."""

import json
import pathlib
import tempfile

import events
import figures
import hierarchy
import records


def cpu_list(text):
    for part in text.split(','):
        a, _, b = part.partition('-')
        yield from range(int(a), int(b or a) + 1)


def folders(tests):
    return sorted(p.parent for p in
                  (pathlib.Path(tests) / 'fixtures/captures').glob('*/meta.json'))


class Capture:
    """@boot: the boot trace tells the hierarchy too."""

    def __init__(self, folder, boot=True):
        self.folder, self.name = folder, folder.name
        meta = json.loads((folder / 'meta.json').read_text())
        self.meta = meta
        self.events = events.read(folder / 'trace.txt.gz')
        self.hier = hierarchy.Hierarchy()
        if boot and (folder / 'boot-trace.txt').exists():
            self.hier.learn(events.read(folder / 'boot-trace.txt'))
        self.hier.learn(self.events)
        self.states = [(s['name'], s['latency_us'], s['residency_us'])
                       for s in meta['states']]
        self.capacity = meta['capacity']
        self.classes = {cpu: (name, meta['capacity'][cpu])
                        for name, cpus in meta['classes'].items()
                        for cpu in cpu_list(cpus)}

    def make_sysfs(self, root):
        records.make_sysfs(root, {c: cap for c, (_, cap)
                                  in self.classes.items()}, self.states)

    def window(self, start=None, end=None, evs=None):
        evs = self.events if evs is None else evs
        times = [e.t for e in evs]
        return figures.Window(evs, self.hier, self.classes,
                              min(times) if start is None else start,
                              max(times) + 1 if end is None else end)

    def feed_lines(self, program, lines):
        with tempfile.TemporaryDirectory() as root:
            self.make_sysfs(root)
            return records.feed(program, root, lines)

    def feed(self, program, window, evs=None):
        evs = self.events if evs is None else evs
        return self.feed_lines(program, records.lines(window, evs))
