#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A build without what the core lives without: the switches, what is found by itself, and
# what such a program does and says.
. tests/lib-shell/tap.sh
B=$(realpath "${B:-build}")
mk() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s "$@"; }
switches="TRACECMD NCURSES GSL PERFETTO ZSTD"
packages="libtracecmd ncursesw gsl libprotobuf-c libzstd"

# A pkg-config that has all but $HIDE.
cat >"$TMP/pkg-config" <<'EOF'
#!/bin/sh
for hidden in $HIDE; do
	for asked; do [ "$asked" = "$hidden" ] && exit 1; done
done
exec pkg-config "$@"
EOF
chmod +x "$TMP/pkg-config"

all=$(mk print-switches)
# shellcheck disable=SC2086
set -- $packages
for s in $switches; do
	want=$(echo "$all" | sed "s/$s=1/$s=0/")
	is "$s=0 leaves it out, and nothing else" "$(mk "$s=0" print-switches)" "$want"
	is "so does $1 that is not there" "$(HIDE=$1 mk PKG_CONFIG="$TMP/pkg-config" print-switches)" "$want"
	HIDE=$1 mk PKG_CONFIG="$TMP/pkg-config" "$s=1" print-switches >"$TMP/out" 2>"$TMP/err"
	is "$s=1 then: no build" "$?" 2
	err_has "but a line that says why" "$s=1, but $TMP/pkg-config finds no $1"
	shift
done

# The build takes a minute of CPU time: once, not for each set of sanitizers.
if ldd "$TMIGR" 2>/dev/null | grep -q libasan; then
	skip "a build without all of them" "done once, with the ordinary build"
	done_testing
fi
off=$TMP/off
export HIDE=$packages
nice make -s -j2 PKG_CONFIG="$TMP/pkg-config" WERROR=1 B="$off" all "$off/tests/programs/rec-make" >"$TMP/out" 2>&1 </dev/null
is "a build without all of them" "$?" 0
[ -x "$off/tmigr" ] || {
	sed 's/^/# /' "$TMP/out"
	done_testing
}
# By the programs themselves: libelf may link some of them.
linked=$(readelf -d "$off/tmigr" "$off/tmigrd" | grep NEEDED)
is "what is linked is seen" "$(grep -c libbpf <<<"$linked")" 2
for lib in tracecmd ncurses gsl protobuf-c zstd; do
	is "lib$lib is not linked" "$(grep -c "lib$lib" <<<"$linked")" 0
done
run 0 "$off/tmigr" --version
for lib in zstd ncurses GSL protobuf-c libtracecmd; do
	out_has "--version says that there is no $lib" "no $lib ("
done
# "no" must not be all that it can say.
if [ "$all" = "TRACECMD=1 NCURSES=1 GSL=1 PERFETTO=1 ZSTD=1" ]; then
	is "of a build with all of them it says none of that" "$("$TMIGR" --version | grep -c 'no ')" 0
fi

# Recordings: libzstd reads what is written without it, checksums included.
run 0 "$off/tests/programs/rec-make" -s 2000 "$TMP/plain.tmr"
run 0 "$off/tmigr" report "$TMP/plain.tmr"
out_has "it reads its own" "Global migrator"
cp "$TMP/out" "$TMP/own"
run 0 "$TMIGR" report "$TMP/plain.tmr"
if "$TMIGR" --version | grep -q 'no zstd'; then
	skip "so does libzstd" "this build is without it, too"
	skip "compressed ones are refused" "this build is without it, too"
else
	check "so does libzstd, and the report is the same" cmp "$TMP/out" "$TMP/own"
	run 1 "$off/tmigr" report demo/events.tmr
	one_error_line "a compressed one: one line" \
		"tmigr report: demo/events.tmr: .*compressed with zstd, which this tmigr was built without: .*"
fi
size=$(stat -c %s "$TMP/plain.tmr")
# One bit of a record, which only the checksum tells.
python3 - "$TMP/plain.tmr" "$TMP/damaged.tmr" $((size / 2)) <<'EOF'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[3])] ^= 1
open(sys.argv[2], "wb").write(data)
EOF
run 1 "$off/tmigr" report "$TMP/damaged.tmr"
err_has "a bit that fell over is told" "damaged frame (wrong checksum)"
run 0 "$off/tmigr" import -q -o "$TMP/run" "$TMP/plain.tmr"
run 0 "$off/tmigr" report "$TMP/run"

# Each verb that misses something says so in a line that names it, and leaves nothing.
without() { # WHAT COMMAND...
	local what=$1
	shift
	run 1 "$off/tmigr" "$@"
	one_error_line "without $what: one line" "tmigr $1: .*no $what\|tmigr $1: .*built without $what"
}
without ncurses top --no-daemon
without protobuf-c export --format perfetto -o "$TMP/x.pftrace" "$TMP/plain.tmr"
check "and no file" test ! -e "$TMP/x.pftrace"
without libtracecmd report tests/fixtures/tracedat/version-7-zstd.dat
without libtracecmd import -o "$TMP/dat" tests/fixtures/tracedat/version-7-zstd.dat
check "and no folder" test ! -e "$TMP/dat"
run 0 "$off/tmigr" compare tests/fixtures/runs/compare/unaware tests/fixtures/runs/compare/split
out_has "compare says that it has no intervals, and why" "built without GSL: no intervals"

B=$off bash tests/cli/usage.t >"$TMP/usage" 2>&1
is "usage.t of such a build" "$?" 0
grep '^not ok' "$TMP/usage" | sed 's/^/# /'
done_testing
