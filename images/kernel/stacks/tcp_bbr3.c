// SPDX-License-Identifier: GPL-2.0
/*
 * BBRv3: a model of the path's rate and of the data it holds, bounded by losses.
 *
 * Written from the text of draft-ietf-ccwg-bbr-06 (July 2026), below "the draft"; each
 * function names its section. Names are the draft's, in the kernel's spelling. Volumes
 * are packets here and bytes there, rates are bytes per second, times are us. A sample
 * of the rate counts bytes, so that a small packet is no full one.
 *
 * The draft keeps for each packet what was in flight and lost when it was sent (P.lost
 * and P.tx_in_flight, section 5.5.10.2). Mainline keeps only what had been delivered
 * by then (tx.delivered), so this module notes after ACKs what was delivered, lost and
 * in flight, and finds by tx.delivered the note after which a packet was sent. With
 * the sequence numbers sent since, that gives both:
 *
 *  - exactly, while a window has less than 64 ACKs, but for what is lost or sent again
 *    between an ACK and the packet;
 *  - beyond, to 1/256 of the window for losses. An ACK adds a note when it moves what
 *    is delivered by 1/64 of the window, or what is lost by 1/256.
 *
 * The packets lost are those that the retransmission queue has as lost beyond the last
 * such. One that is sent again and lost again counts as lost, but is not looked at for
 * what was in flight. Losses that a timer finds are handled at the next ACK.
 *
 * The draft demands that CE marks count as congestion and does not say how (3.6). Here
 * a packet delivered with a mark counts as one lost, but is not sent again. By classic
 * ECN (RFC 3168) the receiver repeats a mark for a round trip, so that a mark counts as
 * the loss of a round trip's packets.
 *
 * What Linux decides itself: sends are at most pacing rate * 1 ms (C.send_quantum), and
 * larger where the RTT is below some ms (tcp_tso_rtt_log); a module sets their least size.
 *
 * What others read: snd_ssthresh is inflight_longterm, infinite while it is not set.
 *
 * Bounds: rates below 2^37 bytes/s, RTTs below 2^24 us (16 s), so that no product of
 * the two exceeds 64 bits; windows below 2^24 packets, in percent below 32 bits.
 */

#include <linux/inet_diag.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/win_minmax.h>
#include <net/tcp.h>
#include "ack_counting.h"

/* Gains, in percent: draft, 2.5 and 5.6.1 */
#define BBR3_STARTUP_PACING_GAIN	277
#define BBR3_DRAIN_PACING_GAIN		50
#define BBR3_DOWN_PACING_GAIN		90
#define BBR3_UP_PACING_GAIN		125
#define BBR3_DEFAULT_CWND_GAIN		200
#define BBR3_UP_CWND_GAIN		225
#define BBR3_PROBE_RTT_CWND_GAIN	50
#define BBR3_PACING_MARGIN		1

#define BBR3_MIN_PIPE_CWND	4U	/* packets; draft, 2.7 */
#define BBR3_SEND_QUANTUM_MOST	(64 * 1024)	/* bytes; draft, 5.6.3 */
#define BBR3_SEND_QUANTUM_LEAST	2	/* packets; draft, 5.6.3 */
#define BBR3_OFFLOAD_QUANTA	3	/* draft, 5.5.8.1 */

#define BBR3_FULL_BW_ROUNDS	3	/* draft, 5.3.1.2 */
#define BBR3_FULL_BW_GROWTH	125	/* percent */
#define BBR3_STARTUP_LOSS_RANGES 6	/* BBRStartupFullLossCnt; draft, 5.3.1.3 */
#define BBR3_DRAIN_ROUNDS	3	/* draft, 5.3.2 */

#define BBR3_PROBE_WAIT_US	(2 * USEC_PER_SEC)	/* and up to a second; 5.3.3.9 */
#define BBR3_RENO_ROUNDS	63U	/* draft, 5.3.3.9 */
#define BBR3_MOST_UP_ROUNDS	30U	/* draft, 5.3.3.9 */

#define BBR3_MIN_RTT_FILTER_US	(10 * USEC_PER_SEC)	/* draft, 2.15.1 */
#define BBR3_PROBE_RTT_INTERVAL_US (5 * USEC_PER_SEC)	/* draft, 2.15.2 */
#define BBR3_PROBE_RTT_US	(200 * USEC_PER_MSEC)
#define BBR3_EXTRA_ACKED_ROUNDS	10	/* draft, 2.12 */

#define BBR3_INFINITY	U32_MAX		/* of volumes; of an RTT too */
#define BBR3_NOTES	172		/* so that a model fits into 4096 bytes */

static int beta_percent = 70;		/* draft, 2.7 */
module_param(beta_percent, int, 0444);
MODULE_PARM_DESC(beta_percent, "what a round trip with losses leaves of the model at least");

static int loss_threshold_percent = 2;	/* draft, 2.7 */
module_param(loss_threshold_percent, int, 0444);
MODULE_PARM_DESC(loss_threshold_percent, "losses in a round trip that probing tolerates");

static int headroom_percent = 15;	/* draft, 2.7 */
module_param(headroom_percent, int, 0444);
MODULE_PARM_DESC(headroom_percent, "part of inflight_longterm left free for other flows");

enum bbr3_state {
	BBR3_STARTUP,
	BBR3_DRAIN,
	BBR3_DOWN,
	BBR3_CRUISE,
	BBR3_REFILL,
	BBR3_UP,
	BBR3_PROBE_RTT,
	BBR3_NO_STATE,		/* of undo_state */
};

/* What an ACK tells of probing; draft, 2.14 */
enum bbr3_ack_phase {
	BBR3_ACKS_INIT,
	BBR3_ACKS_REFILLING,
	BBR3_ACKS_PROBE_STARTING,
	BBR3_ACKS_PROBE_FEEDBACK,
	BBR3_ACKS_PROBE_STOPPING,
};

/* A connection after an ACK, in packets but for snd_nxt and bytes */
struct bbr3_note {
	u32 delivered;
	u32 lost;		/* and marked */
	u32 in_flight;
	u32 snd_nxt;
	u32 bytes;		/* delivered */
};

/* RS of the draft, 2.3, of the packet that an ACK is about */
struct bbr3_sample {
	u64 rate;		/* bytes/s; 0: there is none */
	u32 delivered;		/* since that packet was sent */
	u32 prior_delivered;	/* when it was sent */
	u32 tx_in_flight;
	u32 lost;		/* since it was sent, and marked */
	u32 newly_acked;
	u32 prior_in_flight;	/* before the ACK, so after the last send */
	s64 rtt_us;		/* -1: none */
	bool valid;		/* the ACK delivered a packet */
	bool app_limited;
};

