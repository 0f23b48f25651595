// SPDX-License-Identifier: GPL-2.0-or-later
/* Which tables there are, and what their columns mean. */
#include "tmigr/csv.h"

#include <errno.h>

#include "report_parts.h"

#define CPU(what)                                                                                  \
	{                                                                                          \
		"cpu", "CPU", "", "integer", what                                                  \
	}
#define CLASS(what)                                                                                \
	{                                                                                          \
		"class", "Capacity class", "", "string", what                                      \
	}
#define ROOT                                                                                       \
	{                                                                                          \
		"root", "Root", "", "string", "Root group of the hierarchy, as in the report"      \
	}
#define REGIME                                                                                     \
	{                                                                                          \
		"regime", "Regime", "", "string",                                                  \
			"held: a CPU held the global migrator; handover: between two CPUs; duty: " \
			"nobody, an "                                                              \
			"idle CPU was armed for the first global timer; free: nobody, no global "  \
			"timer was "                                                               \
			"pending; unknown: records were lost, or the hierarchy was not learnt yet" \
	}
#define STATE                                                                                      \
	{"state", "Idle state", "", "integer",                                                     \
	 "The kernel's index; -1: running; empty: offline or unknown"},                            \
	{                                                                                          \
		"state_name", "Name of the idle state", "", "string",                              \
			"As sysfs has it; running, offline, unknown for what is no idle state"     \
	}

static const struct tmigr_csv_column run_columns[] = {
	{"label", "Label", "", "string", "What was measured: the name that the run was given"},
	{"run", "Run", "", "integer", "Number of the run among those of its label, from 1"},
};

static const struct tmigr_csv_column runs[] = {
	{"start_time", "Start", "", "string", "Time of day at the start, ISO 8601 in UTC"},
	{"window_ns", "Window", "ns", "integer", "Length of the measured window"},
	{"cpus", "CPUs", "", "integer", "Number of CPUs of the machine"},
	{"kernel", "Kernel", "", "string", "Release of the kernel"},
	{"machine", "Machine", "", "string", "Model of the machine"},
	{"residency_source", "Source of residency", "", "string",
	 "maps: counted in the kernel, exact whatever was lost; timeline: from recorded events"},
	{"big_share", "Share held by big CPUs", "1", "number",
	 "Time in which a big CPU held the global migrator over the window; empty: not known, or "
	 "no question on this machine"},
	{"lost_records", "Lost records", "", "integer",
	 "Records of the timeline that found no room"},
	{"exit_status", "Exit status", "", "integer", "Of the command that ran in the window"},
	{"failed", "Failure", "", "string", "Why the run counts as failed; empty: it does not"},
	{"partial", "Partial", "", "string",
	 "Where and why its recording stops early; empty: whole"},
};

static const struct tmigr_csv_column residency[] = {
	CPU("The kernel's number"),
	CLASS("CPUs of equal capacity, or the user's class"),
	{"capacity", "Capacity", "", "integer",
	 "The kernel's cpu_capacity, 1024 for the biggest; empty: not known"},
	STATE,
	{"time_ns", "Time", "ns", "integer",
	 "Time in the state inside the window; a CPU's rows add up to the window exactly"},
	{"entries", "Entries", "", "integer", "Times that the state was entered, as requested"},
	{"above", "Too deep", "", "integer", "Intervals that were too short for the state"},
	{"below", "Too shallow", "", "integer",
	 "Intervals that were long enough for a deeper state"},
	{"tmigr_idle_ns", "Running, idle to timer migration", "ns", "integer",
	 "Of the running time: that in which the CPU was idle to timer migration; empty: not "
	 "measured"},
	{"tmigr_unknown_ns", "Running, not known to timer migration", "ns", "integer",
	 "Of the running time: that in which it is not known what the CPU was to timer migration"},
};

