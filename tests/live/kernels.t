#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The BPF object loads where the kernel's structures are those of other versions:
# its relocations are made against BTF built from kernels/types.c, and against parts
# of real kernels' (tests/fixtures/kernels).
set -u
clang=${CLANG:-clang}
command -v "$clang" >/dev/null || { echo "1..0 # SKIP no clang to make BTF with"; exit 0; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/tmigr-test.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
args=
for v in V68 V610 V619 RFT LATER; do
	"$clang" -target bpf -g -O1 -D$v -c -o "$dir/$v" tests/live/kernels/types.c || exit 1
	args="$args $dir/$v"
done
args="$args $(echo tests/fixtures/kernels/*/*.btf)"
# shellcheck disable=SC2086
"$B"/tests/programs/engine-kernels $args
