// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of an event's text, by their names: "key=value key=value". */
#include <string.h>

#include "text_line.h"

/* Fields by what they are for; which of them an event needs is a set of these. */
#define F_STATE	   0x0001
#define F_CPU_ID   0x0002
#define F_TYPE	   0x0004
#define F_CPU	   0x0008
#define F_GROUP	   0x0010
#define F_PARENT   0x0020
#define F_CHILD	   0x0040
#define F_LEVEL	   0x0080
#define F_NODE	   0x0100
#define F_ACTIVE   0x0200
#define F_MIGRATOR 0x0400
#define F_MASK	   0x0800
#define F_WAKEUP   0x1000
#define F_CAPACITY 0x2000
#define F_CHILDREN 0x4000
#define F_HEX	   (F_GROUP | F_PARENT | F_CHILD | F_ACTIVE | F_MIGRATOR | F_MASK)

/* What an event must have, and what it may have besides. */
static const struct {
	unsigned short need, may;
} fields[TMIGR_TRACED_TYPES] = {
	[TMIGR_TRACED_CPU_IDLE] = {F_STATE | F_CPU_ID, 0},
	[TMIGR_TRACED_CPU_IDLE_MISS] = {F_STATE | F_CPU_ID | F_TYPE, 0},
	[TMIGR_TRACED_GROUP_ACTIVE] = {F_GROUP | F_LEVEL | F_ACTIVE | F_MIGRATOR | F_MASK,
				       F_PARENT | F_NODE},
	[TMIGR_TRACED_GROUP_INACTIVE] = {F_GROUP | F_LEVEL | F_ACTIVE | F_MIGRATOR | F_MASK,
					 F_PARENT | F_NODE},
	[TMIGR_TRACED_CPU_ACTIVE] = {F_CPU | F_WAKEUP, F_PARENT},
	[TMIGR_TRACED_CPU_INACTIVE] = {F_CPU | F_WAKEUP, F_PARENT},
	[TMIGR_TRACED_CPU_NEW_TIMER] = {F_CPU | F_WAKEUP, F_PARENT},
	[TMIGR_TRACED_CPU_NEW_TIMER_IDLE] = {F_CPU | F_WAKEUP, F_PARENT},
	[TMIGR_TRACED_HANDLE_REMOTE] = {F_GROUP | F_LEVEL, 0},
	[TMIGR_TRACED_HANDLE_REMOTE_CPU] = {F_CPU, F_PARENT | F_WAKEUP},
	[TMIGR_TRACED_CPU_AVAILABLE] = {F_CPU, F_PARENT},
	[TMIGR_TRACED_CPU_UNAVAILABLE] = {F_CPU, F_PARENT},
	[TMIGR_TRACED_UPDATE_EVENTS] = {F_GROUP | F_LEVEL, F_CHILD},
	[TMIGR_TRACED_GROUP_SET] = {F_GROUP | F_LEVEL, F_NODE},
	[TMIGR_TRACED_CONNECT_CPU] = {F_CPU | F_PARENT | F_LEVEL | F_MASK,
				      F_NODE | F_CHILDREN | F_CAPACITY},
	[TMIGR_TRACED_CONNECT_CHILD] = {F_GROUP | F_PARENT | F_LEVEL | F_MASK,
					F_NODE | F_CHILDREN | F_CAPACITY},
};

#define IS(text) (n == sizeof(text) - 1 && !memcmp(key, text, sizeof(text) - 1))

static unsigned int field(const char *key, size_t n)
{
	switch (key[0]) {
	case 'a':
		return IS("active") ? F_ACTIVE : 0;
	case 'c':
		if (IS("cpu"))
			return F_CPU;
		if (IS("cpu_id"))
			return F_CPU_ID;
		if (IS("childmask"))
			return F_MASK;
		if (IS("child"))
			return F_CHILD;
		return IS("capacity") ? F_CAPACITY : 0;
	case 'f':
		return IS("family") ? F_NODE : 0;
	case 'g':
		if (IS("group"))
			return F_GROUP;
		if (IS("group_lvl"))
			return F_LEVEL;
		return IS("groupmask") ? F_MASK : 0;
	case 'l':
		return IS("lvl") ? F_LEVEL : 0;
	case 'm':
		return IS("migrator") ? F_MIGRATOR : 0;
	case 'n':
		if (IS("numa") || IS("numa_node"))
			return F_NODE;
		return IS("num_children") ? F_CHILDREN : 0;
	case 'p':
		return IS("parent") ? F_PARENT : 0;
	case 's':
		return IS("state") ? F_STATE : 0;
	case 't':
		return IS("type") ? F_TYPE : 0;
	case 'w':
		return IS("wakeup") ? F_WAKEUP : 0;
	}
	return 0;
}

static unsigned int hex_digit(char c)
{
	unsigned char d = (unsigned char)(c - '0'), x = (unsigned char)((c | 0x20) - 'a');

	return d < 10 ? d : x < 6 ? x + 10u : 16u;
}

/* Hexadecimal, as "%p" and "%x" print it; kernels and libtraceevent print a null
 * pointer in their own ways. */
