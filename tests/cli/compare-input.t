#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr compare: what is broken, missing, or unlike in its input, and its views.
. tests/lib-shell/tap.sh
needs_zstd

made() { # PYTHON: with madeup imported, the folder in `tmp`
	python3 - "$TMP" "$@" <<-EOF || exit 1
		import pathlib, sys
		sys.path.insert(0, "$TMIGR_TESTS/oracle")
		from madeup import *
		tmp = pathlib.Path(sys.argv[1])
		$1
	EOF
}

has() { # DESCRIPTION TEXT: in the output, however the lines are broken
	tr -s ' \n' ' ' <"$TMP/out" >"$TMP/joined"
	file_has "$1" "$TMP/joined" "$2"
}

no_figures() { # nothing that is no number
	check "no NaN, no infinity" sh -c '! grep -iE "(^|[^a-z])(nan|inf)([^a-z]|$)" "$1"' - "$TMP/out"
}

json() { # FILTER: python expression on c
	python3 -c 'import json, sys; c = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' \
		"$TMP/out" "$1"
}

made '
for label in "a", "b":
    for i in 1, 2, 3:
        write(tmp / label / f"run-{i}", board(10, {"LITTLE": (1, 30 + i / 10), "big": (2, 35)},
              metrics=[metric("m", i + (label == "b"), "s", "lower")]))'

run 2 "$TMIGR" compare
one_error_line "no runs" "tmigr compare: which runs"
run 2 "$TMIGR" compare --csv=x "$TMP/a"
run 2 "$TMIGR" compare --csv --json "$TMP/a"
run 2 "$TMIGR" compare --nothing "$TMP/a"
run 0 "$TMIGR" compare --help
run 1 "$TMIGR" compare "$TMP/nothing"
one_error_line "nothing there" "tmigr compare: .*nothing"
run 1 "$TMIGR" compare "$TMP"
one_error_line "a folder without runs" "tmigr compare: .*not a run directory"
run 1 "$TMIGR" compare --baseline c "$TMP/a" "$TMP/b"
one_error_line "a baseline that is not there" "tmigr compare: no label 'c' for a baseline, only: a, b"
check "nothing is printed then" test ! -s "$TMP/out"

run 0 "$TMIGR" compare "$TMP/a" "$TMP/b"
check "nothing on stderr" test ! -s "$TMP/err"
no_figures
has "the direction" "m, s"
check "not a word of being unlike" sh -c '! grep -q "not alike" "$1"' - "$TMP/out"
run 0 "$TMIGR" compare --baseline b "$TMP/a" "$TMP/b"
has "the other way round" "a against b"
run 0 "$TMIGR" compare "$TMP/a"
has "one label alone" "Comparison of a (3 runs)"
check "no differences then" sh -c '! grep -qE "diff|interval" "$1"' - "$TMP/out"
run 0 "$TMIGR" compare "$TMP/a/run-1" "$TMP/b/run-1"
has "one run each: too few" "too few runs"
no_figures
run 0 "$TMIGR" compare "$TMP/a" "$TMP/b/run-1"
has "one run on one side" "too few runs"

# Values that no test takes: all equal, 0, missing, huge.
made '
for i in 1, 2, 3:
    write(tmp / "x" / f"run-{i}", board(10, metrics=[metric("equal", 5), metric("zero", 0), metric("gone", 1 + i),
          metric("huge", 1e308 * (-1) ** i), metric("tiny", 5e-324 * i), metric("same", 7)]))
    write(tmp / "y" / f"run-{i}", board(10, metrics=[metric("equal", 6), metric("zero", i / 8), metric("huge", 1e308),
          metric("tiny", i), metric("same", 7), metric("twice", 1), metric("twice", 2), metric("a,b|c\"d\n", 1)]
          + ([metric("some", 1)] if i > 1 else [])))'
for view in --json --csv --csv=runs --markdown --cpus; do
	run 0 "$TMIGR" compare $view "$TMP/x" "$TMP/y"
	no_figures
