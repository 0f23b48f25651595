// SPDX-License-Identifier: GPL-2.0-or-later
/* run -n: one run after the other in DIR/run-1 ..., and the table at the end. */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "fail_if.h"
#include "tmigr.h"
#include "tmigr/runset.h"

struct series {
	struct session *session;
	const struct run_opts *opts;
	struct signals *signals;
	json_t *now; /* what run.json would say, for --continue */
	int lock;    /* descriptor of DIR; -1: none yet */
	int code;    /* of the first run that failed; 0 none */
	int test;    /* of --fail-if */
	bool stopped;
	__u64 length_ns; /* sum of the windows so far, and how many they are */
	unsigned long n_done;
};

/* Owned by the caller; NULL: no memory, told. */
static char *run_path(const struct run_opts *o, unsigned long run)
{
	char *path;

	if (asprintf(&path, "%s/run-%lu", o->dir, run) >= 0)
		return path;
	tool_error("run", "out of memory");
	return NULL;
}

/* ---- before anything is attached ---- */

/* The number of "run-12", 0: not such a name. */
static unsigned long number_of(const char *name)
{
	unsigned long n;

	if (strncmp(name, "run-", 4) || arg_number(name + 4, 1, 1000000000, &n))
		return 0;
	return n;
}

static int check_entry(const struct run_opts *o, const char *name)
{
	unsigned long run = number_of(name);
	char *path;
	int ret = 0;

	if (!strcmp(name, "run.json"))
		return tool_error("run", "%s: is a single run's directory: -n needs one of its own",
				  o->dir);
	if (!run)
		return 0;
	if (run > o->n)
		return tool_error("run",
				  "%s/%s: is there, but -n is %lu: take it away, or give -n %lu",
				  o->dir, name, o->n, run);
	if (o->force || o->go_on)
		return 0;
	path = run_path(o, run);
	if (path && run_is_there(path))
		ret = tool_error("run",
				 "%s: exists and is not empty (--continue goes on with the runs "
				 "that are missing, --force replaces them)",
				 path);
	free(path);
	return ret;
}

int run_series_check(const struct run_opts *o)
{
	DIR *dir = opendir(o->dir);
	struct dirent *e;
	int ret = 0;

	/* What is wrong with it shows when the first run is to be written there. */
	if (!dir && errno != ENOENT)
		return tool_error("run", "%s: %s", o->dir, strerror(errno));
	while (dir && !ret && (e = readdir(dir)))
		ret = check_entry(o, e->d_name);
	if (dir)
		closedir(dir);
	return ret;
}

/* Two at once would write into each other's runs. */
static int lock(struct series *x)
{
	if (x->lock < 0)
		x->lock = open(x->opts->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (x->lock < 0 || !flock(x->lock, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return 0;
	return tool_error("run", "%s: another 'tmigr run' is at work there", x->opts->dir);
}

/* ---- one after the other ---- */

static void expect(const struct series *x, unsigned long run, struct progress *p)
{
	const struct run_opts *o = x->opts;
	__u64 length = o->duration_ns;

	if (x->n_done)
		length = x->length_ns / x->n_done;
	p->run = run;
	p->n = o->n;
	p->expected_ns = length;
	p->rest_ns = length ? (o->n - run) * (length + o->settle_ns + o->warmup_ns) : 0;
}

/* What is to be done of run @run: an enum earlier; -1: it cannot go on. */
static int plan(struct series *x, const char *path, unsigned long run)
{
	if (x->opts->force)
		return RUN_AGAIN;
	return x->opts->go_on ? run_earlier(path, run, x->now) : RUN_MISSING;
}

static void take(struct series *x, unsigned long run, const struct outcome *end)
{
	char where[32];
	int test;

	if (*end->why && !end->interrupted)
		tool_error("run", "run %lu failed: %s", run, end->why);
	if (end->report && !*end->why && !end->code) {
		snprintf(where, sizeof(where), "run %lu: ", run);
		test = fail_if_test("run", where, &x->opts->fail_if, end->report);
		x->test = test > x->test ? test : x->test;
	}
	if (!x->code)
		x->code = end->code;
	x->stopped = end->interrupted || end->broken;
	if (*end->why || !end->report)
		return;
	x->length_ns += end->length_ns;
	x->n_done++;
}

static int one(struct series *x, unsigned long run)
{
	struct once once = {.session = x->session, .signals = x->signals, .run = run};
	char *path = run_path(x->opts, run);
	struct outcome end;
	int todo;

	if (!path)
		return TMIGR_EXIT_ERROR;
	todo = plan(x, path, run);
	if (todo < 0 || todo == RUN_KEPT) {
		free(path);
		return todo < 0 ? TMIGR_EXIT_ERROR : 0;
	}
	once.path = path;
	once.force = todo == RUN_AGAIN;
	x->session->more = run < x->opts->n;
	x->session->quiet = x->opts->n > 1 && !x->opts->json;
	progress_init(&once.progress, x->opts);
	expect(x, run, &once.progress);
	run_once(&once, &end);
	take(x, run, &end);
	json_decref(end.report);
	free(path);
	return x->lock < 0 ? lock(x) : 0;
}

/* ---- the end ---- */

static int print_table(const struct run_opts *o)
{
	struct tmigr_runset *set;
	struct tmigr_err err = {""};
	size_t counted = 0;
	int ret = tmigr_runset_load(&o->dir, 1, &set, &err);

	if (ret < 0)
		return tool_error("run", "%s", err.text);
	for (size_t i = 0; i < set->n_runs; i++)
		counted += tmigr_run_counts(&set->runs[i]);
	printf("%s%s%zu of %lu runs count, in %s ('tmigr report %s/run-1' and so on)\n\n",
	       o->label ? o->label : "", o->label ? ": " : "", counted, o->n, o->dir, o->dir);
	ret = tmigr_runset_text(set, stdout);
	tmigr_runset_free(set);
	if (ret == -ENOMEM)
		return tool_error("run", "out of memory");
	return tool_flush("run");
}

static bool any_run(const struct run_opts *o)
{
	DIR *dir = opendir(o->dir);
	struct dirent *e;
	bool any = false;

	while (dir && !any && (e = readdir(dir)))
		any = number_of(e->d_name);
	if (dir)
		closedir(dir);
	return any;
}

int run_series(struct session *s, struct signals *signals)
{
	const struct run_opts *o = s->opts;
	struct series x = {.session = s, .opts = o, .signals = signals, .lock = -1};
	int ret;

	x.now = run_info(o, true, "", NULL);
	ret = x.now && !run_info_begin(x.now, o, 0, NULL) &&
			      !json_object_set_new(x.now, "options", run_info_options(o))
		      ? lock(&x)
		      : tool_error("run", "out of memory");
	for (unsigned long run = 1; run <= o->n && !ret && !x.stopped; run++)
		ret = one(&x, run);
	if (!ret && o->n > 1 && !o->json && any_run(o))
		ret = print_table(o);
	if (x.lock >= 0)
		close(x.lock);
	json_decref(x.now);
	if (x.code)
		return x.code;
	return ret ? ret : x.test;
}
