#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr run: interrupts, once and twice, from kill(1) and from a terminal.
. tests/lib-shell/tap.sh
why=$(why_not_live)
[ -z "$why" ] || skip_all "$why"

# Waits until the command has said "ready" in $TMP/ready (a fifo).
mkfifo "$TMP/ready"
start() { # TMIGR-ARGUMENT...
	# A background job of a script has SIGINT ignored, for good.
	env --default-signal=INT "$TMIGR" run "$@" >"$TMP/out" 2>"$TMP/err" &
	pid=$!
	read -r _ <"$TMP/ready"
}
finish() { # STATUS DESCRIPTION
	wait "$pid"
	is "$2: exit $1" $? "$1"
}

# ---- once ----
start -o "$TMP/once" --record -- sh -c "trap 'echo summary; exit 5' INT; echo >'$TMP/ready'; while :; do sleep 0.05; done"
kill -INT "$pid"
finish 130 "SIGINT, a command that handles it"
is "it got one SIGINT, and its last words pass" "$(head -1 "$TMP/out")" summary
out_has "the report comes" "Answer:"
run 0 "$TMIGR" report "$TMP/once"
out_has "the report says it was interrupted" "interrupted"
run 0 "$TMIGR" report "$TMP/once/events.tmr"

start -- sh -c "echo >'$TMP/ready'; exec sleep 60"
kill -TERM "$pid"
finish 143 "SIGTERM"
out_has "the report comes" "Answer:"

"$TMIGR" run -o "$TMP/plain" >"$TMP/out" 2>"$TMP/err" &
pid=$!
until [ -s "$TMP/plain/run.json" ]; do sleep 0.02; done
kill -INT "$pid"
finish 0 "SIGINT, no command: that is how the window ends"
out_has "the report comes" "Answer:"
check "nothing on stderr" test ! -s "$TMP/err"
run 0 "$TMIGR" report "$TMP/plain"

# A parent that ignores SIGCHLD hands that on; the limit is there for a hang only.
run 3 timeout 300 env --ignore-signal=CHLD "$TMIGR" run -- sh -c 'exit 3'
run 0 timeout 300 env --ignore-signal=CHLD "$TMIGR" run -- grep SigIgn /proc/self/status
bits=$(sed -n 's/^SigIgn:[[:space:]]*//p' "$TMP/out")
is "the command has SIGCHLD ignored, as the tool had" $(((0x$bits >> 16) & 1)) 1

# ---- twice ----
start -o "$TMP/twice" --record -- sh -c "trap '' INT; echo >'$TMP/ready'; exec sleep 60"
kill -INT "$pid"
until grep -q 'waiting for the command' "$TMP/err"; do sleep 0.05; done
kill -INT "$pid"
finish 130 "SIGINT twice, a command that ignores it"
err_has "it says that the run is marked interrupted" "marked interrupted"
check "no report" test ! -s "$TMP/out"
check "run.json says interrupted" grep -q '"interrupted"' "$TMP/twice/run.json"
is "nothing half-written has a final name" \
	"$(cd "$TMP/twice" && ls report.json residency.csv migrator.csv remote.csv 2>/dev/null)" ""
run 1 "$TMIGR" report "$TMP/twice"
one_error_line "report says so in one line" "tmigr report: .*interrupted"
rec=$(find "$TMP/twice" -name 'events.tmr*')
run 1 "$TMIGR" report "$rec"
out_has "the recording's whole frames are readable" "Note:"

# ---- a terminal: the command has the interrupt already, and gets no second ----
cat >"$TMP/terminal.py" <<'END'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
sent = False
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    text += data
    if not sent and b"ready" in text:
        sent = True
        os.write(fd, b"\x03")
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), text.count(b"got INT"), text.count(b"Answer:"))
END
cat >"$TMP/count" <<'END'
trap 'echo got INT; n=$((n + 1)); end=20' INT
n=0 end=100000
echo ready
while [ "$end" -gt 0 ]; do sleep 0.02; end=$((end - 1)); done
END
is "Ctrl-C on a terminal: exit, SIGINTs, reports" \
	"$(timeout 300 python3 "$TMP/terminal.py" "$TMIGR" run -- sh "$TMP/count")" "130 1 1"
done_testing
