/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Older interfaces of Linux for congestion controls, each made of the one that took its place.
 *
 * It is included before a module of a user's that needs it (farpath/lab/artifacts/module_sources.py),
 * which looks up here which interfaces there are. One is there only if
 *
 *   LACKS_<name>        the module names it, and the headers of the kernel do not;
 *   USES_<name>         the module names it;
 *   CALLS_<name>_<n>    the module calls it with n arguments, one of which is gone or is new;
 *
 * and FIT_<member>(function) defines <member>_<function>, which fits a member of struct
 * tcp_congestion_ops, from a function of an older type. IS_OLD_<member>(function) says whether the
 * function is of that type.
 *
 * CHANGED() leaves a line in the module's .modinfo where an interface is used in what is compiled.
 */
#include <linux/module.h>
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/hrtimer.h>
#include <linux/timer.h>
#include <linux/ktime.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/inet_diag.h>
#include <net/tcp.h>

#define CHANGED_LINE(text) \
	".pushsection .modinfo,\"a\",@progbits\n\t.asciz \"farpath=" text "\"\n\t.popsection"
#define CHANGED(text) asm volatile(CHANGED_LINE(text))
/* The same outside of a function */
#define CHANGED_FILE(text) asm(CHANGED_LINE(text))

/* ------------------------------------------------------------ struct tcp_congestion_ops */

#define TYPE_IS(function, ...) __builtin_types_compatible_p(typeof(&(function)), __VA_ARGS__)

/* Two arguments from 4.9 on, four since 6.10 */
#define OLD_CONG_CONTROL void (*)(struct sock *, const struct rate_sample *)
#define FIT_cong_control(function)							\
	static __maybe_unused void cong_control_##function(struct sock *sk, u32 ack,	\
			int flag, const struct rate_sample *rs)				\
	{										\
		void (*old)(struct sock *, const struct rate_sample *) = (void *)function; \
		CHANGED("cong_control has four arguments since Linux 6.10: two are left out"); \
		old(sk, rs);								\
	}
#define IS_OLD_cong_control(function) TYPE_IS(function, OLD_CONG_CONTROL)

/* Numbers of packets and us until 4.6, a sample since 4.7 */
#define OLD_PKTS_ACKED void (*)(struct sock *, u32, s32)
#define FIT_pkts_acked(function)							\
	static __maybe_unused void pkts_acked_##function(struct sock *sk,		\
			const struct ack_sample *sample)				\
	{										\
		void (*old)(struct sock *, u32, s32) = (void *)function;		\
		CHANGED("pkts_acked has a struct ack_sample since Linux 4.7: its packets and its RTT are given"); \
		old(sk, sample->pkts_acked, sample->rtt_us);				\
	}
#define IS_OLD_pkts_acked(function) TYPE_IS(function, OLD_PKTS_ACKED)

/* (ack, acked, in_flight) from 3.13 to 3.15, (ack, in_flight) before, (ack, acked) since 3.16 */
#define OLD_CONG_AVOID void (*)(struct sock *, u32, u32, u32)
#define FIT_cong_avoid(function)							\
	static __maybe_unused void cong_avoid_##function(struct sock *sk, u32 ack, u32 acked) \
	{										\
		void (*old)(struct sock *, u32, u32, u32) = (void *)function;		\
		CHANGED("cong_avoid has no in_flight since Linux 3.16: tcp_packets_in_flight() is given"); \
		old(sk, ack, acked, tcp_packets_in_flight(tcp_sk(sk)));			\
	}
#define IS_OLD_cong_avoid(function) TYPE_IS(function, OLD_CONG_AVOID)
#define FIT_cong_avoid_in_flight(function)						\
	static __maybe_unused void cong_avoid_in_flight_##function(struct sock *sk, u32 ack, \
			u32 acked)							\
	{										\
		CHANGED("cong_avoid has acked in place of in_flight since Linux 3.16: tcp_packets_in_flight() is given"); \
		function(sk, ack, tcp_packets_in_flight(tcp_sk(sk)));			\
	}
#define IS_OLD_cong_avoid_in_flight(function) 1

/* A part of cwnd_event until 7.0, and a member of its own since 7.1 */
#define FIT_cwnd_event_tx_start(function)						\
	static __maybe_unused void cwnd_event_tx_start_##function(struct sock *sk)	\
	{										\
		CHANGED("cwnd_event has no CA_EVENT_TX_START since Linux 7.1: cwnd_event_tx_start gives it"); \
		function(sk, CA_EVENT_TX_START);					\
	}
#ifdef LACKS_cwnd_event_tx_start
#define AND_cwnd_event_tx_start(function)
#else
#define AND_cwnd_event_tx_start(function) .cwnd_event_tx_start = cwnd_event_tx_start_##function,
#endif

