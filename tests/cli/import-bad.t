#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr import and report: traces that are none, that are damaged, that tell of losses;
# copies of a machine's sysfs that don't fit.
. tests/lib-shell/tap.sh

mkdir "$TMP/t"
export TMPDIR=$TMP/t
good=$TMP/good
zcat tests/fixtures/captures/rk3576-7.3.4-all/trace.txt.gz | head -3000 >"$good"

# One line on stderr that names the file, no output, no run directory.
refused() { # DESCRIPTION PATTERN FILE [OPTION...]
	local what=$1 pattern=$2 file=$3
	shift 3
	run 1 "$TMIGR" report "$@" "$file"
	one_error_line "$what" "tmigr report: .*$pattern"
	run 1 "$TMIGR" import -o "$TMP/run/x" "$@" "$file"
	one_error_line "$what, import" "tmigr import: .*$pattern"
	check "$what: nothing is left" test ! -e "$TMP/run"
}

# A report of a part: exit 1, a line on stderr with file and place, and what it says.
part() { # DESCRIPTION PATTERN FILE
	"$TMIGR" report --json "$3" >"$TMP/out" 2>"$TMP/err"
	is "$1: exit 1" $? 1
	check "$1: one line" grep -q "^tmigr report: .*a part of the run only: .*$2" "$TMP/err"
	is "$1: no more than that line" "$(wc -l <"$TMP/err")" 1
	check "$1: the report says so" grep -q "\"partial\": \".*$2" "$TMP/out"
}

value() { # KEY: of the report in $TMP/out
	python3 -c "import json; r = json.load(open('$TMP/out')); print($1)"
}

: >"$TMP/empty"
refused "an empty file" "empty" "$TMP/empty"
refused "no file" "nothing: No such file" "$TMP/nothing"
mkdir "$TMP/dir"
run 1 "$TMIGR" import -o "$TMP/run/x" "$TMP/dir"
one_error_line "a directory" "tmigr import: .*dir: Is a directory"
head -c 300000 /dev/urandom | tr '\37\50\375B\27TP' ' ' >"$TMP/random"
refused "random bytes" "random: " "$TMP/random"
gzip -c "$good" >"$TMP/packed"
refused "a packed file" "packed: compressed: .*zcat" "$TMP/packed"
printf 'PERFILE2xxxxxxxxxxxxxx' >"$TMP/perf.data"
refused "perf.data" "perf.data file: .*perf script" "$TMP/perf.data"
seq 100000 >"$TMP/numbers"
refused "lines of something else" "no line of it is an event" "$TMP/numbers"
sed 's/cpu_idle:/sched_x:/; s/: tmigr_/: other_/' "$good" >"$TMP/others"
refused "other events only" "a trace of .* events, none of them" "$TMP/others"
sed -E 's/ ([0-9]+)\.([0-9]+): / \1\2: /' "$good" >"$TMP/tsc"
refused "stamps without a unit" "no unit.*trace_clock" "$TMP/tsc"
head -c 60 "$good" >"$TMP/short"
refused "cut in the first line" "short: no line of it is an event of a trace, and line 3 has no end" "$TMP/short"
{ yes x | tr -d '\n' | head -c 3000000; } >"$TMP/long"
refused "one gigantic line" "long: no line of it is an event" "$TMP/long"

"$TMIGR" report --json "$good" >"$TMP/want"
{ yes x | tr -d '\n' | head -c 3000000; echo; cat "$good"; printf '\0\0\n\0'; echo; } >"$TMP/file"
"$TMIGR" report --json "$TMP/file" >"$TMP/out"
is "a gigantic line and NULs before and after: exit" $? 0
is "... and the same residency" "$(value "r['cpus']")" \
	"$(python3 -c "import json; print(json.load(open('$TMP/want'))['cpus'])")"

