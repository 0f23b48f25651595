#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr tree on this kernel.
. tests/lib-shell/tap.sh
why=$(why_not_live)
[ -z "$why" ] || skip_all "$why"

# Without CONFIG_KALLSYMS_ALL a CPU must go idle once before anything is known,
# which on a machine that is busy with something else may take its time.
for _ in {1..4}; do
	"$TMIGR" tree >"$TMP/out" 2>"$TMP/err" && break
	grep -q 'all are busy' "$TMP/err" || break
done
grep -q 'all are busy' "$TMP/err" && skip_all "$(cat "$TMP/err")"
tree() { # ARGUMENT...: as run 0, but a busy machine is no failure of it
	for _ in {1..4}; do
		"$TMIGR" tree "$@" >"$TMP/out" 2>"$TMP/err" && break
		grep -q 'all are busy' "$TMP/err" || break
	done
	is "tmigr tree $*: no error" "$(cat "$TMP/err")" ""
}

tree
out_has "groups" "GRP0:0"
out_has "CPUs" "CPU 0"
out_has "who has the migrator" "Global migrator of GRP"
out_has "how much is known" "CPUs seen"
is "ASCII in the C locale" "$(grep -c '[^ -~]' "$TMP/out")" 0
LC_ALL=C.UTF-8 tree
out_has "box drawing in a UTF-8 locale" "─ CPU 0"
tree --class solo=0
out_has "--class" "solo"

tree --dot
is "--dot starts as a graph" "$(head -1 "$TMP/out")" "digraph tmigr {"
is "--dot ends as a graph" "$(tail -1 "$TMP/out")" "}"
if command -v dot >/dev/null; then
	check "dot(1) takes it" dot -Tsvg -o /dev/null "$TMP/out"
fi

tree --json
cat >"$TMP/check.py" <<'END'
import json, sys
for line in [open(sys.argv[1]).read()] if len(sys.argv) == 2 else open(sys.argv[1]):
    t = json.loads(line)
    assert t["schema"] == "tmigr-tree" and t["version"] == 1
    groups = {g["name"]: g for g in t["groups"]}
    assert len(groups) == len(t["groups"]) > 0
    assert {r["group"] for r in t["roots"]} == {n for n, g in groups.items() if g["parent"] is None}
    assert all(g["parent"] is None or g["parent"] in groups for g in groups.values())
    cpus = {c["cpu"]: c for c in t["cpus"]}
    for c in cpus.values():
        assert c["seen"] == (c["group"] is not None)
        assert c["group"] is None or groups[c["group"]]["level"] == 0
    for g in groups.values():
        m = g["migrator_cpu"]
        assert m is None or (cpus[m]["group"] == g["name"] and cpus[m]["migrator"])
    for r in t["roots"]:
        assert (r["regime"] == "held") == (r["cpu"] is not None)
        assert r["cpu"] is None or cpus[r["cpu"]]["global_migrator"]
    online = {int(c) for c in cpus if cpus[c]["online"] and not cpus[c]["isolated"]}
    assert t["cpus_seen"] == t["cpus_expected"] == len(online), t
END
check "--json holds together, and all CPUs are seen" python3 "$TMP/check.py" "$TMP/out"

# Two lines are waited for, however long they take.
"$TMIGR" tree --watch 0.05 --json >"$TMP/out" 2>"$TMP/err" &
pid=$!
for _ in {1..400}; do
	[ "$(wc -l <"$TMP/out")" -lt 2 ] || break
	kill -0 "$pid" 2>/dev/null || break
	sleep 0.05
done
kill "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
grep -q 'all are busy' "$TMP/err" && done_testing
check "--watch --json: lines of JSON" python3 "$TMP/check.py" "$TMP/out" lines
check "--watch --json: several" test "$(wc -l <"$TMP/out")" -gt 1
check "nothing on stderr" test ! -s "$TMP/err"
done_testing