/* BBR of the draft, 2.6 to 2.15, where each field is described under this name */
struct bbr3_model {
	struct bbr3_sample rs;

	u64 bw;
	u64 bw_latest;
	u64 bw_shortterm;	/* U64_MAX: not set */
	u64 max_bw_filter[2];	/* of this cycle of ProbeBW, of the one before */
	u64 full_bw;
	u64 undo_bw_shortterm;

	u64 min_rtt_stamp;
	u64 probe_rtt_min_stamp;
	u64 probe_rtt_done_stamp;	/* 0: not set */
	u64 cycle_stamp;
	u64 extra_acked_interval_start;
	u32 min_rtt_us;		/* BBR3_INFINITY: no sample yet */
	u32 probe_rtt_min_delay_us;
	u32 bw_probe_wait_us;

	u32 inflight_latest;
	u32 inflight_shortterm;	/* BBR3_INFINITY: not set */
	u32 inflight_longterm;	/* BBR3_INFINITY: not set */
	u32 undo_inflight_shortterm;
	u32 undo_inflight_longterm;
	u32 prior_cwnd;
	u32 initial_cwnd;

	u32 round_count;
	u32 next_round_delivered;
	u32 loss_round_delivered;
	u32 drain_start_round;
	u32 rounds_since_probe_up;
	u32 bw_probe_up_rounds;
	u32 bw_probe_up_acked;
	u32 probe_up_acked_per_inc;

	u32 extra_acked_delivered;
	struct minmax extra_acked_filter;

	u32 seen_lost;		/* tp->lost that has been handled */
	u32 seen_ce;		/* tp->delivered_ce */
	u32 lost_seq;		/* end of the last packet that was lost */
	u32 lost_ranges;	/* in this round of losses */
	u32 recovery_delivered;	/* when recovery began */

	u8 state;
	u8 undo_state;
	u8 ack_phase;
	u8 full_bw_count;
	u8 ca_state;		/* in which the ACK before left the connection */
	bool round_start;
	bool loss_round_start;
	bool is_loss_in_round;
	bool is_bw_probe_sample;
	bool full_bw_reached;
	bool full_bw_now;
	bool idle_restart;
	bool probe_rtt_expired;
	bool probe_rtt_round_done;
	bool prev_probe_too_high;
	bool prev_probe_precautionary;
	bool seen_rtt;		/* the pacing rate began with a true RTT */

	u32 notes;		/* made so far; the last BBR3_NOTES are kept */
	struct bbr3_note note[BBR3_NOTES];
};

/* A connection's private area. Without memory for a model it has BBR3_MIN_PIPE_CWND. */
struct bbr3 {
	struct bbr3_model *model;
};

static u32 bbr3_percent(u32 volume, u32 percent)
{
	return div_u64((u64)volume * percent, 100);
}

static struct bbr3_model *bbr3_model_of(const struct sock *sk)
{
	return ((struct bbr3 *)inet_csk_ca(sk))->model;
}

static bool bbr3_in_probe_bw(const struct bbr3_model *bbr)
{
	return bbr->state >= BBR3_DOWN && bbr->state <= BBR3_UP;
}

static bool bbr3_in_loss_recovery(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery;
}

static u32 bbr3_pacing_gain(const struct bbr3_model *bbr)
{
	switch (bbr->state) {
	case BBR3_STARTUP:
		return BBR3_STARTUP_PACING_GAIN;
	case BBR3_DRAIN:
		return BBR3_DRAIN_PACING_GAIN;
	case BBR3_DOWN:
		return BBR3_DOWN_PACING_GAIN;
	case BBR3_UP:
		return BBR3_UP_PACING_GAIN;
	default:
		return 100;
	}
}

static u32 bbr3_cwnd_gain(const struct bbr3_model *bbr)
{
	switch (bbr->state) {
	case BBR3_UP:
		return BBR3_UP_CWND_GAIN;
	case BBR3_PROBE_RTT:
		return BBR3_PROBE_RTT_CWND_GAIN;
	default:
		return BBR3_DEFAULT_CWND_GAIN;
	}
}

static u64 bbr3_max_bw(const struct bbr3_model *bbr)
{
	return max(bbr->max_bw_filter[0], bbr->max_bw_filter[1]);
}

/* 5.6.4.2, BDPMultiple, of a gain in percent */
static u32 bbr3_bdp(const struct sock *sk, u64 bw, u32 gain)
{
	const struct bbr3_model *bbr = bbr3_model_of(sk);
	u64 bytes;

	if (bbr->min_rtt_us == BBR3_INFINITY)
		return bbr->initial_cwnd;
	bytes = div_u64(div_u64(bw * bbr->min_rtt_us, USEC_PER_SEC) * gain, 100);
	return DIV_ROUND_UP_ULL(bytes, tcp_sk(sk)->mss_cache);
}

/* 5.6.3, SetSendQuantum, in packets */
static u32 bbr3_send_quantum(const struct sock *sk)
{
	u32 bytes = min_t(u64, READ_ONCE(sk->sk_pacing_rate) / MSEC_PER_SEC,
			  BBR3_SEND_QUANTUM_MOST);

	return max_t(u32, bytes / tcp_sk(sk)->mss_cache, BBR3_SEND_QUANTUM_LEAST);
}

/* 5.6.4.2, QuantizationBudget with UpdateOffloadBudget of 5.5.8.1 */
static u32 bbr3_quantization_budget(const struct sock *sk, u32 inflight_cap)
{
	inflight_cap = max(inflight_cap, BBR3_OFFLOAD_QUANTA * bbr3_send_quantum(sk));
	inflight_cap = max(inflight_cap, BBR3_MIN_PIPE_CWND);
	if (bbr3_model_of(sk)->state == BBR3_UP)
		inflight_cap += 2;
	return inflight_cap;
}

/* 5.6.4.2, Inflight of a gain of 1 */
static u32 bbr3_inflight(const struct sock *sk, u64 bw)
{
	return bbr3_quantization_budget(sk, bbr3_bdp(sk, bw, 100));
}

/* 5.3.3.9 */
static u32 bbr3_target_inflight(const struct sock *sk)
{
	return min(bbr3_bdp(sk, bbr3_model_of(sk)->bw, 100), tcp_snd_cwnd(tcp_sk(sk)));
}

