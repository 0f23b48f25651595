// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of one group's updates against all orders there are: none that may be is
 * better than the sequencer's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sequencer_story.h"

/* A price: words that cannot follow, then migrators that no rule gives, then by how much
 * stamps are turned round. */
struct price {
	unsigned int breaks, odd;
	__u64 turned;
};

static bool cheaper(const struct price *a, const struct price *b)
{
	if (a->breaks != b->breaks)
		return a->breaks < b->breaks;
	if (a->odd != b->odd)
		return a->odd < b->odd;
	return a->turned < b->turned;
}

/* What the kernel may have made of @was: the child's bit changes, and the migrator is
 * the one before, or the child, or who takes over from it. */
static void step(const struct tmigr_traced *was, const struct tmigr_traced *u, struct price *p)
{
	bool on = u->type == TMIGR_TRACED_GROUP_ACTIVE;

	if (!was)
		return;
	if ((was->active ^ u->mask) != u->active || on != !!(u->active & u->mask))
		p->breaks++;
	else if (on && was->migrator == NONE)
		p->odd += u->migrator != u->mask;
	else if (on || was->migrator != u->mask)
		p->odd += u->migrator != was->migrator;
	else if (u->active)
		p->odd += u->migrator == NONE || !(u->migrator & u->active);
	else
		p->odd += u->migrator != NONE;
}

/* The updates among evs, by stamp, with the end of their CPU's event before. */
static const struct tmigr_traced *ups[MAX];
static __u64 lo_ns[MAX];
static size_t n_ups;

static bool is_before(const struct tmigr_traced *a, const struct tmigr_traced *b)
{
	return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->cpu < b->cpu;
}

static void find_updates(void)
{
	__u64 last_ns[8] = {0};

	n_ups = 0;
	for (size_t i = 0; i < n_evs; i++) {
		size_t k = n_ups;

		if (evs[i].type != TMIGR_TRACED_OTHER) {
			for (; k && is_before(&evs[i], ups[k - 1]); k--) {
				ups[k] = ups[k - 1];
				lo_ns[k] = lo_ns[k - 1];
			}
			ups[k] = &evs[i];
			lo_ns[k] = last_ns[evs[i].cpu];
			n_ups++;
		}
		last_ns[evs[i].cpu] = evs[i].t_ns;
	}
}

static struct price price_of(const unsigned char *order)
{
	struct price p = {0};

	for (size_t i = 0; i < n_ups; i++) {
		step(i ? ups[order[i - 1]] : NULL, ups[order[i]], &p);
		for (size_t k = i + 1; k < n_ups; k++)
			if (order[k] < order[i])
				p.turned += ups[order[i]]->t_ns - ups[order[k]]->t_ns + 1;
	}
	return p;
}

/* Can @i come before @k? */
static bool may_precede(unsigned int i, unsigned int k, bool any_time)
{
	if (ups[i]->cpu == ups[k]->cpu)
		return i < k;
	return any_time || lo_ns[i] <= ups[k]->t_ns;
}

static void all_orders(unsigned char *order, size_t n, bool any_time, struct price *best)
{
	if (n == n_ups) {
		struct price p = price_of(order);

		if (cheaper(&p, best))
			*best = p;
	}
	for (unsigned int i = 0; i < n_ups; i++) {
		bool fine = !memchr(order, (int)i, n);

		for (unsigned int k = 0; k < n_ups && fine; k++)
			fine = k == i || memchr(order, (int)k, n) || may_precede(i, k, any_time);
		if (!fine)
			continue;
		order[n] = (unsigned char)i;
		all_orders(order, n + 1, any_time, best);
	}
}

/* The cheapest order that the stamps allow; where each has a break, of all, if that is
 * any better. */
static struct price best_price(bool *ret_any_time)
{
	struct price best = {.breaks = ~0u}, any = best;
	unsigned char order[MAX];

	all_orders(order, 0, false, &best);
	if (best.breaks)
		all_orders(order, 0, true, &any);
	*ret_any_time = cheaper(&any, &best);
	return *ret_any_time ? any : best;
}

