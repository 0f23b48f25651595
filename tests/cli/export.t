#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr export: usage, targets that cannot be written, runs that cannot be read.
# What is exported: export-*.t, perfetto*.t.
. tests/lib-shell/tap.sh
needs_zstd

demo=demo/events.tmr
formats="csv json openmetrics"
"$TMIGR" --version | grep -q 'no protobuf-c' || formats="$formats perfetto"
export_() { # STATUS FORMAT [ARG...]
	local want=$1 format=$2
	shift 2
	run "$want" "$TMIGR" export --format "$format" "$@"
}

run 0 "$TMIGR" export --help
out_has "explained" "Usage: tmigr export"
check "lines of the help fit 100 columns" \
	awk 'length > 100 { bad = 1 } END { exit bad }' "$TMP/out"
run 2 "$TMIGR" export "$demo"
one_error_line "no format" "tmigr export: which format"
export_ 2 xml "$demo"
one_error_line "an unknown format" "tmigr export: .*'xml'.*perfetto"
export_ 2 csv
one_error_line "no run" "tmigr export: which run"
export_ 2 csv -t nonsense "$demo"
one_error_line "an unknown table" "tmigr export: .*'nonsense'.*residency"
export_ 2 json -t residency "$demo"
one_error_line "a table of json" "tmigr export: .*--table"
export_ 2 csv -
one_error_line "standard input" "tmigr export: .*standard input"
run 2 "$TMIGR" export --nonsense
one_error_line "an unknown option" "tmigr export: .*'--nonsense'"

# Runs that cannot be read.
mkdir "$TMP/dir"
head -c 50000 "$demo" >"$TMP/cut.tmr"
head -c 100 /dev/urandom >"$TMP/foreign.tmr"
for format in $formats; do
	for what in nothing dir foreign.tmr; do
		export_ 1 "$format" -o "$TMP/out-$format" "$TMP/$what"
		one_error_line "$format: $what" "tmigr export: .*$what"
		check "$format: no file of it" test ! -e "$TMP/out-$format"
	done
	export_ 1 "$format" "$TMP/cut.tmr"
	is "$format, cut: one line" "$(wc -l <"$TMP/err")" 1
	err_has "$format, cut: said so" "a part of the run only"
	check "$format, cut: and what is there is written" test -s "$TMP/out"
done
export_ 1 json "$demo" "$TMP/foreign.tmr"
is "one of two: one line" "$(wc -l <"$TMP/err")" 1
err_has "one of two: which" "foreign.tmr"
check "one of two: still an array" python3 -c \
	'import json, sys; assert len(json.load(open(sys.argv[1]))) == 1' "$TMP/out"

# Targets that cannot be written.
for format in $formats; do
	mkdir "$TMP/t"
	export_ 1 "$format" -o "$TMP/no/x" "$demo"
	one_error_line "$format: no such folder" "tmigr export: .*no/x"
	if [ -w /dev/full ]; then
		"$TMIGR" export -f "$format" "$demo" >/dev/full 2>"$TMP/err"
		is "$format, full: exit 1" $? 1
		is "$format, full: one line" "$(wc -l <"$TMP/err")" 1
		err_has "$format, full: why" "standard output: cannot write: No space left"
		opts=
		[ "$format" = csv ] && opts="-t remote"
		# shellcheck disable=SC2086
		export_ 1 "$format" $opts -o /dev/full "$demo"
		one_error_line "$format: -o to a full device" "tmigr export: /dev/full: cannot write: No space left"
		check "$format: which is still one" test -c /dev/full
	fi
	# The reader goes before the first byte: more than one pipe holds comes.
	mkfifo "$TMP/t/fifo"
	(exec 3<>"$TMP/t/fifo" && exec 4>"$TMP/t/fifo" 3<&- && exec "$TMIGR" export -f "$format" \
		$([ "$format" != csv ] || echo "-t migrator-segments") "$demo" >&4 2>"$TMP/err")
	is "$format, broken pipe: exit 1" $? 1
	is "$format, broken pipe: one line" "$(wc -l <"$TMP/err")" 1
	err_has "$format, broken pipe: why" "Broken pipe"
	rm "$TMP/t/fifo"
	is "$format: nothing is left" "$(ls -A "$TMP/t")" ""
	rmdir "$TMP/t"
