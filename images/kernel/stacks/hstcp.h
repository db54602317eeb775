/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HighSpeed TCP: increase a(w), decrease b(w) and limited slow start, for the
 * stacks that build on it.
 *
 * S. Floyd, "HighSpeed TCP for Large Congestion Windows", RFC 3649 (2003);
 * S. Floyd, "Limited Slow-Start for TCP with Large Congestion Windows", RFC 3742.
 *
 * Growth counts ACKs (ack_counting.h). Bounds: cwnd up to 2^20 packets; no product
 * below exceeds 2^27.
 */
#ifndef FARPATH_HSTCP_H
#define FARPATH_HSTCP_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <net/tcp.h>
#include "ack_counting.h"

/*
 * RFC 3649, appendix B, for Low_Window 38, High_Window 83000, High_P 1e-7 and
 * High_Decrease 0.1: the first window at which a(w) exceeds a whole number, and
 * b(w) there in percent. Row k holds a(w) = k + 1. Checked against table 12 of
 * draft-ietf-tsvwg-highspeed-01 and against that draft's formulas and program,
 * which give these rows and no other.
 */
static const struct hstcp_row {
	u32 cwnd;
	u32 decrease_percent;
} hstcp_rows[] = {
	{ 38, 50 }, { 118, 44 }, { 221, 41 }, { 347, 38 }, { 495, 37 }, { 663, 35 },
	{ 851, 34 }, { 1058, 33 }, { 1284, 32 }, { 1529, 31 }, { 1793, 30 },
	{ 2076, 29 }, { 2378, 28 }, { 2699, 28 }, { 3039, 27 }, { 3399, 27 },
	{ 3778, 26 }, { 4177, 26 }, { 4596, 25 }, { 5036, 25 }, { 5497, 24 },
	{ 5979, 24 }, { 6483, 23 }, { 7009, 23 }, { 7558, 22 }, { 8130, 22 },
	{ 8726, 22 }, { 9346, 21 }, { 9991, 21 }, { 10661, 21 }, { 11358, 20 },
	{ 12082, 20 }, { 12834, 20 }, { 13614, 19 }, { 14424, 19 }, { 15265, 19 },
	{ 16137, 19 }, { 17042, 18 }, { 17981, 18 }, { 18955, 18 }, { 19965, 17 },
	{ 21013, 17 }, { 22101, 17 }, { 23230, 17 }, { 24402, 16 }, { 25618, 16 },
	{ 26881, 16 }, { 28193, 16 }, { 29557, 15 }, { 30975, 15 }, { 32450, 15 },
	{ 33986, 15 }, { 35586, 14 }, { 37253, 14 }, { 38992, 14 }, { 40808, 14 },
	{ 42707, 13 }, { 44694, 13 }, { 46776, 13 }, { 48961, 13 }, { 51258, 13 },
	{ 53677, 12 }, { 56230, 12 }, { 58932, 12 }, { 61799, 12 }, { 64851, 11 },
	{ 68113, 11 }, { 71617, 11 }, { 75401, 10 }, { 79517, 10 }, { 84035, 10 },
	{ 89053, 10 }, { 94717, 9 },
};

/*
 * The row of window @cwnd, searched from @row, where the last search ended. A row
 * holds from its window up to the next row's, so that a(w) is the formula's whole
 * part. Mainline's tcp_highspeed gives a window the row above it, up to one packet
 * per RTT more. How the patches of 2004 rounded is not known. Above the last row
 * its a(w) and b(w) stay, as RFC 3649 gives no others.
 */
static inline u32 hstcp_find_row(u32 row, u32 cwnd)
{
	while (row + 1 < ARRAY_SIZE(hstcp_rows) && hstcp_rows[row + 1].cwnd <= cwnd)
		row++;
	while (row > 0 && hstcp_rows[row].cwnd > cwnd)
		row--;
	return row;
}

/* a(w) of a row, packets per window of ACKs */
static inline u32 hstcp_increase(u32 row)
{
	return row + 1;
}

/* The window after a loss: (1 - b(w)) w, RFC 3649 section 5; at least 2 packets */
static inline u32 hstcp_decreased(u32 row, u32 cwnd)
{
	return max(cwnd - cwnd * hstcp_rows[row].decrease_percent / 100, 2U);
}

/*
 * Slow start, and true while it lasts. Above @max_ssthresh packets an ACK adds
 * 1/K packet, K = int(cwnd / (max_ssthresh / 2)), so that an RTT adds at most
 * max_ssthresh / 2 (RFC 3742 section 2, which recommends 100; checked in its last
 * draft, draft-ietf-tsvwg-slowstart-00). @max_ssthresh 0: one packet per ACK
 * throughout.
 */
static inline bool hstcp_slow_start(struct tcp_sock *tp, u32 max_ssthresh)
{
	u32 cwnd = tcp_snd_cwnd(tp);

	if (!max_ssthresh || cwnd <= max_ssthresh)
		return ack_slow_start(tp);
	if (cwnd > tp->snd_ssthresh)
		return false;
	if (++tp->snd_cwnd_cnt >= 2 * cwnd / max_ssthresh) {
		tp->snd_cwnd_cnt = 0;
		ack_grow(tp);
	}
	return true;
}

#endif
