#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr run -n: labelled runs, what they take along, and how they go on.
. tests/lib-shell/tap.sh
why=$(why_not_live)
[ -z "$why" ] || skip_all "$why"
TMIGR=$(readlink -f "$TMIGR")
TMIGR_TESTS=$(readlink -f "$TMIGR_TESTS")
mkdir "$TMP/work"
cd "$TMP/work" || exit 1
daemon_program=$(dirname "$TMIGR")/tmigrd

json() { # FILE EXPRESSION: of r, the object
	python3 -c "
import json, sys
r = json.load(open(sys.argv[1]))
print($2)" "$1"
}

# ---- three runs ----
cat >bench <<'END'
echo "run of $#"
n=$(cat count 2>/dev/null || echo 0)
n=$((n + 1))
echo $n >count
echo "rate: $((n * 10)) ops, \"quoted\""
echo "time 0.$n" >&2
END
run 0 "$TMIGR" run -n 3 -l un,aware -o out --record --metric 'rate=rate: ([0-9]+):ops/s:higher' \
	--metric 'time=^time (.*):s:lower' --metric 'gone=never ([0-9])' -- sh bench a b
is "three run directories" "$(ls out)" "run-1
run-2
run-3"
for i in 1 2 3; do
	is "run $i: label, number, state" \
		"$(json out/run-$i/run.json '[r["label"], r["run"], r["state"], r["options"]["record"]]')" \
		"['un,aware', $i, 'complete', True]"
	is "run $i: metrics" "$(json out/run-$i/report.json '[[m["value"], m["unit"], m["better"]] for m in r["metrics"]]')" \
		"[[${i}0.0, 'ops/s', 'higher'], [0.$i, 's', 'lower']]"
	is "run $i: metrics.csv" "$(cat out/run-$i/metrics.csv)" "name,value,unit,better
rate,${i}0,ops/s,higher
time,0.$i,s,lower"
	check "run $i did not fail" test "$(json out/run-$i/report.json '"failed" in r')" = False
	"$TMIGR" report --json "out/run-$i" >a
	"$TMIGR" report --json "out/run-$i/events.tmr" >b
	check "run $i: the recording gives the same bytes" sh -c "test -s a && cmp a b"
	"$TMIGR" report "out/run-$i" >a
	"$TMIGR" report "out/run-$i/events.tmr" >b
	check "run $i: as text too" cmp a b
	check "run $i: all sums are exact" python3 "$TMIGR_TESTS/lib-shell/check-report.py" "out/run-$i/report.json"
	grep -q "^Run: un,aware $i" a && ok "run $i: its text has the label" || not_ok "run $i: its text has the label" "$(head -5 a)"
	file_has "run $i: and says what was not found" a "Note: metric gone: no value"
done
is "the windows follow one another" \
	"$(for i in 1 2 3; do json out/run-$i/report.json 'r["start_ns"], r["start_ns"] + r["window_ns"]'; done | tr -d '(),' | tr ' ' '\n' | sort -nc && echo ascending)" ascending
out_has "the table has means" "metric.rate"
is "and they are right" "$(awk '/metric.rate|metric.time/ {print $(NF-3), $(NF-2), $(NF-1), $NF}' "$TMP/out")" \
	"10 20 30 20
0.1 0.2 0.3 0.2"

# ---- a run that fails ----
rm -f count
run 3 "$TMIGR" run -n 3 -l f -o failing --metric 'rate=rate: ([0-9]+)' -- \
	sh -c '. ./bench; [ $n != 2 ] || exit 3'
