# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# run --latency, and a capture of the same window with all that ends an idle interval, and
# with what its timers are armed for. Without ftrace's own ring buffers growing in the
# window: they are made before it.

latency_events="power/cpu_idle timer_migration irq ipi sched/sched_switch
	sched/sched_wake_idle_without_ipi timer/timer_expire_entry
	timer/hrtimer_start timer/hrtimer_start_expired tmboard/queued timer/hrtimer_cancel timer/hrtimer_expire_entry cpuhp/cpuhp_enter
	irq_vectors/local_timer_entry irq_vectors/reschedule_entry
	irq_vectors/call_function_entry irq_vectors/call_function_single_entry
	irq_vectors/irq_work_entry"

# Where each hrtimer is queued (tmboard:queued): one that is not pinned goes to another CPU, when
# the one that starts it is idle. timer->base->cpu_base->cpu by place, which is the same from 6.12
# to 7.3; a wrong one is found, since each has to expire on that CPU.
# shellcheck disable=SC2016
echo 'e:tmboard/queued timer.hrtimer_start hrtimer=$hrtimer:x64 on=+4(+0(+48($hrtimer))):u32' \
	>> $T/dynamic_events

# measure NAME SECONDS WORKLOAD...: $meanwhile runs beside tmigr
measure()
{
	name=$1
	seconds=$2
	shift 2
	i=$T/instances/$name
	mkdir "$i"
	echo 0 > "$i/tracing_on"
	echo mono > "$i/trace_clock"
	echo 16384 > "$i/buffer_size_kb"
	echo nohash-ptr > "$i/trace_options"
	for e in $latency_events; do
		[ ! -e "$i/events/$e/enable" ] || echo 1 > "$i/events/$e/enable"
	done
	echo 1 > "$i/tracing_on"
	sleep 4.2 # the watchdogs' hrtimers are queued anew every 4 s: all that are, are seen
	"$@" > "/out/$name.work" &
	sleep 0.3
	wake_all
	[ -z "$meanwhile" ] || $meanwhile &
	tmigr run --latency -d "$seconds" --record -o "/out/$name" > "/out/$name.text" 2> "/out/$name.err"
	echo $? > "/out/$name.rc"
	sleep 0.05
	echo 0 > "$i/tracing_on"
	wait
	capture_text "$name" > "/out/$name.trace"
	tmigr report "/out/$name" > "/out/$name.again" 2>&1
	tmigr report "/out/$name/events.tmr" > "/out/$name.replay" 2>&1
}

# The last CPU is away for long, next to what an entry costs.
away()
{
	sleep 1
	echo 0 > "/sys/devices/system/cpu/cpu$last_cpu/online"
	sleep 0.5
	echo 1 > "/sys/devices/system/cpu/cpu$last_cpu/online"
}

# LITTLE CPUs with timers that may run anywhere; a big one that is idle last, as often as not.
duty()
{
	tmwork hr 1500 "$1" "$last_cpu" &
	# shellcheck disable=SC2046
	tmwork wheel 4000 "$1" $(little_cpus | head -n 4)
	wait $!
}

boot_trace > /out/boot-trace.txt
uname -r > /out/release
cat /proc/interrupts > /out/interrupts
first=$(little_cpus | head -n 1)
meanwhile=
# shellcheck disable=SC2046
measure own 3 tmwork stamps 4000 5 $(little_cpus | head -n 4)
# shellcheck disable=SC2046
measure remote 3 tmwork wheel 8000 5 $(all_cpus | sort -rn)
measure duty 3 duty 5
measure pipe 1 tmwork pipe 500 3 "$first" "$last_cpu"
meanwhile=away
# shellcheck disable=SC2046
measure away 3 tmwork wheel 8000 5 $(all_cpus | sort -rn)
