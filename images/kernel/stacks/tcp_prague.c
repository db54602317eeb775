// SPDX-License-Identifier: GPL-2.0
/*
 * TCP Prague, written from the text of draft-briscoe-iccrg-prague-congestion-control-00,
 * whose sections are named below, for mainline's TCP with its accurate ECN (RFC 9768).
 *
 *   each round  alpha += (frac - alpha) / 16      frac: part of the packets that was marked
 *   a mark      cwnd *= 1 - alpha / 2             at most once in a round
 *   each ACK    cwnd += unmarked packets / M^2 / cwnd
 *   a loss      cwnd /= 2
 *
 * A round lasts an RTT, and after 500 rounds at least 25 ms; M is that over the RTT
 * (2.4.4). Before, and where the RTT is longer, M is 1.
 *
 * Data carry ECT(1) (2.2). tcp_ecn_send() of mainline sets ECT(0) before each packet
 * of accurate ECN, whatever the flags of a stack say, and no hook of a stack comes
 * between it and the IP header. So a connection gets a copy of its table of functions
 * for IP, as those of MPTCP and SMC have, whose queue_xmit changes the codepoint.
 *
 * What the draft leaves open, and is this module's own:
 *
 *  - alpha begins at 1, as in net/ipv4/tcp_dctcp.c, so that the mark that ends slow
 *    start takes off up to half of the window.
 *  - Classic queues (3.3 of the draft names a report and has no text of it). A queue is
 *    held to be classic (RFC 3168) when in ten rounds with marks, or as many more as
 *    those below, the shortest RTT was more than classic_queue_us above the shortest of
 *    the last 15 to 30 s. An L4S queue marks from 1 ms on (net/sched/sch_dualpi2.c), those
 *    of CoDel and PIE rest at 5 and 15 ms. Then a mark halves the window, and growth is
 *    Reno's, until the count is back at 0. Packets keep ECT(1).
 *  - A loss halves the window also after a mark in the same round (2.4.1 allows less).
 *  - Recovery takes the window down in proportion to arrivals (RFC 6937).
 *
 * Left out: fractional windows below two packets (3.5), ECT(0) by configuration (2.2),
 * and what the draft calls future work.
 *
 * Bounds: cwnd up to 2^20 packets; RTTs up to 10 s.
 */

#include <linux/inet_diag.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include <net/tcp_ecn.h>
#include "ack_counting.h"

#define PRAGUE_WINDOW_BITS 16		/* of a fraction of a packet (2.4.2) */
#define PRAGUE_ALPHA_BITS 20		/* 2.3.2 */
#define PRAGUE_GAIN_BITS 4		/* g = 1/16 (2.3.2) */
#define PRAGUE_LEAST_PACKETS 2
#define PRAGUE_BURST_SHIFT 12		/* a burst is what 244 us pace, MAX_BURST_DELAY (2.5.2) */
#define PRAGUE_CLASSIC_ROUNDS 10
#define PRAGUE_BASE_RTT_JIFFIES (15 * HZ)

static int rtt_ref_ms = 25;		/* 2.4.4 */
module_param(rtt_ref_ms, int, 0444);
MODULE_PARM_DESC(rtt_ref_ms, "shorter RTTs grow as if they were this long, in ms; 0: do not");

static int rtt_ref_rounds = 500;	/* D of 2.4.4 */
module_param(rtt_ref_rounds, int, 0444);
MODULE_PARM_DESC(rtt_ref_rounds, "round trips before rtt_ref_ms counts");

static int classic_queue_us = 3000;
module_param(classic_queue_us, int, 0444);
MODULE_PARM_DESC(classic_queue_us, "delay of a marking queue that is classic, in us; 0: none is");

struct prague_af_ops {
	struct inet_connection_sock_af_ops ops;
	const struct inet_connection_sock_af_ops *original;
};