err_has "it is told" "run 2 failed: exit status 3"
is "it is kept, and marked" "$(json failing/run-2/report.json 'r["failed"], r["exit_status"]')" "exit status 3 3"
check "the third one comes all the same" test -f failing/run-3/report.json
is "the mean is of the others" "$(awk '/metric.rate/ {print $NF}' "$TMP/out")" 20
out_has "a line says so" "run 2 is left out of the means"
run 137 "$TMIGR" run -n 1 -o killed -- sh -c 'kill -KILL $$'
is "killed by a signal" "$(json killed/run-1/report.json 'r["failed"]')" "killed by signal 9, Killed"
run 0 "$TMIGR" run -n 2 -d 0.2 -o cut -- sleep 60
is "what -d ended did not fail" "$(json cut/run-2/report.json '"failed" in r')" False
run 3 "$TMIGR" run -n 2 -d 0.2 --force -o cut --fail-if 'window_s>0' -- sleep 60
err_has "and is tested by --fail-if" "run 2: --fail-if 'window_s>0' is true"
run 0 "$TMIGR" run -n 2 -d 0.2 -o idle
is "no command: two windows" "$(json idle/run-2/report.json 'r["command"], "failed" in r')" "[] False"
run 127 "$TMIGR" run -n 3 -o nothing no-such-command-here
check "a command that is not there: nothing stays" test ! -e nothing/run-1

# ---- interrupted in the second of three, and --continue ----
mkfifo ready
# shellcheck disable=SC2016
cat >second <<'END'
n=$(cat count2 2>/dev/null || echo 0)
n=$((n + 1))
echo $n >count2
echo "rate: $n"
[ "$n" != 2 ] || { echo >ready; exec sleep 60; }
END
s=(-l aware --metric 'rate=rate: ([0-9]+)')
env --default-signal=INT "$TMIGR" run -n 3 -o inter "${s[@]}" -- sh second >"$TMP/out" 2>"$TMP/err" &
pid=$!
read -r _ <ready
kill -INT $pid
wait $pid
is "SIGINT in run 2 of 3: exit" $? 130
is "what there is" "$(ls inter)" "run-1
run-2"
is "run 1 is whole" "$(json inter/run-1/run.json 'r["state"]')" complete
is "run 2 is there as far as it came" \
	"$(json inter/run-2/run.json 'r["state"]') $(json inter/run-2/report.json 'r["interrupted"], r["failed"], r["metrics"][0]["value"]')" \
	"interrupted True interrupted 2.0"
