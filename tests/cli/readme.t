#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""README.md is true: the sample report is what the program prints for the
recording, and every verb, option, make target and file it names is there."""
import difflib
import os
import re
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ.get("TMIGR_TESTS", "tests"), "oracle"))
sys.dont_write_bytecode = True
import madeup  # noqa: E402
from tap import needs_zstd  # noqa: E402

needs_zstd()

TMIGR = os.path.join(os.environ.get("B", "build"), "tmigr")
SAMPLE = "demo/events.tmr"
ran = failed = 0


def ok(good, name, *why):
    global ran, failed
    ran += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", ran, name))
    for line in () if good else "\n".join(map(str, why)).split("\n"):
        print("#", line)


def tmigr(*args):
    r = subprocess.run([TMIGR, *args], capture_output=True, text=True, encoding="utf-8", check=False)
    ok(r.returncode == 0, " ".join(("exit 0: tmigr",) + args), r.stderr)
    return r.stdout


def options(text):
    """-d, --watch … of a command line or a help text."""
    return re.findall(r"(?<![\w-])-(?:-[a-z][a-z-]*|[a-zA-Z])(?![\w-])", text)


def listed(text):
    """The options that a help text explains: a line each, perhaps several names."""
    return {o for line in re.findall(r"^ {2,6}(-\S.*)$", text, re.M) for o in options(line)}


readme = open("README.md", encoding="utf-8").read()
blocks = re.findall(r"^```\n(.*?)^```$", readme, re.M | re.S)
samples = [b for b in blocks if b.startswith("Timer migration and idle states")]
ok(len(samples) == 1, "one sample report in README.md", "%d of them" % len(samples))
want = tmigr("report", SAMPLE)
for sample in samples:
    ok(sample == want, "it is what tmigr report %s prints" % SAMPLE,
       *difflib.unified_diff(sample.split("\n"), want.split("\n"), "README.md", "tmigr report", "", "", 0, ""))

# The two comparisons: a whole one, and lines of one; without GSL they lack
# what they show.
comparisons = [b for b in blocks if b.startswith("Comparison of ")]
ok(len(comparisons) == 2, "two comparisons in README.md", "%d of them" % len(comparisons))
if ", GSL " in tmigr("--version"):
    with tempfile.TemporaryDirectory() as folder:
        want = tmigr("compare", *map(str, madeup.rk3576(pathlib.Path(folder), "little-pin")[:2]))
    ok(comparisons[0] == want, "the first is what tmigr compare prints for the report's values",
       *difflib.unified_diff(comparisons[0].split("\n"), want.split("\n"), "README.md", "tmigr compare", "", "", 0, ""))
    want = tmigr("compare", *("tests/fixtures/runs/compare/" + x for x in ("unaware", "split")))
    whole = open("docs/compare-boards.txt", encoding="utf-8").read()
    ok(whole == want, "docs/compare-boards.txt is what tmigr compare prints for the boards' runs",
       *difflib.unified_diff(whole.split("\n"), want.split("\n"), "docs", "tmigr compare", "", "", 0, ""))
    at = 0
    for part in comparisons[1].split("…\n"):  # which stands for lines that are left out
        place = want.find("\n" + part, at)
        ok(place >= 0 or not at and want.startswith(part), "the second has it: %s" % part.split("\n")[0].strip(),
           part, "is not in:", want[at:])
        at = max(place, 0) + len(part)
samples += comparisons

# All other code: the lines of the blocks, and what stands in backquotes.
code = [line for b in blocks if b not in samples for line in b.split("\n")]
code += re.findall(r"`([^`\n]+)`", re.sub(r"^```\n.*?^```$", "", readme, flags=re.M | re.S))

verbs = re.findall(r"^  ([a-z]+) ", tmigr("--help").split("Verbs:")[1], re.M)
known = {v: listed(tmigr(v, "--help")) for v in verbs if v != "help"}
everywhere = set().union(*known.values())
ok(len(everywhere) > 10, "the options in the helps were found", sorted(everywhere))

named = {}
for line in code:
    m = re.search(r"\btmigr ([a-z]+)\b(.*)", line)
    if m:  # what follows " -- " is the traced command's; a comment is about the verb
        mine = re.sub(r" -- .*?(?=#|$)", " ", m[2])
        named.setdefault(m[1], set()).update(options(mine))
    elif line.startswith("-"):
        named.setdefault("", set()).update(options(line))
for verb, opts in sorted(named.items()):
    if verb:
        ok(verb in verbs, "README.md: tmigr %s is a verb of tmigr --help" % verb, verbs)
    for o in sorted(opts):
        ok(o in (known.get(verb, ()) if verb else everywhere),
           "README.md: %s is in tmigr %s--help" % (o, verb and verb + " "))
for verb in known:
    ok(verb in named, "README.md tells of tmigr %s" % verb)

targets = re.findall(r"^([a-z][a-z -]*):(?!=)", open("Makefile", encoding="utf-8").read(), re.M)
targets = {t for group in targets for t in group.split()}
for line in code:
    m = re.match(r"(?:sudo )?make ([a-z-]+)", line)
    if m:
        ok(m[1] in targets, "README.md: make %s is a target" % m[1], sorted(targets))
for path in sorted(set(re.findall(r"\]\(([^):]+)\)", readme)) |
                   {c for c in code if re.fullmatch(r"(docs|scripts|tests|bench|lib|bpf|tools|include|demo)/\S*", c)}):
    file, _, anchor = path.partition("#")
    there = os.path.exists(file)
    if there and anchor:
        heads = re.findall(r"^#+ (.*)$", open(file, encoding="utf-8").read(), re.M)
        there = anchor in {re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in heads}
    ok(there, "README.md: %s is there" % path)
print("1..%d" % ran)
sys.exit(failed > 0)
