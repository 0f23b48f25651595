# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Booted with isolcpus= and nohz_full=: one CPU each, with a workload on them as well; then one
# task that keeps the nohz_full CPU busy, and the sysctl changed meanwhile.
boot_trace > /out/boot-trace.txt
uname -r > /out/release
cat /sys/devices/system/cpu/isolated > /out/cpus-isolated
tmigr tree --json > /out/tree.json
echo $? > /out/tree.rc
tmigr tree > /out/tree.text
observe isolated all 2
cat /sys/devices/system/cpu/nohz_full > /out/cpus-nohz-full
observe busy nohz-full 2 sysctl_off
echo 1 > /proc/sys/kernel/timer_migration
tmigr tree --json > /out/tree-late.json
