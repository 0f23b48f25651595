#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# report --fail-if: every figure against the report's own JSON, and exit codes.
. tests/lib-shell/tap.sh
needs_zstd
answers=$TMIGR_TESTS/fixtures/runs/answers
rec=$answers/rk3576-unaware.tmr

# Every figure anew from the JSON, by another hand; "NAME VALUE", value null where not known.
cat >"$TMP/figures.py" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
w = r["window_ns"]
out = {}
classes = [c["name"] for c in r["classes"]]
cls = {c["cpu"]: c["class"] for c in r["cpus"]}
n = {k: sum(v == k for v in cls.values()) for k in classes}
roots = r["roots"]
out["big_share"] = r["answer"]["big_share"]
span = [x for x in roots if sum(1 for c in x["classes"] if c["n_cpus"]) > 1]
av = sum(c["avoidable_ns"] for x in span for c in x["classes"] if c["name"] == classes[-1])
out["avoidable_share"] = None if out["big_share"] is None else av / (w * len(span)) if span else 0
for key in "unknown", "handover", "duty", "free":
    out[f"{key}_share"] = sum(x[f"{key}_ns"] for x in roots) / (w * len(roots)) if roots else None
for k in classes:
    out[f"held.{k}"] = sum(h["held_ns"] for x in roots for h in x["holders"] if h["class"] == k) / w if roots else None
    mine = [c for c in r["cpus"] if c["class"] == k]
    for word in "running", "offline", "unknown":
        out[f"residency.{k}.{word}"] = sum(c[f"{word}_ns"] for c in mine) / (w * n[k])
    for s in {s["name"] for c in mine for s in c["states"]}:
        of = [x for c in mine for x in c["states"] if x["name"] == s]
        out[f"residency.{k}.{s}"] = sum(x["time_ns"] for x in of) / (w * n[k])
        out[f"entries.{k}.{s}"] = sum(x["entries"] for x in of)
    for b in classes:
        out[f"remote.{k}_on_{b}"] = sum(p["count"] for p in r["remote"]
                                        if cls[p["target"]] == k and cls[p["executor"]] == b)
out["remote_little_on_big"] = out[f"remote.{classes[0]}_on_{classes[-1]}"] if len(classes) > 1 else None
out["lost_records"] = r["lost"]["records"]
out["lost_updates"] = r["lost"]["group_updates"]
out["window_s"] = w / 1e9
out["exit_status"] = r.get("exit_status")
for m in r.get("metrics", []):
    out["metric." + m["name"]] = m["value"]
for e in r.get("energy", []):
    out["energy." + e["domain"]] = e["energy_uj"] / 1e6
for k, v in sorted(out.items()):
    print(f"{k}\t{'null' if v is None else repr(float(v))}")
END
for f in "$answers"/*.tmr "$TMIGR_TESTS"/fixtures/runs/o6-7.3.4-wheel/events.tmr; do
	"$TMIGR" report --json "$f" >"$TMP/report.json"
	python3 "$TMP/figures.py" "$TMP/report.json" >"$TMP/want"
	# All in one go each. Sums in another order may differ in the last digits; big_share has
	# nine in JSON.
	readarray -t between < <(awk -F'\t' '$2 != "null" {
		d = ($2 < 0 ? -$2 : $2) * ($1 == "big_share" ? 1e-8 : 1e-12)
		printf "--fail-if\n%s<%.17g\n--fail-if\n%s > %.17g\n", $1, $2 - d, $1, $2 + d}' "$TMP/want")
	readarray -t from < <(awk -F'\t' '$2 != "null" {
		printf "--fail-if\n%s>=%.17g\n", $1, $2 - ($2 < 0 ? -$2 : $2) * 1e-8}' "$TMP/want")
	readarray -t nulls < <(awk -F'\t' '$2 == "null" {printf "--fail-if\n%s==0\n", $1}' "$TMP/want")
	"$TMIGR" report "${between[@]}" "$f" 2>"$TMP/err" >/dev/null
	bad=$?$(cat "$TMP/err")
	"$TMIGR" report "${from[@]}" "$f" 2>"$TMP/err" >/dev/null
	[ $((2 * $(grep -c "is true" "$TMP/err"))) = ${#from[@]} ] || bad="$bad $(grep -v "is true" "$TMP/err")"
	"$TMIGR" report "${nulls[@]}" "$f" 2>"$TMP/err" >/dev/null
	[ $((2 * $(grep -c "is not known here" "$TMP/err"))) = ${#nulls[@]} ] || bad="$bad $(cat "$TMP/err")"
	is "${f#"$TMIGR_TESTS/fixtures/runs/"}: every figure is the report's" "$bad" 0
	"$TMIGR" report --fail-if 'nothing>0' "$f" 2>&1 >/dev/null | sed 's/.*there are: //; s/, /\n/g' | sort >"$TMP/names"
	check "and there are no others" diff <(cut -f1 "$TMP/want" | LC_ALL=C sort) <(LC_ALL=C sort "$TMP/names")
done

# ---- operators ----
for e in 'lost_records<1' 'lost_records<=0' 'lost_records>-1' 'lost_records>=0' 'lost_records==0' 'lost_records!=1' \
	' lost_records == 0 ' 'lost_records<1e-3'; do
	run 3 "$TMIGR" report --fail-if "$e" "$rec"
	err_has "it says which, and the value" "--fail-if '$e' is true: lost_records is 0"
	out_has "the report is printed all the same" "Answer:"
done
for e in 'lost_records<0' 'lost_records<=-1' 'lost_records>0' 'lost_records>=1' 'lost_records==1' 'lost_records!=0'; do
	run 0 "$TMIGR" report --fail-if "$e" "$rec"
	check "nothing is told" test ! -s "$TMP/err"
done

# ---- exit codes ----
run 3 "$TMIGR" report --json --fail-if 'window_s<0' --fail-if 'window_s>0' "$rec"
is "of several, each true one has a line" "$(wc -l <"$TMP/err")" 1
run 3 "$TMIGR" report --fail-if 'exit_status>0' --fail-if 'window_s>0' --fail-if 'x>0' "$rec"
run 2 "$TMIGR" report --fail-if 'bigshare>0.05' "$rec"
err_has "an unknown name: there are others" "there is no figure 'bigshare'; there are: big_share, "
run 1 "$TMIGR" report --fail-if 'exit_status==0' "$rec"
err_has "what is not known" "cannot be told: exit_status is not known here"
for e in '' 'big_share' 'big_share>' '>0.05' 'big_share=0.05' 'big_share=>0.05' 'big_share>5%' 'big_share>nan' \
	'big_share>inf' 'big_share>0x1' 'big_share>1 2' 'big_share>0.05>1' 'big_share>1e999' "$(printf 'x%.0s' {1..300})>1"; do
	run 2 "$TMIGR" report --fail-if "$e" "$rec"
	one_error_line "not an expression: one line" "tmigr report: --fail-if: "
done
done_testing