/* The number of segments until 4.16, their least number since 4.17 */
#define FIT_tso_segs_goal(function)							\
	static __maybe_unused u32 tso_segs_goal_##function(struct sock *sk)		\
	{										\
		CHANGED("tso_segs_goal is min_tso_segs since Linux 4.17: the number is taken for the least one"); \
		return function(sk);							\
	}
#define IS_OLD_tso_segs_goal(function) 1
/* That of Google's kernels for BBRv2 */
#define FIT_tso_segs(function)								\
	static __maybe_unused u32 tso_segs_##function(struct sock *sk)			\
	{										\
		CHANGED("tso_segs is of Google's kernels and here min_tso_segs: the number is taken for the least one"); \
		return function(sk, tcp_sk(sk)->mss_cache);				\
	}
#define IS_OLD_tso_segs(function) 1

/* It put an attribute into a message until 4.0 */
#define FIT_get_info(function)								\
	static __maybe_unused size_t get_info_##function(struct sock *sk, u32 ext, int *attr, \
			union tcp_cc_info *info)					\
	{										\
		CHANGED("get_info fills a union tcp_cc_info since Linux 4.1: it gives nothing"); \
		return 0;								\
	}
#define IS_OLD_get_info(function)							\
	(TYPE_IS(function, void (*)(struct sock *, u32, struct sk_buff *)) ||		\
	 TYPE_IS(function, int (*)(struct sock *, u32, struct sk_buff *)))

/* Every sample of an RTT is measured since 3.16 */
#ifdef LACKS_TCP_CONG_RTT_STAMP
#define TCP_CONG_RTT_STAMP 0
#endif

/* ------------------------------------------------------------ functions of TCP */

#ifdef CALLS_tcp_is_cwnd_limited_2
#define tcp_is_cwnd_limited(sk, in_flight) ({						\
	CHANGED("tcp_is_cwnd_limited has no in_flight since Linux 3.16: it is left out"); \
	(void)(in_flight);								\
	(tcp_is_cwnd_limited)(sk); })
#endif

#ifdef CALLS_tcp_slow_start_1
#define tcp_slow_start(tp) ({								\
	CHANGED("tcp_slow_start has the packets of an ACK since Linux 3.13: it gets 1");	\
	(tcp_slow_start)(tp, 1); })
#endif

#ifdef CALLS_tcp_cong_avoid_ai_2
#define tcp_cong_avoid_ai(tp, w) ({							\
	CHANGED("tcp_cong_avoid_ai has the packets of an ACK since Linux 4.0: it gets 1");	\
	(tcp_cong_avoid_ai)(tp, w, 1); })
#endif

#ifdef CALLS___tcp_send_ack_2
#define __tcp_send_ack(sk, rcv_nxt) ({							\
	CHANGED("__tcp_send_ack has flags since Linux 6.15: it gets 0");		\
	(__tcp_send_ack)(sk, rcv_nxt, 0); })
#endif

#ifdef LACKS_tcp_tso_autosize
/* As net/ipv4/tcp_output.c had it until 4.16: what is sent in about a millisecond */
static inline u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss_now, int min_tso_segs)
{
	unsigned long bytes = READ_ONCE(sk->sk_pacing_rate) >> READ_ONCE(sk->sk_pacing_shift);

	CHANGED("tcp_tso_autosize is not for modules since Linux 4.17: its formula is calculated");
	bytes = min_t(unsigned long, bytes, sk->sk_gso_max_size);
	return min_t(u32, max_t(u32, bytes / mss_now, min_tso_segs), sk->sk_gso_max_segs);
}
#endif

#ifdef LACKS_tcp_time_stamp
static inline u32 tcp_time_stamp(const struct tcp_sock *tp)
{
	CHANGED("tcp_time_stamp(tp) is tcp_time_stamp_ts(tp) since Linux 6.7");
	return tcp_time_stamp_ts(tp);
}
#endif

/* It was a macro of jiffies, without parentheses */
static inline u32 old_tcp_time_stamp(void)
{
	CHANGED("tcp_time_stamp is tcp_jiffies32 since Linux 4.13");
	return tcp_jiffies32;
}

#ifdef LACKS_TCP_ECN_OK
#define TCP_ECN_OK ({ CHANGED("TCP_ECN_OK is TCP_ECN_MODE_RFC3168 since Linux 6.15"); TCP_ECN_MODE_RFC3168; })
#endif

#ifdef LACKS_NET_INC_STATS_BH
#define NET_INC_STATS_BH(net, field) ({							\
	CHANGED("NET_INC_STATS_BH is __NET_INC_STATS since Linux 4.7"); \
	__NET_INC_STATS(net, field); })
#endif

#ifdef LACKS_NET_ADD_STATS_BH
#define NET_ADD_STATS_BH(net, field, add) ({						\
	CHANGED("NET_ADD_STATS_BH is __NET_ADD_STATS since Linux 4.7"); \
	__NET_ADD_STATS(net, field, add); })
#endif