struct prague {
	u64 window;			/* packets, in 2^-PRAGUE_WINDOW_BITS */
	struct prague_af_ops *af_ops;
	u64 round_began_us;
	u64 reduced_us;			/* when a mark last took some of the window */
	u32 alpha_by_gain;		/* alpha / g, in 2^-PRAGUE_ALPHA_BITS */
	u32 round_end;			/* sequence number whose ACK ends the round */
	u32 round_delivered;		/* tp->delivered when the round began */
	u32 round_delivered_ce;
	u32 round_rtt_us;		/* shortest */
	u32 rounds;
	u32 delivered_ce;		/* tp->delivered_ce at the last ACK */
	u32 set_packets;		/* window that this module has set last */
	u32 before_loss;		/* packets */
	u32 base_rtt_us;		/* shortest since base_stamp */
	u32 former_base_rtt_us;		/* and in the 15 s before */
	u32 base_stamp;			/* jiffies */
	u8 classic_rounds;
	bool classic;
	bool reduced;
};

static struct tcp_congestion_ops prague_reno;

static u32 prague_packets(const struct prague *prague)
{
	return prague->window >> PRAGUE_WINDOW_BITS;
}

static void prague_set_packets(struct sock *sk, u32 packets)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *prague = inet_csk_ca(sk);

	packets = clamp(packets, 1U, tp->snd_cwnd_clamp);
	tcp_snd_cwnd_set(tp, packets);
	prague->set_packets = packets;
}

static u32 prague_rtt_us(const struct tcp_sock *tp)
{
	return max(tp->srtt_us >> 3, 1U);
}

/* How long a round is counted, at least (2.4.4) */
static u32 prague_rtt_ref_us(const struct sock *sk)
{
	const struct prague *prague = inet_csk_ca(sk);
	u32 rtt_us = prague_rtt_us(tcp_sk(sk));

	if (prague->classic || prague->rounds < rtt_ref_rounds)
		return rtt_us;
	return max(rtt_us, (u32)rtt_ref_ms * USEC_PER_MSEC);
}

/* 2.2: the codepoint, after tcp_ecn_send() has set it */
static int prague_queue_xmit(struct sock *sk, struct sk_buff *skb, struct flowi *fl)
{
	const struct prague_af_ops *af_ops =
		container_of(inet_csk(sk)->icsk_af_ops, struct prague_af_ops, ops);

	if ((inet_sk(sk)->tos & INET_ECN_MASK) == INET_ECN_ECT_0)
		__INET_ECN_xmit(sk, true);
	return af_ops->original->queue_xmit(sk, skb, fl);
}

static bool prague_send_ect_1(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct prague *prague = inet_csk_ca(sk);
	struct prague_af_ops *af_ops = kmalloc_obj(*af_ops, GFP_ATOMIC);

	if (!af_ops)
		return false;
	af_ops->original = icsk->icsk_af_ops;
	af_ops->ops = *af_ops->original;
	af_ops->ops.queue_xmit = prague_queue_xmit;
	prague->af_ops = af_ops;
	WRITE_ONCE(icsk->icsk_af_ops, &af_ops->ops);
	return true;
}

static void prague_release(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct prague *prague = inet_csk_ca(sk);

	if (!prague->af_ops)
		return;
	/* IPV6_ADDRFORM may have set another table */
	if (icsk->icsk_af_ops == &prague->af_ops->ops)
		WRITE_ONCE(icsk->icsk_af_ops, prague->af_ops->original);
	kfree(prague->af_ops);
	prague->af_ops = NULL;
}

