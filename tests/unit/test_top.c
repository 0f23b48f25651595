// SPDX-License-Identifier: GPL-2.0-or-later
/* The view of tmigr top: what fits, order, columns, bars, names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "top_samples.h"

static void check_fits(const struct tmigr_top_frame *frame, const struct tmigr_top_opts *o)
{
	if (o->height && frame->n > o->height)
		fail_msg("%zu rows in %zux%zu", frame->n, o->width, o->height);
	for (size_t i = 0; i < frame->n; i++) {
		const struct tmigr_top_row *row = &frame->rows[i];

		if (row_columns(row) > o->width)
			fail_msg("row %zu has %zu columns in %zux%zu", i, row_columns(row),
				 o->width, o->height);
		for (size_t k = 0; k < row->n; k++)
			for (const char *c = row->cells[k].text; *c; c++)
				if ((!o->utf8 && (unsigned char)*c >= 0x80) ||
				    (unsigned char)*c < 0x20)
					fail_msg("row %zu: '%s'", i, row->cells[k].text);
	}
}

static void every_size_fits(void **state)
{
	static const size_t heights[] = {1, 2, 7, 8, 9, 10, 11, 12, 15, 24, 50, 400};
	struct tmigr_top *tops[] = {top_new(), top_new(), top_new(), top_new()};

	(void)state;
	add_256(tops[0]);
	add(tops[1], machine_4_4(), true);
	add(tops[2], machine_roots(false), false);
	for (size_t t = 0; t < 4; t++)
		for (size_t h = 0; h < sizeof(heights) / sizeof(heights[0]); h++)
			for (size_t width = 1; width < 140; width += width < 45 ? 1 : 13) {
				struct tmigr_top_opts o = {.width = width, .height = heights[h]};
				struct tmigr_top_frame *frame;

				o.group = (enum tmigr_top_group)(width % TMIGR_TOP_GROUPS);
				o.sort = (enum tmigr_top_sort)((width + h) % TMIGR_TOP_SORTS);
				o.utf8 = (width + h) % 2;
				o.help = width % 5 == 4;
				o.scroll = width;
				frame = frame_of(tops[t], o);
				check_fits(frame, &o);
				tmigr_top_frame_free(frame);
			}
	for (size_t t = 0; t < 4; t++)
		tmigr_top_free(tops[t]);
}

/* Rows that are left for the list at the size that every terminal has. */
static void list_has_room_at_80x24(void **state)
{
	struct tmigr_top_opts o = {.width = 80, .height = 24};
	struct tmigr_top *top = top_new();
	struct tmigr_top_frame *frame;

	(void)state;
	add_256(top);
	frame = frame_of(top, o);
	assert_int_equal(frame->n, 24);
	assert_int_equal(frame->lines, 256);
	assert_true(frame->shown >= 12);
	tmigr_top_frame_free(frame);
	assert_text(top, o, "RUN% RESIDENCY, LAST WINDOW", NULL);
	assert_text(top, o, "HELD% HOLD/s  REM/s MIGR", NULL);
	assert_text(top, o, "Observer: ", NULL);
	assert_text(top, o, "Big share: 35.0 % so far", NULL);
	tmigr_top_free(top);
}

/* In a low window the head gives way, what matters least first. */
static void head_gives_way(void **state)
{
	struct tmigr_top_opts o = {.width = 80, .height = 15};
	struct tmigr_top *top = top_new();
	struct tmigr_top_frame *frame;

	(void)state;
	add_256(top);
	assert_text(top, o, "Observer: ", "Big share: ");
	assert_text(top, o, "GRP2:0: CPU 200 (big) now", NULL);
	o.height = 12;
	assert_text(
		top, o,
		"So far: YES, a big CPU held the global migrator for 3.500 s, 35.0 % of the...\n",
		"GRP2:0");
	frame = frame_of(top, o);
	assert_int_equal(frame->shown, 8);
	tmigr_top_frame_free(frame);
	tmigr_top_free(top);
}

