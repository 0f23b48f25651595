# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# TAP for test scripts in bash. Source it first; it finds the program as $TMIGR,
# gives the script a scratch folder $TMP, and ends with the plan:
#
#   . tests/lib-shell/tap.sh
#   run 0 "$TMIGR" --version          # runs it: $status, $TMP/out, $TMP/err
#   out_has "names itself" "tmigr"
#   done_testing
set -u

TMIGR=${B:-build}/tmigr
TMIGR_TESTS=${TMIGR_TESTS:-$PWD/tests}
TMP=$(mktemp -d "${TMPDIR:-/tmp}/tmigr-test.XXXXXX")
tap_n=0
tap_failed=0
tap_cleanup=
trap 'eval "$tap_cleanup"; rm -rf "$TMP"' EXIT

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

# For a test whose recordings are compressed.
needs_zstd() {
	! "$TMIGR" --version | grep -q 'no zstd' ||
		skip_all "built without zstd, which the recordings that it reads are compressed with"
}

ok() { # DESCRIPTION
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1"
}

not_ok() { # DESCRIPTION REASON...
	tap_n=$((tap_n + 1))
	tap_failed=1
	echo "not ok $tap_n - $1"
	shift
	printf '%s\n' "$@" | sed 's/^/# /'
}

skip() { # DESCRIPTION REASON
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

check() { # DESCRIPTION COMMAND...: it must succeed
	local what=$1 text
	shift
	if text=$("$@" 2>&1); then
		ok "$what"
	else
		not_ok "$what" "failed: $*" "$text"
	fi
}

is() { # DESCRIPTION GOT WANT
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  $2" "want: $3"
	fi
}

# Runs a command; its exit status must be STATUS. Its outputs: $TMP/out, $TMP/err.
run() { # STATUS COMMAND...
	local want=$1
	shift
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	local name="$*"
	name=${name//"$TMP"/TMP}
	name=${name//"${B:-build}/"/}
	if [ "$status" = "$want" ]; then
		ok "exit $want: ${name:0:100}"
	else
		not_ok "exit $want: ${name:0:100}" "got exit $status" "stderr: $(head -5 "$TMP/err")"
	fi
}

file_has() { # DESCRIPTION FILE TEXT
	if grep -qF -e "$3" "$2"; then
		ok "$1"
	else
		not_ok "$1" "'$3' is not in:" "$(head -20 "$2")"
	fi
}

out_has() { # DESCRIPTION TEXT
	file_has "$1" "$TMP/out" "$2"
}

err_has() { # DESCRIPTION TEXT
	file_has "$1" "$TMP/err" "$2"
}

# Exactly one line on stderr, from the tool, and nothing on stdout.
one_error_line() { # DESCRIPTION PREFIX
	local n
	n=$(wc -l <"$TMP/err")
	if [ "$n" = 1 ] && grep -q "^$2" "$TMP/err" && [ ! -s "$TMP/out" ]; then
		ok "$1"
	else
		not_ok "$1" "stderr: $(cat "$TMP/err")" "stdout: $(head -3 "$TMP/out")"
	fi
}

done_testing() {
	echo "1..$tap_n"
	exit "$tap_failed"
}

# Live tests: why this machine cannot do them, or nothing.
why_not_live() {
	[ "$(id -u)" = 0 ] || {
		echo "needs root"
		return
	}
	"$TMIGR" doctor >/dev/null 2>&1 || echo "this kernel cannot (tmigr doctor says why)"
}
