#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr top: as text, and on a terminal (tmux). Samples are made up, but for the
# last tests.
. tests/lib-shell/tap.sh

export LC_ALL=C
TMIGR=$(realpath "$TMIGR")
for kind in 4+4 split 256 sparse flat; do
	tests/lib-shell/top-sample.py "$kind" 3 >"$TMP/$kind" || exit 1
done
has_screen=1
"$TMIGR" --version | grep -q "no ncurses" && has_screen=

bad() { # WANTED-TEXT ARG...
	local want=$1
	shift
	run 2 "$TMIGR" top "$@"
	one_error_line "one line, with what to do: top $*" "tmigr top: .*$want.*--help"
}
bad "'0.5' is no number" -d 0.5
bad "'x' is no number" --delay x
bad "'-d' needs a value" -d
bad "none of cpu, class" --sort size
bad "none of none, class" --group root
bad "'extra'" extra
bad "either --socket or --no-daemon" --socket x --no-daemon
bad "own classes" --socket x --class a=0
bad "solo=99999999" --no-daemon --once --class solo=99999999

# ---- as text ----

export COLUMNS=80
run 0 "$TMIGR" top --once --sample "$TMP/4+4"
check "nothing on stderr" test ! -s "$TMP/err"
out_has "the answer" "So far: YES, a big CPU held the global migrator for 150.0 ms, 15.0 %"
out_has "the big share" "Big share: 15.0 % so far"
out_has "losses" "Lost: 0"
out_has "the observer's cost" "Observer: BPF 0.01 % + tool 0.21 % of a CPU, 3.0 wake-ups/s on CPU 1"
out_has "number of CPUs, window" "8 CPUs (4 LITTLE, 4 big)  window 1.000 s"
out_has "who holds it now" "GRP1:0: CPU 4 (big) now; so far LITTLE 60.0 %, big 15.0 %, nobody 25.0 %"
out_has "a CPU's line" "  4 big    cpu-sleep  48.0 #############0000000011111  15.0    2.0      - GLOBAL"
is "a line a CPU" "$(grep -cE '^ *[0-7] (LITTLE|big) ' "$TMP/out")" 8
is "ASCII in the C locale" "$(LC_ALL=C grep -c '[^ -~]' "$TMP/out")" 0
check "80 columns" awk 'length > 80 { bad = 1 } END { exit bad }' "$TMP/out"
LC_ALL=C.UTF-8 run 0 "$TMIGR" top --once --sample "$TMP/4+4"
out_has "blocks in a UTF-8 locale" "█████████████▓▓▓▓▓▓▓▓▒▒▒▒▒"
run 0 "$TMIGR" top --once --sample "$TMP/sparse" --group hierarchy
out_has "losses are told" "Lost: 12 records, 6 updates"
out_has "a CPU without a place" "unplaced, 1 CPU"
run 0 "$TMIGR" top --once --sample "$TMP/256" --sort holding
is "the longest holder first" "$(grep -m3 -oE '^ *[0-9]+ (LITTLE|mid|big)' "$TMP/out" | tr -s ' \n' ' ')" \
	" 3 LITTLE 200 big 100 mid "
is "all 256" "$(grep -cE '^ *[0-9]+ (LITTLE|mid|big) ' "$TMP/out")" 256
run 0 "$TMIGR" top --once --sample "$TMP/flat"
out_has "a kernel without a hierarchy: the answer" "no answer: this kernel has no timer-migration hierarchy"
is "and what its CPUs are in" "$(awk '$2 ~ /^(LITTLE|big)$/ { printf "%s ", $3 }' "$TMP/out")" \
	"WFI cpu-sleep running WFI "

run 1 "$TMIGR" top --once --sample "$TMP/none"
one_error_line "no such file" "tmigr top: .*No such file"
echo '{"report": ' >"$TMP/broken"
run 1 "$TMIGR" top --once --sample "$TMP/broken"
one_error_line "not JSON" "tmigr top: "
echo '{"schema": "else"}' >"$TMP/other"
run 1 "$TMIGR" top --once --sample "$TMP/other"
one_error_line "not a report" "tmigr top: not a report"
run 1 "$TMIGR" top --sample "$TMP/4+4"
one_error_line "no terminal" "tmigr top: .*--once"
run 1 "$TMIGR" top --once --socket "$TMP/nobody"
one_error_line "no daemon there" "tmigr top: .*nobody"
if [ -w /dev/full ]; then
	"$TMIGR" top --once --sample "$TMP/4+4" >/dev/full 2>"$TMP/err"
	is "a full disk is an error" $? 1
	err_has "that is told" "cannot write"
