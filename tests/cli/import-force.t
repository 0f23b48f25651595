#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr import, and run, where no run comes of it: --force leaves the earlier run as it was;
# an interrupt or a full disk leaves nothing.
. tests/lib-shell/tap.sh

mkdir "$TMP/t"
export TMPDIR=$TMP/t
good=$TMP/good
zcat tests/fixtures/captures/rk3576-7.3.4-all/trace.txt.gz | head -3000 >"$good"

# Names, times and contents of a folder.
state() { # FOLDER
	(cd "$1" && find . -type f -printf '%p %T@ ' -exec md5sum {} \; | sort)
}

# ---- --force ----
run 0 "$TMIGR" import -q -o "$TMP/old" "$good"
echo mine >"$TMP/old/notes"
# What a run that was killed has left may be all that there is of it.
echo part >"$TMP/old/stdout.partial"
before=$(state "$TMP/old")
kept() { # DESCRIPTION PATTERN ARGUMENT...
	local what=$1 pattern=$2
	shift 2
	run 1 "$TMIGR" import -q --force -o "$TMP/old" "$@"
	one_error_line "$what" "tmigr import: .*$pattern"
	is "$what: the earlier run is there" "$(state "$TMP/old")" "$before"
}
seq 1000 >"$TMP/numbers"
kept "no such file" "nothing: No such file" "$TMP/nothing"
kept "a file that is no trace" "no line of it is an event" "$TMP/numbers"
kept "a class that is none" "99" --class x=99 "$good"
kept "a copy that is none" "numbers: .*tar" --cpus "$TMP/numbers" "$good"
kept "its own recording" "events.tmr: is of the run in .*another directory" "$TMP/old/events.tmr"
ln -s old "$TMP/link"
ln -s old/events.tmr "$TMP/recording"
kept "its own recording, by another path" "is of the run in" "$TMP/link/../recording"
kept "its own partial file" "is of the run in" "$TMP/old/stdout.partial"
kept "a copy in it" "run.json: is of the run in" --cpus "$TMP/old/run.json" "$good"
"$TMIGR" import -q --force -o "$TMP/old" - <"$TMP/old/events.tmr" >"$TMP/out" 2>"$TMP/err"
is "its own recording, by standard input: exit" $? 1
one_error_line "... says so" "tmigr import: standard input: is of the run in"
is "... and it is there" "$(state "$TMP/old")" "$before"
why=$(why_not_live)
if [ -z "$why" ]; then
	run 127 "$TMIGR" run --force -o "$TMP/old" -- "$TMP/nothing"
	is "a command that is not there: the earlier run is" "$(state "$TMP/old")" "$before"
	run 127 "$TMIGR" run --warmup 0.1 --force -o "$TMP/old" -- "$TMP/nothing"
	is "... with --warmup too" "$(state "$TMP/old")" "$before"
	run 0 "$TMIGR" run --metric 'x=x is ([0-9]+)' --force -o "$TMP/old" -- echo x is 7
	file_has "one that is there takes its place" "$TMP/old/metrics.csv" "x,"
	is "... with nothing of it left" "$(find "$TMP/old" -name 'events.tmr*' -o -name '*.partial' -o -name '*.new')" ""
	is "... what it printed" "$(cat "$TMP/old/stdout")" "x is 7"
else
	skip "run --force" "$why"
fi
run 0 "$TMIGR" import -q --force -o "$TMP/old" "$good"
run 0 "$TMIGR" report "$TMP/old"
is "nothing of the earlier run is left" \
	"$(find "$TMP/old" -name stdout -o -name '*.partial' -o -name '*.new')" ""
is "other files stay" "$(cat "$TMP/old/notes")" mine

# ---- a full disk ----
before=$(state "$TMP/old")
python3 - >"$TMP/big" <<'END'
import random
random.seed(1)
t = 100
for i in range(200000):
    t += random.random() / 1000
    state = 4294967295 if i // 4 % 2 else 1
    print(f'<idle>-0 [{i % 4:03}] d..2. {t:.6f}: cpu_idle: state={state} cpu_id={i % 4}')
END
# shellcheck disable=SC2016
full='
	mount -t tmpfs -o size="$4k" none "$1/small" || exit 99
	[ "$5" != --force ] || cp -a "$1/old" "$1/small/x"
	[ "$4" != 8 ] || head -c 8192 /dev/zero >"$1/small/filler"
	"$2" import -q $5 -o "$1/small/x" "$3" >"$1/out" 2>"$1/err"
	echo $? >"$1/status"
	rm -rf "$1/left" && cp -a "$1/small" "$1/left"'
