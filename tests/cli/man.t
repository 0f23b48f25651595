#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The man pages are true: their examples run, and options, files, columns, members of
the report and figures are those of the programs, in both directions. The commands of
the tutorials (docs/tutorials) run too, and print what stands there."""
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ.get("TMIGR_TESTS", "tests"), "oracle"))
sys.dont_write_bytecode = True
from tap import needs_zstd  # noqa: E402

needs_zstd()

ROOT = pathlib.Path.cwd()
BUILD = pathlib.Path(os.environ.get("B", "build")).resolve()
TMIGR, TMIGRD = BUILD / "tmigr", BUILD / "tmigrd"
PAGES = {p.name: p.read_text(encoding="utf-8") for p in sorted((ROOT / "man").glob("*.[1-9]"))}
RUN_DIRECTORY = PAGES["tmigr-run-directory.5"]
ran = failed = 0


def ok(good, name, *why):
    global ran, failed
    ran += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", ran, name))
    for line in () if good else "\n".join(map(str, why)).split("\n"):
        print("#", line)


def skip(name, why):
    global ran
    ran += 1
    print("ok %d - %s # SKIP %s" % (ran, name, why))


def same(name, page, program):
    """Two lists hold the same."""
    ok(set(page) == set(program) and page, name,
       "only in the page: %s" % sorted(set(page) - set(program)),
       "only of the program: %s" % sorted(set(program) - set(page)))


def output(*args):
    return subprocess.run(list(map(str, args)), capture_output=True, text=True, encoding="utf-8", check=False)


def plain(text):
    """mdoc's text without its escapes."""
    return re.sub(r"\\f[BIRP]", "", text).replace("\\&", "").replace("\\-", "-").replace("\\e", "\\")


def section(page, title):
    return re.search(r"^\.Sh %s\n(.*?)(?=^\.Sh |\Z)" % re.escape(title), page, re.M | re.S)[1]


def items(text):
    """[(heading, text)] of a tagged list."""
    found = re.findall(r"^\.It (.*)\n((?:(?!\.).*\n)*)", text, re.M)
    return [(plain(a), " ".join(plain(b).split())) for a, b in found]


# ---- pages as such
for name, page in PAGES.items():
    gone = [x for x in re.findall(r"^\.Xr (\S+) (\d)", page, re.M) if ".".join(x) not in PAGES]
    ok(not gone, "%s: the pages that it names are there" % name, gone)
    named = re.findall(r"\b(tmigr[a-z-]*)\((\d)\)", plain(page))
    ok(all(".".join(x) in PAGES for x in named), "%s: in its text too" % name, named)
if shutil.which("mandoc"):
    for name in PAGES:
        r = output("mandoc", "-T", "lint", "-W", "warning", "man/" + name)
        ok(r.returncode == 0 and not r.stdout, "mandoc -T lint %s" % name, r.stdout, r.stderr)
    with tempfile.NamedTemporaryFile("w", suffix=".1") as bad:
        bad.write(".Dd x\n.It y\n")
        bad.flush()
        ok(output("mandoc", "-T", "lint", "-W", "warning", bad.name).stdout, "it finds what is bad")
else:
    skip("mandoc -T lint", "no mandoc")
if shutil.which("man") and shutil.which("groff"):
    for name in PAGES:
        r = output("man", "--warnings", "-E", "UTF-8", "-l", "man/" + name)
        ok(r.returncode == 0 and not r.stderr, "man --warnings %s" % name, r.stderr)
else:
    skip("man --warnings", "no man or no groff")


# ---- options
def help_options(text):
    """{option: takes an argument} of a help text: a line each, perhaps several names."""
    found = {}
    for line in re.findall(r"^ {2,6}(-\S.*)$", text, re.M):
        head = re.split(r"\s{2,}", line)[0]
        names = re.findall(r"(?<![\w-])-(?:-[a-z][a-z-]*|[a-zA-Z])(?![\w-])", head)
        for o in names:
            found[o] = found.get(o, False) or not head.endswith(names[-1])
    return found


def page_options(page):
    found = {}
    for line in re.findall(r"^\.It Fl (.*)$", page, re.M):
        names, argument, _ = re.match(r"(.*?)( Ar | Ns |$)(.*)", line).groups()
        for o in names.split(" , "):
            found["-" + o] = bool(argument.strip())
    return found


verbs = re.findall(r"^  ([a-z]+) ", output(TMIGR, "--help").stdout.split("Verbs:")[1], re.M)
ok(len(verbs) > 10 and "help" in verbs, "the verbs were found", verbs)
same("a page for each verb, and no other", [n[6:-2] for n in PAGES if re.match(r"tmigr-.*\.1$", n)],
     [v for v in verbs if v != "help"])
