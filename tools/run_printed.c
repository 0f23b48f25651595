// SPDX-License-Identifier: GPL-2.0-or-later
/* What the command printed, as metrics; and the energy of the window. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tmigr.h"

/* Standard output, then standard error.  A copy that cannot be read is told of; what
 * the other one holds is used all the same. */
static int read_outputs(struct session *s)
{
	int ret = 0, fd;

	for (size_t i = 0; i < 2 && ret != -ENOMEM; i++) {
		if (!s->output[i])
			continue;
		fd = open(s->output[i], O_RDONLY | O_CLOEXEC);
		ret = fd < 0 ? -errno : tmigr_metrics_read(s->opts->metrics, fd);
		if (fd >= 0)
			close(fd);
		if (ret < 0 && ret != -ENOMEM)
			tool_error("run", "--metric: cannot read %s: %s", s->output[i],
				   strerror(-ret));
	}
	return ret == -ENOMEM ? ret : 0;
}

int run_printed(struct session *s)
{
	json_t *metrics, *notes;
	int ret;

	if (!s->opts->metrics)
		return 0;
	tmigr_metrics_reset(s->opts->metrics);
	ret = read_outputs(s);
	if (!ret)
		ret = tmigr_metrics_result(s->opts->metrics, &metrics, &notes);
	if (ret)
		return ret;
	ret = json_object_set_new(s->info, "metrics", metrics) ? -ENOMEM : 0;
	if (json_array_size(notes))
		return json_object_set_new(s->info, "metric_notes", notes) ? -ENOMEM : ret;
	json_decref(notes);
	return ret;
}

int run_energy(struct session *s)
{
	const char *lost = NULL;
	json_t *energy = NULL;
	int ret = tmigr_energy_result(s->energy, &energy, &lost);

	if (!ret && lost)
		tool_error("run",
			   "energy of %s: its counter could not be read at the end, or was reset; "
			   "it is left out",
			   lost);
	if (!ret && energy)
		ret = json_object_set_new(s->info, "energy", energy) ? -ENOMEM : 0;
	return ret;
}
