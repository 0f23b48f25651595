#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --metric: what benchmarks print, saved and real, and odd output.
. tests/lib-shell/tap.sh
values=$B/tests/programs/metric-values
fixtures=$TMIGR_TESTS/fixtures/metrics

spec_of() {
	case ${1##*/} in
	perf*) echo perf-bench ;;
	schbench*) echo schbench ;;
	dbench*) echo tbench ;;
	*hackbench*) echo hackbench ;;
	*cyclictest*) echo cyclictest ;;
	stress-ng*) echo stress-ng ;;
	esac
}

# ---- saved outputs ----
for f in "$fixtures"/*.txt; do
	name=${f##*/}
	"$values" "$(spec_of "$f")" <"$f" >"$TMP/got"
	check "${name%.txt}" diff "${f%.txt}.want" "$TMP/got"
	# What a terminal or another system does to lines is no matter.
	sed 's/$/\r/' "$f" | "$values" "$(spec_of "$f")" >"$TMP/got"
	check "${name%.txt} with CRLF" diff "${f%.txt}.want" "$TMP/got"
	# Nor is what is printed around it.
	{
		head -c 100000 /dev/urandom
		printf '\n\0\0\n'
		cat "$f"
		printf '\n'
		head -c 300000 /dev/zero
	} | "$values" "$(spec_of "$f")" >"$TMP/got"
	check "${name%.txt} amid binary" diff "${f%.txt}.want" "$TMP/got"
done
n=$(find "$fixtures" -name '*.txt' | wc -l)
check "there are saved outputs" test "$n" -ge 20

# ---- regular expressions ----
m() { # OUTPUT SPEC...
	local text=$1
	shift
	printf "$text" | "$values" "$@" 2>&1
}
is "a value" "$(m 'Total: 1.5 s\n' 't=Total: ([0-9.]+)')" "t 1.5  -"
is "with a unit" "$(m 'Total: 1.5 s\n' 't=Total: ([0-9.]+):s')" "t 1.5 s -"
is "with a unit and a direction" "$(m 'x 1.5\n' 't=x ([0-9.]+):MB/s:higher')" "t 1.5 MB/s higher"
is "with a direction" "$(m 'x 1.5\n' 't=x ([0-9.]+):lower')" "t 1.5  lower"
is "a colon in the regex, none behind the group" "$(m 'a:b: 7\n' 't=^a:b: ([0-9]+)')" "t 7  -"
is "a colon and a word behind the group: a unit" "$(m '7:us\n' 't=^([0-9]+):us')" "t 7 us -"
is "with a colon at the end it is the regex's" "$(m '8:xx\n7:us\n' 't=^([0-9]+):us:')" "t 7  -"
is "and a direction" "$(m '8:xx\n7:us\n' 't=^([0-9]+):us::lower')" "t 7  lower"
is "a class of characters is no unit" "$(m 'n 42\n' 't=n ([[:digit:]]+)')" "t 42  -"
is "the first group" "$(m 'a 1 b 2\n' 't=a ([0-9]) b ([0-9])')" "t 1  -"
is "a sign, an exponent" "$(m 'v -1.25e-3\n' 't=v (.*)')" "t -0.00125  -"
is "commas between thousands" "$(m 'v 1,234,567.5\n' 't=v (.*)')" "t 1234567.5  -"
is "commas elsewhere" "$(m 'v 12,34\n' 't=v (.*)')" "note: metric t: no value: what it matched is no number: '12,34'"
is "no number" "$(m 'v nan\n' 't=v (.*)')" "note: metric t: no value: what it matched is no number: 'nan'"
is "hexadecimal is none" "$(m 'v 0x10\n' 't=v (.*)')" "note: metric t: no value: what it matched is no number: '0x10'"
is "too large for a number" "$(m 'v 1e999\n' 't=v (.*)')" "note: metric t: no value: what it matched is no number: '1e999'"
is "an empty group" "$(m 'v \n' 't=v (x?)')" "note: metric t: no value: what it matched is no number: ''"
is "nothing matches" "$(m 'v\n' 't=w ([0-9])')" "note: metric t: no value: nothing that the command printed matches"
is "nothing was printed" "$(m '' 't=w ([0-9])' hackbench)" "note: metric t: no value: nothing that the command printed matches
note: metric hackbench: no value: the command printed no 'Time: ...' of hackbench"
is "several matches" "$(m 'v 1\nv 2\nv 3\n' 't=v ([0-9])')" "t 3  -
note: metric t: found 3 times, the last one was taken"
is "several, and the rest all the same" "$(m 'v 1\nv 2\nw 5\n' 't=v ([0-9])' 'u=w ([0-9]):s')" "t 2  -
u 5 s -
note: metric t: found 2 times, the last one was taken"
is "a progress line in place" "$(m ' 10%%\r 20%%\rrate 5\n' 't=^rate ([0-9])')" "t 5  -"
is "no line end at the end" "$(m 'v 1' 't=v ([0-9])')" "t 1  -"
is "NUL bytes read as blanks" "$(m 'v\0001\n' 't=v ([0-9])')" "t 1  -"
is "hackbench twice" "$(m 'Time: 1\nTime: 2\n' hackbench)" "hackbench_time 2 s lower
note: metric hackbench_time: found 2 times, the last one was taken"
is "two metrics of one name" "$(m 'Time: 1\n' hackbench 'hackbench_time=Time: ([0-9])')" "hackbench_time 1 s lower
note: metric hackbench_time: the name is taken by another --metric"

