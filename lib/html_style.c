// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How the page looks.  Colours of classes are of the Okabe-Ito set, which
 * colour-blind people tell apart (darker or lighter where a scheme needs it for
 * contrast), and the big class is hatched besides; idle states are one hue from dark
 * to light, the deeper the nearer to the paper.
 */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIGHT                                                                                      \
	"--bg:#fff;--card:#f5f7f9;--line:#d0d7de;--text:#1c2126;--dim:#57606a;--link:#0550ae;"     \
	"--k0:#0072b2;--k1:#b98b00;--k2:#aa4499;--k3:#009e73;--k4:#666699;--kb:#d55e00;"           \
	"--kbs:#8f3d00;--rh:#882255;--rd:#8c959f;--rf:#d7dde3;--ru:#1c2126;--run:#0b2b2a;"         \
	"--yes:#a63c00;--no:#00664a;--open:#57606a;"

#define DARK                                                                                       \
	"--bg:#12161b;--card:#1b2128;--line:#3a434d;--text:#e8ebee;--dim:#a9b3bd;--link:#79b8ff;"  \
	"--k0:#56b4e9;--k1:#f0d442;--k2:#d98fc6;--k3:#2fc79a;--k4:#a9a9dd;--kb:#f28a3c;"           \
	"--kbs:#a34700;--rh:#e39bc1;--rd:#77828d;--rf:#3d4650;--ru:#e8ebee;--run:#effdfb;"         \
	"--yes:#ff9d5c;--no:#4fd6ad;--open:#a9b3bd;"