done
gsl=$("$TMIGR" --version | grep -c ", GSL ")
words=("not tested" "no spread")
same=("not tested" "no difference seen")
has "no spread on either side" "${words[gsl]}"
has "from 0" "from 0"
has "twice: the first is taken" "metric 'twice' is there more than once"
run 0 "$TMIGR" compare --json "$TMP/x" "$TMP/y"
is "the same everywhere" "$(json '[x["verdict"] for q in c["quantities"] if q["key"] == "metric/same" for x in q["labels"]]')" "[None, '${same[gsl]}']"
is "missing on one side" "$(json '[(x["n"], x["verdict"]) for q in c["quantities"] if q["key"] == "metric/gone" for x in q["labels"]]')" "[(3, None), (0, 'too few runs')]"
is "missing in one run" "$(json '[x["values"] for q in c["quantities"] if q["key"] == "metric/some" for x in q["labels"]]')" "[[None, None, None], [None, 1.0, 1.0]]"
run 0 "$TMIGR" compare --csv "$TMP/x" "$TMP/y"
is "CSV: every row has as many cells, odd names or not" "$(python3 -c 'import csv, sys; print({len(r) for r in csv.reader(open(sys.argv[1], newline=""))})' "$TMP/out")" "{21}"
run 0 "$TMIGR" compare --markdown "$TMP/x" "$TMP/y"
is "markdown: every row of a table as many bars" "$(grep '^|' "$TMP/out" | sed 's/\\|//g; s/[^|]//g' | sort | uniq | wc -l)" 2

# Runs that failed, were interrupted, cannot be read.
made '
for i in 1, 2, 3, 4, 5, 6, 7:
    more = {2: {"failed": "exit status 3"}, 3: {"interrupted": True}}.get(i, {})
    write(tmp / "f" / f"run-{i}", board(10, metrics=[metric("m", 100 if more else i)], **more))
(tmp / "f/run-4/report.json").write_text("{")
(tmp / "f/run-5/report.json").unlink()
(tmp / "f/run-6/report.json").write_text("{\"schema\": \"tmigr-report\", \"version\": 2}")'
rm -r "$TMP/f/run-1"
run 1 "$TMIGR" compare "$TMP/a" "$TMP/f"
is "one line for each that cannot be read" "$(wc -l <"$TMP/err")" 3
file_has "broken" "$TMP/err" "f/run-4/report.json: line 1"
file_has "missing" "$TMP/err" "f/run-5: no report"
file_has "of another version" "$TMP/err" "f/run-6/report.json: report of schema version 2"
has "the rest is compared" "f against a"
has "how many count" "f (6 runs, 1 of them counts)"
has "failed: said" "run-2 of f (in parentheses): failed: exit status 3"
has "interrupted: said" "run-3 of f (in parentheses): interrupted"
has "shown" "(100)"
has "a number that is not there" "f: there is no run-1"
run 1 "$TMIGR" compare --json "$TMP/a" "$TMP/f"
is "and not in the mean" "$(json '[(x["n"], x["mean"]) for q in c["quantities"] if q["key"] == "metric/m" for x in q["labels"]][1]')" "(1, 7.0)"
run 1 "$TMIGR" compare "$TMP/f/run-4" "$TMP/f/run-6"
check "none can be read: no figures" test ! -s "$TMP/out"
run 0 "$TMIGR" compare "$TMP/f/run-2" "$TMP/f/run-3"
has "none that counts: shown all the same" "(100)"
no_figures

# Unlike runs.
made '
for i in 1, 2:
    write(tmp / "u" / f"run-{i}", board(10))
    r = board(10 + i, command=["other", "work"], kernel={"release": "7.4.0", "version": "#2"},
              machine={"model": "another", "host": "x"}, changed={"offline": "5-7", "timer_migration": 0})
    r["timer_migration"] = 0
    r["cpuidle_governor"] = "teo"
    r["cpus"] = r["cpus"][:7]
    r["cpus"][6]["states"][0]["name"] = "C1"
    r["cpus"][4]["states"][0]["name"] = "C1"
    write(tmp / "v" / f"run-{i}", r)'
