/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the import, for lib/import*.c only. */
#ifndef TMIGR_LIB_IMPORT_PRIV_H
#define TMIGR_LIB_IMPORT_PRIV_H

#include <stdbool.h>

#include "tmigr/import.h"
#include "tmigr/recording.h"
#include "tmigr/traced.h"

/* A file's first bytes, and where the others are. */
struct import_head {
	const char *path; /* for messages */
	int fd;
	bool own;
	char bytes[16];
	size_t n;
};

/* One import. */
struct import {
	const char *path;
	const struct tmigr_import_opts *opts;
	struct tmigr_err *err;
	struct tmigr_traced_source *src;
	struct tmigr_sequencer *seq;
	struct tmigr_topology *topo;
	struct tmigr_model *model;
	struct tmigr_recording_writer *recording;
	json_t *info; /* as known at the start */
	__u64 start_ns, end_ns, marked_ns;
	__u32 last_cpu; /* of the last record */
	__u64 stranger; /* a CPU that the topology lacks, plus 1 */
};

/* import.c: everything from @src. */
int import_events(struct import *im, json_t **ret_report);

/* import_info.c */
int import_cpus(struct import *im, const unsigned int *cpus, size_t n);
void import_states(struct import *im);
json_t *import_info(struct import *im);
json_t *import_end_info(struct import *im);

/*
 * A new temporary folder, which an interrupt takes away as import_remove() does.
 * @folder is its path, "": none was made.
 */
int import_make_folder(char folder[64], struct tmigr_err *err);
void import_remove(const char *folder);

/*
 * Unpacks the files of CPUs that a tar file has into a new temporary folder, as
 * far as this tool reads them.  @folder is to be given to import_remove() also
 * where it fails.
 */
int import_untar(const char *path, char folder[64], struct tmigr_err *err);

#endif
