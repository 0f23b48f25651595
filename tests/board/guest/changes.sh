# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What `tmigr run --offline --timer-migration` changes, and that all is as it was afterwards,
# however the tool ends.
state()
{
	cat /sys/devices/system/cpu/online /proc/sys/kernel/timer_migration
}

# back NAME: as it is now, or becomes within some seconds
back()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ "$(state | tr '\n' ' ')" = "$before" ] && break
		sleep 0.2
	done
	state > "/out/$1.after"
}

uname -r > /out/release
before=$(state | tr '\n' ' ')
state > /out/before
tmwork wheel 8000 60 0 1 2 3 > /dev/null &
load=$!
tmigr run -n 2 -l held --offline 5-7 --timer-migration off --settle 0.2 --record -o /out/held -- \
	sh -c 'cat /sys/devices/system/cpu/online /proc/sys/kernel/timer_migration; sleep 1' \
	> /out/held.text 2> /out/held.err
echo $? > /out/held.rc
back held
tmigr report --json /out/held/run-2 > /out/held.again
tmigr report --json /out/held/run-2/events.tmr > /out/held.replay
tmigr run --offline 4-7 true > /out/last.text 2> /out/last.err
echo $? > /out/last.rc
back last
tmigr run --offline 4-7 --force -d 0.5 -o /out/forced > /out/forced.text 2> /out/forced.err
echo $? > /out/forced.rc
back forced
for sig in INT TERM HUP KILL; do
	mkfifo /tmp/$sig
	tmigr run --offline 5-7 --timer-migration off -- sh -c "echo > /tmp/$sig; exec sleep 100" > /out/$sig.text 2>&1 &
	tool=$!
	read -r _ < /tmp/$sig
	state > /out/$sig.during
	kill -$sig $tool
	# A background job of sh has SIGINT ignored, and so has the command: the tool waits
	# for it, until a second one.
	[ $sig != INT ] || { sleep 1; kill -INT $tool; }
	back $sig
	killall sleep 2> /dev/null
	wait $tool
done
kill $load
