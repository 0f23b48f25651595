// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The records of one CPU in a trace.dat.
 *
 * libtracecmd gives one at a time, in memory of its own, which takes several times as
 * long as all that is done with it.  But the record lies in its page, which stays
 * in memory as long as the record is held: so the first one of each page is asked
 * for, and the others are found behind it, as kbuffer (libtraceevent) finds them.
 * That holds where the library would say the same: the first record as found in
 * the page must be the one that was given, stamp and all (there may be offsets and
 * scales for stamps).  If not, this CPU's records are all asked for.
 */
#include "tracedat_cpu.h"

#ifdef TMIGR_TRACECMD
#include <errno.h>

#include <event-parse.h>
#include <kbuffer.h>
#include <trace-cmd.h>

/* Exported by the library, not in its header. */
__attribute__((weak)) int tracecmd_set_cursor(struct tracecmd_input *handle, int cpu,
					      unsigned long long offset);
__attribute__((weak)) unsigned long long tracecmd_get_cursor(struct tracecmd_input *handle,
							     int cpu);
__attribute__((weak)) unsigned long long tracecmd_get_cpu_file_size(struct tracecmd_input *handle,
								    int cpu);
__attribute__((weak)) int tracecmd_page_size(struct tracecmd_input *handle);
__attribute__((weak)) void *tracecmd_record_page(struct tracecmd_input *handle,
						 struct tep_record *record);

/* Where its pages lie, if it can be told; without that they cannot be read here. */
static bool find_pages(struct dat_cpu *c)
{
	int size;

	if (!tracecmd_set_cursor || !tracecmd_get_cursor || !tracecmd_get_cpu_file_size ||
	    !tracecmd_page_size || !tracecmd_record_page)
		return false;
	size = tracecmd_page_size(c->in);
	if (size <= 0 || size & (size - 1) || tep_is_old_format(tracecmd_get_tep(c->in)))
		return false;
	c->page_size = (unsigned int)size;
	/* Before anything is read it points into the first page. */
	c->end = (tracecmd_get_cursor(c->in, c->cpu) & ~(c->page_size - 1ULL)) +
		 tracecmd_get_cpu_file_size(c->in, c->cpu);
	return true;
}

int dat_cpu_begin(struct dat_cpu *c, struct tracecmd_input *in, int cpu)
{
	struct tep_handle *tep = tracecmd_get_tep(in);

	*c = (struct dat_cpu){.in = in, .cpu = cpu};
	c->kbuf = kbuffer_alloc(tep_get_long_size(tep) == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
				tep_is_file_bigendian(tep) ? KBUFFER_ENDIAN_BIG
							   : KBUFFER_ENDIAN_LITTLE);
	if (!c->kbuf)
		return -ENOMEM;
	c->by_page = find_pages(c);
	return 0;
}

static void let_go(struct dat_cpu *c)
{
	if (c->held)
		tracecmd_free_record(c->held);
	c->held = NULL;
}

void dat_cpu_end(struct dat_cpu *c)
{
	let_go(c);
	kbuffer_free(c->kbuf);
	c->kbuf = NULL;
}

/* Can its page be read from here on?  What the library gave is its first record. */
static bool enter_page(struct dat_cpu *c, struct tep_record *rec)
{
	void *page = tracecmd_record_page(c->in, rec);
	unsigned long long t_ns;

	if (!page || kbuffer_load_subbuffer(c->kbuf, page) < 0 ||
	    (unsigned int)kbuffer_subbuffer_size(c->kbuf) > c->page_size)
		return false;
	if (kbuffer_read_event(c->kbuf, &t_ns) != rec->data || t_ns != rec->ts ||
	    kbuffer_event_size(c->kbuf) != rec->size)
		return false;
	c->next_page = (rec->offset & ~(c->page_size - 1ULL)) + c->page_size;
	return true;
}

/* The next record as the library gives it. */
static bool ask(struct dat_cpu *c)
{
	struct tep_record *rec;

	let_go(c);
	rec = tracecmd_read_data(c->in, c->cpu);
	if (!rec)
		return false;
	c->held = rec;
	/* A damaged length may lead back, and round for ever. */
	c->damaged = rec->offset <= c->asked;
	if (c->damaged)
		return false;
	c->asked = rec->offset;
	c->data = rec->data;
	c->size = rec->size;
	c->t_ns = rec->ts;
	c->missed = rec->missed_events;
	c->in_page = c->by_page && enter_page(c, rec);
	c->by_page = c->in_page;
	return true;
}

bool dat_cpu_next(struct dat_cpu *c)
{
	const char *before = c->data;
	unsigned long long t_ns;

	c->last_ns = c->t_ns;
	if (!c->in_page)
		return ask(c);
	c->data = kbuffer_next_event(c->kbuf, &t_ns);
	c->damaged = c->data && (const char *)c->data <= before;
	if (c->damaged)
		return false;
	if (c->data) {
		c->size = kbuffer_event_size(c->kbuf);
		c->t_ns = t_ns;
		c->missed = 0;
		return true;
	}
	let_go(c);
	return c->next_page < c->end && tracecmd_set_cursor(c->in, c->cpu, c->next_page) >= 0 &&
	       ask(c);
}

#endif