static const struct tmigr_csv_column migrator[] = {
	ROOT,
	CPU("The holder; empty where no CPU holds"),
	CLASS("The holder's"),
	REGIME,
	{"time_ns", "Time", "ns", "integer", "A root's rows add up to the window exactly"},
	{"holdings", "Holdings", "", "integer", "Uninterrupted holdings by this CPU"},
	{"longest_ns", "Longest holding", "ns", "integer", "Longest of them"},
	{"avoidable_ns", "Avoidable", "ns", "integer",
	 "Part of time_ns in which a CPU of a lower class under the same root was awake"},
	{"avoidable_unknown_ns", "Avoidable or not", "ns", "integer",
	 "Part of time_ns in which that is not known"},
};

static const struct tmigr_csv_column migrator_states[] = {
	ROOT,
	CPU("The holder"),
	CLASS("The holder's"),
	STATE,
	{"held_ns", "Held", "ns", "integer",
	 "Time in which the CPU held the global migrator and was in this state"},
};

static const struct tmigr_csv_column segments[] = {
	ROOT,
	REGIME,
	CPU("The holder; empty where no CPU holds"),
	CLASS("The holder's"),
	{"start_ns", "Start", "ns", "integer", "Since the window's start"},
	{"end_ns", "End", "ns", "integer", "Since the window's start"},
};

static const struct tmigr_csv_column remote[] = {
	{"executor", "Executor", "", "integer", "CPU that ran expired global timers of another"},
	{"executor_class", "Executor's class", "", "string", "Capacity class of the executor"},
	{"target", "Target", "", "integer", "CPU whose timers they were; may be the executor"},
	{"target_class", "Target's class", "", "string", "Capacity class of the target"},
	{"count", "Remote expiries", "", "integer", "Times that it happened"},
	{"woke_executor", "Woke the executor", "", "integer",
	 "Of these, the first after an idle interval of the executor which ended for it"},
};

static const struct tmigr_csv_column metrics[] = {
	{"name", "Metric", "", "string", "What the command printed of itself"},
	{"value", "Value", "see the column unit", "number", "The figure"},
	{"unit", "Unit", "", "string", "Its unit; empty: none"},
	{"better", "Better", "", "string", "higher or lower values are better; empty: neither"},
};

static const struct tmigr_csv_column energy[] = {
	{"domain", "Domain", "", "string", "Part of the machine whose energy was counted"},
	{"energy_uj", "Energy", "uJ", "integer", "Energy over the window"},
};

static const struct tmigr_csv_column hotplug[] = {
	{"operation", "Operation", "", "integer",
	 "Number of the bring-up or take-down in the window, from 1 on"},
	CPU("The one that comes or goes"),
	CLASS("CPUs of equal capacity, or the user's class"),
	{"way", "Way", "", "string", "up or down"},
	{"start_ns", "Start", "ns", "integer", "Since the window's start"},
	{"total_ns", "Total", "ns", "integer",
	 "Of the operation; time_ns of its rows adds up to it exactly"},
	{"whole", "Whole", "", "integer",
	 "0: it failed, or began or ended outside of the window, or events of it were lost"},
	{"step", "Step", "", "integer", "The kernel's number; empty: between steps"},
	{"name", "Name", "", "string", "The step's; empty: between steps"},
	{"own", "Own", "", "integer", "1: on the CPU itself; 0: on the one that asked for it"},
	{"back", "Back", "", "integer", "1: it took back what was done, after a failure"},
	{"calls", "Calls", "", "integer", "Of the step"},
	{"time_ns", "Time", "ns", "integer", "Of the step itself, without steps within it"},
};

#define DIST(key, what, meaning)                                                                   \
	{key "_n", what ": intervals", "", "integer", meaning},                                    \
		{key "_sum_ns", what ": sum", "ns", "integer", "Of these"},                        \
		{key "_p50_ns", what ": median", "ns", "integer",                                  \
		 "From a histogram by powers of two; empty: none"},                                \
		{key "_p99_ns", what ": 99th percentile", "ns", "integer",                         \
		 "From a histogram by powers of two; empty: none"},                                \
	{                                                                                          \
		key "_max_ns", what ": longest", "ns", "integer", "Exact; empty: none"             \
	}

