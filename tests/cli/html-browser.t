#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The HTML report in a browser: what it makes of the page still has the report's
# figures, and no width makes the page itself scroll sideways.
. tests/lib-shell/tap.sh

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
[ -n "$browser" ] || skip_all "no chromium (Debian: chromium)"
make=$B/tests/programs/rec-make
checker=$TMIGR_TESTS/lib-shell/check-html.py

browse() { # OPTION...
	timeout 300 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$TMP/profile" --allow-file-access-from-files "$@" 2>"$TMP/err"
}

echo '<p>here</p>' >"$TMP/try.html"
browse --dump-dom "file://$TMP/try.html" >"$TMP/out"
grep -q here "$TMP/out" || skip_all "chromium does not start here: $(head -c 200 "$TMP/err" | tr '\n' ' ')"

python3 - "$TMP" <<'EOF'
import json, sys
bad = "a, \"b'\n\x1b<script>document.title='run'</script><img src=x onerror=1>\u202e"
for k in range(4):
    info = {"label": f"l{k % 2} {bad}", "run": k // 2 + 1, "command": [bad, "x" * 300],
            "machine": {"model": bad}, "marks": [{"time_ns": 50000000, "text": bad}],
            "metrics": [{"name": bad, "value": 10 + k, "unit": bad, "better": "higher"}]}
    json.dump(info, open(f"{sys.argv[1]}/info-{k}.json", "w"))
EOF
for k in 0 1 2 3; do
	"$make" -c 8 -s 3000 -S $((k + 1)) -i "$TMP/info-$k.json" -n '</title><b>big' "$TMP/$k.tmr"
done
"$make" -c 512 -s 20000 "$TMP/wide.tmr"
"$TMIGR" report --html "$TMP/demo.html" demo/events.tmr
"$TMIGR" report --html "$TMP/evil.html" "$TMP/0.tmr"
"$TMIGR" report --html "$TMP/set.html" "$TMP/0.tmr" "$TMP/2.tmr" "$TMP/1.tmr" "$TMP/3.tmr"
"$TMIGR" report --html "$TMP/wide.html" "$TMP/wide.tmr"
for f in demo/events.tmr "$TMP"/[0123].tmr "$TMP/wide.tmr"; do
	"$TMIGR" report --json "$f" >"$TMP/$(basename "$f" .tmr).json"
done

in_browser() { # NAME REPORT...: the browser's own tree of the page
	local name=$1
	shift
	browse --dump-dom "file://$TMP/$name.html" >"$TMP/$name-dom.html"
	check "$name: the browser's tree has the reports' figures" python3 "$checker" \
		"$TMP/$name-dom.html" "$@"
}
in_browser demo "$TMP/events.json"
in_browser evil "$TMP/0.json"
in_browser set "$TMP/0.json" "$TMP/2.json" "$TMP/1.json" "$TMP/3.json"
in_browser wide "$TMP/wide.json"

# A frame of each width; everything unfolded.
cat >"$TMP/frames.html" <<'EOF'
<!DOCTYPE html><body><script>
const pages = ["demo", "evil", "set", "wide"], widths = [360, 800, 1400];
let left = pages.length * widths.length;
for (const page of pages) for (const width of widths) {
	const frame = document.createElement("iframe");
	frame.width = width; frame.height = 800; frame.src = page + ".html";
	frame.onload = () => {
		const doc = frame.contentDocument, line = document.createElement("p");
		doc.querySelectorAll("details").forEach(d => d.open = true);
		line.textContent = `${page} at ${width}: ${doc.documentElement.scrollWidth} wide, ` +
			`title ${doc.title.length > 3 ? "fine" : doc.title}, images ${doc.images.length}`;
		document.body.append(line);
		if (!--left) document.title = "done";
	};
	document.body.append(frame);
}
</script>
EOF
browse --virtual-time-budget=20000 --dump-dom "file://$TMP/frames.html" |
	grep -o '<p>[^<]*' | sed 's/<p>//' >"$TMP/widths"
for page in demo evil set wide; do
	for width in 360 800 1400; do
		line=$(grep "^$page at $width:" "$TMP/widths")
		wide=$(echo "$line" | sed -n 's/.*: \([0-9]*\) wide.*/\1/p')
		is "$page: not wider than $width pixels, no script ran" \
			"$([ -n "$wide" ] && [ "$wide" -le "$width" ] && echo "$line" | grep -o 'title.*')" \
			"title fine, images 0"
	done
done
check "printed" browse --no-pdf-header-footer --print-to-pdf="$TMP/demo.pdf" "file://$TMP/demo.html"
check "into a document" test -s "$TMP/demo.pdf"
done_testing
