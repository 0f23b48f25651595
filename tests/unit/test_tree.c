// SPDX-License-Identifier: GPL-2.0-or-later
/* The views of the hierarchy, on hierarchies made by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tmigr/engine.h"
#include "tmigr/tree.h"

#define NOW			    1000000000000ULL
#define WORD(active, migrator, seq) ((active) | (migrator) << 8 | (__u32)(seq) << 16)

/* 4+4 in two level-0 groups, as a machine of two NUMA nodes has them. */
struct board {
	struct tmigr_topology topo;
	struct tmigr_hierarchy h;
	struct tmigr_tree tree;
	struct tmigr_topo_cpu topo_cpus[8];
	struct tmigr_class classes[2];
	struct tmigr_group_view groups[3];
	struct tmigr_cpu_view cpus[8];
	struct tmigr_root_view root;
	__u64 cpu_expiry[8], group_expiry[3];
};

static void make_cpu(struct board *b, unsigned int i)
{
	b->topo_cpus[i] = (struct tmigr_topo_cpu){
		.cpu = i,
		.online = true,
		.capacity = i < 4 ? 442 : 1024,
		.class_idx = i >= 4,
		.n_states = 2,
		.states = {{.name = "WFI"}, {.name = "cpu-sleep"}},
	};
	b->cpus[i] = (struct tmigr_cpu_view){
		.cpu = i,
		.group = i < 4 ? 1 : 2,
		.mask = (__u8)(1 << (i & 3)),
		.learnt = true,
		.available = true,
		.slot = TMIGR_SLOT_STATE0 + 1,
		.wakeup_ns = TMIGR_KTIME_MAX,
		.wakeup_known = true,
	};
	b->cpu_expiry[i] = TMIGR_KTIME_MAX;
}

/* CPU 5 (big) runs and holds the global migrator; everybody else sleeps. */
static void make_board(struct board *b)
{
	unsigned int i;

	memset(b, 0, sizeof(*b));
	b->classes[0] = (struct tmigr_class){"LITTLE", 442, 4};
	b->classes[1] = (struct tmigr_class){"big", 1024, 4};
	for (i = 0; i < 8; i++)
		make_cpu(b, i);
	b->cpus[5].active = 1;
	b->cpus[5].slot = TMIGR_SLOT_RUNNING;
	b->cpu_expiry[0] = NOW + 3200000;
	b->groups[0] = (struct tmigr_group_view){"GRP1:0", -1, 1, 0, -1, true, WORD(2, 2, 7), 8, 0};
	b->groups[1] =
		(struct tmigr_group_view){"GRP0:0", 0, 0, 1, 0, true, WORD(0, 0xff, 9), 4, 0};
	b->groups[2] =
		(struct tmigr_group_view){"GRP0:1", 0, 0, 2, 1, true, WORD(2, 2, 65535), 4, 0};
	b->group_expiry[0] = b->group_expiry[1] = NOW + 3200000;
	b->group_expiry[2] = TMIGR_KTIME_MAX;
	b->root = (struct tmigr_root_view){0, TMIGR_HELD, 5};
	b->topo = (struct tmigr_topology){
		.n_cpus = 8, .cpus = b->topo_cpus, .n_classes = 2, .classes = b->classes};
	b->h = (struct tmigr_hierarchy){3, b->groups, 8, b->cpus, 1, &b->root};
	b->tree = (struct tmigr_tree){&b->topo, &b->h, NOW, b->cpu_expiry, b->group_expiry};
}

enum view { ASCII, UTF8, DOT, JSON };

static char *view_of(const struct tmigr_tree *tree, enum view view)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	json_t *json;

	assert_non_null(f);
	if (view == JSON) {
		json = tmigr_tree_json(tree);
		assert_int_equal(json_dumpf(json, f, 0), 0);
		json_decref(json);
	} else if (view == DOT) {
		assert_int_equal(tmigr_tree_dot(tree, f), 0);
	} else {
		assert_int_equal(tmigr_tree_text(tree, view == UTF8, f), 0);
	}
	assert_int_equal(fclose(f), 0);
	return text;
}