fi

# ---- on a terminal ----

# A server a shell: one that is going away takes no new session.
T() {
	tmux -S "$TMP/tmux.$n_shell" -u -f /dev/null "$@"
}

# Waits for a text, however long it takes (within reason; less once it failed).
shows() { # DESCRIPTION TEXT
	local i
	for ((i = 0; i < tries; i++)); do
		if T capture-pane -p | grep -qF -e "$2"; then
			ok "$1"
			return
		fi
		sleep 0.05
	done
	tries=40
	not_ok "$1" "'$2' is not on the screen:" "$(T capture-pane -p)"
}
tries=600

keys() {
	T send-keys "$@"
}

# A shell in a terminal of that size; what it runs next is typed.
n_shell=0
shell() { # WIDTH HEIGHT
	((n_shell)) && T kill-server 2>/dev/null
	((++n_shell))
	env -u COLUMNS -u NO_COLOR -u TMUX LC_ALL=C.UTF-8 TERM=screen-256color PS1='ready> ' \
		tmux -S "$TMP/tmux.$n_shell" -u -f /dev/null new-session -d -x "$1" -y "$2" \
		"bash --norc --noprofile -i"
	keys "stty -g >$TMP/stty; clear; echo before-$n_shell" Enter
	shows "a terminal of $1x$2" "before-$n_shell"
}

# The program that the shell runs now.
program() {
	sed -n "s/^\([0-9]*\) (.*) . $(T display-message -p '#{pane_pid}') .*/\1/p" /proc/[0-9]*/stat 2>/dev/null
}

top() { # ARGUMENT...
	keys "$1 $TMIGR top ${*:2}" Enter
}

# After the end: status, and the terminal as it was before.
restored() { # STATUS DESCRIPTION
	keys "echo status=\$? ; stty -g | cmp - $TMP/stty && echo same-modes" Enter
	shows "$2: status $1" "status=$1"
	shows "$2: modes of the terminal" "same-modes"
	is "$2: screen and cursor" "$(T display-message -p '#{alternate_on} #{cursor_flag} #{keypad_flag}')" "0 1 0"
	shows "$2: what was there before" "before-$n_shell"
}

end_tests() {
	((n_shell)) && T kill-server 2>/dev/null
	[ -z "${daemon:-}" ] || kill "$daemon" 2>/dev/null
}
tap_cleanup=end_tests

