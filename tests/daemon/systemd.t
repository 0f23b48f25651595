#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The units under a real systemd, booted in a container on this kernel from a
# folder with a system that nothing is written to:
#
#   debootstrap --variant=minbase bookworm DIR
#     --include=systemd-sysv,dbus,libbpf1,libjansson4,libzstd1,libelf1,libncursesw6
#   make check-only T=tests/daemon/systemd.t TMIGR_ROOTFS=DIR
#
# A newer system than the one built on shows what newer libraries need (trixie has
# libelf1t64 for libelf1).
#
# Not part of every run: it takes such a folder, and systemd-nspawn.
. tests/lib-shell/tap.sh

# ---- inside: what the README says, and what must come of it ----
inside() {
	# What else a container cannot start is no matter here: "degraded" will do.
	is "booted" "$(systemctl is-system-running --wait | sed s/degraded/running/)" running
	check "systemd-sysusers" systemd-sysusers
	# A system call that is not allowed kills, so that none goes unnoticed: newer
	# libraries make others.
	for u in tmigrd tmigrd-metrics; do
		mkdir -p "/run/systemd/system/$u.service.d"
		printf '[Service]\nSystemCallErrorNumber=\n' >"/run/systemd/system/$u.service.d/kill.conf"
	done
	systemctl daemon-reload
	check "systemctl enable --now tmigrd.service" systemctl enable --now tmigrd.service
	if ! systemctl is-active -q tmigrd.service; then
		journalctl -b -q -o cat | tail -50 | sed 's/^/# /'
		done_testing
	fi
	local pid
	pid=$(systemctl show -p MainPID --value tmigrd.service)
	is "the socket" "$(stat -c '%U:%G %a' /run/tmigr/tmigrd.sock)" "root:tmigr 660"
	is "its user and group" "$(stat -c '%U:%G' "/proc/$pid")" "tmigrd:tmigr"
	is "no capability" "$(sed -n 's/^Cap\(Prm\|Eff\):[\t]*//p' "/proc/$pid/status" | sort -u)" \
		0000000000000000
	useradd -G tmigr alice && useradd bob
	run 0 setpriv --reuid=alice --regid=alice --init-groups tmigr metrics
	out_has "alice, of the group, may ask" "# EOF"
	run 1 setpriv --reuid=bob --regid=bob --init-groups tmigr metrics
	err_has "bob may not" "lets in only root and the group"

	mkdir -p /var/lib/prometheus/node-exporter
	rm -f /var/lib/prometheus/node-exporter/*
	check "the metrics service" systemctl start tmigrd-metrics.service
	file_has "wrote" /var/lib/prometheus/node-exporter/tmigr.prom "# EOF"

	kill -9 "$pid"
	for _ in $(seq 3000); do
		[ "$(systemctl show -p NRestarts --value tmigrd.service)" = 0 ] || break
		sleep 0.1
	done
	run 0 tmigr metrics
	out_has "killed: started again, the socket is as before" "# EOF"
	check "stop" systemctl stop tmigrd.service
	is "the socket still listens" "$(systemctl is-active tmigrd.service tmigrd.socket | xargs)" \
		"inactive active"
	run 0 tmigr metrics
	out_has "and starts it on demand" "# EOF"
	check "stop both" systemctl stop tmigrd.socket tmigrd.service
	check "nothing is left in /run" test ! -e /run/tmigr/tmigrd.sock
	# Which controllers the container has is no matter of the units.
	journalctl -b -q -p warning -o cat -u tmigrd.service -u tmigrd.socket |
		grep -v 'for control group' >"$TMP/out"
	is "nothing above info in the journal but the kill" "$(sort -u "$TMP/out")" \
		"tmigrd.service: Failed with result 'signal'.
tmigrd.service: Main process exited, code=killed, status=9/KILL"
	is "one kill" "$(journalctl -b -q -o cat -u tmigrd.service | grep -c 'Scheduled restart')" 1
	done_testing
}

if [ "${1:-}" = inside ]; then
	inside
fi

# ---- outside ----
[ -n "${TMIGR_ROOTFS:-}" ] || skip_all "TMIGR_ROOTFS names no folder with a system to boot"
command -v systemd-nspawn >/dev/null || skip_all "no systemd-nspawn"
case ${B:-build} in *-asan) skip_all "the system to boot has no libasan" ;; esac
why=$(why_not_live)
[ -z "$why" ] || skip_all "$why"

for lib in $(ldd "$B/tmigr" "$B/tmigrd" | awk '$2 == "=>" { print $1 }' | sort -u); do
	[ -n "$(find "$TMIGR_ROOTFS"/lib/ "$TMIGR_ROOTFS"/usr/lib/ -name "$lib" -print -quit)" ] ||
		skip_all "$TMIGR_ROOTFS has no $lib"
done

env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s install B="$(realpath --relative-to=. "${B:-build}")" \
	DESTDIR="$TMP/dest" PREFIX=/usr UNITDIR=/usr/lib/systemd/system SYSUSERSDIR=/usr/lib/sysusers.d
cat >"$TMP/probe.service" <<'EOT'
[Unit]
After=basic.target
[Service]
Type=exec
WorkingDirectory=/tmigr
Environment=TMPDIR=/tmp B=/usr/bin LC_ALL=C
ExecStart=/tmigr/tests/daemon/systemd.t inside
StandardOutput=file:/tmigr/out
StandardError=file:/tmigr/log
ExecStopPost=systemctl --no-block poweroff
EOT
mkdir -p "$TMP/tree/tests/daemon"
cp "$TMIGR_TESTS/daemon/systemd.t" "$TMP/tree/tests/daemon"
cp -r "$TMIGR_TESTS/lib-shell" "$TMP/tree/tests"
binds=(--bind="$TMP/tree:/tmigr" --bind-ro="$TMP/probe.service:/etc/systemd/system/probe.service")
while read -r f; do
	binds+=(--bind-ro="$TMP/dest/$f:/$f")
done < <(cd "$TMP/dest" && find . -type f -printf '%P\n')
# bpf(2) and the capabilities are what a container does not have by itself; the rest
# keeps it off the machine's network, journal, and list of machines.
SYSTEMD_NSPAWN_API_VFS_WRITABLE=yes SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=yes timeout 300 systemd-nspawn -D "$TMIGR_ROOTFS" \
	--volatile=overlay --boot --register=no --keep-unit --link-journal=no --private-network \
	--machine="tmigr-test-$$" --capability=all --system-call-filter=bpf "${binds[@]}" \
	systemd.wants=probe.service >"$TMP/boot" 2>&1 </dev/null
if ! grep -q '^1\.\.' "$TMP/tree/out" 2>/dev/null; then
	cat "$TMP/tree/out" 2>/dev/null
	not_ok "the container ran the test" "$(tail -20 "$TMP/boot")" "$(cat "$TMP/tree/log")"
	done_testing
fi
cat "$TMP/tree/out"
! grep -q '^not ok' "$TMP/tree/out"
