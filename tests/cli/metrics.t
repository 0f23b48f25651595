#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr metrics, against services that are none, or not as they should be.
. tests/lib-shell/tap.sh

sock=$TMP/sock
# Says that it is a tmigrd, answers the next request with the bytes of $1 (\0 for NUL), and
# closes.
serve() {
	rm -f "$sock"
	python3 - "$sock" "$1" <<'EOT' &
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1] + '.new')
s.listen()
os.rename(sys.argv[1] + '.new', sys.argv[1])  # there means: it listens
c, _ = s.accept()
c.recv(65536)
c.sendall(b'{"parameters":{"timer_migration_hierarchy":true,"version":"0"}}\0')
c.recv(65536)
c.sendall(sys.argv[2].replace('\\0', '\0').encode())
EOT
	until [ -S "$sock" ]; do sleep 0.05; done
}
text='# TYPE x gauge\nx 1\n# EOF\n'
good='{"parameters":{"text":"'$text'"}}\0'
get() { # STATUS [ARG...]
	local want=$1
	shift
	run "$want" "$TMIGR" metrics --socket "$sock" "$@"
	wait
}

run 0 "$TMIGR" metrics --help
out_has "explained" "Usage: tmigr metrics"
check "lines of the help fit 100 columns" \
	awk 'length > 100 { bad = 1 } END { exit bad }' "$TMP/out"
run 2 "$TMIGR" metrics more
one_error_line "an argument: one line" "tmigr metrics: .*'more'"
run 2 "$TMIGR" metrics --nonsense
one_error_line "an unknown option: one line" "tmigr metrics: .*'--nonsense'"
run 1 "$TMIGR" metrics --socket "$TMP/none"
one_error_line "no daemon: one line" "tmigr metrics: .*none"

serve "$good"
get 0
is "printed as it came" "$(cat "$TMP/out")" "$(printf %b "$text")"
serve "$good"
get 0 -o "$TMP/new.prom"
is "written as it came" "$(cat "$TMP/new.prom")" "$(printf %b "$text")"
check "nothing on stdout" test ! -s "$TMP/out"
echo old >"$TMP/target"
ln -s target "$TMP/link.prom"
serve "$good"
get 0 -o "$TMP/link.prom"
is "a link leads to the new file" "$(cat "$TMP/target")" "$(printf %b "$text")"
check "and stays a link" test -L "$TMP/link.prom"
is "no other file is left" "$(cd "$TMP" && echo *.prom*)" "link.prom new.prom"
serve "$good"
get 1 -o "$TMP/no/new.prom"
one_error_line "no such folder: one line" "tmigr metrics: .*no/new.prom"
if [ -w /dev/full ]; then
	serve "$good"
	"$TMIGR" metrics --socket "$sock" >/dev/full 2>"$TMP/err"
	is "a full disk: exit 1" $? 1
	wait
fi

for reply in '{"parameters":{}}\0' '{"parameters":{"text":1}}\0' '{}\0' 'no JSON\0' '{"param' '' \
	'{"error":"org.tmigrd.Tmigr.EngineFailed","parameters":{"reason":"why"}}\0' '[]\0'; do
	serve "$reply"
	get 1
	one_error_line "reply '$reply': one line" "tmigr metrics: "
done
done_testing