screen_tests() {
	local sig pid

	shell 80 24
	top "" --sample "$TMP/256"
	shows "the sums of three windows" "3.000 s so far, window 1.000 s"
	shows "the list's part" "1-14 of 256"
	shows "heads" "CPU CLASS  NOW"
	shows "keys" "q quit  p pause  s sort:cpu  g group:none  h help"
	is "no more than the screen" "$(T capture-pane -p | wc -l)" 24
	keys NPage
	shows "page down" "14-27 of 256"
	keys Down
	shows "down" "15-28 of 256"
	keys PPage Up
	shows "page up, up" "1-14 of 256"
	keys End
	shows "end" "243-256 of 256"
	shows "the last CPU" "255 big"
	keys Home s
	shows "sort" "sort:class"
	shows "the highest class first" "192 big"
	keys S
	shows "sort back" "sort:cpu"
	keys g
	shows "group" "LITTLE, 96 CPUs"
	keys g
	shows "hierarchy" "GRP2:0, 256 CPUs"
	shows "with headings" "of 293"
	keys h
	shows "help" "remote expiries"
	keys q
	shows "help goes" "GRP2:0, 256 CPUs"
	keys p
	shows "pause" "PAUSED"
	keys p
	shows "go on" "p pause"

	T resize-window -x 120 -y 40
	shows "wider and higher" "1-31 of 293"
	T resize-window -x 40 -y 8
	shows "as small as it goes" "CPU"
	shows "with its keys" "q quit"
	T resize-window -x 30 -y 5
	shows "too small" "too small: 40x8 needed"
	T resize-window -x 80 -y 24
	shows "and back" "1-14 of 293"
	keys q
	restored 0 "q"

	for sig in TERM HUP INT QUIT; do
		shell 80 24
		top "" --sample "$TMP/4+4"
		shows "it runs (SIG$sig)" "CPU CLASS"
		kill -"$sig" "$(program)"
		restored 0 "SIG$sig"
	done
	shell 80 24
	top "" --sample "$TMP/4+4"
	shows "it runs (crash)" "CPU CLASS"
	kill -SEGV "$(program)"
	shows "the shell tells the crash" "before-$n_shell"
	restored 139 "a crash"
	shell 80 24
	top "" --sample "$TMP/4+4"
	shows "it runs (Ctrl-C)" "CPU CLASS"
	keys C-c
	restored 0 "Ctrl-C"

	shell 80 24
	top "" --sample "$TMP/4+4"
	shows "it runs (Ctrl-Z)" "CPU CLASS"
	keys C-z
	shows "stopped" "Stopped"
	restored 148 "Ctrl-Z"
	T resize-window -x 100 -y 30
	keys "clear; fg" Enter
	shows "goes on" "CPU CLASS"
	is "in the new size" "$(T capture-pane -p | sed -n 30p | cut -c1-6)" "q quit"
	keys q
	T resize-window -x 80 -y 24
	keys "echo after-stop" Enter
	shows "ends" "after-stop"

	shell 80 24
	cat "$TMP/4+4" "$TMP/other" >"$TMP/bad-later"
	top "" --sample "$TMP/bad-later"
	shows "an error while it runs is told" "tmigr top: not a report"
	restored 1 "an error"

	shell 80 24
	top "" --sample "$TMP/4+4"
	shows "colours" "CPU CLASS"
	check "there are some" grep -q $'\e\[3[0-7]m' <(T capture-pane -p -e)
	keys q
	restored 0 "with colours"
	shell 80 24
	top "NO_COLOR=1" --sample "$TMP/4+4"
	shows "NO_COLOR" "CPU CLASS"
	is "none there" "$(T capture-pane -p -e | grep -c $'\e\[[34][0-7]m')" 0
	check "but bold" grep -q $'\e\[1m' <(T capture-pane -p -e)
	keys q
	restored 0 "without colours"

	shell 80 24
	top "TERM=dumb" --sample "$TMP/4+4"
	shows "a terminal that cannot" "type 'dumb' (TERM)"
	restored 1 "TERM=dumb"
	top "TERM=no-such-thing" --sample "$TMP/4+4"
	shows "a terminal nobody knows" "type 'no-such-thing' (TERM)"
	top "LC_ALL=C" --sample "$TMP/4+4"
	shows "ASCII in the C locale" "# running  0 WFI"
	keys q

	# No leak check: the hang-up would kill the process that LeakSanitizer looks
	# through the memory with, and it waits for that for ever.
	shell 80 24
	top "ASAN_OPTIONS=detect_leaks=0" --sample "$TMP/4+4"
	shows "it runs (terminal goes)" "CPU CLASS"
	pid=$(program)
	kill -9 "$(T display-message -p '#{pid}')"
	for _ in {1..600}; do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	check "it ends with its terminal" test ! -e "/proc/$pid"
}

if [ -z "$has_screen" ]; then
	skip "on a terminal" "built without ncurses"
elif ! command -v tmux >/dev/null; then
	skip "on a terminal" "no tmux"
else
	screen_tests
fi

# ---- this kernel ----

why=$(why_not_live)
if [ -n "$why" ]; then
	skip "on this kernel" "$why"
	done_testing
fi
cpus=$(getconf _NPROCESSORS_ONLN)
run 0 "$TMIGR" top --once --no-daemon
out_has "of its own engine" "own engine"
is "a line a CPU" "$(grep -cE '^ *[0-9]+ ' "$TMP/out")" "$cpus"
run 0 "$TMIGR" top --once --no-daemon --class solo=0
out_has "--class" "1 solo"

TMIGRD=$(realpath "${B:-build}/tmigrd")
if [ ! -x "$TMIGRD" ]; then
	skip "through a daemon" "none was built"
	done_testing
fi
"$TMIGRD" --foreground --socket "$TMP/sock" 2>"$TMP/daemon" &
daemon=$!
for _ in {1..600}; do
	[ ! -S "$TMP/sock" ] || break
	sleep 0.05
done
run 0 "$TMIGR" top --once --socket "$TMP/sock"
out_has "through a daemon" "tmigrd "
is "a line a CPU" "$(grep -cE '^ *[0-9]+ ' "$TMP/out")" "$cpus"
if [ -n "$has_screen" ] && command -v tmux >/dev/null; then
	shell 80 24
	top "" --socket "$TMP/sock"
	shows "windows come" "so far, window"
	kill -9 "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
	shows "its end is told" "the daemon is gone"
	restored 1 "a daemon's end"
fi
done_testing
