#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tool as a client of the daemon: every verb, with and without privileges,
# and whatever else may sit behind a socket.
# shellcheck disable=SC2317
. tests/lib-shell/tap.sh
why=$(why_not_live)
[ -z "$why" ] || skip_all "$why"

TMIGRD=${B:-build}/tmigrd
here=$TMIGR_TESTS/daemon
exact=$TMIGR_TESTS/lib-shell/check-report.py
sock=$TMP/sock
pids=
# shellcheck disable=SC2016
tap_cleanup='for p in $pids; do kill -9 "$p" 2>/dev/null; done'
chmod 755 "$TMP"

wait_for() { # COMMAND...: until it succeeds; the harness ends what hangs
	while ! "$@" 2>/dev/null; do
		sleep 0.05
	done
}

ready_or_gone() {
	grep -q ready "$TMP/log" || ! kill -0 "$daemon"
}

# A machine without the group tmigr gets one, in a namespace for the daemon alone.
gid=$(getent group tmigr | cut -d: -f3)
with_group=()
if [ -z "$gid" ] && unshare -m true 2>/dev/null; then
	gid=64999
	{ cat /etc/group; echo "tmigr:x:$gid:"; } >"$TMP/group"
	# shellcheck disable=SC2016
	with_group=(unshare -m --propagation private sh -c
		'mount --bind "$0" /etc/group && exec "$@"' "$TMP/group")
fi

start_daemon() {
	: >"$TMP/log" # of the one before, which was ready
	"${with_group[@]}" "$TMIGRD" --foreground --socket "$sock" --class theirs=0 2>"$TMP/log" &
	daemon=$!
	disown $daemon
	pids="$pids $daemon"
	wait_for ready_or_gone
	grep -q ready "$TMP/log" || skip_all "tmigrd does not start here: $(head -1 "$TMP/log")"
}

json_is() { # DESCRIPTION FILE EXPRESSION: of r, the object
	check "$1" python3 -c "
import json, sys
r = json.load(open(sys.argv[1]))
assert $3, r" "$2"
}

start_daemon
s=(--socket "$sock")

# ---- status, tree ----
run 0 "$TMIGR" status "${s[@]}"
out_has "status names the process" "(PID $daemon)"
out_has "and what it remembers" "Flight recorder: "
run 0 "$TMIGR" status --json "${s[@]}"
json_is "status --json is the daemon's answer" "$TMP/out" "r['start_ns'] < r['now_ns']"
for o in "" --json --dot; do
	# shellcheck disable=SC2086
	"$TMIGR" tree $o --no-daemon >"$TMP/own-tree$o" 2>&1
	# shellcheck disable=SC2086
	run $? "$TMIGR" tree $o "${s[@]}"
	cp "$TMP/out" "$TMP/tree$o"
done
if grep -q '"schema"' "$TMP/own-tree--json"; then
	check "tree --json: the members that it has with the own engine" \
		python3 "$here/reports.py" shape "$TMP/tree--json" "$TMP/own-tree--json"
	is "tree: the same CPUs in the same places" \
		"$(grep -o 'CPU [0-9]*' "$TMP/tree" | sort -u)" \
		"$(grep -o 'CPU [0-9]*' "$TMP/own-tree" | sort -u)"
	run 0 "$TMIGR" tree "${s[@]}" --class odd=0
	out_has "tree --class: the client's own classes" "odd"
else
	skip "tree" "this machine shows no hierarchy now"
fi
run 2 "$TMIGR" tree "${s[@]}" --class odd=60000
one_error_line "tree: a bad --class is wrong usage" "tmigr tree: .*60000"