head -c $(($(wc -c <"$good") - 20)) "$good" >"$TMP/file"
part "cut in a line" "ends in the middle of line" "$TMP/file"
sed '500s/\[00[0-9]\]/[4294967296]/' "$good" >"$TMP/file"
part "CPU 2^32" "line 500: a CPU number out of range" "$TMP/file"
is "... it counts as lost" "$(value "r['lost']['records']")" 1
n=$(grep -n cpu_idle: "$good" | sed -n 200p | cut -d: -f1)
sed "${n}s/cpu_id=/cpu_id=9999999999/" "$good" >"$TMP/file"
part "a field out of range" "line $n: a CPU number out of range" "$TMP/file"
sed "${n}s/cpu_id=[0-9]*//" "$good" >"$TMP/file"
part "a field is missing" "line $n: a field is missing" "$TMP/file"
sed "${n}s/state=[0-9]*/state=1x/" "$good" >"$TMP/file"
part "a field that is no number" "line $n: a field that is no number" "$TMP/file"
n=$(grep -n tmigr_group_set_cpu "$good" | sed -n 20p | cut -d: -f1)
for bad in 's/childmask=[0-9a-f]*/childmask=3/' 's/migrator=[0-9a-f]*/migrator=100/' \
	's/lvl=0/lvl=99/' 's/group=[0-9a-f]*/group=0000000000000000/'; do
	sed "${n}$bad" "$good" >"$TMP/file"
	part "$bad" "line $n: a" "$TMP/file"
done
{ cat "$good"; grep -v '^#' "$good"; } >"$TMP/file"
part "a trace twice: time goes back" "line 3001: time goes back, from .* to " "$TMP/file"
is "... and the first is used" "$(value "r['cpus']")" \
	"$(python3 -c "import json; print(json.load(open('$TMP/want'))['cpus'])")"

# Losses that the trace tells of.
awk 'NR == 1000 { print "CPU:2 [LOST 123 EVENTS]"; print "CPU:3 [LOST EVENTS]" }
     NR == 1500 { print "CPU:4 [7 EVENTS DROPPED]" } { print }' "$good" >"$TMP/file"
"$TMIGR" report --json "$TMP/file" >"$TMP/out"
is "lost events: exit" $? 0
is "lost events: as many as it says" "$(value "r['lost']['records']")" 131
check "lost events: time of these CPUs is unknown" test "$(value \
	"all(r['cpus'][c]['unknown_ns'] for c in (2, 3, 4))")" = True
check "lost events: time of the root is unknown" test "$(value "r['roots'][0]['unknown_ns'] > 0")" = True
n=$(grep -n tmigr_group_set_cpu "$good" | sed -n 60p | cut -d: -f1)
sed "${n}d" "$good" >"$TMP/file"
"$TMIGR" report --json "$TMP/file" >"$TMP/out"
is "an update that is missing, of which nobody tells: exit" $? 0
check "... is noticed" test "$(value "r['lost']['group_updates'] >= 1")" = True
out_has "... and told of" "cannot follow the ones before"

# Topology.
refused "--cpus that is not there" "nothing: No such file" "$good" --cpus "$TMP/nothing"
refused "--cpus of an empty folder" "no copy of /sys/devices/system/cpu" "$good" --cpus "$TMP/dir"
refused "--cpus of something else" "not a tar file" "$good" --cpus "$TMP/random"
refused "--class that is malformed" "x" "$good" --class x
refused "--class of a CPU that is not there" "99" "$good" --class big=99
cpus=$TMP/snap/sys/devices/system/cpu
mkdir -p "$cpus"
echo 0-3 | tee "$cpus/present" "$cpus/possible" >"$cpus/online"
for i in 0 1 2 3; do mkdir "$cpus/cpu$i"; done
refused "--cpus of another machine" "has no CPU 4, .*another" "$good" --cpus "$TMP/snap"
echo 0-7 | tee "$cpus/present" "$cpus/possible" >"$cpus/online"
for i in 0 1 2 3 4 5 6 7; do
	mkdir -p "$cpus/cpu$i/cpuidle/state0" "$cpus/cpu$i/cpuidle/state1"
	echo $((i < 4 ? 442 : 1024)) >"$cpus/cpu$i/cpu_capacity"
	echo WFI >"$cpus/cpu$i/cpuidle/state0/name"
	echo cpu-sleep >"$cpus/cpu$i/cpuidle/state1/name"