/* 5.3.3.9 */
static u32 bbr3_inflight_with_headroom(const struct bbr3_model *bbr)
{
	u32 headroom;

	if (bbr->inflight_longterm == BBR3_INFINITY)
		return BBR3_INFINITY;
	headroom = max(1U, bbr3_percent(bbr->inflight_longterm, headroom_percent));
	return max(bbr->inflight_longterm - min(headroom, bbr->inflight_longterm),
		   BBR3_MIN_PIPE_CWND);
}

/*
 * Notes: what was in flight and lost when a packet was sent
 */

/* C.delivered of the draft, which mainline counts in packets alone; it wraps */
static u32 bbr3_delivered_bytes(const struct tcp_sock *tp)
{
	return tp->bytes_acked + (u64)tp->sacked_out * tp->mss_cache;
}

/* Bytes of a packet, on average of those delivered since a note */
static u32 bbr3_packet_bytes(const struct tcp_sock *tp, const struct bbr3_note *note)
{
	u32 packets = tp->delivered - note->delivered;

	if (!packets || packets > U32_MAX / tp->mss_cache)
		return tp->mss_cache;
	return min((bbr3_delivered_bytes(tp) - note->bytes) / packets, tp->mss_cache);
}

static void bbr3_take_note(const struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 lost = bbr->seen_lost + bbr->seen_ce;
	u32 cwnd = tcp_snd_cwnd(tp);
	struct bbr3_note *last;

	if (bbr->notes) {
		last = &bbr->note[(bbr->notes - 1) % BBR3_NOTES];
		if (tp->delivered - last->delivered <= cwnd / 64 &&
		    lost - last->lost <= cwnd / 256 &&
		    tp->delivered != last->delivered)
			return;
		if (tp->delivered == last->delivered)
			bbr->notes--;
	}
	bbr->note[bbr->notes++ % BBR3_NOTES] = (struct bbr3_note){
		.delivered = tp->delivered,
		.lost = lost,
		.in_flight = tcp_packets_in_flight(tp),
		.snd_nxt = tp->snd_nxt,
		.bytes = bbr3_delivered_bytes(tp),
	};
}

/* The last note before a packet was sent, or the oldest that is left */
static const struct bbr3_note *bbr3_note_before(const struct bbr3_model *bbr, u32 delivered)
{
	u32 low = bbr->notes > BBR3_NOTES ? bbr->notes - BBR3_NOTES : 0;
	u32 high = bbr->notes;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if ((s32)(bbr->note[middle % BBR3_NOTES].delivered - delivered) <= 0)
			low = middle;
		else
			high = middle;
	}
	return &bbr->note[low % BBR3_NOTES];
}

/* P.tx_in_flight of 5.5.10.2, with the packet itself */
static u32 bbr3_tx_in_flight(const struct sock *sk, const struct bbr3_note *note,
			     u32 delivered, u32 end_seq)
{
	s32 since = delivered - note->delivered;
	s64 in_flight = note->in_flight;

	if (after(end_seq, note->snd_nxt))
		in_flight += DIV_ROUND_UP(end_seq - note->snd_nxt, tcp_sk(sk)->mss_cache);
	else
		in_flight++;
	return max_t(s64, in_flight - max(since, 0), 1);
}

/*
 * State that others reset: 5.3.1.2, 5.5.10.3, 5.5.1
 */

static void bbr3_reset_full_bw(struct bbr3_model *bbr)
{
	bbr->full_bw = 0;
	bbr->full_bw_count = 0;
	bbr->full_bw_now = false;
}

static void bbr3_reset_congestion_signals(struct bbr3_model *bbr)
{
	bbr->is_loss_in_round = false;
	bbr->lost_ranges = 0;
	bbr->bw_latest = 0;
	bbr->inflight_latest = 0;
}

static void bbr3_reset_short_term_model(struct bbr3_model *bbr)
{
	bbr->bw_shortterm = U64_MAX;
	bbr->inflight_shortterm = BBR3_INFINITY;
}

static void bbr3_start_round(const struct sock *sk)
{
	bbr3_model_of(sk)->next_round_delivered = tcp_sk(sk)->delivered;
}

/*
 * Entering states: 5.3.1.1, 5.3.2, 5.3.3.9
 */

static void bbr3_enter_drain(struct bbr3_model *bbr)
{
	bbr->state = BBR3_DRAIN;
	bbr->drain_start_round = bbr->round_count;
}

static void bbr3_pick_probe_wait(struct bbr3_model *bbr)
{
	bbr->rounds_since_probe_up = get_random_u32_below(2);
	bbr->bw_probe_wait_us = BBR3_PROBE_WAIT_US + get_random_u32_below(USEC_PER_SEC + 1);
}

static void bbr3_start_down(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	bbr3_reset_congestion_signals(bbr);
	bbr->probe_up_acked_per_inc = BBR3_INFINITY;
	bbr3_pick_probe_wait(bbr);
	bbr->cycle_stamp = tcp_sk(sk)->tcp_mstamp;
	bbr->ack_phase = BBR3_ACKS_PROBE_STOPPING;
	bbr3_start_round(sk);
	bbr->state = BBR3_DOWN;
}

static void bbr3_start_refill(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	bbr3_reset_short_term_model(bbr);
	bbr->bw_probe_up_rounds = 0;
	bbr->bw_probe_up_acked = 0;
	bbr->prev_probe_precautionary = false;
	bbr->ack_phase = BBR3_ACKS_REFILLING;
	bbr3_start_round(sk);
	bbr->state = BBR3_REFILL;
}

/* 5.3.3.9, RaiseInflightLongtermSlope */
static void bbr3_raise_slope(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	bbr->probe_up_acked_per_inc =
		max(tcp_snd_cwnd(tcp_sk(sk)) >> bbr->bw_probe_up_rounds, 1U);
	bbr->bw_probe_up_rounds = min(bbr->bw_probe_up_rounds + 1, BBR3_MOST_UP_ROUNDS);
}

static void bbr3_start_up(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	bbr->ack_phase = BBR3_ACKS_PROBE_STARTING;
	bbr3_start_round(sk);
	bbr3_reset_full_bw(bbr);
	bbr->full_bw = bbr->rs.rate;
	bbr->state = BBR3_UP;
	bbr3_raise_slope(sk);
}

/*
 * Losses: 5.5.10, 5.5.11, 5.6.4.4
 */

