// SPDX-License-Identifier: GPL-2.0
/*
 * FAST TCP: a window set by queueing delay, which keeps alpha packets queued.
 *
 * C. Jin, D. X. Wei, S. H. Low, "FAST TCP for High-Speed Long-Distance Networks",
 * draft-jin-wei-low-tcp-fast-01 (June 2003), below "the draft". Its section 4.1:
 *
 *   w_new = 1/2 (w_old baseRTT / avgRTT + alpha + w_current)
 *
 * once per RTT, one packet at a time, spread over the acked packets of the next
 * RTT. gamma stands for the 1/2 here. w_old is the window when the packet now
 * acknowledged was sent; here, the packets in flight then, which is the same for a
 * flow that its window limits. After a loss the window halves, and delay counts
 * again when recovery has ended (section 4.2).
 *
 * The draft does not say how a flow starts. Here as in ns-2.35's model of the Linux
 * code (tcp/tcp-fast.cc, University of Melbourne): while avgRTT - baseRTT is below
 * mi_threshold_us, each ACK adds a packet; there is no slow start by ssthresh. The
 * first queue or loss ends that, and then a flow grows by the draft's equation alone,
 * by alpha / 2 a round at most. With mi_once 0 a flow grows so whenever its queue is
 * short, as in ns-2.35; then alpha must queue for longer than the threshold, since an
 * alpha below rate * mi_threshold_us packets never stops growing before a loss.
 *
 * Known bias, section 5.3: a flow that starts on others' queue takes that queue for
 * part of baseRTT and so keeps more than alpha packets queued. base_rtt_us tells it
 * the truth instead.
 *
 * Bounds: cwnd up to 2^20 packets, RTT up to 10 s (< 2^24 us), alpha up to 2^17.
 * The kernel gives what is in flight in 32 bits of bytes: at an MTU of 9000 bytes
 * that is enough for windows up to 479,000 packets.
 */

#include <linux/math64.h>
#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"
#include "recovery.h"

#define FAST_AVG_SHIFT 24	/* avgRTT: 24 + 24 bits; a weight of 3 / 2^20 is kept */
#define FAST_DIV_SHIFT 20	/* of them left out where avgRTT divides: < 2^28 */
#define FAST_WIN_SHIFT 10	/* windows in 1/1024 packet: < 2^31 */

static int alpha = -1;		/* draft 5.4 */
module_param(alpha, int, 0444);
MODULE_PARM_DESC(alpha, "packets kept queued; by rate (draft, 5.4) 0: 2.5 ms of it, -1: in steps");

static int gamma_percent = 50;	/* draft 4.1 */
module_param(gamma_percent, int, 0444);
MODULE_PARM_DESC(gamma_percent, "part of the way to its aim the window goes at once");

static int period_rtts = 2;	/* ns-2.35, "as in Linux"; draft 4.1 has 1 */
module_param(period_rtts, int, 0444);
MODULE_PARM_DESC(period_rtts, "RTTs from one update to the next");

static int period_ms;		/* ns-2.35 has 10, within every other RTT */
module_param(period_ms, int, 0444);
MODULE_PARM_DESC(period_ms, "time from one update to the next; 0: period_rtts counts");

static int mi_threshold_us = 750;	/* mi_threshold_ of ns-2.35 */
module_param(mi_threshold_us, int, 0444);
MODULE_PARM_DESC(mi_threshold_us, "queueing delay below which each ACK adds a packet");

static int mi_once = 1;
module_param(mi_once, int, 0444);
MODULE_PARM_DESC(mi_once, "each ACK adds a packet before the first queue or loss only");

static int avg_packets = 3;	/* draft 5.2: weight min(3/cwnd, 1/8) */
module_param(avg_packets, int, 0444);
MODULE_PARM_DESC(avg_packets, "weight of a sample in avgRTT, times cwnd");

static int avg_least = 8;	/* draft 5.2; ns-2.35 has 256 */
module_param(avg_least, int, 0444);
MODULE_PARM_DESC(avg_least, "largest weight of a sample in avgRTT, its inverse");

static int base_rtt_us;
module_param(base_rtt_us, int, 0444);
MODULE_PARM_DESC(base_rtt_us, "baseRTT, where it is known; 0: the least sample");