/* What its JSON is parsed to gives the same views. */
static void check_parse(const struct tmigr_tree *tree)
{
	json_t *json = tmigr_tree_json(tree);
	struct tmigr_moment *m = NULL;
	struct tmigr_err err = {""};
	struct tmigr_tree again;

	if (tmigr_tree_parse(json, tree->topo, &m, &err))
		fail_msg("%s", err.text);
	again = (struct tmigr_tree){tree->topo, m->h, m->now_ns, m->cpu_expiry_ns,
				    m->group_expiry_ns};
	for (int view = ASCII; view <= JSON; view++) {
		char *x = view_of(tree, (enum view)view), *y = view_of(&again, (enum view)view);

		assert_string_equal(x, y);
		free(x);
		free(y);
	}
	tmigr_moment_free(m);
	json_decref(json);
}

static char *text_of(const struct board *b, bool utf8)
{
	check_parse(&b->tree);
	return view_of(&b->tree, utf8 ? UTF8 : ASCII);
}

static char *dot_of(const struct board *b)
{
	check_parse(&b->tree);
	return view_of(&b->tree, DOT);
}

static void expect_text(const struct board *b, bool utf8, const char *want)
{
	char *text = text_of(b, utf8);

	assert_string_equal(text, want);
	free(text);
}

static void contains(const struct board *b, const char *want)
{
	char *text = text_of(b, false);

	if (!strstr(text, want))
		fail_msg("'%s' is not in:\n%s", want, text);
	free(text);
}

static void test_text(void **state)
{
	struct board b;

	(void)state;
	make_board(&b);
	expect_text(&b, true,
		    "8 of 8 CPUs seen, 1 hierarchy, 3 groups\n"
		    "Global migrator of GRP1:0: CPU 5 (big)\n"
		    "\n"
		    "GRP1:0  migrator GRP0:1  timer in 3.2 ms\n"
		    "├─ GRP0:0  node 0  migrator none  timer in 3.2 ms\n"
		    "│  ├─ CPU 0  LITTLE  442  idle    cpu-sleep  timer in 3.2 ms\n"
		    "│  ├─ CPU 1  LITTLE  442  idle    cpu-sleep  no timer\n"
		    "│  ├─ CPU 2  LITTLE  442  idle    cpu-sleep  no timer\n"
		    "│  └─ CPU 3  LITTLE  442  idle    cpu-sleep  no timer\n"
		    "└─ GRP0:1  node 1  migrator CPU 5  no timer  ◀ migrator\n"
		    "   ├─ CPU 4  big    1024  idle    cpu-sleep  no timer\n"
		    "   ├─ CPU 5  big    1024  active  running    ◀ global migrator\n"
		    "   ├─ CPU 6  big    1024  idle    cpu-sleep  no timer\n"
		    "   └─ CPU 7  big    1024  idle    cpu-sleep  no timer\n");
}

static void test_ascii(void **state)
{
	struct board b;
	char *text;
	size_t i;

	(void)state;
	make_board(&b);
	text = text_of(&b, false);
	for (i = 0; text[i]; i++)
		assert_in_range((unsigned char)text[i], '\n', '~');
	free(text);
	contains(&b, "\n|  `- CPU 3");
	contains(&b, "running    <- global migrator\n");
}

static void test_regimes(void **state)
{
	struct board b;

	(void)state;
	make_board(&b);
	b.root.cpu = -1;
	b.root.regime = TMIGR_DUTY;
	b.cpus[0].wakeup_ns = NOW + 5000;
	contains(&b, "Global migrator of GRP1:0: nobody; an idle CPU has the wakeup duty\n");
	contains(&b, "timer in 3.2 ms  wakeup duty in 5 us\n");
	b.cpus[0].wakeup_ns = NOW - 1;
	contains(&b, "  wakeup duty due\n");
	b.root.regime = TMIGR_FREE;
	contains(&b, ": nobody; no global timer is pending\n");
	b.root.regime = TMIGR_HANDOVER;
	contains(&b, ": being handed over\n");
	b.root.regime = TMIGR_UNKNOWN;
	contains(&b, ": unknown\n");
}

