#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr run: the command's start, output, end and signals; the run directory.
. tests/lib-shell/tap.sh
why=$(why_not_live)
[ -z "$why" ] || skip_all "$why"
exact=$TMIGR_TESTS/lib-shell/check-report.py

# ---- exit status ----
run 0 "$TMIGR" run true
out_has "the report comes" "Answer:"
check "nothing on stderr" test ! -s "$TMP/err"
run 7 "$TMIGR" run -- sh -c 'exit 7'
out_has "with another status, too" "Answer:"
run 143 "$TMIGR" run -- sh -c 'kill -TERM $$'
run 137 "$TMIGR" run -- sh -c 'kill -KILL $$'
run 0 "$TMIGR" run -d 0.2
out_has "a window of its own" "Answer:"
run 0 "$TMIGR" run -d 0.2 sleep 60
out_has "a command that is too long ends with the window" "Answer:"
run 0 "$TMIGR" run -d 0.2 sh -c 'trap "" TERM; exec sleep 60'
run 0 "$TMIGR" run -d 0.2 sh -c 'trap "exit 9" TERM; while :; do sleep 0.05; done'
run 3 "$TMIGR" run -d 0.2 --fail-if 'window_s>0' sleep 60
err_has "--fail-if is of what -d ended, too" "--fail-if 'window_s>0' is true"

# Its end is an instant that the tool chooses: exactly -d after the start.  A tool that
# got no CPU in time may end it later (never sooner): then once more.
for d in 1.5=1500000000 0.25=250000000; do
	for try in 1 2 3 4 5 6 7 8; do
		"$TMIGR" run --json -d "${d%=*}" >"$TMP/out" 2>"$TMP/err"
		got=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["window_ns"])' "$TMP/out")
		[ "$got" -gt "${d#*=}" ] || break
		echo "# try $try: window of $got ns, the tool was held up; again"
	done
	is "-d ${d%=*}: the window is that long to the ns" "$got" "${d#*=}"
done
got=$("$TMIGR" run --json -d 20 true |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["window_ns"])')
check "-d 20 true: the command ends the window" test "$got" -lt 20000000000

run 0 "$TMIGR" run --json -- true "$(printf 'a\377b')"
check "an argument that is no UTF-8 is valid JSON all the same" \
	python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["command"] == ["true", "a?b"]' "$TMP/out"

# ---- no command ----
run 127 "$TMIGR" run -o "$TMP/none" --record no-such-command-here
one_error_line "one line" "tmigr run: .*no-such-command-here"
check "nothing is left" test ! -e "$TMP/none"
run 127 "$TMIGR" run "$TMP/no/such/file"
one_error_line "one line" "tmigr run: "
echo 'echo hello' >"$TMP/plain"
run 126 "$TMIGR" run -o "$TMP/none" "$TMP/plain"
one_error_line "one line" "tmigr run: .*not executable"
check "nothing is left" test ! -e "$TMP/none"
run 126 "$TMIGR" run "$TMP"
mkdir "$TMP/empty"
run 127 "$TMIGR" run -o "$TMP/empty" no-such-command-here
is "an empty folder stays, and empty" "$(ls -A "$TMP/empty")" ""

# ---- output ----
head -c 3000000 /dev/urandom >"$TMP/data"
"$TMIGR" run -o "$TMP/bin" -- sh -c "cat '$TMP/data' >&2; cat '$TMP/data'" >"$TMP/out" 2>"$TMP/err"
is "binary output: exit status" $? 0
check "stderr passes unchanged" cmp "$TMP/data" "$TMP/err"
check "stdout passes unchanged, before the report" cmp -n 3000000 "$TMP/data" "$TMP/out"
check "stdout is copied" cmp "$TMP/data" "$TMP/bin/stdout"
check "stderr is copied" cmp "$TMP/data" "$TMP/bin/stderr"
tail -c +3000001 "$TMP/out" >"$TMP/text"
run 0 "$TMIGR" report "$TMP/bin"
check "what follows is the report" cmp "$TMP/text" "$TMP/out"

run 0 "$TMIGR" run -- sh -c 'echo to-stdout; echo to-stderr >&2'
is "without -o: output first" "$(head -1 "$TMP/out")" to-stdout
is "without -o: stderr" "$(cat "$TMP/err")" to-stderr
run 0 "$TMIGR" run --json -- sh -c 'echo to-stdout'
check "--json: stdout is JSON alone" python3 -m json.tool "$TMP/out"
is "--json: the command's output is on stderr" "$(cat "$TMP/err")" to-stdout
run 0 "$TMIGR" run --json -o "$TMP/js" -- sh -c 'echo to-stdout'
check "--json -o: stdout is JSON alone" python3 -m json.tool "$TMP/out"
is "--json -o: the command's output is on stderr" "$(cat "$TMP/err")" to-stdout
is "--json -o: and copied" "$(cat "$TMP/js/stdout")" to-stdout
# shellcheck disable=SC2016
echo in | "$TMIGR" run -- sh -c 'read x; test "$x" = in' >/dev/null
is "stdin passes" $? 0

