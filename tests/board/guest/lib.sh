# SPDX-License-Identifier: GPL-2.0-or-later
# What the guest's scripts share. Sourced by init.
# shellcheck shell=sh

T=/sys/kernel/tracing

# Last CPU number
last_cpu=$(sed 's/.*[,-]//' /sys/devices/system/cpu/present)

all_cpus()
{
	seq 0 "$last_cpu"
}

# The CPUs of the lowest class: where the quiet workloads run.
little_cpus()
{
	low=$(cat /sys/devices/system/cpu/cpu[0-9]*/cpu_capacity 2>/dev/null | sort -n | head -n 1)
	for c in $(all_cpus); do
		cap=$(cat "/sys/devices/system/cpu/cpu$c/cpu_capacity" 2>/dev/null)
		[ "$cap" = "$low" ] && echo "$c"
	done
}

# workload NAME SECONDS: comes back when it is over
workload()
{
	# shellcheck disable=SC2046
	case $1 in
	idle) sleep "$2" ;;
	all) tmwork wheel 8000 "$2" $(all_cpus | sort -rn) ;;
	little-pin-wheel) tmwork wheel 4000 "$2" $(little_cpus | head -n 4) ;;
	little-pin-hr) tmwork hr 4000 "$2" $(little_cpus | head -n 4) ;;
	big-pin) tmwork wheel 4000 "$2" $(all_cpus | tail -n 4) ;;
	*) echo "no workload $1" >&2; return 1 ;;
	esac
}

# boot_trace: the hierarchy's events since boot
boot_trace()
{
	echo nohash-ptr > $T/trace_options
	cat $T/trace
}

# What cpuidle itself books of each stay, one event at its end (tmboard:booked), where
# the kernel has probes on functions. Without BTF for their arguments: by place, which is
# the same from 6.12 to 7.3; a wrong one is found, since the sums have to be sysfs's.
{
	echo 'p:tmboard/booked cpuidle_reflect state=index:s32 ns=dev->last_residency_ns:s64' > $T/kprobe_events ||
		# shellcheck disable=SC2016
		echo 'p:tmboard/booked cpuidle_reflect state=$arg2:s32 ns=+24($arg1):s64' > $T/kprobe_events
} 2> /out/probe.log

# An ftrace instance with the events: capture_prepare NAME makes it, capture_start
# and capture_stop bound what it holds, capture_text prints it.
capture_prepare()
{
	i=$T/instances/$1
	mkdir "$i"
	echo 0 > "$i/tracing_on"
	echo mono > "$i/trace_clock"
	echo 8192 > "$i/buffer_size_kb"
	echo nohash-ptr > "$i/trace_options"
	echo 1 > "$i/events/timer_migration/enable"
	echo 1 > "$i/events/power/cpu_idle/enable"
	[ ! -e "$i/events/tmboard" ] || echo 1 > "$i/events/tmboard/enable"
}

capture_start()
{
	echo 1 > "$T/instances/$1/tracing_on"
}

capture_stop()
{
	echo 0 > "$T/instances/$1/tracing_on"
}

# ... and lets its memory go.
capture_text()
{
	cat "$T/instances/$1/trace"
	rmdir "$T/instances/$1"
}

# What the tool does to other CPUs: wake-ups and interrupts between CPUs, NAME-watch.
watch_prepare()
{
	i=$T/instances/$1-watch
	mkdir "$i"
	echo 0 > "$i/tracing_on"
	echo mono > "$i/trace_clock"
	echo 8192 > "$i/buffer_size_kb"
	for e in sched/sched_switch sched/sched_waking sched/sched_wakeup ipi; do
		echo 1 > "$i/events/$e/enable"
	done
}

# Each CPU once: sysfs books a stay at its end.
wake_all()
{
	# shellcheck disable=SC2046
	tmwork hr 1000 0 $(all_cpus) > /dev/null
	sleep 0.1
}

# observe NAME WORKLOAD SECONDS [COMMAND]: tmigr and ftrace side by side, sysfs
# around both. COMMAND runs while tmigr traces.
observe()
{
	capture_prepare "$1"
	[ "$2" != idle ] || watch_prepare "$1"
	workload "$2" $(($3 + 2)) > /dev/null &
	sleep 0.3
	capture_start "$1"
	wake_all # so that the capture knows of each what it is in
	tmwork sysfs > "/out/$1.before"
	if [ $# -gt 3 ]; then
		$4 &
	fi
	[ "$2" != idle ] || capture_start "$1-watch"
	tmigr run -d "$3" --record -o "/out/$1" > "/out/$1.text" 2> "/out/$1.err"
	echo $? > "/out/$1.rc"
	[ "$2" != idle ] || wake_all
	tmwork sysfs > "/out/$1.after"
	if [ "$2" = idle ]; then
		capture_stop "$1-watch"
		capture_text "$1-watch" > "/out/$1.watch"
	fi
	sleep 0.1
	capture_stop "$1"
	capture_text "$1" > "/out/$1.trace"
	tmigr report "/out/$1" > "/out/$1.again" 2>&1
	tmigr report "/out/$1/events.tmr" > "/out/$1.replay" 2>&1
	wait
}

# sysfs alone around the same workload, without tmigr
observe_nothing()
{
	workload "$2" $(($3 + 2)) > /dev/null &
	sleep 0.3
	wake_all
	tmwork sysfs > "/out/$1.before"
	sleep "$3"
	wake_all
	tmwork sysfs > "/out/$1.after"
	wait
}

# Takes the last CPU off and on again, once tmigr is under way.
hotplug()
{
	sleep 1.5
	echo 0 > "/sys/devices/system/cpu/cpu$last_cpu/online"
	sleep 0.5
	echo 1 > "/sys/devices/system/cpu/cpu$last_cpu/online"
}

sysctl_off()
{
	sleep 1.7
	echo 0 > /proc/sys/kernel/timer_migration
}

# Takes three CPUs off and on, again and again.
storm()
{
	for _ in 1 2 3 4 5 6 7 8; do
		for c in 2 5 "$last_cpu"; do
			echo 0 > "/sys/devices/system/cpu/cpu$c/online"
			sleep 0.02
			echo 1 > "/sys/devices/system/cpu/cpu$c/online"
		done
	done
}

# Brings the CPUs that were never online, once tmigr is under way.
online_rest()
{
	sleep 1.5
	for c in $(all_cpus); do
		[ "$(cat "/sys/devices/system/cpu/cpu$c/online")" = 1 ] ||
			echo 1 > "/sys/devices/system/cpu/cpu$c/online"
	done
}
