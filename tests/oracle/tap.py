# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP on standard output."""

import os
import subprocess
import sys


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def ok(self, good, name, details=()):
        """One check; @details are lines shown when it fails."""
        self.n += 1
        self.failed += not good
        print(f'{"ok" if good else "not ok"} {self.n} - {name}', flush=True)
        if not good:
            for line in list(details)[:20]:
                print(f'# {line}', flush=True)
        return good

    def same(self, got, want, name):
        return self.ok(got == want, name, [f'got  {got}', f'want {want}'])

    def skip(self, name, why):
        self.n += 1
        print(f'ok {self.n} - {name} # SKIP {why}', flush=True)

    def note(self, text):
        print(f'# {text}', flush=True)

    def done(self):
        print(f'1..{self.n}', flush=True)
        sys.exit(1 if self.failed else 0)


def skip_all(why):
    print(f'1..0 # SKIP {why}')
    sys.exit(0)


def built_without(library):
    program = os.path.join(os.environ.get('B', 'build'), 'tmigr')
    return f'no {library}' in subprocess.run([program, '--version'], capture_output=True, text=True, check=False).stdout


def needs_zstd():
    """For a test whose recordings are compressed."""
    if built_without('zstd'):
        skip_all('built without zstd, which the recordings that it reads are compressed with')
