// SPDX-License-Identifier: GPL-2.0-or-later
/* The line that shows on a terminal while the window is open. */
#include "run.h"

#include <inttypes.h>
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

void progress_draw(struct progress *p, const struct session *s)
{
	struct timespec t;
	char who[120];
	__u64 now;

	if (!p->on)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (__u64)t.tv_sec * 1000000000ULL + (__u64)t.tv_nsec;
	describe(s, who, sizeof(who));
	/* Longer than the terminal is wide would wrap, and stay. */
	fprintf(stderr, "\r\033[K\033[?7l%4" PRIu64 " s  %s  lost %" PRIu64 "\033[?7h\r",
		(uint64_t)((now - s->start_ns) / 1000000000ULL), who, (uint64_t)session_lost(s));
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
