#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Help, version, and wrong usage: what needs neither a kernel nor privileges.
. tests/lib-shell/tap.sh

run 0 "$TMIGR" --version
out_has "the version names the tool" "tmigr "
for lib in libbpf jansson zstd ncurses; do
	out_has "the version names $lib" "$lib"
done
check "nothing on stderr" test ! -s "$TMP/err"

run 0 "$TMIGR" --help
for verb in run report compare hotplug export import tree top status mark dump doctor help; do
	out_has "help lists $verb" "  $verb "
done
run 0 "$TMIGR" help
for verb in run report compare hotplug export import tree top status mark dump doctor; do
	run 0 "$TMIGR" "$verb" --help
	out_has "$verb --help explains it" "Usage: tmigr $verb"
	out_has "$verb --help names the exit status" "Exit status"
	cp "$TMP/out" "$TMP/help"
	run 0 "$TMIGR" help "$verb"
	check "help $verb is the same" cmp "$TMP/out" "$TMP/help"
	run 0 "$TMIGR" "$verb" -h
	check "$verb -h is the same" cmp "$TMP/out" "$TMP/help"
	check "lines of $verb --help fit 100 columns" \
		awk 'length > 100 { bad = 1 } END { exit bad }' "$TMP/help"
	run 2 "$TMIGR" "$verb" --nonsense
	one_error_line "$verb --nonsense: one line" "tmigr $verb: .*'--nonsense'.*see 'tmigr $verb --help'"
	run 2 "$TMIGR" "$verb" -Q
	one_error_line "$verb -Q: one line" "tmigr $verb: .*'-Q'"
done

run 0 "$TMIGR" rep --help
out_has "a verb may be shortened" "Usage: tmigr report"
run 0 "$TMIGR" s --help
out_has "to one letter, too" "Usage: tmigr status"

bad() { # WANTED-TEXT ARG...
	local want=$1
	shift
	run 2 "$TMIGR" "$@"
	one_error_line "one line, with what to do: $*" "tmigr.*$want.*--help"
}
bad "no verb"
bad "unknown verb 'frob'" frob
bad "unknown verb ''" ""
bad "ambiguous: run, report" r
bad "unknown option '--frob'" --frob
bad "unknown verb 'frob'" help frob
bad "one verb" help run tree

bad "'abc' is not a time above 0 in seconds" run -d abc
bad "'0' is not a time above 0 in seconds" run -d 0
bad "'-1' is not a time above 0 in seconds" run -d -1
bad "'1e3' is not a time above 0 in seconds" run -d 1e3
bad "no exponent, at most 100 years" run -d 1e9
bad "'inf' is not a time above 0 in seconds" run -d inf
bad "'0x10' is not a time above 0 in seconds" run -d 0x10
bad "'99999999999999999999' is not a time above 0 in seconds" run -d 99999999999999999999
bad "'' is not a time above 0 in seconds" run -d ''
bad "'-d' needs a value" run -d
bad "'--class' needs a value" run --class
bad "'--json=x' takes no value\|'--json' takes no value" run --json=x
bad "folder is empty" run -o ''
bad "name is empty" run -- ''
bad "needs -o DIR" run --record true
bad "needs -o DIR" run --force true
bad "'x' is no CPU number" run --housekeeping x
bad "'-1' is no CPU number" run --housekeeping -1
bad "'0' is no size" run --ring-bytes 0
bad "'0' is not a time above 0 in seconds" tree --watch 0
bad "either --json or --dot" tree --json --dot
bad "one moment" tree --dot --watch 1
bad "'b' too" tree a b
bad "about the machine of a FILE" tree --cpus x
bad "no option for a live machine" tree --boot x
bad "one moment" tree --boot --watch 1
bad "none of bpf, ftrace, auto" tree --source x
bad "none of bpf, ftrace, auto" top --source x
bad "none of bpf, ftrace, auto" run --source x
bad "DIR, events.tmr, or a trace" report
bad "'b'" report a b
for verb in run tree; do
	bad "either --socket or --no-daemon" "$verb" --socket /x --no-daemon
done
for verb in run tree status mark dump; do
	bad "--socket: the path is empty" "$verb" --socket ''
	bad "'--socket' needs a value" "$verb" --socket
done
for o in "--kick" "--latency" "--no-timeline" "--no-stats" "--housekeeping 0" "--ring-bytes 4096"; do
	# shellcheck disable=SC2086
	bad "${o%% *} is for the tool's own engine" run --socket /x $o
done
bad "not with --record" run --no-timeline --record -o x
bad "not with --source ftrace" run --no-timeline --source ftrace
bad "'extra'" status extra
bad "which TEXT" mark
bad "which TEXT" mark ''
bad "'b'" mark a b
bad "1024 bytes" mark "$(printf %1025s x)"
bad "not UTF-8" mark $'\xff'
bad "-o FILE" dump
bad "-o FILE" dump -o ''
bad "'extra'" dump -o x extra
bad "'0' is no whole number" dump -o x --last 0
bad "'1.5' is no whole number" dump -o x --last 1.5

for verb in run tree; do
	bad "no-equals" "$verb" --class no-equals
	bad "x=9-1\|9-1" "$verb" --class x=9-1
	bad "x=0,,1\|0,,1" "$verb" --class x=0,,1
	bad "60000" "$verb" --class x=60000
done
bad "no CPU 60000" run --housekeeping 60000 true

# A name from outside breaks no line and does not talk to the terminal.
"$TMIGR" $'a\nb\e\rm' >"$TMP/out" 2>"$TMP/err"
one_error_line "a verb of control characters: one line without them" "tmigr: unknown verb 'a?b??m'"

# An output that cannot be written is no success.
if [ -w /dev/full ]; then
	"$TMIGR" --help >/dev/full 2>"$TMP/err"
	is "help to a full disk: exit 1" $? 1
	err_has "and says so" "cannot write to standard output"
fi
"$TMIGR" --version >&- 2>"$TMP/err"
is "version to a closed stdout: exit 1" $? 1
done_testing
