// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The model's entry points, and what each record does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_internal.h"

/* ---- life ---- */

static void init_cpu(struct tmigr_model *m, size_t i)
{
	const struct tmigr_topo_cpu *tc = &m->cfg.topo->cpus[i];
	struct tmigr_mcpu *c = &m->cpus[i];

	*c = (struct tmigr_mcpu){
		.cpu = tc->cpu,
		.class_idx = tc->class_guessed ? m->cfg.topo->n_classes : tc->class_idx,
		.slot = tc->online ? TMIGR_SLOT_UNKNOWN : TMIGR_SLOT_OFFLINE,
		.idle_slot = TMIGR_SLOT_UNKNOWN,
		.seen = !tc->online,
		.woke_done = !tc->online,
		.part = TMIGR_PARTS,
		.snap_part = tc->online ? TMIGR_PART_UNKNOWN : TMIGR_PART_OUTSIDE,
		.available = tc->online,
		.in_play = tc->online,
		.duty = tc->online ? TMIGR_DUTY_UNKNOWN : TMIGR_DUTY_NONE,
		.wakeup_ns = TMIGR_KTIME_MAX,
		.group = -1,
		.root = -1,
	};
	m->figures[i].cpu = tc->cpu;
	m->index_of_cpu[tc->cpu] = i;
	tmigr_root_count_cpu(m, i, 1);
}

static void init_classes(struct tmigr_model *m)
{
	const struct tmigr_class *c = m->cfg.topo->classes;
	size_t n_classes = m->cfg.topo->n_classes;

	for (size_t i = 0; i < n_classes; i++) {
		bool same = c[0].capacity == c[n_classes - 1].capacity;
		unsigned int rank = tmigr_class_rank(c[i].capacity, c[i].name, same);
		unsigned int n = 0;

		while (n < i && tmigr_class_rank(c[n].capacity, c[n].name, same) < rank)
			n++;
		m->lower_classes[i] = n;
	}
	m->lower_classes[n_classes] = 0;
}

int tmigr_model_new(const struct tmigr_model_cfg *cfg, struct tmigr_model **ret)
{
	const struct tmigr_topology *topo = cfg->topo;
	struct tmigr_model *m = calloc(1, sizeof(*m));
	size_t n = topo->n_cpus;

	if (!m)
		return -ENOMEM;
	m->cfg = *cfg;
	m->sorted = true;
	m->end_ns = TMIGR_NEVER;
	m->arrivals = -64U; /* wraps soon, in tests too, not after days */
	m->n_cpus = n;
	for (size_t i = 0; i < n; i++)
		if (topo->cpus[i].cpu >= m->n_numbers)
			m->n_numbers = topo->cpus[i].cpu + 1;
	m->cpus = calloc(n + 1, sizeof(*m->cpus));
	m->figures = calloc(n + 1, sizeof(*m->figures));
	m->index_of_cpu = malloc((m->n_numbers + 1) * sizeof(*m->index_of_cpu));
	m->lower_classes = calloc(topo->n_classes + 1, sizeof(*m->lower_classes));
	m->n_stray = calloc(topo->n_classes + 1, sizeof(*m->n_stray));
	if (!m->cpus || !m->figures || !m->index_of_cpu || !m->lower_classes || !m->n_stray) {
		tmigr_model_free(m);
		return -ENOMEM;
	}
	memset(m->index_of_cpu, 0xff, (m->n_numbers + 1) * sizeof(*m->index_of_cpu));
	init_classes(m);
	for (size_t i = 0; i < n; i++)
		init_cpu(m, i);
	*ret = m;
	return 0;
}

static void free_result(struct tmigr_result *res)
{
	for (size_t i = 0; i < res->n_roots; i++)
		free(res->roots[i].holders);
	free(res->roots);
	free(res->remote);
}