done
run 0 "$TMIGR" report --cpus "$TMP/snap" "$good"
out_has "a copy of sysfs gives the classes" "4 LITTLE, 4 big"
out_has "... and the states' names" "cpu-sleep"
mv "$TMP/out" "$TMP/text"
run 0 "$TMIGR" report --cpus "$cpus" "$good"
check "the folder itself is the same" cmp "$TMP/out" "$TMP/text"
tar -C "$TMP/snap" -cf "$TMP/cpus.tar" sys
run 0 "$TMIGR" report --cpus "$TMP/cpus.tar" "$good"
check "a tar file is the same" cmp "$TMP/out" "$TMP/text"

# Copies that are not whole: a tar file that is cut off between two members, in the middle of a
# head and of a member; a CPU without capacity.
n=$(python3 -c "print(len(open('$TMP/cpus.tar', 'rb').read().rstrip(bytes(1))) + 511 & ~511)")
for size in $((n / 2 / 512 * 512)) 512 700 1000 $((n / 2 + 100)) "$n"; do
	head -c "$size" "$TMP/cpus.tar" >"$TMP/part.tar"
	refused "a tar file cut at byte $size" "part.tar: .*cut off" "$good" --cpus "$TMP/part.tar"
done
head -c $((n + 512)) "$TMP/cpus.tar" >"$TMP/part.tar"
run 0 "$TMIGR" report --cpus "$TMP/part.tar" "$good"
check "one block of zeros ends it as well" cmp "$TMP/out" "$TMP/text"
head -c 100 "$TMP/cpus.tar" >"$TMP/part.tar"
refused "less than a head" "part.tar: .*not a tar file" "$good" --cpus "$TMP/part.tar"
TMPDIR=$TMP/nothing run 1 "$TMIGR" report --cpus "$TMP/cpus.tar" "$good"
one_error_line "no place for a temporary folder" "tmigr report: no temporary folder: No such file"
rm "$cpus/cpu2/cpu_capacity"
refused "a CPU without capacity" "cpu/cpu2/cpu_capacity: No such file.*, but other CPUs have theirs, and CPU 2 is not offline there" "$good" \
	--cpus "$TMP/snap"
mkdir "$cpus/cpu2/cpu_capacity"
refused "... or with one that cannot be read" "cpu2/cpu_capacity: Is a directory" "$good" --cpus "$cpus"
rmdir "$cpus/cpu2/cpu_capacity"
echo 0-1,3-7 >"$cpus/online"
run 0 "$TMIGR" report --cpus "$TMP/snap" "$good"
echo 0-7 >"$cpus/online"
rm "$cpus"/cpu*/cpu_capacity
run 0 "$TMIGR" report --cpus "$TMP/snap" "$good"
out_has "none has a capacity: one class" "Global migrator of GRP0:0 [0-7]"
for i in 0 1 2 3 4 5 6 7; do echo $((i < 4 ? 442 : 1024)) >"$cpus/cpu$i/cpu_capacity"; done