# ---- run: exit status ----
run 0 "$TMIGR" run "${s[@]}" true
out_has "the report names the daemon" "Measured by: tmigrd"
out_has "and has its classes" "theirs"
check "nothing on stderr" test ! -s "$TMP/err"
run 7 "$TMIGR" run "${s[@]}" -- sh -c 'exit 7'
run 143 "$TMIGR" run "${s[@]}" -- sh -c 'kill -TERM $$'
run 0 "$TMIGR" run "${s[@]}" -d 0.2
out_has "a window of its own" "Answer:"
run 0 "$TMIGR" run "${s[@]}" -d 1.5 --json
json_is "-d is exact" "$TMP/out" "r['window_ns'] == 1500000000"
run 0 "$TMIGR" run "${s[@]}" -d 300 --json true
json_is "with a command, whichever ends first" "$TMP/out" "r['window_ns'] < 300000000000"
run 0 "$TMIGR" run "${s[@]}" -d 0.2 sleep 300
# shellcheck disable=SC2016
run 130 "$TMIGR" run "${s[@]}" -- sh -c 'kill -INT $PPID; exec sleep 300'
out_has "interrupted: the report comes" "the run was interrupted"
run 127 "$TMIGR" run "${s[@]}" -o "$TMP/none" --record no-such-command-here
one_error_line "one line" "tmigr run: .*no-such-command-here"
check "nothing is left" test ! -e "$TMP/none"
run 126 "$TMIGR" run "${s[@]}" "$TMP"
run 2 "$TMIGR" run "${s[@]}" --class odd=60000 true
one_error_line "a bad --class is wrong usage" "tmigr run: .*60000"

# ---- run: recording, marks, classes; replay is identical ----
"$TMIGR" run "${s[@]}" -o "$TMP/d" --record --class odd=0 -- \
	"$TMIGR" mark "${s[@]}" "half way" >"$TMP/out" 2>"$TMP/err"
is "a run with a mark" $? 0
cp "$TMP/d/stdout" "$TMP/mark"
# What follows the command's line is the report.
tail -n +2 "$TMP/out" >"$TMP/live"
is "mark prints its time" "$(head -1 "$TMP/out")" "$(cat "$TMP/mark")"
file_has "the mark is in the report" "$TMP/live" ": half way"
file_has "so are this client's classes" "$TMP/live" "odd"
is "in place of the daemon's" "$(grep -c theirs "$TMP/live")" 0
run 0 "$TMIGR" report "$TMP/d"
check "report DIR: the same bytes as live" cmp "$TMP/live" "$TMP/out"
run 0 "$TMIGR" report "$TMP/d/events.tmr"
check "report events.tmr: the same bytes as live" cmp "$TMP/live" "$TMP/out"
run 0 "$TMIGR" report --json "$TMP/d/events.tmr"
json_is "the mark's time is what was printed, inside the window" "$TMP/out" \
	"[m['text'] for m in r['marks']] == ['half way'] and r['marks'][0]['time_ns'] == \
$(cat "$TMP/mark") and 0 <= r['marks'][0]['time_ns'] - r['start_ns'] < r['window_ns']"
check "all sums are exact" python3 "$exact" "$TMP/out"
check "report.json: the same object" cmp "$TMP/out" "$TMP/d/report.json"
check "the segments add up to the window" python3 -c '
import csv, json, sys
r = json.load(open(sys.argv[1] + "/report.json"))
rows = list(csv.DictReader(open(sys.argv[1] + "/migrator-segments.csv")))
for root in r["roots"]:
    mine = [x for x in rows if root["group"] in x.values()]
    ns = sum(int(x["end_ns"]) - int(x["start_ns"]) for x in mine)
    assert ns == r["window_ns"], (ns, r["window_ns"])' "$TMP/d"

# ---- daemon and own engine, one inside the other ----
"$TMIGR" run --no-daemon --class theirs=0 --json -- "$TMIGR" run "${s[@]}" --json -- sleep 0.3 \
	>"$TMP/outer" 2>"$TMP/inner"
is "a daemon's window inside an own one" $? 0
check "exact: outer" python3 "$exact" "$TMP/outer"
check "exact: inner" python3 "$exact" "$TMP/inner"
check "both have the same members" python3 "$here/reports.py" shape "$TMP/inner" "$TMP/outer"
check "one window lies in the other, of the same machine" python3 "$here/reports.py" inside "$TMP/inner" "$TMP/outer"
json_is "the outer one is the own engine's" "$TMP/outer" "r['engine'] == 'own'"
json_is "the inner one the daemon's" "$TMP/inner" "'PID $daemon' in r['engine']"
"$TMIGR" run "${s[@]}" --json -- "$TMIGR" run --no-daemon --class theirs=0 --json -- sleep 0.3 \
	>"$TMP/outer" 2>"$TMP/inner"
