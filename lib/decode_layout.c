// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events that are used, the names that their fields have in the kernels since
 * v6.9, and where they lie by a format that may be anybody's.
 */
#include "decode_layout.h"

#include <errno.h>
#include <string.h>

#include <event-parse.h>

#define MAX_OFFSET 4096 /* a record is smaller than a page */

struct wanted {
	enum decode_dest dest;
	const char *name, *other; /* other: what some kernels call it */
	bool optional;
};

struct known_event {
	const char *system, *name;
	enum tmigr_traced_type type;
	const struct wanted *fields;
};

#define END                                                                                        \
	{                                                                                          \
		DECODE_DESTS, NULL, NULL, false                                                    \
	}

static const struct wanted cpu_idle[] = {
	{DECODE_VALUE, "state", NULL, false}, {DECODE_CPU, "cpu_id", NULL, false}, END};
static const struct wanted cpu_idle_miss[] = {{DECODE_VALUE, "state", NULL, false},
					      {DECODE_CPU, "cpu_id", NULL, false},
					      {DECODE_BELOW, "below", NULL, false},
					      END};
/* childmask in these two in all kernels so far; the connect events' was renamed in
 * v6.11. numa_node is family in kernels that group CPUs by capacity out of tree. */
static const struct wanted group_update[] = {
	{DECODE_GROUP, "group", NULL, false},		{DECODE_LEVEL, "lvl", NULL, false},
	{DECODE_MASK, "childmask", "groupmask", false}, {DECODE_ACTIVE, "active", NULL, false},
	{DECODE_MIGRATOR, "migrator", NULL, false},	{DECODE_PARENT, "parent", NULL, true},
	{DECODE_NODE, "numa_node", "family", true},	END};
static const struct wanted cpu_wakeup[] = {{DECODE_SUBJECT, "cpu", NULL, false},
					   {DECODE_VALUE, "wakeup", NULL, false},
					   {DECODE_GROUP, "parent", NULL, true},
					   END};
static const struct wanted cpu_only[] = {
	{DECODE_SUBJECT, "cpu", NULL, false}, {DECODE_GROUP, "parent", NULL, true}, END};
static const struct wanted remote_cpu[] = {{DECODE_SUBJECT, "cpu", NULL, false},
					   {DECODE_VALUE, "wakeup", NULL, true},
					   {DECODE_GROUP, "parent", NULL, true},
					   END};
static const struct wanted remote[] = {
	{DECODE_GROUP, "group", NULL, false}, {DECODE_LEVEL, "lvl", NULL, false}, END};
static const struct wanted update_events[] = {{DECODE_GROUP, "group", NULL, false},
					      {DECODE_PARENT, "child", NULL, false},
					      {DECODE_LEVEL, "group_lvl", NULL, false},
					      END};
static const struct wanted group_set[] = {{DECODE_GROUP, "group", NULL, false},
					  {DECODE_LEVEL, "lvl", NULL, false},
					  {DECODE_NODE, "numa_node", "family", true},
					  END};
static const struct wanted connect_cpu[] = {{DECODE_SUBJECT, "cpu", NULL, false},
					    {DECODE_GROUP, "parent", NULL, false},
					    {DECODE_LEVEL, "lvl", NULL, false},
					    {DECODE_MASK, "groupmask", "childmask", false},
					    {DECODE_NODE, "numa_node", "family", true},
					    {DECODE_CAPACITY, "capacity", NULL, true},
					    {DECODE_NUM_CHILDREN, "num_children", NULL, true},
					    END};
static const struct wanted connect_child[] = {{DECODE_GROUP, "child", NULL, false},
					      {DECODE_PARENT, "parent", NULL, false},
					      {DECODE_LEVEL, "lvl", NULL, false},
					      {DECODE_MASK, "groupmask", "childmask", false},
					      {DECODE_NODE, "numa_node", "family", true},
					      {DECODE_CAPACITY, "capacity", NULL, true},
					      {DECODE_NUM_CHILDREN, "num_children", NULL, true},
					      END};
