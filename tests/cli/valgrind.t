#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No leak and no bad access in run, tree, report: valgrind's word.
. tests/lib-shell/tap.sh
command -v valgrind >/dev/null || skip_all "no valgrind here"
ldd "$TMIGR" 2>/dev/null | grep -q libasan && skip_all "the build has its own sanitizers"

# NULL is how the first key of a map is asked for; valgrind does not know that.
cat >"$TMP/supp" <<'END'
{
	first-key-of-a-map
	Memcheck:Param
	bpf(attr->key)
	fun:syscall
	fun:bpf_map_get_next_key
}
END
# Undefined values are not looked at: libbpf 1.1 leaves padding of what it gives
# to bpf(2) unset, which is its own matter.
clean() { # STATUS ARGUMENT...
	local want=$1
	shift
	valgrind -q --suppressions="$TMP/supp" --undef-value-errors=no --leak-check=full --show-leak-kinds=all \
		--errors-for-leak-kinds=all --error-exitcode=99 --child-silent-after-fork=yes \
		"$TMIGR" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	is "tmigr $* under valgrind: exit $want" $? "$want"
	is "valgrind has nothing to say on tmigr $1" "$(grep '^==' "$TMP/err")" ""
}
clean 1 report "$TMP/nothing"
clean 0 report "$TMIGR_TESTS/../demo/events.tmr"
head -c 20000 "$TMIGR_TESTS/../demo/events.tmr" >"$TMP/cut.tmr"
clean 1 report "$TMP/cut.tmr"
why=$(why_not_live)
if [ -n "$why" ]; then
	skip "run and tree" "$why"
	done_testing
fi
clean 0 run -o "$TMP/run" --record --class a=0 -- echo hello
clean 0 report "$TMP/run"
clean 127 run -o "$TMP/none" no-such-command-here
clean 0 tree --json
done_testing