struct fast {
	u64 avg_rtt;		/* us << FAST_AVG_SHIFT */
	u64 updated_us;		/* tcp_mstamp of the last update */
	u32 base_rtt;		/* us; 0: no sample yet */
	u32 old_cwnd;		/* packets, w_old */
	u32 end_seq;		/* an RTT has passed once this is acknowledged */
	u32 rtts;		/* since the last update */
	u32 steps;		/* packets by which the window still changes */
	u32 spacing;		/* acked packets from one step to the next */
	u32 acked;		/* packets since the last step */
	u32 remainder;		/* of the window, 1 / 2^FAST_WIN_SHIFT packets */
	bool shrinks;		/* the steps are downwards */
	bool started;		/* there has been a queue or a loss */
};

/* The RTT that counts begins now */
static void fast_restart(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fast *ca = inet_csk_ca(sk);

	ca->end_seq = tp->snd_nxt;
	ca->updated_us = tp->tcp_mstamp;
	ca->rtts = 0;
	ca->steps = 0;
	ca->remainder = 0;
}

static void fast_init(struct sock *sk)
{
	struct fast *ca = inet_csk_ca(sk);

	memset(ca, 0, sizeof(*ca));
	ca->base_rtt = base_rtt_us;
	fast_restart(sk);
}

static void fast_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fast *ca = inet_csk_ca(sk);
	u32 inverse = max_t(u32, tcp_snd_cwnd(tp), avg_packets * avg_least);
	u64 rtt;

	if (sample->rtt_us <= 0)
		return;
	rtt = (u64)sample->rtt_us << FAST_AVG_SHIFT;
	if (!ca->avg_rtt)
		ca->avg_rtt = rtt;
	/* < 2^48 * 2^10 */
	ca->avg_rtt += div_s64((s64)(rtt - ca->avg_rtt) * avg_packets, inverse);
	if (!base_rtt_us)
		ca->base_rtt = min_not_zero(ca->base_rtt, (u32)sample->rtt_us);
	ca->old_cwnd = sample->in_flight / tp->mss_cache;
}

/*
 * Packets to keep queued. The draft's table (5.4) has 20 at 0.1 Gb/s and below, 200
 * at 1, 500 at 2.5 and 2000 at 10 Gb/s. Its points are on one straight line, taken
 * between them too with alpha 0. With alpha -1 each row counts up to its rate. alpha
 * by rate gives up fairness: whatever a flow has, its alpha fits.
 */
static const struct {
	u32 bytes_per_8us;	/* the highest rate of the row */
	u32 alpha;
} fast_rows[] = {
	{ 100, 20 }, { 1000, 200 }, { 2500, 500 }, { U32_MAX, 2000 },
};

static u32 fast_alpha(const struct tcp_sock *tp, const struct fast *ca)
{
	u64 bytes = (u64)tcp_snd_cwnd(tp) * tp->mss_cache;	/* per avgRTT, < 2^36 */
	u32 avg_us = max_t(u32, ca->avg_rtt >> FAST_AVG_SHIFT, 1);

	if (alpha > 0)
		return alpha;
	if (alpha < 0) {
		u64 rate = div_u64(bytes * 8, avg_us);
		int row = 0;

		while (rate > fast_rows[row].bytes_per_8us)
			row++;
		return fast_rows[row].alpha;
	}
	/* 200 packets per 1e9 bit/s = 125 bytes/us */
	return clamp_t(u64, div_u64(bytes * 200, avg_us) / 125, 20, 2000);
}