mkdir "$TMP/small"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	# In pages of a tmpfs, whatever file system the scratch folder is on.
	size=$(find "$TMP/old" -type f -printf "%s\n" | awk "{ k += int((\$1 + 4095) / 4096) * 4 } END { print k }")
	unshare -m bash -c "$full" - "$TMP" "$TMIGR" "$TMP/big" 64 ""
	is "a full disk: exit 1" "$(cat "$TMP/status")" 1
	one_error_line "a full disk" "tmigr import: .*No space left on device"
	is "a full disk: nothing is left" "$(find "$TMP/left" -mindepth 1)" ""
	unshare -m bash -c "$full" - "$TMP" "$TMIGR" "$TMP/big" $((size + 24)) --force
	is "a full disk, --force: exit 1" "$(cat "$TMP/status")" 1
	one_error_line "a full disk, --force" "tmigr import: .*No space left on device"
	is "a full disk, --force: the earlier run is there" "$(state "$TMP/left/x")" "$before"
	unshare -m bash -c "$full" - "$TMP" "$TMIGR" "$good" 20 --no-recording
	is "room for a part of the tables: exit 1" "$(cat "$TMP/status")" 1
	one_error_line "room for a part of the tables" "tmigr import: .*No space left on device"
	is "room for a part of the tables: nothing is left" "$(find "$TMP/left" -mindepth 1)" ""
	unshare -m bash -c "$full" - "$TMP" "$TMIGR" "$good" 8 ""
	one_error_line "room for nothing" "tmigr import: .*run.json: cannot write: No space left"
	is "room for nothing: nothing is left" "$(find "$TMP/left" -mindepth 1 ! -name filler)" ""
else
	skip "a full disk" "needs root"
fi

# ---- interrupts ----
# A trace, or a tar file, comes through a FIFO that stays open: the program waits for more.
mkfifo "$TMP/fifo"
stop() { # SIGNAL NUMBER PATTERN-OF-FILES-TO-WAIT-FOR INPUT ARGUMENT...
	local sig=$1 number=$2 wait_for=$3 input=$4
	shift 4
	# A background job of a script has SIGINT ignored, for good.
	env --default-signal=INT "$TMIGR" "$@" >"$TMP/out" 2>"$TMP/err" &
	pid=$!
	exec 7>"$TMP/fifo"
	cat "$input" >&7
	until compgen -G "$wait_for" >/dev/null; do sleep 0.02; done
	kill "-$sig" "$pid"
	{ wait "$pid"; } 2>/dev/null
	is "SIG$sig: ends tmigr $1" $? $((128 + number))
	exec 7>&-
}
before=$(state "$TMP/old")
: >"$TMP/empty"
stop INT 2 "$TMP/a/b/run.json" "$TMP/empty" import -o "$TMP/a/b" "$TMP/fifo"
check "nothing is left, and no folder that was made" test ! -e "$TMP/a"
stop TERM 15 "$TMP/a/b/events.tmr.partial" "$TMP/big" import -o "$TMP/a/b" "$TMP/fifo"
check "nothing is left once events have come" test ! -e "$TMP/a"
mkdir "$TMP/a"
stop HUP 1 "$TMP/a/events.tmr.partial" "$TMP/big" import -o "$TMP/a" "$TMP/fifo"
is "an empty folder is one again" "$(ls -A "$TMP/a")" ""
run 0 "$TMIGR" import -q -o "$TMP/a" "$good"
stop INT 2 "$TMP/old/events.tmr.new" "$TMP/big" import --force -o "$TMP/old" "$TMP/fifo"
is "--force: the earlier run is there" "$(state "$TMP/old")" "$before"
# What was killed for good is in nobody's way.
stop KILL 9 "$TMP/old/events.tmr.new" "$TMP/big" import --force -o "$TMP/old" "$TMP/fifo"
run 0 "$TMIGR" report "$TMP/old"
run 0 "$TMIGR" import -q --force -o "$TMP/old" "$good"
is "nothing is left of one that was killed" "$(find "$TMP/old" -name '*.new')" ""

mkdir -p "$TMP/snap/sys/devices/system/cpu/cpu0/cpuidle"
echo 0-7 | tee "$TMP/snap/sys/devices/system/cpu/present" >"$TMP/snap/sys/devices/system/cpu/cpu0/cpuidle/x"
tar -C "$TMP/snap" -cf - sys | head -c 5120 >"$TMP/half.tar"
before=$(state "$TMP/old")
folder="$TMPDIR/tmigr-*/sys/devices/system/cpu"
for sig in "INT 2" "TERM 15" "HUP 1"; do
	# shellcheck disable=SC2086
	stop $sig "$folder" "$TMP/half.tar" report --cpus "$TMP/fifo" "$good"
	is "... and no temporary folder is left" "$(ls -A "$TMPDIR")" ""
done
stop INT 2 "$folder" "$TMP/half.tar" import --force -o "$TMP/old" --cpus "$TMP/fifo" "$good"
is "... and no temporary folder is left" "$(ls -A "$TMPDIR")" ""
is "... but the earlier run" "$(state "$TMP/old")" "$before"
stop INT 2 "$folder" "$TMP/half.tar" tree --cpus "$TMP/fifo" \
	tests/fixtures/captures/rk3576-7.3.4-all/boot-trace.txt
is "... and no temporary folder is left" "$(ls -A "$TMPDIR")" ""
zcat tests/fixtures/hotplug/rk3576-7.3.4-unaware.txt.gz >"$TMP/hotplug"
stop INT 2 "$folder" "$TMP/half.tar" hotplug --cpus "$TMP/fifo" "$TMP/hotplug"
is "... and no temporary folder is left" "$(ls -A "$TMPDIR")" ""
done_testing