static const char base[] =
	"*{box-sizing:border-box}"
	"html{-webkit-text-size-adjust:100%;text-size-adjust:100%}"
	"body{margin:0;background:var(--bg);color:var(--text);font:16px/1.5 "
	"system-ui,-apple-system,"
	"\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\",\"Liberation Sans\",sans-serif}"
	"main,header.page,footer{max-width:72rem;margin:0 auto;padding:0 1.25rem}"
	"header.page{padding-top:1.75rem}"
	"em{font-style:normal}"
	"h1{font-size:1.7rem;line-height:1.2;margin:0 0 .4rem}"
	"h2{font-size:1.25rem;margin:2.5rem 0 .6rem;padding-top:.9rem;border-top:1px solid "
	"var(--line)}"
	"h3{font-size:1.05rem;margin:1.6rem 0 .4rem}"
	"h4{font-size:1rem;margin:1.2rem 0 .3rem}"
	"p{margin:.5rem 0;max-width:50rem}a{color:var(--link)}"
	"code,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\","
	"\"Liberation Mono\",monospace;font-size:.92em;overflow-wrap:anywhere}"
	".dim{color:var(--dim)}.note{border-left:4px solid var(--k1);padding:.3rem "
	".8rem;background:var(--card);margin:.5rem 0;max-width:50rem;overflow-wrap:anywhere}"
	"dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.15rem "
	"1rem;margin:.6rem 0}dl.facts dt{color:var(--dim)}dl.facts dd{margin:0;overflow-wrap:"
	"anywhere;min-width:0}"
	"nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem "
	"1.1rem;padding:0;margin:.9rem 0 0;font-size:.92rem}"
	".skip{position:absolute;left:-99em}.skip:focus{left:1rem;top:.5rem;background:var(--bg);"
	"padding:.4rem}"
	":focus-visible{outline:2px solid var(--link);outline-offset:2px}"
	/* the answer */
	".answer{display:grid;grid-template-columns:auto 1fr;gap:.3rem "
	"1.1rem;align-items:center;background:var(--card);border:1px solid "
	"var(--line);border-left:6px solid var(--v);border-radius:6px;padding:1rem "
	"1.2rem;margin:1rem 0}"
	".answer .verdict{font-size:1.9rem;font-weight:700;color:var(--v);line-height:1.1}"
	".verdict "
	"span{display:block;font-size:.82rem;font-weight:400;color:var(--dim);margin-top:.2rem}"
	".answer p{margin:0;font-size:1.06rem;max-width:54rem}"
	".yes{--v:var(--yes)}.no{--v:var(--no)}.open{--v:var(--open)}"
	".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.7rem;"
	"margin:1rem 0;padding:0;list-style:none}"
	".tiles li{background:var(--card);border:1px solid "
	"var(--line);border-radius:6px;padding:.6rem .8rem;min-width:0}"
	".tiles "
	"b{display:block;font-size:1.3rem;line-height:1.25;font-variant-numeric:tabular-nums;"
	"overflow-wrap:anywhere}.tiles span{color:var(--dim);font-size:.86rem;display:block;"
	"line-height:1.35}"
	/* tables */
	/* with a shadow where there is more to see */
	".scroll{overflow-x:auto;max-width:100%;margin:.6rem 0 "
	"1rem;background:linear-gradient(90deg,var(--bg) 40%,transparent) 0/2.5rem 100% no-repeat "
	"local,linear-gradient(270deg,var(--bg) 40%,transparent) 100%/2.5rem 100% no-repeat "
	"local,linear-gradient(90deg,var(--line),transparent) 0/.7rem 100% no-repeat "
	"scroll,linear-gradient(270deg,var(--line),transparent) 100%/.7rem 100% no-repeat scroll}"
	"table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}"
	"caption{text-align:left;font-weight:600;padding:0 0 .35rem}"
	"caption span{display:inline-block;position:sticky;left:0;max-width:min(60rem,calc(100vw - "
	"3.2rem));overflow-wrap:anywhere}"
	"th,td{padding:.22rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid "
	"var(--line);white-space:nowrap}"
	"thead th{color:var(--dim);font-weight:600;border-bottom:2px solid "
	"var(--line);vertical-align:bottom;white-space:normal;min-width:3.2rem}"
	"tbody th{font-weight:400}.n{text-align:right}td.w{white-space:normal;min-width:16rem;"
	"overflow-wrap:anywhere}"
	"td.bar{min-width:9rem;width:14rem;vertical-align:middle}"
	"td:first-child,th:first-child{padding-left:.2rem}"
	/* bars and colours */
	"svg{display:block;overflow:visible}svg.stack{width:100%;height:26px;border-radius:3px;"
	"overflow:hidden}svg.mini{width:100%;height:12px;overflow:hidden}"
	".legend{list-style:none;display:flex;flex-wrap:wrap;gap:.15rem "
	"1.2rem;padding:0;margin:.4rem 0 .8rem;font-size:.9rem}"
	".sw{display:inline-block;width:.95em;height:.95em;margin-right:.4em;vertical-align:-.1em;"
	"border:1px solid var(--dim);border-radius:2px}"
	".k0{fill:var(--k0);background:var(--k0)}.k1{fill:var(--k1);background:var(--k1)}"
	".k2{fill:var(--k2);background:var(--k2)}.k3{fill:var(--k3);background:var(--k3)}"
	".k4{fill:var(--k4);background:var(--k4)}"
	".kb{fill:url(#hatch-big);background:repeating-linear-gradient(135deg,var(--kb) 0 "
	"3px,var(--kbs) 3px 4px)}"
	".rh{fill:var(--rh);background:var(--rh)}.rd{fill:var(--rd);background:var(--rd)}"
	".rf{fill:var(--rf);background:var(--rf)}"
	".ru{fill:url(#hatch-unknown);background:repeating-linear-gradient(45deg,var(--ru) 0 "
	"1px,var(--bg) 1px 4px)}"
	".off{fill:url(#hatch-off);background:repeating-linear-gradient(90deg,var(--dim) 0 "
	"1px,var(--card) 1px 5px)}"
	".run{fill:var(--run);background:var(--run)}"
	"@@STATES@@"
	".cls{display:grid;grid-template-columns:8.5rem minmax(0,1fr);gap:.1rem "
	".9rem;align-items:center;margin:.6rem 0}.cls .legend{grid-column:2;margin-top:.15rem}"
	/* timeline */
	"figure{margin:1rem 0 1.6rem}figcaption{font-size:.9rem;color:var(--dim);margin:.5rem "
	"0;max-width:52rem}"
	".tl{display:grid;grid-template-columns:7.2rem minmax(0,1fr)}"
	".tl svg{width:100%;overflow:hidden}"
	".tl .lab{position:relative;font-size:.78rem;line-height:1}"
	".tl .lab span{position:absolute;right:.55rem;left:0;text-align:right;white-space:nowrap;"
	"overflow:hidden;text-overflow:ellipsis;display:flex;align-items:center;"
	"justify-content:flex-end;gap:.35em}"
	".tl .lab .sw{margin:0;width:.7em;height:.7em;flex:none}"
	".axis{grid-column:2;position:relative;height:1.6rem;border-top:1px solid "
	"var(--dim);font-size:.78rem;font-variant-numeric:tabular-nums}"
	".axis span{position:absolute;top:.3rem;transform:translateX(-50%);white-space:nowrap}"
	".axis span::before{content:\"\";position:absolute;left:50%;top:-.3rem;height:.25rem;"
	"border-left:1px solid var(--dim)}"
	".axis .first{transform:none}.axis .last{transform:translateX(-100%)}"
	".axis .first::before{left:0}.axis .last::before{left:100%}"
	".flags{grid-column:2;position:relative;height:1.2rem;font-size:.75rem}"
	".flags span{position:absolute;transform:translateX(-50%);background:var(--text);"
	"color:var(--bg);border-radius:3px;padding:0 .35em}"
	".back{fill:var(--card)}.mark{stroke:var(--text);stroke-width:1;stroke-dasharray:3 "
	"2;vector-effect:non-scaling-stroke}"
	".zr{fill:none;stroke:var(--text);stroke-width:1.5;vector-effect:non-scaling-stroke}"
	".sep{stroke:var(--bg);stroke-width:1}"
	/* hierarchy, comparison */
	".tree text{font-size:12px;fill:var(--text)}.tree "
	".e{fill:none;stroke:var(--dim)"
	";stroke-width:1.2}.tree .g{fill:var(--card);stroke:var(--dim)}.tree .c{fill:var(--bg);"
	"stroke:var(--dim)}.tree .m{text-anchor:middle}.tree .o{stroke-dasharray:3 2}"
	"svg.dots{width:100%;height:20px;overflow:hidden}svg.dots "
	"path{fill:none;stroke:var(--text);"
	"vector-effect:non-scaling-stroke}svg.dots .grid{stroke:var(--line)}"
	"svg.dots .zero{stroke:var(--dim);stroke-dasharray:2 2}svg.dots "
	".dot{stroke:var(--k0);stroke-width:8;stroke-linecap:round}svg.dots "
	".mean,svg.dots .ci{stroke-width:1.6}"
	".cmp th[scope=rowgroup]{min-width:9rem;max-width:15rem;white-space:normal}"
	".cmp tr.first>*{border-top:2px solid var(--line)}.cmp tbody "
	"th[scope=row]{white-space:nowrap}"
	".cmp "
	".sure{font-weight:700}.ends{display:flex;justify-content:space-between;font-weight:400}"
	"details{margin:.6rem 0}summary{cursor:pointer;padding:.25rem 0}"
	"details.run{border:1px solid var(--line);border-radius:6px;padding:.4rem "
	"1rem;margin:1rem 0}details.run>summary{font-weight:600}"
	".ok{color:var(--no)}.bad{color:var(--yes)}"
	"footer{margin:3rem auto 2rem;padding-top:.8rem;border-top:1px solid "
	"var(--line);color:var(--dim);font-size:.86rem}"
	"@media(max-width:640px){body{font-size:15px}main,header.page,footer{padding-left:.8rem;"
	"padding-right:.8rem}h1{font-size:1.35rem}.tl{grid-template-columns:4.1rem minmax(0,1fr)}"
	".tl .lab .wide{display:none}.axis "
	".odd{display:none}.answer{grid-template-columns:minmax(0,1fr);"
	"padding:.8rem}.answer .verdict{font-size:1.5rem}tbody "
	"th{white-space:normal;max-width:9.5rem}.cls{grid-template-columns:minmax(0,1fr)}.cls "
	".legend{grid-column:1}dl.facts{grid-template-columns:1fr;gap:0}dl.facts "
	"dd{margin-bottom:.35rem}.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}"
	"details.run{padding:.3rem .5rem}td.bar{min-width:6rem}}"
	"@media print{@page{margin:14mm}body{font-size:10.5pt}nav,.skip{display:none}"
	"main,header.page,footer{max-width:none;padding:0}"
	"*{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
	".scroll{overflow:visible}table{font-size:8.5pt}th,td{padding:.15rem .45rem}"
	"tr,.answer,.tiles,.cls{break-inside:avoid}h2,h3,caption{break-after:avoid}"
	"figure.tlf{break-inside:avoid}thead{display:table-header-group}a{color:inherit;"
	"text-decoration:none}details::details-content{display:block;content-visibility:visible;"
	"block-size:auto}summary{list-style:none}td.bar{width:8rem;min-width:5rem}}";