/* Sets the steps from this window to w_new. All in 1/2^FAST_WIN_SHIFT packets. */
static void fast_update(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fast *ca = inet_csk_ca(sk);
	u32 avg = max_t(u32, ca->avg_rtt >> FAST_DIV_SHIFT, 1);
	u64 base = (u64)ca->base_rtt << (FAST_AVG_SHIFT - FAST_DIV_SHIFT);
	s64 cwnd = (s64)tcp_snd_cwnd(tp) << FAST_WIN_SHIFT;
	s64 aim, change;

	/* 2^20 * 2^28 * 2^10 < 2^63 */
	aim = div_u64((u64)ca->old_cwnd * base << FAST_WIN_SHIFT, avg);
	aim += (u64)fast_alpha(tp, ca) << FAST_WIN_SHIFT;
	change = div_s64((aim - cwnd) * gamma_percent, 100) + ca->remainder;

	ca->remainder = change & ((1 << FAST_WIN_SHIFT) - 1);
	change >>= FAST_WIN_SHIFT;
	ca->shrinks = change < 0;
	ca->steps = abs(change);
	/* Draft 4.1: upwards no faster than slow start, downwards than rate halving */
	ca->spacing = max(tcp_snd_cwnd(tp) / max(ca->steps, 1U), ca->shrinks ? 2U : 1U);
	ca->acked = 0;
	tp->snd_ssthresh = min(tp->snd_ssthresh, max(tcp_snd_cwnd(tp), 2U));
}

static bool fast_is_due(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fast *ca = inet_csk_ca(sk);

	if (period_ms)
		return tp->tcp_mstamp - ca->updated_us >= (u64)period_ms * USEC_PER_MSEC;
	if (before(tp->snd_una, ca->end_seq))
		return false;
	ca->end_seq = tp->snd_nxt;
	ca->steps = 0;
	return ++ca->rtts >= period_rtts;
}

/* Goes towards w_new by what these packets allow. Draft 4.1 counts packets, not ACKs. */
static void fast_step(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fast *ca = inet_csk_ca(sk);

	for (ca->acked += acked; ca->steps && ca->acked >= ca->spacing; ca->steps--) {
		ca->acked -= ca->spacing;
		if (ca->shrinks)
			tcp_snd_cwnd_set(tp, max(tcp_snd_cwnd(tp) - 1, 2U));
		else if (tcp_is_cwnd_limited(sk))
			ack_grow(tp);
	}
}

static void fast_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fast *ca = inet_csk_ca(sk);
	s64 queued_us = (ca->avg_rtt >> FAST_AVG_SHIFT) - ca->base_rtt;

	if (queued_us < mi_threshold_us && !(mi_once && ca->started)) {
		fast_restart(sk);
		if (tcp_is_cwnd_limited(sk))
			ack_grow(tp);
		return;
	}
	ca->started = true;
	if (fast_is_due(sk)) {
		ca->rtts = 0;
		ca->updated_us = tp->tcp_mstamp;
		fast_update(sk);
	}
	fast_step(sk, acked);
}

/* When recovery has ended, what its packets met tells nothing of the new window */
static void fast_set_state(struct sock *sk, u8 new_state)
{
	struct fast *ca = inet_csk_ca(sk);

	if (new_state == TCP_CA_Open)
		fast_restart(sk);
	/* A loss, or a drop at the host's own card */
	if (new_state >= TCP_CA_CWR)
		ca->started = true;
}

static struct tcp_congestion_ops fast __read_mostly = {
	.init		= fast_init,
	.ssthresh	= tcp_reno_ssthresh,	/* half, draft 4.2 by RFC 2582 */
	.cong_avoid	= fast_cong_avoid,
	.pkts_acked	= fast_pkts_acked,
	.set_state	= fast_set_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "fast",
};

static int __init fast_register(void)
{
	BUILD_BUG_ON(sizeof(struct fast) > RECOVERY_STACK_BYTES);

	if (check_parameter("alpha", alpha, -1, 100000) ||
	    check_parameter("gamma_percent", gamma_percent, 1, 100) ||
	    check_parameter("period_rtts", period_rtts, 1, 100) ||
	    check_parameter("period_ms", period_ms, 0, 10000) ||
	    check_parameter("mi_threshold_us", mi_threshold_us, 0, 10000000) ||
	    check_parameter("mi_once", mi_once, 0, 1) ||
	    check_parameter("avg_packets", avg_packets, 1, 1000) ||
	    check_parameter("avg_least", avg_least, 1, 1000) ||
	    check_parameter("base_rtt_us", base_rtt_us, 0, 10000000))
		return -EINVAL;
	return recovery_register(&fast);
}

static void __exit fast_unregister(void)
{
	tcp_unregister_congestion_control(&fast);
}

module_init(fast_register);
module_exit(fast_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("FAST TCP, draft-jin-wei-low-tcp-fast-01");
