// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reader of one BPF ring buffer (kernel/bpf/ringbuf.c).  libbpf's own reader
 * hands over all there is; the merge by time needs to look at the oldest record
 * and leave it.  What is left stays in the ring, so the drain needs no memory
 * of its own.
 *
 * Layout of the mapping: a page with the consumer's position, a page with the
 * producer's, the data twice.  A record is an 8-byte head (u32 length with two
 * flag bits, u32 page offset) and the sample, rounded up to 8 bytes.
 */
#include "live_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>

int tmigr_ring_map(struct tmigr_ring *ring, int map_fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *rw, *ro;

	rw = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (rw == MAP_FAILED)
		return -errno;
	ro = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (ro == MAP_FAILED) {
		int ret = -errno;

		munmap(rw, page);
		return ret;
	}
	ring->consumer = rw;
	ring->producer = ro;
	ring->data = (unsigned char *)ro + page;
	ring->size = size;
	ring->page = page;
	return 0;
}

void tmigr_ring_unmap(struct tmigr_ring *ring)
{
	if (!ring->consumer)
		return;
	munmap(ring->consumer, ring->page);
	munmap(ring->producer, ring->page + 2 * ring->size);
	memset(ring, 0, sizeof(*ring));
}

static size_t record_bytes(__u32 head)
{
	__u32 len = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	return ((size_t)len + BPF_RINGBUF_HDR_SZ + 7) & ~(size_t)7;
}

static const __u32 *head_at(const struct tmigr_ring *ring, unsigned long pos)
{
	return (const __u32 *)(ring->data + (pos & (ring->size - 1)));
}

const struct tmigr_rec *tmigr_ring_peek(struct tmigr_ring *ring)
{
	unsigned long end;

	if (!ring->consumer)
		return NULL;
	end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	for (;;) {
		unsigned long pos = *ring->consumer;
		const __u32 *head = head_at(ring, pos);
		__u32 len;

		if (pos >= end)
			return NULL;
		len = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		if (len & BPF_RINGBUF_BUSY_BIT)
			return NULL;
		if (!(len & BPF_RINGBUF_DISCARD_BIT))
			return (const void *)((const unsigned char *)head + BPF_RINGBUF_HDR_SZ);
		__atomic_store_n(ring->consumer, pos + record_bytes(len), __ATOMIC_RELEASE);
	}
}

void tmigr_ring_pop(struct tmigr_ring *ring)
{
	unsigned long pos = *ring->consumer;

	__atomic_store_n(ring->consumer, pos + record_bytes(*head_at(ring, pos)), __ATOMIC_RELEASE);
}