is "an own window inside a daemon's" $? 0
check "exact: outer" python3 "$exact" "$TMP/outer"
check "exact: inner" python3 "$exact" "$TMP/inner"
check "one window lies in the other, of the same machine" python3 "$here/reports.py" inside "$TMP/inner" "$TMP/outer"

# The line on a terminal comes from the events as they come.
if script -qec true /dev/null >/dev/null 2>&1; then
	script -qec "'$TMIGR' run --socket '$sock' -d 2.5 --progress" /dev/null >"$TMP/out" 2>&1
	out_has "the progress line" "migrator "
	out_has "tells of losses" "lost 0"
else
	skip "the progress line" "no script(1)"
fi

# ---- dump ----
run 0 "$TMIGR" dump "${s[@]}" -o "$TMP/dump.tmr"
check "dump says nothing" test ! -s "$TMP/out"
"$TMIGR" report --json "$TMP/dump.tmr" >"$TMP/out" 2>"$TMP/err"
check "report reads it" python3 "$exact" "$TMP/out"
json_is "and finds the mark" "$TMP/out" "'half way' in [m['text'] for m in r['marks']]"
before=$(sha256sum "$TMP/dump.tmr")
run 1 "$TMIGR" dump "${s[@]}" -o "$TMP/dump.tmr"
one_error_line "an existing file: one line" "tmigr dump: .*File exists (--force replaces it)"
is "and it is untouched" "$(sha256sum "$TMP/dump.tmr")" "$before"
run 0 "$TMIGR" dump "${s[@]}" -o "$TMP/dump.tmr" --force --last 1
"$TMIGR" dump "${s[@]}" -o - >"$TMP/dump2.tmr"
is "dump -o -: exit 0" $? 0
"$TMIGR" report - <"$TMP/dump2.tmr" >"$TMP/out" 2>"$TMP/err"
out_has "report - reads it" "Answer:"
run 1 "$TMIGR" dump "${s[@]}" -o "$TMP/no/such/folder"
one_error_line "an unwritable file: one line" "tmigr dump: .*no/such/folder"
if [ -w /dev/full ]; then
	run 1 "$TMIGR" dump "${s[@]}" -o /dev/full --force
	one_error_line "a full disk: one line" "tmigr dump: /dev/full: .*No space"
fi

# ---- without privileges ----
cp "$TMIGR" "$TMP/tmigr"
as() { # GROUPS-OPTION COMMAND...
	local groups=$1
	shift
	(cd / && setpriv --reuid=65534 --regid=65534 "$groups" --bounding-set=-all "$@")
}
if ! as --clear-groups "$TMP/tmigr" --version >/dev/null 2>&1; then
	skip "without privileges" "setpriv or the build does not work as nobody"