static void bbr3_save_cwnd(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	if (!bbr3_in_loss_recovery(sk) && bbr->state != BBR3_PROBE_RTT)
		bbr->prior_cwnd = cwnd;
	else
		bbr->prior_cwnd = max(bbr->prior_cwnd, cwnd);
}

static void bbr3_restore_cwnd(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_snd_cwnd_set(tp, max(tcp_snd_cwnd(tp), bbr3_model_of(sk)->prior_cwnd));
}

/* 5.5.11.1 */
static void bbr3_save_state_upon_loss(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	bbr3_save_cwnd(sk);
	bbr->undo_state = BBR3_NO_STATE;
	bbr->undo_bw_shortterm = bbr->bw_shortterm;
	bbr->undo_inflight_shortterm = bbr->inflight_shortterm;
	bbr->undo_inflight_longterm = bbr->inflight_longterm;
}

/* 5.5.10.2, NoteLoss */
static void bbr3_note_loss(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	if (!bbr->is_loss_in_round) {
		bbr->loss_round_delivered = tcp_sk(sk)->delivered;
		bbr3_save_state_upon_loss(sk);
	}
	bbr->is_loss_in_round = true;
}

/* 5.5.10.2, IsInflightTooHigh */
static bool bbr3_too_high(const struct sock *sk, u32 lost, u32 tx_in_flight)
{
	return (u64)lost * 100 > (u64)tx_in_flight * loss_threshold_percent ||
	       (lost && !tcp_is_sack(tcp_sk(sk)));
}

/* 5.5.10.2, HandleInflightTooHigh */
static void bbr3_handle_too_high(struct sock *sk, u32 tx_in_flight, bool app_limited)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	bbr->prev_probe_too_high = true;
	bbr->is_bw_probe_sample = false;
	if (!app_limited)
		bbr->inflight_longterm =
			max(tx_in_flight, bbr3_percent(bbr3_target_inflight(sk), beta_percent));
	if (bbr->state == BBR3_UP) {
		bbr->undo_state = BBR3_UP;
		bbr3_start_down(sk);
	}
}

/* 5.5.10.2, InflightAtLoss: where within a send of @size packets losses became too many */
static u32 bbr3_inflight_at_loss(u32 tx_in_flight, u32 lost, u32 size)
{
	u32 inflight_prev = tx_in_flight - min(tx_in_flight, size);
	u32 lost_prev = lost - min(lost, size);
	s64 hundredths = (s64)inflight_prev * loss_threshold_percent - (s64)lost_prev * 100;

	if (hundredths <= 0)
		return inflight_prev;
	return inflight_prev + div_u64(hundredths, 100 - loss_threshold_percent);
}

/* 5.5.10.2, HandleLostPacket, when @lost packets are lost or marked with this one */
static void bbr3_handle_lost_packet(struct sock *sk, const struct sk_buff *skb, u32 lost)
{
	const struct tcp_skb_cb *packet = TCP_SKB_CB(skb);
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct bbr3_note *note;
	u32 tx_in_flight;

	if (!bbr->is_bw_probe_sample || !bbr->notes)
		return;
	note = bbr3_note_before(bbr, packet->tx.delivered);
	tx_in_flight = bbr3_tx_in_flight(sk, note, packet->tx.delivered, packet->end_seq);
	lost -= note->lost;
	if (bbr3_too_high(sk, lost, tx_in_flight))
		bbr3_handle_too_high(sk,
				     bbr3_inflight_at_loss(tx_in_flight, lost,
							   tcp_skb_pcount(skb)),
				     packet->tx.is_app_limited);
}

