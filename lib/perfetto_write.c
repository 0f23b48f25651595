// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef TMIGR_PERFETTO
#include "perfetto_write.h"

#include "perfetto.pb-c.h"

#define SEQUENCE      1
#define STATE_CLEARED 1
#define STATE_NEEDED  2

/* Short names for the generated ones. */
#define PB(name) Perfetto__Protos__##name
typedef PB(TracePacket) packet_t;
typedef PB(TrackEvent) event_t;

struct sink {
	ProtobufCBuffer base;
	FILE *out;
};

static void append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	FILE *out = ((struct sink *)buffer)->out;

	/* A target that is full stays full: no use in going on. */
	if (!ferror(out))
		fwrite(data, 1, len, out);
}

/* A trace of this one packet: traces joined are one trace of all packets. */
static void put(FILE *out, packet_t *packet)
{
	struct sink sink = {{append}, out};
	PB(Trace) trace = PERFETTO__PROTOS__TRACE__INIT;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	trace.n_packet = 1;
	trace.packet = &packet;
	perfetto__protos__trace__pack_to_buffer(&trace, &sink.base);
}

static void put_clocks(FILE *out, __u64 t_ns)
{
	packet_t packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	PB(ClockSnapshot) snapshot = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	PB(ClockSnapshot__Clock) clocks[2], *list[2] = {&clocks[0], &clocks[1]};

	for (int i = 0; i < 2; i++) {
		perfetto__protos__clock_snapshot__clock__init(&clocks[i]);
		clocks[i].has_clock_id = clocks[i].has_timestamp = true;
		clocks[i].clock_id = i ? PF_CLOCK_BOOTTIME : PF_CLOCK_MONOTONIC;
		clocks[i].timestamp = t_ns;
	}
	snapshot.n_clocks = 2;
	snapshot.clocks = list;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = PF_CLOCK_MONOTONIC;
	packet.clock_snapshot = &snapshot;
	put(out, &packet);
}

void pf_begin(FILE *out, __u64 t_ns)
{
	packet_t packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	PB(TracePacketDefaults) defaults = PERFETTO__PROTOS__TRACE_PACKET_DEFAULTS__INIT;

	/* Time stamps can be put in order from here on only. */
	put_clocks(out, t_ns);
	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = PF_CLOCK_MONOTONIC;
	packet.trace_packet_defaults = &defaults;
	packet.has_sequence_flags = true;
	packet.sequence_flags = STATE_CLEARED;
	put(out, &packet);
}

/* The entries of all kinds look alike, but are types of their own. */
#define INTERN(Type, INIT, field)                                                                  \
	do {                                                                                       \
		PB(Type) entry = INIT;                                                             \
		PB(Type) *list = &entry;                                                           \
		entry.has_iid = true;                                                              \
		entry.iid = number;                                                                \
		entry.name = (char *)name;                                                         \
		data.n_##field = 1;                                                                \
		data.field = &list;                                                                \
		put(out, &packet);                                                                 \
	} while (0)

void pf_name(FILE *out, enum pf_kind kind, __u64 number, const char *name)
{
	packet_t packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	PB(InternedData) data = PERFETTO__PROTOS__INTERNED_DATA__INIT;

	packet.interned_data = &data;
	packet.has_sequence_flags = true;
	packet.sequence_flags = STATE_NEEDED;
	if (kind == PF_EVENT)
		INTERN(EventName, PERFETTO__PROTOS__EVENT_NAME__INIT, event_names);
	else if (kind == PF_CATEGORY)
		INTERN(EventCategory, PERFETTO__PROTOS__EVENT_CATEGORY__INIT, event_categories);
	else
		INTERN(DebugAnnotationName, PERFETTO__PROTOS__DEBUG_ANNOTATION_NAME__INIT,
		       debug_annotation_names);
}