# What is wrong in a copy is told of the copy, not of the temporary folder it was read in.
bad_copies() { # DESCRIPTION PATTERN: of the file, below the folder of the CPUs
	refused "$1, a folder" "$TMP/snap/sys/devices/system/cpu/$2" "$good" --cpus "$TMP/snap"
	refused "$1, the folder itself" "$TMP/snap/sys/devices/system/cpu/$2" "$good" --cpus "$cpus"
	refused "$1, one above" "$TMP/snap/sys/devices/system/cpu/$2" "$good" --cpus "$TMP/snap/sys"
	tar -C "$TMP/snap" -cf "$TMP/bad.tar" ./sys
	refused "$1, a tar file" "$TMP/bad.tar: sys/devices/system/cpu/$2" "$good" --cpus "$TMP/bad.tar"
}
echo x >"$cpus/cpu1/cpu_capacity"
bad_copies "a capacity that is none" "cpu1/cpu_capacity: not a capacity"
echo 442 >"$cpus/cpu1/cpu_capacity"
echo x >"$cpus/online"
bad_copies "a list of CPUs that is none" "online: 'x' is not a CPU list"
echo 0-7 >"$cpus/online"
rm "$cpus/present" "$cpus/possible"
bad_copies "no list of CPUs" "present: no list of CPUs there; is the copy whole?"
echo 0-7 | tee "$cpus/present" >"$cpus/possible"
mkdir -p "$TMP/nodes/sys/devices/system/node/node0"
echo 0-7 >"$TMP/nodes/sys/devices/system/node/node0/cpulist"
tar -C "$TMP/nodes" -cf "$TMP/bad.tar" sys
refused "a tar file without CPUs" "bad.tar: no tar file of /sys/devices/system/cpu" "$good" \
	--cpus "$TMP/bad.tar"
is "no folder is left" "$(find "$TMPDIR" -name "tmigr-*" | wc -l)" 0
run 1 "$TMIGR" report --cpus "$TMP/snap" demo/events.tmr
one_error_line "a recording knows its machine" "tmigr report: .*no --class or --cpus"

# Only some of the events.
grep -v tmigr_ "$good" >"$TMP/file"
run 0 "$TMIGR" report "$TMP/file"
out_has "only cpu_idle" "no timer_migration events: residency alone"
check "only cpu_idle: no migrator" test -z "$(grep 'Global migrator' "$TMP/out")"
grep -v ' cpu_idle: ' "$good" >"$TMP/file"
run 0 "$TMIGR" report "$TMP/file"
out_has "only timer migration" "no cpu_idle events: the migrator alone"
out_has "only timer migration: the migrator" "Global migrator of GRP0:0 [0-7]"
check "nothing of this machine" test -z "$(grep -F "Linux $(uname -r)" "$TMP/out")"
out_has "what is missing is said" "capacities of the CPUs and names of idle states are not in"

# On another machine, with as many CPUs and other capacities and states, it is the same report.
cat >"$TMP/elsewhere" <<-'EOT'
	set -e
	mount --bind "$1/sys/devices/system/cpu" /sys/devices/system/cpu
	grep -q cpu-sleep /sys/devices/system/cpu/cpu7/cpuidle/state1/name
	"$2" report --json "$3"
EOT
"$TMIGR" report --json "$good" >"$TMP/want"
if unshare -m sh "$TMP/elsewhere" "$TMP/snap" "$TMIGR" "$good" >"$TMP/out" 2>"$TMP/err"; then
	sed -i 's/"time":"[^"]*"//' "$TMP/out" "$TMP/want" # of the import
	check "on a machine whose topology would fit: the same bytes" cmp "$TMP/out" "$TMP/want"
	check "... without its names" test "$(grep -c cpu-sleep "$TMP/out")" = 0
else
	skip "on a machine whose topology would fit" "no mount may be made here: $(head -1 "$TMP/err")"
fi

# Where to.
run 0 "$TMIGR" import -q -o "$TMP/there" "$good"
run 1 "$TMIGR" import -q -o "$TMP/there" "$good"
one_error_line "a folder with something in it" "tmigr import: .*there"
run 0 "$TMIGR" import -q --force --no-recording -o "$TMP/there" "$good"
run 2 "$TMIGR" import "$good"
one_error_line "no -o" "tmigr import: .*-o DIR"
# A reader that goes away early.
"$TMIGR" report "$good" 2>"$TMP/err" | head -1 >/dev/null
check "a reader that goes away: no crash" test "$(grep -c Sanitizer "$TMP/err")" = 0
done_testing
