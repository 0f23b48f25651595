// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames without libzstd:
 *
 *   4 bytes magic | 1 byte 0xa4: one segment, checksum, content size of 4 bytes |
 *   4 bytes content size | blocks: 3 bytes (last, type raw, size), bytes | 4 bytes checksum
 *
 * The checksum is the low half of XXH64 of the content.
 */
#ifndef TMIGR_ZSTD
#include "zstd_frame.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAGIC	      0xfd2fb528u
#define DESCRIPTOR    0xa4
#define HEAD_SIZE     9
#define BLOCK_HEAD    3
#define BLOCK_MAX     (128u << 10)
#define CHECKSUM_SIZE 4
#define BUILT_WITHOUT                                                                              \
	"compressed with zstd, which this tmigr was built without: build it with libzstd"

const char *tmigr_zstd_version(void)
{
	return NULL;
}

/* As ZSTD_COMPRESSBOUND: what libzstd wrote is refused for what it is, not for its size. */
size_t tmigr_zstd_bound(size_t size)
{
	return size + (size >> 8) + (size < BLOCK_MAX ? (BLOCK_MAX - size) >> 11 : 0);
}

/* ---- XXH64, seed 0 ---- */

#define P1 0x9e3779b185ebca87u
#define P2 0xc2b2ae3d27d4eb4fu
#define P3 0x165667b19e3779f9u
#define P4 0x85ebca77c2b2ae63u
#define P5 0x27d4eb2f165667c5u

static uint64_t rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static uint64_t load64(const unsigned char *at)
{
	uint64_t x;

	memcpy(&x, at, sizeof(x));
	return le64toh(x);
}

static uint32_t load32(const unsigned char *at)
{
	uint32_t x;

	memcpy(&x, at, sizeof(x));
	return le32toh(x);
}

static uint64_t xxh_round(uint64_t acc, uint64_t lane)
{
	return rotate(acc + lane * P2, 31) * P1;
}

/* Of the last less than 32 bytes. */
static uint64_t xxh_tail(uint64_t h, const unsigned char *at, size_t n)
{
	for (; n >= 8; at += 8, n -= 8)
		h = rotate(h ^ xxh_round(0, load64(at)), 27) * P1 + P4;
	if (n >= 4) {
		h = rotate(h ^ load32(at) * P1, 23) * P2 + P3;
		at += 4;
		n -= 4;
	}
	for (; n; at++, n--)
		h = rotate(h ^ *at * P5, 11) * P1;
	h = (h ^ h >> 33) * P2;
	h = (h ^ h >> 29) * P3;
	return h ^ h >> 32;
}

static uint64_t xxh64(const void *data, size_t size)
{
	uint64_t acc[4] = {P1 + P2, P2, 0, -P1}, h = P5;
	const unsigned char *at = data;
	size_t n = size;

	for (; n >= 32; n -= 32)
		for (int i = 0; i < 4; i++, at += 8)
			acc[i] = xxh_round(acc[i], load64(at));
	if (size >= 32) {
		h = rotate(acc[0], 1) + rotate(acc[1], 7) + rotate(acc[2], 12) + rotate(acc[3], 18);
		for (int i = 0; i < 4; i++)
			h = (h ^ xxh_round(0, acc[i])) * P1 + P4;
	}
	return xxh_tail(h + size, at, n);
}

/* ---- writing ---- */

/* Nothing is kept between frames; what is returned is not NULL, that is all. */
struct tmigr_zstd_packer *tmigr_zstd_packer_new(void)
{
	static char nothing;

	return (struct tmigr_zstd_packer *)&nothing;
}

void tmigr_zstd_packer_free(struct tmigr_zstd_packer *p)
{
	(void)p;
}

static unsigned char *store32(unsigned char *at, uint32_t x)
{
	x = htole32(x);
	memcpy(at, &x, sizeof(x));
	return at + sizeof(x);
}

/* @block: ends of blocks help to compress, and nothing else. */
ssize_t tmigr_zstd_pack(struct tmigr_zstd_packer *p, void *out, size_t out_size, const void *raw,
			size_t size, size_t block)
{
	unsigned char *to = out;
	size_t n;

	(void)p;
	(void)block;
	if (out_size < tmigr_zstd_bound(size) || size > UINT32_MAX)
		return -ENOMEM;
	to = store32(to, MAGIC);
	*to++ = DESCRIPTOR;
	to = store32(to, (uint32_t)size);
	for (size_t at = 0; at < size; at += n) {
		uint32_t head;

		n = size - at < BLOCK_MAX ? size - at : BLOCK_MAX;
		head = (uint32_t)n << 3 | (at + n == size);
		*to++ = head & 0xff;
		*to++ = head >> 8 & 0xff;
		*to++ = head >> 16 & 0xff;
		memcpy(to, (const char *)raw + at, n);
		to += n;
	}
	to = store32(to, (uint32_t)xxh64(raw, size));
	return to - (unsigned char *)out;
}

/* ---- reading ---- */

struct tmigr_zstd_unpacker *tmigr_zstd_unpacker_new(void)
{
	return (struct tmigr_zstd_unpacker *)tmigr_zstd_packer_new();
}

void tmigr_zstd_unpacker_free(struct tmigr_zstd_unpacker *u)
{
	(void)u;
}

const char *tmigr_zstd_check(const void *frame, size_t size, size_t raw)
{
	const unsigned char *at = frame;

	if (size < HEAD_SIZE || load32(at) != MAGIC)
		return "damaged frame (its sizes disagree)";
	/* Another head: another writer. */
	if (at[4] != DESCRIPTOR)
		return BUILT_WITHOUT;
	return load32(at + 5) == raw ? NULL : "damaged frame (its sizes disagree)";
}

const char *tmigr_zstd_unpack(struct tmigr_zstd_unpacker *u, const void *frame, size_t size,
			      void *out, size_t raw)
{
	const unsigned char *at = (const unsigned char *)frame + HEAD_SIZE;
	const unsigned char *end = (const unsigned char *)frame + size;
	size_t done = 0;
	bool last = false;

	(void)u;
	while (!last) {
		uint32_t head, n;

		if (end - at < BLOCK_HEAD)
			return "damaged frame (too short)";
		head = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
		at += BLOCK_HEAD;
		last = head & 1;
		n = head >> 3;
		if (head >> 1 & 3)
			return BUILT_WITHOUT;
		if (n > (size_t)(end - at) || n > raw - done)
			return "damaged frame (its sizes disagree)";
		memcpy((char *)out + done, at, n);
		at += n;
		done += n;
	}
	if (done != raw || end - at != CHECKSUM_SIZE)
		return "damaged frame (its sizes disagree)";
	return load32(at) == (uint32_t)xxh64(out, raw) ? NULL : "damaged frame (wrong checksum)";
}
#endif
