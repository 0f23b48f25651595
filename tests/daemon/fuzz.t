#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The request path of the daemon under libFuzzer: some thousand runs. For minutes
# of it: build/tests/fuzz/request -max_total_time=600 FOLDER tests/fuzz/corpus/request
. tests/lib-shell/tap.sh

FUZZ=${B:-build}/tests/fuzz/request
[ -x "$FUZZ" ] || skip_all "no libFuzzer here when it was built"
mkdir "$TMP/new"
seed=$((RANDOM + 1))
# Leaks are found at the end of the runs; what the sanitizers find is in err.
run 0 "$FUZZ" -runs=20000 -seed=$seed -artifact_prefix="$TMP/" "$TMP/new" tests/fuzz/corpus/request
[ "$status" = 0 ] || {
	echo "# seed $seed"
	tail -40 "$TMP/err" | sed 's/^/# /'
}
err_has "it did all of them" "Done 20"
done_testing
