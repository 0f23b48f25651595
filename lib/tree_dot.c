// SPDX-License-Identifier: GPL-2.0-or-later
/* The hierarchy for graphviz: migrators in bold, idle CPUs grey. */
#include <errno.h>
#include <string.h>

#include "tree_common.h"

/* A string inside a quoted dot label: class names are the user's. */
static void put_label(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_group(const struct tmigr_tree *t, size_t i, FILE *out)
{
	const struct tmigr_group_view *g = &t->h->groups[i];
	struct tree_migrator m = tree_migrator(t, i);

	fprintf(out, "\t\"%s\" [shape=box, label=\"%s", g->name, g->name);
	if (g->node >= 0)
		fprintf(out, "\\nnode %d", g->node);
	if (!m.known)
		fputs("\\nmigrator unknown", out);
	else if (m.none)
		fputs("\\nno migrator", out);
	fputs("\"];\n", out);
	if (g->parent < 0)
		return;
	m = tree_migrator(t, (size_t)g->parent);
	fprintf(out, "\t\"%s\" -> \"%s\"%s;\n", t->h->groups[g->parent].name, g->name,
		m.group == (int)i ? " [style=bold]" : "");
}

static void put_cpu(const struct tmigr_tree *t, size_t i, FILE *out)
{
	const struct tmigr_topo_cpu *topo = &t->topo->cpus[i];
	const struct tmigr_cpu_view *c = &t->h->cpus[i];
	bool global = tree_is_global(t, i);
	char state[64];

	tree_state_name(t, i, state, sizeof(state));
	fprintf(out, "\t\"CPU %u\" [label=\"CPU %u\\n", topo->cpu, topo->cpu);
	put_label(t->topo->classes[topo->class_idx].name, out);
	if (topo->capacity)
		fprintf(out, " %u", topo->capacity);
	fprintf(out, "\\n%s, ", tree_tmigr_name(t, i));
	put_label(state, out);
	fprintf(out, "%s\"%s%s];\n", global ? "\\nglobal migrator" : "",
		global ? ", penwidth=3" : "",
		strcmp(tree_tmigr_name(t, i), "active") ? ", color=gray50" : "");
	if (c->group >= 0)
		fprintf(out, "\t\"%s\" -> \"CPU %u\"%s;\n", t->h->groups[c->group].name, topo->cpu,
			tree_migrator(t, (size_t)c->group).cpu == (int)i ? " [style=bold]" : "");
}

int tmigr_tree_dot(const struct tmigr_tree *t, FILE *out)
{
	size_t i;

	fputs("digraph tmigr {\n\tnode [fontname=\"sans\"];\n", out);
	for (i = 0; i < t->h->n_groups; i++)
		put_group(t, i, out);
	for (i = 0; i < t->h->n_cpus; i++)
		put_cpu(t, i, out);
	fputs("}\n", out);
	return ferror(out) ? -EIO : 0;
}
