// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps of one CPU, one after the other, as operations. */
#include "hotplug_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_internal.h" /* tmigr_grow */

/* On the way up to @target the step is at most that, on the way down above it. */
static bool is_up(const struct hotplug_event *e)
{
	return e->step <= e->result;
}

/* ---- time ---- */

static __u64 clip(const struct hotplug_walk *w, __u64 t_ns)
{
	if (t_ns < w->start_ns)
		return w->start_ns;
	return t_ns > w->end_ns ? w->end_ns : t_ns;
}

/* The time since the last event is the innermost open step's. */
static void account(struct hotplug_walk *w, __u64 t_ns)
{
	__u64 ns = clip(w, t_ns) - clip(w, w->at_ns);

	if (w->n_open)
		w->op.steps[w->open[w->n_open - 1].at].ns += ns;
	else
		w->op.between_ns += ns;
	w->at_ns = t_ns;
}

/* ---- operations ---- */

static int end_op(struct hotplug_walk *w, bool cut)
{
	struct tmigr_hotplug_op *op = &w->op;
	int ret = 0;

	if (!w->has_op)
		return 0;
	if (cut)
		account(w, w->at_ns > w->end_ns ? w->at_ns : w->end_ns);
	op->start_ns = clip(w, w->first_ns);
	op->end_ns = clip(w, w->at_ns);
	op->cut |= w->first_ns < w->start_ns ? TMIGR_HOTPLUG_CUT_START : 0;
	op->cut |= cut || w->at_ns > w->end_ns ? TMIGR_HOTPLUG_CUT_END : 0;
	w->has_op = false;
	w->n_open = 0;
	if (w->at_ns > w->start_ns && w->first_ns < w->end_ns) {
		ret = tmigr_grow(&w->result->ops, &w->cap_ops, w->result->n_ops + 1, sizeof(*op));
		if (ret == 0) {
			w->result->ops[w->result->n_ops++] = *op;
			op->steps = NULL;
		}
	}
	free(op->steps);
	op->steps = NULL;
	return ret;
}

/* It has begun by @from_ns. */
static void begin_op(struct hotplug_walk *w, const struct hotplug_event *e, bool up, __u64 from_ns)
{
	w->op = (struct tmigr_hotplug_op){.cpu = e->cpu, .up = up, .failed_step = -1};
	w->cap_steps = 0;
	w->has_op = true;
	w->done = false;
	w->first_ns = w->at_ns = from_ns;
	w->last_step = e->step;
	w->target = up ? e->step : 0;
	w->control = -1;
	w->n_open = 0;
}

/* Does a step that begins while none is open go on with the present operation? */
static bool goes_on(const struct hotplug_walk *w, const struct hotplug_event *e)
{
	bool up = is_up(e);

	if (!w->has_op || w->done)
		return false;
	if (w->op.failed_step >= 0)
		/* Back, or the instances of the step that failed. */
		return up != w->op.up || e->step == w->op.failed_step;
	return up == w->op.up && (up ? e->step >= w->last_step : e->step <= w->last_step);
}

/* ---- steps ---- */

static int open_step(struct hotplug_walk *w, const struct hotplug_event *e)
{
	bool own = e->on_cpu == e->cpu && (w->control < 0 || e->pid != w->control);
	bool back = w->op.failed_step >= 0 && is_up(e) != w->op.up;
	struct tmigr_hotplug_step *last = w->op.n_steps ? &w->op.steps[w->op.n_steps - 1] : NULL;
	bool inside = w->n_open && w->open[w->n_open - 1].at + 1 == w->op.n_steps;

	if (!last || inside || last->step != e->step || last->own != own || last->back != back) {
		if (tmigr_grow(&w->op.steps, &w->cap_steps, w->op.n_steps + 1,
			       sizeof(*w->op.steps)) < 0)
			return -ENOMEM;
		last = &w->op.steps[w->op.n_steps++];
		*last = (struct tmigr_hotplug_step){.step = e->step, .own = own, .back = back};
	}
	last->calls++;
	if (tmigr_grow(&w->open, &w->cap_open, w->n_open + 1, sizeof(*w->open)) < 0)
		return -ENOMEM;
	w->open[w->n_open++] = (struct hotplug_open){e->step, (size_t)(last - w->op.steps)};
	return 0;
}

