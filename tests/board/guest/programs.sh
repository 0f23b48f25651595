# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The live engine's own tests, on this kernel.
uname -r > /out/release
ip link set lo up # for their load's sockets
for p in engine-selftest engine-tree; do
	$p > "/out/$p.tap" 2>&1
	echo $? > "/out/$p.rc"
done