/* ---- colours of idle states ---- */

static int by_depth(const void *pa, const void *pb)
{
	const struct tmigr_html_state *a = pa, *b = pb;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int add_state(struct tmigr_html_states *l, const char *name, __u64 index)
{
	struct tmigr_html_state *list;

	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->list[i].name, name))
			continue;
		if (index < l->list[i].index)
			l->list[i].index = index;
		return 0;
	}
	list = reallocarray(l->list, l->n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	l->list = list;
	list[l->n++] = (struct tmigr_html_state){name, index};
	return 0;
}

int tmigr_html_states_find(struct tmigr_html *h)
{
	const struct tmigr_runset *set = h->in->set;
	const json_t *cpu, *s;
	size_t i, k;
	int ret = 0;

	for (size_t r = 0; r < set->n_runs; r++)
		json_array_foreach (json_object_get(set->runs[r].report, "cpus"), i, cpu)
			json_array_foreach (json_object_get(cpu, "states"), k, s)
				if (ret == 0)
					ret = add_state(&h->states, tmigr_rep_str(s, "name"),
							tmigr_rep_u64(s, "index"));
	if (h->states.n)
		qsort(h->states.list, h->states.n, sizeof(*h->states.list), by_depth);
	return ret;
}

void tmigr_html_state_css(const struct tmigr_html *h, const char *name, char buf[TMIGR_CSS_MAX])
{
	for (size_t i = 0; i < h->states.n; i++) {
		if (strcmp(h->states.list[i].name, name))
			continue;
		snprintf(buf, TMIGR_CSS_MAX, "s%zu", i);
		return;
	}
	snprintf(buf, TMIGR_CSS_MAX, "%s", !strcmp(name, "running") ? "run" : "ru");
}