run 0 "$TMIGR" compare "$TMP/u" "$TMP/v"
has "window" "window: u: 10.000 s; v: 11.000 to 12.000 s"
has "kernel" "kernel: u: 7.3.4 (#1 SMP); v: 7.4.0 (#2)"
has "machine" "machine: u: made-up board, board; v: another, x"
has "CPUs" "CPUs: u: 0-7; v: 0-6"
has "idle states" "big C1, cpu-sleep"
has "governor" "cpuidle governor: u: menu; v: teo"
has "timer_migration" "timer_migration: u: 1; v: 0"
has "command" "command: u: work; v: other work"
has "what the run changed" "changed for the run: u: nothing; v: offline 5-7, timer_migration 0"
check "what is alike is not named" sh -c '! grep -qE "driver|residency from" "$1"' - "$TMP/out"
made '
write(tmp / "w/run-1", board(10))
write(tmp / "w/run-2", board(10, command=["x"]))'
run 0 "$TMIGR" compare "$TMP/w"
has "within a label" "command: w: work (run-1), x (run-2)"

# Labels.
mkdir -p "$TMP/old" "$TMP/new"
cp -r "$TMP/a" "$TMP/old/s"
cp -r "$TMP/b" "$TMP/new/s"
run 0 "$TMIGR" compare "$TMP/old/s" "$TMP/new/s"
has "two folders of one label are told apart" "label 's' is there more than once, in different folders"
run 0 "$TMIGR" compare --baseline "$TMP/new/s" "$TMP/old/s" "$TMP/new/s"
run 0 "$TMIGR" compare "$TMP/a" "$TMP/a/run-1"
has "twice: taken once" "a/run-1 again, taken once"
made '
for i in 1, 2:
    write(tmp / f"slash{i}", board(10, label="x/y, \"z\"\x1b[31m", metrics=[metric("m", i)]))'
run 0 "$TMIGR" compare "$TMP/slash1" "$TMP/slash2" "$TMP/a"
has "a label with a slash is a name" "label 'x/y"
check "no control character comes out" sh -c '! grep -q "$(printf "\033")" "$1"' - "$TMP/out"
bytes=$TMP/$(printf 'caf\351')
cp -r "$TMP/a" "$bytes"
for view in --json --csv --markdown --cpus; do
	run 0 "$TMIGR" compare $view "$bytes" "$TMP/b"
done
cp -r "$TMP/a" "$TMP/binary"
head -c 5000 /dev/urandom >"$TMP/binary/run-1/report.json"
run 1 "$TMIGR" compare "$TMP/binary"
is "a binary report: one line" "$(grep -c "binary/run-1/report.json: " "$TMP/err") $(wc -l <"$TMP/err")" "1 1"
rm "$TMP/binary/run-2/report.json"
mkfifo "$TMP/binary/run-2/report.json"
run 1 timeout 300 "$TMIGR" compare "$TMP/binary"
run 1 sh -c '"$1" compare "$2" >/dev/full' - "$TMIGR" "$TMP/a"

# Many runs, many CPUs; a cut recording beside them.
made '
for i in range(1, 101):
    write(tmp / "many" / f"run-{i}", board(10, metrics=[metric("m", i % 7)]))'
run 0 "$TMIGR" compare --json "$TMP/many"
is "100 runs" "$(json 'c["labels"][0]["n_counted"], [q["labels"][0]["n"] for q in c["quantities"] if q["group"] == "metric"]')" "(100, [100])"
is "in their order" "$(json '[r["run"] for r in c["labels"][0]["runs"]] == list(range(1, 101))')" True
run 0 "$TMIGR" compare "$TMP/many"
check "100 runs in 80 columns" sh -c '! grep -q "^.\{81\}" "$1"' - "$TMP/out"
head -c 60000 demo/events.tmr >"$TMP/cut.tmr"
run 0 "$TMIGR" compare demo/events.tmr "$TMP/cut.tmr"
has "a part of a recording does not count" "a part of the run only"
done_testing
