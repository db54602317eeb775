/* SPDX-License-Identifier: GPL-2.0 */
/*
 * recovery: how the window goes through a loss in Linux 2.4 and until 2.6.11, for the
 * stacks of this directory, with the parameter "recovery".
 *
 * Mainline of today lets a window go down to ssthresh in proportion to what arrives
 * (RFC 6937), and finds by time which packets are lost, also those sent again (RACK,
 * RFC 8985). Linux 2.4.20, net/ipv4/tcp_input.c:
 *
 *  - tcp_cwnd_down: in recovery, and after a local drop, every second ACK takes a
 *    packet off the window as far as half of ssthresh, whatever the stack's decrease,
 *    and no ACK leaves it larger than what is in flight and one packet;
 *  - tcp_complete_cwr: then the window is at most ssthresh, and mostly well below, so
 *    slow start takes it there;
 *  - tcp_moderate_cwnd: out of order, after a timeout, and when recovery ends, the
 *    window is at most what is in flight and three packets;
 *  - tcp_mark_head_lost: of packets sent since recovery began none is held to be lost,
 *    so one that is sent again and lost again waits for a timeout.
 *
 * The kernel offers all that to a module: cong_control sets the window instead of the
 * kernel, and in_ack_event comes after an ACK's arrivals were noted and before losses
 * are sought, so that RACK can be kept from looking beyond the moment at which recovery
 * began. RACK itself cannot be switched off; on a path that keeps the order it finds a
 * first loss when 2.4 did, at the third packet that arrives after it.
 *
 * Not so with this: the kernel takes an idle connection's window back only where it
 * sets windows itself (tcp_slow_start_after_idle); flows of the lab are never idle.
 */
#ifndef FARPATH_RECOVERY_H
#define FARPATH_RECOVERY_H

#include <linux/module.h>
#include <net/tcp.h>
#include "ack_counting.h"

#define RECOVERY_MOST_BURST 3	/* packets; tcp_max_burst of 2.4 */

static int recovery;
module_param(recovery, int, 0444);
MODULE_PARM_DESC(recovery, "how the window goes through a loss: 1 as in Linux 2.4, 0 as today");

/* The module's own functions, which the ones below call */
static struct tcp_congestion_ops recovery_stack;

/* At the end of a connection's private area, whose beginning is the stack's */
struct recovery {
	u64 began_us;		/* tcp_mstamp when Recovery or Loss began */
	u32 una;		/* what the ACK before had acknowledged */
	u8 state;		/* in which it left the connection */
};

#define RECOVERY_STACK_BYTES (ICSK_CA_PRIV_SIZE - sizeof(struct recovery))

static struct recovery *recovery_of(const struct sock *sk)
{
	return (struct recovery *)((u8 *)inet_csk_ca(sk) + ICSK_CA_PRIV_SIZE) - 1;
}

static bool recovery_reduces(u8 state)
{
	return state == TCP_CA_CWR || state == TCP_CA_Recovery;
}

static void recovery_limit(struct tcp_sock *tp, u32 packets)
{
	tcp_snd_cwnd_set(tp, min(tcp_snd_cwnd(tp), packets));
	tp->snd_cwnd_stamp = tcp_jiffies32;
}

static void recovery_init(struct sock *sk)
{
	struct recovery *now = recovery_of(sk);

	if (recovery_stack.init)
		recovery_stack.init(sk);
	now->una = tcp_sk(sk)->snd_una;
	now->state = TCP_CA_Open;
}

static void recovery_set_state(struct sock *sk, u8 next)
{
	u8 state = inet_csk(sk)->icsk_ca_state;
	struct tcp_sock *tp = tcp_sk(sk);

	if (next >= TCP_CA_Recovery)
		recovery_of(sk)->began_us = tp->tcp_mstamp;
	if (recovery_reduces(next))
		recovery_limit(tp, tcp_packets_in_flight(tp) + 1);
	/* Without undo_marker the loss turned out to be none, and the window is back */
	else if (next <= TCP_CA_Disorder &&
		 (state == TCP_CA_CWR || (state == TCP_CA_Recovery && tp->undo_marker)))
		recovery_limit(tp, tp->snd_ssthresh);
	if (recovery_stack.set_state)
		recovery_stack.set_state(sk, next);
}

static void recovery_in_ack_event(struct sock *sk, u32 flags)
{
	u64 began_us = recovery_of(sk)->began_us;
	struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		tp->rack.mstamp = min(tp->rack.mstamp, began_us - 1);
}

static void recovery_halve(struct tcp_sock *tp)
{
	tp->snd_cwnd_cnt ^= 1;
	if (!tp->snd_cwnd_cnt && tcp_snd_cwnd(tp) > max(tp->snd_ssthresh / 2, 1U))
		tcp_snd_cwnd_set(tp, tcp_snd_cwnd(tp) - 1);
	recovery_limit(tp, tcp_packets_in_flight(tp) + 1);
}

static void recovery_cong_control(struct sock *sk, u32 ack, int flag,
				  const struct rate_sample *rs)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct recovery *before = recovery_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool acked = before->una != tp->snd_una;
	u8 state = before->state;

	if (!icsk->icsk_ca_initialized)
		return;
	before->una = tp->snd_una;
	before->state = icsk->icsk_ca_state;
	if (recovery_reduces(icsk->icsk_ca_state)) {
		recovery_halve(tp);
		return;
	}
	if (acked && !recovery_reduces(state)) {
		recovery_stack.cong_avoid(sk, ack, rs->acked_sacked);
		tp->snd_cwnd_stamp = tcp_jiffies32;
	}
	if (state != TCP_CA_Open || icsk->icsk_ca_state != TCP_CA_Open)
		recovery_limit(tp, tcp_packets_in_flight(tp) + RECOVERY_MOST_BURST);
}

/* Registers a stack of at most RECOVERY_STACK_BYTES; 0, or a negative error */
static int recovery_register(struct tcp_congestion_ops *stack)
{
	if (check_parameter("recovery", recovery, 0, 1))
		return -EINVAL;
	if (recovery) {
		recovery_stack = *stack;
		stack->init = recovery_init;
		stack->set_state = recovery_set_state;
		stack->in_ack_event = recovery_in_ack_event;
		stack->cong_control = recovery_cong_control;
	}
	return tcp_register_congestion_control(stack);
}

#endif