/* 2.5.1 */
static void prague_pace(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct prague *prague = inet_csk_ca(sk);
	u64 in_flight = (u64)tcp_packets_in_flight(tp) << PRAGUE_WINDOW_BITS;
	u64 rate = max(prague->window, in_flight) * tp->mss_cache;

	if (prague_packets(prague) < tp->snd_ssthresh / 2)
		rate *= 2;
	rate = div_u64((rate >> 8) * USEC_PER_SEC, prague_rtt_us(tp)) >> (PRAGUE_WINDOW_BITS - 8);
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

static void prague_begin_round(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct prague *prague = inet_csk_ca(sk);

	prague->round_began_us = tp->tcp_mstamp;
	prague->round_end = tp->snd_nxt;
	prague->round_delivered = tp->delivered;
	prague->round_delivered_ce = tp->delivered_ce;
	prague->round_rtt_us = ~0U;
}

/* 2.3.1: without accurate feedback the connection is Reno's, which sends no ECT(1) */
static void prague_init(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *prague = inet_csk_ca(sk);

	memset(prague, 0, sizeof(*prague));
	if (!tcp_ecn_mode_accecn(tp) || !prague_send_ect_1(sk)) {
		inet_csk(sk)->icsk_ca_ops = &prague_reno;
		return;
	}
	prague->window = (u64)tcp_snd_cwnd(tp) << PRAGUE_WINDOW_BITS;
	prague->set_packets = tcp_snd_cwnd(tp);
	prague->alpha_by_gain = 1U << (PRAGUE_ALPHA_BITS + PRAGUE_GAIN_BITS);
	prague->delivered_ce = tp->delivered_ce;
	prague->base_rtt_us = ~0U;
	prague->former_base_rtt_us = ~0U;
	prague->base_stamp = tcp_jiffies32;
	prague_begin_round(sk);
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	sk_pacing_shift_update(sk, PRAGUE_BURST_SHIFT);
	if (tp->srtt_us)
		prague_pace(sk);	/* the initial window too (2.3.3) */
}

static u32 prague_alpha(const struct prague *prague)
{
	return prague->alpha_by_gain >> PRAGUE_GAIN_BITS;
}

/* 2.3.2 */
static void prague_update_alpha(const struct tcp_sock *tp, struct prague *prague)
{
	u32 delivered = tp->delivered - prague->round_delivered;
	u32 marked = min(tp->delivered_ce - prague->round_delivered_ce, delivered);

	if (!delivered)
		return;
	prague->alpha_by_gain -= prague->alpha_by_gain >> PRAGUE_GAIN_BITS;
	prague->alpha_by_gain += div_u64((u64)marked << PRAGUE_ALPHA_BITS, delivered);
}

static void prague_update_base_rtt(struct prague *prague, u32 rtt_us)
{
	if (tcp_jiffies32 - prague->base_stamp > PRAGUE_BASE_RTT_JIFFIES) {
		prague->former_base_rtt_us = prague->base_rtt_us;
		prague->base_rtt_us = ~0U;
		prague->base_stamp = tcp_jiffies32;
	}
	prague->base_rtt_us = min(prague->base_rtt_us, rtt_us);
	prague->round_rtt_us = min(prague->round_rtt_us, rtt_us);
}

/* At the end of a round with marks: whether such a queue is one of RFC 3168 */
static void prague_judge_queue(struct prague *prague)
{
	u32 base_rtt_us = min(prague->base_rtt_us, prague->former_base_rtt_us);

	if (!classic_queue_us || prague->round_rtt_us == ~0U)
		return;
	if (prague->round_rtt_us - base_rtt_us > classic_queue_us) {
		if (prague->classic_rounds < PRAGUE_CLASSIC_ROUNDS)
			prague->classic_rounds++;
		if (prague->classic_rounds == PRAGUE_CLASSIC_ROUNDS)
			prague->classic = true;
	} else {
		if (prague->classic_rounds)
			prague->classic_rounds--;
		if (!prague->classic_rounds)
			prague->classic = false;
	}
}

static void prague_end_round(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct prague *prague = inet_csk_ca(sk);

	prague_update_alpha(tp, prague);
	if (tp->delivered_ce != prague->round_delivered_ce)
		prague_judge_queue(prague);
	prague->rounds++;
	prague_begin_round(sk);
}

static bool prague_round_is_over(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct prague *prague = inet_csk_ca(sk);

	return !before(tp->snd_una, prague->round_end) &&
	       tp->tcp_mstamp - prague->round_began_us >= prague_rtt_ref_us(sk);
}

static bool prague_may_reduce(const struct sock *sk)
{
	const struct prague *prague = inet_csk_ca(sk);

	return !prague->reduced ||
	       tcp_sk(sk)->tcp_mstamp - prague->reduced_us >= prague_rtt_ref_us(sk);
}

/* 2.4.2: what a mark leaves of the window, with its fraction */
static u64 prague_after_mark(const struct prague *prague)
{
	u32 alpha = prague->classic ? 1U << PRAGUE_ALPHA_BITS : prague_alpha(prague);
	u64 less = (prague->window * alpha) >> (PRAGUE_ALPHA_BITS + 1);

	return max(prague->window - less, (u64)PRAGUE_LEAST_PACKETS << PRAGUE_WINDOW_BITS);
}

static void prague_reduce(struct sock *sk)
{
	struct prague *prague = inet_csk_ca(sk);

	prague->window = prague_after_mark(prague);
	prague->reduced = true;
	prague->reduced_us = tcp_sk(sk)->tcp_mstamp;
	tcp_sk(sk)->snd_ssthresh = prague_packets(prague);
}

/* 2.4.3 and 2.4.4, and slow start (2.4.5) */
static void prague_grow(struct sock *sk, u32 acked, u32 unmarked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *prague = inet_csk_ca(sk);
	u64 most = (u64)tp->snd_cwnd_clamp << PRAGUE_WINDOW_BITS;
	u64 rtt_us = prague_rtt_us(tp), rtt_ref_us = prague_rtt_ref_us(sk);
	u64 growth;

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (prague_packets(prague) < tp->snd_ssthresh) {
		prague->window += (u64)acked << PRAGUE_WINDOW_BITS;
		prague->window = min3(prague->window, most,
				      (u64)tp->snd_ssthresh << PRAGUE_WINDOW_BITS);
		return;
	}
	/* (1 / M)^2 with 32 bits of fraction */
	growth = div64_u64(rtt_us << 16, rtt_ref_us);
	growth = growth * growth;
	/* unmarked packets times that, by the window in packets */
	growth = div64_u64(((u64)(prague->classic ? acked : unmarked) * growth) >> 8,
			   max(prague->window >> 8, 1ULL));
	prague->window = min(prague->window + growth, most);
}

/* RFC 6937: towards ssthresh in proportion to what arrives */
static void prague_recover(struct sock *sk, u32 acked, u32 lost)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 in_flight = tcp_packets_in_flight(tp);
	s32 send;

	tp->prr_delivered += acked;
	if (in_flight > tp->snd_ssthresh) {
		u64 share = (u64)tp->snd_ssthresh * tp->prr_delivered + tp->prior_cwnd - 1;

		send = (s32)div_u64(share, max(tp->prior_cwnd, 1U)) - (s32)tp->prr_out;
	} else {
		send = max_t(s32, tp->prr_delivered - tp->prr_out, acked);
		send = min_t(s32, send + !lost, tp->snd_ssthresh - in_flight);
	}
	/* The first packet that is sent again does not wait */
	send = max(send, tp->prr_out ? 0 : 1);
	prague_set_packets(sk, in_flight + send);
}

