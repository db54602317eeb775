// SPDX-License-Identifier: GPL-2.0
/*
 * LTCP, Layered TCP, in both published forms: S. Bhandarkar, S. Jain,
 * A. L. N. Reddy, draft-bhandarkar-ltcp-00 (February 2004) and -01 (August 2004).
 *
 * A flow has K layers while W_K <= cwnd < W_(K+1), with W_1 = 0 and W_2 = W_T.
 *
 *   each ACK   cwnd += K / cwnd, then K + 1 layers once cwnd reaches W_(K+1)
 *   a loss     cwnd -= beta * cwnd, then K - 1 layers if cwnd < W_K: one at most
 *
 *                    variant 0: -00              variant 1: -01
 *   W_K              step from W_K to W_(K+1)    K (K + 1) (K - 1) / 6 * W_T
 *                    alpha^(K-1) * W_T
 *   beta             (1 - 1 / alpha) / 2 = 0.2   0.15
 *                    for alpha = 5/3
 *   table 1, W_T=50  50 133.3 272.2 503.7 ...    50 200 500 1000 1750 ...
 *
 * With K = 1 LTCP is Reno "in all respects", so it halves. Slow start is not
 * changed: a flow in it has one layer, and takes the layers of its window when it
 * leaves. The drafts print "cwnd = K/cwnd" for the increase; their text has it as
 * here. Both name the order of loss and layers only for packet loss: after a
 * timeout, which comes through the same function of the kernel, ssthresh is that
 * of a loss, and the slow start that follows begins with one layer.
 *
 * The authors' Linux 2.4 code is not available; that it counted ACKs follows from
 * "K/cwnd for each incoming ack".
 */

#include <linux/math64.h>
#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"
#include "recovery.h"

static int variant = 1;
module_param(variant, int, 0444);
MODULE_PARM_DESC(variant, "0: draft -00 of February 2004, 1: draft -01 of August 2004");

static int window_threshold = 50;	/* W_T, section 4.1 of both drafts */
module_param(window_threshold, int, 0444);
MODULE_PARM_DESC(window_threshold, "W_T: Reno below this window, in packets");

static int beta_percent;
module_param(beta_percent, int, 0444);
MODULE_PARM_DESC(beta_percent, "decrease by a loss; 0: the variant's own, 20 or 15");

/* The variants' own beta, section 4.2 of -00 and 4.3 of -01 */
static const int published_beta_percent[] = { 20, 15 };

static u32 decrease_percent __read_mostly;	/* the one in force */

#define STEP_SHIFT 16	/* variant 0: steps between layers are kept in 2^-16 packets */

struct ltcp {
	u32 layers;	/* K; 0 in slow start */
	u32 lower;	/* W_K, packets */
	u32 upper;	/* W_(K+1), packets */
};

/*
 * W_K of variant 0: the sum of the first K - 1 steps, each 1 / (1 - 2 beta) times
 * the one before. Steps stay below 2^54 (beta is 49 % at most), so nothing
 * overflows before the sum is cut off.
 */
static u32 geometric_window(u32 layers)
{
	u64 step = (u64)window_threshold << STEP_SHIFT, sum = 0;

	while (--layers) {
		sum += step;
		if (sum >= (u64)U32_MAX << STEP_SHIFT)
			return U32_MAX;
		step = div_u64(step * 100, 100 - 2 * decrease_percent);
	}
	return (sum + (1 << STEP_SHIFT) - 1) >> STEP_SHIFT;
}

/* W_K of variant 1; K is below 200 for windows up to 2^20 packets */
static u32 cubic_window(u32 layers)
{
	u64 k = layers;

	return min_t(u64, div_u64(k * (k + 1) * (k - 1), 6) * window_threshold, U32_MAX);
}

/* The least whole window that has @layers layers; U32_MAX stands for all above it */
static u32 layer_window(u32 layers)
{
	return variant ? cubic_window(layers) : geometric_window(layers);
}

static void set_layers(struct ltcp *ca, u32 layers)
{
	ca->layers = layers;
	ca->lower = layer_window(layers);
	ca->upper = layer_window(layers + 1);
}

static void ltcp_init(struct sock *sk)
{
	struct ltcp *ca = inet_csk_ca(sk);

	memset(ca, 0, sizeof(*ca));
}

static void ltcp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ltcp *ca = inet_csk_ca(sk);

	if (!ack_window_was_full(tp, acked))
		return;
	/* Below ssthresh, not at it: recovery from a loss ends at ssthresh */
	if (tcp_snd_cwnd(tp) < tp->snd_ssthresh)
		ca->layers = 0;
	if (ack_slow_start(tp))
		return;

	if (!ca->layers)
		set_layers(ca, 1);
	while (tcp_snd_cwnd(tp) >= ca->upper)
		set_layers(ca, ca->layers + 1);
	if (ca->layers == 1)
		ack_avoid(tp, tcp_snd_cwnd(tp));
	else
		ack_gain(tp, ca->layers);
}

static u32 ltcp_ssthresh(struct sock *sk)
{
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));
	struct ltcp *ca = inet_csk_ca(sk);

	if (ca->layers <= 1)
		return tcp_reno_ssthresh(sk);
	cwnd -= cwnd * decrease_percent / 100;	/* below 2^26 for cwnd of 2^20 */
	if (cwnd < ca->lower)
		set_layers(ca, ca->layers - 1);
	return max(cwnd, 2U);
}

static void ltcp_state(struct sock *sk, u8 new_state)
{
	struct ltcp *ca = inet_csk_ca(sk);

	if (new_state == TCP_CA_Loss)
		ca->layers = 0;
}

static struct tcp_congestion_ops ltcp __read_mostly = {
	.init		= ltcp_init,
	.ssthresh	= ltcp_ssthresh,
	.cong_avoid	= ltcp_cong_avoid,
	.set_state	= ltcp_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "ltcp",
};

static int __init ltcp_register(void)
{
	BUILD_BUG_ON(sizeof(struct ltcp) > RECOVERY_STACK_BYTES);

	if (check_parameter("variant", variant, 0, 1) ||
	    check_parameter("window_threshold", window_threshold, 1, 100000) ||
	    check_parameter("beta_percent", beta_percent, 0, 49))
		return -EINVAL;
	/* alpha > 1.5, without which flows do not converge: -00, section 4.2 */
	if (!variant && beta_percent && check_parameter("beta_percent", beta_percent, 17, 49))
		return -EINVAL;
	decrease_percent = beta_percent ?: published_beta_percent[variant];
	return recovery_register(&ltcp);
}

static void __exit ltcp_unregister(void)
{
	tcp_unregister_congestion_control(&ltcp);
}

module_init(ltcp_register);
module_exit(ltcp_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LTCP, Layered TCP, of both drafts of 2004");
