// SPDX-License-Identifier: GPL-2.0
/*
 * HighSpeed TCP, counting ACKs as Linux did in 2004.
 *
 * S. Floyd, "HighSpeed TCP for Large Congestion Windows", RFC 3649 (2003). The
 * patches of 2004 (T. Dunigan's for Linux 2.4.16, G. Fairey's) are not at hand;
 * this is the RFC's algorithm on the ACK counting of the kernels they patched.
 *
 * An ACK adds a(w)/w packets whatever it acknowledges, so with r segments per ACK
 * the window grows by a(w)/r packets per RTT. Mainline's tcp_highspeed counts ACKs
 * too, but rounds a(w) up, and packets in slow start.
 */

#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"
#include "hstcp.h"
#include "recovery.h"

static int max_ssthresh;
module_param(max_ssthresh, int, 0444);
MODULE_PARM_DESC(max_ssthresh,
		 "packets above which slow start is limited (RFC 3742: 100; 0: never)");

struct hstcp_2004 {
	u32 row;	/* of hstcp_rows, that of the last ACK or loss */
};

static void hstcp_2004_init(struct sock *sk)
{
	struct hstcp_2004 *ca = inet_csk_ca(sk);

	ca->row = 0;
}

static void hstcp_2004_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct hstcp_2004 *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!ack_window_was_full(tp, acked))
		return;
	if (hstcp_slow_start(tp, max_ssthresh))
		return;
	ca->row = hstcp_find_row(ca->row, tcp_snd_cwnd(tp));
	ack_gain(tp, hstcp_increase(ca->row));
}

static u32 hstcp_2004_ssthresh(struct sock *sk)
{
	struct hstcp_2004 *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	ca->row = hstcp_find_row(ca->row, cwnd);
	return hstcp_decreased(ca->row, cwnd);
}

static struct tcp_congestion_ops hstcp_2004 __read_mostly = {
	.init		= hstcp_2004_init,
	.ssthresh	= hstcp_2004_ssthresh,
	.cong_avoid	= hstcp_2004_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "hstcp_2004",
};

static int __init hstcp_2004_register(void)
{
	BUILD_BUG_ON(sizeof(struct hstcp_2004) > RECOVERY_STACK_BYTES);

	if (check_parameter("max_ssthresh", max_ssthresh, 0, 1 << 20))
		return -EINVAL;
	return recovery_register(&hstcp_2004);
}

static void __exit hstcp_2004_unregister(void)
{
	tcp_unregister_congestion_control(&hstcp_2004);
}

module_init(hstcp_2004_register);
module_exit(hstcp_2004_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("HighSpeed TCP, RFC 3649, counting ACKs");
