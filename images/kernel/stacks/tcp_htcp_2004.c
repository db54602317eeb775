// SPDX-License-Identifier: GPL-2.0
/*
 * H-TCP as published, counted per ACK: D. J. Leith, R. N. Shorten, "H-TCP Protocol
 * for High-Speed Long-Distance Networks", PFLDnet 2004, and the drafts
 * draft-leith-tcp-htcp-00 (June 2005) to -06 (April 2008).
 *
 * Delta is the time since the last loss, D = Delta - Delta_L with Delta_L = 1 s.
 *
 *   each ACK   cwnd += alpha / cwnd
 *   a loss     cwnd *= beta
 *
 *             version 1: PFLDnet 2004           version 2: the drafts
 *   f         1 + 10 D + (D / 2)^2              1 + 10 D + D^2 / 2
 *             (1 while Delta <= Delta_L)        (likewise)
 *   alpha     2 (1 - beta) f                    f
 *   beta      RTTmin / RTTmax in 0.5..0.8;      0.5
 *             0.5 if the throughput before the
 *             loss is not within 20 % of that
 *             before the last
 *
 * With RTT scaling f is multiplied by RTT / 100 ms while Delta > Delta_L (section 5
 * of the drafts, which make it optional).
 *
 * -00 and -06 were read, and have the same increase function; the draft leaves beta
 * to "a later date". PFLDnet 2004 is given from memory and agrees with the Linux
 * module of its institute (2.6.13, June 2005) and with ns-3's. From that module come
 * RTTmax, whose excess over RTTmin fades by 5 % with each loss, and the use of
 * RTTmin for the RTT of RTT scaling. It differs in that it scales by RTT always and
 * by 0.1..2 only, keeps beta at 0.5 up to an RTTmin of 10 ms, counts time in jiffies
 * from the end of recovery, takes the largest smoothed throughput since the loss,
 * and drops the fraction of a packet at each increase.
 *
 * The testbed of 2004 names its H-TCP "HTCP v4". No text or patch that defines a
 * version 4 was found, so it is not reconstructed: the two forms above are what is
 * published.
 *
 * Bounds: cwnd up to 2^20 packets, RTT up to 10 s; D is cut off at 1000 s.
 */

#include <linux/math64.h>
#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"
#include "recovery.h"

static int version = 1;
module_param(version, int, 0444);
MODULE_PARM_DESC(version, "1: PFLDnet 2004, 2: draft-leith-tcp-htcp-00 to -06");

static int rtt_scaling;
module_param(rtt_scaling, int, 0444);
MODULE_PARM_DESC(rtt_scaling, "1: increase in proportion to the RTT, 0: do not");

static int bandwidth_switch = 1;
module_param(bandwidth_switch, int, 0444);
MODULE_PARM_DESC(bandwidth_switch, "1: halve when throughput has changed, 0: do not");

static int delta_l_ms = 1000;		/* section 4 of -00 */
module_param(delta_l_ms, int, 0444);
MODULE_PARM_DESC(delta_l_ms, "Delta_L: Reno for this long after a loss, in ms");

#define SCALE		1024		/* alpha and beta in 1/1024 */
#define BETA_MIN	512		/* 0.5 */
#define BETA_MAX	819		/* 0.8 */
#define RTT_REF_US	100000		/* section 5 of -06 */
#define D_MAX_MS	1000000

struct htcp_2004 {
	u64 loss_us;		/* when the last loss was found */
	u64 prior_loss_us;	/* the one before, for undo */
	u64 round_us;		/* when the current count of packets began */
	u32 round_packets;	/* acknowledged since then, about one RTT */
	u32 rate_pps;		/* throughput of the last full count; 0: none */
	u32 loss_rate_pps;	/* throughput before the last loss; 0: none */
	u32 rtt_min_us;		/* 0: none */
	u32 rtt_max_us;
	u32 prior_rtt_max_us;	/* for undo */
	u32 beta;		/* 1/1024 */
	u32 credit;		/* what ACKs have added: 1 / (1024 * cwnd) packets */
};

static void htcp_2004_init(struct sock *sk)
{
	struct htcp_2004 *ca = inet_csk_ca(sk);

	memset(ca, 0, sizeof(*ca));
	ca->beta = BETA_MIN;
	ca->loss_us = tcp_sk(sk)->tcp_mstamp;
	ca->round_us = ca->loss_us;
}

/* alpha in 1/1024 packets per window of ACKs, at most 2^20 packets */
static u32 alpha(const struct htcp_2004 *ca, u64 now_us)
{
	u64 delta_ms = div_u64(now_us - ca->loss_us, USEC_PER_MSEC);
	u64 d_ms, f = SCALE;

	if (delta_ms > delta_l_ms) {
		d_ms = min_t(u64, delta_ms - delta_l_ms, D_MAX_MS);
		f += div_u64(10 * SCALE * d_ms, 1000) +
		     div_u64(SCALE * d_ms * d_ms, version == 1 ? 4000000 : 2000000);
		if (rtt_scaling && ca->rtt_min_us)
			f = div_u64(f * ca->rtt_min_us, RTT_REF_US);
	}
	if (version == 1)
		f = 2 * (SCALE - ca->beta) * f / SCALE;
	return min_t(u64, f, SCALE << 20);
}

