// SPDX-License-Identifier: GPL-2.0
/*
 * A congestion control that controls nothing: the window is what the parameter
 * says, from the first packet to the last, whatever is lost. So a flow whose
 * window the path can hold carries window / RTT, which is easy to check.
 *
 * An example of a module that farpath builds and runs; docs/how-to/own-stacks.md has
 * the commands.
 *
 * What farpath asks of a module: the file is tcp_<name>.c, <name> is also the
 * name in tcp_congestion_ops, and parameters are whole numbers or truth values
 * that sysfs shows (mode 0444), so that they can be read back.
 */

#include <linux/module.h>
#include <net/tcp.h>

#define LARGEST_WINDOW_PACKETS	1000000

static int window_packets __read_mostly = 100;
module_param(window_packets, int, 0444);
MODULE_PARM_DESC(window_packets, "packets on their way, 2 to 1000000");

static void fixed_init(struct sock *sk)
{
	tcp_snd_cwnd_set(tcp_sk(sk), window_packets);
}

/* The kernel calls this for every ACK, in place of what it does after losses */
static void fixed_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	tcp_snd_cwnd_set(tcp_sk(sk), window_packets);
}

static u32 fixed_ssthresh(struct sock *sk)
{
	return window_packets;
}

static u32 fixed_undo_cwnd(struct sock *sk)
{
	return window_packets;
}

static struct tcp_congestion_ops fixed __read_mostly = {
	.init		= fixed_init,
	.cong_control	= fixed_control,
	.ssthresh	= fixed_ssthresh,
	.undo_cwnd	= fixed_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "fixed",
};

static int __init fixed_register(void)
{
	if (window_packets < 2 || window_packets > LARGEST_WINDOW_PACKETS) {
		pr_err("tcp_fixed: window_packets is %d: it must be 2 to %d\n",
		       window_packets, LARGEST_WINDOW_PACKETS);
		return -EINVAL;
	}
	return tcp_register_congestion_control(&fixed);
}

static void __exit fixed_unregister(void)
{
	tcp_unregister_congestion_control(&fixed);
}

module_init(fixed_register);
module_exit(fixed_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A fixed congestion window");