static const struct tmigr_csv_column latency[] = {
	CPU("The kernel's number"),
	CLASS("CPUs of equal capacity, or the user's class"),
	STATE,
	{"exit_latency_ns", "Exit latency", "ns", "integer",
	 "What the state claims (sysfs); empty: nothing"},
	{"entries", "Entries", "", "integer", "Times that the state was entered, as requested"},
	{"open_start", "Open at the start", "", "integer",
	 "1: an interval of this state was not over, or its cause not settled"},
	{"open_end", "Open at the end", "", "integer", "The same at the window's end"},
	{"above", "Too deep", "", "integer", "Intervals that were too short for the state"},
	{"below", "Too shallow", "", "integer",
	 "Intervals that were long enough for a deeper state"},
	{"rejected", "Rejected", "", "integer", "Entries that the driver refused"},
	DIST("entry", "Entry cost",
	     "From the switch to the idle task, or the end of the last interrupt's work, to the "
	     "entry"),
	DIST("tmigr", "Timer migration at entry",
	     "Part of the entry cost from the first event of timer migration to its last"),
	DIST("wake", "Wake latency",
	     "From the expiry of the timer that ended the interval, or from the entry where it was "
	     "late already, to the wake-up"),
	{"remote_wakes", "Wake-ups with remote timers", "", "integer",
	 "Intervals after which timers of other CPUs ran, whatever ended them"},
};

static const struct tmigr_csv_column wakeups[] = {
	CPU("The CPU that was idle"),
	CLASS("CPUs of equal capacity, or the user's class"),
	STATE,
	{"cause", "Ended by", "", "string",
	 "own-timer, remote-duty, reschedule-ipi, call-ipi, polled, device-irq, other, unknown"},
	{"irq", "Interrupt", "", "integer", "Number of a device's interrupt; empty: none"},
	{"irq_name", "Name of the interrupt", "", "string", "As in /proc/interrupts, cut off"},
	{"target", "Target", "", "integer",
	 "With remote-duty: whose timers were the first to run; empty: not counted by target"},
	{"target_class", "Target's class", "", "string", "Capacity class of the target"},
	{"count", "Wake-ups", "", "integer",
	 "A state's rows add up to entries + open_start - open_end"},
	{"slept_ns", "Slept", "ns", "integer", "From the entries to the wake-ups"},
	{"awake_ns", "Awake", "ns", "integer",
	 "From the wake-ups to the switch to a task, or the next entry"},
	{"expected", "With a known end", "", "integer",
	 "Intervals that began with a timer armed on the CPU"},
	{"short", "Cut short", "", "integer", "Of these, ended before that timer was due"},
	{"short_slept_ns", "Slept of those cut short", "ns", "integer", "What these slept"},
	{"short_expected_ns", "Expected of those cut short", "ns", "integer",
	 "What they would have slept"},
};

#define TABLE(name, title, columns) OPTIONAL(name, title, columns, NULL)

#define OPTIONAL(name, title, columns, member)                                                     \
	{                                                                                          \
		name, title, columns, sizeof(columns) / sizeof((columns)[0]), member               \
	}

