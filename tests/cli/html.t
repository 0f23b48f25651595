#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tmigr report --html: a sound page with the report's figures, of one run or several,
# whatever is in their texts; and what happens where it cannot be written.
. tests/lib-shell/tap.sh
needs_zstd

make=$B/tests/programs/rec-make
checker=$TMIGR_TESTS/lib-shell/check-html.py

page() { # PATH...: $TMP/page.html
	run 0 "$TMIGR" report --html "$TMP/page.html" "$@"
}

sound() { # DESCRIPTION RECORDING...: of each run by itself the figures are on the page
	local what=$1 reports=() f i=0
	shift
	for f in "$@"; do
		i=$((i + 1))
		"$TMIGR" report --json "$f" >"$TMP/report-$i.json" 2>"$TMP/err"
		reports+=("$TMP/report-$i.json")
	done
	check "$what" python3 "$checker" "$TMP/page.html" "${reports[@]}"
}

# ---- one run ----
for f in demo/events.tmr tests/fixtures/runs/*/*.tmr; do
	page "$f"
	is "$f: says nothing" "$(cat "$TMP/out" "$TMP/err")" ""
	sound "$f: a sound page, its figures the report's" "$f"
done
page demo/events.tmr
file_has "the answer" "$TMP/page.html" "YES, a big CPU held the global migrator for 1.986 s"
file_has "the picture of the whole window" "$TMP/page.html" 'id="overview"'
file_has "the longest holding from near" "$TMP/page.html" 'id="zoom"'
longest=$("$TMIGR" report --json demo/events.tmr | python3 -c 'import json, sys
print(max(h["longest_ns"] for h in json.load(sys.stdin)["roots"][0]["holders"] if h["class"] == "big"))')
file_has "and how long it was" "$TMP/page.html" "data-k=\"longest_ns\" data-v=\"$longest\""
is "who held is what colours say" "$(grep -c 'Migrator held by' "$TMP/page.html")" 1
echo '{"timer_migration_hierarchy": false}' >"$TMP/old.json"
"$make" -s 200 -i "$TMP/old.json" "$TMP/old.tmr"
run 0 "$TMIGR" report --html "$TMP/old.html" "$TMP/old.tmr"
is "a kernel without a hierarchy: nobody holds" "$(grep -c 'Migrator held by\|while it holds' "$TMP/old.html")" 0
"$TMIGR" report --html - demo/events.tmr >"$TMP/piped.html"
check "to standard output: the same bytes" cmp "$TMP/page.html" "$TMP/piped.html"

# ---- sizes ----
"$make" -c 512 -k 2 -s 100000 -t 50000 "$TMP/wide.tmr"
page "$TMP/wide.tmr"
sound "512 CPUs" "$TMP/wide.tmr"
size=$(stat -c %s "$TMP/page.html")
check "512 busy CPUs: $size bytes, at most 4 MB" test "$size" -le 4000000
"$make" -c 1 -k 1 -s 50 -t 1000 "$TMP/one.tmr"
page "$TMP/one.tmr"
sound "one CPU" "$TMP/one.tmr"
"$make" -c 24 -k 3 -r 3 -f 4 -s 3000 -t 1000000000 "$TMP/long.tmr"
page "$TMP/long.tmr"
sound "three classes and hierarchies, an hour" "$TMP/long.tmr"
list=()
for i in $(seq 20); do
	echo "{\"label\": \"l$((i % 4))\", \"run\": $i, \"metrics\": [{\"name\": \"rate\",
		\"value\": $((i * 37 % 11)).25, \"unit\": \"1/s\", \"better\": \"higher\"}]}" >"$TMP/info.json"
	"$make" -c 64 -s 6000 -S "$i" -i "$TMP/info.json" "$TMP/run-$i.tmr"
done
for l in 1 2 3 0; do
	for i in $(seq 20); do
		[ $((i % 4)) = "$l" ] && list+=("$TMP/run-$i.tmr")
	done
done
page "${list[@]}"
sound "20 runs of 64 CPUs" "${list[@]}"
size=$(stat -c %s "$TMP/page.html")
check "20 busy runs: $size bytes, at most 8 MB" test "$size" -le 8000000
"$TMIGR" compare --json "${list[@]}" >"$TMP/compare.json"
check "the comparison on the page is that of tmigr compare" python3 - "$TMP/page.html" \
	"$TMP/compare.json" <<'EOF'
import json, re, sys
page, compare = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
n = n_units = 0
for q in compare["quantities"]:
    rows = re.findall(r'<tr[^>]*data-key="%s">(.*?)</tr>' % re.escape(q["key"]), page, re.S)
    assert len(rows) == len(q["labels"]), q["key"]
    for row, label in zip(rows, q["labels"]):
        values = [float(v) for v in re.findall(r'data-(?:v|low|high)="([^"]*)"', row)]
        want = [label[k] for k in ("mean", "percent", "percent_low", "percent_high", "sd")]
        assert values == [v for v in want if v is not None], (q["key"], values, want)
        units = [float(v) for v in re.findall(r'data-(?:from|to)="([^"]*)"', row)]
        want = [label[k] for k in ("difference_low", "difference_high")]
        if label["percent_low"] is not None or want == [None, None]:
            want = []
        assert units == want, (q["key"], units, want)
        n_units += bool(units)
        dots = row.count('class="dot"')
        assert dots == sum(v is not None for v in label["values"]) + (label["percent"] is not None)
        n += 1
assert n > 40 and n_units
EOF

# ---- of which no answer comes ----
gunzip -c tests/fixtures/captures/rk3576-7.3.4-unaware-all/trace.txt.gz >"$TMP/trace.txt"
"$TMIGR" import -o "$TMP/flat" "$TMP/trace.txt" >"$TMP/out"
"$TMIGR" import --class LITTLE=0-3 --class big=4-7 -o "$TMP/classes" "$TMP/trace.txt" >"$TMP/out"
verdict() { # of $TMP/page.html
	sed -n 's/.*class="answer \([a-z]*\)"><div class="verdict">\([^<]*\)<.*/\1: \2/p' "$TMP/page.html" | head -1
}
page "$TMP/flat" "$TMP/flat"
is "no run tells" "$(verdict)" "open: no answer"
is "nor is a CPU big where all are of one size" "$(grep -c 'longest holding by a big' "$TMP/page.html")" 0
page "$TMP/flat" "$TMP/classes"
is "one of two tells" "$(verdict)" "yes: 1 of 1"
file_has "the other is counted" "$TMP/page.html" "Of 1 more there is no answer"

