/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TAP for test programs that are not cmocka's. */
#ifndef TMIGR_TESTS_TAP_H
#define TMIGR_TESTS_TAP_H

#include <stdbool.h>
#include <stdio.h>

void tap_ok(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For what this machine cannot show just now. */
void tap_skip(const char *what, const char *why);
/* Prints the plan; the exit status of the program. */
int tap_done(void);

#define tap_diag(...) printf("# " __VA_ARGS__)

#endif