static void prague_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *prague = inet_csk_ca(sk);
	u32 marked = tp->delivered_ce - prague->delivered_ce;
	u32 acked = rs->acked_sacked;
	u8 state = inet_csk(sk)->icsk_ca_state;

	prague->delivered_ce = tp->delivered_ce;
	/* A timeout, or a loss that was none, has set the window */
	if (tcp_snd_cwnd(tp) != prague->set_packets)
		prague->window = (u64)tcp_snd_cwnd(tp) << PRAGUE_WINDOW_BITS;
	if (rs->rtt_us > 0)
		prague_update_base_rtt(prague, rs->rtt_us);
	if (prague_round_is_over(sk))
		prague_end_round(sk);

	if (state == TCP_CA_Recovery) {
		prague_recover(sk, acked, rs->losses);
	} else {
		if (marked && state != TCP_CA_Loss && prague_may_reduce(sk))
			prague_reduce(sk);
		prague_grow(sk, acked, acked - min(marked, acked));
		prague_set_packets(sk, prague_packets(prague));
	}
	prague_pace(sk);
}

/* What the kernel notes at a mark; cong_control then sets it */
static u32 prague_ssthresh(struct sock *sk)
{
	const struct prague *prague = inet_csk_ca(sk);
	u64 window = prague_may_reduce(sk) ? prague_after_mark(prague) : prague->window;

	return max_t(u32, window >> PRAGUE_WINDOW_BITS, PRAGUE_LEAST_PACKETS);
}

