// SPDX-License-Identifier: GPL-2.0
/*
 * Reno as Linux 2.6.11 had it: the growth of reno_cong_avoid in its
 * net/ipv4/tcp_input.c, which counts ACKs. Algorithm: V. Jacobson, "Congestion
 * Avoidance and Control", SIGCOMM 1988; RFC 2581 (1999), whose 3.1 allows one
 * segment per ACK in slow start and 1/cwnd per ACK in avoidance.
 *
 * With r segments per ACK the window grows by 1/r packets per RTT in avoidance
 * and by the factor 1 + 1/r in slow start; mainline, which counts packets, grows
 * by 1 and by the factor 2 whatever r is.
 *
 * Loss recovery and retransmission are those of the kernel that loads this module.
 */

#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"
#include "recovery.h"

static int initial_ssthresh;
module_param(initial_ssthresh, int, 0444);
MODULE_PARM_DESC(initial_ssthresh, "where the first slow start ends, 0: at a loss");

/* What an earlier connection left in the route's cache, in Linux 2.4 and 2.6 */
static void reno_2004_init(struct sock *sk)
{
	if (initial_ssthresh)
		tcp_sk(sk)->snd_ssthresh = initial_ssthresh;
}

static void reno_2004_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!ack_window_was_full(tp, acked))
		return;
	if (!ack_slow_start(tp))
		ack_avoid(tp, tcp_snd_cwnd(tp));
}

static struct tcp_congestion_ops reno_2004 __read_mostly = {
	.init		= reno_2004_init,
	.ssthresh	= tcp_reno_ssthresh,	/* half, RFC 2581 equation 3 */
	.cong_avoid	= reno_2004_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "reno_2004",
};

static int __init reno_2004_register(void)
{
	if (check_parameter("initial_ssthresh", initial_ssthresh, 0, 1 << 20))
		return -EINVAL;
	return recovery_register(&reno_2004);
}

static void __exit reno_2004_unregister(void)
{
	tcp_unregister_congestion_control(&reno_2004);
}

module_init(reno_2004_register);
module_exit(reno_2004_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reno of Linux 2.6.11, which counts ACKs");
