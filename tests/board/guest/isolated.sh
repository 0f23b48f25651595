# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Booted with isolcpus= and nohz_full=: one CPU each, with a workload on them as well; then one
# task that keeps the nohz_full CPU busy, and the sysctl changed meanwhile.

# The task comes when tmigr traces already: beside it a start takes half a minute here (README.md, Turns).
busy_meanwhile()
{
	sysctl_off &
	sleep 1.3
	tmwork busy 0 1.5 "$(cat /sys/devices/system/cpu/nohz_full)"
	wait
}

boot_trace > /out/boot-trace.txt
uname -r > /out/release
cat /sys/devices/system/cpu/isolated > /out/cpus-isolated
tmigr tree --json > /out/tree.json
echo $? > /out/tree.rc
tmigr tree > /out/tree.text
observe isolated all 2
cat /sys/devices/system/cpu/nohz_full > /out/cpus-nohz-full
observe busy little-pin-wheel 3 busy_meanwhile
echo 1 > /proc/sys/kernel/timer_migration
tmigr tree --json > /out/tree-late.json