/* The first packet of the retransmission queue that ends beyond @seq */
static struct sk_buff *bbr3_first_beyond(const struct sock *sk, u32 seq)
{
	struct rb_node *node = sk->tcp_rtx_queue.rb_node;
	struct sk_buff *found = NULL;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);

		if (after(TCP_SKB_CB(skb)->end_seq, seq)) {
			found = skb;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/* The packets that were marked as lost since the last ACK, in the order of sending */
static void bbr3_handle_losses(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 lost = bbr->seen_lost;
	struct sk_buff *skb;

	if (tp->lost == bbr->seen_lost)
		return;
	bbr3_note_loss(sk);
	if (before(bbr->lost_seq, tp->snd_una))
		bbr->lost_seq = tp->snd_una;
	skb = bbr3_first_beyond(sk, bbr->lost_seq);
	skb_rbtree_walk_from(skb) {
		const struct tcp_skb_cb *packet = TCP_SKB_CB(skb);

		if (inet_csk(sk)->icsk_ca_state != TCP_CA_Loss &&
		    !before(packet->seq, tcp_highest_sack_seq(tp)) && tcp_is_sack(tp))
			break;
		if (!(packet->sacked & TCPCB_LOST) || packet->sacked & TCPCB_RETRANS)
			continue;
		if (!bbr->lost_ranges || packet->seq != bbr->lost_seq)
			bbr->lost_ranges++;
		bbr->lost_seq = packet->end_seq;
		lost += tcp_skb_pcount(skb);
		bbr3_handle_lost_packet(sk, skb, lost + bbr->seen_ce);
	}
	bbr->seen_lost = tp->lost;
}

/* Marks since the last ACK: as losses of the packet that the ACK is about */
static void bbr3_handle_marks(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct bbr3_sample *rs = &bbr->rs;

	if (tcp_sk(sk)->delivered_ce == bbr->seen_ce)
		return;
	bbr3_note_loss(sk);
	bbr->lost_ranges++;
	bbr->seen_ce = tcp_sk(sk)->delivered_ce;
	if (bbr->is_bw_probe_sample && rs->valid &&
	    bbr3_too_high(sk, rs->lost, rs->tx_in_flight))
		bbr3_handle_too_high(sk, rs->tx_in_flight, rs->app_limited);
}

/*
 * The model: 5.5
 */

/* 5.5.10.3, UpdateLatestDeliverySignals */
static void bbr3_update_latest_signals(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct bbr3_sample *rs = &bbr->rs;

	bbr->loss_round_start = false;
	bbr->bw_latest = max(bbr->bw_latest, rs->rate);
	bbr->inflight_latest = max(bbr->inflight_latest, rs->delivered);
	if (rs->valid && !before(rs->prior_delivered, bbr->loss_round_delivered)) {
		bbr->loss_round_delivered = tcp_sk(sk)->delivered;
		bbr->loss_round_start = true;
	}
}

/* 5.5.10.3, AdvanceLatestDeliverySignals */
static void bbr3_advance_latest_signals(struct bbr3_model *bbr)
{
	if (!bbr->loss_round_start)
		return;
	bbr->bw_latest = bbr->rs.rate;
	bbr->inflight_latest = bbr->rs.delivered;
}

/* 5.5.1, UpdateRound */
static void bbr3_update_round(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	bbr->round_start = bbr->rs.valid &&
			   !before(bbr->rs.prior_delivered, bbr->next_round_delivered);
	if (!bbr->round_start)
		return;
	bbr3_start_round(sk);
	bbr->round_count++;
	bbr->rounds_since_probe_up++;
}

/* 5.5.5, UpdateMaxBw */
static void bbr3_update_max_bw(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct bbr3_sample *rs = &bbr->rs;

	bbr3_update_round(sk);
	if (rs->rate && (rs->rate >= bbr3_max_bw(bbr) || !rs->app_limited))
		bbr->max_bw_filter[0] = max(bbr->max_bw_filter[0], rs->rate);
}

/* 5.5.6; a cycle without a sample does not make the filter forget the one before */
static void bbr3_advance_max_bw_filter(struct bbr3_model *bbr)
{
	if (!bbr->max_bw_filter[0])
		return;
	bbr->max_bw_filter[1] = bbr->max_bw_filter[0];
	bbr->max_bw_filter[0] = 0;
}

/* 5.5.10.3, InitLowerBounds and LossLowerBounds */
static void bbr3_loss_lower_bounds(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	if (bbr->bw_shortterm == U64_MAX)
		bbr->bw_shortterm = bbr3_max_bw(bbr);
	if (bbr->inflight_shortterm == BBR3_INFINITY)
		bbr->inflight_shortterm = tcp_snd_cwnd(tcp_sk(sk));
	bbr->bw_shortterm = max(bbr->bw_latest, div_u64(bbr->bw_shortterm * beta_percent, 100));
	bbr->inflight_shortterm = max(bbr->inflight_latest,
				      bbr3_percent(bbr->inflight_shortterm, beta_percent));
}

/* 5.5.10.3, UpdateCongestionSignals with AdaptLowerBoundsFromCongestion */
static void bbr3_update_congestion_signals(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	bool probing;

	bbr3_update_max_bw(sk);
	if (!bbr->loss_round_start)
		return;
	probing = bbr->state == BBR3_STARTUP || bbr->state == BBR3_REFILL ||
		  bbr->state == BBR3_UP;
	if (bbr->is_loss_in_round && !probing)
		bbr3_loss_lower_bounds(sk);
	bbr->is_loss_in_round = false;
}

/* 5.5.9 */
static void bbr3_update_ack_aggregation(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	u64 now = tcp_sk(sk)->tcp_mstamp;
	u64 interval_us = min_t(u64, now - bbr->extra_acked_interval_start, U32_MAX >> 8);
	u64 bytes = div_u64(bbr->bw * interval_us, USEC_PER_SEC);
	u32 expected = div_u64(bytes, tcp_sk(sk)->mss_cache);
	u32 extra;

	if (bbr->extra_acked_delivered <= expected) {
		bbr->extra_acked_delivered = 0;
		bbr->extra_acked_interval_start = now;
		expected = 0;
	}
	bbr->extra_acked_delivered += bbr->rs.newly_acked;
	extra = min(bbr->extra_acked_delivered - expected, tcp_snd_cwnd(tcp_sk(sk)));
	minmax_running_max(&bbr->extra_acked_filter,
			   bbr->full_bw_reached ? BBR3_EXTRA_ACKED_ROUNDS : 1,
			   bbr->round_count, extra);
}

/* 5.3.1.2 */
static void bbr3_check_full_bw_reached(struct bbr3_model *bbr)
{
	const struct bbr3_sample *rs = &bbr->rs;

	if (bbr->full_bw_now || !bbr->round_start || rs->app_limited || !rs->rate)
		return;
	if (rs->rate * 100 >= bbr->full_bw * BBR3_FULL_BW_GROWTH) {
		bbr3_reset_full_bw(bbr);
		bbr->full_bw = rs->rate;
		return;
	}
	bbr->full_bw_count++;
	bbr->full_bw_now = bbr->full_bw_count >= BBR3_FULL_BW_ROUNDS;
	if (bbr->full_bw_now)
		bbr->full_bw_reached = true;
}

/* 5.3.1.3: whether the losses of the round that ends with this ACK are too many */
static bool bbr3_startup_loss_is_high(const struct sock *sk)
{
	const struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct bbr3_sample *rs = &bbr->rs;
	u8 ca_state = inet_csk(sk)->icsk_ca_state;

	if (ca_state != TCP_CA_Recovery && ca_state != TCP_CA_CWR)
		return false;
	if (!tcp_is_sack(tcp_sk(sk)))
		return true;
	return bbr->loss_round_start && !before(rs->prior_delivered, bbr->recovery_delivered) &&
	       bbr->lost_ranges >= BBR3_STARTUP_LOSS_RANGES &&
	       bbr3_too_high(sk, rs->lost, rs->tx_in_flight);
}

/* 5.3.1.1, CheckStartupDone */
static void bbr3_check_startup_done(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	if (bbr->state == BBR3_STARTUP && !bbr->full_bw_reached &&
	    bbr3_startup_loss_is_high(sk)) {
		bbr->undo_state = BBR3_STARTUP;
		bbr->full_bw_reached = true;
		bbr->inflight_longterm =
			max(bbr3_bdp(sk, bbr3_max_bw(bbr), 100), bbr->inflight_latest);
	}
	if (bbr->loss_round_start)
		bbr->lost_ranges = 0;
	if (bbr->state == BBR3_STARTUP && bbr->full_bw_reached)
		bbr3_enter_drain(bbr);
}

/* 5.3.2 */
static void bbr3_check_drain_done(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	if (bbr->state != BBR3_DRAIN)
		return;
	if (tcp_packets_in_flight(tcp_sk(sk)) <= bbr3_inflight(sk, bbr->bw) ||
	    bbr->round_count - bbr->drain_start_round > BBR3_DRAIN_ROUNDS)
		bbr3_start_down(sk);
}

/* 5.3.3.9, ProbeInflightLongtermUpward */
static void bbr3_probe_inflight_upward(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 delta;

	if (!tp->is_cwnd_limited || tcp_snd_cwnd(tp) < bbr->inflight_longterm)
		return;
	bbr->bw_probe_up_acked += bbr->rs.newly_acked;
	delta = bbr->bw_probe_up_acked / bbr->probe_up_acked_per_inc;
	bbr->bw_probe_up_acked -= delta * bbr->probe_up_acked_per_inc;
	bbr->inflight_longterm += delta;
	if (bbr->round_start)
		bbr3_raise_slope(sk);
}

/* 5.3.3.9, AdaptLongTermModel: whether it decided a transition */
static bool bbr3_adapt_long_term_model(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct bbr3_sample *rs = &bbr->rs;

	if (bbr->ack_phase == BBR3_ACKS_PROBE_STARTING && bbr->round_start)
		bbr->ack_phase = BBR3_ACKS_PROBE_FEEDBACK;
	if (bbr->ack_phase == BBR3_ACKS_PROBE_STOPPING && bbr->round_start) {
		bbr->is_bw_probe_sample = false;
		bbr->ack_phase = BBR3_ACKS_INIT;
		if (bbr3_in_probe_bw(bbr) && !rs->app_limited)
			bbr3_advance_max_bw_filter(bbr);
		if (bbr3_in_probe_bw(bbr) && bbr->prev_probe_precautionary &&
		    !bbr->prev_probe_too_high) {
			bbr3_start_refill(sk);
			return true;
		}
	}
	if (!rs->valid || bbr3_too_high(sk, rs->lost, rs->tx_in_flight) ||
	    bbr->inflight_longterm == BBR3_INFINITY)
		return false;
	bbr->inflight_longterm = max(bbr->inflight_longterm, rs->tx_in_flight);
	if (bbr->state == BBR3_UP)
		bbr3_probe_inflight_upward(sk);
	return false;
}

/* 5.3.3.9, IsTimeToProbeBW with IsRenoCoexistenceProbeTime */
static bool bbr3_is_time_to_probe(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	return tcp_sk(sk)->tcp_mstamp > bbr->cycle_stamp + bbr->bw_probe_wait_us ||
	       bbr->rounds_since_probe_up >= min(bbr3_target_inflight(sk), BBR3_RENO_ROUNDS);
}

/* 5.3.3.9, IsTimeToCruise */
static bool bbr3_is_time_to_cruise(const struct sock *sk)
{
	const struct bbr3_model *bbr = bbr3_model_of(sk);
	u32 in_flight = tcp_packets_in_flight(tcp_sk(sk));

	return in_flight <= bbr3_inflight_with_headroom(bbr) &&
	       in_flight <= bbr3_inflight(sk, bbr3_max_bw(bbr));
}

/*
 * 5.3.3.9, IsTimeToGoDown. The flight that reached inflight_longterm is the one before
 * the ACK: the window is inflight_longterm at most, and an ACK takes packets out of it.
 */
static bool bbr3_is_time_to_go_down(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (bbr->prev_probe_too_high && bbr->rs.prior_in_flight >= bbr->inflight_longterm) {
		bbr->prev_probe_precautionary = true;
		return true;
	}
	if (tp->is_cwnd_limited && tcp_snd_cwnd(tp) >= bbr->inflight_longterm) {
		bbr3_reset_full_bw(bbr);
		bbr->full_bw = bbr->rs.rate;
		return false;
	}
	return bbr->full_bw_now;
}

/* 5.3.3.9 */
static void bbr3_update_cycle_phase(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	if (!bbr->full_bw_reached || bbr3_adapt_long_term_model(sk))
		return;
	switch (bbr->state) {
	case BBR3_DOWN:
		if (bbr3_is_time_to_probe(sk))
			bbr3_start_refill(sk);
		else if (bbr3_is_time_to_cruise(sk))
			bbr->state = BBR3_CRUISE;
		break;
	case BBR3_CRUISE:
		if (bbr3_is_time_to_probe(sk))
			bbr3_start_refill(sk);
		break;
	case BBR3_REFILL:
		if (bbr->round_start) {
			bbr->is_bw_probe_sample = true;
			bbr3_start_up(sk);
		}
		break;
	case BBR3_UP:
		if (bbr3_is_time_to_go_down(sk)) {
			bbr->prev_probe_too_high = false;
			bbr3_start_down(sk);
		}
		break;
	}
}

/* 5.3.4.3, UpdateMinRTT */
static void bbr3_update_min_rtt(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	u64 now = tcp_sk(sk)->tcp_mstamp;
	s64 rtt_us = bbr->rs.rtt_us;

	bbr->probe_rtt_expired = now > bbr->probe_rtt_min_stamp + BBR3_PROBE_RTT_INTERVAL_US;
	if (rtt_us >= 0 && (rtt_us < bbr->probe_rtt_min_delay_us || bbr->probe_rtt_expired)) {
		bbr->probe_rtt_min_delay_us = rtt_us;
		bbr->probe_rtt_min_stamp = now;
	}
	if (bbr->probe_rtt_min_delay_us < bbr->min_rtt_us ||
	    now > bbr->min_rtt_stamp + BBR3_MIN_RTT_FILTER_US) {
		bbr->min_rtt_us = bbr->probe_rtt_min_delay_us;
		bbr->min_rtt_stamp = bbr->probe_rtt_min_stamp;
	}
}

/* 5.6.4.5 */
static u32 bbr3_probe_rtt_cwnd(const struct sock *sk)
{
	return max(bbr3_bdp(sk, bbr3_model_of(sk)->bw, BBR3_PROBE_RTT_CWND_GAIN),
		   BBR3_MIN_PIPE_CWND);
}

/* 5.3.4.3, CheckProbeRTTDone, and 5.3.4.4, ExitProbeRTT */
static void bbr3_check_probe_rtt_done(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	u64 now = tcp_sk(sk)->tcp_mstamp;

	if (!bbr->probe_rtt_done_stamp || now <= bbr->probe_rtt_done_stamp)
		return;
	bbr->probe_rtt_min_stamp = now;
	bbr3_restore_cwnd(sk);
	bbr3_reset_short_term_model(bbr);
	if (bbr->full_bw_reached) {
		bbr3_start_down(sk);
		bbr->state = BBR3_CRUISE;
	} else {
		bbr->state = BBR3_STARTUP;
	}
}

/* 5.3.4.3, HandleProbeRTT */
static void bbr3_handle_probe_rtt(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	/* 4.1.2.4, MarkConnectionAppLimited */
	tp->app_limited = max(tp->delivered + tcp_packets_in_flight(tp), 1U);
	if (!bbr->probe_rtt_done_stamp) {
		if (tcp_packets_in_flight(tp) > bbr3_probe_rtt_cwnd(sk))
			return;
		bbr->probe_rtt_done_stamp = tp->tcp_mstamp + BBR3_PROBE_RTT_US;
		bbr->probe_rtt_round_done = false;
		bbr3_start_round(sk);
		return;
	}
	if (bbr->round_start)
		bbr->probe_rtt_round_done = true;
	if (bbr->probe_rtt_round_done)
		bbr3_check_probe_rtt_done(sk);
}

/* 5.3.4.3 */
static void bbr3_check_probe_rtt(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	if (bbr->state != BBR3_PROBE_RTT && bbr->probe_rtt_expired && !bbr->idle_restart) {
		bbr3_save_cwnd(sk);
		bbr->state = BBR3_PROBE_RTT;
		bbr->probe_rtt_done_stamp = 0;
		bbr->ack_phase = BBR3_ACKS_PROBE_STOPPING;
		bbr3_start_round(sk);
	}
	if (bbr->state == BBR3_PROBE_RTT)
		bbr3_handle_probe_rtt(sk);
	if (bbr->rs.delivered)
		bbr->idle_restart = false;
}

/*
 * What the model sets: 5.6
 */

/* 5.6.2, SetPacingRateWithGain, of a gain in percent */
static void bbr3_set_pacing_rate(struct sock *sk, u32 gain)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	u64 rate = div_u64(bbr->bw * gain * (100 - BBR3_PACING_MARGIN), 100 * 100);

	rate = min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate));
	if (rate && (bbr->full_bw_reached || rate > READ_ONCE(sk->sk_pacing_rate)))
		WRITE_ONCE(sk->sk_pacing_rate, rate);
}

