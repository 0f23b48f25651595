# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# run --latency, and a capture of the same window with all that ends an idle interval.
# Without ftrace's own ring buffers growing in the window: they are made before it.

latency_events="power/cpu_idle timer_migration irq ipi sched/sched_switch
	sched/sched_wake_idle_without_ipi timer/hrtimer_expire_entry timer/timer_expire_entry
	irq_vectors/local_timer_entry irq_vectors/reschedule_entry
	irq_vectors/call_function_entry irq_vectors/call_function_single_entry
	irq_vectors/irq_work_entry"

# measure NAME SECONDS WORKLOAD...
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
	"$@" > "/out/$name.work" &
	sleep 0.3
	echo 1 > "$i/tracing_on"
	wake_all
	tmigr run --latency -d "$seconds" --record -o "/out/$name" > "/out/$name.text" 2> "/out/$name.err"
	echo $? > "/out/$name.rc"
	sleep 0.05
	echo 0 > "$i/tracing_on"
	wait
	capture_text "$name" > "/out/$name.trace"
	tmigr report "/out/$name" > "/out/$name.again" 2>&1
	tmigr report "/out/$name/events.tmr" > "/out/$name.replay" 2>&1
}

boot_trace > /out/boot-trace.txt
uname -r > /out/release
cat /proc/interrupts > /out/interrupts
first=$(little_cpus | head -n 1)
# shellcheck disable=SC2046
measure own 3 tmwork hr 4000 6 $(little_cpus | head -n 4)
# shellcheck disable=SC2046
measure remote 3 tmwork wheel 8000 6 $(all_cpus | sort -rn)
measure pipe 1 tmwork pipe 500 3 "$first" "$last_cpu"
