// SPDX-License-Identifier: GPL-2.0
/*
 * HSTCP-LP: HighSpeed TCP that yields, by TCP-LP's early inference of congestion.
 *
 * A. Kuzmanovic, E. Knightly, R. L. Cottrell, "HSTCP-LP: A Protocol for Low-Priority
 * Bulk Data Transfer in High-Speed High-RTT Networks", PFLDnet 2004: TCP-LP with
 * HighSpeed TCP's increase. TCP-LP: A. Kuzmanovic, E. Knightly, "TCP-LP: A
 * Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003; surveyed
 * in RFC 6297. HighSpeed TCP: RFC 3649.
 *
 *   delay       one-way delay d by an ACK's timestamps, smoothed with weight 1/8
 *   indication  smoothed d > d_min + 0.15 (d_max - d_min)
 *   first       the window halves; inference phase of 3 RTT, the window held
 *   in it       a further indication sets the window to 1 packet
 *   otherwise   the window grows by HighSpeed TCP's a(w), never by slow start
 *
 * Checked against mainline's tcp_lp (Linux 7.2): the constants 1/8, 0.15, 3 and the
 * reactions half and 1. From that module this one differs in keeping d_min and d_max
 * for the connection, where mainline sets them anew at each indication; in not going
 * back to slow start after one; and in not guessing the other end's clock rate: its
 * timestamps must count milliseconds, as Linux's do.
 *
 * Not known of the original, a patch of Linux 2.4, as neither it nor the papers'
 * texts were at hand: by how much an indication decreases the window (here TCP-LP's
 * half, early_decrease_percent) and what a lost packet does (here HighSpeed TCP's
 * b(w)). Decided here:
 *  - No indication counts in the first slow start while the window limits the flow:
 *    d_max is first known when that has filled the buffer or the receiver's window.
 *  - Nor while the packets acknowledged were sent before the last decrease or during
 *    recovery, or each decrease would be followed by a second one.
 *  - An ACK that the receiver held back looks like a long delay. TSval - TSecr, which
 *    TCP-LP takes, counts from the first packet that an ACK covers, and so has the
 *    wait for the second in it: a flow of few packets never grew. Here d counts from
 *    when the last packet covered was sent, and is the lesser of two ACKs in a row,
 *    as one may be of a packet for which no second came; and a window of one packet,
 *    of which each ACK may be held, is not measured.
 *  - What an indication halves is what is in flight (RFC 2581's FlightSize) where that
 *    is less than cwnd: half of a cwnd that has grown past the receiver's window would
 *    leave the queue as it is, and the next indication would set it to 1.
 *  - Two samples of one delay can differ by a tick of the clocks that the timestamps
 *    count: an indication also takes more than a tick above d_min.
 *
 * Two things of the original's time can be had. Linux 2.4 counted timestamps in ticks
 * of 10 ms: tick_ms 10 rounds what both ends' clocks show. And TCP-LP's authors, in the
 * module that they gave to Linux 2.6 (net/ipv4/tcp_lp.c), forget the range of delays
 * at an indication: with range_reset it begins anew from the smoothed delay. Theirs
 * ends at twice that delay, which counts from the difference of two hosts' clocks and
 * so from anywhere; here it ends where it begins, until a longer delay is met.
 *
 * Bounds: cwnd up to 2^20 packets; delays in 64 bits; RTT up to 10 s.
 */

#include <linux/math64.h>
#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"
#include "hstcp.h"
#include "recovery.h"

#define LP_SCALE 1024	/* of the smoothed delay, per ms */
#define LP_STALE_ACKS 2	/* the first ACK past a decrease may echo a packet before it */

static int smoothing = 8;
module_param(smoothing, int, 0444);
MODULE_PARM_DESC(smoothing, "weight of a sample in the one-way delay, its inverse");

static int threshold_percent = 15;
module_param(threshold_percent, int, 0444);
MODULE_PARM_DESC(threshold_percent, "delay that indicates congestion, of the range seen");

