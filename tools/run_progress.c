// SPDX-License-Identifier: GPL-2.0-or-later
/* The line that shows on a terminal while the window is open. */
#include "run.h"
#include "tmigr/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Where the command writes to the same terminal by itself, a line in between
 * would garble its output: then only --progress brings it.
 */
void progress_init(struct progress *p, const struct run_opts *opts)
{
	bool shared = opts->command && !opts->dir;

	memset(p, 0, sizeof(*p));
	if (!opts->progress || !isatty(STDERR_FILENO))
		return;
	p->on = opts->progress > 0 || !shared;
}

static void describe_root(const struct session *s, const struct tmigr_hierarchy *h, size_t i,
			  char *text, size_t size)
{
	const struct tmigr_root_view *root = &h->roots[i];
	int idx = root->cpu < 0 ? -1 : tmigr_topology_index(s->topo, (unsigned int)root->cpu);
	const char *words[TMIGR_REGIMES] = {
		[TMIGR_HELD] = "",
		[TMIGR_HANDOVER] = "hand-over",
		[TMIGR_DUTY] = "nobody (wakeup duty)",
		[TMIGR_FREE] = "nobody",
		[TMIGR_UNKNOWN] = "unknown",
	};

	if (root->regime == TMIGR_HELD && idx >= 0 && s->topo->n_classes < 2)
		snprintf(text, size, "CPU %d", root->cpu);
	else if (root->regime == TMIGR_HELD && idx >= 0)
		snprintf(text, size, "CPU %d (%s)", root->cpu,
			 s->topo->classes[s->topo->cpus[idx].class_idx].name);
	else
		snprintf(text, size, "%s", words[root->regime]);
}

/* "CPU 2 (LITTLE)", per root; at most as many as a line holds. */
static void describe(const struct session *s, char *text, size_t size)
{
	struct tmigr_hierarchy *h;
	size_t i, len = 0;

	*text = '\0';
	if (!session_has_tmigr(s)) {
		snprintf(text, size, "no timer-migration hierarchy");
		return;
	}
	if (tmigr_model_hierarchy(session_model(s), &h))
		return;
	len += (size_t)snprintf(text, size, "migrator ");
	for (i = 0; i < h->n_roots && len + 32 < size; i++) {
		if (i)
			len += (size_t)snprintf(text + len, size - len, ", ");
		describe_root(s, h, i, text + len, size - len);
		len = strlen(text);
	}
	if (!h->n_roots)
		snprintf(text + len, size - len, "unknown");
	else if (i < h->n_roots)
		snprintf(text + len, size - len, ", ...");
	tmigr_hierarchy_free(h);
}

static unsigned long long whole_s(__u64 ns)
{
	return ns / 1000000000ULL;
}

/* ", all done about 14:32:10": local time in @ns from now. */
static void put_end(FILE *out, __u64 ns)
{
	time_t t = time(NULL) + (time_t)whole_s(ns + 500000000);
	struct tm tm;
	char text[16];

	if (localtime_r(&t, &tm) && strftime(text, sizeof(text), "%H:%M:%S", &tm))
		fprintf(out, ", all done about %s", text);
}

/* "run 2 of 3, 34 of 600 s, all done about 14:32:10" */
static void put_time(FILE *out, const struct progress *p, const struct session *s, __u64 now)
{
	__u64 start = p->phase ? p->phase_ns : s->start_ns, elapsed = now - start, rest;

	if (p->n)
		fprintf(out, "run %lu of %lu, ", p->run, p->n);
	if (p->phase) {
		fprintf(out, "%s %llu of %llu s", p->phase, whole_s(elapsed),
			whole_s(p->phase_end_ns - start));
		return;
	}
	if (!p->n) {
		fprintf(out, "%4llu s", whole_s(elapsed));
		return;
	}
	if (!p->expected_ns) {
		fprintf(out, "%llu s", whole_s(elapsed));
		return;
	}
	rest = p->expected_ns > elapsed ? p->expected_ns - elapsed : 0;
	fprintf(out, "%llu of %llu s", whole_s(elapsed), whole_s(p->expected_ns));
	put_end(out, rest + p->rest_ns);
}

void progress_draw(struct progress *p, const struct session *s)
{
	char who[120] = "";

	if (!p->on)
		return;
	if (!p->phase)
		describe(s, who, sizeof(who));
	/* Longer than the terminal is wide would wrap, and stay. */
	fputs("\r\033[K\033[?7l", stderr);
	put_time(stderr, p, s, tmigr_now_ns());
	if (!p->phase)
		fprintf(stderr, "  %s  lost %llu", who, (unsigned long long)session_lost(s));
	fputs("\033[?7h\r", stderr);
	fflush(stderr);
	p->drawn = true;
}

void progress_clear(struct progress *p)
{
	if (!p->drawn)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	p->drawn = false;
}
