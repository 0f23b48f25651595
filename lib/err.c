// SPDX-License-Identifier: GPL-2.0-or-later
#include "tmigr/err.h"

#include <stdarg.h>
#include <stdio.h>

int tmigr_fail(struct tmigr_err *err, int ret, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return ret;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	tmigr_one_line(err->text);
	return ret;
}

void tmigr_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}
