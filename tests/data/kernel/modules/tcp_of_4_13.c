// SPDX-License-Identifier: GPL-2.0
/*
 * A window of a fixed number of packets, as a module for Linux 4.13 to 6.9 sets it: its
 * cong_control has two arguments. Until the connection has begun to send, which cwnd_event says, the
 * window is one packet.
 */
#define pr_fmt(fmt) "of_4_13: " fmt

#include <linux/module.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/random.h>
#include <net/tcp.h>

static unsigned int window_packets = 40;
module_param(window_packets, uint, 0444);

struct of_4_13 {
	u32 window;
};

static void of_4_13_init(struct sock *sk)
{
	struct of_4_13 *ca = inet_csk_ca(sk);

	ca->window = 1;
}

static void of_4_13_main(struct sock *sk, const struct rate_sample *rs)
{
	struct of_4_13 *ca = inet_csk_ca(sk);

	if (rs->acked_sacked)
		tcp_sk(sk)->snd_cwnd = ca->window + prandom_u32_max(1);
}

static void of_4_13_event(struct sock *sk, enum tcp_ca_event event)
{
	struct of_4_13 *ca = inet_csk_ca(sk);

	if (event == CA_EVENT_TX_START)
		ca->window = window_packets;
}

static u32 of_4_13_tso_segs_goal(struct sock *sk)
{
	return tcp_tso_autosize(sk, tcp_sk(sk)->mss_cache, 2);
}

static u32 of_4_13_window(struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

/* A function of Linux's own has this name */
static u32 tcp_slow_start(struct sock *sk)
{
	return of_4_13_window(sk);
}

static struct tcp_congestion_ops of_4_13 __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "of_4_13",
	.owner		= THIS_MODULE,
	.init		= of_4_13_init,
	.cong_control	= of_4_13_main,
	.undo_cwnd	= of_4_13_window,
	.cwnd_event	= of_4_13_event,
	.ssthresh	= tcp_slow_start,
	.tso_segs_goal	= of_4_13_tso_segs_goal,
};

BTF_SET8_START(of_4_13_ids)
BTF_ID_FLAGS(func, of_4_13_init)
BTF_SET8_END(of_4_13_ids)

static const struct btf_kfunc_id_set of_4_13_set = {
	.owner = THIS_MODULE,
	.set = &of_4_13_ids,
};

static int __init of_4_13_register(void)
{
	int status = register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &of_4_13_set);

	return status < 0 ? status : tcp_register_congestion_control(&of_4_13);
}

static void __exit of_4_13_unregister(void)
{
	tcp_unregister_congestion_control(&of_4_13);
}

module_init(of_4_13_register);
module_exit(of_4_13_unregister);
MODULE_LICENSE("GPL");
