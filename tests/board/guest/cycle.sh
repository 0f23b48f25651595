# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# `tmigr hotplug`, and the same steps in a capture of the same time; what is left of a cycle
# that a signal ended. Booted with the events of the steps.
online=/sys/devices/system/cpu/online

# steps NAME ARGUMENT...: a window of tmigr hotplug
steps()
{
	name=$1
	shift
	capture_prepare "$name"
	echo 1 > "$T/instances/$name/events/cpuhp/enable"
	capture_start "$name"
	wake_all # so that the capture knows of each what it is in
	tmigr hotplug "$@" > "/out/$name.text" 2> "/out/$name.err"
	echo $? > "/out/$name.rc"
	wait
	sleep 0.1
	capture_stop "$name"
	capture_text "$name" > "/out/$name.trace"
	cat $online > "/out/$name.online"
}

# By sysfs, once tmigr is under way.
by_sysfs()
{
	sleep 2
	for _ in 1 2; do
		for c in 3 6; do
			echo 0 > "/sys/devices/system/cpu/cpu$c/online"
			sleep 0.02
			echo 1 > "/sys/devices/system/cpu/cpu$c/online"
		done
	done
}

# ended SIGNAL: by it, while a CPU is away
ended()
{
	tmigr hotplug --cycle 2,5-7 -n 1000 --together --yes -o "/tmp/$1" > "/out/$1.text" 2> "/out/$1.err" &
	tool=$!
	# All the time, nearly: a look now and then, so that the tool comes to it.
	for _ in $(seq 2000); do
		read -r now < $online
		[ "$now" = "$all" ] || break
		usleep 5000
	done
	echo "$now" > "/out/$1.during"
	kill "-$1" $tool
	wait $tool
	echo $? > "/out/$1.rc"
	cat $online > "/out/$1.after"
	# Nobody is left to put anything back once it was killed but the keeper, who may need a moment.
	for _ in $(seq 50); do
		[ "$(cat $online)" != "$all" ] || break
		sleep 0.1
	done
	cat $online > "/out/$1.back"
	for _ in $(seq 50); do
		[ "$(pidof tmigr tmigr-keeper)" ] || break
		sleep 0.1
	done
	pidof tmigr tmigr-keeper > "/out/$1.left"
	ls $T/instances > "/out/$1.instances"
}

uname -r > /out/release
for e in enter multi_enter exit; do
	echo 0 > "$T/events/cpuhp/cpuhp_$e/enable"
done
boot_trace > /out/boot-trace.txt
tmigr hotplug --boot --json > /out/boot.json 2> /out/boot.err
echo $? > /out/boot.rc
tmigr hotplug --boot > /out/boot.text 2>&1
all=$(cat $online)
echo "$all" > /out/all
cat /sys/devices/system/cpu/hotplug/states > /out/states

steps single --cycle 2,5-7 -n 2 --yes --json
steps together --cycle 4-7 -n 2 --together --force --yes --json
by_sysfs &
steps watch -d 3 --json
steps one --cycle 5-7 -n 2 --yes -l one -o /out/one
steps all --cycle 5-7 -n 2 --yes --together -l all -o /out/all-at-once
tmigr compare --json --cpus /out/one /out/all-at-once > /out/compare.json 2> /out/compare.err
echo $? > /out/compare.rc
tmigr compare --cpus /out/one /out/all-at-once > /out/compare.text 2>&1
tmigr report /out/one/run-1 > /out/report.text 2>&1

for sig in INT TERM HUP KILL; do
	ended $sig
done