static int inference_rtts = 3;
module_param(inference_rtts, int, 0444);
MODULE_PARM_DESC(inference_rtts, "length of the inference phase");

static int early_decrease_percent = 50;
module_param(early_decrease_percent, int, 0444);
MODULE_PARM_DESC(early_decrease_percent, "decrease at the first indication");

static int tick_ms = 1;
module_param(tick_ms, int, 0444);
MODULE_PARM_DESC(tick_ms, "tick of the clocks that timestamps count");

static int range_reset;
module_param(range_reset, int, 0444);
MODULE_PARM_DESC(range_reset, "whether an indication makes the range of delays begin anew");

static int max_ssthresh;
module_param(max_ssthresh, int, 0444);
MODULE_PARM_DESC(max_ssthresh,
		 "packets above which slow start is limited (RFC 3742: 100; 0: never)");

struct hstcp_lp {
	u64 inference_end_us;	/* by tcp_mstamp */
	s64 delay_smoothed;	/* ms * LP_SCALE above that of the first sample */
	s32 delay_min;		/* ms above that of the first sample */
	s32 delay_max;
	s32 delay_before;	/* that of the ACK before, not yet the lesser of two */
	u32 first_received_ms;	/* the first sample, by two clocks */
	u32 first_sent_ms;
	u32 decrease_seq;	/* snd_nxt when the last decrease was complete */
	u32 row;		/* of hstcp_rows */
	u8 stale_acks;		/* ACKs past decrease_seq still to come */
	bool has_sample;
};

static void hstcp_lp_init(struct sock *sk)
{
	struct hstcp_lp *ca = inet_csk_ca(sk);

	memset(ca, 0, sizeof(*ca));
}

/* Delays count again once what is sent from now on comes back */
static void hstcp_lp_decreased(struct sock *sk)
{
	struct hstcp_lp *ca = inet_csk_ca(sk);

	ca->decrease_seq = tcp_sk(sk)->snd_nxt;
	ca->stale_acks = LP_STALE_ACKS;
}

static void hstcp_lp_smooth(struct sock *sk, s64 delay)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hstcp_lp *ca = inet_csk_ca(sk);

	if (ca->stale_acks) {
		if (!after(tp->snd_una, ca->decrease_seq) || --ca->stale_acks)
			return;
		ca->delay_smoothed = delay * LP_SCALE;
	}
	ca->delay_smoothed += div_s64(delay * LP_SCALE - ca->delay_smoothed, smoothing);
}

static void hstcp_lp_measure(struct sock *sk, u32 rtt_us)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hstcp_lp *ca = inet_csk_ca(sk);
	u32 sent_ms = div_u64(tp->tcp_mstamp - rtt_us, USEC_PER_MSEC);
	u32 received_ms = tp->rx_opt.rcv_tsval;
	s32 latest, delay;

	if (!ca->has_sample) {
		ca->has_sample = true;
		ca->first_received_ms = received_ms;
		ca->first_sent_ms = sent_ms;
	}
	/* Ticks of both clocks begin with the first sample */
	latest = (s32)(received_ms - ca->first_received_ms) / tick_ms -
		 (s32)(sent_ms - ca->first_sent_ms) / tick_ms;
	latest *= tick_ms;
	delay = min(latest, ca->delay_before);
	ca->delay_before = latest;
	ca->delay_min = min(ca->delay_min, delay);
	ca->delay_max = max(ca->delay_max, delay);
	hstcp_lp_smooth(sk, delay);
}

static bool hstcp_lp_indicates(const struct hstcp_lp *ca)
{
	s64 range = (s64)ca->delay_max - ca->delay_min;
	s64 above = ca->delay_smoothed - (s64)ca->delay_min * LP_SCALE;

	return above > LP_SCALE * tick_ms && above * 100 > range * LP_SCALE * threshold_percent;
}