/* CPU 3 not learnt, 2 offline with a place, 7 isolated without one, 6 never on. */
static void test_gaps(void **state)
{
	struct board b;

	(void)state;
	make_board(&b);
	b.cpus[3].learnt = false;
	b.cpus[3].group = -1;
	b.topo_cpus[2].online = false;
	b.cpus[2].available = false;
	b.cpus[7].learnt = false;
	b.cpus[7].group = -1;
	b.topo_cpus[7].isolated = true;
	b.cpus[6].learnt = false;
	b.cpus[6].group = -1;
	b.topo_cpus[6].online = false;
	b.cpus[4].active = -1;
	contains(&b, "5 of 6 CPUs seen, 1 hierarchy, 3 groups\n");
	contains(&b, "Not seen yet: CPU 3\n");
	contains(&b, "Offline, without a place yet: CPU 6\n");
	contains(&b, "Isolated, outside the hierarchy: CPU 7\n");
	contains(&b, "CPU 2  LITTLE  442  offline  offline\n");
	contains(&b, "CPU 4  big    1024  unknown");
	/* A word whose migrator nobody has shown yet. */
	b.groups[1].word = WORD(8, 8, 1);
	contains(&b, "GRP0:0  node 0  migrator unknown");
	b.groups[1].known = false;
	contains(&b, "GRP0:0  node 0  migrator unknown");
}

static void test_state_names(void **state)
{
	struct board b;
	unsigned int i;

	(void)state;
	make_board(&b);
	for (i = 0; i < 8; i++)
		b.topo_cpus[i].n_states = 0;
	b.cpus[1].slot = TMIGR_SLOT_STATE0;
	b.cpus[2].slot = TMIGR_SLOT_UNKNOWN;
	b.cpus[3].slot = TMIGR_SLOT_STATE0 + 9;
	contains(&b, "CPU 0  LITTLE  442  idle    default idle  timer");
	contains(&b, "CPU 1  LITTLE  442  idle    poll ");
	contains(&b, "CPU 2  LITTLE  442  idle    unknown ");
	contains(&b, "CPU 3  LITTLE  442  idle    state9 ");
}

static const json_t *item(const json_t *list, size_t i, const char *key)
{
	const json_t *value = json_object_get(json_array_get(list, i), key);

	assert_non_null(value);
	return value;
}

static void test_json(void **state)
{
	const json_t *cpus, *groups, *roots;
	struct board b;
	json_t *json;

	(void)state;
	make_board(&b);
	json = tmigr_tree_json(&b.tree);
	assert_non_null(json);
	cpus = json_object_get(json, "cpus");
	groups = json_object_get(json, "groups");
	roots = json_object_get(json, "roots");
	assert_int_equal(json_array_size(cpus), 8);
	assert_int_equal(json_array_size(groups), 3);
	assert_int_equal(json_array_size(roots), 1);
	assert_string_equal(json_string_value(item(roots, 0, "regime")), "held");
	assert_int_equal(json_integer_value(item(roots, 0, "cpu")), 5);
	assert_string_equal(json_string_value(item(groups, 0, "migrator_group")), "GRP0:1");
	assert_true(json_is_null(item(groups, 0, "node")));
	assert_true(json_is_null(item(groups, 1, "migrator_cpu")));
	assert_true(json_is_true(item(groups, 1, "migrator_known")));
	assert_int_equal(json_integer_value(item(groups, 2, "migrator_cpu")), 5);
	assert_int_equal(json_integer_value(json_object_get(item(groups, 2, "word"), "seq")),
			 65535);
	assert_true(json_is_true(item(cpus, 5, "global_migrator")));
	assert_true(json_is_false(item(cpus, 4, "global_migrator")));
	assert_true(json_is_null(item(cpus, 5, "state")));
	assert_int_equal(json_integer_value(item(cpus, 4, "state")), 1);
	assert_int_equal(json_integer_value(json_object_get(item(cpus, 0, "next_expiry"), "in_ns")),
			 3200000);
	assert_true(json_is_true(json_object_get(item(cpus, 1, "next_expiry"), "known")));
	assert_true(json_is_null(json_object_get(item(cpus, 1, "next_expiry"), "at_ns")));
	/* What an active CPU's first timer is, the hierarchy does not keep. */
	assert_true(json_is_false(json_object_get(item(cpus, 5, "next_expiry"), "known")));
	json_decref(json);
}

