#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What happens without privileges, and when the disk is full.
. tests/lib-shell/tap.sh
[ "$(id -u)" = 0 ] || skip_all "needs root to drop privileges and to mount"

chmod 755 "$TMP"
cp "$TMIGR" "$TMP/tmigr"
nobody() {
	(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all "$@")
}
if nobody "$TMP/tmigr" --version >/dev/null 2>&1; then
	for verb in run tree; do
		run 1 nobody "$TMP/tmigr" "$verb"
		one_error_line "$verb as nobody: one line that names what is missing" \
			"tmigr $verb: .*\(CAP_BPF\|root\)"
	done
	mkdir -m 777 "$TMP/open"
	run 1 nobody "$TMP/tmigr" run -o "$TMP/open/run" true
	check "nothing is left in the run directory's place" test ! -e "$TMP/open/run"
	run 1 nobody "$TMP/tmigr" doctor
	for cap in bpf perfmon; do
		run 1 setpriv --reuid=65534 --clear-groups --inh-caps=-all,+$cap \
			--ambient-caps=-all,+$cap "$TMP/tmigr" run true
		one_error_line "with CAP_${cap^^} only: one line that names what is missing" \
			"tmigr run: .*CAP_BPF and CAP_PERFMON"
	done
else
	skip "without privileges" "setpriv or the build does not work as nobody"
fi

why=$(why_not_live)
mkdir "$TMP/full"
if [ -n "$why" ]; then
	skip "disk full" "$why"
elif ! mount -t tmpfs -o size=128k tmigr-test "$TMP/full" 2>"$TMP/err"; then
	skip "disk full" "mounting a tmpfs: $(head -1 "$TMP/err")"
else
	# shellcheck disable=SC2016
	tap_cleanup='umount "$TMP/full"'
	# The command itself fills the disk, so that nothing depends on the speed.
	run 1 "$TMIGR" run -o "$TMP/full/run" --record -- sh -c \
		"cat /dev/zero >'$TMP/full/filler' 2>/dev/null; exec '$B/tests/programs/tm-load' -d 4 -p 0.5 -q"
	out_has "disk full: the report comes all the same" "Answer:"
	err_has "disk full: it says so" "No space left"
	if grep -q recording "$TMP/err"; then
		is "disk full: the recording is told of once" "$(grep -c recording "$TMP/err")" 1
		rec=$(find "$TMP/full" -name 'events.tmr*')
		run 1 "$TMIGR" report "$rec"
		is "its whole frames are readable: one line says what is missing" \
			"$(wc -l <"$TMP/err")" 1
		out_has "and a report of them" "part of the run only"
	else
		skip "a recording that is cut short" \
			"too busy a machine: all its events fit in the last page"
	fi
	rm -r "$TMP/full/filler" "$TMP/full/run"
	run 1 "$TMIGR" run -o "$TMP/full/out" -- head -c 1000000 /dev/zero
	err_has "a copy of the output that does not fit is told" "No space left"
	check "the output itself is whole" test "$(head -c 1000000 "$TMP/out" | tr -d '\0' | wc -c)" = 0
fi
done_testing
