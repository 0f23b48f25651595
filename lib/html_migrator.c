// SPDX-License-Identifier: GPL-2.0-or-later
/* Who held the migrator of each root, and in which idle state. */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Held by each class from the highest, two kinds of nobody, hand-over, unknown; owned
 * by the caller. */
static struct tmigr_html_part *root_parts(const json_t *report, const json_t *root, size_t *ret_n)
{
	static const struct {
		const char *name, *css, *key;
	} rest[] = {{"nobody, duty", "rd", "duty_ns"},
		    {"nobody, no timer pending", "rf", "free_ns"},
		    {"hand-over", "rh", "handover_ns"},
		    {"unknown", "ru", "unknown_ns"}};
	const json_t *classes = json_object_get(root, "classes"), *c;
	struct tmigr_html_part *parts = calloc(json_array_size(classes) + 4, sizeof(*parts));
	size_t n = 0, i;

	if (!parts)
		return NULL;
	for (i = json_array_size(classes); i-- > 0;) {
		const char *name;

		c = json_array_get(classes, i);
		name = tmigr_rep_str(c, "name");
		parts[n++] = (struct tmigr_html_part){
			name, tmigr_html_class_css(report, tmigr_rep_class_index(report, name)),
			tmigr_rep_u64(c, "held_ns")};
	}
	for (i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		parts[n++] = (struct tmigr_html_part){rest[i].name, rest[i].css,
						      tmigr_rep_u64(root, rest[i].key)};
	*ret_n = n;
	return parts;
}

static int put_root(struct tmigr_html *h, const json_t *root)
{
	size_t n = 0, size = 0;
	struct tmigr_html_part *parts = root_parts(h->report, root, &n);
	__u64 window = tmigr_rep_u64(h->report, "window_ns");
	char *caption = NULL;
	FILE *mem = open_memstream(&caption, &size);
	int ret = -ENOMEM;

	if (!mem) {
		free(parts);
		return ret;
	}
	fprintf(mem, "Global migrator of %s ", tmigr_rep_str(root, "group"));
	tmigr_text_root_members(h->report, root, mem);
	if (fclose(mem) == 0 && parts) {
		tmigr_html_stack(h->out, parts, n, window, "stack");
		tmigr_html_legend(h->out, parts, n, window);
		ret = tmigr_html_table(h->out, tmigr_table_root(h->report, root), caption, NULL,
				       NULL, NULL);
	}
	free(caption);
	free(parts);
	return ret;
}

/* ---- holders, with a bar of what they were in ---- */

struct holders {
	struct tmigr_html *h;
	const json_t **list; /* by row */
};

static void holder_bar(void *arg, size_t row, FILE *out)
{
	const struct holders *l = arg;
	const json_t *holder = l->list[row], *s;
	struct tmigr_html_part parts[TMIGR_STATES + 2];
	char css[TMIGR_STATES][TMIGR_CSS_MAX];
	size_t n = 0, i;

	parts[n++] =
		(struct tmigr_html_part){"running", "run", tmigr_rep_u64(holder, "running_ns")};
	json_array_foreach (json_object_get(holder, "idle_ns"), i, s) {
		if (i == TMIGR_STATES)
			break;
		tmigr_html_state_css(l->h, tmigr_rep_str(s, "name"), css[i]);
		parts[n++] = (struct tmigr_html_part){tmigr_rep_str(s, "name"), css[i],
						      tmigr_rep_u64(s, "time_ns")};
	}
	parts[n++] = (struct tmigr_html_part){"unknown", "ru",
					      tmigr_rep_u64(holder, "unknown_state_ns")};
	tmigr_html_stack(out, parts, n, tmigr_rep_u64(holder, "held_ns"), "mini");
}

static int put_holders(struct tmigr_html *h)
{
	struct holders l = {.h = h};
	struct tmigr_table *t = NULL;
	const json_t *root, *holder;
	size_t i, k, n = 0;
	int ret = tmigr_table_holdings(h->report, &t);

	if (ret < 0)
		return ret;
	if (!t) {
		fputs("<p>No CPU held it.</p>\n", h->out);
		return 0;
	}
	json_array_foreach (json_object_get(h->report, "roots"), i, root)
		n += json_array_size(json_object_get(root, "holders"));
	l.list = calloc(n + 1, sizeof(const json_t *));
	if (!l.list) {
		tmigr_table_free(t);
		return -ENOMEM;
	}
	n = 0;
	json_array_foreach (json_object_get(h->report, "roots"), i, root)
		json_array_foreach (json_object_get(root, "holders"), k, holder)
			l.list[n++] = holder;
	ret = tmigr_html_table(h->out, t,
			       "Holdings per CPU; running and idle states as shares of the holding",
			       "What it was in while it held", holder_bar, &l);
	free(l.list);
	return ret;
}

int tmigr_html_migrator(struct tmigr_html *h)
{
	const json_t *roots = json_object_get(h->report, "roots"), *root;
	size_t i;
	int ret = 0;

	tmigr_html_heading(h, "migrator", "Who held the global migrator");
	json_array_foreach (roots, i, root)
		if (ret == 0)
			ret = put_root(h, root);
	fputs("<p class=\"dim\"><b>Avoidable</b>: held while a CPU of a lower class under this "
	      "root "
	      "was awake. <b>Duty</b>: an idle CPU is armed for the first global timer. Holding is "
	      "not running: a CPU can sleep in an idle state and hold the migrator all the "
	      "same.</p>\n",
	      h->out);
	return ret < 0 ? ret : put_holders(h);
}
