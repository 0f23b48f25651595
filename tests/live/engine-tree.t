#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Three ways to learn the hierarchy of this kernel give the same: see the program.
exec "$B"/tests/programs/engine-tree