void tmigr_model_free(struct tmigr_model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_roots; i++)
		tmigr_root_free(&m->roots[i]);
	free_result(&m->result);
	tmigr_map_free(&m->group_map);
	tmigr_map_free(&m->remote_map);
	free(m->roots);
	free(m->groups);
	free(m->held);
	free(m->pulled);
	free(m->next);
	free(m->cpus);
	free(m->figures);
	free(m->index_of_cpu);
	free(m->lower_classes);
	free(m->n_stray);
	free(m);
}

int tmigr_model_cpu(const struct tmigr_model *m, __u64 cpu)
{
	return cpu < m->n_numbers ? m->index_of_cpu[cpu] : -1;
}

bool tmigr_model_counts(const struct tmigr_model *m)
{
	return !m->tail && m->now_ns >= m->cfg.start_ns;
}

/* ---- records ---- */

static bool is_kernel(unsigned int type)
{
	return type >= TMIGR_REC_IDLE_ENTER && type <= TMIGR_REC_CPU_OFFLINE;
}

static bool is_type(unsigned int type)
{
	return is_kernel(type) || (type >= TMIGR_REC_NODE_GROUP && type <= TMIGR_REC_DUTY) ||
	       type == TMIGR_REC_LOST || type == TMIGR_REC_CLEAN;
}

static void idle_record(struct tmigr_model *m, const struct tmigr_rec *rec)
{
	int cpu = tmigr_model_cpu(m, rec->cpu);

	if (cpu < 0)
		return;
	switch (rec->type) {
	case TMIGR_REC_IDLE_ENTER:
		tmigr_resid_enter(m, cpu, rec->a);
		break;
	case TMIGR_REC_IDLE_EXIT:
		tmigr_resid_exit(m, cpu);
		break;
	case TMIGR_REC_IDLE_MISS:
		tmigr_resid_miss(m, cpu, rec->a, rec->b);
		break;
	}
}

static void set_available(struct tmigr_model *m, int cpu, bool available)
{
	m->cpus[cpu].available = available;
	tmigr_root_in_play(m, cpu, available);
}

static void set_duty(struct tmigr_model *m, int cpu, __u64 wakeup_ns, bool tells_pending)
{
	enum tmigr_duty duty = wakeup_ns < TMIGR_KTIME_MAX ? TMIGR_DUTY_SET : TMIGR_DUTY_NONE;

	tmigr_root_duty(m, cpu, duty, wakeup_ns, tells_pending ? duty : TMIGR_DUTY_UNKNOWN);
}

static void clear_duty(struct tmigr_model *m, int cpu, bool tells_pending)
{
	set_duty(m, cpu, TMIGR_KTIME_MAX, tells_pending);
}

/* Records about CPU b. */
static void subject_record(struct tmigr_model *m, const struct tmigr_rec *rec)
{
	int cpu = tmigr_model_cpu(m, rec->b);

	if (cpu < 0)
		return;
	tmigr_part_record(m, cpu, rec);
	switch (rec->type) {
	case TMIGR_REC_CPU_ACTIVE:
	case TMIGR_REC_HANDLE_REMOTE_CPU:
		clear_duty(m, cpu, false);
		break;
	case TMIGR_REC_CPU_IDLE:
		set_duty(m, cpu, rec->a, true);
		break;
	case TMIGR_REC_CPU_NEW_TIMER_IDLE:
		set_duty(m, cpu, rec->a, false);
		break;
	case TMIGR_REC_SNAP_CPU:
		set_available(m, cpu, rec->flags & TMIGR_RF_AVAILABLE);
		/* fall through */
	case TMIGR_REC_DUTY:
		/* read while the CPU was still on its way: its event follows */
		if (m->cpus[cpu].duty != TMIGR_DUTY_PENDING)
			set_duty(m, cpu, rec->a, false);
		break;
	case TMIGR_REC_CPU_AVAILABLE:
		set_available(m, cpu, true);
		clear_duty(m, cpu, false);
		break;
	case TMIGR_REC_CPU_UNAVAILABLE:
		set_available(m, cpu, false);
		clear_duty(m, cpu, true);
		break;
	case TMIGR_REC_CPU_ONLINE:
		tmigr_root_in_play(m, cpu, true);
		tmigr_resid_online(m, cpu);
		break;
	case TMIGR_REC_CPU_OFFLINE:
		set_available(m, cpu, false);
		clear_duty(m, cpu, false);
		tmigr_resid_offline(m, cpu);
		break;
	}
}

