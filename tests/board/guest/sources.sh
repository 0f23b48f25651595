# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# One time, measured by BPF, by ftrace, and as the pages that a trace.dat is made of.
uname -r > /out/release
boot_trace > /out/boot-trace.txt
capture_prepare raw
workload all 8 > /dev/null &
sleep 0.3
capture_start raw
# Wakes each CPU once, so that the capture knows of each what it is in.
# shellcheck disable=SC2046
tmwork hr 1000 0 $(all_cpus) > /dev/null
sleep 0.1
tmigr run --source bpf -d 5 --record -o /out/bpf > /out/bpf.text 2> /out/bpf.err &
bpf=$!
tmigr run --source ftrace -d 5 --record -o /out/ftrace > /out/ftrace.text 2> /out/ftrace.err
echo $? > /out/ftrace.rc
wait $bpf
echo $? > /out/bpf.rc
sleep 0.1
capture_stop raw
for c in $(all_cpus); do
	# It waits for more, which will not come.
	timeout 2 cat "$T/instances/raw/per_cpu/cpu$c/trace_pipe_raw" > "/out/raw-cpu$c"
done
rmdir $T/instances/raw
cat $T/events/header_page > /out/header_page
for e in power/cpu_idle timer_migration/tmigr_cpu_idle timer_migration/tmigr_cpu_active \
	timer_migration/tmigr_cpu_new_timer timer_migration/tmigr_cpu_new_timer_idle \
	timer_migration/tmigr_group_set_cpu_active timer_migration/tmigr_group_set_cpu_inactive \
	timer_migration/tmigr_handle_remote timer_migration/tmigr_handle_remote_cpu \
	timer_migration/tmigr_update_events; do
	cat "$T/events/$e/format" > "/out/format-${e%/*}-${e#*/}"
done
tmigr report /out/ftrace/events.tmr > /out/ftrace.again 2>&1
workload all 6 > /dev/null &
tmigr tree --source ftrace --json > /out/tree.json 2> /out/tree.err
echo $? > /out/tree.rc
wait
tmigr tree --boot > /out/boot.text 2>&1
echo $? > /out/boot.rc
tmigr tree --boot --json > /out/boot.json
ls $T/instances > /out/instances
