// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations of hotplug as JSON; the names of their steps. */
#include "hotplug_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_parts.h"
#include "sysfs.h"

#define STATES	 "/sys/devices/system/cpu/hotplug/states"
#define MAX_STEP 4096 /* the kernel has some 250 */

/* ---- names ---- */

int tmigr_step_names_set(struct tmigr_step_names *n, size_t step, const char *name, size_t size)
{
	char **grown;

	if (step >= MAX_STEP)
		return -EINVAL;
	if (step >= n->n) {
		grown = realloc(n->names, (step + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + n->n, 0, (step + 1 - n->n) * sizeof(*grown));
		n->names = grown;
		n->n = step + 1;
	}
	if (n->names[step])
		return 0;
	n->names[step] = strndup(name, size);
	return n->names[step] ? 0 : -ENOMEM;
}

/* Lines as " 83: cpu:bringup". */
static int parse_states(const char *text, struct tmigr_step_names *ret)
{
	int err = 0;

	for (const char *line = text; *line && !err; line += strcspn(line, "\n")) {
		char *end;
		unsigned long step;

		line += *line == '\n';
		step = strtoul(line, &end, 10);
		if (end != line && step < MAX_STEP && strncmp(end, ": ", 2) == 0)
			err = tmigr_step_names_set(ret, step, end + 2, strcspn(end + 2, "\n"));
	}
	return err;
}

int tmigr_step_names_read(const char *root, struct tmigr_step_names *ret)
{
	struct tmigr_step_names names = {0};
	char *text;
	int err = sysfs_text(root, STATES, &text);

	if (err < 0)
		return err;
	err = parse_states(text, &names);
	free(text);
	if (err)
		tmigr_step_names_free(&names);
	else
		*ret = names;
	return err;
}

void tmigr_step_names_free(struct tmigr_step_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct tmigr_step_names){0};
}

static const char *name_of(const struct tmigr_step_names *names, int step, bool up, char buf[32])
{
	size_t i = names && names->functions ? 2 * (size_t)step + up : (size_t)step;
	const char *name = NULL;

	if (names && step >= 0 && i < names->n)
		name = names->names[i];
	/* No step leads to the last state; its number stands for the wait for the CPU's own
	 * thread, which begins at it on the way down. */
	if (name && !strcmp(name, "online"))
		return "cpuhp_kick_ap_work";
	if (name && *name)
		return name;
	snprintf(buf, 32, "step %d", step);
	return buf;
}

/* "tmigr:prepare", "tmigr:online"; functions of the same, from text without names. */
bool tmigr_step_is_tmigr(const char *name)
{
	return strncmp(name, "tmigr", 5) == 0;
}

/* ---- operations ---- */

static json_t *step_json(const struct tmigr_hotplug_step *s, const struct tmigr_step_names *names,
			 bool up)
{
	json_t *obj = json_object();
	bool bad = !obj;
	char buf[32];
	const char *name = name_of(names, s->step, up != s->back, buf);

	tmigr_put(obj, "step", json_integer(s->step), &bad);
	tmigr_put(obj, "name", json_string(name), &bad);
	tmigr_put(obj, "time_ns", tmigr_json_u64(s->ns), &bad);
	tmigr_put(obj, "calls", json_integer(s->calls), &bad);
	tmigr_put(obj, "own", json_boolean(s->own), &bad);
	if (s->back)
		tmigr_put(obj, "back", json_true(), &bad);
	if (tmigr_step_is_tmigr(name))
		tmigr_put(obj, "timer_migration", json_true(), &bad);
	return tmigr_whole(obj, bad);
}

static json_t *cut_json(unsigned int cut)
{
	static const char *const names[] = {"start", "end", "lost"};
	json_t *list = json_array();
	bool bad = !list;

	for (unsigned int i = 0; i < 3; i++)
		if (cut >> i & 1)
			bad |= json_array_append_new(list, json_string(names[i])) < 0;
	return tmigr_whole(list, bad);
}

