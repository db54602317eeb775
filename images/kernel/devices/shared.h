/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file that the guests of one run share. farpath/lab/far_link.py makes it,
 * every guest's farlink maps it.
 *
 *   struct far_header
 *   struct far_site    x sites
 *   (up to the next page)
 *   slots x capacity_bytes for each channel
 *
 * A channel carries packets in one direction. Packets of window k are records in
 * slot k modulo slots: struct far_window, then for each packet a struct
 * far_record and its bytes.
 */

#ifndef FARLINK_SHARED_H
#define FARLINK_SHARED_H

#include <linux/types.h>

#define FAR_MAGIC	0x4b4e494c52414646ULL	/* "FFARLINK" */
#define FAR_VERSION	2
#define FAR_PAGE	4096
#define FAR_MOST_LEAD	8

struct far_header {
	__u64 magic;
	__u32 version;
	__u32 sites;
	__u32 channels;
	__u32 slots;		/* of a channel */
	__u64 capacity_bytes;	/* of a slot */
	__u64 window_ns;
	__u64 start_ns;		/* first window's start, by CLOCK_REALTIME */
	__u32 lead;		/* windows that a site may be ahead of another, from 1 */
	__u8 unused[12];
};

/*
 * Three cache lines, written by their site alone. With a core for each site, the
 * site would have closed a window path_ns after the first was opened.
 */
struct far_site {
	__u32 closed;		/* windows that the site has closed; waited for by futex(2) */
	__u32 done;		/* the site's programs have ended */
	__u64 critical_ns;	/* path_ns of the last window that the site has closed */
	__u64 path_ns[2 * FAR_MOST_LEAD];	/* of window k at k modulo their number */
	__u8 unused[48];
};

struct far_window {
	__u64 bytes;		/* of its records, once it is closed */
	__u64 number;
};

struct far_record {
	__u64 departure_ns;	/* CLOCK_REALTIME */
	__u32 bytes;		/* of the packet */
	__u32 copied_bytes;	/* of these, from the packet's start; nobody reads the rest */
	__u32 truesize_bytes;	/* memory that the packet took at its sender */
	__u16 csum_start;	/* checksum to be filled in, from the packet's start; */
	__u16 csum_offset;	/* both 0 if there is none */
};

#endif