static bool hstcp_lp_infers(const struct sock *sk)
{
	const struct hstcp_lp *ca = inet_csk_ca(sk);

	return tcp_sk(sk)->tcp_mstamp < ca->inference_end_us;
}

static void hstcp_lp_yield(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hstcp_lp *ca = inet_csk_ca(sk);
	u32 cwnd = min(tcp_snd_cwnd(tp), max(tcp_packets_in_flight(tp), 2U));

	cwnd = hstcp_lp_infers(sk) ? 1 : cwnd - cwnd * early_decrease_percent / 100;
	cwnd = max(cwnd, 1U);
	tcp_snd_cwnd_set(tp, cwnd);
	tp->snd_cwnd_cnt = 0;
	tp->snd_ssthresh = max(cwnd, 2U);
	if (range_reset) {
		ca->delay_min = div_s64(ca->delay_smoothed, LP_SCALE);
		ca->delay_max = ca->delay_min;
	}
	ca->inference_end_us = tp->tcp_mstamp + (u64)inference_rtts * (tp->srtt_us >> 3);
	hstcp_lp_decreased(sk);
}

static void hstcp_lp_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hstcp_lp *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0 || inet_csk(sk)->icsk_ca_state != TCP_CA_Open)
		return;
	if (!tp->rx_opt.saw_tstamp || !tp->rx_opt.rcv_tsecr || tcp_snd_cwnd(tp) < 2)
		return;
	hstcp_lp_measure(sk, sample->rtt_us);
	if (tcp_in_initial_slowstart(tp) && tcp_is_cwnd_limited(sk))
		return;
	if (ca->stale_acks)
		return;
	if (hstcp_lp_indicates(ca))
		hstcp_lp_yield(sk);
}

static void hstcp_lp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hstcp_lp *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk) || hstcp_lp_infers(sk))
		return;
	if (hstcp_slow_start(tp, max_ssthresh))
		return;
	ca->row = hstcp_find_row(ca->row, tcp_snd_cwnd(tp));
	ack_gain(tp, hstcp_increase(ca->row));
}

static u32 hstcp_lp_ssthresh(struct sock *sk)
{
	struct hstcp_lp *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	ca->row = hstcp_find_row(ca->row, cwnd);
	return hstcp_decreased(ca->row, cwnd);
}

static void hstcp_lp_set_state(struct sock *sk, u8 new_state)
{
	if (new_state == TCP_CA_Open)
		hstcp_lp_decreased(sk);
}

static struct tcp_congestion_ops hstcp_lp __read_mostly = {
	.init		= hstcp_lp_init,
	.ssthresh	= hstcp_lp_ssthresh,
	.cong_avoid	= hstcp_lp_cong_avoid,
	.pkts_acked	= hstcp_lp_pkts_acked,
	.set_state	= hstcp_lp_set_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "hstcp_lp",
};

static int __init hstcp_lp_register(void)
{
	BUILD_BUG_ON(sizeof(struct hstcp_lp) > RECOVERY_STACK_BYTES);

	if (check_parameter("smoothing", smoothing, 1, 1024) ||
	    check_parameter("threshold_percent", threshold_percent, 0, 100) ||
	    check_parameter("inference_rtts", inference_rtts, 0, 100) ||
	    check_parameter("early_decrease_percent", early_decrease_percent, 0, 100) ||
	    check_parameter("tick_ms", tick_ms, 1, 1000) ||
	    check_parameter("range_reset", range_reset, 0, 1) ||
	    check_parameter("max_ssthresh", max_ssthresh, 0, 1 << 20))
		return -EINVAL;
	return recovery_register(&hstcp_lp);
}

static void __exit hstcp_lp_unregister(void)
{
	tcp_unregister_congestion_control(&hstcp_lp);
}

module_init(hstcp_lp_register);
module_exit(hstcp_lp_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("HSTCP-LP, Kuzmanovic, Knightly, Cottrell 2004");