/* 5.6.2: the initial window in the first RTT, or in a millisecond before there is one */
static void bbr3_init_pacing_rate(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 bytes = (u64)bbr->initial_cwnd * tp->mss_cache;
	u32 rtt_us = tp->srtt_us >> 3;
	u64 rate;

	bbr->seen_rtt = rtt_us;
	rate = div_u64(bytes * USEC_PER_SEC, rtt_us ? rtt_us : USEC_PER_MSEC);
	rate = div_u64(rate * BBR3_STARTUP_PACING_GAIN, 100);
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

/* 5.6.4.7 */
static u32 bbr3_cap_for_model(const struct bbr3_model *bbr)
{
	u32 cap = BBR3_INFINITY;

	if (bbr->state == BBR3_CRUISE || bbr->state == BBR3_PROBE_RTT)
		cap = bbr3_inflight_with_headroom(bbr);
	else if (bbr3_in_probe_bw(bbr))
		cap = bbr->inflight_longterm;
	return max(min(cap, bbr->inflight_shortterm), BBR3_MIN_PIPE_CWND);
}

/* 5.6.4.6, SetCwnd, with UpdateMaxInflight of 5.6.4.2 */
static void bbr3_set_cwnd(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);
	u32 max_inflight = bbr3_bdp(sk, bbr->bw, bbr3_cwnd_gain(bbr));

	max_inflight += minmax_get(&bbr->extra_acked_filter);
	max_inflight = bbr3_quantization_budget(sk, max_inflight);
	if (bbr->full_bw_reached)
		cwnd = min(cwnd + bbr->rs.newly_acked, max_inflight);
	else if (cwnd < max_inflight || tp->delivered < bbr->initial_cwnd)
		cwnd += bbr->rs.newly_acked;
	cwnd = max(cwnd, BBR3_MIN_PIPE_CWND);
	if (bbr->state == BBR3_PROBE_RTT)
		cwnd = min(cwnd, bbr3_probe_rtt_cwnd(sk));
	cwnd = min(cwnd, bbr3_cap_for_model(bbr));
	tcp_snd_cwnd_set(tp, min(cwnd, tp->snd_cwnd_clamp));
	WRITE_ONCE(tp->snd_ssthresh, bbr->inflight_longterm == BBR3_INFINITY ?
		   TCP_INFINITE_SSTHRESH : bbr->inflight_longterm);
}

