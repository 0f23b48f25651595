// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr compare: labelled runs beside each other, with their uncertainty. */
#include "tmigr/compare.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "tmigr.h"
#include "tmigr/runset.h"

static const char help[] =
	"Usage: tmigr compare [OPTION...] DIR|FILE...\n"
	"\n"
	"Compares runs: for each quantity every run's value, the mean and standard deviation of\n"
	"each label, the difference to the baseline in percent with a 95 % interval, and a word\n"
	"for it. DIR is a label directory (of 'tmigr run -n 3 -o DIR'), or a run directory; FILE\n"
	"is a recording (events.tmr). Needs no privileges.\n"
	"\n"
	"      --baseline LABEL     compare with this one; otherwise with the first\n"
	"      --cpus               residency, and holding the migrator, per CPU too\n"
	"      --json               the comparison as JSON, from which all else is made\n"
	"      --csv[=runs]         CSV: one row per quantity and label, or, with 'runs', per\n"
	"                           quantity and run\n"
	"      --markdown           as markdown\n"
	"  -h, --help               print this\n"
	"\n"
	"Runs that failed or were interrupted are shown and left out of the means; nothing else\n"
	"is left out. A value far from its siblings is flagged, with what else differed then.\n"
	"\n"
	"Exit status: 0 fine; 1 error, or a run could not be read; 2 wrong usage.\n";

enum { OPT_BASELINE = 256, OPT_CPUS, OPT_JSON, OPT_CSV, OPT_MARKDOWN };

static const struct option options[] = {
	{"baseline", required_argument, NULL, OPT_BASELINE},
	{"cpus", no_argument, NULL, OPT_CPUS},
	{"json", no_argument, NULL, OPT_JSON},
	{"csv", optional_argument, NULL, OPT_CSV},
	{"markdown", no_argument, NULL, OPT_MARKDOWN},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

typedef int (*view_fn)(const json_t *compare, FILE *out);

static int print(const char *const *paths, size_t n, const struct tmigr_compare_opts *opts,
		 view_fn view)
{
	struct tmigr_err err = {""};
	struct tmigr_runset *set = NULL;
	json_t *compare = NULL;
	int ret = tmigr_runset_load(paths, n, &set, &err), rc = TMIGR_EXIT_OK;

	if (ret < 0)
		return tool_error("compare", "%s", *err.text ? err.text : strerror(-ret));
	for (size_t i = 0; i < set->n_runs; i++)
		if (set->runs[i].problem)
			rc = tool_error("compare", "%s", set->runs[i].problem);
	ret = tmigr_compare(set, opts, &compare, &err);
	tmigr_runset_free(set);
	/* Where none can be read, what was said of each is enough. */
	if (ret == -ENODATA)
		return rc;
	if (ret < 0)
		return tool_error("compare", "%s", *err.text ? err.text : strerror(-ret));
	if (view(compare, stdout) == -ENOMEM)
		rc = tool_error("compare", "out of memory");
	json_decref(compare);
	ret = tool_flush("compare");
	return ret ? ret : rc;
}

int verb_compare(int argc, char **argv)
{
	struct tmigr_compare_opts opts = {0};
	view_fn view = tmigr_compare_text;
	int c, views = 0;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case OPT_BASELINE:
			opts.baseline = optarg;
			continue;
		case OPT_CPUS:
			opts.cpus = true;
			continue;
		case OPT_JSON:
			view = tmigr_compare_json;
			break;
		case OPT_CSV:
			if (optarg && strcmp(optarg, "runs"))
				return tool_usage("compare", "--csv: '%s' is not 'runs'", optarg);
			view = optarg ? tmigr_compare_csv_runs : tmigr_compare_csv;
			break;
		case OPT_MARKDOWN:
			view = tmigr_compare_markdown;
			break;
		case 'h':
			return tool_help("compare", help);
		default:
			return tool_bad_option("compare", c, argv);
		}
		if (views++)
			return tool_usage("compare", "one of --json, --csv and --markdown at most");
	}
	if (optind == argc)
		return tool_usage("compare", "which runs? Give their directories");
	return print((const char *const *)argv + optind, (size_t)(argc - optind), &opts, view);
}