/* Page by page through the list shows every CPU once. */
static void pages_show_each_cpu_once(void **state)
{
	struct tmigr_top *top = top_new();

	(void)state;
	add_256(top);
	for (int group = 0; group < TMIGR_TOP_GROUPS; group++) {
		struct tmigr_top_opts o = {.width = 80, .height = 24};
		size_t seen[256] = {0}, done = 0, lines;

		o.group = (enum tmigr_top_group)group;
		do {
			struct tmigr_top_frame *frame;
			int cpus[64];
			size_t n, i, again;

			o.scroll = done;
			frame = frame_of(top, o);
			lines = frame->lines;
			/* The last page starts where it is full. */
			again = done - frame->first;
			assert_true(frame->first <= done);
			n = 0;
			for (i = 0; i < frame->n; i++)
				if (row_cpu(&frame->rows[i]) >= 0)
					cpus[n++] = row_cpu(&frame->rows[i]);
			for (i = 0; i < n; i++)
				seen[cpus[i]] += again == 0;
			if (again)
				for (i = 0; i < n; i++)
					seen[cpus[i]] = 1;
			done = frame->first + frame->shown;
			tmigr_top_frame_free(frame);
		} while (done < lines);
		assert_int_equal(done, lines);
		assert_int_equal(lines, 256 + (group == 0 ? 0 : group == 1 ? 3 : 37));
		for (size_t i = 0; i < 256; i++)
			if (seen[i] != 1)
				fail_msg("CPU %zu: %zu times", i, seen[i]);
	}
	tmigr_top_free(top);
}

static void scroll_stops_at_the_end(void **state)
{
	struct tmigr_top_opts o = {.width = 80, .height = 24, .scroll = 100000};
	struct tmigr_top *top = top_new();
	struct tmigr_top_frame *frame;
	int cpus[64];
	size_t n;

	(void)state;
	add_256(top);
	frame = frame_of(top, o);
	n = frame_cpus(frame, cpus, 64);
	assert_int_equal(n, frame->shown);
	assert_int_equal(cpus[n - 1], 255);
	assert_int_equal(frame->first, 256 - frame->shown);
	tmigr_top_frame_free(frame);
	tmigr_top_free(top);
}

/* ---- order ---- */

static void assert_order(struct tmigr_top *top, enum tmigr_top_sort sort,
			 enum tmigr_top_group group, const int *want)
{
	struct tmigr_top_frame *frame =
		frame_of(top, (struct tmigr_top_opts){.width = 80, .sort = sort, .group = group});
	int cpus[16];

