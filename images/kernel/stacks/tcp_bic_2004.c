// SPDX-License-Identifier: GPL-2.0
/*
 * BIC as published, counted per ACK: L. Xu, K. Harfoush, I. Rhee, "Binary Increase
 * Congestion Control (BIC) for Fast Long-Distance Networks", INFOCOM 2004.
 *
 * Each ACK adds s / cwnd packets, where
 *
 *   below the last maximum   s = (maximum - cwnd) / 2, the way to the midpoint of
 *                            cwnd and maximum, in Smin..Smax: binary search, or
 *                            additive increase where Smax is the smaller
 *   from there on            s = 1, 2, 4, ... up to Smax, each until it has added
 *                            itself: max probing, then additive increase
 *   no maximum known         s = Smax
 *
 * A loss takes beta * cwnd. The maximum is the window at the loss or, if that is
 * below the maximum before, the midpoint of the window before and after the
 * decrease: fast convergence. Up to low_window BIC is Reno.
 *
 * The algorithm and its constants are given from memory of the paper and agree
 * with two programs written from it (UDT's CBiCTCP of 2005; for low_window and
 * Smax also Linux). Printed pseudo-code sets the maximum to a large number while
 * it probes, which makes every loss after that look like one below the maximum
 * before; here, as in Linux, the last window at a loss is kept for that.
 *
 * Linux differs. Up to 2.6.10, fast convergence took 15/4 instead of 15/16 of cwnd
 * as the maximum, for 1 / beta = 8, so that the search became additive increase
 * far beyond it (Y.-T. Li, "BicTCP Implementation Bug", linux-kernel, 21 February
 * 2005); 2.6.11 mended that. All versions, today's too, aim at a quarter of the
 * way instead of the midpoint (BICTCP_B is 4), have a last part of fixed length
 * instead of Smin, and recompute the step at most 32 times a second while cwnd
 * stays. Today's has beta = 0.2, Smax = 16, and counts packets.
 */

#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"
#include "recovery.h"

static int smax = 32;
module_param(smax, int, 0444);
MODULE_PARM_DESC(smax, "largest increase, in packets per window of ACKs");

static int smin_hundredths = 1;		/* 0.01 */
module_param(smin_hundredths, int, 0444);
MODULE_PARM_DESC(smin_hundredths, "smallest step of the search, in 1/100 packets");

static int beta_thousandths = 125;
module_param(beta_thousandths, int, 0444);
MODULE_PARM_DESC(beta_thousandths, "part of the window that a loss takes, in 1/1000");

static int low_window = 14;
module_param(low_window, int, 0444);
MODULE_PARM_DESC(low_window, "Reno up to this window, in packets");

static int fast_convergence = 1;
module_param(fast_convergence, int, 0444);
MODULE_PARM_DESC(fast_convergence, "1: lower the maximum after a loss below it, 0: do not");

#define SCALE 1024	/* steps and windows in 1/1024 packets: 2^30 for cwnd of 2^20 */

struct bic_2004 {
	u32 maximum;		/* window at the last loss, packets; 0: none yet */
	u32 credit;		/* what ACKs have added: 1 / (1024 * cwnd) packets */
	u32 probe_step;		/* step of max probing, packets; 0: not probing */
	u32 probe_target;	/* window that doubles it, packets */
};

static void bic_2004_init(struct sock *sk)
{
	struct bic_2004 *ca = inet_csk_ca(sk);

	memset(ca, 0, sizeof(*ca));
}

/* Max probing: the step for the window that begins at @cwnd, in packets */
static u32 probe_step(struct bic_2004 *ca, u32 cwnd)
{
	if (!ca->probe_step) {
		ca->probe_step = 1;
		ca->probe_target = cwnd + 1;
	} else if (ca->probe_step < smax && cwnd >= ca->probe_target) {
		ca->probe_step = min_t(u32, 2 * ca->probe_step, smax);
		ca->probe_target = cwnd + ca->probe_step;
	}
	return ca->probe_step;
}

/* What a window of ACKs adds at @cwnd packets, in 1/1024 packets */
static u32 step(struct bic_2004 *ca, u32 cwnd)
{
	u32 distance;

	if (!ca->maximum)
		return smax * SCALE;
	if (cwnd >= ca->maximum)
		return probe_step(ca, cwnd) * SCALE;
	distance = (ca->maximum - cwnd) * SCALE - ca->credit / cwnd;
	return clamp_t(u32, distance / 2, smin_hundredths * SCALE / 100, smax * SCALE);
}

static void bic_2004_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bic_2004 *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	if (!ack_window_was_full(tp, acked) || ack_slow_start(tp))
		return;
	if (cwnd <= low_window) {
		ack_avoid(tp, cwnd);
		return;
	}
	/* One packet per ACK at most: no faster than slow start */
	ca->credit += min(step(ca, cwnd), cwnd * SCALE);
	if (ca->credit >= cwnd * SCALE) {
		ca->credit -= cwnd * SCALE;
		ack_grow(tp);
	}
}

static u32 bic_2004_ssthresh(struct sock *sk)
{
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));
	struct bic_2004 *ca = inet_csk_ca(sk);
	u32 reduction = cwnd * beta_thousandths / 1000;	/* 2^30 at most */

	ca->credit = 0;
	ca->probe_step = 0;
	if (cwnd < ca->maximum && fast_convergence)
		ca->maximum = cwnd - reduction / 2;
	else
		ca->maximum = cwnd;
	if (cwnd <= low_window)
		return tcp_reno_ssthresh(sk);
	return max(cwnd - reduction, 2U);
}

static struct tcp_congestion_ops bic_2004 __read_mostly = {
	.init		= bic_2004_init,
	.ssthresh	= bic_2004_ssthresh,
	.cong_avoid	= bic_2004_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "bic_2004",
};

static int __init bic_2004_register(void)
{
	BUILD_BUG_ON(sizeof(struct bic_2004) > RECOVERY_STACK_BYTES);

	if (check_parameter("smax", smax, 1, 10000) ||
	    check_parameter("smin_hundredths", smin_hundredths, 1, 100) ||
	    check_parameter("beta_thousandths", beta_thousandths, 1, 500) ||
	    check_parameter("low_window", low_window, 0, 10000) ||
	    check_parameter("fast_convergence", fast_convergence, 0, 1))
		return -EINVAL;
	return recovery_register(&bic_2004);
}

static void __exit bic_2004_unregister(void)
{
	tcp_unregister_congestion_control(&bic_2004);
}

module_init(bic_2004_register);
module_exit(bic_2004_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("BIC as published in 2004, which counts ACKs");
