#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make dist: the same bytes twice, and what is in it builds as what it says it is; the
# versions of libraries that are too old; builds without what is optional.
. tests/lib-shell/tap.sh
B=$(realpath "${B:-build}")
export TMIGR=$B/tmigr
mk() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s "$@"; }

if ! git --git-dir=.git rev-parse HEAD >/dev/null 2>&1; then
	skip "make dist" "no git repository"
else
	run 0 mk dist DIST="$TMP/a"
	sleep 1.1 # another second on the clock
	(umask 077 && TZ=Asia/Tokyo mk dist DIST="$TMP/b" >/dev/null 2>&1)
	tarball=$(basename "$(ls "$TMP"/a/*.tar.gz)")
	is "twice, at another time, umask and zone: the same bytes" \
		"$(sha256sum <"$TMP/b/$tarball")" "$(sha256sum <"$TMP/a/$tarball")"
	mkdir "$TMP/tree"
	tar -C "$TMP/tree" --strip-components=1 -xzf "$TMP/a/$tarball"
	is "it holds the files of the commit, and .version" \
		"$(cd "$TMP/tree" && find . -type f -o -type l | sed 's|^\./||' | LC_ALL=C sort)" \
		"$( (git --git-dir=.git ls-tree -r --name-only HEAD && echo .version) | LC_ALL=C sort)"
	is "its version without git is the commit's" "$(mk -C "$TMP/tree" print-version)" \
		"$(git --git-dir=.git describe --tags --always HEAD)"

	# scripts/release, with stand-ins for the static programs.
	mkdir "$TMP/static"
	cp /bin/true "$TMP/static/tmigr"
	cp /bin/true "$TMP/static/tmigrd"
	for d in r1 r2; do
		scripts/release "$TMP/$d" amd64="$TMP/static" arm64="$TMP/static" >"$TMP/out" 2>"$TMP/err"
		is "scripts/release" "$?" 0
	done
	is "three tarballs with checksums" "$(cut -d' ' -f3 "$TMP/r1/SHA256SUMS" | sed "s/${tarball%.tar.gz}/X/" | xargs)" \
		"X.tar.gz X-linux-amd64.tar.gz X-linux-arm64.tar.gz"
	check "the checksums are right" sh -c "cd '$TMP/r1' && sha256sum --quiet -c SHA256SUMS"
	is "twice: the same bytes" "$(cat "$TMP/r2/SHA256SUMS")" "$(cat "$TMP/r1/SHA256SUMS")"
fi

# A library that is too old is named, with what is needed.
cat >"$TMP/pkg-config" <<'EOF'
#!/bin/sh
case "$*" in
*--atleast-version=*libbpf*) exit 1 ;;
*--modversion*libbpf*) echo 0.9.0 ;;
*) exec pkg-config "$@" ;;
esac
EOF
chmod +x "$TMP/pkg-config"
mk PKG_CONFIG="$TMP/pkg-config" B="$TMP/old" all >"$TMP/out" 2>"$TMP/err"
is "make with libbpf 0.9: fails" "$?" 2
err_has "and says which, and what it takes" "libbpf 0.9.0 is too old: 1.1 or later is needed"
mk PKG_CONFIG="$TMP/pkg-config" print-version >"$TMP/out" 2>"$TMP/err"

# --version says what is in.
run 0 "$TMIGR" --version
for lib in libbpf jansson zstd ncurses GSL protobuf-c libtracecmd; do
	out_has "--version tells of $lib" "$lib"
done
done_testing
