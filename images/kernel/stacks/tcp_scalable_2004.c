// SPDX-License-Identifier: GPL-2.0
/*
 * Scalable TCP, counted per ACK as published: T. Kelly, "Scalable TCP: Improving
 * Performance in Highspeed Wide Area Networks", ACM Computer Communication Review
 * 33(2), April 2003.
 *
 *   each ACK        cwnd += a                 a = 0.01
 *   each loss       cwnd -= b * cwnd          b = 0.125
 *   up to the legacy window: Reno, increase and decrease
 *
 * a and b are those that mainline's net/ipv4/tcp_scalable.c cites. The legacy
 * window of 16 packets is Kelly's from memory, not verified against the paper;
 * UDT's CScalableTCP of 2005 has 38. From there to 100 packets, a per ACK is less
 * than Reno's 1 / cwnd: that is the published rule, which mainline replaces by
 * max(a, 1 / cwnd). Mainline counts packets, so with delayed ACKs it grows as fast
 * again as this module; from 2005 to 2020 it counted ACKs with a = 1/50.
 */

#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"
#include "recovery.h"

static int increase_acks = 100;		/* 1 / a */
module_param(increase_acks, int, 0444);
MODULE_PARM_DESC(increase_acks, "ACKs that add one packet, 1 / a");

static int decrease_shift = 3;		/* b = 2^-3 */
module_param(decrease_shift, int, 0444);
MODULE_PARM_DESC(decrease_shift, "a loss takes cwnd / 2^decrease_shift");

static int legacy_window = 16;
module_param(legacy_window, int, 0444);
MODULE_PARM_DESC(legacy_window, "Reno up to this window, in packets");

static void scalable_2004_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!ack_window_was_full(tp, acked) || ack_slow_start(tp))
		return;
	if (tcp_snd_cwnd(tp) <= legacy_window)
		ack_avoid(tp, tcp_snd_cwnd(tp));
	else	/* the last of the ACKs is the one that adds */
		ack_avoid(tp, increase_acks - 1);
}

static u32 scalable_2004_ssthresh(struct sock *sk)
{
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	if (cwnd <= legacy_window)
		return tcp_reno_ssthresh(sk);
	return max(cwnd - (cwnd >> decrease_shift), 2U);
}

static struct tcp_congestion_ops scalable_2004 __read_mostly = {
	.ssthresh	= scalable_2004_ssthresh,
	.cong_avoid	= scalable_2004_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "scalable_2004",
};

static int __init scalable_2004_register(void)
{
	if (check_parameter("increase_acks", increase_acks, 1, 10000) ||
	    check_parameter("decrease_shift", decrease_shift, 1, 10) ||
	    check_parameter("legacy_window", legacy_window, 0, 10000))
		return -EINVAL;
	return recovery_register(&scalable_2004);
}

static void __exit scalable_2004_unregister(void)
{
	tcp_unregister_congestion_control(&scalable_2004);
}

module_init(scalable_2004_register);
module_exit(scalable_2004_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Scalable TCP as published in 2003, which counts ACKs");
