// SPDX-License-Identifier: GPL-2.0
/*
 * Reno whose window ends at a number of packets, as a module for Linux 3.10 has it. Beyond the
 * number of packets it also ends what is not as the older interfaces say it is.
 */
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int most_packets = 30;
module_param(most_packets, uint, 0444);

struct of_3_10 {
	struct skb_mstamp begun;
	u32 begun_stamp;
	u32 packets;
	s32 rtt_us;
};

static void of_3_10_init(struct sock *sk)
{
	struct of_3_10 *ca = inet_csk_ca(sk);

	skb_mstamp_get(&ca->begun);
	ca->begun_stamp = tcp_time_stamp;
	ca->packets = 0;
	ca->rtt_us = -1;
}

static void of_3_10_acked(struct sock *sk, u32 packets, s32 rtt_us)
{
	struct of_3_10 *ca = inet_csk_ca(sk);

	ca->packets += packets;
	if (rtt_us > 0)
		ca->rtt_us = rtt_us;
}

static void of_3_10_avoid(struct sock *sk, u32 ack, u32 in_flight)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct of_3_10 *ca = inet_csk_ca(sk);
	struct skb_mstamp now;

	skb_mstamp_get(&now);
	if (!ca->packets || ca->rtt_us < 0 || in_flight > tp->snd_cwnd || get_seconds() < 1 ||
	    skb_mstamp_us_delta(&now, &ca->begun) < ca->rtt_us ||
	    (u32)(now.stamp_jiffies - ca->begun.stamp_jiffies) >
		    tcp_time_stamp - ca->begun_stamp + 1)
		return;
	if (!tcp_is_cwnd_limited(sk, in_flight) || ACCESS_ONCE(tp->snd_cwnd) >= most_packets)
		return;
	if (tp->snd_cwnd <= tp->snd_ssthresh)
		tcp_slow_start(tp);
	else
		tcp_cong_avoid_ai(tp, tp->snd_cwnd);
	tp->snd_cwnd = min(tp->snd_cwnd, most_packets);
}

u32 of_3_10_ssthresh(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd >> 1U, 2U);
}
EXPORT_SYMBOL_GPL(of_3_10_ssthresh);

static struct tcp_congestion_ops of_3_10 = {
	.flags		= TCP_CONG_RTT_STAMP,
	.init		= of_3_10_init,
	.ssthresh	= of_3_10_ssthresh,
	.min_cwnd	= tcp_reno_min_cwnd,
	.cong_avoid	= of_3_10_avoid,
	.pkts_acked	= of_3_10_acked,
	.owner		= THIS_MODULE,
	.name		= "of_3_10"
};

static int __init of_3_10_register(void)
{
	return tcp_register_congestion_control(&of_3_10);
}

static void __exit of_3_10_unregister(void)
{
	tcp_unregister_congestion_control(&of_3_10);
}

module_init(of_3_10_register);
module_exit(of_3_10_unregister);
MODULE_LICENSE("GPL");
