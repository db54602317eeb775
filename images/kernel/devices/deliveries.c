// SPDX-License-Identifier: GPL-2.0
/*
 * deliveries: a queueing discipline that sends at the times of a trace, with a drop-tail
 * buffer. A trace is a file of times in ms; at each of them is an opportunity to deliver
 * opportunity_bytes, and behind the last one the trace begins again. That is the link of
 * mahimahi (R. Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX
 * ATC 2015; src/frontend/link_queue.cc), whose traces are of cellular networks (K.
 * Winstein et al., "Stochastic Forecasts Achieve High Throughput and Low Delay over
 * Cellular Networks", NSDI 2013).
 *
 *  - Several small packets share an opportunity, and a large packet takes several. It is
 *    delivered with the last one of them.
 *  - What is left of an opportunity when the queue is empty is lost, and so is each
 *    opportunity that finds it empty.
 *  - A packet counts with its IP header and without its Ethernet header.
 *
 * Times count from start_ns of the monotonic clock. Before it all packets pass at once.
 */

#include <linux/fs.h>
#include <linux/kernel_read_file.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <net/pkt_sched.h>

static char *file;
module_param(file, charp, 0444);
MODULE_PARM_DESC(file, "the trace: times in ms that do not fall, 32 bits each");

static uint opportunity_bytes = 1500;
module_param(opportunity_bytes, uint, 0444);
MODULE_PARM_DESC(opportunity_bytes, "what each opportunity delivers");

static uint limit_bytes = 1 << 20;
module_param(limit_bytes, uint, 0444);
MODULE_PARM_DESC(limit_bytes, "size of the buffer in bytes of frames");

static uint limit_packets;
module_param(limit_packets, uint, 0444);
MODULE_PARM_DESC(limit_packets, "length of the buffer in packets; 0: it counts bytes");

static ullong start_ns;
module_param(start_ns, ullong, 0644);
MODULE_PARM_DESC(start_ns, "time of the monotonic clock from which the trace counts");

static uint opportunities;
module_param(opportunities, uint, 0444);
MODULE_PARM_DESC(opportunities, "how many times the trace has, read from the file");

static uint period_ms;
module_param(period_ms, uint, 0444);
MODULE_PARM_DESC(period_ms, "after which time the trace begins again, read from the file");

static u32 *times_ms;

struct deliveries {
	struct qdisc_watchdog watchdog;
	u64 begin_ns;		/* start of the current round of the trace */
	u32 next;		/* the opportunity that comes next in it */
	u32 left_bytes;		/* what the last opportunity still delivers */
	u32 done_bytes;		/* of the first packet, delivered */
};

static u64 next_ns(const struct deliveries *link)
{
	return link->begin_ns + (u64)times_ms[link->next] * NSEC_PER_MSEC;
}

static void take_next(struct deliveries *link)
{
	link->left_bytes = opportunity_bytes;
	if (++link->next < opportunities)
		return;
	link->next = 0;
	link->begin_ns += (u64)period_ms * NSEC_PER_MSEC;
}

/* Passes over the opportunities that found no packet */
static void skip_past(struct deliveries *link, u64 now_ns)
{
	u64 period_ns = (u64)period_ms * NSEC_PER_MSEC;

	if (!link->begin_ns)
		link->begin_ns = start_ns;
	if (now_ns > link->begin_ns + period_ns) {
		link->begin_ns += div64_u64(now_ns - link->begin_ns, period_ns) * period_ns;
		link->next = 0;
	}
	while (next_ns(link) < now_ns)
		take_next(link);
	link->left_bytes = 0;
}

static bool has_started(u64 now_ns)
{
	return start_ns && now_ns >= start_ns;
}

static int deliveries_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	u64 now_ns = ktime_get_ns();

	if (limit_packets ? sch->q.qlen >= limit_packets :
			    sch->qstats.backlog + qdisc_pkt_len(skb) > limit_bytes)
		return qdisc_drop(skb, sch, to_free);
	if (!sch->q.qlen && has_started(now_ns))
		skip_past(qdisc_priv(sch), now_ns);
	return qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *deliveries_dequeue(struct Qdisc *sch)
{
	struct deliveries *link = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_peek_head(sch);
	u64 now_ns = ktime_get_ns();
	u32 needed_bytes;

	if (!skb || !has_started(now_ns))
		return qdisc_dequeue_head(sch);
	if (!link->begin_ns)
		skip_past(link, now_ns);
	needed_bytes = qdisc_pkt_len(skb) - ETH_HLEN - link->done_bytes;
	while (needed_bytes > link->left_bytes) {
		needed_bytes -= link->left_bytes;
		link->done_bytes += link->left_bytes;
		link->left_bytes = 0;
		if (next_ns(link) > now_ns) {
			qdisc_watchdog_schedule_ns(&link->watchdog, next_ns(link));
			return NULL;
		}
		take_next(link);
	}
	link->left_bytes -= needed_bytes;
	link->done_bytes = 0;
	return qdisc_dequeue_head(sch);
}

static void forget(struct deliveries *link)
{
	link->begin_ns = 0;
	link->next = 0;
	link->left_bytes = 0;
	link->done_bytes = 0;
}

static int deliveries_init(struct Qdisc *sch, struct nlattr *options,
			   struct netlink_ext_ack *extack)
{
	struct deliveries *link = qdisc_priv(sch);

	forget(link);
	qdisc_watchdog_init(&link->watchdog, sch);
	return 0;
}

static void deliveries_reset(struct Qdisc *sch)
{
	struct deliveries *link = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	qdisc_watchdog_cancel(&link->watchdog);
	forget(link);
}

static void deliveries_destroy(struct Qdisc *sch)
{
	struct deliveries *link = qdisc_priv(sch);

	qdisc_watchdog_cancel(&link->watchdog);
}

static struct Qdisc_ops deliveries_ops __read_mostly = {
	.id		= "deliveries",
	.priv_size	= sizeof(struct deliveries),
	.enqueue	= deliveries_enqueue,
	.dequeue	= deliveries_dequeue,
	.peek		= qdisc_peek_head,
	.init		= deliveries_init,
	.reset		= deliveries_reset,
	.destroy	= deliveries_destroy,
	.owner		= THIS_MODULE,
};

static bool is_trace(void)
{
	u32 number;

	for (number = 1; number < opportunities; number++)
		if (times_ms[number] < times_ms[number - 1])
			return false;
	return opportunities && times_ms[opportunities - 1];
}

static int __init deliveries_register(void)
{
	void *content = NULL;
	ssize_t bytes;
	int error;

	if (!file || !opportunity_bytes)
		return -EINVAL;
	bytes = kernel_read_file_from_path(file, 0, &content, INT_MAX, NULL, READING_UNKNOWN);
	if (bytes < 0) {
		pr_err("deliveries: cannot read %s: error %zd\n", file, -bytes);
		return bytes;
	}
	times_ms = content;
	opportunities = bytes / sizeof(*times_ms);
	if (!is_trace()) {
		pr_err("deliveries: %s has no times that rise above 0\n", file);
		vfree(times_ms);
		return -EINVAL;
	}
	period_ms = times_ms[opportunities - 1];
	error = register_qdisc(&deliveries_ops);
	if (error)
		vfree(times_ms);
	return error;
}

static void __exit deliveries_unregister(void)
{
	unregister_qdisc(&deliveries_ops);
	vfree(times_ms);
}

module_init(deliveries_register);
module_exit(deliveries_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A link that delivers at the times of a trace");
