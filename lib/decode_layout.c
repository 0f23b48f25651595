// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events that are used, the names that their fields have in the kernels since
 * v6.9, and where they lie by a format that may be anybody's.
 */
#include "decode_layout.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <event-parse.h>

#include "tmigr/topology.h"

#define MAX_OFFSET 4096 /* a record is smaller than a page */

/* Where a field goes, and how great it may be. */
struct dest {
	__u8 at;    /* as in struct decode_field */
	__u8 bytes; /* of the member; 0: it is none, see enum decode_more */
	__u8 has;   /* what the event has with it */
	__u8 has_if_optional;
	__u64 max;
};

#define ANY (~0ULL)
#define MEMBER(member, most, ...)                                                                  \
	{                                                                                          \
		.at = offsetof(struct tmigr_traced, member),                                       \
		.bytes = sizeof(((struct tmigr_traced *)0)->member), .max = (most), __VA_ARGS__    \
	}
#define MORE(what)                                                                                 \
	{                                                                                          \
		.at = (what), .max = ANY                                                           \
	}

static const struct dest pid = MEMBER(pid, ANY);
static const struct dest cpu = MEMBER(cpu, TMIGR_CPU_MAX);
static const struct dest value = MEMBER(value, ANY);
static const struct dest subject = MEMBER(subject, TMIGR_CPU_MAX);
static const struct dest group = MEMBER(group, ANY, .has_if_optional = TMIGR_HAS_GROUP);
static const struct dest parent = MEMBER(parent, ANY, .has_if_optional = TMIGR_HAS_PARENT);
static const struct dest level = MEMBER(level, 0xff);
static const struct dest mask = MEMBER(mask, 0xff);
static const struct dest active = MEMBER(active, 0xff);
static const struct dest migrator = MEMBER(migrator, 0xff);
static const struct dest node = MEMBER(node, ANY, .has = TMIGR_HAS_NODE);
static const struct dest capacity = MEMBER(capacity, ANY, .has = TMIGR_HAS_CAPACITY);
static const struct dest num_children = MEMBER(num_children, ANY, .has = TMIGR_HAS_NUM_CHILDREN);
static const struct dest below = MORE(DECODE_BELOW);
static const struct dest target = MORE(DECODE_TARGET);
static const struct dest function = MORE(DECODE_FUNCTION);
static const struct dest state = MORE(DECODE_STATE);

struct wanted {
	const struct dest *dest;
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
		NULL, NULL, NULL, false                                                            \
	}

static const struct wanted cpu_idle[] = {
	{&value, "state", NULL, false}, {&cpu, "cpu_id", NULL, false}, END};
static const struct wanted cpu_idle_miss[] = {{&value, "state", NULL, false},
					      {&cpu, "cpu_id", NULL, false},
					      {&below, "below", NULL, false},
					      END};
/* childmask in these two in all kernels so far; the connect events' was renamed in
 * v6.11. numa_node is family in kernels that group CPUs by capacity out of tree. */
static const struct wanted group_update[] = {
	{&group, "group", NULL, false},		  {&level, "lvl", NULL, false},
	{&mask, "childmask", "groupmask", false}, {&active, "active", NULL, false},
	{&migrator, "migrator", NULL, false},	  {&parent, "parent", NULL, true},
	{&node, "numa_node", "family", true},	  END};
static const struct wanted cpu_wakeup[] = {{&subject, "cpu", NULL, false},
					   {&value, "wakeup", NULL, false},
					   {&group, "parent", NULL, true},
					   END};
static const struct wanted cpu_only[] = {
	{&subject, "cpu", NULL, false}, {&group, "parent", NULL, true}, END};
static const struct wanted remote_cpu[] = {{&subject, "cpu", NULL, false},
					   {&value, "wakeup", NULL, true},
					   {&group, "parent", NULL, true},
					   END};
static const struct wanted remote[] = {
	{&group, "group", NULL, false}, {&level, "lvl", NULL, false}, END};
static const struct wanted update_events[] = {{&group, "group", NULL, false},
					      {&parent, "child", NULL, false},
					      {&level, "group_lvl", NULL, false},
					      END};
static const struct wanted group_set[] = {{&group, "group", NULL, false},
					  {&level, "lvl", NULL, false},
					  {&node, "numa_node", "family", true},
					  END};
static const struct wanted connect_cpu[] = {{&subject, "cpu", NULL, false},
					    {&group, "parent", NULL, false},
					    {&level, "lvl", NULL, false},
					    {&mask, "groupmask", "childmask", false},
					    {&node, "numa_node", "family", true},
					    {&capacity, "capacity", NULL, true},
					    {&num_children, "num_children", NULL, true},
					    END};
static const struct wanted connect_child[] = {{&group, "child", NULL, false},
					      {&parent, "parent", NULL, false},
					      {&level, "lvl", NULL, false},
					      {&mask, "groupmask", "childmask", false},
					      {&node, "numa_node", "family", true},
					      {&capacity, "capacity", NULL, true},
					      {&num_children, "num_children", NULL, true},
					      END};
