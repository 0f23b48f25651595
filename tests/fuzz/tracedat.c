// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz harness for what of reading a trace.dat is ours (the library that opens it runs
 * in a process of its own, and may break).  The first byte chooses:
 *
 * even: what such a process tells, any messages and events; as far as the report,
 * whose laws must hold.
 * odd: formats of events that contradict themselves and each other, in the words of
 * the kernel's format files, then records of any size, read by them.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <event-parse.h>

#include "../../lib/decode.h"
#include "../../lib/import_priv.h"
#include "../../lib/tracedat_priv.h"
#include "report_laws.h"
#include "tmigr/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned int byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static size_t bytes(struct input *in, void *to, size_t n)
{
	n = n < in->left ? n : in->left;
	memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
	return n;
}

/* ---- messages ---- */

/* As it is, or of small numbers, of which more make sense. */
static void put_event(struct input *in, struct tmigr_traced *e, bool raw, __u64 *t_ns)
{
	*e = (struct tmigr_traced){0};
	if (raw) {
		bytes(in, e, sizeof(*e));
		/* (Thousands of CPUs take their time; what is no CPU is fine.) */
		e->cpu &= e->cpu <= TMIGR_CPU_MAX ? 63 : ~0u;
		e->subject &= e->subject <= TMIGR_CPU_MAX ? 63 : ~0u;
		return;
	}
	e->type = (__u8)byte(in);
	e->cpu = byte(in) & 7;
	*t_ns += byte(in) * 1000000ULL;
	e->t_ns = *t_ns;
	e->has = (__u8)byte(in);
	e->level = byte(in) & 3;
	e->group = byte(in);
	e->parent = byte(in) & 15;
	e->value = byte(in);
	e->value = e->value == 255 ? TMIGR_TRACED_IDLE_EXIT : e->value;
	e->subject = byte(in) & 7;
	e->mask = (__u8)byte(in);
	e->active = (__u8)byte(in);
	e->migrator = (__u8)byte(in);
}

static void put(int fd, const void *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		abort();
}

/* Not more messages with events than there are slots: nobody waits for them here. */
static void put_messages(struct input *in, int fd, struct dat_shared *shared)
{
	static char rest[2 * TMIGR_ERR_MAX];
	unsigned int slot = 0;
	__u64 t_ns = 0;

	while (in->left) {
		unsigned int kind = byte(in);
		struct dat_head head = {.msg = kind & 7, .n = byte(in) | (kind & 0x40) << 6};

		if (head.msg == DAT_EVENTS && slot < DAT_SLOTS) {
			for (unsigned int i = 0; i < head.n && i < DAT_BATCH && in->left; i++)
				put_event(in, &shared->evs[slot][i], kind & 0x80, &t_ns);
			slot++;
			head.watermark_ns = kind & 0x20 ? byte(in) * 1000000ULL : t_ns;
			put(fd, &head, sizeof(head));
		} else if (head.msg != DAT_EVENTS) {
			head.n += kind & 0x10 ? 0
				  : head.msg == DAT_HELLO
					  ? (__u32)sizeof(struct dat_hello) - (head.n & 0xff)
				  : head.msg == DAT_DONE
					  ? (__u32)sizeof(struct dat_done) - (head.n & 0xff)
					  : 0;
			memset(rest, 0, sizeof(rest));
			bytes(in, rest, head.n & 0xff);
			/* (Thousands of CPUs take their time; more than there can be are fine.) */
			if (head.msg == DAT_HELLO) {
				rest[1] = 0;
				rest[2] &= ~1; /* 65536 */
			}
			put(fd, &head, sizeof(head));
			put(fd, rest, head.n < sizeof(rest) ? head.n : sizeof(rest));
		}
	}
}

