/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports as one HTML page that needs nothing beside it: no script, no network, no
 * other file.  A view of the report objects, as the text is; the exact figure
 * behind each rounded one is in the attribute data-v of its table cell.
 */
#ifndef TMIGR_HTML_H
#define TMIGR_HTML_H

#include <stdio.h>

#include <jansson.h>

#include "tmigr/runset.h"
#include "tmigr/timeline.h"

/* All borrowed. */
struct tmigr_html_input {
	const struct tmigr_runset *set;
	/* By run of the set; an element, or all, may be NULL: no timeline.  Then
	 * @timeline_notes says why, where it says anything. */
	struct tmigr_timeline *const *timelines;
	char *const *timeline_notes;
	const json_t *compare; /* "tmigr-compare", or NULL: nothing to compare */
};

/* 0 or a negative errno (writing, no memory). */
int tmigr_html_write(const struct tmigr_html_input *in, FILE *out);

#endif