/* The order that came out, which must be one that can be. */
static struct price price_of_result(bool any_time)
{
	unsigned char order[MAX];

	for (unsigned int i = 0; i < n_ups; i++) {
		size_t k = i;
		unsigned int seq = seq_of(ups[i]->t_ns, ups[i]->cpu);

		for (; k && seq_of(ups[order[k - 1]]->t_ns, ups[order[k - 1]]->cpu) > seq; k--)
			order[k] = order[k - 1];
		order[k] = (unsigned char)i;
	}
	for (size_t i = 1; i < n_ups; i++)
		for (size_t k = 0; k < i; k++)
			assert_true(may_precede(order[k], order[i], any_time));
	return price_of(order);
}

#define DRAWN 7
#define CPUS  4
#define IN(n) (sim_random_u64(&rng) % (n))

/* Some CPUs of a group wake up and sleep; some stamps are late, one CPU's clock may be
 * ahead, an update may be missing, a migrator odd.  The last one's CPU has no event
 * before, so it reaches back to all. */
static void draw(__u64 seed)
{
	__u64 rng = seed, free_ns[CPUS] = {0}, ahead_ns[CPUS] = {0}, t_ns = 1024;
	unsigned int active = 0, migrator = NONE, missing = IN(4) ? DRAWN : (unsigned int)IN(DRAWN);
	unsigned int odd = IN(4) ? DRAWN : (unsigned int)IN(DRAWN);

	n_evs = 0;
	if (!IN(4))
		ahead_ns[IN(CPUS)] = 96;
	for (unsigned int i = 0; i < DRAWN; i++) {
		__u32 cpu = (__u32)IN(CPUS);
		unsigned int mask = 1u << cpu, on = !(active & mask);
		__u64 at_ns;

		active ^= mask;
		if (on)
			migrator = migrator == NONE ? mask : migrator;
		else if (migrator == mask)
			migrator = active ? active & -active : NONE;
		t_ns += 16 + 16 * IN(3);
		at_ns = t_ns + ahead_ns[cpu] + 16 * IN(6);
		at_ns = at_ns > free_ns[cpu] ? at_ns : free_ns[cpu];
		if (i == missing)
			continue;
		update(on ? TMIGR_TRACED_GROUP_ACTIVE : TMIGR_TRACED_GROUP_INACTIVE, at_ns, cpu,
		       active, i == odd ? 0x80 : migrator);
		free_ns[cpu] = at_ns + 16;
		if (IN(2))
			other(at_ns + 1, cpu);
	}
	up(t_ns + 1000, CPUS, active | 1u << CPUS, migrator == NONE ? 1u << CPUS : migrator);
}

static void best_of_all_orders(void **state)
{
	unsigned int n_breaks = 0, n_odd = 0, turned = 0, n_any = 0;

	(void)state;
	for (__u64 seed = 1; seed <= 2000; seed++) {
		struct price want, got;
		bool any_time;

		draw(seed);
		sequence();
		find_updates();
		want = best_price(&any_time);
		got = price_of_result(any_time);
		assert_int_equal(stats.breaks, want.breaks);
		assert_int_equal(stats.odd, want.odd);
		n_any += any_time;
		if (cheaper(&want, &got) || cheaper(&got, &want))
			fail_msg("seed %llu: %u breaks, %u odd, turned by %llu; best: %u, %u, %llu",
				 (unsigned long long)seed, got.breaks, got.odd,
				 (unsigned long long)got.turned, want.breaks, want.odd,
				 (unsigned long long)want.turned);
		n_breaks += want.breaks > 0;
		n_odd += want.odd > 0;
		turned += want.turned > 0;
	}
	fprintf(stderr, "# of 2000: %u with breaks, %u odd, %u turned round, %u against clocks\n",
		n_breaks, n_odd, turned, n_any);
	assert_true(n_breaks > 100 && n_odd > 100 && turned > 200 && n_any > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(best_of_all_orders, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
