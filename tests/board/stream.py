# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP: what one boot has to say, collected, and the stream that all of them are printed in."""

import collections


class Tap:
    """Lines of one boot, in order: ("ok" or "not ok" or "skip", text), or (None, a note)."""

    def __init__(self):
        self.lines = []

    def ok(self, name, problems=()):
        """A test; `problems` says what is wrong, nothing when it passed."""
        problems = list(problems)
        self.lines.append(("not ok" if problems else "ok", name))
        for p in problems[:10]:
            self.note(p)
        if len(problems) > 10:
            self.note(f"and {len(problems) - 10} more")

    def skip(self, name, why):
        self.lines.append(("skip", f"{name} # SKIP {' '.join(str(why).split())}"))

    def note(self, text):
        self.lines += [(None, line) for line in str(text).splitlines()]


class Stream:
    """Test lines on standard output, numbered, and a table of them."""

    def __init__(self):
        self.n = 0
        self.failures = []
        # {(board, kernel): {"sessions": [name of each that ran], "ok": count of each word, ...}}
        self.cells = {}

    def add(self, board, kernel, session, tap):
        """All of one boot's lines. `session`: None for a cell that cannot be had."""
        cell = self.cells.setdefault((board, kernel), {"sessions": [], "ok": 0, "not ok": 0, "skip": 0})
        if session:
            cell["sessions"].append(session)
        for word, text in tap.lines:
            if word is None:
                print(f"# {text}")
                continue
            self.n += 1
            if word == "not ok":
                self.failures.append(f"{self.n} - {text}")
            print(f"{'ok' if word == 'skip' else word} {self.n} - {text}")
        for word, count in collections.Counter(word for word, _ in tap.lines if word).items():
            cell[word] += count
        print(end="", flush=True)

    def table(self):
        """As tests/board/README.md has it."""
        yield "| board | kernel | passed | failed | skipped | sessions |"
        yield "|---|---|---|---|---|---|"
        for (board, kernel), cell in self.cells.items():
            sessions = ", ".join(f"`{s}`" for s in cell["sessions"])
            yield f"| `{board}` | {kernel} | {cell['ok']} | {cell['not ok']} | {cell['skip']} | {sessions} |"

    def end(self):
        for text in self.failures:
            print(f"# failed: {text}")
        for line in self.table():
            print(f"# {line}")
        print(f"1..{self.n}", flush=True)