static bool parse_hex(const char *p, const char *end, __u64 *ret)
{
	size_t n = (size_t)(end - p);
	__u64 v = 0;

	if ((n == 5 && !memcmp(p, "(nil)", 5)) || (n == 6 && !memcmp(p, "(null)", 6))) {
		*ret = 0;
		return true;
	}
	if (n > 2 && p[0] == '0' && p[1] == 'x') {
		p += 2;
		n -= 2;
	}
	if (!n || n > 16)
		return false;
	for (; p < end; p++) {
		unsigned int d = hex_digit(*p);

		if (d > 15)
			return false;
		v = v << 4 | d;
	}
	*ret = v;
	return true;
}

static bool parse_decimal(const char *p, const char *end, __u64 *ret)
{
	bool minus = p < end && *p == '-';
	__u64 v = 0;

	p += minus;
	if (p == end || end - p > 20)
		return false;
	for (; p < end; p++) {
		unsigned int d = (unsigned char)(*p - '0');

		if (d > 9 || v > (~0ULL - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*ret = minus ? -v : v;
	return true;
}

/* Puts a value where it belongs; NULL, or what is wrong. */
static const char *set(struct tmigr_traced *ev, unsigned int f, __u64 v)
{
	bool of_cpu =
		ev->type >= TMIGR_TRACED_CPU_ACTIVE && ev->type <= TMIGR_TRACED_CPU_UNAVAILABLE;

	switch (f) {
	case F_STATE:
	case F_WAKEUP:
		ev->value = v;
		return NULL;
	case F_CPU_ID:
		if (v > TMIGR_TRACED_CPU_MAX)
			return "a CPU number out of range";
		ev->cpu = (__u32)v;
		return NULL;
	case F_CPU:
		if (v > TMIGR_TRACED_CPU_MAX)
			return "a CPU number out of range";
		ev->subject = (__u32)v;
		return NULL;
	case F_GROUP:
		ev->group = v;
		return v ? NULL : "a group that is none";
	case F_PARENT:
		if (of_cpu || ev->type == TMIGR_TRACED_CONNECT_CPU) {
			ev->group = v;
			ev->has |= v ? TMIGR_HAS_GROUP : 0;
		} else {
			ev->parent = v;
			ev->has |= TMIGR_HAS_PARENT;
		}
		return NULL;
	case F_CHILD:
		ev->parent = v;
		return NULL;
	case F_LEVEL:
		if (v > 15)
			return "a level out of range";
		ev->level = (__u8)v;
		return NULL;
	case F_NODE:
		ev->node = (__s32)v;
		ev->has |= TMIGR_HAS_NODE;
		return NULL;
	case F_CAPACITY:
		ev->capacity = (__u32)v;
		ev->has |= TMIGR_HAS_CAPACITY;
		return NULL;
	case F_CHILDREN:
		ev->num_children = (__u32)v;
		ev->has |= TMIGR_HAS_NUM_CHILDREN;
		return NULL;
	}
	if (v > 0xff)
		return "a mask out of range";
	if (f == F_ACTIVE)
		ev->active = (__u8)v;
	else if (f == F_MIGRATOR)
		ev->migrator = (__u8)v;
	else
		ev->mask = (__u8)v;
	return NULL;
}

static const char *value(struct tmigr_traced *ev, unsigned int f, const char *p, const char *end)
{
	__u64 v = 0;

	if (f == F_TYPE) {
		ev->below = end - p == 5 && !memcmp(p, "below", 5);
		return ev->below || (end - p == 5 && !memcmp(p, "above", 5)) ? NULL
									     : "a type that is "
									       "neither above "
									       "nor below";
	}
	if ((f & F_HEX) ? !parse_hex(p, end, &v) : !parse_decimal(p, end, &v))
		return "a field that is no number";
	return set(ev, f, v);
}

/* A word of the group's own kind: one child, and a migrator that is one or none. */
static const char *check(const struct tmigr_traced *ev)
{
	bool update =
		ev->type == TMIGR_TRACED_GROUP_ACTIVE || ev->type == TMIGR_TRACED_GROUP_INACTIVE;
	bool connect =
		ev->type == TMIGR_TRACED_CONNECT_CPU || ev->type == TMIGR_TRACED_CONNECT_CHILD;

	if (connect && !ev->group)
		return "a group that is none";
	if ((update || connect) && (!ev->mask || ev->mask & (ev->mask - 1)))
		return "a mask that is not one child's";
	if (update && ev->migrator != TMIGR_NO_MIGRATOR &&
	    (!ev->migrator || ev->migrator & (ev->migrator - 1)))
		return "a migrator that is not one child";
	return NULL;
}

const char *text_fields(struct text_line rest, struct tmigr_traced *ev)
{
	unsigned int need = fields[ev->type].need, may = fields[ev->type].may;
	const char *p = rest.at, *end = rest.end, *wrong;

	while (p < end && need | may) {
		const char *key, *eq;
		unsigned int f;

		while (p < end && *p == ' ')
			p++;
		for (key = p; p < end && *p != '=' && *p != ' '; p++)
			;
		eq = p;
		while (p < end && *p != ' ')
			p++;
		if (eq == key || eq == end || *eq != '=')
			continue;
		f = field(key, (size_t)(eq - key)) & (need | may);
		if (!f)
			continue;
		wrong = value(ev, f, eq + 1, p);
		if (wrong)
			return wrong;
		need &= ~f;
		may &= ~f;
	}
	return need ? "a field is missing" : check(ev);
}
