// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames by libzstd. */
#ifdef TMIGR_ZSTD
#include "zstd_frame.h"

#include <errno.h>

#include <zstd.h>

#define COMPRESSION_LEVEL 3

const char *tmigr_zstd_version(void)
{
	return ZSTD_versionString();
}

size_t tmigr_zstd_bound(size_t size)
{
	return ZSTD_compressBound(size);
}

/* The packer is libzstd's own, by a name of ours. */
struct tmigr_zstd_packer *tmigr_zstd_packer_new(void)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();

	if (z) {
		ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
		ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	}
	return (struct tmigr_zstd_packer *)z;
}

void tmigr_zstd_packer_free(struct tmigr_zstd_packer *p)
{
	ZSTD_freeCCtx((ZSTD_CCtx *)p);
}

static size_t compress(ZSTD_CCtx *z, ZSTD_outBuffer *out, const void *raw, size_t size,
		       size_t block)
{
	size_t left = 0;

	if (block == size)
		return ZSTD_compress2(z, out->dst, out->size, raw, size);
	ZSTD_CCtx_reset(z, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(z, size);
	for (size_t at = 0; at < size; at += block) {
		ZSTD_inBuffer in = {(const char *)raw + at, block, 0};

		do {
			left = ZSTD_compressStream2(z, out, &in,
						    at + block < size ? ZSTD_e_flush : ZSTD_e_end);
			if (ZSTD_isError(left))
				return left;
		} while (left);
	}
	return out->pos;
}

ssize_t tmigr_zstd_pack(struct tmigr_zstd_packer *p, void *out, size_t out_size, const void *raw,
			size_t size, size_t block)
{
	ZSTD_outBuffer to = {out, out_size, 0};
	size_t n = compress((ZSTD_CCtx *)p, &to, raw, size, block);

	return ZSTD_isError(n) ? -ENOMEM : (ssize_t)n;
}

struct tmigr_zstd_unpacker *tmigr_zstd_unpacker_new(void)
{
	return (struct tmigr_zstd_unpacker *)ZSTD_createDCtx();
}

void tmigr_zstd_unpacker_free(struct tmigr_zstd_unpacker *u)
{
	ZSTD_freeDCtx((ZSTD_DCtx *)u);
}

const char *tmigr_zstd_check(const void *frame, size_t size, size_t raw)
{
	if (ZSTD_findFrameCompressedSize(frame, size) != size ||
	    ZSTD_getFrameContentSize(frame, size) != raw)
		return "damaged frame (its sizes disagree)";
	return NULL;
}

const char *tmigr_zstd_unpack(struct tmigr_zstd_unpacker *u, const void *frame, size_t size,
			      void *out, size_t raw)
{
	size_t n = ZSTD_decompressDCtx((ZSTD_DCtx *)u, out, raw, frame, size);

	if (ZSTD_isError(n))
		return ZSTD_getErrorName(n);
	return n == raw ? NULL : "damaged frame (too short)";
}
#endif
