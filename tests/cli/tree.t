#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr tree on this kernel.
. tests/lib-shell/tap.sh
why=$(why_not_live)
[ -z "$why" ] || skip_all "$why"

run 0 "$TMIGR" tree
out_has "groups" "GRP0:0"
out_has "CPUs" "CPU 0"
out_has "who has the migrator" "Global migrator of GRP"
out_has "how much is known" "CPUs seen"
check "nothing on stderr" test ! -s "$TMP/err"
is "ASCII in the C locale" "$(grep -c '[^ -~]' "$TMP/out")" 0
LC_ALL=C.UTF-8 "$TMIGR" tree >"$TMP/out"
out_has "box drawing in a UTF-8 locale" "─ CPU 0"
run 0 "$TMIGR" tree --class solo=0
out_has "--class" "solo"

run 0 "$TMIGR" tree --dot
is "--dot starts as a graph" "$(head -1 "$TMP/out")" "digraph tmigr {"
is "--dot ends as a graph" "$(tail -1 "$TMP/out")" "}"
if command -v dot >/dev/null; then
	check "dot(1) takes it" dot -Tsvg -o /dev/null "$TMP/out"
fi

run 0 "$TMIGR" tree --json
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

timeout -s INT 1 "$TMIGR" tree --watch 0.1 --json >"$TMP/out" 2>"$TMP/err"
check "--watch --json: lines of JSON" python3 "$TMP/check.py" "$TMP/out" lines
check "--watch --json: several" test "$(wc -l <"$TMP/out")" -gt 1
check "nothing on stderr" test ! -s "$TMP/err"
done_testing
