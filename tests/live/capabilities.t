#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Which capabilities the tool itself needs: as an ordinary user with exactly these,
# no new privileges, and a file system that cannot be written.
. tests/lib-shell/tap.sh
why=$(why_not_live)
[ -z "$why" ] || skip_all "$why"
# LeakSanitizer needs ptrace.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

cat >"$TMP/unit" <<'EOT'
[Service]
User=nobody
NoNewPrivileges=yes
ProtectSystem=strict
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX
EOT
with() { # CAPABILITIES COMMAND...
	local caps=$1
	shift
	"$B/tests/programs/confine" "$TMP/unit" -g "$TMIGR_TESTS/confine/syscall-groups" \
		-p "CapabilityBoundingSet=$caps" -p "AmbientCapabilities=$caps" -- "$@"
}
with "" /bin/true 2>"$TMP/err" || skip_all "restrictions cannot be applied here: $(head -1 "$TMP/err")"

run 0 with "CAP_BPF CAP_PERFMON" "$TMIGR" run -d 1
out_has "CAP_BPF and CAP_PERFMON are enough for run" "Lost: "
out_has "but for the programs' own cost" "time of the BPF programs not measured"
run 0 with "CAP_BPF CAP_PERFMON CAP_SYS_ADMIN" "$TMIGR" run -d 1
out_has "with CAP_SYS_ADMIN that is there too" "BPF programs ran"
with "CAP_BPF CAP_PERFMON" "$TMIGR" tree >"$TMP/out" 2>"$TMP/err"
case $? in
0) out_has "they are enough for tree" "CPU 0" ;;
*) err_has "tree: allowed, but this machine shows no hierarchy" "hierarchy" ;;
esac
for caps in CAP_BPF CAP_PERFMON ""; do
	run 1 with "$caps" "$TMIGR" run -d 1
	one_error_line "not enough: '$caps'" "tmigr run: "
done
done_testing