/* Times of packets were a struct skb_mstamp until 4.12, and are u64 in us since */
#ifdef LACKS_skb_mstamp_us_delta
static inline u32 old_skb_mstamp_us_delta(u64 later, u64 earlier)
{
	CHANGED("struct skb_mstamp is a u64 of us since Linux 4.13");
	return tcp_stamp_us_delta(later, earlier);
}
#define skb_mstamp_us_delta(later, earlier) old_skb_mstamp_us_delta(*(later), *(earlier))
#endif

#ifdef LACKS_skb_mstamp_get
#define skb_mstamp_get(stamp) ({ *(stamp) = tcp_clock_us(); })
#endif

static inline u32 old_stamp_jiffies(u64 stamp_us)
{
	CHANGED("stamp_jiffies of a struct skb_mstamp is calculated from us since Linux 4.13");
	return (u32)div_u64(stamp_us, USEC_PER_SEC / HZ);
}

/* ------------------------------------------------------------ random numbers */

#ifdef LACKS_prandom_u32_max
static inline u32 prandom_u32_max(u32 ceiling)
{
	CHANGED("prandom_u32_max is get_random_u32_below since Linux 6.2");
	return get_random_u32_below(ceiling);
}
#endif

#ifdef LACKS_prandom_u32
static inline u32 prandom_u32(void)
{
	CHANGED("prandom_u32 is get_random_u32 since Linux 6.1");
	return get_random_u32();
}
#endif

/* ------------------------------------------------------------ time and timers */

#ifdef LACKS_get_seconds
static inline unsigned long get_seconds(void)
{
	CHANGED("get_seconds is ktime_get_real_seconds since Linux 5.6");
	return (unsigned long)ktime_get_real_seconds();
}
#endif

#ifdef LACKS_hrtimer_init
/* hrtimer_setup() wants the function at once, the module sets it next */
static inline enum hrtimer_restart old_hrtimer_function(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static inline void hrtimer_init(struct hrtimer *timer, clockid_t clock, enum hrtimer_mode mode)
{
	CHANGED("hrtimer_init is hrtimer_setup since Linux 6.15");
	hrtimer_setup(timer, old_hrtimer_function, clock, mode);
}
#endif

#ifdef LACKS_from_timer
#define from_timer(variable, timer, field) ({						\
	CHANGED("from_timer is timer_container_of since Linux 6.16");			\
	timer_container_of(variable, timer, field); })
#endif

#ifdef LACKS_del_timer
static inline int del_timer(struct timer_list *timer)
{
	CHANGED("del_timer is timer_delete since Linux 6.15");
	return timer_delete(timer);
}
#endif

#ifdef LACKS_del_timer_sync
static inline int del_timer_sync(struct timer_list *timer)
{
	CHANGED("del_timer_sync is timer_delete_sync since Linux 6.15");
	return timer_delete_sync(timer);
}
#endif

/* ------------------------------------------------------------ the compiler */

#ifdef LACKS_ACCESS_ONCE
#define ACCESS_ONCE(variable) (*({							\
	CHANGED("ACCESS_ONCE is READ_ONCE and WRITE_ONCE since Linux 4.15");		\
	(volatile typeof(variable) *)&(variable); }))
#endif

#ifdef LACKS_uninitialized_var
/* Gone since 5.9, without another in its place */
#define uninitialized_var(variable) variable
#endif

/* ------------------------------------------------------------ functions for BPF */

/* Sets of functions for BPF: 5.13 to 5.17, 5.18 and 5.19, 6.0 to 6.8 */
#ifdef LACKS_DEFINE_KFUNC_BTF_ID_SET
#define DEFINE_KFUNC_BTF_ID_SET(set, name) int __maybe_unused name
#define register_kfunc_btf_id_set(list, set) ({						\
	CHANGED("register_kfunc_btf_id_set is gone since Linux 5.18: BPF gets no function of the module"); \
	(void)(set); })
#define unregister_kfunc_btf_id_set(list, set) ({ (void)(set); })
#endif

#ifdef USES_check_set
#define check_set set
#undef BTF_SET_START
#undef BTF_SET_END
#undef BTF_ID
#define BTF_SET_START(name)								\
	CHANGED_FILE("BTF_SET_START of functions for BPF is BTF_KFUNCS_START since Linux 6.9"); \
	BTF_KFUNCS_START(name)
#define BTF_SET_END(name) BTF_KFUNCS_END(name)
#define BTF_ID(prefix, name) BTF_ID_FLAGS(prefix, name)
#endif

#if defined(USES_BTF_SET8_START) && defined(BTF_KFUNCS_START)
#undef BTF_SET8_START
#undef BTF_SET8_END
#define BTF_SET8_START(name)								\
	CHANGED_FILE("BTF_SET8_START of functions for BPF is BTF_KFUNCS_START since Linux 6.9"); \
	BTF_KFUNCS_START(name)
#define BTF_SET8_END(name) BTF_KFUNCS_END(name)
#endif
