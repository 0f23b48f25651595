# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What `check` runs on each board: see there for what is expected of it.
boot_trace > /out/boot-trace.txt
uname -r > /out/release
tmigr --version > /out/version
tmigr doctor > /out/doctor.text 2>&1
echo $? > /out/doctor.rc
tmigr doctor --json > /out/doctor.json 2> /dev/null
tmigr tree > /out/tree.text 2>&1
tmigr tree --json > /out/tree.json
echo $? > /out/tree.rc
observe_nothing bare-idle idle 2
observe idle idle 2
observe all all 2
observe little-wheel little-pin-wheel 2
observe little-hr little-pin-hr 2
observe big big-pin 2
observe hotplug all 3 hotplug
observe storm all 3 storm
echo 0 > /proc/sys/kernel/timer_migration
observe fixed all 2
echo 1 > /proc/sys/kernel/timer_migration
tmigr tree --json > /out/tree-late.json
