// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations (bring-ups and take-downs) from the events of hotplug steps.
 *
 * No event says where an operation begins or ends.  But a CPU's steps come in a fixed
 * order, upwards on the way up and downwards on the way down, whoever runs them; so an
 * operation goes on as long as they do, and as long as one of them is open.  Steps the
 * other way belong to it only when it has failed: they take back what it did.
 */
#include "hotplug_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_internal.h" /* tmigr_grow */

struct tmigr_hotplug {
	struct hotplug_event *evs;
	size_t n, cap;
	struct hotplug_loss *losses;
	size_t n_losses, cap_losses;
	__u64 lost;
	__u64 *last_ns; /* by CPU: of its last event, for how far back a loss reaches */
	size_t n_last, cap_last;
};

int tmigr_hotplug_new(struct tmigr_hotplug **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void tmigr_hotplug_free(struct tmigr_hotplug *h)
{
	if (!h)
		return;
	free(h->evs);
	free(h->losses);
	free(h->last_ns);
	free(h);
}

static int note_last(struct tmigr_hotplug *h, const struct tmigr_traced *e)
{
	if (e->cpu > TMIGR_TRACED_CPU_MAX)
		return 0;
	if (e->cpu >= h->n_last) {
		if (tmigr_grow(&h->last_ns, &h->cap_last, e->cpu + 1, sizeof(*h->last_ns)) < 0)
			return -ENOMEM;
		memset(h->last_ns + h->n_last, 0, (e->cpu + 1 - h->n_last) * sizeof(*h->last_ns));
		h->n_last = e->cpu + 1;
	}
	h->last_ns[e->cpu] = e->t_ns;
	return 0;
}

static int add_loss(struct tmigr_hotplug *h, const struct tmigr_traced *e)
{
	if (tmigr_grow(&h->losses, &h->cap_losses, h->n_losses + 1, sizeof(*h->losses)) < 0)
		return -ENOMEM;
	h->losses[h->n_losses++] = (struct hotplug_loss){
		.from_ns = e->cpu < h->n_last ? h->last_ns[e->cpu] : 0, .to_ns = e->t_ns};
	h->lost += e->value;
	return 0;
}

static int add_step(struct tmigr_hotplug *h, const struct tmigr_traced *e)
{
	if (tmigr_grow(&h->evs, &h->cap, h->n + 1, sizeof(*h->evs)) < 0)
		return -ENOMEM;
	h->evs[h->n] = (struct hotplug_event){
		.t_ns = e->t_ns,
		.order = h->n,
		.cpu = e->subject,
		.on_cpu = e->cpu,
		.pid = e->pid,
		.step = (int)(__u32)e->value,
		.result = e->node,
		.state = (int)e->capacity,
		.enter = e->type == TMIGR_TRACED_STEP_ENTER,
	};
	h->n++;
	return 0;
}

int tmigr_hotplug_feed(struct tmigr_hotplug *h, const struct tmigr_traced *evs, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		bool step = evs[i].type == TMIGR_TRACED_STEP_ENTER ||
			    evs[i].type == TMIGR_TRACED_STEP_EXIT;

		if (evs[i].type == TMIGR_TRACED_LOST)
			ret = add_loss(h, &evs[i]);
		else if (step)
			ret = add_step(h, &evs[i]);
		if (!ret)
			ret = note_last(h, &evs[i]);
	}
	return ret;
}

/* ---- result ---- */

static int by_cpu(const void *a, const void *b)
{
	const struct hotplug_event *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_start(const void *a, const void *b)
{
	const struct tmigr_hotplug_op *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void mark_losses(const struct tmigr_hotplug *h, struct tmigr_hotplug_op *op)
{
	for (size_t i = 0; i < h->n_losses; i++)
		if (h->losses[i].from_ns < op->end_ns && h->losses[i].to_ns > op->start_ns)
			op->cut |= TMIGR_HOTPLUG_CUT_LOST;
}

int tmigr_hotplug_result(struct tmigr_hotplug *h, __u64 start_ns, __u64 end_ns,
			 struct tmigr_hotplug_result *ret)
{
	struct tmigr_hotplug_result r = {.lost = h->lost};
	struct hotplug_walk w = {.start_ns = start_ns, .end_ns = end_ns, .result = &r};
	size_t i, from;
	int err = 0;

	if (h->n)
		qsort(h->evs, h->n, sizeof(*h->evs), by_cpu);
	for (from = 0; from < h->n && !err; from = i) {
		for (i = from; i < h->n && h->evs[i].cpu == h->evs[from].cpu; i++)
			;
		err = hotplug_walk(&w, h->evs + from, i - from);
	}
	free(w.open);
	if (err) {
		tmigr_hotplug_result_free(&r);
		return err;
	}
	for (i = 0; i < r.n_ops; i++)
		mark_losses(h, &r.ops[i]);
	if (r.n_ops)
		qsort(r.ops, r.n_ops, sizeof(*r.ops), by_start);
	*ret = r;
	return 0;
}

void tmigr_hotplug_result_free(struct tmigr_hotplug_result *r)
{
	for (size_t i = 0; i < r->n_ops; i++)
		free(r->ops[i].steps);
	free(r->ops);
	*r = (struct tmigr_hotplug_result){0};
}
