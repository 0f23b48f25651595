# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Booted with half of the CPUs: the others are seen for the first time in the window.
uname -r > /out/release
tmigr tree --json > /out/tree.json
boot_trace > /out/boot-early.txt
observe late little-pin-wheel 3 online_rest
boot_trace > /out/boot-trace.txt
tmigr tree --json > /out/tree-late.json
