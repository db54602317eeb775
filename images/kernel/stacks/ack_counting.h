/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the stacks of this directory share: growth counted in ACKs, and the check
 * of a module's parameters.
 *
 * In 2004 Linux let a window grow by the ACK: one ACK was worth the same whether
 * it acknowledged one segment or two, so that a receiver with delayed ACKs halved
 * the growth (reno_cong_avoid, net/ipv4/tcp_input.c, 2.6.11). Mainline counts
 * acknowledged packets today. Each function below is to be called once per ACK,
 * from cong_avoid, and never looks at how much that ACK acknowledged.
 *
 * Bounds: cwnd up to 2^20 packets; no product below exceeds 32 bits.
 */
#ifndef FARPATH_ACK_COUNTING_H
#define FARPATH_ACK_COUNTING_H

#include <linux/errno.h>
#include <linux/printk.h>
#include <net/tcp.h>

/* One packet more, below the largest window the socket may have */
static inline void ack_grow(struct tcp_sock *tp)
{
	if (tcp_snd_cwnd(tp) < tp->snd_cwnd_clamp)
		tcp_snd_cwnd_set(tp, tcp_snd_cwnd(tp) + 1);
}

/*
 * Whether the window was full before this ACK, which took @acked packets out of it:
 * only then did it grow (prior_in_flight >= snd_cwnd in tcp_ack of 2.4 and 2.6.11).
 * So cwnd stays at the receiver's window, where mainline's tcp_is_cwnd_limited lets
 * slow start reach twice that, and a first loss would take nothing that is in use.
 */
static inline bool ack_window_was_full(const struct tcp_sock *tp, u32 acked)
{
	return tcp_packets_in_flight(tp) + acked >= tcp_snd_cwnd(tp);
}

/*
 * Slow start: one packet more for this ACK, and true, up to and including
 * ssthresh. The comparison is that of reno_cong_avoid in 2.6.11, which grew by
 * one packet at the threshold itself, where mainline stops.
 */
static inline bool ack_slow_start(struct tcp_sock *tp)
{
	if (tcp_snd_cwnd(tp) > tp->snd_ssthresh)
		return false;
	ack_grow(tp);
	return true;
}

/*
 * Avoidance as in 2.6.11's reno_cong_avoid: the ACK that finds @acks ACKs counted
 * adds a packet and is not counted itself, so a packet takes @acks + 1 ACKs.
 */
static inline void ack_avoid(struct tcp_sock *tp, u32 acks)
{
	if (tp->snd_cwnd_cnt >= acks) {
		ack_grow(tp);
		tp->snd_cwnd_cnt = 0;
	} else {
		tp->snd_cwnd_cnt++;
	}
}

/*
 * Avoidance with a gain: @gain / cwnd packets for this ACK, fractions kept, so
 * cwnd ACKs add @gain packets. @gain up to 2^16.
 */
static inline void ack_gain(struct tcp_sock *tp, u32 gain)
{
	tp->snd_cwnd_cnt += gain;
	while (tp->snd_cwnd_cnt >= tcp_snd_cwnd(tp)) {
		tp->snd_cwnd_cnt -= tcp_snd_cwnd(tp);
		ack_grow(tp);
	}
}

/* 0 if @value is from @least to @most; else -EINVAL and a line in the log */
static inline int check_parameter(const char *name, int value, int least, int most)
{
	if (value >= least && value <= most)
		return 0;
	pr_err(KBUILD_MODNAME ": %s is %d: it must be from %d to %d\n", name, value,
	       least, most);
	return -EINVAL;
}

#endif