static int enter(struct hotplug_walk *w, const struct hotplug_event *e)
{
	if (!w->n_open && !goes_on(w, e)) {
		if (end_op(w, false) < 0)
			return -ENOMEM;
		begin_op(w, e, is_up(e), e->t_ns);
		/* A CPU that comes up does nothing but within a step of another's. */
		if (w->op.up && e->on_cpu == e->cpu)
			w->op.cut |= TMIGR_HOTPLUG_CUT_START;
		else
			w->control = e->pid;
	}
	account(w, e->t_ns);
	if (is_up(e) == w->op.up) {
		w->last_step = e->step;
		w->target = e->result;
	}
	return open_step(w, e);
}

/* The end of a step whose beginning nobody saw. */
static int orphan(struct hotplug_walk *w, const struct hotplug_event *e)
{
	const struct hotplug_event began = {.cpu = e->cpu,
					    .on_cpu = e->on_cpu,
					    .pid = e->pid,
					    .step = e->step,
					    /* its way, as is_up() has it */
					    .result = e->state >= e->step ? e->step : e->step - 1};

	if (w->has_op && !w->done) {
		account(w, e->t_ns);
		w->op.cut |= TMIGR_HOTPLUG_CUT_START;
		return 0;
	}
	if (end_op(w, false) < 0)
		return -ENOMEM;
	begin_op(w, e, is_up(&began), w->start_ns < e->t_ns ? w->start_ns : e->t_ns);
	w->op.cut |= TMIGR_HOTPLUG_CUT_START;
	if (open_step(w, &began) < 0)
		return -ENOMEM;
	account(w, e->t_ns);
	w->n_open = 0;
	return 0;
}

static int leave(struct hotplug_walk *w, const struct hotplug_event *e)
{
	size_t k = w->n_open;

	while (k && w->open[k - 1].step != e->step)
		k--;
	if (!k) {
		if (orphan(w, e) < 0)
			return -ENOMEM;
	} else {
		account(w, e->t_ns);
		/* Those within it whose end was lost have ended too. */
		w->n_open = k - 1;
	}
	if (e->result < 0 && w->op.failed_step < 0) {
		w->op.failed_step = e->step;
		w->op.error = e->result;
	}
	w->done = !w->n_open && w->op.up && w->op.failed_step < 0 && e->state >= w->target &&
		  e->state > e->step;
	return 0;
}

/*
 * A step that is run on a CPU that is online, as a driver comes or goes: alone, and the
 * CPU's state is beyond it.  In a bring-up it is the step's own, unless that has others
 * within it.
 */
static bool is_callback(const struct hotplug_walk *w, const struct hotplug_event *e, size_t left)
{
	return !w->n_open && e->enter && left > 1 && is_up(e) && !e[1].enter &&
	       e[1].step == e->step && e[1].state > e->step;
}

int hotplug_walk(struct hotplug_walk *w, const struct hotplug_event *evs, size_t n)
{
	int ret = 0;

	w->has_op = false;
	w->n_open = 0;
	for (size_t i = 0; i < n && !ret; i++) {
		if (is_callback(w, &evs[i], n - i)) {
			w->result->callbacks +=
				evs[i].t_ns >= w->start_ns && evs[i].t_ns < w->end_ns;
			i++;
			continue;
		}
		ret = evs[i].enter ? enter(w, &evs[i]) : leave(w, &evs[i]);
	}
	if (ret) {
		free(w->op.steps);
		return ret;
	}
	return end_op(w, w->n_open || (w->op.up && !w->done && w->op.failed_step < 0));
}