/*
 * Every group of the CPU's hierarchy may have lost an update from @from on; since its
 * last accepted update, unless seq vouches for nothing.
 */
static void suspect_groups(struct tmigr_model *m, int cpu, __u64 from_ns, bool no_seq)
{
	int root = cpu < 0 ? -1 : m->cpus[cpu].root;

	for (size_t i = 0; i < m->n_groups; i++) {
		struct tmigr_group *g = &m->groups[i];
		__u64 from;

		if (!g->known || (root >= 0 && g->root != root))
			continue;
		if (no_seq && g->good_ns > from_ns)
			g->good_ns = from_ns;
		from = from_ns > g->good_ns ? from_ns : g->good_ns;
		if (!g->suspect || from < g->suspect_ns)
			g->suspect_ns = from;
		g->suspect = true;
	}
}

static void lost_record(struct tmigr_model *m, const struct tmigr_rec *rec)
{
	__u64 from = rec->b < m->now_ns ? rec->b : m->now_ns;
	int cpu = tmigr_model_cpu(m, rec->cpu);

	if (m->now_ns >= m->cfg.start_ns && (!m->tail || rec->b < m->end_ns))
		m->result.lost_records += rec->a;
	if (m->tail && rec->b >= m->end_ns)
		return;
	if (cpu >= 0)
		tmigr_resid_lost(m, cpu, from);
	tmigr_root_lost(m, cpu, from);
	suspect_groups(m, cpu, from, rec->flags & TMIGR_RF_NO_SEQ);
}

static void any_record(struct tmigr_model *m, size_t idx)
{
	struct tmigr_rec rec = m->held[idx].rec;

	switch (rec.type) {
	case TMIGR_REC_IDLE_ENTER:
	case TMIGR_REC_IDLE_EXIT:
	case TMIGR_REC_IDLE_MISS:
		idle_record(m, &rec);
		break;
	case TMIGR_REC_GROUP_ACTIVE:
	case TMIGR_REC_GROUP_INACTIVE:
	case TMIGR_REC_SNAP_GROUP:
		tmigr_order_group(m, idx);
		break;
	case TMIGR_REC_HANDLE_REMOTE_CPU:
		tmigr_remote_event(m, &rec);
		subject_record(m, &rec);
		break;
	case TMIGR_REC_NODE_GROUP:
		tmigr_hier_node_group(m, &rec);
		break;
	case TMIGR_REC_NODE_CPU:
		tmigr_hier_node_cpu(m, &rec);
		break;
	case TMIGR_REC_SNAP_IDLE:
		if (tmigr_model_cpu(m, rec.b) >= 0)
			tmigr_resid_snap(m, tmigr_model_cpu(m, rec.b), rec.a);
		break;
	case TMIGR_REC_LOST:
		lost_record(m, &rec);
		break;
	case TMIGR_REC_CLEAN:
		if (rec.t_ns > m->clean_ns)
			m->clean_ns = rec.t_ns;
		tmigr_root_clean(m);
		break;
	default:
		subject_record(m, &rec);
	}
}

/*
 * After the window: a group's words confirm or reveal what was lost before the
 * end, unless a CLEAN vouches for the time up to it; a LOST may reach back into
 * the window, and the first information about a CPU's idle state, or of what it
 * is to timer migration, dates back as it does inside the window.
 */