/* Between the shallowest state's colour and the deepest one's. */
static void put_ramp(FILE *out, const struct tmigr_html_states *l, const unsigned char from[3],
		     const unsigned char to[3])
{
	for (size_t i = 0; i < l->n; i++) {
		size_t whole = l->n > 1 ? l->n - 1 : 1, at = l->n > 1 ? i : 1;

		fprintf(out, "--s%zu:#", i);
		for (int c = 0; c < 3; c++)
			fprintf(out, "%02x",
				(unsigned int)((from[c] * (whole - at) + to[c] * at) / whole));
		putc(';', out);
	}
}

static void put_states(FILE *out, const struct tmigr_html_states *l)
{
	for (size_t i = 0; i < l->n; i++)
		fprintf(out, ".s%zu{fill:var(--s%zu);background:var(--s%zu)}", i, i, i);
}

void tmigr_html_style(const struct tmigr_html *h)
{
	static const unsigned char light[2][3] = {{0x0f, 0x76, 0x6e}, {0xcf, 0xe9, 0xe5}};
	static const unsigned char dark[2][3] = {{0x2d, 0xd4, 0xbf}, {0x17, 0x47, 0x4a}};
	const char *at = strstr(base, "@@STATES@@");

	fputs("<style>:root{color-scheme:light dark;" LIGHT, h->out);
	put_ramp(h->out, &h->states, light[0], light[1]);
	fputs("}@media screen and (prefers-color-scheme:dark){:root{" DARK, h->out);
	put_ramp(h->out, &h->states, dark[0], dark[1]);
	fputs("}}", h->out);
	fwrite(base, (size_t)(at - base), 1, h->out);
	put_states(h->out, &h->states);
	fputs(at + strlen("@@STATES@@"), h->out);
	fputs("</style>\n", h->out);
}

const char *tmigr_html_class_css(const json_t *report, int class_idx)
{
	static const char *const mid[] = {"k1", "k2", "k3", "k4"};
	const json_t *classes = json_object_get(report, "classes");
	const json_t *c = json_array_get(classes, class_idx < 0 ? 0 : (size_t)class_idx);

	if (class_idx <= 0 || json_array_size(classes) < 2)
		return "k0";
	if (tmigr_rep_is_big(classes, tmigr_rep_str(c, "name")))
		return "kb";
	return mid[(size_t)(class_idx - 1) % 4];
}