void pf_track(FILE *out, const struct pf_track *track)
{
	packet_t packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	PB(TrackDescriptor) d = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	PB(CounterDescriptor) counter = PERFETTO__PROTOS__COUNTER_DESCRIPTOR__INIT;

	d.has_uuid = true;
	d.uuid = track->uuid;
	d.has_parent_uuid = track->parent != 0;
	d.parent_uuid = track->parent;
	d.name = (char *)track->name;
	d.has_sibling_order_rank = true;
	d.sibling_order_rank = track->rank;
	if (track->unit) {
		counter.unit_name = (char *)track->unit;
		d.counter = &counter;
	} else {
		d.has_child_ordering = true;
		d.child_ordering =
			PERFETTO__PROTOS__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
	}
	packet.track_descriptor = &d;
	put(out, &packet);
}

static void put_event(FILE *out, __u64 t_ns, event_t *event)
{
	packet_t packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

	packet.has_timestamp = true;
	packet.timestamp = t_ns;
	packet.has_sequence_flags = true;
	packet.sequence_flags = STATE_NEEDED;
	packet.track_event = event;
	put(out, &packet);
}

static void put_full(FILE *out, const struct pf_event *e, PB(TrackEvent__Type) type)
{
	event_t event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	PB(DebugAnnotation) args[PF_ARGS], *list[PF_ARGS];
	uint64_t category = e->category;

	for (size_t i = 0; i < e->n_args && i < PF_ARGS; i++) {
		perfetto__protos__debug_annotation__init(&args[i]);
		args[i].has_name_iid = true;
		args[i].name_iid = e->args[i].name;
		args[i].string_value = (char *)e->args[i].text;
		args[i].has_uint_value = !e->args[i].text;
		args[i].uint_value = e->args[i].value;
		list[event.n_debug_annotations++] = &args[i];
	}
	event.debug_annotations = list;
	event.n_category_iids = 1;
	event.category_iids = &category;
	event.has_type = true;
	event.type = type;
	event.has_track_uuid = true;
	event.track_uuid = e->track;
	event.has_name_iid = e->name != 0;
	event.name_iid = e->name;
	if (!e->name)
		event.name = (char *)e->text;
	put_event(out, e->t_ns, &event);
}

void pf_instant(FILE *out, const struct pf_event *event)
{
	put_full(out, event, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT);
}

void pf_slice(FILE *out, const struct pf_event *event, __u64 end_ns)
{
	event_t end = PERFETTO__PROTOS__TRACK_EVENT__INIT;

	put_full(out, event, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
	end.has_type = true;
	end.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	end.has_track_uuid = true;
	end.track_uuid = event->track;
	put_event(out, end_ns, &end);
}

void pf_counter(FILE *out, __u64 track, __u64 t_ns, __s64 value)
{
	event_t event = PERFETTO__PROTOS__TRACK_EVENT__INIT;

	event.has_type = true;
	event.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_COUNTER;
	event.has_track_uuid = true;
	event.track_uuid = track;
	event.has_counter_value = true;
	event.counter_value = value;
	put_event(out, t_ns, &event);
}

void pf_idles(FILE *out, unsigned int cpu, bool lost, const struct pf_idle *idles, size_t n)
{
	packet_t packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	PB(FtraceEventBundle) bundle = PERFETTO__PROTOS__FTRACE_EVENT_BUNDLE__INIT;
	PB(FtraceEvent) events[PF_IDLES], *list[PF_IDLES];
	PB(CpuIdleFtraceEvent) fields[PF_IDLES];

	for (size_t i = 0; i < n; i++) {
		perfetto__protos__ftrace_event__init(&events[i]);
		perfetto__protos__cpu_idle_ftrace_event__init(&fields[i]);
		fields[i].has_state = fields[i].has_cpu_id = true;
		fields[i].state = idles[i].state;
		fields[i].cpu_id = cpu;
		/* Readers drop an event without a task: it is the idle task's. */
		events[i].has_timestamp = events[i].has_pid = true;
		events[i].timestamp = idles[i].t_ns;
		events[i].cpu_idle = &fields[i];
		list[i] = &events[i];
	}
	bundle.has_cpu = true;
	bundle.cpu = cpu;
	bundle.n_event = n;
	bundle.event = list;
	bundle.has_lost_events = bundle.lost_events = lost;
	packet.ftrace_events = &bundle;
	put(out, &packet);
}

const char *pf_version(void)
{
	return protobuf_c_version();
}
#endif
