#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No handler wakes a reader: every bpf_ringbuf_submit() (helper 132) in the BPF
# object has the flag BPF_RB_NO_WAKEUP (1), as a constant.
. tests/lib-shell/tap.sh
objdump=$(command -v llvm-objdump llvm-objdump-14 | head -1)
[ -n "$objdump" ] || skip_all "no llvm-objdump"

"$objdump" -d --no-show-raw-insn "$B/tmigr.bpf.o" >"$TMP/code" || skip_all "llvm-objdump cannot read BPF"
check "records are submitted" grep -q 'call \(132\|0x84\)$' "$TMP/code"
is "each without a wake-up" "$(awk '
	/\tr2 = / { flag = $NF }
	/call (132|0x84)$/ { if (flag != "1" && flag != "0x1") print; flag = "" }' "$TMP/code")" ""
is "and none by bpf_ringbuf_output(), or discarded" \
	"$(grep -E 'call (130|0x82|133|0x85)$' "$TMP/code")" ""
done_testing
