// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of an ftrace buffer, field by field. */
#include "decode.h"
#include "decode_layout.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "sysfs.h"
#include "tmigr/hotplug.h"
#include "tmigr/topology.h"

#define HOTPLUG_STATES "/sys/devices/system/cpu/hotplug/states"

/* ---- hotplug ---- */

/* Lines as " 83: cpu:bringup". */
static int step_of(const char *text, const char *name)
{
	const char *line = text;

	while (line && *line) {
		char *end;
		long n = strtol(line, &end, 10);
		size_t len = strlen(name);

		if (end != line && strncmp(end, ": ", 2) == 0 && strncmp(end + 2, name, len) == 0 &&
		    (end[2 + len] == '\n' || !end[2 + len]))
			return (int)n;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return -1;
}

struct tmigr_hotplug_steps tmigr_hotplug_steps_read(const char *root)
{
	struct tmigr_hotplug_steps steps = {-1, -1};
	char *text;

	if (sysfs_text(root, HOTPLUG_STATES, &text) < 0)
		return steps;
	steps.bringup = step_of(text, "cpu:bringup");
	steps.teardown = step_of(text, "cpu:teardown");
	free(text);
	return steps;
}

/* ---- life ---- */

static void note(struct tmigr_decoder *d, const struct tmigr_err *why)
{
	if (!d->problem[0])
		memcpy(d->problem, why->text, sizeof(d->problem));
}

/* Every event of a kernel begins with the same fields. */
static void add_layout(struct tmigr_decoder *d, const struct decode_layout *l, int id,
		       int type_offset)
{
	struct tmigr_err why = {""};

	if (d->n && d->type_offset != type_offset)
		tmigr_fail(&why, 0,
			   "the format of event %d makes no sense: its common_type lies "
			   "elsewhere than that of others",
			   id);
	else if (d->by_id[id])
		tmigr_fail(&why, 0, "two events have the number %d", id);
	if (why.text[0]) {
		note(d, &why);
		return;
	}
	d->type_offset = (__u16)type_offset;
	d->layouts[d->n++] = *l;
	d->by_id[id] = (__u8)d->n;
}

static void read_formats(struct tmigr_decoder *d, struct tep_handle *tep)
{
	for (size_t k = 0; k < decode_n_events(); k++) {
		struct decode_layout l;
		struct tmigr_err why = {""};
		int id, type_offset, ret;

		ret = decode_layout(tep, k, &l, &id, &type_offset, &why);
		if (ret > 0)
			add_layout(d, &l, id, type_offset);
		else if (ret < 0)
			note(d, &why);
	}
}

int tmigr_decoder_new(struct tep_handle *tep, struct tmigr_hotplug_steps steps,
		      struct tmigr_decoder **ret, struct tmigr_err *err)
{
	struct tmigr_decoder *d = calloc(1, sizeof(*d));

	if (d) {
		d->layouts = calloc(decode_n_events(), sizeof(*d->layouts));
		d->by_id = calloc(DECODE_IDS, 1);
	}
	if (!d || !d->layouts || !d->by_id) {
		tmigr_decoder_free(d);
		return tmigr_fail(err, -ENOMEM, "no memory for the formats of events");
	}
	d->steps = steps;
	d->big = tep_is_file_bigendian(tep);
	read_formats(d, tep);
	if (!d->n) {
		int r = tmigr_fail(err, -EINVAL,
				   "no cpu_idle and no timer-migration events%s%.200s",
				   d->problem[0] ? ": " : "", d->problem);

		tmigr_decoder_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

void tmigr_decoder_all_steps(struct tmigr_decoder *d)
{
	d->all_steps = true;
}

void tmigr_decoder_free(struct tmigr_decoder *d)
{
	if (!d)
		return;
	free(d->layouts);
	free(d->by_id);
	free(d);
}

const char *tmigr_decoder_problem(const struct tmigr_decoder *d)
{
	return d->problem;
}

void tmigr_decoder_functions(struct tmigr_decoder *d, const char *(*name)(void *arg, __u64 address),
			     void *arg)
{
	d->function = name;
	d->function_arg = arg;
}

bool tmigr_decoder_has(const struct tmigr_decoder *d, enum tmigr_traced_type type)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->layouts[i].type == type)
			return true;
	return false;
}

/* ---- records ---- */

/* Does that step of hotplug bring the CPU up, or did it take it down? */
static bool is_step(struct tmigr_decoder *d, const struct tmigr_traced *e, __u64 target,
		    __u64 function)
{
	int step = (int)(__u32)e->value, t = (int)(__u32)target;
	const char *name;

	if (e->type == TMIGR_TRACED_HOTPLUG_OFFLINE)
		return tmigr_hotplug_took_down(step, d->steps.teardown, t);
	name = d->function && function ? d->function(d->function_arg, function) : NULL;
	if (name)
		tmigr_hotplug_learn(&d->steps, step, name, strlen(name));
	return tmigr_hotplug_brings_up(step, d->steps.bringup, t);
}

static bool is_cpuhp(__u8 type)
{
	return type == TMIGR_TRACED_HOTPLUG_ONLINE || type == TMIGR_TRACED_HOTPLUG_OFFLINE ||
	       type == TMIGR_TRACED_STEP_ENTER;
}

/* A record of cpuhp, by what is wanted of them: 1, or 0 of no use. */
static int fill_step(struct tmigr_decoder *d, const __u64 *more, struct tmigr_traced *e)
{
	if (d->all_steps) {
		e->type = e->type == TMIGR_TRACED_HOTPLUG_OFFLINE ? TMIGR_TRACED_STEP_EXIT
								  : TMIGR_TRACED_STEP_ENTER;
		e->value = (__u32)e->value;
		e->node = (__s32)(__u32)more[DECODE_TARGET];
		e->capacity = (__u32)more[DECODE_STATE];
		return 1;
	}
	if (e->type != TMIGR_TRACED_STEP_ENTER &&
	    is_step(d, e, more[DECODE_TARGET], more[DECODE_FUNCTION])) {
		e->value = 0;
		return 1;
	}
	e->type = TMIGR_TRACED_OTHER;
	return 0;
}

static __u64 take(const struct decode_field *f, const unsigned char *data, bool big)
{
	__u64 v;

	memcpy(&v, data + f->from, sizeof(v));
	return big ? be64toh(v) << f->shift >> f->shift : le64toh(v) >> f->shift;
}

/* False: a value is not what a kernel writes. */
static bool take_fields(const struct decode_layout *l, const unsigned char *data, bool big,
			struct tmigr_traced *ev)
{
	const struct decode_field *f = l->fields + l->n[0];
	unsigned char *to = (unsigned char *)ev;
	bool fits = true;

	for (; f < l->fields + l->n[1]; f++) {
		__u64 v = take(f, data, big);

		memcpy(to + f->at, &v, sizeof(v));
	}
	for (; f < l->fields + l->n[2]; f++) {
		__u64 v = take(f, data, big);
		__u32 v32 = (__u32)v;

		fits &= v <= f->max;
		memcpy(to + f->at, &v32, sizeof(v32));
	}
	for (; f < l->fields + l->n[3]; f++) {
		__u64 v = take(f, data, big);

		fits &= v <= f->max;
		to[f->at] = (unsigned char)v;
	}
	return fits;
}

/* What is no member of an event as it is. */
static int take_more(struct tmigr_decoder *d, const struct decode_layout *l,
		     const unsigned char *data, struct tmigr_traced *ev)
{
	__u64 more[DECODE_MORE] = {0};

	for (const struct decode_field *f = l->fields; f < l->fields + l->n[0]; f++)
		more[f->at] = take(f, data, d->big);
	ev->below = more[DECODE_BELOW] != 0;
	return is_cpuhp(l->type) ? fill_step(d, more, ev) : 1;
}

static __u16 id_of(const struct tmigr_decoder *d, const unsigned char *data)
{
	__u16 id;

	memcpy(&id, data + d->type_offset, sizeof(id));
	return d->big ? be16toh(id) : le16toh(id);
}

int tmigr_decode(struct tmigr_decoder *d, const void *data, size_t size, __u64 t_ns, __u32 cpu,
		 struct tmigr_traced *ret)
{
	const struct decode_layout *l;
	unsigned int k;

	if (size < d->type_offset + 2u)
		return -EINVAL;
	*ret = (struct tmigr_traced){.t_ns = t_ns, .cpu = cpu};
	k = d->by_id[id_of(d, data)];
	if (!k)
		return 0;
	l = &d->layouts[k - 1];
	if (size < l->min_size || !take_fields(l, data, d->big, ret))
		return -EINVAL;
	ret->type = l->type;
	ret->has = ret->group ? l->has : l->has & (__u8)~TMIGR_HAS_GROUP;
	if (!ret->group &&
	    (l->type == TMIGR_TRACED_GROUP_ACTIVE || l->type == TMIGR_TRACED_GROUP_INACTIVE))
		return -EINVAL;
	return l->n[0] ? take_more(d, l, data, ret) : 1;
}