same("tmigr(1) tells of each verb", [re.findall(r"[a-z-]+$", k)[0] for k, _ in items(section(PAGES["tmigr.1"], "DESCRIPTION"))],
     verbs)
programs = {"tmigr-%s.1" % v: output(TMIGR, v, "--help").stdout for v in verbs if v != "help"}
programs["tmigrd.8"] = output(TMIGRD, "--help").stdout.replace("--help, --version", "--help\n  --version")
for name, text in programs.items():
    same("%s: the options of --help" % name, page_options(PAGES[name]).items(), help_options(text).items())
for o in page_options(PAGES["tmigr.1"]):
    ok(output(TMIGR, o).returncode == 0, "tmigr.1: tmigr %s" % o)

# ---- files, columns, members, figures
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    run_files = re.search(r"run_files\[\] = \{(.*?)\};", (ROOT / "lib/rundir_make.c").read_text(encoding="utf-8"), re.S)[1]
    picture = re.findall(r"^  ((?:[a-z-]+\.?[a-z]* {1,2})+) ", plain(section(RUN_DIRECTORY, "DESCRIPTION")), re.M)
    same("the files of a run directory", " ".join(picture).split(), re.findall(r'"(.*?)"', run_files))
    ok(output(TMIGR, "import", "-q", "-o", folder / "run", "demo/events.tmr").returncode == 0, "a run directory was made")

    sections = dict(re.findall(r"^\.Ss ([a-z-]+)\.csv\n(.*?)(?=^\.Ss |\Z)", section(RUN_DIRECTORY, "CSV FILES"), re.M | re.S))
    help_tables = re.search(r"--table NAME(.*?)\n +--", output(TMIGR, "export", "--help").stdout, re.S)[1]
    tables = re.findall(r"[a-z][a-z-]+", help_tables.split("csv:")[1].replace("(if nothing is said)", ""))
    same("the tables", sections, tables)
    for t in tables:
        out = folder / ("%s.csv" % t)
        r = output(TMIGR, "export", "-f", "csv", "-t", t, "-o", out, "demo/events.tmr")
        meta = json.loads(out.with_name(out.name + "-metadata.json").read_text(encoding="utf-8"))
        columns = meta["tableSchema"]["columns"] if "tableSchema" in meta else meta["tables"][0]["tableSchema"]["columns"]
        ok([c["name"] for c in columns][:2] == ["label", "run"], "%s: begins with label and run" % t)
        columns = columns if t == "runs" else columns[2:]
        want = [(c["name"] + (" (%s)" % c["schema:unitText"] if "schema:unitText" in c else ""),
                 c["dc:description"].rstrip(".") + ".") for c in columns]
        ok(items(sections[t]) == want, "%s.csv: columns, units and meanings are those of csv-metadata.json" % t,
           "page:    %s" % items(sections[t]), "program: %s" % want)
        written = folder / "run" / ("%s.csv" % t)
        if written.exists():
            head = written.read_text(encoding="utf-8").split("\n")[0].split(",")
            ok([k.split(" ")[0] for k, _ in items(sections[t])] == head, "%s.csv: as written" % t, head)

    schema = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))

    def members(node, path):
        if node.get("$ref", "#") != "#":
            node = schema["$defs"][node["$ref"].split("/")[-1]]
        for key, child in node.get("properties", {}).items():
            yield path + key
            yield from members(child, path + key + ".")
        if "items" in node:
            yield from members(node["items"], path[:-1] + "[].")
        for child in node.get("anyOf", []):
            yield from members(child, path)

    def present(value, path=""):
        if isinstance(value, dict):
            for key, child in value.items():
                yield path + key
                yield from present(child, path + key + ".")
        elif isinstance(value, list):
            for child in value:
                yield from present(child, path[:-1] + "[].")

    json_part = section(RUN_DIRECTORY, "JSON FILES").split(".Ss report.json")[1]
    told = [k for k, _ in items(json_part)]
    same("the members of report.json", told, list(members(schema["$defs"]["report"], "")))
    report = json.loads((folder / "run/report.json").read_text(encoding="utf-8"))
    ok(set(present(report)) <= set(told), "those of a real one too", set(present(report)) - set(told))

    version = re.search(r"TMIGR_RECORDING_VERSION (\d+)", (ROOT / "include/tmigr/recording.h").read_text(encoding="utf-8"))[1]
    ok("version %s " % version in plain(section(RUN_DIRECTORY, "RECORDING")), "recordings have version %s" % version)

    figures = [f for k, _ in items(section(RUN_DIRECTORY, "FIGURES")) for f in k.split(", ")]
    names = output(TMIGR, "report", "--fail-if", "nonsense>1", "demo/events.tmr").stderr
    names = re.search(r"there are: (.*?)(?: \(see|$)", names.replace("\n", " "))[1].replace(",", " ").split()
    patterns = {f: re.compile("".join({"CLASS": ".+", "STATE": ".+", "A": ".+", "B": ".+", "NAME": ".+", "DOMAIN": ".+"}
                                      .get(w, re.escape(w)) for w in re.split(r"(CLASS|STATE|\bA(?=_)|(?<=_)B\b|NAME|DOMAIN)", f)))
                for f in figures}
    ok(len(names) > 10, "the figures of a report were found", names)
    for n in names:
        ok(any(p.fullmatch(n) for p in patterns.values()), "figure %s is in the page" % n, figures)
    for f, p in patterns.items():
        if not f.startswith(("metric.", "energy.")):
            ok(any(p.fullmatch(n) for n in names), "figure %s is the program's" % f, names)


