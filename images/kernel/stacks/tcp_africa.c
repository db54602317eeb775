// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-Africa: HighSpeed TCP while the path has no queue, Reno once it has.
 *
 * R. King, R. Baraniuk, R. Riedi, "TCP-Africa: An Adaptive and Fair Rapid Increase
 * Rule for Scalable TCP", INFOCOM 2005, pp. 1838-1848.
 *
 *   W (aRTT - minRTT) / aRTT < alpha: fast mode, increase a(W), decrease b(W)
 *   else:                             slow mode, increase 1, decrease 1/2
 *
 * The left side is the flow's own share of the queue in packets. The two modes and
 * what moves a flow between them are in the paper's abstract. The rule above, its
 * alpha of 1.641 packets, and 1/8 as the weight of a sample in aRTT are not
 * verified: the paper's text was not at hand. Nor is the decrease in slow mode,
 * which here is Reno's, as "falls back to TCP-Reno" has it; slow_halves=0 gives it
 * b(W) too.
 *
 * Growth counts ACKs as in 2004. Bounds: cwnd up to 2^20 packets, RTT up to 10 s
 * (< 2^24 us); the test of the mode stays below 2^20 * 2^24 * 1000 < 2^54.
 */

#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"
#include "hstcp.h"
#include "recovery.h"

#define AFRICA_RTT_SHIFT 3	/* aRTT = 7/8 aRTT + 1/8 sample; not verified */

static int alpha_milli = 1641;	/* not verified */
module_param(alpha_milli, int, 0444);
MODULE_PARM_DESC(alpha_milli, "queue at which slow mode begins, packets / 1000");

static int slow_halves = 1;
module_param(slow_halves, int, 0444);
MODULE_PARM_DESC(slow_halves, "decrease in slow mode: 1 for half, 0 for b(W)");

struct africa {
	u32 min_rtt_us;		/* least sample of the connection; 0: none yet */
	u32 avg_rtt_scaled;	/* aRTT << AFRICA_RTT_SHIFT, us */
	u32 row;		/* of hstcp_rows */
};

static void africa_init(struct sock *sk)
{
	struct africa *ca = inet_csk_ca(sk);

	memset(ca, 0, sizeof(*ca));
}

static void africa_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct africa *ca = inet_csk_ca(sk);
	u32 rtt_us = sample->rtt_us;

	if (sample->rtt_us <= 0)
		return;
	if (!ca->min_rtt_us) {
		ca->min_rtt_us = rtt_us;
		ca->avg_rtt_scaled = rtt_us << AFRICA_RTT_SHIFT;
		return;
	}
	ca->min_rtt_us = min(ca->min_rtt_us, rtt_us);
	ca->avg_rtt_scaled += rtt_us - (ca->avg_rtt_scaled >> AFRICA_RTT_SHIFT);
}

static bool africa_is_fast(const struct africa *ca, u32 cwnd)
{
	u64 avg_us = ca->avg_rtt_scaled >> AFRICA_RTT_SHIFT;
	u64 queue_us = avg_us > ca->min_rtt_us ? avg_us - ca->min_rtt_us : 0;

	return cwnd * queue_us * 1000 < alpha_milli * avg_us;
}

static void africa_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct africa *ca = inet_csk_ca(sk);

	if (!ack_window_was_full(tp, acked))
		return;
	if (ack_slow_start(tp))
		return;
	ca->row = hstcp_find_row(ca->row, tcp_snd_cwnd(tp));
	ack_gain(tp, africa_is_fast(ca, tcp_snd_cwnd(tp)) ? hstcp_increase(ca->row) : 1);
}

static u32 africa_ssthresh(struct sock *sk)
{
	struct africa *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	if (slow_halves && !africa_is_fast(ca, cwnd))
		return max(cwnd / 2, 2U);
	ca->row = hstcp_find_row(ca->row, cwnd);
	return hstcp_decreased(ca->row, cwnd);
}

static struct tcp_congestion_ops africa __read_mostly = {
	.init		= africa_init,
	.ssthresh	= africa_ssthresh,
	.cong_avoid	= africa_cong_avoid,
	.pkts_acked	= africa_pkts_acked,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "africa",
};

static int __init africa_register(void)
{
	BUILD_BUG_ON(sizeof(struct africa) > RECOVERY_STACK_BYTES);

	if (check_parameter("alpha_milli", alpha_milli, 1, 1000000) ||
	    check_parameter("slow_halves", slow_halves, 0, 1))
		return -EINVAL;
	return recovery_register(&africa);
}

static void __exit africa_unregister(void)
{
	tcp_unregister_congestion_control(&africa);
}

module_init(africa_register);
module_exit(africa_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP-Africa, King, Baraniuk, Riedi 2005");
