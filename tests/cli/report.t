#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr report: what is no report, no recording, or half of one.
. tests/lib-shell/tap.sh

run 1 "$TMIGR" report "$TMP/nothing"
one_error_line "nothing there" "tmigr report: .*nothing"
mkdir "$TMP/dir"
run 1 "$TMIGR" report "$TMP/dir"
one_error_line "a folder that is no run directory" "tmigr report: .*dir"
run 1 "$TMIGR" report /dev/null
one_error_line "an empty file" "tmigr report: "
head -c 100000 /dev/urandom >"$TMP/foreign"
run 1 "$TMIGR" report "$TMP/foreign"
one_error_line "a foreign file" "tmigr report: .*foreign"
printf 'TMIGREC\n\377\0\0\0\0\0\0\0' >"$TMP/newer"
run 1 "$TMIGR" report "$TMP/newer"
one_error_line "a later version" "tmigr report: .*version"
"$TMIGR" report - </dev/null >"$TMP/out" 2>"$TMP/err"
is "empty standard input: exit 1" $? 1
one_error_line "one line" "tmigr report: "
for text in '' '[]' '{}' '{"schema":"tmigr-report","version":1}' '{"schema":"x"}' 'nonsense' \
	'{"schema":"tmigr-report","version":99}'; do
	echo '{"schema":"tmigr-run","version":1,"state":"complete"}' >"$TMP/dir/run.json"
	echo "$text" >"$TMP/dir/report.json"
	run 1 "$TMIGR" report "$TMP/dir"
	one_error_line "report.json is '$text'" "tmigr report: .*dir"
done
rm "$TMP/dir/report.json"
mkfifo "$TMP/dir/report.json"
run 1 timeout 300 "$TMIGR" report "$TMP/dir"
one_error_line "report.json is a FIFO that nobody writes to" "tmigr report: .*dir"

why=$(why_not_live)
if [ -n "$why" ]; then
	skip "recordings cut at every kind of place" "$why"
	done_testing
fi
"$TMIGR" run -o "$TMP/run" --record -- "$B/tests/programs/tm-load" -d 2.5 -q >/dev/null
rec=$TMP/run/events.tmr
size=$(stat -c %s "$rec")
for cut in 0 7 15 16 31 40 $((size / 3)) $((size / 2)) $((size - 300)) $((size - 1)); do
	head -c "$cut" "$rec" >"$TMP/cut.tmr"
	run 1 "$TMIGR" report "$TMP/cut.tmr"
	is "cut at $cut of $size: one line on stderr" "$(wc -l <"$TMP/err")" 1
done
out_has "cut near the end: the report of what is there" "Answer:"
out_has "and it says so" "part of the run only"
run 1 "$TMIGR" report --json "$TMP/cut.tmr"
check "its sums are exact" python3 "$TMIGR_TESTS/lib-shell/check-report.py" "$TMP/out"
# One damaged byte in the middle: what comes before it is still there.
cp "$rec" "$TMP/bad.tmr"
printf '\252' | dd of="$TMP/bad.tmr" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
cmp -s "$rec" "$TMP/bad.tmr" && printf '\125' |
	dd of="$TMP/bad.tmr" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
run 1 "$TMIGR" report "$TMP/bad.tmr"
is "a damaged byte: one line on stderr" "$(wc -l <"$TMP/err")" 1
out_has "a damaged byte: the report of what comes before" "part of the run only"
done_testing