	assert_int_equal(frame_cpus(frame, cpus, 16), 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(cpus[i], want[i]);
	tmigr_top_frame_free(frame);
}

static void sorts(void **state)
{
	/* Running: 1 s on the LITTLE ones, 250 ms less a few ns on the big ones.
	 * Held: CPU 0 4 s, CPU 1 1 s, CPU 4 3 s. */
	static const int cpu[] = {0, 1, 2, 3, 4, 5, 6, 7}, class[] = {4, 5, 6, 7, 0, 1, 2, 3};
	static const int hold[] = {0, 4, 1, 2, 3, 5, 6, 7}, in_class[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct tmigr_top *top = top_new();
	struct machine *m = machine_4_4();
	static const int busy[] = {6, 0, 1, 2, 3, 4, 5, 7};

	(void)state;
	/* CPU 6 gets the busiest. */
	m->totals.cpus[6].time_ns[TMIGR_SLOT_RUNNING] += m->totals.cpus[6].time_ns[2];
	m->totals.cpus[6].time_ns[2] = 0;
	add(top, m, true);
	assert_order(top, TMIGR_TOP_BY_CPU, TMIGR_TOP_FLAT, cpu);
	assert_order(top, TMIGR_TOP_BY_CLASS, TMIGR_TOP_FLAT, class);
	assert_order(top, TMIGR_TOP_BY_RESIDENCY, TMIGR_TOP_FLAT, busy);
	assert_order(top, TMIGR_TOP_BY_HOLDING, TMIGR_TOP_FLAT, hold);
	assert_order(top, TMIGR_TOP_BY_CLASS, TMIGR_TOP_PER_CLASS, in_class);
	tmigr_top_free(top);
}

static void headings_have_the_sums(void **state)
{
	const struct tmigr_top_opts class = {.width = 100, .group = TMIGR_TOP_PER_CLASS};
	const struct tmigr_top_opts tree = {.width = 100, .group = TMIGR_TOP_PER_GROUP};
	struct tmigr_top *top = top_new();

	(void)state;
	add(top, machine_4_4(), true);
	assert_text(top, class, "LITTLE, 4 CPUs", NULL);
	assert_text(top, class, "big, 4 CPUs", NULL);
	/* LITTLE: 50 %, 4 holdings and 6 remote expiries in 10 s; big: 30 %, 1, 15. */
	assert_text(top, class, " 50.0    0.4    0.6\n", NULL);
	assert_text(top, class, " 30.0    0.1    1.5\n", NULL);
	assert_text(top, tree, "GRP0:0, 8 CPUs", NULL);
	assert_text(top, tree, " 80.0    0.5    2.1\n", "unplaced");
	tmigr_top_free(top);
}

static void what_is_not_known_is_not_guessed(void **state)
{
	const struct tmigr_top_opts o = {.width = 100, .group = TMIGR_TOP_PER_GROUP};
	struct tmigr_top *top = top_new();
	struct machine *m = machine_4_4();

	(void)state;
	for (size_t i = 5; i < 8; i++)
		m->model.h.cpus[i].group = -1;
	add(top, m, false);
	assert_text(top, o, "unplaced, 3 CPUs", "GLOBAL");
	assert_text(top, o, " ? ", " now;");
	tmigr_top_free(top);
}

static void marks(void **state)
{
	struct tmigr_top_opts o = {.width = 80, .height = 24, .scroll = 195};
	struct tmigr_top *top = top_new();
	struct tmigr_top_frame *frame;

	(void)state;
	add_256(top);
	frame = frame_of(top, o);
	for (size_t i = 0; i < frame->n; i++) {
		const struct tmigr_top_row *row = &frame->rows[i];
		int cpu = row_cpu(row);
		const char *last = row->n ? row->cells[row->n - 1].text : "";

		/* Each group's word names its first CPU. */
		if (cpu >= 0)
			assert_string_equal(last, cpu == 200	 ? "GLOBAL"
						  : cpu % 8 == 0 ? "group "
								 : "      ");
	}
	tmigr_top_frame_free(frame);
	assert_text(top, o, "CPU 200 (big) now; so far", NULL);
	tmigr_top_free(top);
}

/* ---- bars ---- */

/* Columns of each slot in the bar of @cpu's row. */
static size_t bar_of(const struct tmigr_top_frame *frame, int cpu, size_t *slots)
{
	size_t width = 0;

	memset(slots, 0, TMIGR_SLOTS * sizeof(*slots));
	for (size_t i = 0; i < frame->n; i++) {
		const struct tmigr_top_row *row = &frame->rows[i];

		if (row_cpu(row) != cpu)
			continue;
		/* Behind CPU, class, state and RUN%, with the gaps between them. */
		for (size_t k = 8; k < row->n; k++) {
			enum tmigr_top_attr a = row->cells[k].attr;
			size_t slot = a == TMIGR_TOP_RUNNING   ? TMIGR_SLOT_RUNNING
				      : a == TMIGR_TOP_OFFLINE ? TMIGR_SLOT_OFFLINE
				      : a == TMIGR_TOP_UNKNOWN
					      ? TMIGR_SLOT_UNKNOWN
					      : (size_t)(TMIGR_SLOT_STATE0 + a - TMIGR_TOP_STATE0);

			if (slot < TMIGR_SLOTS && a >= TMIGR_TOP_UNKNOWN && a != TMIGR_TOP_WARN &&
			    a != TMIGR_TOP_GLOBAL && a != TMIGR_TOP_MIGRATOR) {
				slots[slot] += top_columns(row->cells[k].text);
				width += top_columns(row->cells[k].text);
			}
		}
	}
	return width;
}

/* Every column within one of the exact share, and all of them together the bar. */
static void bars_add_up(void **state)
{
	struct machine *m = machine_4_4();
	struct tmigr_top *top = top_new();
	struct tmigr_totals_cpu times[8];

	(void)state;
	m->totals.cpus[3].time_ns[TMIGR_SLOT_RUNNING] -= 500 * MS;
	m->totals.cpus[3].time_ns[TMIGR_SLOT_OFFLINE] += 300 * MS;
	m->totals.cpus[3].time_ns[TMIGR_SLOT_UNKNOWN] += 200 * MS;
	memcpy(times, m->totals.cpus, sizeof(times));
	add(top, m, true);
	for (size_t width = 60; width < 150; width += 7) {
		struct tmigr_top_frame *frame =
			frame_of(top, (struct tmigr_top_opts){.width = width, .utf8 = width % 2});
		size_t slots[TMIGR_SLOTS], bar = 0;

		for (int cpu = 0; cpu < 8; cpu++) {
			size_t n = bar_of(frame, cpu, slots);

			if (!cpu)
				bar = n;
			assert_true(n >= 10);
			assert_int_equal(n, bar);
			for (size_t i = 0; i < TMIGR_SLOTS; i++) {
				double exact = (double)times[cpu].time_ns[i] / 1e10 * (double)bar;

				if ((double)slots[i] - exact >= 1 || exact - (double)slots[i] >= 1)
					fail_msg("CPU %d slot %zu: %zu of %zu columns, not %f", cpu,
						 i, slots[i], bar, exact);
			}
		}
		tmigr_top_frame_free(frame);
	}
	tmigr_top_free(top);
}

static void ascii_and_utf8_bars(void **state)
{
	struct tmigr_top *top = top_new();

	(void)state;
	add(top, machine_4_4(), true);
	assert_text(top, (struct tmigr_top_opts){.width = 80}, "# running  0 WFI  1 cpu-sleep\n",
		    NULL);
	assert_text(top, (struct tmigr_top_opts){.width = 80}, "##0000", NULL);
	assert_text(top, (struct tmigr_top_opts){.width = 80, .utf8 = true},
		    "█ running  ▓ WFI  ▒ cpu-sleep\n", "#");
	assert_text(top, (struct tmigr_top_opts){.width = 80, .utf8 = true}, "██▓▓▓▓", NULL);
	tmigr_top_free(top);
}

/* ---- names ---- */

static void odd_names_keep_the_columns(void **state)
{
	struct machine *m = machine_4_4();
	struct tmigr_top *top = top_new();
	struct tmigr_top_frame *frame;
	size_t first = 0;

	(void)state;
	strcpy(m->topo.classes[0].name, "größe");
	strcpy(m->topo.classes[1].name, "大\x1b[31m\xcc\x81z");
	strcpy(m->topo.cpus[0].states[0].name, "a/b");
	add(top, m, true);
	for (int utf8 = 0; utf8 < 2; utf8++) {
		struct tmigr_top_opts o = {.width = 80, .utf8 = utf8};

		frame = frame_of(top, o);
		check_fits(frame, &o);
		for (size_t i = 0; i < frame->n; i++) {
			if (row_cpu(&frame->rows[i]) < 0)
				continue;
			first = first ? first : row_columns(&frame->rows[i]);
			assert_int_equal(row_columns(&frame->rows[i]), first);
		}
		tmigr_top_frame_free(frame);
	}
	assert_text(top, (struct tmigr_top_opts){.width = 80, .utf8 = true}, "größe", "大");
	assert_text(top, (struct tmigr_top_opts){.width = 80}, "gr??e", NULL);
	assert_text(top, (struct tmigr_top_opts){.width = 80}, "??[31m?z", NULL);
	tmigr_top_free(top);
}

static void text_has_no_blanks_at_line_ends(void **state)
{
	struct tmigr_top *top = top_new();

	(void)state;
	add_256(top);
	assert_text(top, (struct tmigr_top_opts){.width = 100}, "MIGR\n", " \n");
	assert_text(top, (struct tmigr_top_opts){.width = 100, .height = 30, .help = true},
		    "HOLD/s", NULL);
	tmigr_top_free(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_fits),
		cmocka_unit_test(list_has_room_at_80x24),
		cmocka_unit_test(head_gives_way),
		cmocka_unit_test(pages_show_each_cpu_once),
		cmocka_unit_test(scroll_stops_at_the_end),
		cmocka_unit_test(sorts),
		cmocka_unit_test(headings_have_the_sums),
		cmocka_unit_test(what_is_not_known_is_not_guessed),
		cmocka_unit_test(marks),
		cmocka_unit_test(bars_add_up),
		cmocka_unit_test(ascii_and_utf8_bars),
		cmocka_unit_test(odd_names_keep_the_columns),
		cmocka_unit_test(text_has_no_blanks_at_line_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
