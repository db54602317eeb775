// SPDX-License-Identifier: GPL-2.0
/*
 * deliveries: a queueing discipline that sends at the times of a trace, with a drop-tail
 * buffer, or over another queue that tc puts below it (class 1:1). A trace is a file of
 * times in ms; at each of them is an opportunity to deliver opportunity_bytes, and behind
 * the last one the trace begins again. That is the link of mahimahi (R. Netravali et al.,
 * "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015;
 * src/frontend/link_queue.cc), whose traces are of cellular networks (K. Winstein et al.,
 * "Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks",
 * NSDI 2013).
 *
 *  - Several small packets share an opportunity, and a large packet takes several. It is
 *    delivered with the last one of them.
 *  - What is left of an opportunity when the queue is empty is lost, and so is each
 *    opportunity that finds it empty.
 *  - A packet counts with its IP header and without its Ethernet header.
 *  - A packet of which a part is delivered still has its room in the buffer. From a queue
 *    below it is taken at the opportunity that delivers its first byte, and is not counted
 *    among those that wait (backlog, qlen) from then on.
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
	struct Qdisc *queue;		/* the queue below; NULL: the own buffer */
	struct sk_buff *sending;	/* taken from it, and not delivered whole */
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

static int buffer_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	if (limit_packets ? sch->q.qlen >= limit_packets :
			    sch->qstats.backlog + qdisc_pkt_len(skb) > limit_bytes)
		return qdisc_drop(skb, sch, to_free);
	return qdisc_enqueue_tail(skb, sch);
}

static int queue_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct deliveries *link = qdisc_priv(sch);
	unsigned int bytes = qdisc_pkt_len(skb);
	int result = qdisc_enqueue(skb, link->queue, to_free);

	if (result != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(result))
			qdisc_qstats_drop(sch);
		return result;
	}
	WRITE_ONCE(sch->qstats.backlog, sch->qstats.backlog + bytes);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen + 1);
	return NET_XMIT_SUCCESS;
}

static int deliveries_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct deliveries *link = qdisc_priv(sch);
	u64 now_ns = ktime_get_ns();

	if (!sch->q.qlen && !link->sending && has_started(now_ns))
		skip_past(link, now_ns);
	return link->queue ? queue_enqueue(skb, sch, to_free) : buffer_enqueue(skb, sch, to_free);
}

/* The packet that is delivered next; from the queue below it is taken now */
static struct sk_buff *first_packet(struct Qdisc *sch)
{
	struct deliveries *link = qdisc_priv(sch);

	if (!link->queue)
		return qdisc_peek_head(sch);
	if (link->sending)
		return link->sending;
	link->sending = link->queue->dequeue(link->queue);
	if (link->sending) {
		qdisc_qstats_backlog_dec(sch, link->sending);
		WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
	}
	return link->sending;
}

static struct sk_buff *deliver_first(struct Qdisc *sch)
{
	struct deliveries *link = qdisc_priv(sch);
	struct sk_buff *skb = first_packet(sch);

	link->done_bytes = 0;
	if (!link->queue)
		return qdisc_dequeue_head(sch);
	link->sending = NULL;
	if (skb)
		qdisc_bstats_update(sch, skb);
	return skb;
}

static struct sk_buff *deliveries_dequeue(struct Qdisc *sch)
{
	struct deliveries *link = qdisc_priv(sch);
	u64 now_ns = ktime_get_ns();

	if (!has_started(now_ns))
		return deliver_first(sch);
	if (!sch->q.qlen && !link->sending)
		return NULL;
	if (!link->begin_ns)
		skip_past(link, now_ns);
	for (;;) {
		struct sk_buff *skb;
		u32 needed_bytes;

		if (!link->left_bytes) {
			if (next_ns(link) > now_ns) {
				qdisc_watchdog_schedule_ns(&link->watchdog, next_ns(link));
				return NULL;
			}
			take_next(link);
		}
		skb = first_packet(sch);
		if (!skb)
			return NULL;
		needed_bytes = qdisc_pkt_len(skb) - ETH_HLEN - link->done_bytes;
		if (needed_bytes <= link->left_bytes) {
			link->left_bytes -= needed_bytes;
			return deliver_first(sch);
		}
		link->done_bytes += link->left_bytes;
		link->left_bytes = 0;
	}
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

	link->queue = NULL;
	link->sending = NULL;
	forget(link);
	qdisc_watchdog_init(&link->watchdog, sch);
	return 0;
}

static void drop_sending(struct deliveries *link)
{
	kfree_skb(link->sending);
	link->sending = NULL;
}

static void deliveries_reset(struct Qdisc *sch)
{
	struct deliveries *link = qdisc_priv(sch);

	if (link->queue)
		qdisc_reset(link->queue);
	qdisc_reset_queue(sch);
	qdisc_watchdog_cancel(&link->watchdog);
	drop_sending(link);
	forget(link);
}

static void deliveries_destroy(struct Qdisc *sch)
{
	struct deliveries *link = qdisc_priv(sch);

	qdisc_watchdog_cancel(&link->watchdog);
	drop_sending(link);
	qdisc_put(link->queue);
}

static int deliveries_dump_class(struct Qdisc *sch, unsigned long class, struct sk_buff *skb,
				 struct tcmsg *tcm)
{
	struct deliveries *link = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = link->queue ? link->queue->handle : 0;
	return 0;
}

static int deliveries_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new,
			    struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct deliveries *link = qdisc_priv(sch);

	if (!link->queue && sch->q.qlen) {
		NL_SET_ERR_MSG(extack, "packets wait in the link's own buffer");
		return -EBUSY;
	}
	*old = qdisc_replace(sch, new, &link->queue);
	return 0;
}

static struct Qdisc *deliveries_leaf(struct Qdisc *sch, unsigned long class)
{
	struct deliveries *link = qdisc_priv(sch);

	return link->queue;
}

static unsigned long deliveries_find(struct Qdisc *sch, u32 classid)
{
	return 1;
}

static void deliveries_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, 1, walker);
}

static const struct Qdisc_class_ops deliveries_class_ops = {
	.graft		= deliveries_graft,
	.leaf		= deliveries_leaf,
	.find		= deliveries_find,
	.walk		= deliveries_walk,
	.dump		= deliveries_dump_class,
};

static struct Qdisc_ops deliveries_ops __read_mostly = {
	.id		= "deliveries",
	.cl_ops		= &deliveries_class_ops,
	.priv_size	= sizeof(struct deliveries),
	.enqueue	= deliveries_enqueue,
	.dequeue	= deliveries_dequeue,
	.peek		= qdisc_peek_dequeued,
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