/* 2.4.1 */
static void prague_react_to_loss(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *prague = inet_csk_ca(sk);

	prague->before_loss = tcp_snd_cwnd(tp);
	tp->snd_ssthresh = max_t(u32, prague_packets(prague) / 2, PRAGUE_LEAST_PACKETS);
	prague->window = (u64)tp->snd_ssthresh << PRAGUE_WINDOW_BITS;
}

static void prague_set_state(struct sock *sk, u8 state)
{
	const struct prague *prague = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u8 former = inet_csk(sk)->icsk_ca_state;

	if (state == TCP_CA_Recovery && former != state) {
		prague_react_to_loss(sk);
		tp->prior_cwnd = tcp_snd_cwnd(tp);
		tp->prr_delivered = 0;
		tp->prr_out = 0;
	} else if (former == TCP_CA_Recovery && state < TCP_CA_Recovery &&
		   tcp_snd_cwnd(tp) == prague->set_packets) {
		prague_set_packets(sk, prague_packets(prague));
	}
}

static void prague_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_LOSS)
		prague_react_to_loss(sk);
}

static u32 prague_undo_cwnd(struct sock *sk)
{
	const struct prague *prague = inet_csk_ca(sk);

	return max(tcp_snd_cwnd(tcp_sk(sk)), prague->before_loss);
}

/* A packet may leave alone (2.5.2) */
static u32 prague_min_tso_segs(struct sock *sk)
{
	return 1;
}

/* alpha as ss(8) shows DCTCP's, in 1/1024; ce_state: whether the queue is classic */
static size_t prague_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct prague *prague = inet_csk_ca(sk);

	if (!(ext & (1 << (INET_DIAG_DCTCPINFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	memset(&info->dctcp, 0, sizeof(info->dctcp));
	info->dctcp.dctcp_enabled = 1;
	info->dctcp.dctcp_ce_state = prague->classic;
	info->dctcp.dctcp_alpha = prague_alpha(prague) >> (PRAGUE_ALPHA_BITS - 10);
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

static struct tcp_congestion_ops prague __read_mostly = {
	.name = "prague",
	.owner = THIS_MODULE,
	.flags = TCP_CONG_NEEDS_ECN | TCP_CONG_NEEDS_ACCECN | TCP_CONG_ECT_1_NEGOTIATION,
	.init = prague_init,
	.release = prague_release,
	.cong_control = prague_cong_control,
	.ssthresh = prague_ssthresh,
	.set_state = prague_set_state,
	.cwnd_event = prague_cwnd_event,
	.undo_cwnd = prague_undo_cwnd,
	.min_tso_segs = prague_min_tso_segs,
	.get_info = prague_get_info,
};

static struct tcp_congestion_ops prague_reno __read_mostly = {
	.name = "prague-reno",
	.owner = THIS_MODULE,
	.ssthresh = tcp_reno_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static int __init prague_register(void)
{
	BUILD_BUG_ON(sizeof(struct prague) > ICSK_CA_PRIV_SIZE);

	if (check_parameter("rtt_ref_ms", rtt_ref_ms, 0, 10000) ||
	    check_parameter("rtt_ref_rounds", rtt_ref_rounds, 0, 1000000) ||
	    check_parameter("classic_queue_us", classic_queue_us, 0, 10000000))
		return -EINVAL;
	return tcp_register_congestion_control(&prague);
}

static void __exit prague_unregister(void)
{
	tcp_unregister_congestion_control(&prague);
}

module_init(prague_register);
module_exit(prague_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP Prague, draft-briscoe-iccrg-prague-congestion-control");
