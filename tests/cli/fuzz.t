#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The parsers of files under libFuzzer: what development found interesting once more,
# and some thousand runs from there. For minutes of it:
# build/tests/fuzz/text -max_total_time=600 FOLDER tests/fuzz/corpus/text
. tests/lib-shell/tap.sh

FUZZ=${B:-build}/tests/fuzz
[ -x "$FUZZ/text" ] || skip_all "no libFuzzer here when it was built"
seed=$((RANDOM + 1))

# Leaks are found at the end of the runs; what the sanitizers find is in err.
fuzz() { # FURTHER-RUNS NAME
	local n
	n=$(find "tests/fuzz/corpus/$2" -type f | wc -l)
	mkdir "$TMP/$2"
	run 0 "$FUZZ/$2" -runs=$((n + $1)) -seed=$seed -timeout=300 -artifact_prefix="$TMP/" \
		"$TMP/$2" "tests/fuzz/corpus/$2"
	[ "$status" = 0 ] || {
		echo "# seed $seed"
		tail -40 "$TMP/err" | sed 's/^/# /'
	}
	check "$2: it read all $n of the corpus, and more" \
		test "$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$TMP/err")" -gt "$n"
}
fuzz 3000 cpulist
fuzz 200 topology
fuzz 200 recording
fuzz 200 text
fuzz 500 tracedat
done_testing