static const struct wanted cpuhp_enter[] = {{DECODE_SUBJECT, "cpu", NULL, false},
					    {DECODE_TARGET, "target", NULL, false},
					    {DECODE_VALUE, "idx", NULL, false},
					    {DECODE_FUNCTION, "fun", NULL, true},
					    END};
static const struct wanted cpuhp_exit[] = {{DECODE_SUBJECT, "cpu", NULL, false},
					   {DECODE_TARGET, "ret", NULL, false},
					   {DECODE_VALUE, "idx", NULL, false},
					   {DECODE_STATE, "state", NULL, true},
					   END};

#define TM "timer_migration"

static const struct known_event events[] = {
	{"power", "cpu_idle", TMIGR_TRACED_CPU_IDLE, cpu_idle},
	{"power", "cpu_idle_miss", TMIGR_TRACED_CPU_IDLE_MISS, cpu_idle_miss},
	{TM, "tmigr_group_set_cpu_active", TMIGR_TRACED_GROUP_ACTIVE, group_update},
	{TM, "tmigr_group_set_cpu_inactive", TMIGR_TRACED_GROUP_INACTIVE, group_update},
	{TM, "tmigr_cpu_active", TMIGR_TRACED_CPU_ACTIVE, cpu_wakeup},
	{TM, "tmigr_cpu_idle", TMIGR_TRACED_CPU_INACTIVE, cpu_wakeup},
	{TM, "tmigr_cpu_new_timer", TMIGR_TRACED_CPU_NEW_TIMER, cpu_wakeup},
	{TM, "tmigr_cpu_new_timer_idle", TMIGR_TRACED_CPU_NEW_TIMER_IDLE, cpu_wakeup},
	{TM, "tmigr_handle_remote", TMIGR_TRACED_HANDLE_REMOTE, remote},
	{TM, "tmigr_handle_remote_cpu", TMIGR_TRACED_HANDLE_REMOTE_CPU, remote_cpu},
	{TM, "tmigr_cpu_available", TMIGR_TRACED_CPU_AVAILABLE, cpu_only},
	{TM, "tmigr_cpu_online", TMIGR_TRACED_CPU_AVAILABLE, cpu_only},
	{TM, "tmigr_cpu_unavailable", TMIGR_TRACED_CPU_UNAVAILABLE, cpu_only},
	{TM, "tmigr_cpu_offline", TMIGR_TRACED_CPU_UNAVAILABLE, cpu_only},
	{TM, "tmigr_update_events", TMIGR_TRACED_UPDATE_EVENTS, update_events},
	{TM, "tmigr_group_set", TMIGR_TRACED_GROUP_SET, group_set},
	{TM, "tmigr_connect_cpu_parent", TMIGR_TRACED_CONNECT_CPU, connect_cpu},
	{TM, "tmigr_connect_child_parent", TMIGR_TRACED_CONNECT_CHILD, connect_child},
	{"cpuhp", "cpuhp_enter", TMIGR_TRACED_HOTPLUG_ONLINE, cpuhp_enter},
	{"cpuhp", "cpuhp_multi_enter", TMIGR_TRACED_STEP_ENTER, cpuhp_enter},
	{"cpuhp", "cpuhp_exit", TMIGR_TRACED_HOTPLUG_OFFLINE, cpuhp_exit},
};

size_t decode_n_events(void)
{
	return sizeof(events) / sizeof(events[0]);
}