static json_t *failed_json(const struct tmigr_hotplug_op *op, const struct tmigr_step_names *names)
{
	char buf[32];

	if (op->failed_step < 0)
		return json_null();
	return json_pack("{si ss si}", "step", op->failed_step, "name",
			 name_of(names, op->failed_step, op->up, buf), "errno", -op->error);
}

static json_t *op_json(const struct tmigr_hotplug_op *op, const struct tmigr_step_names *names,
		       __u64 start_ns)
{
	json_t *obj = json_object(), *steps = json_array();
	__u64 own = 0, asking = 0, tmigr = 0;
	bool bad = !obj || !steps;
	char buf[32];

	for (size_t i = 0; i < op->n_steps && !bad; i++) {
		const struct tmigr_hotplug_step *s = &op->steps[i];

		bad |= json_array_append_new(steps, step_json(s, names, op->up)) < 0;
		own += s->own ? s->ns : 0;
		asking += s->own ? 0 : s->ns;
		if (tmigr_step_is_tmigr(name_of(names, s->step, op->up != s->back, buf)))
			tmigr += s->ns;
	}
	tmigr_put(obj, "cpu", tmigr_json_u64(op->cpu), &bad);
	tmigr_put(obj, "up", json_boolean(op->up), &bad);
	tmigr_put(obj, "start_ns", tmigr_json_u64(op->start_ns - start_ns), &bad);
	tmigr_put(obj, "total_ns", tmigr_json_u64(op->end_ns - op->start_ns), &bad);
	tmigr_put(obj, "asking_ns", tmigr_json_u64(asking), &bad);
	tmigr_put(obj, "own_ns", tmigr_json_u64(own), &bad);
	tmigr_put(obj, "between_ns", tmigr_json_u64(op->between_ns), &bad);
	tmigr_put(obj, "timer_migration_ns", tmigr_json_u64(tmigr), &bad);
	tmigr_put(obj, "cut", cut_json(op->cut), &bad);
	tmigr_put(obj, "failed", failed_json(op, names), &bad);
	tmigr_put(obj, "steps", steps, &bad);
	return tmigr_whole(obj, bad);
}

/* Time in which at least one of the whole operations of that direction went on, and how
 * many those are. */
static __u64 together(const struct tmigr_hotplug_result *r, bool up, size_t *ret_n)
{
	__u64 ns = 0, until = 0;

	*ret_n = 0;
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct tmigr_hotplug_op *op = &r->ops[i];

		if (op->up != up || op->cut || op->failed_step >= 0)
			continue;
		++*ret_n;
		if (op->end_ns > until)
			ns += op->end_ns - (op->start_ns > until ? op->start_ns : until);
		until = op->end_ns > until ? op->end_ns : until;
	}
	return ns;
}

static json_t *sum_json(const struct tmigr_hotplug_result *r, bool up)
{
	size_t n;
	__u64 ns = together(r, up, &n);

	return json_pack("{sI sI}", "count", (json_int_t)n, "any_ns", (json_int_t)ns);
}

json_t *tmigr_hotplug_json(const struct tmigr_hotplug_result *r,
			   const struct tmigr_step_names *names, __u64 start_ns)
{
	json_t *obj = json_object(), *ops = json_array();
	bool bad = !obj || !ops;

	for (size_t i = 0; i < r->n_ops && !bad; i++)
		bad |= json_array_append_new(ops, op_json(&r->ops[i], names, start_ns)) < 0;
	tmigr_put(obj, "bring_ups", sum_json(r, true), &bad);
	tmigr_put(obj, "take_downs", sum_json(r, false), &bad);
	tmigr_put(obj, "lost", tmigr_json_u64(r->lost), &bad);
	tmigr_put(obj, "callbacks", tmigr_json_u64(r->callbacks), &bad);
	tmigr_put(obj, "operations", ops, &bad);
	return tmigr_whole(obj, bad);
}
