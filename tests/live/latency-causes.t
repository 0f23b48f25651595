#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the programs make of made-up idle intervals: see the program.
exec "$B"/tests/programs/latency-selftest