# Lines come when they are written, not with the next drain: this one writes,
# and goes on only when the line has come out at the other end.
mkfifo "$TMP/back"
timeout 300 "$TMIGR" run -o "$TMP/prompt" -- sh -c "echo ping; read x <'$TMP/back'; echo got \$x" |
	{
		read -r line
		echo "$line" >"$TMP/first"
		echo pong >"$TMP/back"
		cat >"$TMP/rest"
	}
is "output is not held back" "$(cat "$TMP/first"; head -1 "$TMP/rest")" "ping
got pong"

# A process that stays behind keeps the pipes open: nobody waits for it.
timeout 300 "$TMIGR" run -o "$TMP/bg" -- sh -c 'sleep 300 & echo $! >&2; echo done' \
	>"$TMP/out" 2>"$TMP/err"
is "a process left behind does not hold the tool up" $? 0
kill "$(cat "$TMP/err")"
is "what was written before is there" "$(cat "$TMP/bg/stdout")" "done"

# Nobody reads any more: the command hears of it as without the tool.
"$TMIGR" run -o "$TMP/pipe" -- yes 2>"$TMP/err" | head -1 >/dev/null
is "yes | head: SIGPIPE ends the command" "${PIPESTATUS[0]}" 141

# What the tool changed for itself, the command does not inherit.
cat >"$TMP/state" <<'END'
grep -E '^(SigBlk|SigIgn|Cpus_allowed_list)' /proc/self/status
cat /proc/self/timerslack_ns
ls /proc/self/fd | wc -l
END
sh "$TMP/state" >"$TMP/plain-state"
"$TMIGR" run -o "$TMP/st" -- sh "$TMP/state" >/dev/null
check "signals, CPUs, slack, descriptors are as without the tool" \
	diff "$TMP/plain-state" "$TMP/st/stdout"

# ---- run directory ----
run 0 "$TMIGR" run -o "$TMP/d/e/f" --record -- sleep 0.1
for f in run.json report.json residency.csv migrator.csv migrator-segments.csv remote.csv \
	hierarchy.json stdout stderr events.tmr; do
	check "the run directory has $f" test -f "$TMP/d/e/f/$f"
done
is "and nothing else that is temporary" "$(find "$TMP/d" -name '*.tmp')" ""
cp "$TMP/out" "$TMP/live"
run 0 "$TMIGR" report "$TMP/d/e/f"
check "report DIR: the same bytes as live" cmp "$TMP/live" "$TMP/out"
run 0 "$TMIGR" report "$TMP/d/e/f/events.tmr"
check "report events.tmr: the same bytes as live" cmp "$TMP/live" "$TMP/out"
"$TMIGR" report - <"$TMP/d/e/f/events.tmr" >"$TMP/out"
check "report -: the same bytes as live" cmp "$TMP/live" "$TMP/out"
run 0 "$TMIGR" run --json -o "$TMP/j" --record -- sleep 0.1
cp "$TMP/out" "$TMP/live"
check "all sums are exact" python3 "$exact" "$TMP/live"
run 0 "$TMIGR" report --json "$TMP/j"
check "report --json DIR: the same bytes as live" cmp "$TMP/live" "$TMP/out"
run 0 "$TMIGR" report --json "$TMP/j/events.tmr"
check "report --json events.tmr: the same bytes as live" cmp "$TMP/live" "$TMP/out"

before=$(cd "$TMP/d/e/f" && sha256sum -- *)
run 1 "$TMIGR" run -o "$TMP/d/e/f" true
one_error_line "an existing DIR: one line, with --force" "tmigr run: .*--force"
is "and it is untouched" "$(cd "$TMP/d/e/f" && sha256sum -- *)" "$before"
echo mine >"$TMP/d/e/f/notes"
run 127 "$TMIGR" run -o "$TMP/d/e/f" --force no-such-command-here
run 0 "$TMIGR" run -o "$TMP/d/e/f" --force true
run 0 "$TMIGR" report "$TMP/d/e/f"
check "--force: no recording of the earlier run is left" test ! -e "$TMP/d/e/f/events.tmr"
is "--force: other files are untouched" "$(cat "$TMP/d/e/f/notes")" mine
run 1 "$TMIGR" run -o /proc/nothing/here true
one_error_line "an unwritable DIR: one line" "tmigr run: .*/proc/nothing"
run 1 "$TMIGR" run -o "$TMP/plain" true
one_error_line "DIR is a file: one line" "tmigr run: .*plain"

