#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make install and uninstall, and what systemd-analyze says about the units.
. tests/lib-shell/tap.sh

sanitize=0
case ${B:-build} in *-asan) sanitize=1 ;; esac
# As from a shell: not the flags of the make that runs the tests.
mk() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s "$@" SANITIZE="$sanitize" \
		B="$(realpath --relative-to=. "${B:-build}")"
}
listing() { # DIR: mode and path of each file
	(cd "$1" && find . -type f -printf '%m %P\n' | sort -k2)
}
same_listing() { # DESCRIPTION DIR WANT
	is "$1" "$(listing "$2")" "$3"
}

# What is out of date is built with the usual umask: the other tests run it as another user.
mk all || echo "# make all failed"

# Where a packager says.
dest=$TMP/dest
paths="DESTDIR=$dest PREFIX=/opt/tm UNITDIR=/units SYSUSERSDIR=/users"
# shellcheck disable=SC2086
(umask 077 && mk install $paths) >"$TMP/out" 2>"$TMP/err"
is "make install DESTDIR=" "$? $(cat "$TMP/err")" "0 "
files="755 opt/tm/bin/tmigr
755 opt/tm/sbin/tmigrd
644 opt/tm/share/bash-completion/completions/tmigr
644 opt/tm/share/fish/vendor_completions.d/tmigr.fish
644 opt/tm/share/zsh/site-functions/_tmigr
$(for m in man/*.[1578]; do echo "644 opt/tm/share/man/man${m##*.}/${m##*/}"; done)
644 units/tmigrd-metrics.service
644 units/tmigrd-metrics.timer
644 units/tmigrd.service
644 units/tmigrd.socket
644 users/tmigrd.conf"
same_listing "files and modes, whatever the umask" "$dest" "$(sort -k2 <<<"$files")"
is "ExecStart is where PREFIX puts it" "$(grep -h ^ExecStart= "$dest"/units/*)" \
	"ExecStart=/opt/tm/bin/tmigr metrics --output /var/lib/prometheus/node-exporter/tmigr.prom
ExecStart=/opt/tm/sbin/tmigrd --foreground"
is "bash completes tmigrd too" "$(readlink "$dest/opt/tm/share/bash-completion/completions/tmigrd")" tmigr
is "the other shells name bash's file where it is" \
	"$(grep -rhoE "'[^' ]*/completions/tmigr'" "$dest"/opt/tm/share/{zsh,fish} | sort -u)" \
	"'/opt/tm/share/bash-completion/completions/tmigr'"
is "nothing else in the units differs" \
	"$(for u in "$dest"/units/*; do
		sed 's|/opt/tm/|/usr/|' "$u" | diff "systemd/${u##*/}" -
	done 2>&1)" ""
run 0 "$dest/opt/tm/bin/tmigr" --version
touch "$dest/opt/tm/bin/other" "$dest/units/other.service"
# shellcheck disable=SC2086
mk uninstall $paths >"$TMP/out" 2>"$TMP/err"
is "make uninstall" "$? $(cat "$TMP/err")" "0 "
is "takes away what it put there, and nothing else" "$(listing "$dest" | cut -d' ' -f2)" \
	"opt/tm/bin/other
units/other.service"

# BINDIR and SBINDIR of their own; the defaults follow PREFIX.
mk install DESTDIR="$TMP/d2" PREFIX=/usr BINDIR=/b SBINDIR=/s UNITDIR=/u SYSUSERSDIR=/y
is "BINDIR, SBINDIR" "$(grep -ho '^ExecStart=[^ ]*' "$TMP/d2"/u/*)" "ExecStart=/b/tmigr
ExecStart=/s/tmigrd"
check "they are there" test -x "$TMP/d2/b/tmigr" -a -x "$TMP/d2/s/tmigrd"
# Only systemd's is hidden: without any, another set of programs would be built.
cat >"$TMP/no-systemd" <<'END'
#!/bin/sh
case $* in *systemd*) exit 1 ;; esac
exec pkg-config "$@"
END
chmod +x "$TMP/no-systemd"
mk install DESTDIR="$TMP/d3" PREFIX=/usr PKG_CONFIG="$TMP/no-systemd" 2>/dev/null
check "where systemd does not say its folders: under PREFIX" test -f "$TMP/d3/usr/lib/systemd/system/tmigrd.service" \
	-a -f "$TMP/d3/usr/lib/sysusers.d/tmigrd.conf"

# The daemon's own defaults and the units agree.
help=$("$B/tmigrd" --help)
path=$(sed -n 's/^ListenStream=//p' systemd/tmigrd.socket)
check "the socket unit's path is the daemon's and the tool's default" \
	grep -qF "($path)" <<<"$help"
check "tmigrd has the options of the unit" grep -q -- "--foreground" <<<"$help"

if ! command -v systemd-analyze >/dev/null; then
	skip "systemd-analyze verify" "no systemd-analyze"
	skip "systemd-analyze security" "no systemd-analyze"
else
	# In place, so that ExecStart exists. It exits 0 on unknown settings, but tells.
	there=$TMP/there/usr
	mk install PREFIX="$there" UNITDIR="$there/units" SYSUSERSDIR="$there/users"
	verify() {
		SYSTEMD_UNIT_PATH=$there/units: systemd-analyze verify --man=no "$there"/units/* 2>&1
	}
	is "systemd-analyze verify has nothing to say" "$(verify)" ""
	echo "Nonsense=yes" >>"$there/units/tmigrd.socket"
	verify >"$TMP/out"
	out_has "it would say so" "tmigrd.socket"
	# Tenths: 1.5, as the project promises.
	for u in tmigrd tmigrd-metrics; do
		check "exposure of $u.service: at most 1.5" systemd-analyze security \
			--no-pager --offline=true --threshold=15 "systemd/$u.service"
	done
	if systemd-analyze security --no-pager --offline=true --threshold=1 \
		systemd/tmigrd.service >/dev/null; then
		not_ok "the threshold is looked at" "0.1 is passed too"
	else
		ok "the threshold is looked at"
	fi
fi

if ! command -v systemd-sysusers >/dev/null || [ "$(id -u)" != 0 ]; then
	skip "sysusers" "needs systemd-sysusers and root"
else
	mkdir -p "$TMP/root/etc" "$TMP/root/usr/lib/sysusers.d"
	cp systemd/tmigrd.sysusers "$TMP/root/usr/lib/sysusers.d/tmigrd.conf"
	check "systemd-sysusers takes the file" systemd-sysusers --root="$TMP/root"
	gid=$(sed -n 's/^tmigr:[^:]*:\([0-9]*\):.*/\1/p' "$TMP/root/etc/group")
	check "user tmigrd is of group tmigr" \
		grep -q "^tmigrd:[^:]*:[0-9]*:${gid:-none}:" "$TMP/root/etc/passwd"
fi
done_testing