static void htcp_2004_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct htcp_2004 *ca = inet_csk_ca(sk);
	u32 whole;

	if (!ack_window_was_full(tp, acked) || ack_slow_start(tp))
		return;
	/* One packet per ACK at most: no faster than slow start */
	whole = tcp_snd_cwnd(tp) * SCALE;
	ca->credit += min(alpha(ca, tp->tcp_mstamp), whole);
	if (ca->credit >= whole) {
		ca->credit -= whole;
		ack_grow(tp);
	}
}

/* Whether the throughput before this loss is within 20 % of that before the last */
static bool steady(const struct htcp_2004 *ca)
{
	u32 before = ca->loss_rate_pps, now = ca->rate_pps;
	u64 change = before > now ? before - now : now - before;

	return before && now && 5 * change <= before;
}

static u32 backoff(const struct htcp_2004 *ca)
{
	if (version != 1 || !ca->rtt_min_us || !ca->rtt_max_us)
		return BETA_MIN;
	if (bandwidth_switch && !steady(ca))
		return BETA_MIN;
	return clamp_t(u64, div_u64((u64)ca->rtt_min_us * SCALE, ca->rtt_max_us),
		       BETA_MIN, BETA_MAX);
}

static u32 htcp_2004_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct htcp_2004 *ca = inet_csk_ca(sk);

	ca->beta = backoff(ca);
	ca->loss_rate_pps = ca->rate_pps;
	ca->prior_loss_us = ca->loss_us;
	ca->loss_us = tp->tcp_mstamp;
	ca->prior_rtt_max_us = ca->rtt_max_us;
	if (ca->rtt_max_us > ca->rtt_min_us)
		ca->rtt_max_us -= (ca->rtt_max_us - ca->rtt_min_us) / 20;
	ca->credit = 0;
	return max_t(u32, (u64)tcp_snd_cwnd(tp) * ca->beta / SCALE, 2);
}

/* The loss was none: time and RTTs go on as if it had not been found */
static u32 htcp_2004_undo_cwnd(struct sock *sk)
{
	struct htcp_2004 *ca = inet_csk_ca(sk);

	if (ca->prior_loss_us) {
		ca->loss_us = ca->prior_loss_us;
		ca->rtt_max_us = ca->prior_rtt_max_us;
		ca->prior_loss_us = 0;
	}
	return tcp_reno_undo_cwnd(sk);
}

static void htcp_2004_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	u8 state = inet_csk(sk)->icsk_ca_state;
	struct htcp_2004 *ca = inet_csk_ca(sk);
	u64 now_us = tcp_sk(sk)->tcp_mstamp;
	u64 elapsed_us;

	if (sample->rtt_us > 0) {
		if (!ca->rtt_min_us || sample->rtt_us < ca->rtt_min_us)
			ca->rtt_min_us = sample->rtt_us;
		if (state == TCP_CA_Open && sample->rtt_us > ca->rtt_max_us)
			ca->rtt_max_us = sample->rtt_us;
	}
	if (state != TCP_CA_Open && state != TCP_CA_Disorder) {
		ca->round_packets = 0;
		ca->round_us = now_us;
		return;
	}
	ca->round_packets += sample->pkts_acked;
	elapsed_us = now_us - ca->round_us;
	if (ca->rtt_min_us && elapsed_us >= ca->rtt_min_us) {
		ca->rate_pps = div64_u64((u64)ca->round_packets * USEC_PER_SEC, elapsed_us);
		ca->round_packets = 0;
		ca->round_us = now_us;
	}
}

static struct tcp_congestion_ops htcp_2004 __read_mostly = {
	.init		= htcp_2004_init,
	.ssthresh	= htcp_2004_ssthresh,
	.cong_avoid	= htcp_2004_cong_avoid,
	.undo_cwnd	= htcp_2004_undo_cwnd,
	.pkts_acked	= htcp_2004_pkts_acked,
	.owner		= THIS_MODULE,
	.name		= "htcp_2004",
};

static int __init htcp_2004_register(void)
{
	BUILD_BUG_ON(sizeof(struct htcp_2004) > RECOVERY_STACK_BYTES);

	if (check_parameter("version", version, 1, 2) ||
	    check_parameter("rtt_scaling", rtt_scaling, 0, 1) ||
	    check_parameter("bandwidth_switch", bandwidth_switch, 0, 1) ||
	    check_parameter("delta_l_ms", delta_l_ms, 1, 100000))
		return -EINVAL;
	return recovery_register(&htcp_2004);
}

static void __exit htcp_2004_unregister(void)
{
	tcp_unregister_congestion_control(&htcp_2004);
}

module_init(htcp_2004_register);
module_exit(htcp_2004_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("H-TCP as published from 2004 to 2008, which counts ACKs");