/*
 * The kernel's hooks
 */

/* 5.2.1; true if there is memory for a model */
static bool bbr3_start(struct sock *sk)
{
	struct bbr3 *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr3_model *bbr = kzalloc(sizeof(*bbr), GFP_NOWAIT);

	ca->model = bbr;
	if (!bbr)
		return false;
	bbr->min_rtt_us = tp->srtt_us ? tp->srtt_us >> 3 : BBR3_INFINITY;
	bbr->probe_rtt_min_delay_us = bbr->min_rtt_us;
	bbr->min_rtt_stamp = tp->tcp_mstamp;
	bbr->probe_rtt_min_stamp = tp->tcp_mstamp;
	bbr->extra_acked_interval_start = tp->tcp_mstamp;
	bbr->inflight_longterm = BBR3_INFINITY;
	bbr->probe_up_acked_per_inc = BBR3_INFINITY;
	bbr->undo_state = BBR3_NO_STATE;
	bbr->initial_cwnd = tcp_snd_cwnd(tp);
	bbr->seen_lost = tp->lost;
	bbr->seen_ce = tp->delivered_ce;
	bbr->lost_seq = tp->snd_una;
	bbr3_reset_short_term_model(bbr);
	bbr3_take_note(sk);
	bbr3_init_pacing_rate(sk);
	WRITE_ONCE(tp->snd_ssthresh, TCP_INFINITE_SSTHRESH);
	return true;
}

static void bbr3_init(struct sock *sk)
{
	bbr3_start(sk);
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

static void bbr3_release(struct sock *sk)
{
	struct bbr3 *ca = inet_csk_ca(sk);

	kfree(ca->model);
	ca->model = NULL;
}

/* 5.2.3, GenerateRateSample, and what is in flight and lost from the notes */
static void bbr3_generate_sample(struct sock *sk, const struct rate_sample *rate)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct bbr3_note *note;
	struct bbr3_sample *rs = &bbr->rs;

	*rs = (struct bbr3_sample){
		.newly_acked = rate->acked_sacked,
		.prior_in_flight = rate->prior_in_flight,
		.rtt_us = rate->rtt_us,
		.app_limited = rate->is_app_limited,
		.valid = rate->prior_mstamp && rate->delivered > 0,
	};
	if (!rs->valid)
		return;
	rs->delivered = rate->delivered;
	rs->prior_delivered = rate->prior_delivered;
	note = bbr3_note_before(bbr, rs->prior_delivered);
	if (rate->interval_us > 0)
		rs->rate = div64_u64((u64)rate->delivered * bbr3_packet_bytes(tp, note) *
				     USEC_PER_SEC, rate->interval_us);
	rs->tx_in_flight = bbr3_tx_in_flight(sk, note, rs->prior_delivered, rate->last_end_seq);
	rs->lost = tp->lost + tp->delivered_ce - note->lost;
}