# ---- loss ----
# 4096 bytes hold about 100 records of a CPU; a drain comes once a second.  On
# a machine that is busy with something else CPUs may not go idle often enough.
load=$B/tests/programs/tm-load
for _ in 1 2 3 4 5; do
	"$TMIGR" run --json --ring-bytes 4096 -o "$TMP/loss" --force --record -- \
		"$load" -d 3 -p 1 -q >"$TMP/out" 2>"$TMP/err"
	is "with losses: exit 0" $? 0
	check "with losses: all sums are exact" python3 "$exact" "$TMP/out"
	cp "$TMP/out" "$TMP/live"
	run 0 "$TMIGR" report --json "$TMP/loss/events.tmr"
	check "with losses: the recording gives the same bytes" cmp "$TMP/live" "$TMP/out"
	lost=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["lost"]["records"])' <"$TMP/live")
	[ "$lost" = 0 ] || break
done
if [ "$lost" = 0 ]; then
	skip "records were lost, and counted" "the machine is too busy for enough events"
else
	check "records were lost, and counted; lost updates make time unknown" python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
assert sum(c["records"] for c in r["lost"]["cpus"]) == r["lost"]["records"]
assert all(c["unknown_ns"] == 0 for c in r["cpus"]), "residency comes from the maps"
# Which records were lost is chance: idle ones alone blur no root.
assert not r["lost"]["group_updates"] or sum(x["unknown_ns"] for x in r["roots"]) > 0, r' "$TMP/live"
fi

# ---- limits ----
# Wherever the descriptors run out, the line says what to do.
kinds=
for n in $(seq 20 100); do
	(ulimit -n "$n" && exec "$TMIGR" run true) >"$TMP/out" 2>"$TMP/err" && break
	! grep -q "cannot start" "$TMP/err" || break
	one_error_line "ulimit -n $n: one line, with the remedy" "tmigr run: cannot .*raise the limit (ulimit -n"
	kinds="$kinds $(sed 's/.*cannot \([a-z]*\).*/\1/' "$TMP/err")"
done
case "$kinds" in
" load"*" attach") ok "too few descriptors, from the first step to the last" ;;
*) not_ok "too few descriptors, from the first step to the last" "met: $kinds" ;;
esac

# ---- options ----
run 0 "$TMIGR" run --json --class even=0 --kick --housekeeping 0 --no-stats true
check "--class, --housekeeping, --no-stats are in the report" python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
assert "even" in [c["name"] for c in r["classes"]], r["classes"]
assert r["observer"]["housekeeping_cpu"] == 0, r["observer"]
assert r["observer"]["bpf_ns"] is None, r["observer"]' "$TMP/out"
check "with --kick all sums are exact" python3 "$exact" "$TMP/out"
run 0 "$TMIGR" run --json --no-timeline -o "$TMP/lean" -- "$load" -d 0.5 -p 5 -q
check "--no-timeline: residency is there, and the rest said to be missing" python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
assert r["timeline"] is False and r["roots"] == [] and r["answer"]["big_holds"] is None, r["answer"]
assert "--no-timeline" in r["answer"]["text"], r["answer"]
assert r["observer"]["records"] == 0 and r["residency_source"] == "maps", r["observer"]
assert all(c["unknown_ns"] == 0 for c in r["cpus"]), r["cpus"]' "$TMP/out"
check "--no-timeline: all sums are exact" python3 "$exact" "$TMP/out"
run 0 "$TMIGR" report "$TMP/lean"
check "--no-timeline: a report of it says so" grep -q "no-timeline" "$TMP/out"
run 0 "$TMIGR" compare "$TMP/lean" "$TMP/lean"
# A time namespace: what the kernel stamps has another clock than this process.
if unshare --time --monotonic 1000 --fork true 2>/dev/null; then
	run 1 unshare --time --monotonic 100000 --fork "$TMIGR" run -d 0.1
	one_error_line "in a time namespace that is ahead: told, and what to do" \
		"tmigr run: .*time namespace.*100000 s.*nsenter"
	run 0 unshare --time --monotonic 0 --fork "$TMIGR" run --json -d 0.1
	check "in one that is not: it measures" python3 "$exact" "$TMP/out"
else
	skip "in a time namespace" "none may be made here"
fi
done_testing
