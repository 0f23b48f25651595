/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zstd frames (RFC 8878) with checksum and content size, as recordings hold them.  With
 * libzstd (zstd_frame_lib.c) they are compressed.  Without (ZSTD=0, zstd_frame_plain.c) they
 * hold their bytes as they are, which any reader takes; of compressed ones nothing is read.
 */
#ifndef TMIGR_ZSTD_FRAME_H
#define TMIGR_ZSTD_FRAME_H

#include <stddef.h>
#include <sys/types.h>

/* Its version, or NULL: built without. */
const char *tmigr_zstd_version(void);

/* What a frame of @size bytes takes at most, whoever writes it. */
size_t tmigr_zstd_bound(size_t size);

struct tmigr_zstd_packer;
struct tmigr_zstd_packer *tmigr_zstd_packer_new(void); /* NULL: no memory */
void tmigr_zstd_packer_free(struct tmigr_zstd_packer *p);
/*
 * @raw as one frame into @out of @out_size >= tmigr_zstd_bound(size) bytes, with the end of a
 * block each @block bytes (@size is a multiple).  Bytes written, or negative errno.
 */
ssize_t tmigr_zstd_pack(struct tmigr_zstd_packer *p, void *out, size_t out_size, const void *raw,
			size_t size, size_t block);

struct tmigr_zstd_unpacker;
struct tmigr_zstd_unpacker *tmigr_zstd_unpacker_new(void); /* NULL: no memory */
void tmigr_zstd_unpacker_free(struct tmigr_zstd_unpacker *u);
/* NULL when @frame is one frame of @size bytes whose head says @raw; else what is wrong.
 * To be asked before memory for @raw is reserved. */
const char *tmigr_zstd_check(const void *frame, size_t size, size_t raw);
/* Such a frame into @out, of @raw bytes; NULL, or what is wrong with it. */
const char *tmigr_zstd_unpack(struct tmigr_zstd_unpacker *u, const void *frame, size_t size,
			      void *out, size_t raw);

#endif