else
	for verb in status tree run "mark x" "dump -o $TMP/open/never"; do
		# shellcheck disable=SC2086
		run 1 as --clear-groups "$TMP/tmigr" $verb "${s[@]}"
		one_error_line "${verb%% *} as nobody: one line that names who may" \
			"tmigr ${verb%% *}: .*only root and the group"
	done
	run 1 as --clear-groups env TMIGR_SOCKET="$sock" "$TMP/tmigr" doctor
	check "doctor as nobody: the daemon is no help" test "$(tail -n 1 "$TMP/out" | cut -c1-8)" = "The main"
	if [ -z "$gid" ]; then
		skip "as one of the group" "no group tmigr, nor a namespace for one"
	else
		mkdir -m 777 "$TMP/open"
		g=--groups=$gid
		run 0 as "$g" "$TMP/tmigr" status "${s[@]}"
		run 0 as "$g" env TMIGR_SOCKET="$sock" "$TMP/tmigr" doctor
		out_has "doctor: what the user may not, the daemon does" "But tmigrd does it: it answers at $sock"
		run 0 as "$g" env TMIGR_SOCKET="$sock" "$TMP/tmigr" doctor --json
		json_is "as JSON too: why it is 0" "$TMP/out" \
			"r[-1] == {'name': 'daemon', 'state': 'ok', 'remedy': '', 'text': 'tmigrd answers at $sock, and run, tree and top ask it'} and any(c['state'] == 'fail' for c in r[:-1])"
		run 0 env TMIGR_SOCKET="$sock" "$TMIGR" doctor --json
		json_is "and nothing of it where it is not why" "$TMP/out" "r[-1]['name'] == 'libraries'"
		run 3 as "$g" "$TMP/tmigr" run "${s[@]}" -o "$TMP/open/r" --record -- sh -c 'exit 3'
		cp "$TMP/out" "$TMP/live"
		run 0 as "$g" "$TMP/tmigr" report "$TMP/open/r/events.tmr"
		check "replay is identical" cmp "$TMP/live" "$TMP/out"
		run 0 as "$g" "$TMP/tmigr" mark "${s[@]}" "by nobody"
		run 0 as "$g" "$TMP/tmigr" dump "${s[@]}" -o "$TMP/open/dump"
		"$TMIGR" tree "${s[@]}" >/dev/null 2>&1
		run $? as "$g" "$TMP/tmigr" tree "${s[@]}"
	fi
fi

# ---- the default socket: in a namespace of its own ----
cat >"$TMP/default.sh" <<'END'
mount -t tmpfs tmigr-test /run || exit 9
cd "$OLDPWD" 2>/dev/null
"$TMIGRD" --foreground 2>"$TMP/log2" &
daemon=$!
trap 'kill -9 $daemon 2>/dev/null' EXIT
while ! grep -q ready "$TMP/log2"; do
	kill -0 $daemon || exit 8
	sleep 0.05
done
"$TMIGR" status >"$TMP/n-status" 2>&1
"$TMIGR" run --json true >"$TMP/n-run" 2>"$TMP/n-err"
"$TMIGR" run --json --no-daemon true >"$TMP/n-never" 2>>"$TMP/n-err"
"$TMIGR" run --json --no-stats true >"$TMP/n-stats" 2>>"$TMP/n-err"
caps=+bpf,+perfmon
(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps --ambient-caps=$caps \
	"$TMP/tmigr" run --json true) >"$TMP/n-caps" 2>"$TMP/n-caps-err"
(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all \
	"$TMP/tmigr" run true) >"$TMP/n-nobody" 2>&1
kill -9 $daemon
wait $daemon 2>/dev/null
"$TMIGR" run --json true >"$TMP/n-stale" 2>"$TMP/n-stale-err"
"$TMIGR" status >"$TMP/n-gone" 2>&1
echo $? >>"$TMP/n-gone"
exit 0
END
export TMIGR TMIGRD TMP
unset TMIGR_SOCKET
unshare -m --propagation private bash "$TMP/default.sh" >"$TMP/unshare" 2>&1
ret=$?
if [ $ret != 0 ]; then
	skip "the default socket" "a namespace with an own /run: $(tail -1 "$TMP/unshare")"
else
	file_has "default socket: status" "$TMP/n-status" "tmigrd.sock"
	json_is "run takes the daemon" "$TMP/n-run" "r['engine'].startswith('tmigrd ')"
	json_is "--no-daemon does not" "$TMP/n-never" "r['engine'] == 'own'"
	json_is "nor does what only the own engine can" "$TMP/n-stats" "r['engine'] == 'own'"
	check "nothing on stderr" test ! -s "$TMP/n-err"
	may="only root, for there was no group 'tmigr'"
	getent group tmigr >/dev/null && may="only root and the group 'tmigr'"
	file_has "one whom it refuses is told who may" "$TMP/n-nobody" "$may"
	if grep -q "^tmigr run: .*CAP" "$TMP/n-caps-err"; then
		skip "refused, but privileged: the own engine" "$(head -1 "$TMP/n-caps-err")"
	else
		json_is "refused, but privileged: the own engine" "$TMP/n-caps" "r['engine'] == 'own'"
	fi
	json_is "a socket that nobody serves any more: the own engine" "$TMP/n-stale" \
		"r['engine'] == 'own'"
	check "silently" test ! -s "$TMP/n-stale-err"
	file_has "but status says so" "$TMP/n-gone" "no daemon answers there"
	is "and fails" "$(tail -1 "$TMP/n-gone")" 1
