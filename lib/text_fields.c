// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of an event's text, by their names: "key=value key=value". */
#include <string.h>

#include "text_line.h"
#include "text_scan.h"

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
#define F_NODE_RAW 0x8000 /* by the name that it has in the record */
#define F_NODES	   (F_NODE | F_NODE_RAW)
#define F_HEX	   (F_GROUP | F_PARENT | F_CHILD | F_ACTIVE | F_MIGRATOR | F_MASK)

/* What an event must have, and what it may have besides. */
static const struct {
	unsigned short need, may;
} fields[TMIGR_TRACED_TYPES] = {
	[TMIGR_TRACED_CPU_IDLE] = {F_STATE | F_CPU_ID, 0},
	[TMIGR_TRACED_CPU_IDLE_MISS] = {F_STATE | F_CPU_ID | F_TYPE, 0},
	[TMIGR_TRACED_GROUP_ACTIVE] = {F_GROUP | F_LEVEL | F_ACTIVE | F_MIGRATOR | F_MASK,
				       F_PARENT | F_NODES},
	[TMIGR_TRACED_GROUP_INACTIVE] = {F_GROUP | F_LEVEL | F_ACTIVE | F_MIGRATOR | F_MASK,
					 F_PARENT | F_NODES},
	[TMIGR_TRACED_CPU_ACTIVE] = {F_CPU | F_WAKEUP, F_PARENT},
	[TMIGR_TRACED_CPU_INACTIVE] = {F_CPU | F_WAKEUP, F_PARENT},
	[TMIGR_TRACED_CPU_NEW_TIMER] = {F_CPU | F_WAKEUP, F_PARENT},
	[TMIGR_TRACED_CPU_NEW_TIMER_IDLE] = {F_CPU | F_WAKEUP, F_PARENT},
	[TMIGR_TRACED_HANDLE_REMOTE] = {F_GROUP | F_LEVEL, 0},
	[TMIGR_TRACED_HANDLE_REMOTE_CPU] = {F_CPU, F_PARENT | F_WAKEUP},
	[TMIGR_TRACED_CPU_AVAILABLE] = {F_CPU, F_PARENT},
	[TMIGR_TRACED_CPU_UNAVAILABLE] = {F_CPU, F_PARENT},
	[TMIGR_TRACED_UPDATE_EVENTS] = {F_GROUP | F_LEVEL, F_CHILD},
	[TMIGR_TRACED_GROUP_SET] = {F_GROUP | F_LEVEL, F_NODES},
	[TMIGR_TRACED_CONNECT_CPU] = {F_CPU | F_PARENT | F_LEVEL | F_MASK,
				      F_NODES | F_CHILDREN | F_CAPACITY},
	[TMIGR_TRACED_CONNECT_CHILD] = {F_GROUP | F_PARENT | F_LEVEL | F_MASK,
					F_NODES | F_CHILDREN | F_CAPACITY},
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
		return IS("family") ? F_NODE_RAW : 0;
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
		if (IS("numa"))
			return F_NODE;
		if (IS("numa_node"))
			return F_NODE_RAW;
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

/* Kernels and libtraceevent print a null pointer in their own ways. */
static const char *parse_null(const char *p, const char *end, __u64 *ret)
{
	static const char *const names[] = {"(nil)", "(null)"};

	for (unsigned int i = 0; i < 2; i++) {
		size_t n = strlen(names[i]);

		if ((size_t)(end - p) < n || memcmp(p, names[i], n) != 0)
			continue;
		p += n;
		*ret = 0;
		return p == end || *p == ' ' ? p : NULL;
	}
	return NULL;
}

/* Hexadecimal, as "%p" and "%x" print it, up to a blank or the end: returns where that is,
 * NULL where it is no number. */
static const char *parse_hex(const char *p, const char *end, __u64 *ret)
{
	const char *start;

	if (p < end && *p == '(')
		return parse_null(p, end, ret);
	if (p < end && end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	start = p;
	p = scan_hex(p, end, ret);
	return p > start && p - start <= 16 && (p == end || *p == ' ') ? p : NULL;
}

/* Likewise. */
static const char *parse_decimal(const char *p, const char *end, __u64 *ret)
{
	bool minus = p < end && *p == '-';
	const char *start = p + minus;
	__u64 v;

	p = scan_decimal(start, end, &v);
	/* Of 20 digits up to 1999... those that do not fit leave a small rest. */
	if (p - start == 20 && *start != '0' && (*start != '1' || v < 10000000000000000000ULL))
		return NULL;
	*ret = minus ? -v : v;
	return p > start && p - start <= 20 && (p == end || *p == ' ') ? p : NULL;
}

static const char *set_mask(struct tmigr_traced *ev, unsigned int f, __u64 v)
{
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
	case F_NODE_RAW:
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
	return set_mask(ev, f, v);
}

/* "above" or "below" */
static const char *type(struct tmigr_traced *ev, const char *p, const char *end)
{
	if (end - p < 5 || (end - p > 5 && p[5] != ' '))
		return NULL;
	ev->below = !memcmp(p, "below", 5);
	return ev->below || !memcmp(p, "above", 5) ? p + 5 : NULL;
}

/* The value at *@p, which goes to its end; NULL, or what is wrong. */
static const char *value(struct tmigr_traced *ev, unsigned int f, const char **p, const char *end)
{
	__u64 v = 0;

	if (f == F_TYPE) {
		*p = type(ev, *p, end);
		return *p ? NULL : "a type that is neither above nor below";
	}
	*p = (f & F_HEX) ? parse_hex(*p, end, &v) : parse_decimal(*p, end, &v);
	return *p ? set(ev, f, v) : "a field that is no number";
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

/* The field of a key of @n bytes with its "="; remembered where it is short. */
static unsigned int learn(struct text_key *k, const char *key, size_t n)
{
	unsigned int f = field(key, n - 1);

	if (n > sizeof(k->bytes))
		return f;
	*k = (struct text_key){.n = (unsigned int)n, .field = f};
	memcpy(k->bytes, key, n);
	memset(k->mask, 0xff, n);
	return f;
}

static bool same_key(const struct text_key *k, const char *p, const char *end)
{
	__u64 word[2];

	if (end - p < (long)sizeof(word))
		return k->n && end - p >= (long)k->n && !memcmp(p, k->bytes, k->n);
	memcpy(word, p, sizeof(word));
	return k->n &&
	       !(((word[0] ^ k->bytes[0]) & k->mask[0]) | ((word[1] ^ k->bytes[1]) & k->mask[1]));
}

const char *text_fields(struct text_line rest, struct text_plans *plans, struct tmigr_traced *ev)
{
	unsigned int need = fields[ev->type].need, may = fields[ev->type].may;
	struct text_key *k = plans->of[ev->type].keys, *last = k + TEXT_KEYS - 1;
	const char *p = rest.at, *end = rest.end, *wrong;

	/* (Beyond the last key all share its place.) */
	for (; p < end && need | may; k += k < last) {
		unsigned int f = 0;
		const char *key;

		key = p = scan_blanks(p, end);
		if (same_key(k, p, end)) {
			p += k->n;
			f = k->field;
		} else {
			p = scan_either(p, end, '=', ' ');
			if (p > key && p < end && *p == '=') {
				p++;
				f = learn(k, key, (size_t)(p - key));
			}
		}
		f &= need | may;
		if (!f) {
			p = scan_either(p, end, ' ', ' ');
			continue;
		}
		/* The order of the record, not of the kernel's text. */
		if (f == F_MASK && need & F_ACTIVE && !(may & F_NODE_RAW))
			return "fields as 'trace-cmd report -R' prints them, which does not tell "
			       "decimal from hexadecimal (without -R it does)";
		wrong = value(ev, f, &p, end);
		if (wrong)
			return wrong;
		need &= ~f;
		may &= ~f;
	}
	return need ? "a field is missing" : check(ev);
}