/* 5.2.3 */
static void bbr3_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rate)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	u8 ca_state = inet_csk(sk)->icsk_ca_state;

	if (!bbr) {
		tcp_snd_cwnd_set(tcp_sk(sk), BBR3_MIN_PIPE_CWND);
		if (!bbr3_start(sk))
			return;
		bbr = bbr3_model_of(sk);
	}
	bbr3_generate_sample(sk, rate);
	bbr3_handle_losses(sk);
	bbr3_handle_marks(sk);

	bbr3_update_latest_signals(sk);
	bbr3_update_congestion_signals(sk);
	bbr3_update_ack_aggregation(sk);
	bbr3_check_full_bw_reached(bbr);
	bbr3_check_startup_done(sk);
	bbr3_check_drain_done(sk);
	bbr3_update_cycle_phase(sk);
	bbr3_update_min_rtt(sk);
	bbr3_check_probe_rtt(sk);
	bbr3_advance_latest_signals(bbr);
	bbr->bw = min(bbr3_max_bw(bbr), bbr->bw_shortterm);

	if (bbr->ca_state >= TCP_CA_Recovery && ca_state < TCP_CA_Recovery)
		bbr3_restore_cwnd(sk);
	bbr->ca_state = ca_state;
	if (!bbr->seen_rtt && tcp_sk(sk)->srtt_us)
		bbr3_init_pacing_rate(sk);
	bbr3_set_pacing_rate(sk, bbr3_pacing_gain(bbr));
	bbr3_set_cwnd(sk);
	bbr3_take_note(sk);
}

/* 5.4.1: the kernel calls it when nothing is in flight */
static void bbr3_tx_start(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	if (!bbr || !tcp_sk(sk)->app_limited)
		return;
	bbr->idle_restart = true;
	bbr->extra_acked_interval_start = tcp_sk(sk)->tcp_mstamp;
	if (bbr3_in_probe_bw(bbr))
		bbr3_set_pacing_rate(sk, 100);
	else if (bbr->state == BBR3_PROBE_RTT)
		bbr3_check_probe_rtt_done(sk);
}

/* 5.6.4.4, OnEnterFastRecovery and OnEnterRTO, whose window the kernel sets */
static u32 bbr3_ssthresh(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);

	if (bbr) {
		bbr3_save_state_upon_loss(sk);
		bbr->recovery_delivered = tcp_sk(sk)->delivered;
	}
	return tcp_sk(sk)->snd_ssthresh;
}

/* 5.5.11.2, HandleSpuriousLossDetection */
static u32 bbr3_undo_cwnd(struct sock *sk)
{
	struct bbr3_model *bbr = bbr3_model_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!bbr)
		return tcp_snd_cwnd(tp);
	bbr->is_loss_in_round = false;
	bbr3_reset_full_bw(bbr);
	bbr->bw_shortterm = max(bbr->bw_shortterm, bbr->undo_bw_shortterm);
	bbr->inflight_shortterm = max(bbr->inflight_shortterm, bbr->undo_inflight_shortterm);
	bbr->inflight_longterm = max(bbr->inflight_longterm, bbr->undo_inflight_longterm);
	if (bbr->undo_state == BBR3_STARTUP && bbr->state != BBR3_STARTUP) {
		bbr->full_bw_reached = false;
		if (bbr->state != BBR3_PROBE_RTT)
			bbr->state = BBR3_STARTUP;
	} else if (bbr->undo_state == BBR3_UP && bbr->state != BBR3_UP &&
		   bbr->state != BBR3_PROBE_RTT) {
		bbr3_start_refill(sk);
	}
	bbr->undo_state = BBR3_NO_STATE;
	return max(tcp_snd_cwnd(tp), bbr->prior_cwnd);
}

/* 5.6.3: the least size of a send */
static u32 bbr3_min_tso_segs(struct sock *sk)
{
	return BBR3_SEND_QUANTUM_LEAST;
}

/* A window in flight, one that is sent again, and one that the application writes */
static u32 bbr3_sndbuf_expand(struct sock *sk)
{
	return 3;
}

/* The model as ss(8) shows it; gains in 1/256 */
static size_t bbr3_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct bbr3_model *bbr = bbr3_model_of(sk);

	if (!bbr || !(ext & (1 << (INET_DIAG_BBRINFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	memset(&info->bbr, 0, sizeof(info->bbr));
	info->bbr.bbr_bw_lo = lower_32_bits(bbr->bw);
	info->bbr.bbr_bw_hi = upper_32_bits(bbr->bw);
	info->bbr.bbr_min_rtt = bbr->min_rtt_us;
	info->bbr.bbr_pacing_gain = bbr3_pacing_gain(bbr) * 256 / 100;
	info->bbr.bbr_cwnd_gain = bbr3_cwnd_gain(bbr) * 256 / 100;
	*attr = INET_DIAG_BBRINFO;
	return sizeof(info->bbr);
}

static struct tcp_congestion_ops bbr3 __read_mostly = {
	.name = "bbr3",
	.owner = THIS_MODULE,
	.init = bbr3_init,
	.release = bbr3_release,
	.cong_control = bbr3_cong_control,
	.cwnd_event_tx_start = bbr3_tx_start,
	.ssthresh = bbr3_ssthresh,
	.undo_cwnd = bbr3_undo_cwnd,
	.min_tso_segs = bbr3_min_tso_segs,
	.sndbuf_expand = bbr3_sndbuf_expand,
	.get_info = bbr3_get_info,
};

static int __init bbr3_register(void)
{
	BUILD_BUG_ON(sizeof(struct bbr3) > ICSK_CA_PRIV_SIZE);
	BUILD_BUG_ON(sizeof(struct bbr3_model) > 4096);

	if (check_parameter("beta_percent", beta_percent, 1, 99) ||
	    check_parameter("loss_threshold_percent", loss_threshold_percent, 0, 99) ||
	    check_parameter("headroom_percent", headroom_percent, 0, 99))
		return -EINVAL;
	return tcp_register_congestion_control(&bbr3);
}

static void __exit bbr3_unregister(void)
{
	tcp_unregister_congestion_control(&bbr3);
}

module_init(bbr3_register);
module_exit(bbr3_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("BBRv3, draft-ietf-ccwg-bbr");
