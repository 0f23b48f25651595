// SPDX-License-Identifier: GPL-2.0-or-later
/* What idle costs, and who ended it. */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>

int tmigr_html_latency(struct tmigr_html *h)
{
	char *text = tmigr_text_wakeups(h->report);
	int ret;

	if (!text)
		return -ENOMEM;
	tmigr_html_heading(h, "latency", "Cost of idle, wake-ups");
	fputs("<p>", h->out);
	tmigr_html_text(h->out, text);
	fputs("</p>\n", h->out);
	free(text);
	ret = tmigr_html_table(
		h->out, tmigr_table_latency(h->report),
		"us: to enter, of that timer migration; from a timer's expiry to the "
		"wake-up, beside the exit latency that the state claims",
		NULL, NULL, NULL);
	if (ret == 0)
		ret = tmigr_html_table(h->out, tmigr_table_wakeups(h->report),
				       "Who ended idle; means. Short: ended before the next timer "
				       "was due, after .. of .. ms",
				       NULL, NULL, NULL);
	if (ret == 0)
		ret = tmigr_html_table(h->out, tmigr_table_wakeups_cpus(h->report),
				       "Who ended idle, per CPU", NULL, NULL, NULL);
	return ret;
}