static const struct wanted cpuhp_enter[] = {{&subject, "cpu", NULL, false},
					    {&target, "target", NULL, false},
					    {&value, "idx", NULL, false},
					    {&function, "fun", NULL, true},
					    END};
static const struct wanted cpuhp_exit[] = {{&subject, "cpu", NULL, false},
					   {&target, "ret", NULL, false},
					   {&value, "idx", NULL, false},
					   {&state, "state", NULL, true},
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

/* A field on its way into a layout. */
struct found {
	const struct dest *dest;
	int offset, size;
};

struct found_fields {
	struct found at[DECODE_FIELDS];
	int n;
};

static int add_field(struct found_fields *found, const struct dest *dest,
		     const struct tep_format_field *f, struct tmigr_err *why)
{
	int ret = check_field(f, why);

	if (ret)
		return ret;
	/* The common fields come first. */
	if (f->offset + f->size < 8)
		return tmigr_fail(why, -EINVAL, "its field %.40s lies at %d", f->name, f->offset);
	for (int i = 0; i < found->n; i++)
		if (overlap(f->offset, f->size, found->at[i].offset, found->at[i].size))
			return tmigr_fail(why, -EINVAL, "its field %.40s lies in another", f->name);
	found->at[found->n++] = (struct found){dest, f->offset, f->size};
	return 0;
}

/* By the bytes that they go into. */
static void arrange(struct decode_layout *l, const struct found_fields *found)
{
	static const __u8 bytes[4] = {0, 8, 4, 1};
	__u8 n = 0;

	for (int width = 0; width < 4; width++) {
		for (int i = 0; i < found->n; i++) {
			const struct found *f = &found->at[i];

			if (f->dest->bytes != bytes[width])
				continue;
			l->fields[n++] = (struct decode_field){
				f->dest->max, (__u16)(f->offset + f->size - 8),
				(__u8)(64 - 8 * f->size), f->dest->at};
			grow(l, f->offset + f->size);
		}
		l->n[width] = n;
	}
}

static int add_fields(struct tep_event *event, const struct known_event *known,
		      struct found_fields *found, __u8 *has, struct tmigr_err *why)
{
	for (const struct wanted *w = known->fields; w->name; w++) {
		const struct tep_format_field *f = tep_find_field(event, w->name);
		int ret;

		if (!f && w->other)
			f = tep_find_field(event, w->other);
		if (!f && w->optional)
			continue;
		if (!f)
			return tmigr_fail(why, -EINVAL, "it has no field %s", w->name);
		ret = add_field(found, w->dest, f, why);
		if (ret)
			return ret;
		*has |= w->dest->has | (w->optional ? w->dest->has_if_optional : 0);
	}
	return 0;
}

static int add_common(struct tep_event *event, struct found_fields *found, int *ret_type_offset,
		      struct tmigr_err *why)
{
	const struct tep_format_field *type = tep_find_common_field(event, "common_type");
	const struct tep_format_field *task = tep_find_common_field(event, "common_pid");

	if (!type || type->size != 2 || check_field(type, why))
		return tmigr_fail(why, -EINVAL, "it has no common_type of 2 bytes");
	if (!task || task->size != 4 || check_field(task, why))
		return tmigr_fail(why, -EINVAL, "it has no common_pid of 4 bytes");
	for (int i = 0; i < found->n; i++) {
		const struct found *f = &found->at[i];

		if (overlap(type->offset, 2, f->offset, f->size) ||
		    overlap(task->offset, 4, f->offset, f->size))
			return tmigr_fail(why, -EINVAL, "its fields lie in the common ones");
	}
	*ret_type_offset = type->offset;
	return add_field(found, &pid, task, why);
}

int decode_layout(struct tep_handle *tep, size_t k, struct decode_layout *ret, int *ret_id,
		  int *ret_type_offset, struct tmigr_err *why)
{
	struct tep_event *event = tep_find_event_by_name(tep, events[k].system, events[k].name);
	struct decode_layout l = {.type = (__u8)events[k].type};
	bool hotplug = tmigr_traced_is_hotplug(events[k].name, strlen(events[k].name));
	struct found_fields found = {.n = 0};
	struct tmigr_err reason = {""};
	int r;

	if (!event)
		return 0;
	l.has = hotplug ? TMIGR_HAS_HOTPLUG : 0;
	r = add_fields(event, &events[k], &found, &l.has, &reason);
	if (!r)
		r = add_common(event, &found, ret_type_offset, &reason);
	if (!r && (event->id < 0 || event->id >= DECODE_IDS))
		r = tmigr_fail(&reason, -EINVAL, "its number is %d", event->id);
	if (r)
		return tmigr_fail(why, r, "the format of %s makes no sense: %s", events[k].name,
				  reason.text);
	grow(&l, *ret_type_offset + 2);
	arrange(&l, &found);
	*ret = l;
	*ret_id = event->id;
	return 1;
}
