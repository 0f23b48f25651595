# SPDX-License-Identifier: GPL-2.0-or-later
"""A live.Run made again from its recording alone: what today's model and report
say of records that were taken once."""

import json
import subprocess
import tempfile

import align
import live
import records
from compare import REGIMES


class Replay:
    """The same attributes as live.Run."""

    def __init__(self, recording):
        said = subprocess.run([live.BUILD / 'tmigr', 'report', '--json',
                               recording], capture_output=True, text=True,
                              check=True)
        self.report = json.loads(said.stdout)
        self.start = self.report['start_ns']
        self.end = self.start + self.report['window_ns']
        dump = subprocess.run([live.PROGRAMS / 'rec-dump', recording],
                              capture_output=True, text=True, check=True)
        *lines, window = dump.stdout.splitlines()
        self.records = [align.Record(x) for x in lines if x.startswith('rec ')]
        with tempfile.TemporaryDirectory() as root:
            records.make_sysfs(root, {c['cpu']: c['capacity']
                                      for c in self.report['cpus']})
            answer = records.feed(live.PROGRAMS / 'model-feed', root,
                                  [window, *lines])
        self.segments = [self._row(*s) for s in answer['segments']]

    def _row(self, root, regime, cpu, start, end):
        """As in migrator-segments.csv."""
        return {'root': self.report['roots'][root]['group'],
                'regime': REGIMES[regime], 'cpu': str(cpu) if cpu >= 0 else '',
                'start_ns': start - self.start, 'end_ns': end - self.start}