# ---- examples
def blocks(page):
    """(what is said in a comment before it, lines) of each literal block with commands."""
    for note, text in re.findall(r"(?:^\.\\\" ([^\n]*)\n)?^\.Bd -literal[^\n]*\n(.*?)^\.Ed", page, re.M | re.S):
        lines = [plain(x) for x in text.rstrip("\n").split("\n")]
        if any(re.match(r"[$#] ", x) for x in lines):
            yield note, lines


def fences(text):
    """The same of a tutorial: blocks ```console, after a comment <!-- ... -->."""
    for note, block in re.findall(r"(?:^<!-- ([^\n]*) -->\n)?^```console\n(.*?)^```", text, re.M | re.S):
        yield note, block.rstrip("\n").split("\n")


def why_not_live():
    if os.getuid() != 0:
        return "needs root"
    return "" if output(TMIGR, "doctor").returncode == 0 else "this kernel cannot (tmigr doctor says why)"


@contextlib.contextmanager
def scratch(serve):
    """A folder with what the examples name, and a daemon for those that ask one."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "data"
        subprocess.run([ROOT / "tests/tutorial-data", folder], check=True)
        os.mkdir(folder / "bin")
        os.symlink(TMIGR, folder / "bin/tmigr")
        env = dict(os.environ, PATH="%s:%s" % (folder / "bin", os.environ["PATH"]), LC_ALL="C.UTF-8")
        daemon = None
        if serve:
            env["TMIGR_SOCKET"] = str(folder / "sock")
            with open(folder / "log", "wb") as log:
                daemon = subprocess.Popen([TMIGRD, "--foreground", "--socket", folder / "sock"], stdout=log, stderr=log)
        try:
            for _ in range(3000 if daemon else 0):
                # It remembers something, from its first drain on.
                if subprocess.run([TMIGR, "dump", "-o", "-"], env=env, capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.1)
            yield folder, env
        finally:
            if daemon:
                daemon.terminate()
                daemon.wait()


def as_printed(wanted, text):
    """These lines, in this order; others may stand between them (a tutorial says "…")."""
    at = 0
    for w in wanted:
        at = text.find("" if w == "…" else w.strip(), at)
        if at < 0:
            return False
        at += 0 if w == "…" else len(w.strip())
    return True


not_live = why_not_live()
told = {name: list(blocks(page)) for name, page in PAGES.items()}
for name, page in PAGES.items():
    ok(".Sh EXAMPLES" in page and told[name], "%s has examples" % name)
tutorials = sorted((ROOT / "docs/tutorials").glob("*.md"))
ok(tutorials, "there are tutorials")
for text in [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]:
    links = re.findall(r"\]\(([^):#]+)[^):]*\)", text.read_text(encoding="utf-8"))
    gone = [x for x in links if not (text.parent / x).exists()]
    ok(not gone, "%s: its links lead to files" % text.relative_to(ROOT), gone)
told.update((t.name, list(fences(t.read_text(encoding="utf-8")))) for t in tutorials)
for name, parts in told.items():
    daemon_too = any("daemon" in note for note, _ in parts) and not not_live
    with scratch(daemon_too) as (folder, env):
        for note, lines in parts:
            stop = note if note.startswith("not run") else ""
            starts = [i for i, x in enumerate(lines) if re.match(r"[$#] ", x)] + [len(lines)]
            ok(starts[0] == 0, "%s: a block begins with a command" % name, lines)
            for a, b in zip(starts, starts[1:]):
                what = "%s: %s" % (name, lines[a].replace("#", "as root:", 1))
                if not stop and not_live and (lines[a][0] == "#" or "daemon" in note):
                    stop = not_live
                if stop:
                    skip(what, stop)
                    continue
                r = subprocess.run(["bash", "-o", "pipefail", "-c", lines[a][2:]], cwd=folder, env=env, check=False,
                                   capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL)
                ok(r.returncode == 0 and as_printed(lines[a + 1:b], r.stdout), what,
                   "exit %d" % r.returncode, r.stderr, "printed: " + r.stdout[:3000])
print("1..%d" % ran)
sys.exit(failed > 0)