static void tail_record(struct tmigr_model *m, size_t idx)
{
	struct tmigr_rec rec = m->held[idx].rec;
	int cpu;

	switch (rec.type) {
	case TMIGR_REC_GROUP_ACTIVE:
	case TMIGR_REC_GROUP_INACTIVE:
	case TMIGR_REC_SNAP_GROUP:
		tmigr_order_group(m, idx);
		break;
	case TMIGR_REC_LOST:
		lost_record(m, &rec);
		break;
	case TMIGR_REC_CLEAN:
		m->clean_ns = m->end_ns;
		break;
	case TMIGR_REC_IDLE_ENTER:
	case TMIGR_REC_IDLE_EXIT:
		cpu = tmigr_model_cpu(m, rec.cpu);
		if (cpu >= 0 && !m->cpus[cpu].seen)
			idle_record(m, &rec);
		break;
	case TMIGR_REC_SNAP_IDLE:
		cpu = tmigr_model_cpu(m, rec.b);
		if (cpu >= 0 && !m->cpus[cpu].seen)
			tmigr_resid_snap(m, cpu, rec.a);
		break;
	case TMIGR_REC_CPU_ONLINE:
	case TMIGR_REC_CPU_OFFLINE:
		cpu = tmigr_model_cpu(m, rec.b);
		if (cpu >= 0 && !m->cpus[cpu].seen && rec.type == TMIGR_REC_CPU_ONLINE)
			tmigr_resid_online(m, cpu);
		else if (cpu >= 0 && !m->cpus[cpu].seen)
			tmigr_resid_offline(m, cpu);
		break;
	default:
		cpu = tmigr_model_cpu(m, rec.b);
		if (cpu >= 0 && !tmigr_part_seen(m, cpu))
			tmigr_part_record(m, cpu, &rec);
	}
}

void tmigr_model_dispatch(struct tmigr_model *m, size_t idx)
{
	const struct tmigr_held *h = &m->held[idx];

	if (m->tail) {
		if (!h->used)
			tail_record(m, idx);
		return;
	}
	if (h->rec.t_ns > m->now_ns)
		m->now_ns = h->rec.t_ns;
	if (is_kernel(h->rec.type) && m->now_ns >= m->cfg.start_ns)
		m->result.records++;
	if (!h->used)
		any_record(m, idx);
}

int tmigr_model_feed(struct tmigr_model *m, const struct tmigr_rec *recs, size_t n)
{
	if (m->err)
		return m->err;
	if (m->finished)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!is_type(recs[i].type))
			return -EINVAL;
	return tmigr_order_add(m, recs, n);
}

int tmigr_model_advance(struct tmigr_model *m, __u64 watermark_ns)
{
	if (m->err || m->finished)
		return m->err ? m->err : -EINVAL;
	if (watermark_ns <= m->watermark_ns)
		return 0;
	m->watermark_ns = watermark_ns;
	if (watermark_ns > TMIGR_LOOKAHEAD_NS)
		tmigr_order_release(m, watermark_ns - TMIGR_LOOKAHEAD_NS);
	return m->err;
}

int tmigr_model_finish(struct tmigr_model *m, __u64 end_ns)
{
	if (m->err)
		return m->err;
	if (m->finished || end_ns < m->cfg.start_ns)
		return -EINVAL;
	tmigr_order_release(m, end_ns == TMIGR_NEVER ? end_ns - 1 : end_ns);
	if (m->err)
		return m->err;
	if (m->now_ns > end_ns)
		return -EINVAL;
	m->end_ns = end_ns;
	m->now_ns = end_ns;
	tmigr_root_cut_end(m);
	m->tail = true;
	tmigr_order_release(m, TMIGR_NEVER);
	tmigr_root_finish(m);
	tmigr_resid_finish(m);
	tmigr_remote_finish(m);
	if (!m->err)
		m->err = tmigr_log_result(m);
	m->finished = true;
	m->result.start_ns = m->cfg.start_ns;
	m->result.end_ns = end_ns;
	m->result.n_cpus = m->n_cpus;
	m->result.cpus = m->figures;
	return m->err;
}

const struct tmigr_result *tmigr_model_result(const struct tmigr_model *m)
{
	return &m->result;
}
