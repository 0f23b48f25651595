# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# tmigrd measures, tmigr asks it, CPUs go off and come back and the clock is set meanwhile.

# The time of day goes an hour ahead and then two back.
step()
{
	sleep 1
	date -s "@$(($(date +%s) + 3600))" > /dev/null
	sleep 0.5
	date -s "@$(($(date +%s) - 7200))" > /dev/null
}

boot_trace > /out/boot-trace.txt
uname -r > /out/release
mkdir -p /run/tmigr
# Not this shell's child: observe waits for those.
(
	{
		tmigrd --foreground > /out/tmigrd.log 2>&1
		echo $? > /out/tmigrd.rc
	} &
)
for _ in $(seq 50); do
	tmigr status > /out/status.text 2>&1 && break
	sleep 0.1
done
tmigr status --json > /out/status.json
echo $? > /out/status.rc
tmigr tree --json > /out/tree.json
echo $? > /out/tree.rc
observe served all 2
observe served-hotplug all 3 hotplug
observe served-storm all 3 storm
observe served-step all 3 step
tmigr mark here > /out/mark.text 2>&1
echo $? > /out/mark.rc
tmigr dump -o /tmp/dump.tmr > /out/dump.text 2>&1
echo $? > /out/dump.rc
tmigr report /tmp/dump.tmr > /out/dumped.text 2> /out/dumped.err
echo $? > /out/dumped.rc
tmigr tree --json > /out/tree-late.json
tmigr status > /out/status-late.text 2>&1
kill -TERM "$(pidof tmigrd)"
for _ in $(seq 50); do
	[ ! -s /out/tmigrd.rc ] || break
	sleep 0.1
done