static const struct tmigr_csv_table tables[TMIGR_CSV_TABLES] = {
	[TMIGR_CSV_RUNS] = TABLE("runs", "Runs", runs),
	[TMIGR_CSV_RESIDENCY] = TABLE("residency", "Idle-state residency per CPU", residency),
	[TMIGR_CSV_MIGRATOR] = TABLE("migrator", "Who had the global migrator", migrator),
	[TMIGR_CSV_MIGRATOR_STATES] = TABLE(
		"migrator-states", "What holders of the global migrator were in", migrator_states),
	[TMIGR_CSV_SEGMENTS] =
		TABLE("migrator-segments", "Every change of the global migrator", segments),
	[TMIGR_CSV_REMOTE] = TABLE("remote", "Remote expiries", remote),
	[TMIGR_CSV_METRICS] =
		OPTIONAL("metrics", "What the command printed of itself", metrics, "metrics"),
	[TMIGR_CSV_ENERGY] = OPTIONAL("energy", "Energy", energy, "energy"),
	[TMIGR_CSV_HOTPLUG] =
		OPTIONAL("hotplug", "Bring-ups and take-downs, step by step", hotplug, "hotplug"),
	[TMIGR_CSV_LATENCY] = OPTIONAL("latency", "What idle costs", latency, "latency"),
	[TMIGR_CSV_WAKEUPS] = OPTIONAL("wakeups", "Who ended idle", wakeups, "latency"),
};

const struct tmigr_csv_table *tmigr_csv_table(enum tmigr_csv which)
{
	return &tables[which];
}

/* ---- the head, and the description: both from the columns ---- */

#define N_RUN_COLUMNS (sizeof(run_columns) / sizeof(run_columns[0]))

int tmigr_csv_head(enum tmigr_csv which, bool with_run, FILE *out)
{
	const struct tmigr_csv_table *t = &tables[which];

	for (size_t i = 0; with_run && i < N_RUN_COLUMNS; i++)
		fprintf(out, "%s,", run_columns[i].name);
	for (size_t i = 0; i < t->n_columns; i++)
		fprintf(out, "%s%s", i ? "," : "", t->columns[i].name);
	putc('\n', out);
	return ferror(out) ? -EIO : 0;
}

static json_t *describe_column(const struct tmigr_csv_column *c)
{
	json_t *obj = json_object();
	bool bad = !obj;

	tmigr_put(obj, "name", json_string(c->name), &bad);
	tmigr_put(obj, "titles", json_string(c->name), &bad);
	tmigr_put(obj, "dc:title", json_string(c->title), &bad);
	tmigr_put(obj, "dc:description", json_string(c->meaning), &bad);
	tmigr_put(obj, "datatype", json_string(c->type), &bad);
	if (*c->unit)
		tmigr_put(obj, "schema:unitText", json_string(c->unit), &bad);
	return tmigr_whole(obj, bad);
}

static json_t *describe_columns(const struct tmigr_csv_table *t, bool with_run)
{
	json_t *list = json_array();
	bool bad = !list;

	for (size_t i = 0; with_run && i < N_RUN_COLUMNS; i++)
		bad |= json_array_append_new(list, describe_column(&run_columns[i])) < 0;
	for (size_t i = 0; i < t->n_columns; i++)
		bad |= json_array_append_new(list, describe_column(&t->columns[i])) < 0;
	return tmigr_whole(list, bad);
}

static json_t *describe_table(const struct tmigr_csv_table *t, bool with_run, const char *url)
{
	json_t *obj = json_object(), *schema = json_object();
	bool bad = !obj || !schema;
	char name[64];

	snprintf(name, sizeof(name), "%s.csv", t->name);
	tmigr_put(schema, "columns", describe_columns(t, with_run), &bad);
	tmigr_put(obj, "url", json_string(url ? url : name), &bad);
	tmigr_put(obj, "dc:title", json_string(t->title), &bad);
	tmigr_put(obj, "tableSchema", schema, &bad);
	return tmigr_whole(obj, bad);
}

json_t *tmigr_csv_describe(unsigned int which, bool with_run, const char *url)
{
	json_t *obj = json_object(), *list = json_array();
	bool bad = !obj || !list;

	for (int i = 0; i < TMIGR_CSV_TABLES; i++)
		if (which >> i & 1)
			bad |= json_array_append_new(list,
						     describe_table(&tables[i], with_run, url)) < 0;
	tmigr_put(obj, "@context", json_string("http://www.w3.org/ns/csvw"), &bad);
	tmigr_put(obj, "tables", list, &bad);
	return tmigr_whole(obj, bad);
}
