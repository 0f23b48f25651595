#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check-html.py PAGE REPORT.json...: is PAGE a sound page of these reports?

Sound: well-formed, self-contained, with what a screen reader needs. Of the reports: every
figure that it shows with its exact value is computed again from the JSON, whose runs come
in the page's order. Says nothing and exits 0, or names what is wrong.
"""
import collections
import json
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input", "col", "wbr"}


class Node:
    def __init__(self, tag, attrs, parent):
        self.tag, self.attrs, self.parent = tag, attrs, parent
        self.children = []

    def text(self):
        return "".join(c if isinstance(c, str) else c.text() for c in self.children)

    def find(self, *tags):
        for c in self.children:
            if not isinstance(c, str):
                if c.tag in tags:
                    yield c
                yield from c.find(*tags)

    def all(self):
        for c in self.children:
            if not isinstance(c, str):
                yield c
                yield from c.all()


class Tree(HTMLParser):
    def __init__(self, strict):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("", {}, None)
        self.strict, self.faults = strict, []

    def handle_starttag(self, tag, attrs):
        names = [a for a, _ in attrs]
        if len(set(names)) != len(names):
            self.faults.append(f"<{tag}> has an attribute twice")
        node = Node(tag, dict(attrs), self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        self.at.children.append(Node(tag, dict(attrs), self.at))

    def handle_endtag(self, tag):
        if self.at.tag != tag:
            self.faults.append(f"</{tag}> at line {self.getpos()[0]} ends <{self.at.tag}>")
            return
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


faults = []


def want(what, ok, detail=""):
    if not ok:
        faults.append(f"{what}{': ' if detail else ''}{detail}")


def same(what, got, wanted):
    want(what, got == wanted, f"got {got!r}, want {wanted!r}")


# ---- is it a sound page? ----

def check_page(tree, source):
    root = tree.root
    want("well-formed", not tree.faults and tree.at is root, "; ".join(tree.faults[:3]))
    html = next(root.find("html"))
    same("language", html.attrs.get("lang"), "en")
    for tag in ("script", "link", "iframe", "object", "embed", "img", "base", "form", "audio"):
        want(f"no <{tag}>", not list(root.find(tag)))
    for node in root.all():
        for name, value in node.attrs.items():
            want("no handlers", not name.startswith("on"), f"<{node.tag} {name}>")
            want("no text among the attributes", re.fullmatch(r"[A-Za-z][A-Za-z:-]*", name),
                 f"<{node.tag} {name}>")
            if name in ("href", "src", "xlink:href", "action"):
                want("no other file", (value or "").startswith("#"), f"{name}={value}")
    for url in re.findall(r"url\(([^)]*)\)", source):
        want("no other file", url.startswith("#"), f"url({url})")
    want("no @import", "@import" not in source)
    check_for_readers(root)


def check_for_readers(root):
    ids = [n.attrs["id"] for n in root.all() if "id" in n.attrs]
    twice = [i for i, n in collections.Counter(ids).items() if n > 1]
    want("ids are unique", not twice, ", ".join(twice[:5]))
    for node in root.all():
        if node.tag == "a" and node.attrs.get("href", "").startswith("#"):
            want("links lead somewhere", node.attrs["href"][1:] in ids, node.attrs["href"])
        for ref in (node.attrs.get("aria-labelledby") or "").split():
            want("names are there", ref in ids, ref)
    for tag in ("main", "header", "footer", "title", "h1"):
        same(f"one <{tag}> of the page",
             len([n for n in root.find(tag) if n.parent.tag != "svg" and n.parent.tag not in
                  ("g", "path", "rect")]), 1)
    level = 1
    for h in root.find("h1", "h2", "h3", "h4", "h5"):
        now = int(h.tag[1])
        want("headings skip no level", now <= level + 1, h.text())
        want("headings say something", h.text().strip() != "")
        level = now
    for table in root.find("table"):
        captions = [c for c in table.children if not isinstance(c, str) and c.tag == "caption"]
        want("tables have a caption", len(captions) == 1 and captions[0].text().strip() != "")
        for th in table.find("th"):
            want("heads have a scope", th.attrs.get("scope") in ("col", "row", "rowgroup"))
    for svg in root.find("svg"):
        if svg.attrs.get("aria-hidden") == "true":
            continue
        first = next((c for c in svg.children if not isinstance(c, str)), None)
        same("pictures are images with a title",
             (svg.attrs.get("role"), first.tag if first else None), ("img", "title"))


# ---- are the figures the reports'? ----

def rows_of(root, start):
    """Cells of the table whose caption starts so: (heads, [[(text, value)]])."""
    tables = [t for t in root.find("table") if next(t.find("caption")).text().startswith(start)]
    if len(tables) != 1:
        want(f"one table '{start}'", False, str(len(tables)))
        return [], []
    head = [c.text() for c in next(tables[0].find("thead")).find("th", "td")]
    rows = []
    for tr in next(tables[0].find("tbody")).find("tr"):
        cells = list(tr.find("th", "td"))
        rows.append([(c.text(), int(c.attrs["data-v"]) if "data-v" in c.attrs else None)
                     for c in cells])
    return head, rows


def column(head, row, name):
    return row[head.index(name)] if name in head else (None, None)


def check_answer(part, report):
    answer = report["answer"]
    box = next(n for n in part.find("div") if n.attrs.get("class", "").startswith("answer"))
    want("the answer's sentence", visible(answer["text"]) in box.text(), box.text())
    shares = [n for n in box.find("b") if n.attrs.get("data-k") == "big_share"]
    if answer["big_share"] is None:
        same("no share", shares, [])
    else:
        same("the share", float(shares[0].attrs["data-v"]), answer["big_share"])
    window = [n for n in part.find("dd") if "data-v" in n.attrs and "data-k" not in n.attrs]
    same("the window", int(window[0].attrs["data-v"]), report["window_ns"])


def check_roots(part, report):
    one = len(report["classes"]) < 2
    for root in report["roots"]:
        head, rows = rows_of(part, f"Global migrator of {root['group']} ")
        expect = [("held by a CPU", root["held_ns"])] if one else [
            (f"held by {visible(c['name'])}", c["held_ns"]) for c in root["classes"]]
        expect += [("nobody: an idle CPU has the wakeup duty", root["duty_ns"]),
                   ("nobody: no global timer pending", root["free_ns"]),
                   ("hand-over in flight", root["handover_ns"]),
                   ("unknown (lost, or not learnt yet)", root["unknown_ns"])]
        same("regimes", [(r[0][0], column(head, r, "seconds")[1]) for r in rows], expect)
        same("regimes are the window", sum(column(head, r, "seconds")[1] for r in rows),
             report["window_ns"])
        avoidable = [] if one else [c["avoidable_ns"] for c in root["classes"][1:]]
        if len(root["classes"]) > 1:
            same("avoidable", [column(head, r, "avoidable s")[1] for r in rows
                               if column(head, r, "avoidable s")[1] is not None], avoidable)


def check_holdings(part, report):
    holders = [h for root in report["roots"] for h in root["holders"]]
    if not holders:
        return
    head, rows = rows_of(part, "Holdings per CPU")
    same("holders", [(column(head, r, "cpu")[1], column(head, r, "held s")[1],
                      column(head, r, "holdings")[1]) for r in rows],
         [(h["cpu"], h["held_ns"], h["holdings"]) for h in holders])


def check_residency(part, report):
    head, rows = rows_of(part, "Idle-state residency by class")
    sums = {}
    for cpu in report["cpus"]:
        name = visible(cpu["class"])
        for what in ("running", "offline", "unknown"):
            s = sums.setdefault((name, what), [0, None, None, None])
            s[0] += cpu[what + "_ns"]
        for state in cpu["states"]:
            s = sums.setdefault((name, visible(state["name"])), [0, 0, 0, 0])
            if s[1] is None:
                continue
            for k, key in enumerate(("time_ns", "entries", "above", "below")):
                s[k] += state[key]
    for row in rows:
        got = [column(head, row, n)[1] for n in
               ("seconds", "entries", "above (too deep)", "below (too shallow)")]
        same(f"residency of {row[0][0]} {row[1][0]}", got,
             sums.pop((row[0][0], row[1][0]), None))
    left = {k: v for k, v in sums.items() if v[0]}
    same("no residency is left out", left, {})
    head, rows = rows_of(part, "Residency per CPU")
    for row, cpu in zip(rows, report["cpus"], strict=True):
        same("CPUs", (column(head, row, "cpu")[1], column(head, row, "running")[1]),
             (cpu["cpu"], cpu["running_ns"]))
        for state in cpu["states"]:
            same_name = [s for s in cpu["states"] if s["name"] == state["name"]]
            same(f"CPU {cpu['cpu']} {state['name']}", column(head, row, visible(state["name"]))[1],
                 sum(s["time_ns"] for s in same_name))


def check_remote(part, report):
    if not report["remote"]:
        return
    class_of = {c["cpu"]: c["class"] for c in report["cpus"]}
    head, rows = rows_of(part, "Remote expiries by class")
    for row, cl in zip(rows, report["classes"], strict=True):
        mine = [p for p in report["remote"] if class_of[p["executor"]] == cl["name"]]
        for other in report["classes"]:
            same("remote matrix", column(head, row, f"for {visible(other['name'])}")[1],
                 sum(p["count"] for p in mine if class_of[p["target"]] == other["name"] and
                     p["target"] != p["executor"]))
        same("woken", column(head, row, "woke it")[1], sum(p["woke_executor"] for p in mine))
    head, rows = rows_of(part, "The most frequent pairs")
    pairs = sorted(report["remote"], key=lambda p: (-p["count"], p["executor"], p["target"]))
    same("pairs", [(column(head, r, "ran on")[1], column(head, r, "for cpu")[1],
                    column(head, r, "count")[1]) for r in rows],
         [(p["executor"], p["target"], p["count"]) for p in pairs[:10]])


def check_cost(part, report):
    shown = {n.attrs["data-k"]: n.attrs.get("data-v") for n in part.find("dd")
             if "data-k" in n.attrs}
    for key in ("bpf_ns", "bpf_runs", "cpu_ns", "wakeups", "housekeeping_cpu", "records"):
        v = report["observer"][key]
        same(f"observer.{key}", shown.get(key), None if v is None else str(v))


def check_metrics(part, report):
    metrics = report.get("metrics") or []
    tables = [t for t in part.find("table") if next(t.find("caption")).text() == "Metrics"]
    same("a table of metrics", len(tables), bool(metrics) + 0)
    if not metrics:
        return
    rows = list(next(tables[0].find("tbody")).find("tr"))
    same("metrics", [(c[0].text(), float(c[1].attrs["data-v"]), c[2].text(), c[3].text())
                     for c in (list(r.find("th", "td")) for r in rows)],
         [(visible(m["name"]), float(m["value"]), visible(m["unit"]), m["better"] or "")
          for m in metrics])


def check_hierarchy(part, report):
    groups = report["hierarchy"]["groups"]
    if not groups:
        return
    _, rows = rows_of(part, "Groups of the hierarchy")
    same("groups", [(r[0][0], r[1][1], r[5][0]) for r in rows],
         [(g["name"], g["level"], g["cpus"]) for g in groups])
    svg = next(s for s in part.find("svg") if s.attrs.get("class") == "tree")
    cells = [t.text() for t in svg.find("text")]
    for g in groups:
        want("every group is drawn", cells.count(g["name"]) == 1, g["name"])
    held = {h["cpu"]: h["held_ns"] for root in report["roots"] for h in root["holders"]}
    shown = {int(g.attrs["data-cpu"]): int(g.attrs["data-v"]) for g in svg.find("g")
             if "data-cpu" in g.attrs}
    same("what each CPU of it held", shown, {c["cpu"]: held.get(c["cpu"], 0)
                                             for c in report["hierarchy"]["cpus"]})
    for c in report["hierarchy"]["cpus"]:
        want("every CPU is drawn", cells.count(str(c["cpu"])) == 1, str(c["cpu"]))


def step_area(d):
    """Of a path of steps: where its foot is, and its height in every column."""
    tokens = re.findall(r"([MhvVz])([-0-9. ]*)", d)
    foot, height, heights = None, 0.0, []
    for op, arg in tokens:
        if op == "M":
            foot = float(arg.split()[1])
        elif op == "h":
            heights += [height] * int(arg)
        elif op == "v":
            height -= float(arg)
    return foot, heights


def check_timeline(part, report):
    """The areas of the holders, drawn in half pixels, are their shares."""
    svgs = [s for s in part.find("svg") if s.attrs.get("id", "").endswith("overview")]
    if not svgs:
        return
    columns = int((svgs[0].attrs.get("viewbox") or svgs[0].attrs.get("viewBox")).split()[2])
    frames = [r for r in svgs[0].find("rect") if r.attrs.get("class") == "frame"]
    same("a strip for each hierarchy", len(frames), len(report["roots"]))
    names = [c["name"] for c in report["classes"]]
    for frame, root in zip(frames, report["roots"]):
        high = int(frame.attrs["height"])
        layers = []
        for path in svgs[0].find("path"):
            if path.attrs["class"] == "mark":
                continue
            foot, heights = step_area(path.attrs["d"])
            if foot == int(frame.attrs["y"]) + high:
                layers.append((path.attrs["class"], heights + [0.0] * (columns - len(heights))))
        got = {}
        for i, (css, heights) in enumerate(layers):
            below = layers[i + 1][1] if i + 1 < len(layers) else [0.0] * columns
            got[css] = got.get(css, 0) + sum(heights) - sum(below)
        expect = {"rh": root["handover_ns"], "rd": root["duty_ns"], "rf": root["free_ns"],
                  "ru": root["unknown_ns"]}
        for c in root["classes"]:
            i = names.index(c["name"])
            css = "k0" if i == 0 else "kb" if i == len(names) - 1 else f"k{(i - 1) % 4 + 1}"
            expect[css] = expect.get(css, 0) + c["held_ns"]
        for css, ns in expect.items():
            drawn, share = got.pop(css, 0) / (columns * high), ns / report["window_ns"]
            want(f"{root['group']} {css} is drawn as large as it is", abs(drawn - share) < 0.02,
                 f"{drawn:.4f}, not {share:.4f}")
            want("what is there is drawn", (drawn > 0) == (ns > 0), css)
        same("nothing else is drawn", got, {})


def visible(text):
    """A text as the page shows it: control characters as pictures, tricks replaced."""
    out = []
    for ch in text:
        c = ord(ch)
        if c < 0x20 or c == 0x7f:
            out.append(chr(0x2421 if c == 0x7f else 0x2400 + c))
        elif (0x80 <= c <= 0x9f or 0x202a <= c <= 0x202e or 0x2066 <= c <= 0x2069 or
              c in (0x2028, 0x2029) or c & 0xfffe == 0xfffe or 0xfdd0 <= c <= 0xfdef):
            out.append("\ufffd")
        else:
            out.append(ch)
    return "".join(out)


def check_run(part, report):
    check_answer(part, report)
    check_metrics(part, report)
    check_roots(part, report)
    check_holdings(part, report)
    check_residency(part, report)
    check_remote(part, report)
    check_cost(part, report)
    check_hierarchy(part, report)
    check_timeline(part, report)
    for mark in (report.get("marks") or [])[:20]:
        want("marks", any(visible(mark["text"]) in li.text() for li in part.find("li")))
    command = report.get("command") or []
    want("the command", visible(" ".join(command)) in part.text())


def main():
    source = open(sys.argv[1], encoding="utf-8").read()
    reports = [json.load(open(p, encoding="utf-8")) for p in sys.argv[2:]]
    tree = Tree(strict=True)
    tree.feed(source)
    tree.close()
    check_page(tree, source)
    if len(reports) == 1:
        check_run(next(tree.root.find("main")), reports[0])
    elif reports:
        parts = list(tree.root.find("article"))
        same("as many runs", len(parts), len(reports))
        for part, report in zip(parts, reports):
            check_run(part, report)
    for fault in faults[:20]:
        print(f"{sys.argv[1]}: {fault}")
    sys.exit(bool(faults))


main()