runs=tests/fixtures/runs/compare
"$TMIGR" report --html "$TMP/page.html" $runs/unaware $runs/split 2>"$TMP/err"
"$TMIGR" compare --json $runs/unaware $runs/split >"$TMP/compare.json" 2>"$TMP/err"
check "several hierarchies: a table for each section, named after it" python3 - "$TMP/page.html" \
	"$TMP/compare.json" <<'EOF'
import html, json, re, sys
page, compare = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
want = list(dict.fromkeys(q["section"] for q in compare["quantities"]))
assert len(want) > len({q["group"] for q in compare["quantities"]})
tables = re.findall(r'<table class="cmp"><caption>(.*?)</caption>(.*?)</table>', page, re.S)
assert len(tables) == len(want)
for section, (caption, body) in zip(want, tables):
    assert f"({section})" in html.unescape(caption), (section, caption)
    keys = list(dict.fromkeys(re.findall(r'data-key="([^"]*)"', body)))
    assert [html.unescape(k) for k in keys] == \
        [q["key"] for q in compare["quantities"] if q["section"] == section]
EOF

# ---- contrast, as WCAG 2 computes it ----
check "contrast: texts 4.5, colours with a meaning 3, light and dark" python3 - "$TMP/page.html" <<'EOF'
import re, sys
def luminance(color):
    c = color[1:] if len(color) == 7 else "".join(x * 2 for x in color[1:])
    rgb = [int(c[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    rgb = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgb]
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)
schemes = re.findall(r":root\s*{(.*?)}", open(sys.argv[1]).read(), re.S)
schemes = [dict(re.findall(r"--(\w+):\s*(#[0-9a-f]+)", s)) for s in schemes]
assert len(schemes) == 2 and schemes[0]["bg"] != schemes[1]["bg"]
for s in schemes:
    for name in ("text", "dim", "link", "yes", "no", "open"):
        for ground in ("bg", "card"):
            assert contrast(s[name], s[ground]) >= 4.5, (name, s[name], ground)
    # Not rf ("nobody, nothing pending") and the deeper idle states: they fade into the
    # paper on purpose, and what is left beside the others is theirs.
    for name in ("k0", "k1", "k2", "k3", "k4", "kb", "rh", "rd", "ru", "run", "s0"):
        for ground in ("bg", "card"):
            assert contrast(s[name], s[ground]) >= 3, (name, s[name], ground)
    # What runs is drawn beside what sleeps deepest, a holder beside nobody.
    last = [n for n in s if re.fullmatch(r"s\d+", n)][-1]
    assert contrast(s["run"], s[last]) >= 3 and contrast(s["s0"], s[last]) >= 3
    assert contrast(s["k0"], s["rf"]) >= 3 and contrast(s["rd"], s["rf"]) >= 2
EOF

# ---- texts that want to be markup ----
python3 - "$TMP/info.json" <<'EOF'
import json, sys
bad = "a, \"b'\n\t\r\x1b[31m<script>alert(1)</script>&lt;--></title><!-- \u00fc\u4e2d\U0001f600" \
      "\u202e\u2028\ufffe\x7f\x85 ]]> ' onload='x"
info = {"label": bad, "run": 1, "command": [bad, "x" * 3000], "tool": bad, "engine": bad,
        "kernel": {"release": bad}, "machine": {"model": bad, "host": bad}, "start_time": bad,
        "exit_status": 1,
        "marks": [{"time_ns": 1000 + k * 1000000, "text": bad} for k in range(30)]}
json.dump(info, open(sys.argv[1], "w"))
EOF
"$make" -n '</style><b>"' -i "$TMP/info.json" "$TMP/evil.tmr"
page "$TMP/evil.tmr"
sound "texts that want to be markup" "$TMP/evil.tmr"
evil=$(printf '%s/<i>\xff\xc3\xa9&\n"x.tmr' "$TMP")
cp "$TMP/evil.tmr" "$evil"
page "$evil" "$TMP/one.tmr"
sound "a path that is not even UTF-8" "$evil" "$TMP/one.tmr"

# ---- run directories ----
mkdir -p "$TMP/lab/run-1" "$TMP/lab/run-2" "$TMP/lab/run-3"
for i in 1 2 3; do
	echo '{"schema":"tmigr-run","version":1,"state":"complete"}' >"$TMP/lab/run-$i/run.json"
	"$TMIGR" report --json demo/events.tmr >"$TMP/lab/run-$i/report.json"
done
cp demo/events.tmr "$TMP/lab/run-1/"
python3 - "$TMP/lab/run-2" <<'EOF'
import json, sys
report = json.load(open(sys.argv[1] + "/report.json"))
root, at = report["roots"][0], 0
parts = [(f'held,{h["cpu"]},"LITTLE, ""so called"""', h["held_ns"]) for h in root["holders"]]
parts += [("duty,,", root["duty_ns"]), ("free,,", root["free_ns"])]
with open(sys.argv[1] + "/migrator-segments.csv", "w") as out:
    out.write("root,regime,cpu,class,start_ns,end_ns\n")
    for what, ns in parts:
        out.write(f"{root['group']},{what},{at},{at + ns}\n")
        at += ns
EOF
page "$TMP/lab"
file_has "a recording gives lanes of CPUs" "$TMP/page.html" "id=\"r1-overview\""
file_has "segments alone give the holders" "$TMP/page.html" "id=\"r2-overview\""
file_has "and it says where the rest would be" "$TMP/page.html" "tmigr run --record"
file_has "neither: it says so" "$TMP/page.html" "neither events.tmr nor migrator-segments.csv"
check "sound" python3 "$checker" "$TMP/page.html" "$TMP"/lab/run-?/report.json
echo 'GRP0:0,held,99,x,0,5' >>"$TMP/lab/run-2/migrator-segments.csv"
page "$TMP/lab"
file_has "a bad segment is told of" "$TMP/page.html" "line 12 is no segment of this run"

# ---- what can go wrong ----
rm "$TMP/lab/run-3/report.json"
run 1 "$TMIGR" report --html "$TMP/part.html" "$TMP/lab"
one_error_line "a run without a report" "tmigr report: .*run-3"
file_has "is on the page all the same" "$TMP/part.html" "not read:"
head -c 60000 demo/events.tmr >"$TMP/cut.tmr"
run 1 "$TMIGR" report --html "$TMP/cut.html" "$TMP/cut.tmr"
one_error_line "a recording cut short" "tmigr report: .*a part of the run only"
file_has "its page says so" "$TMP/cut.html" "part of the run only"
echo before >"$TMP/old.html"
run 1 "$TMIGR" report --html "$TMP/old.html" "$TMP/nothing"
one_error_line "nothing to read" "tmigr report: .*nothing"
is "what was there stays" "$(cat "$TMP/old.html")" before
run 1 "$TMIGR" report --html "$TMP/no/such/dir.html" demo/events.tmr
one_error_line "no such folder" "tmigr report: .*dir.html"
run 1 "$TMIGR" report --html "$TMP" demo/events.tmr
one_error_line "a folder" "tmigr report: .*directory"
run 1 "$TMIGR" report --html /dev/full demo/events.tmr
one_error_line "a full disk" "tmigr report: /dev/full: .*space"
(
	ulimit -f 20
	trap '' XFSZ
	"$TMIGR" report --html "$TMP/old.html" demo/events.tmr >"$TMP/out" 2>"$TMP/err"
	echo $? >"$TMP/status"
)
is "no room for all of it: exit 1" "$(cat "$TMP/status")" 1
one_error_line "no room" "tmigr report: .*old.html"
is "what was there stays" "$(cat "$TMP/old.html")" before
is "nothing half-written stays" "$(ls "$TMP" | grep -c partial)" 0
"$TMIGR" report --html - "$TMP/wide.tmr" 2>"$TMP/err" | head -c 10 >/dev/null
is "a closed pipe: exit 1" "${PIPESTATUS[0]}" 1
: >"$TMP/out"
one_error_line "a closed pipe: one line" "tmigr report: standard output: .*pipe"
run 2 "$TMIGR" report --html "$TMP/x.html" -
one_error_line "standard input" "tmigr report: .*twice"
run 2 "$TMIGR" report --html "$TMP/x.html" --json demo/events.tmr
one_error_line "two forms at once" "tmigr report: .*does not go with"
run 2 "$TMIGR" report --html "$TMP/x.html"
one_error_line "no run" "tmigr report: which run"
ln -s old.html "$TMP/link.html"
run 0 "$TMIGR" report --html "$TMP/link.html" demo/events.tmr
check "a link stays a link, the page is behind it" test -L "$TMP/link.html" -a "$(wc -c <"$TMP/old.html")" -gt 1000
if [ "$(id -u)" = 0 ]; then
	skip "a file that may not be written to" "root may"
else
	echo before >"$TMP/ro.html"
	chmod 444 "$TMP/ro.html"
	run 1 "$TMIGR" report --html "$TMP/ro.html" demo/events.tmr
	one_error_line "a file that may not be written to" "tmigr report: .*ro.html"
fi
done_testing
