# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# On a kernel without timer migration: residency, and words for the rest.
said()
{
	what=$1
	shift
	"$@" > "/out/$what.text" 2> "/out/$what.err"
	echo $? > "/out/$what.rc"
}

boot_trace > /out/boot-trace.txt
uname -r > /out/release
said doctor tmigr doctor
said tree tmigr tree
said boot tmigr tree --boot
said top tmigr top --once
said top-ftrace tmigr top --once --source ftrace
observe all all 2
mkdir -p /run/tmigr
tmigrd --foreground > /out/tmigrd.log 2>&1 &
for _ in $(seq 50); do
	tmigr status > /out/status.text 2>&1 && break
	sleep 0.1
done
said served-tree tmigr tree
said served-top tmigr top --once
kill $!
wait $!
echo $? > /out/tmigrd.rc
