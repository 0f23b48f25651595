// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The topology as JSON: in run.json and at the head of a recording.  A file may
 * come from anywhere, so everything that the rest of the library takes for
 * granted about a topology is checked here.
 */
#include "tmigr/topology.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static json_t *state_to_json(const struct tmigr_idle_state *s)
{
	return json_pack("{s:s, s:I, s:I, s:b}", "name", s->name, "latency_us",
			 (json_int_t)s->latency_us, "residency_us", (json_int_t)s->residency_us,
			 "disabled", s->disabled);
}

static json_t *states_to_json(const struct tmigr_topo_cpu *cpu)
{
	json_t *array = json_array();

	for (unsigned int i = 0; array && i < cpu->n_states; i++)
		if (json_array_append_new(array, state_to_json(&cpu->states[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *cpu_to_json(const struct tmigr_topo_cpu *cpu)
{
	json_t *json = json_pack(
		"{s:I, s:b, s:b, s:b, s:I, s:i, s:i, s:I, s:o}", "cpu", (json_int_t)cpu->cpu,
		"online", cpu->online, "isolated", cpu->isolated, "nohz_full", cpu->nohz_full,
		"capacity", (json_int_t)cpu->capacity, "node", cpu->node, "cluster", cpu->cluster,
		"class_idx", (json_int_t)cpu->class_idx, "states", states_to_json(cpu));

	/* Rare, so only where it is true. */
	if (json && cpu->class_guessed &&
	    json_object_set_new(json, "class_guessed", json_true()) < 0) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *class_to_json(const struct tmigr_class *c)
{
	return json_pack("{s:s, s:I, s:I}", "name", c->name, "capacity", (json_int_t)c->capacity,
			 "n_cpus", (json_int_t)c->n_cpus);
}

json_t *tmigr_topology_to_json(const struct tmigr_topology *topo)
{
	json_t *classes = json_array(), *cpus = json_array();
	bool whole = classes && cpus;

	for (size_t i = 0; whole && i < topo->n_classes; i++)
		whole = json_array_append_new(classes, class_to_json(&topo->classes[i])) == 0;
	for (size_t i = 0; whole && i < topo->n_cpus; i++)
		whole = json_array_append_new(cpus, cpu_to_json(&topo->cpus[i])) == 0;
	if (!whole) {
		json_decref(classes);
		json_decref(cpus);
		return NULL;
	}
	return json_pack("{s:I, s:s, s:s, s:i, s:o, s:o}", "n_possible",
			 (json_int_t)topo->n_possible, "driver", topo->driver, "governor",
			 topo->governor, "timer_migration", topo->timer_migration, "classes",
			 classes, "cpus", cpus);
}

/* ---- reading ---- */

/* Where in the object we are, for messages: "cpus", 3. */
struct place {
	const char *array; /* NULL: the topology itself */
	size_t i;
	struct tmigr_err *err;
};

__attribute__((format(printf, 2, 3))) static int bad(const struct place *p, const char *fmt, ...)
{
	char what[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (!p->array)
		return tmigr_fail(p->err, -EINVAL, "topology: %s", what);
	return tmigr_fail(p->err, -EINVAL, "topology: %s[%zu]: %s", p->array, p->i, what);
}

static int get_int(const struct place *p, const json_t *obj, const char *key, long long min,
		   long long max, long long *ret)
{
	const json_t *v = json_object_get(obj, key);

	if (!json_is_integer(v))
		return bad(p, "'%s' is not an integer", key);
	if (json_integer_value(v) < min || json_integer_value(v) > max)
		return bad(p, "'%s' is out of range", key);
	*ret = json_integer_value(v);
	return 0;
}

static int get_uint(const struct place *p, const json_t *obj, const char *key, unsigned int max,
		    unsigned int *ret)
{
	long long n = 0;
	int r = get_int(p, obj, key, 0, max, &n);

	if (r == 0)
		*ret = (unsigned int)n;
	return r;
}

static int get_bool(const struct place *p, const json_t *obj, const char *key, bool *ret)
{
	const json_t *v = json_object_get(obj, key);

	if (!json_is_boolean(v))
		return bad(p, "'%s' is not true or false", key);
	*ret = json_is_true(v);
	return 0;
}

/* Printable ASCII of at most @size - 1 bytes; @min 1: not empty. */
static int get_text(const struct place *p, const json_t *obj, const char *key, size_t min,
		    char *buf, size_t size)
{
	const json_t *v = json_object_get(obj, key);
	const char *s = json_string_value(v);
	size_t len = json_string_length(v);

	if (!s)
		return bad(p, "'%s' is not a string", key);
	if (len < min || len >= size)
		return bad(p, "'%s' is %s", key, len < min ? "empty" : "too long");
	for (size_t i = 0; i < len; i++)
		if (s[i] < ' ' || s[i] > '~')
			return bad(p, "'%s' is not plain text", key);
	memcpy(buf, s, len + 1);
	return 0;
}

static int get_array(const struct place *p, const json_t *obj, const char *key, size_t min,
		     size_t max, const json_t **ret)
{
	const json_t *v = json_object_get(obj, key);

	if (!json_is_array(v))
		return bad(p, "'%s' is not an array", key);
	if (json_array_size(v) < min || json_array_size(v) > max)
		return bad(p, "'%s' has %zu members", key, json_array_size(v));
	*ret = v;
	return 0;
}

static int state_from_json(const struct place *p, const json_t *json, struct tmigr_idle_state *s)
{
	int r = get_text(p, json, "name", 1, s->name, sizeof(s->name));

	if (r == 0)
		r = get_uint(p, json, "latency_us", UINT_MAX, &s->latency_us);
	if (r == 0)
		r = get_uint(p, json, "residency_us", UINT_MAX, &s->residency_us);
	if (r == 0)
		r = get_bool(p, json, "disabled", &s->disabled);
	return r;
}

static int states_from_json(const struct place *p, const json_t *json, struct tmigr_topo_cpu *cpu)
{
	const json_t *states = NULL;
	int r = get_array(p, json, "states", 0, TMIGR_STATES, &states);

	if (r < 0)
		return r;
	cpu->n_states = (unsigned int)json_array_size(states);
	for (unsigned int i = 0; r == 0 && i < cpu->n_states; i++)
		r = state_from_json(p, json_array_get(states, i), &cpu->states[i]);
	return r;
}

static int cpu_from_json(const struct place *p, const json_t *json,
			 const struct tmigr_topology *topo, struct tmigr_topo_cpu *cpu)
{
	long long node = -1, cluster = -1;
	int r = get_uint(p, json, "cpu", TMIGR_CPU_MAX, &cpu->cpu);

	if (r == 0)
		r = get_bool(p, json, "online", &cpu->online);
	if (r == 0)
		r = get_bool(p, json, "isolated", &cpu->isolated);
	if (r == 0)
		r = get_bool(p, json, "nohz_full", &cpu->nohz_full);
	if (r == 0)
		r = get_uint(p, json, "capacity", UINT_MAX, &cpu->capacity);
	if (r == 0)
		r = get_int(p, json, "node", -1, INT_MAX, &node);
	if (r == 0)
		r = get_int(p, json, "cluster", -1, INT_MAX, &cluster);
	if (r == 0)
		r = get_uint(p, json, "class_idx", (unsigned int)topo->n_classes - 1,
			     &cpu->class_idx);
	if (r == 0 && json_object_get(json, "class_guessed"))
		r = get_bool(p, json, "class_guessed", &cpu->class_guessed);
	if (r < 0)
		return r;
	cpu->node = (int)node;
	cpu->cluster = (int)cluster;
	return states_from_json(p, json, cpu);
}

static int cpus_from_json(const json_t *json, struct tmigr_topology *topo, struct tmigr_err *err)
{
	struct place p = {.err = err};
	const json_t *cpus = NULL;
	int r = get_array(&p, json, "cpus", 1, TMIGR_CPU_MAX + 1, &cpus);

	if (r < 0)
		return r;
	topo->n_cpus = json_array_size(cpus);
	topo->cpus = calloc(topo->n_cpus, sizeof(*topo->cpus));
	if (!topo->cpus)
		return tmigr_fail(err, -ENOMEM, "no memory for %zu CPUs", topo->n_cpus);
	p.array = "cpus";
	for (p.i = 0; p.i < topo->n_cpus; p.i++) {
		struct tmigr_topo_cpu *cpu = &topo->cpus[p.i];

		r = cpu_from_json(&p, json_array_get(cpus, p.i), topo, cpu);
		if (r < 0)
			return r;
		if (p.i && cpu->cpu <= cpu[-1].cpu)
			return bad(&p, "CPU %u after CPU %u", cpu->cpu, cpu[-1].cpu);
		if (cpu->cpu >= topo->n_possible)
			return bad(&p, "CPU %u of %u possible ones", cpu->cpu, topo->n_possible);
	}
	return 0;
}

static bool name_taken(const struct tmigr_class *classes, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(classes[i].name, name) == 0)
			return true;
	return false;
}

static int classes_from_json(const json_t *json, struct tmigr_topology *topo, struct tmigr_err *err)
{
	struct place p = {.err = err};
	const json_t *classes = NULL;
	/* No class is empty: so many at most, and no more work for a file made up. */
	size_t max = json_array_size(json_object_get(json, "cpus"));
	int r = get_array(&p, json, "classes", 1, max, &classes);

	if (r < 0)
		return r;
	topo->n_classes = json_array_size(classes);
	topo->classes = calloc(topo->n_classes, sizeof(*topo->classes));
	if (!topo->classes)
		return tmigr_fail(err, -ENOMEM, "no memory for %zu classes", topo->n_classes);
	p.array = "classes";
	for (p.i = 0; r == 0 && p.i < topo->n_classes; p.i++) {
		struct tmigr_class *c = &topo->classes[p.i];
		const json_t *v = json_array_get(classes, p.i);

		r = get_text(&p, v, "name", 1, c->name, sizeof(c->name));
		if (r == 0)
			r = get_uint(&p, v, "capacity", UINT_MAX, &c->capacity);
		if (r == 0)
			r = get_uint(&p, v, "n_cpus", TMIGR_CPU_MAX + 1, &c->n_cpus);
		if (r == 0 && name_taken(topo->classes, p.i, c->name))
			r = bad(&p, "two classes are named '%s'", c->name);
		if (r == 0 && p.i && c->capacity < c[-1].capacity)
			r = bad(&p, "not in the order of capacities");
	}
	return r;
}

/* What the classes say must be what their CPUs say. */
static int check_classes(const struct tmigr_topology *topo, struct tmigr_err *err)
{
	struct place p = {.array = "classes", .err = err};
	unsigned int *counts = calloc(topo->n_classes, sizeof(*counts));
	unsigned int *caps = calloc(topo->n_classes, sizeof(*caps));
	int r = 0;

	if (!counts || !caps)
		r = tmigr_fail(err, -ENOMEM, "no memory for %zu classes", topo->n_classes);
	for (size_t i = 0; r == 0 && i < topo->n_cpus; i++) {
		const struct tmigr_topo_cpu *cpu = &topo->cpus[i];

		counts[cpu->class_idx]++;
		if (caps[cpu->class_idx] < cpu->capacity)
			caps[cpu->class_idx] = cpu->capacity;
	}
	for (p.i = 0; r == 0 && p.i < topo->n_classes; p.i++) {
		const struct tmigr_class *c = &topo->classes[p.i];

		if (!counts[p.i] || counts[p.i] != c->n_cpus || caps[p.i] != c->capacity)
			r = bad(&p, "its CPUs are %u of capacity %u", counts[p.i], caps[p.i]);
	}
	free(counts);
	free(caps);
	return r;
}

static int system_from_json(const json_t *json, struct tmigr_topology *topo, struct tmigr_err *err)
{
	struct place p = {.err = err};
	long long n;
	int r;

	if (!json_is_object(json))
		return bad(&p, "not an object");
	r = get_uint(&p, json, "n_possible", TMIGR_CPU_MAX + 1, &topo->n_possible);
	if (r == 0)
		r = get_text(&p, json, "driver", 1, topo->driver, sizeof(topo->driver));
	if (r == 0)
		r = get_text(&p, json, "governor", 0, topo->governor, sizeof(topo->governor));
	if (r == 0)
		r = get_int(&p, json, "timer_migration", -1, 1, &n);
	if (r == 0)
		topo->timer_migration = (int)n;
	return r;
}

int tmigr_topology_from_json(const json_t *json, struct tmigr_topology **ret, struct tmigr_err *err)
{
	struct tmigr_topology *topo = calloc(1, sizeof(*topo));
	int r;

	if (!topo)
		return tmigr_fail(err, -ENOMEM, "no memory for the topology");
	r = system_from_json(json, topo, err);
	if (r == 0)
		r = classes_from_json(json, topo, err);
	if (r == 0)
		r = cpus_from_json(json, topo, err);
	if (r == 0)
		r = check_classes(topo, err);
	if (r < 0) {
		tmigr_topology_free(topo);
		return r;
	}
	*ret = topo;
	return 0;
}