static bool is_size(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* A field as a plain integer within a record. */
static int check_field(const struct tep_format_field *f, struct tmigr_err *why)
{
	const unsigned long odd = TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_STRING |
				  TEP_FIELD_IS_RELATIVE;

	if (!is_size(f->size) || f->flags & odd)
		return tmigr_fail(why, -EINVAL,
				  "its field %.40s is no integer of 1, 2, 4 or 8 bytes", f->name);
	if (f->offset < 0 || f->offset > MAX_OFFSET - f->size)
		return tmigr_fail(why, -EINVAL, "its field %.40s lies at %d", f->name, f->offset);
	return 0;
}

static bool overlap(int a, int a_size, int b, int b_size)
{
	return a < b + b_size && b < a + a_size;
}

static void grow(struct decode_layout *l, int end)
{
	if (end > l->min_size)
		l->min_size = (__u16)end;
}

static int add_field(struct decode_layout *l, const struct wanted *w,
		     const struct tep_format_field *f, struct tmigr_err *why)
{
	int ret = check_field(f, why);

	if (ret)
		return ret;
	for (int i = 0; i < l->n; i++)
		if (overlap(f->offset, f->size, l->fields[i].offset, l->fields[i].size))
			return tmigr_fail(why, -EINVAL, "its field %.40s lies in another", f->name);
	l->fields[l->n++] = (struct decode_field){
		.offset = (__u16)f->offset, .size = (__u8)f->size, .dest = (__u8)w->dest};
	grow(l, f->offset + f->size);
	return 0;
}

static int add_fields(struct tep_event *event, const struct known_event *known,
		      struct decode_layout *l, struct tmigr_err *why)
{
	for (const struct wanted *w = known->fields; w->name; w++) {
		const struct tep_format_field *f = tep_find_field(event, w->name);
		int ret;

		if (!f && w->other)
			f = tep_find_field(event, w->other);
		if (!f && w->optional)
			continue;
		if (f && w->optional && w->dest == DECODE_GROUP)
			l->may |= TMIGR_HAS_GROUP;
		if (f && w->optional && w->dest == DECODE_PARENT)
			l->may |= TMIGR_HAS_PARENT;
		if (!f)
			return tmigr_fail(why, -EINVAL, "it has no field %s", w->name);
		ret = add_field(l, w, f, why);
		if (ret)
			return ret;
	}
	return 0;
}

static int add_common(struct tep_event *event, struct decode_layout *l, int *ret_type_offset,
		      struct tmigr_err *why)
{
	const struct tep_format_field *type = tep_find_common_field(event, "common_type");
	const struct tep_format_field *pid = tep_find_common_field(event, "common_pid");

	if (!type || type->size != 2 || check_field(type, why))
		return tmigr_fail(why, -EINVAL, "it has no common_type of 2 bytes");
	if (!pid || pid->size != 4 || check_field(pid, why))
		return tmigr_fail(why, -EINVAL, "it has no common_pid of 4 bytes");
	for (int i = 0; i < l->n; i++) {
		const struct decode_field *f = &l->fields[i];

		if (overlap(type->offset, 2, f->offset, f->size) ||
		    overlap(pid->offset, 4, f->offset, f->size))
			return tmigr_fail(why, -EINVAL, "its fields lie in the common ones");
	}
	*ret_type_offset = type->offset;
	l->pid_offset = (__u16)pid->offset;
	l->pid_size = 4;
	grow(l, type->offset + 2);
	grow(l, pid->offset + 4);
	return 0;
}

int decode_layout(struct tep_handle *tep, size_t k, struct decode_layout *ret, int *ret_id,
		  int *ret_type_offset, struct tmigr_err *why)
{
	struct tep_event *event = tep_find_event_by_name(tep, events[k].system, events[k].name);
	struct decode_layout l = {.type = (__u8)events[k].type};
	bool hotplug = tmigr_traced_is_hotplug(events[k].name, strlen(events[k].name));
	struct tmigr_err reason = {""};
	int r;

	if (!event)
		return 0;
	r = add_fields(event, &events[k], &l, &reason);
	if (!r)
		r = add_common(event, &l, ret_type_offset, &reason);
	if (!r && (event->id < 0 || event->id >= DECODE_IDS))
		r = tmigr_fail(&reason, -EINVAL, "its number is %d", event->id);
	if (r)
		return tmigr_fail(why, r, "the format of %s makes no sense: %s", events[k].name,
				  reason.text);
	l.has = hotplug ? TMIGR_HAS_HOTPLUG : 0;
	*ret = l;
	*ret_id = event->id;
	return 1;
}