fi

# ---- no daemon there ----
touch "$TMP/file"
for path in "$TMP/none" "$TMP/file" "$TMP/file/x" "$TMP/$(printf %0200d 1)"; do
	for verb in status tree "run true" "mark x" "dump -o $TMP/never"; do
		# shellcheck disable=SC2086
		run 1 "$TMIGR" ${verb%% *} --socket "$path" ${verb#"${verb%% *}"}
		one_error_line "one line that names the socket" "tmigr ${verb%% *}: $TMP/"
	done
done
check "no file was made" test ! -e "$TMP/never"

# ---- something else there ----
fake() { # MODE: serves at $TMP/MODE
	python3 "$here/fake.py" "$TMP/$1" "$1" "$sock" 2>"$TMP/$1.log" &
	disown $!
	pids="$pids $!"
	wait_for test -S "$TMP/$1"
}
for mode in close text json half liar text64 flat silent mute; do
	fake $mode
done
# Each of these waits as long as the tool does for a daemon that is silent: all at once.
waits=
for verb in status tree "run true" "mark x" "dump -o $TMP/never"; do
	name=${verb%% *}
	for mode in silent half; do
		# shellcheck disable=SC2086
		("$TMIGR" $name --socket "$TMP/$mode" ${verb#"$name"} >"$TMP/$mode-$name.out" \
			2>"$TMP/$mode-$name.err"; echo $? >"$TMP/$mode-$name.rc") &
		waits="$waits $!"
	done
done
(timeout 300 "$TMIGR" run --socket "$TMP/mute" -o "$TMP/mute-dir" -- sh -c 'exit 0' \
	>"$TMP/mute-run.out" 2>"$TMP/mute-run.err"; echo $? >"$TMP/mute-run.rc") &
waits="$waits $!"
for mode in close text json; do
	for verb in status tree "run true" "mark x" "dump -o $TMP/never"; do
		# shellcheck disable=SC2086
		run 1 "$TMIGR" ${verb%% *} --socket "$TMP/$mode" ${verb#"${verb%% *}"}
		one_error_line "one line" "tmigr ${verb%% *}: $TMP/$mode: "
	done
done
run 1 "$TMIGR" tree --socket "$TMP/liar"
one_error_line "a tree that is none: one line" "tmigr tree: $TMP/liar: .*not a tree"
run 1 "$TMIGR" tree --socket "$TMP/flat"
one_error_line "a kernel without one: one line" "tmigr tree: this kernel has no timer-migration hierarchy"
run 1 "$TMIGR" run --socket "$TMP/liar" true
err_has "a recording that is none: it is told" "tmigr run: $TMP/liar: the daemon's recording"
run 1 "$TMIGR" run --socket "$TMP/text64" true
err_has "or not even base64" "tmigr run: $TMP/text64: a piece of its recording is not base64"
run 1 "$TMIGR" dump --socket "$TMP/text64" -o "$TMP/never"
one_error_line "of a dump, too" "tmigr dump: $TMP/text64: .*not base64"
check "no file stays" test ! -e "$TMP/never"
run 1 "$TMIGR" dump --socket "$TMP/liar" -o "$TMP/never"
one_error_line "an error that it answers: one line" "tmigr dump: $TMP/liar: .*NoFlight: off"
check "no file stays" test ! -e "$TMP/never"
mkdir "$TMP/kept"
echo old >"$TMP/kept/file"
for mode in text64 liar; do
	run 1 "$TMIGR" dump --socket "$TMP/$mode" --force -o "$TMP/kept/file"
	is "$mode: what was to be replaced is there, and nothing else" "$(cd "$TMP/kept" && ls -A && cat file)" "file
old"
done
"$TMIGR" dump --socket "$TMP/mute" --force -o "$TMP/kept/file" 2>"$TMP/err" &
pid=$!
half=
while [ -z "$half" ] && kill -0 $pid 2>/dev/null; do half=$(find "$TMP/kept" -name '*.partial'); done
check "a dump that is on its way has another name" test -n "$half"
kill -TERM $pid
wait $pid
is "interrupted: exit 143" $? 143
is "what was to be replaced is there, and nothing else" "$(cd "$TMP/kept" && ls -A && cat file)" "file
old"
# shellcheck disable=SC2086
wait $waits
for mode in silent half; do
	for name in status tree run mark dump; do
		cp "$TMP/$mode-$name.out" "$TMP/out"
		cp "$TMP/$mode-$name.err" "$TMP/err"
		is "$mode, $name: exit 1" "$(cat "$TMP/$mode-$name.rc")" 1
		one_error_line "one line" "tmigr $name: $TMP/$mode: .*silent"
	done
done
is "a recording that never goes on: exit 1" "$(cat "$TMP/mute-run.rc")" 1
file_has "and why" "$TMP/mute-run.err" "silent"

# ---- a daemon that ends in the middle ----
cat >"$TMP/command" <<'END'
touch "$1.started"
while [ ! -e "$1.release" ]; do
	sleep 0.05
done
echo done
exit 3
END
# A drain has come: more than the head and META.
recorded() {
	local size
	size=$(stat -c %s "$1/events.tmr.partial" 2>/dev/null || echo 0)
	[ "$first" != 0 ] || first=$size
	[ "$size" -gt "$first" ] && [ "$first" != 0 ]
}
for sig in KILL TERM; do
	d=$TMP/end-$sig
	first=0
	"$TMIGR" run "${s[@]}" -o "$d" --record -- sh "$TMP/command" "$TMP/$sig" \
		>"$TMP/live" 2>"$TMP/err" &
	pid=$!
	wait_for test -e "$TMP/$sig.started"
	wait_for recorded "$d"
	kill -"$sig" "$daemon"
	wait_for grep -q . "$TMP/err"
	check "SIG$sig: it is told at once" grep -q "tmigr run: $sock: the daemon" "$TMP/err"
	check "and the command goes on" kill -0 $pid
	touch "$TMP/$sig.release"
	wait $pid
	is "exit 1" $? 1
	is "one line" "$(wc -l <"$TMP/err")" 1
	is "the command came to its end" "$(cat "$d/stdout")" "done"
	file_has "a report of what had come" "$TMP/live" "part of the run only"
	file_has "with the command's status" "$TMP/live" "(exit status 3)"
	json_is "run.json: interrupted" "$d/run.json" "r['state'] == 'interrupted'"
	run 1 "$TMIGR" report "$d"
	tail -n +2 "$TMP/live" >"$TMP/live2"
	check "report DIR: the same bytes as live" cmp "$TMP/live2" "$TMP/out"
	if [ $sig = KILL ]; then
		run 1 "$TMIGR" report --json "$d/events.tmr.partial"
	else
		run 1 "$TMIGR" report --json "$d/events.tmr"
		json_is "SIGTERM: the recording is whole, with the kernel's figures" "$TMP/out" \
			"r['residency_source'] == 'maps'"
	fi
	check "its recording is readable, its sums exact" python3 "$exact" "$TMP/out"
	while kill -0 "$daemon" 2>/dev/null; do
		sleep 0.05
	done
	start_daemon
done
"$TMIGR" run "${s[@]}" -- sh "$TMP/command" "$TMP/bare" >"$TMP/out" 2>"$TMP/err" &
pid=$!
wait_for test -e "$TMP/bare.started"
kill -KILL "$daemon"
wait_for grep -q . "$TMP/err"
touch "$TMP/bare.release"
wait $pid
is "without -o, too: exit 1" $? 1
out_has "and a report" "part of the run only"
done_testing
