#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The live engine on this kernel, against its own records: see the program.
exec "$B"/tests/programs/engine-selftest
