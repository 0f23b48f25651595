// SPDX-License-Identifier: GPL-2.0-or-later
/* One frame: what of head, list and keys fits into the window. */
#include "top_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lines of the list that the head leaves room for, if it can. */
#define MIN_LIST 8

const char *tmigr_top_sort_name(enum tmigr_top_sort sort)
{
	static const char *const names[] = {"cpu", "class", "residency", "holding"};

	return names[sort % TMIGR_TOP_SORTS];
}

const char *tmigr_top_group_name(enum tmigr_top_group group)
{
	static const char *const names[] = {"none", "class", "hierarchy"};

	return names[group % TMIGR_TOP_GROUPS];
}

static const char *const help_lines[] = {
	"q        quit                        p, space  hold what is shown, or go on",
	"s, S     sort by the next, the last: cpu, class, residency (the least idle",
	"         first), holding (the longest holder of the last window first)",
	"g        group by nothing, class, hierarchy (headings have the sums)",
	"h, ?     this page, and back         arrows, page up, page down, home, end",
	"",
	"So far   all windows since the start together; a pause holds the view only",
	"NOW      what the CPU was in at the end of the last window",
	"RUN%     of the last window, not in an idle state",
	"bar      the last window by idle state; what is what: the line above the list",
	"HELD%    of the last window, it held the global migrator of its hierarchy",
	"HOLD/s   holdings of the global migrator a second; one that goes on counts, too",
	"REM/s    remote expiries: global timers of idle CPUs that it ran, a second",
	"MIGR     now: GLOBAL  it holds the global migrator",
	"              group   it has the duty of its lowest group, or (heading) the",
	"                      group that of the group above it",
	"              duty    idle, and armed to wake up for the first global timer",
};

static void put_keys(struct top_page *p, const struct tmigr_top_opts *o,
		     const struct tmigr_top_frame *frame, bool hold)
{
	char where[64] = "";
	size_t used;

	if (frame->shown < frame->lines)
		snprintf(where, sizeof(where), "%zu-%zu of %zu", frame->first + 1,
			 frame->first + frame->shown, frame->lines);
	top_row(p);
	top_cell(p, TMIGR_TOP_BAR, "q quit  p %s  s sort:%s  g group:%s  h help",
		 hold ? "go on" : "pause", tmigr_top_sort_name(o->sort),
		 tmigr_top_group_name(o->group));
	used = top_row_columns(p);
	if (used + 2 + strlen(where) <= o->width)
		top_cell(p, TMIGR_TOP_BAR, "%*s", (int)(o->width - used), where);
	top_fill(p, TMIGR_TOP_BAR, o->width);
}

/* The list's part that is in the window. */
static void put_list(struct top_page *p, struct tmigr_top_frame *frame, struct top_page *list,
		     const struct tmigr_top_opts *o, size_t room)
{
	size_t last;

	frame->lines = list->n;
	frame->shown = o->height && room < list->n ? room : list->n;
	last = list->n - frame->shown;
	frame->first = o->scroll < last ? o->scroll : last;
	top_take(p, list, frame->first, frame->shown);
}

static void put_blank(struct top_page *p, size_t height)
{
	while (p->n < height && !p->failed)
		top_row(p);
}

/* Rows for the head: all it wants, but the list needs some as well. */
static size_t head_room(const struct tmigr_top_opts *o, size_t lines)
{
	size_t list = lines < MIN_LIST ? lines : MIN_LIST;

	if (!o->height)
		return (size_t)-1;
	/* The columns' heads and the keys. */
	return o->height > list + 2 + 2 ? o->height - list - 2 : 2;
}

static size_t rest_of(const struct top_page *p, const struct tmigr_top_opts *o)
{
	return o->height > p->n + 1 ? o->height - p->n - 1 : 1;
}

static int put_sample(struct top_page *p, struct tmigr_top_frame *frame,
		      const struct tmigr_top *top, const struct tmigr_top_opts *o)
{
	struct top_page list = {0};
	struct top_layout layout;
	struct top_facts f;

	if (top_facts_read(top, o->utf8, &f))
		return -ENOMEM;
	layout = top_layout(&f, o);
	top_list(&list, &f, &layout, o);
	top_head(p, top, &f, o, head_room(o, list.n));
	top_list_head(p, &layout);
	put_list(p, frame, &list, o, rest_of(p, o));
	top_page_free(&list);
	top_facts_free(&f);
	return 0;
}

static void put_help(struct top_page *p, struct tmigr_top_frame *frame,
		     const struct tmigr_top_opts *o)
{
	struct top_page list = {0};

	top_row(p);
	top_cell(p, TMIGR_TOP_BOLD, "tmigr top: keys and columns");
	top_row(p);
	for (size_t i = 0; i < sizeof(help_lines) / sizeof(help_lines[0]); i++) {
		top_row(&list);
		top_cell(&list, TMIGR_TOP_PLAIN, "%s", help_lines[i]);
	}
	put_list(p, frame, &list, o, rest_of(p, o));
	top_page_free(&list);
}

static int put_all(struct top_page *p, struct tmigr_top_frame *frame, const struct tmigr_top *top,
		   const struct tmigr_top_opts *o)
{
	int ret = 0;

	if (o->height && (o->width < TMIGR_TOP_MIN_WIDTH || o->height < TMIGR_TOP_MIN_HEIGHT)) {
		top_row(p);
		top_cell(p, TMIGR_TOP_PLAIN, "too small: %dx%d needed", TMIGR_TOP_MIN_WIDTH,
			 TMIGR_TOP_MIN_HEIGHT);
		return 0;
	}
	if (o->help) {
		put_help(p, frame, o);
	} else if (top->report) {
		ret = put_sample(p, frame, top, o);
	} else {
		top_row(p);
		top_cell(p, TMIGR_TOP_BOLD, "tmigr top");
		top_cell(p, TMIGR_TOP_PLAIN, "  waiting for the first window to end");
	}
	if (o->height) {
		put_blank(p, o->height - 1);
		put_keys(p, o, frame, top->hold);
	}
	return ret;
}

int tmigr_top_frame(const struct tmigr_top *top, const struct tmigr_top_opts *opts,
		    struct tmigr_top_frame **ret)
{
	struct tmigr_top_frame *frame = calloc(1, sizeof(*frame));
	struct top_page p = {0};

	if (!frame)
		return -ENOMEM;
	if (put_all(&p, frame, top, opts) || p.failed) {
		top_page_free(&p);
		free(frame);
		return -ENOMEM;
	}
	top_clip(&p, opts->width);
	frame->rows = p.rows;
	frame->n = p.n;
	*ret = frame;
	return 0;
}