/* Graphviz, where it is there, draws every node and edge. */
static void test_dot_renders(void **state)
{
	char path[] = "/tmp/tmigr-test-tree-XXXXXX", command[64], line[512], *dot;
	size_t nodes = 0, edges = 0;
	int fd = mkstemp(path);
	struct board b;
	FILE *f;

	(void)state;
	if (system("command -v dot >/dev/null") != 0) {
		unlink(path);
		close(fd);
		skip();
	}
	make_board(&b);
	strcpy(b.classes[1].name, "<b>\"a\\,{|}");
	dot = dot_of(&b);
	assert_true(fd >= 0 && write(fd, dot, strlen(dot)) == (ssize_t)strlen(dot));
	close(fd);
	snprintf(command, sizeof(command), "dot -Tplain %s", path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		nodes += !strncmp(line, "node ", 5);
		edges += !strncmp(line, "edge ", 5);
	}
	assert_int_equal(pclose(f), 0);
	unlink(path);
	assert_int_equal(nodes, b.h.n_groups + b.h.n_cpus);
	assert_int_equal(edges, b.h.n_groups - 1 + b.h.n_cpus);
	free(dot);
}

static void test_dot(void **state)
{
	struct board b;
	char *dot;

	(void)state;
	make_board(&b);
	snprintf(b.classes[1].name, sizeof(b.classes[1].name), "a\"b\\");
	dot = dot_of(&b);
	assert_int_equal(strncmp(dot, "digraph tmigr {\n", 16), 0);
	assert_non_null(strstr(dot, "\"GRP1:0\" -> \"GRP0:1\" [style=bold];"));
	assert_non_null(strstr(dot, "\"GRP1:0\" -> \"GRP0:0\";"));
	assert_non_null(strstr(dot, "\"GRP0:1\" -> \"CPU 5\" [style=bold];"));
	assert_non_null(strstr(dot, "a\\\"b\\\\ 1024"));
	assert_string_equal(dot + strlen(dot) - 3, "\n}\n");
	free(dot);
}

#define LARGE 256

/* 256 CPUs in three levels: 32 groups of 8, 4 of those 8 each, one root. */
static void make_large(struct tmigr_tree *t, struct tmigr_topology *topo, struct tmigr_hierarchy *h,
		       struct tmigr_root_view *root)
{
	static struct tmigr_class class = {"all", 1024, LARGE};
	size_t i;

	topo->cpus = calloc(LARGE, sizeof(*topo->cpus));
	h->cpus = calloc(LARGE, sizeof(*h->cpus));
	h->groups = calloc(37, sizeof(*h->groups));
	assert_true(topo->cpus && h->cpus && h->groups);
	for (i = 0; i < LARGE; i++) {
		topo->cpus[i] = (struct tmigr_topo_cpu){
			.cpu = (unsigned int)i, .online = true, .capacity = 1024};
		h->cpus[i] = (struct tmigr_cpu_view){.cpu = (unsigned int)i,
						     .group = (int)(5 + i / 8),
						     .mask = (__u8)(1 << i % 8),
						     .learnt = true,
						     .available = true,
						     .active = 1};
	}
	for (i = 0; i < 37; i++) {
		struct tmigr_group_view *g = &h->groups[i];
		unsigned int level = i ? i < 5 ? 1 : 0 : 2;

		*g = (struct tmigr_group_view){.parent = level == 2   ? -1
							 : level == 1 ? 0
								      : (int)(1 + (i - 5) / 8),
					       .level = level,
					       .mask = (__u8)(1 << (i - 5) % 8),
					       .known = true,
					       .word = WORD(0xff, 1, 1)};
		snprintf(g->name, sizeof(g->name), "GRP%u:%zu", level,
			 i - (level == 2   ? 0
			      : level == 1 ? 1
					   : 5));
		if (level == 1)
			g->mask = (__u8)(1 << (i - 1));
	}
	topo->n_cpus = h->n_cpus = LARGE;
	topo->n_classes = 1;
	topo->classes = &class;
	h->n_groups = 37;
	h->n_roots = 1;
	h->roots = root;
	*t = (struct tmigr_tree){.topo = topo, .h = h, .now_ns = NOW};
}