static void messages(struct input *in)
{
	static struct dat_shared shared;
	const struct tmigr_import_opts opts = {.tool = "fuzz"};
	struct tmigr_err err = {""};
	struct import im = {.path = "FILE", .opts = &opts, .err = &err};
	json_t *report = NULL;
	int fd = memfd_create("messages", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	memset(&shared, 0, sizeof(shared));
	put_messages(in, fd, &shared);
	if (lseek(fd, 0, SEEK_SET))
		abort();
	im.src = tmigr_dat_of_child("FILE", fd, &shared);
	assert(im.src);
	if (import_events(&im, &report) == 0)
		check_laws(report);
	else
		/* (The words of an error are the reader's.) */
		assert(!strchr(err.text, '\n'));
	im.src->close(im.src);
	tmigr_topology_free(im.topo);
	json_decref(report);
}

/* ---- formats and records ---- */

static const char *const names[][2] = {
	{"power", "cpu_idle"},
	{"power", "cpu_idle_miss"},
	{"timer_migration", "tmigr_group_set_cpu_active"},
	{"timer_migration", "tmigr_group_set_cpu_inactive"},
	{"timer_migration", "tmigr_cpu_active"},
	{"timer_migration", "tmigr_cpu_idle"},
	{"timer_migration", "tmigr_cpu_new_timer_idle"},
	{"timer_migration", "tmigr_handle_remote"},
	{"timer_migration", "tmigr_handle_remote_cpu"},
	{"timer_migration", "tmigr_cpu_online"},
	{"timer_migration", "tmigr_cpu_unavailable"},
	{"timer_migration", "tmigr_update_events"},
	{"timer_migration", "tmigr_group_set"},
	{"timer_migration", "tmigr_connect_cpu_parent"},
	{"timer_migration", "tmigr_connect_child_parent"},
	{"cpuhp", "cpuhp_enter"},
	{"cpuhp", "cpuhp_exit"},
};

static const char *const fields[] = {
	"common_type", "common_pid", "state",  "cpu_id",   "below",	   "group",
	"parent",      "lvl",	     "active", "migrator", "childmask",	   "groupmask",
	"cpu",	       "wakeup",     "child",  "capacity", "numa_node",	   "family",
	"group_lvl",   "target",     "idx",    "ret",	   "num_children", "fun",
};

static const char *const types[] = {
	"unsigned char %s", "unsigned short %s",    "int %s", "u64 %s", "void * %s",
	"char %s[16]",	    "__data_loc char[] %s", "bool %s"};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void put_field(FILE *out, const char *type, const char *name, int offset, int size)
{
	fprintf(out, "\tfield:");
	fprintf(out, type, name);
	fprintf(out, ";\toffset:%d;\tsize:%d;\tsigned:0;\n", offset, size);
}

/* A format file: its head as the kernel's, or not; then any fields. */
static void put_format(struct input *in, struct tep_handle *tep)
{
	static const int sizes[] = {1, 2, 4, 8, 0, 3, 16, -1};
	const char *const *name = names[byte(in) % COUNT(names)];
	unsigned int kind = byte(in), n = byte(in) & 15;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert(out);
	fprintf(out, "name: %s\nID: %u\nformat:\n", name[1],
		kind & 0x80 ? byte(in) : 100 + (kind & 31));
	if (!(kind & 0x40)) {
		put_field(out, "unsigned short %s", "common_type", 0, 2);
		put_field(out, "int %s", "common_pid", 4, 4);
		if (!(kind & 0x20))
			fprintf(out, "\n");
	}
	for (unsigned int i = 0; i < n; i++) {
		const char *type, *field = fields[byte(in) % COUNT(fields)];
		unsigned int how = byte(in);
		int offset = (int)byte(in);

		type = types[how & 7];
		offset = how & 0x80 ? offset * 257 - 1000 : offset;
		/* (A size that is nothing to libtraceevent is a division by it.) */
		put_field(out, type, field, offset, sizes[how >> 4 & 7]);
	}
	fprintf(out, "\nprint fmt: \"x\"\n");
	fclose(out);
	tep_parse_event(tep, text, size, name[0]);
	free(text);
}

static void read_record(struct tmigr_decoder *d, struct input *in)
{
	size_t n = byte(in);
	__u32 cpu = byte(in);
	struct tmigr_traced e;
	uint8_t *tight;
	int ret;

	n = n < in->left ? n : in->left;
	tight = malloc(n + !n);
	assert(tight);
	bytes(in, tight, n);
	ret = tmigr_decode(d, tight, n, 77, cpu, &e);
	assert(ret == 1 || ret == 0 || ret == -EINVAL);
	if (ret >= 0)
		assert(e.t_ns == 77 && e.type < TMIGR_TRACED_TYPES && e.cpu <= TMIGR_CPU_MAX &&
		       e.subject <= TMIGR_CPU_MAX && (e.type == TMIGR_TRACED_OTHER) == !ret);
	free(tight);
}

static void formats(struct input *in)
{
	const struct tmigr_hotplug_steps steps = {80, 81};
	struct tmigr_err err = {""};
	struct tep_handle *tep = tep_alloc();
	struct tmigr_decoder *d;
	unsigned int n = byte(in) & 7;

	assert(tep);
	if (byte(in) & 1)
		tep_set_file_bigendian(tep, TEP_BIG_ENDIAN);
	for (unsigned int i = 0; i <= n; i++)
		put_format(in, tep);
	if (tmigr_decoder_new(tep, steps, &d, &err) == 0) {
		while (in->left)
			read_record(d, in);
		tmigr_decoder_free(d);
	} else {
		assert(err.text[0] && !strchr(err.text, '\n'));
	}
	tep_free(tep);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data + 1, size - 1};

	if (!size)
		return 0;
	tep_set_loglevel(TEP_LOG_NONE);
	if (data[0] & 1)
		formats(&in);
	else
		messages(&in);
	return 0;
}