for bad in 't=v [0-9]+' 't=v ([0-9]' '=v ([0-9])' 'a b=([0-9])' 'nothing' '' 't=' \
	"$(printf 'a\tb')=([0-9])" 'a,b=(.)' 'a"b=(.)' "$(printf 'x%.0s' {1..70})=(.)"; do
	printf x | "$values" "$bad" >"$TMP/out" 2>"$TMP/err"
	is "refused: ${bad:0:20}" "$? $(wc -l <"$TMP/err")" "2 1"
done
is "twice the same" "$(m 'x' 't=(.)' 't=(x)')" "'t' is given twice"

# ---- much, and long ----
# A line of any length: its beginning counts.  (4 MB of lines end in one sum.)
{
	printf 'v 1 '
	head -c 3000000 /dev/zero | tr '\0' x
	printf ' w 2\nv 3 w 4\n'
} >"$TMP/long"
is "a line of 3 MB" "$("$values" 't=^v ([0-9])' 'u= w ([0-9])' <"$TMP/long")" "t 3  -
u 4  -
note: metric t: found 2 times, the last one was taken"
head -c 3000000 /dev/zero | tr '\0' x >"$TMP/long"
is "a match behind what is looked at" "$({ cat "$TMP/long"; echo ' w 2'; } | "$values" 'u= w ([0-9])')" \
	"note: metric u: no value: nothing that the command printed matches (of lines longer than 16 KiB only their beginning was read)"
seq 1 20000 | sed 's/.*/T: & (1) P: 0 I:1 C: 1 Min: 1 Act: 1 Avg: 1 Max: 1/' >"$TMP/many"
# ASan reserves more addresses than any limit lets it.
[[ $B == *asan* ]] && limit=unlimited || limit=4000000
check "memory is bounded whatever is printed" \
	bash -c "ulimit -v $limit; '$values' cyclictest <'$TMP/many' | tail -1 | grep -q 'more than 4096 values'"

# ---- the programs themselves, where they are ----
real() { # PROGRAM SPEC WANTED-NAMES COMMAND
	local what="$1, the real one"
	if ! command -v "$1" >/dev/null; then
		skip "$what" "$1 is not installed"
		return
	fi
	timeout 300 bash -c "$4" >"$TMP/real" 2>&1 </dev/null
	"$values" "$2" <"$TMP/real" >"$TMP/got"
	if [ "$(cut -d' ' -f1 "$TMP/got" | paste -sd' ')" = "$3" ]; then
		ok "$what"
	elif ! grep -q "$5" "$TMP/real"; then
		skip "$what" "it does not run here: $(tail -1 "$TMP/real")"
	else
		not_ok "$what" "got: $(cat "$TMP/got")" "of: $(head -20 "$TMP/real")"
	fi
}
real perf perf-bench "messaging_time" "perf bench sched messaging -g 1 -l 10" "Total time"
real perf perf-bench "pipe_time pipe_usecs_per_op pipe_ops_per_sec" \
	"perf bench sched pipe -l 100" "Total time"
real hackbench hackbench hackbench_time "hackbench -g 1 -l 5" "Time"
real cyclictest cyclictest \
	"cyclictest_t0_min cyclictest_t0_avg cyclictest_t0_max cyclictest_min cyclictest_avg cyclictest_max" \
	"cyclictest -q -l 5 -i 10000" "T: 0"
real stress-ng stress-ng "stress-ng_cpu" "stress-ng --cpu 1 -t 1 --metrics-brief" "bogo ops"
real tbench tbench "tbench_throughput tbench_max_latency" \
	'tbench_srv >/dev/null 2>&1 & p=$!; sleep 0.5; tbench -t 1 1; kill $p' "Throughput"
real schbench schbench schbench_wakeup_p50 "schbench -m 1 -t 1 -r 1" "no saying which version"
done_testing