/* A daemon's answer may be anything: each member gone, and of every other kind. */
static void test_parse_wrong(void **state)
{
	static const char *const lists[] = {"roots", "groups", "cpus"};
	struct board b;
	json_t *good;

	(void)state;
	make_board(&b);
	good = tmigr_tree_json(&b.tree);
	for (size_t l = 0; l < 3; l++) {
		const json_t *first = json_array_get(json_object_get(good, lists[l]), 0);
		const char *key;
		json_t *value;

		json_object_foreach ((json_t *)first, key, value) {
			for (int kind = 0; kind < 6; kind++) {
				json_t *bad = json_deep_copy(good);
				json_t *obj = json_array_get(json_object_get(bad, lists[l]), 0);
				json_t *kinds[] = {
					NULL,	       json_integer(-7), json_string("x"),
					json_object(), json_array(),	 json_null()};
				struct tmigr_moment *m = NULL;
				struct tmigr_tree t;

				if (kind)
					json_object_set(obj, key, kinds[kind]);
				else
					json_object_del(obj, key);
				for (int k = 0; k < 6; k++)
					json_decref(kinds[k]);
				if (tmigr_tree_parse(bad, &b.topo, &m, NULL) == 0) {
					t = (struct tmigr_tree){&b.topo, m->h, m->now_ns,
								m->cpu_expiry_ns,
								m->group_expiry_ns};
					free(view_of(&t, ASCII));
					free(view_of(&t, JSON));
					tmigr_moment_free(m);
				} else {
					assert_null(m);
				}
				json_decref(bad);
			}
		}
	}
	json_decref(good);
}

static void expect_refused(json_t *tree, const struct tmigr_topology *topo, const char *member)
{
	struct tmigr_moment *m = NULL;
	struct tmigr_err err = {""};

	assert_int_equal(tmigr_tree_parse(tree, topo, &m, &err), -EINVAL);
	assert_non_null(strstr(err.text, member));
	json_decref(tree);
}

static void test_parse_refused(void **state)
{
	struct board b;
	json_t *tree;

	(void)state;
	make_board(&b);
	expect_refused(json_object(), &b.topo, "\"time_ns\"");
	expect_refused(json_null(), &b.topo, "\"time_ns\"");
	/* A parent below its child: circles would follow. */
	tree = tmigr_tree_json(&b.tree);
	json_object_set_new(json_array_get(json_object_get(tree, "groups"), 0), "parent",
			    json_string("GRP0:0"));
	expect_refused(tree, &b.topo, "\"parent\"");
	/* Other CPUs than this machine's. */
	tree = tmigr_tree_json(&b.tree);
	json_array_remove(json_object_get(tree, "cpus"), 7);
	expect_refused(tree, &b.topo, "\"cpus\"");
	tree = tmigr_tree_json(&b.tree);
	json_object_set_new(json_array_get(json_object_get(tree, "cpus"), 7), "cpu",
			    json_integer(9));
	expect_refused(tree, &b.topo, "\"cpu\"");
	tree = tmigr_tree_json(&b.tree);
	json_object_set_new(json_array_get(json_object_get(tree, "roots"), 0), "group",
			    json_null());
	expect_refused(tree, &b.topo, "\"group\"");
}

static void test_large(void **state)
{
	struct tmigr_root_view root = {0, TMIGR_HELD, 0};
	struct tmigr_topology topo = {0};
	struct tmigr_hierarchy h = {0};
	struct tmigr_tree t;
	char *text = NULL, *line, *save;
	size_t size, lines = 0, marks = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	assert_non_null(f);
	make_large(&t, &topo, &h, &root);
	assert_int_equal(tmigr_tree_text(&t, false, f), 0);
	assert_int_equal(fclose(f), 0);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		assert_true(strlen(line) <= 100);
		marks += strstr(line, "global migrator") != NULL;
		lines++;
	}
	assert_int_equal(lines, 2 + 37 + LARGE);
	assert_int_equal(marks, 1);
	free(text);
	free(topo.cpus);
	free(h.cpus);
	free(h.groups);
}

/* Nothing learnt at all: every view still stands. */
static void test_empty(void **state)
{
	struct board b;
	json_t *json;
	unsigned int i;

	(void)state;
	make_board(&b);
	for (i = 0; i < 8; i++) {
		b.cpus[i].learnt = false;
		b.cpus[i].group = -1;
	}
	b.h.n_groups = 0;
	b.h.n_roots = 0;
	b.tree.cpu_expiry_ns = b.tree.group_expiry_ns = NULL;
	expect_text(&b, true, "0 of 8 CPUs seen, 0 hierarchies, 0 groups\nNot seen yet: CPU 0-7\n");
	json = tmigr_tree_json(&b.tree);
	assert_non_null(json);
	json_decref(json);
	free(dot_of(&b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	    cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_regimes),	    cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_state_names), cmocka_unit_test(test_json),
		cmocka_unit_test(test_dot_renders), cmocka_unit_test(test_dot),
		cmocka_unit_test(test_empty),	    cmocka_unit_test(test_large),
		cmocka_unit_test(test_parse_wrong), cmocka_unit_test(test_parse_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
