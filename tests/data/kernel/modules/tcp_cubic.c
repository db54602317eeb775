// SPDX-License-Identifier: GPL-2.0
/* A window of 20 packets, under the name of a stack that Linux has itself. */
#include <linux/module.h>
#include <net/tcp.h>

#define NAME "cubic"

static void cubic_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_snd_cwnd_set(tcp_sk(sk), 20);
}

static struct tcp_congestion_ops cubic = {
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= cubic_avoid,
	.owner		= THIS_MODULE,
	.name		= NAME,
};

static int __init cubic_register(void)
{
	return tcp_register_congestion_control(&cubic);
}

static void __exit cubic_unregister(void)
{
	tcp_unregister_congestion_control(&cubic);
}

module_init(cubic_register);
module_exit(cubic_unregister);
MODULE_LICENSE("GPL");
