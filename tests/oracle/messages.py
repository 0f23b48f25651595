# SPDX-License-Identifier: GPL-2.0-or-later
"""The messages of the programs, as their sources have them."""

import re

CONVERSION = re.compile(r'%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[diouxXcsgfep%]')
ESCAPES = {'\\"': '"', '\\\\': '\\', '\\n': '\n', '\\t': '\t'}


def bodies(text, names):
    """Position and arguments of each call of one of @names."""
    for call in re.finditer(r'\b(?:%s)\(' % '|'.join(names), text):
        at, depth = call.end(), 1
        while depth and at < len(text):
            string = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'').match(text, at)
            if string:
                at = string.end()
                continue
            depth += {'(': 1, ')': -1}.get(text[at], 0)
            at += 1
        yield call.start(), text[call.end():at - 1]


def formats(path, names):
    """(line, format) of each call: the strings that stand side by side, the first one that is
    not a single word (a verb's name)."""
    text = path.read_text(encoding='utf-8')
    for at, body in bodies(text, names):
        for run in re.finditer(r'"(?:[^"\\]|\\.)*"(?:\s*(?:[A-Z_]+\s*)?"(?:[^"\\]|\\.)*")*', body):
            # A macro among the strings is anything.
            fmt = ''.join('%s' if m.group(1) is None else m.group(1)
                          for m in re.finditer(r'"((?:[^"\\]|\\.)*)"|[A-Z_]+', run.group()))
            fmt = re.sub(r'\\.', lambda m: ESCAPES.get(m.group(), m.group()), fmt)
            if fmt and not re.fullmatch(r'[a-z]+', fmt):
                yield text.count('\n', 0, at) + 1, fmt
                break


def pattern(fmt):
    """What a line made by the format matches."""
    parts = CONVERSION.split(fmt)
    return re.compile('.*'.join(map(re.escape, parts)))


def says_something(fmt):
    """Not only what others say: %s."""
    return re.search('[a-z]{3}', CONVERSION.sub('', fmt)) is not None


def phrases(fmt):
    """Parts of the format of three words or more, which stand in what it makes."""
    return [p.strip() for p in CONVERSION.split(fmt) if len(re.findall(r'\w+', p)) >= 3]