before=$(sha256sum inter/run-1/*)
for other in "-l other" "--warmup 1" "--settle 1" "--metric x=(.)" "-d 7" "--timer-migration on" "--class a=0"; do
	# shellcheck disable=SC2086
	"$TMIGR" run -n 3 --continue -o inter "${s[@]}" $other -- sh second >"$TMP/out" 2>"$TMP/err"
	is "--continue with $other: exit 1" $? 1
	one_error_line "one line: $(cut -c1-90 "$TMP/err")" "tmigr run: --continue: inter/run-1 was made with another "
done
run 1 "$TMIGR" run -n 3 --continue -o inter "${s[@]}" -- sh second more
one_error_line "another command: one line" "tmigr run: --continue: inter/run-1 was made with another command"
sed -i 's/"release": "[^"]*"/"release": "0.1"/' inter/run-2/run.json
run 1 "$TMIGR" run -n 3 --continue -o inter "${s[@]}" -- sh second
one_error_line "another kernel: one line" "tmigr run: --continue: inter/run-2 was made with another kernel"
sed -i "s/\"release\": \"0.1\"/\"release\": \"$(uname -r)\"/" inter/run-2/run.json
run 0 "$TMIGR" run -n 3 --continue -o inter "${s[@]}" -- sh second
err_has "run 2 is done again" "run 2 was not finished (interrupted): it is done again"
is "all three are there" "$(for i in 1 2 3; do json inter/run-$i/report.json 'r["metrics"][0]["value"], "failed" in r'; done)" \
	"1.0 False
3.0 False
4.0 False"
is "run 1 was left alone" "$(sha256sum inter/run-1/*)" "$before"
run 0 "$TMIGR" run -n 3 --continue -o inter "${s[@]}" -- sh second
is "again: nothing is left to do" "$(cat count2)" 4
run 0 "$TMIGR" run -n 4 --continue -o inter "${s[@]}" -- sh second
is "-n 4: one more" "$(cat count2)" 5
run 1 "$TMIGR" run -n 3 --continue -o inter "${s[@]}" -- sh second
one_error_line "-n 3 with four there: one line" "tmigr run: inter/run-4: is there, but -n is 3"
run 0 "$TMIGR" run -n 3 --continue -o failing -l f --metric 'rate=rate: ([0-9]+)' -- \
	sh -c '. ./bench; [ $n != 2 ] || exit 3'
err_has "a run that failed stays" "run 2 stays (failed: exit status 3)"
mkdir -p way/run-1 && echo mine >way/run-1/notes
run 1 "$TMIGR" run -n 2 --continue -o way -- true
one_error_line "something else in the way: one line" "tmigr run: --continue: way/run-1 is in the way"

# ---- what is there already ----
run 1 "$TMIGR" run -n 3 -o out -- true
one_error_line "runs are there: one line" "tmigr run: out/run-[123]: exists .*--continue.*--force"
run 1 "$TMIGR" run -n 2 --force -o out -- true
one_error_line "--force with a third there: one line" "tmigr run: out/run-3: is there, but -n is 2"
run 0 "$TMIGR" run -n 3 --force -o out -- true
is "--force replaces them" "$(json out/run-3/run.json 'r["command"]')" "['true']"
check "and leaves nothing of them" test ! -e out/run-3/events.tmr
run 0 "$TMIGR" run -o one true
run 1 "$TMIGR" run -n 2 -o one true
one_error_line "a single run's folder: one line" "tmigr run: one: is a single run's directory"
echo file >plain
run 1 "$TMIGR" run -n 2 -o plain true
one_error_line "a file: one line" "tmigr run: plain: "
(flock 9 && "$TMIGR" run -n 2 --force -o cut -d 0.1 >"$TMP/out" 2>"$TMP/err") 9<cut
is "another one at work there: exit" $? 1
one_error_line "one line" "tmigr run: cut: another 'tmigr run' is at work there"

# ---- settle and warm-up ----
now='import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'
t0=$(python3 -c "$now")
run 0 "$TMIGR" run --settle 0.4 -o settled -- python3 -c "$now"
check "--settle: the command starts so long after the tool, and in the window" \
	test "$(json settled/report.json "r['settle_ns'] == 400000000 and $t0 + 400000000 <= r['start_ns'] <= $(cat settled/stdout) <= r['start_ns'] + r['window_ns']")" = True
t0=$(python3 -c "$now")
run 0 "$TMIGR" run --warmup 0.6 -o warm -- sh -c "python3 -c '$now'; sleep 2; python3 -c '$now'"
check "--warmup: the window starts so long after the command, and ends with it" \
	test "$(json warm/report.json "r['warmup_ns'] == 600000000 and $t0 + 600000000 <= r['start_ns'] and $(tail -1 warm/stdout) <= r['start_ns'] + r['window_ns']")" = True
run 0 "$TMIGR" run --json --warmup 0.3 -d 0.4 sleep 60
check "--warmup -d: -d is of the window" test "$(json "$TMP/out" 'r["window_ns"] >= 400000000')" = True
run 1 "$TMIGR" run --warmup 60 -o early true
out_has "a command that ends in the warm-up: its report says so" "the command ended within the warm-up"
is "a command that ends in the warm-up: failed" "$(json early/report.json 'r["failed"]')" \
	"the command ended within the warm-up"
run 127 "$TMIGR" run --warmup 60 -o none no-such-command-here
check "one that is not there: nothing stays" test ! -e none
"$TMIGR" run --settle 60 -n 2 -o none true >"$TMP/out" 2>"$TMP/err" &
pid=$!
# It has attached when it sleeps with all its files open; a signal before that does the same.
sleep 0.5
kill -TERM $pid
wait $pid
is "SIGTERM while it settles: exit" $? 143
check "nothing is there" test ! -e none

# ---- --offline, --timer-migration, energy: on a made-up machine ----
sys=$TMP/sys
cpus=$sys/sys/devices/system/cpu
made_up() {
	rm -rf "$sys"
	mkdir -p "$sys/proc/sys/kernel" "$cpus" "$sys/sys/class/powercap/intel-rapl:0"
	for i in 0 1 2 3 4 5 6 7; do
		mkdir -p "$cpus/cpu$i"
		[ $i = 0 ] || echo 1 >"$cpus/cpu$i/online"
		[ $i -gt 3 ] && echo 1024 >"$cpus/cpu$i/cpu_capacity" || echo 442 >"$cpus/cpu$i/cpu_capacity"
	done
	for f in possible present online; do echo 0-7 >"$cpus/$f"; done
	echo 1 >"$sys/proc/sys/kernel/timer_migration"
	echo package-0 >"$sys/sys/class/powercap/intel-rapl:0/name"
	echo 1000 >"$sys/sys/class/powercap/intel-rapl:0/energy_uj"
	echo 5000 >"$sys/sys/class/powercap/intel-rapl:0/max_energy_range_uj"
}
state() {
	cat "$cpus"/cpu[1-7]/online "$sys/proc/sys/kernel/timer_migration" | tr -d '\n'
}
put_back() { # DESCRIPTION: it is, or will be in a moment
	for _ in $(seq 2000); do
		[ "$(state)" != 11111111 ] || break
		sleep 0.05
	done
	is "$1: all is as it was" "$(state)" 11111111
}
export -f state
export cpus sys
made_up
o=(--sys-root "$sys" --offline 5-7 --timer-migration off)
run 0 "$TMIGR" run "${o[@]}" -n 2 -o changed -- bash -c 'state; echo; echo 500 >"$sys/sys/class/powercap/intel-rapl:0/energy_uj"'
is "while the command runs, it is changed" "$(cat changed/run-1/stdout changed/run-2/stdout)" "11110000
11110000"
put_back "afterwards"
is "what was changed is in run.json" "$(json changed/run-1/run.json 'r["changed"], r["options"]["offline"]')" \
	"{'offline': '5-7', 'timer_migration': 0} 5-7"
file_has "the table of the runs comes" "$TMP/out" energy.package-0
"$TMIGR" report changed/run-2 >a
file_has "the report has it" a "CPUs 5-7 were taken offline for it; kernel.timer_migration was set"
is "energy: a counter that wrapped" "$(json changed/run-1/report.json 'r["energy"]')" \
	"[{'domain': 'package-0', 'energy_uj': 4500}]"
is "energy.csv" "$(cat changed/run-1/energy.csv)" "domain,energy_uj
package-0,4500"
file_has "the text has joules" a "Energy: package-0 "
check "a machine without counters has no energy.csv" test ! -e one/energy.csv
run 2 "$TMIGR" run "${o[@]}" --offline 8 true
one_error_line "a CPU that is not there: one line" "tmigr run: --offline: this machine has no CPU 8"
run 1 "$TMIGR" run "${o[@]}" --offline 4-7 true
one_error_line "the last of a class: one line" "tmigr run: CPU 4: no CPU of class big .*--force"
is "nothing is changed" "$(state)" 11111111
run 0 "$TMIGR" run "${o[@]}" --offline 4-7 --force -o forced -- bash -c state
is "--force does it" "$(cat forced/stdout)" 11100000
put_back "after it"
run 127 "$TMIGR" run "${o[@]}" no-such-command-here
put_back "after an error"
run 1 "$TMIGR" run "${o[@]}" -o plain true
put_back "after another error"
run 9 "$TMIGR" run "${o[@]}" -- sh -c 'exit 9'
put_back "after a command that failed"
for sig in INT TERM HUP KILL; do
	env --default-signal=INT "$TMIGR" run "${o[@]}" -- sh -c 'echo $$ >ready; exec sleep 60' >"$TMP/out" 2>"$TMP/err" &
	pid=$!
	read -r command <ready
	is "SIG$sig: it is changed" "$(state)" 11110000
	kill -$sig $pid
	wait $pid 2>/dev/null
	put_back "after SIG$sig"
	# Nobody passes SIGKILL on.
	[ $sig != KILL ] || kill "$command"
done

# ---- --fail-if ----
run 3 "$TMIGR" run --fail-if 'window_s>0' --fail-if 'window_s<0' true
err_has "which, and its value" "--fail-if 'window_s>0' is true: window_s is "
run 0 "$TMIGR" run --fail-if 'window_s<0' true
run 1 "$TMIGR" run --fail-if 'big_share>0.5' --class all=0-1 true
run 7 "$TMIGR" run --fail-if 'window_s>0' sh -c 'exit 7'
run 2 "$TMIGR" run --fail-if 'nonsense>0' true
rm -f count
run 3 "$TMIGR" run -n 3 -o thresholds --metric 'rate=rate: ([0-9]+)' --fail-if 'metric.rate>=30' -- sh bench
err_has "which run it is" "run 3: --fail-if 'metric.rate>=30' is true: metric.rate is 30"
is "and no other" "$(wc -l <"$TMP/err" | tr -d ' ')" 4

# ---- a terminal ----
cat >terminal.py <<'END'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    text += data
os.waitpid(pid, 0)
sys.stdout.buffer.write(text)
END
python3 terminal.py "$TMIGR" run -n 2 -d 2.2 --settle 1.2 -o tty >"$TMP/out"
out_has "progress: which run, how long" "run 2 of 2, 1 of 2 s, all done about "
out_has "progress: settling" "run 2 of 2, settling 1 of 1 s"

# ---- through a daemon ----
"$daemon_program" --foreground --socket "$TMP/sock" 2>"$TMP/log" &
daemon=$!
tap_cleanup='kill -9 $daemon 2>/dev/null'
until grep -q ready "$TMP/log" || ! kill -0 $daemon 2>/dev/null; do sleep 0.05; done
if kill -0 $daemon 2>/dev/null; then
	rm -f count
	run 0 "$TMIGR" run --socket "$TMP/sock" -n 3 -l d --settle 0.1 --record -o daemon --metric 'rate=rate: ([0-9]+)' -- sh bench
	is "through a daemon: three runs" "$(for i in 1 2 3; do json daemon/run-$i/report.json 'r["run"], r["metrics"][0]["value"], r["engine"][:7]'; done)" \
		"1 10.0 tmigrd 
2 20.0 tmigrd 
3 30.0 tmigrd "
	for i in 1 2 3; do
		check "run $i: all sums are exact" python3 "$TMIGR_TESTS/lib-shell/check-report.py" "daemon/run-$i/report.json"
		"$TMIGR" report --json "daemon/run-$i" >a
		"$TMIGR" report --json "daemon/run-$i/events.tmr" >b
		check "run $i: the recording gives the same bytes" sh -c "test -s a && cmp a b"
	done
	"$TMIGR" run --socket "$TMP/sock" -n 3 -o gone -- sh -c "kill -9 $daemon; sleep 0.5" >"$TMP/out" 2>"$TMP/err"
	is "a daemon that ends: exit" $? 1
	wait $daemon 2>/dev/null
	is "no further run" "$(ls gone)" run-1
	is "the run is marked" "$(json gone/run-1/report.json 'r["failed"]')" "the daemon that measured went away"
else
	skip "through a daemon" "tmigrd does not start here: $(head -1 "$TMP/log")"
fi
done_testing
