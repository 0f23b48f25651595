#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Overlapping windows of one engine, beside another one: see the program.
exec "$B"/tests/programs/engine-windows
