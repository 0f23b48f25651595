# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# CPUs go offline and online again, watched and done by tmigr hotplug, beside a plain
# capture of the same events. Booted with these events on.
cat $T/trace > /out/boot-trace.txt
uname -r > /out/release
cat /sys/devices/system/cpu/hotplug/states > /out/states
cat /sys/devices/system/cpu/online > /out/before
three=$((last_cpu - 2))-$last_cpu

# beside NAME COMMAND...: the capture of what COMMAND does, and what it prints
beside()
{
	name=$1
	shift
	i=$T/instances/$name
	mkdir "$i"
	echo 0 > "$i/tracing_on"
	echo mono > "$i/trace_clock"
	for e in cpuhp_enter cpuhp_multi_enter cpuhp_exit; do
		echo 1 > "$i/events/cpuhp/$e/enable"
	done
	echo 1 > "$i/tracing_on"
	"$@" > "/out/$name.text" 2> "/out/$name.err"
	echo $? > "/out/$name.rc"
	echo 0 > "$i/tracing_on"
	cat "$i/trace" > "/out/$name.trace"
	rmdir "$i"
	cat /sys/devices/system/cpu/online > "/out/$name.after"
}

# by hand: the last CPU twice, another one while it is away
cat > /tmp/hand <<EOF
cd /sys/devices/system/cpu
echo 0 > cpu$last_cpu/online
echo 0 > cpu2/online
echo 1 > cpu$last_cpu/online
echo 1 > cpu2/online
echo 0 > cpu$last_cpu/online
echo 1 > cpu$last_cpu/online
EOF
beside hand tmigr hotplug -o /out/hand -- sh /tmp/hand
beside single tmigr hotplug --cycle "$three" -n 3 -l single -o /out/single --yes
beside together tmigr hotplug --cycle "$three" -n 3 -l together -o /out/together --together --yes
beside window tmigr hotplug --cycle 2 -n 4 --json --yes
beside ftrace tmigr hotplug --source ftrace --cycle "$three" --json --yes
tmigr compare --json /out/single /out/together > /out/compare.json 2> /out/compare.err
echo $? > /out/compare.rc
tmigr compare /out/single /out/together > /out/compare.text 2>&1
tmigr hotplug --boot > /out/boot.text 2> /out/boot.err
tmigr hotplug --boot --json > /out/boot.json 2>> /out/boot.err
echo $? > /out/boot.rc
tmigr hotplug --json /out/hand.trace > /out/file.json 2> /out/file.err
echo $? > /out/file.rc

# refused, and interrupted
tmigr hotplug --cycle "0-$last_cpu" --together --yes > /out/all.text 2> /out/all.err
echo $? > /out/all.rc
for sig in INT TERM HUP KILL; do
	tmigr hotplug --cycle "$three" --together -n 10000 --yes > /out/$sig.text 2> /out/$sig.err &
	tool=$!
	sleep 2
	kill -$sig $tool
	wait $tool
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(cat /sys/devices/system/cpu/online)" = "$(cat /out/before)" ] && break
		sleep 0.5
	done
	cat /sys/devices/system/cpu/online > /out/$sig.after
done
# A step that fails, where the kernel lets one ask for it.
fail=/sys/devices/system/cpu/cpu$last_cpu/hotplug/fail
if [ -e "$fail" ]; then
	for step in workqueue:online tmigr:online; do
		n=$(sed -n "s/^ *\([0-9]*\): $step\$/\1/p" /out/states)
		[ -z "$n" ] || beside "fail-${step%:*}" tmigr hotplug --json -- sh -c \
			"echo $n > $fail; echo 0 > ${fail%hotplug/*}online; echo 1 > ${fail%hotplug/*}online"
	done
fi
sleep 0.5
ls $T/instances > /out/instances
