// SPDX-License-Identifier: GPL-2.0
/* A window of a number of packets that window.c calculates. */
#include <linux/module.h>
#include <net/tcp.h>
#include "tcp_dctcp.h"
#include "window.h"

static void two_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_snd_cwnd_set(tcp_sk(sk), two_window());
}

static struct tcp_congestion_ops two = {
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= two_avoid,
	.owner		= THIS_MODULE,
	.name		= "two",
};

static int __init two_register(void)
{
	return tcp_register_congestion_control(&two);
}

static void __exit two_unregister(void)
{
	tcp_unregister_congestion_control(&two);
}

module_init(two_register);
module_exit(two_unregister);
MODULE_LICENSE("GPL");