done

# A link stays one: what is behind it is replaced, with the rights that it had.
for format in json openmetrics; do
	mkdir "$TMP/t"
	echo old >"$TMP/t/old"
	chmod 640 "$TMP/t/old"
	ln -s old "$TMP/t/link"
	export_ 0 "$format" -o "$TMP/t/link" "$demo"
	check "$format: a link stays a link" test -L "$TMP/t/link"
	"$TMIGR" export -f "$format" "$demo" >"$TMP/plain"
	check "$format: and leads to the new file" cmp "$TMP/plain" "$TMP/t/old"
	is "$format: with the old one's rights" "$(stat -c %a "$TMP/t/old")" 640
	# Standard output by name, which is a link too, and leads to a file here.
	"$TMIGR" export -f "$format" -o /dev/stdout "$demo" >"$TMP/t/named"
	check "$format: -o /dev/stdout" cmp "$TMP/plain" "$TMP/t/named"
	check "$format: which is still a link" test -L /dev/stdout
	"$TMIGR" export -f "$format" -o - "$demo" >"$TMP/t/dash"
	check "$format: -o -" cmp "$TMP/plain" "$TMP/t/dash"
	is "$format: nothing else is left" "$(cd "$TMP/t" && echo *)" "dash link named old"
	rm -r "$TMP/t"
done
echo old >"$TMP/file"
export_ 1 csv -o "$TMP/file" "$demo"
one_error_line "all tables into a file" "tmigr export: .*file: is no directory.*--table"
is "which stays" "$(cat "$TMP/file")" old

# A file system that is too small: what was there stays, nothing else is left.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir "$TMP/small"
	for format in $formats; do
		# shellcheck disable=SC2016
		unshare -m bash -c '
			mount -t tmpfs -o size=8k none "$1/small" && mkdir "$1/small/x" || exit 99
			if [ "$3" = csv ]; then
				echo old >"$1/small/x/residency.csv"
			else
				rmdir "$1/small/x" && echo old >"$1/small/x"
			fi
			"$2" export -f "$3" -o "$1/small/x" demo/events.tmr >"$1/out" 2>"$1/err"
			echo $? >"$1/status"
			(cd "$1/small" && find . -type f -exec cat {} + && find . -type f | sort) >"$1/left"
			' - "$TMP" "$TMIGR" "$format"
		if [ $? = 99 ]; then
			skip "$format: a full file system" "cannot mount"
			continue
		fi
		is "$format, full file system: exit 1" "$(cat "$TMP/status")" 1
		one_error_line "$format, full file system" "tmigr export: .*No space left"
		old=./x
		[ "$format" = csv ] && old=./x/residency.csv
		is "$format: the old file stays, nothing else" "$(cat "$TMP/left")" "old
$old"
	done
else
	skip "a full file system" "needs root"
fi

# An interrupt: the whole file or none, and nothing beside it.
if [[ $formats == *perfetto* ]]; then
	"$B/tests/programs/make-recording" -n 400000 "$TMP/long.tmr"
	mkdir "$TMP/t"
	"$TMIGR" export -f perfetto -o "$TMP/t/x" "$TMP/long.tmr" &
	pid=$!
	until [ -n "$(ls -A "$TMP/t")" ]; do sleep 0.01; done
	kill -INT $pid
	# A background job of a script ignores SIGINT, and so does what it runs.
	kill -TERM $pid
	wait $pid
	left=$(ls -A "$TMP/t")
	is "an interrupt leaves nothing half-written" "${left#x}" ""
fi
done_testing
