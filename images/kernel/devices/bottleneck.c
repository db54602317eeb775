// SPDX-License-Identifier: GPL-2.0
/*
 * bottleneck: a queueing discipline that is the sending end of a link. It has one packet in
 * transmission, which leaves when its last bit is sent, size / rate after its transmission
 * began. The next packet is taken from the queue at that time, or when it comes to a link
 * that is idle. Packets of all sizes pay for their own time, and none passes in a burst.
 *
 *  - The queue below it (class 1:1) is a bfifo of limit_bytes, or another one that tc puts
 *    there. It holds the packets that wait, and not the one in transmission; so do backlog
 *    and qlen.
 *  - Transmissions that follow on one another are counted in whole and parts of ns, without
 *    regard to the time at which a timer came. So the rate is exact, however late timers are.
 *  - A new rate holds from the next packet on.
 *  - A packet counts with its Ethernet header, without preamble, check sequence and gap.
 *
 * Rate and limit are set by rtnetlink, and shown among the statistics: tc (iproute2) cannot
 * print options of a qdisc that it does not know, and its JSON is none with them.
 */

#include <linux/math64.h>
#include <linux/module.h>
#include <net/pkt_sched.h>

/*
 * The clock's step in User Mode Linux (TIMER_MULTIPLIER in arch/um/include/linux/time-internal.h).
 * A timer for a time between two steps would come at the first of them, too early, and be
 * set again. So a packet leaves at the step before its time.
 */
#define CLOCK_STEP_NS	256

enum {
	BOTTLENECK_RATE_BPS = 1,
	BOTTLENECK_LIMIT_BYTES,
	BOTTLENECK_ATTRIBUTES
};

struct bottleneck_stats {
	u64 rate_bps;
	u64 limit_bytes;
};

struct bottleneck {
	struct bottleneck_stats is;
	struct Qdisc *queue;
	struct qdisc_watchdog watchdog;
	struct sk_buff *sending;	/* the packet in transmission */
	u64 end_ns;			/* of its transmission */
	u64 part_ns;			/* what end_ns lacks, in 1 / rate_bps of a ns */
};

static void begin_next(struct Qdisc *sch, u64 begin_ns)
{
	struct bottleneck *link = qdisc_priv(sch);
	struct sk_buff *skb = link->queue->dequeue(link->queue);
	u64 bits;

	link->sending = skb;
	if (!skb)
		return;
	qdisc_qstats_backlog_dec(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
	bits = 8ULL * qdisc_pkt_len(skb);
	link->end_ns = begin_ns + div64_u64_rem(bits * NSEC_PER_SEC + link->part_ns,
						link->is.rate_bps, &link->part_ns);
}

static struct sk_buff *bottleneck_dequeue(struct Qdisc *sch)
{
	struct bottleneck *link = qdisc_priv(sch);
	u64 now_ns = ktime_get_ns();
	struct sk_buff *skb;

	if (!link->sending) {
		link->part_ns = 0;
		begin_next(sch, now_ns);
	}
	skb = link->sending;
	if (!skb)
		return NULL;
	if (now_ns < round_down(link->end_ns, CLOCK_STEP_NS)) {
		qdisc_watchdog_schedule_ns(&link->watchdog,
					   round_down(link->end_ns, CLOCK_STEP_NS));
		return NULL;
	}
	begin_next(sch, link->end_ns);
	qdisc_bstats_update(sch, skb);
	return skb;
}

static int bottleneck_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct bottleneck *link = qdisc_priv(sch);
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

static const struct nla_policy bottleneck_policy[BOTTLENECK_ATTRIBUTES] = {
	[BOTTLENECK_RATE_BPS]		= { .type = NLA_U64 },
	[BOTTLENECK_LIMIT_BYTES]	= { .type = NLA_U32 },
};

static int bottleneck_change(struct Qdisc *sch, struct nlattr *options,
			     struct netlink_ext_ack *extack)
{
	struct bottleneck *link = qdisc_priv(sch);
	struct nlattr *given[BOTTLENECK_ATTRIBUTES];
	struct nlattr *rate;
	int error;

	error = nla_parse_nested(given, BOTTLENECK_ATTRIBUTES - 1, options, bottleneck_policy,
				 extack);
	if (error)
		return error;
	rate = given[BOTTLENECK_RATE_BPS];
	if (!rate || !nla_get_u64(rate)) {
		NL_SET_ERR_MSG(extack, "a bottleneck needs a rate");
		return -EINVAL;
	}
	if (given[BOTTLENECK_LIMIT_BYTES]) {
		u32 limit_bytes = nla_get_u32(given[BOTTLENECK_LIMIT_BYTES]);

		error = fifo_set_limit(link->queue, limit_bytes);
		if (error)
			return error;
		link->is.limit_bytes = limit_bytes;
	}
	sch_tree_lock(sch);
	link->is.rate_bps = nla_get_u64(rate);
	link->part_ns = 0;
	sch_tree_unlock(sch);
	return 0;
}

static int bottleneck_init(struct Qdisc *sch, struct nlattr *options,
			   struct netlink_ext_ack *extack)
{
	struct bottleneck *link = qdisc_priv(sch);
	struct Qdisc *queue;

	qdisc_watchdog_init(&link->watchdog, sch);
	link->queue = &noop_qdisc;
	if (!options)
		return -EINVAL;
	queue = fifo_create_dflt(sch, &bfifo_qdisc_ops, 0, extack);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	qdisc_hash_add(queue, true);
	link->queue = queue;
	return bottleneck_change(sch, options, extack);
}

static void drop_sending(struct bottleneck *link)
{
	kfree_skb(link->sending);
	link->sending = NULL;
}

static void bottleneck_reset(struct Qdisc *sch)
{
	struct bottleneck *link = qdisc_priv(sch);

	qdisc_reset(link->queue);
	qdisc_watchdog_cancel(&link->watchdog);
	drop_sending(link);
}

static void bottleneck_destroy(struct Qdisc *sch)
{
	struct bottleneck *link = qdisc_priv(sch);

	qdisc_watchdog_cancel(&link->watchdog);
	drop_sending(link);
	qdisc_put(link->queue);
}

static int bottleneck_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct bottleneck *link = qdisc_priv(sch);
	struct bottleneck_stats is = link->is;

	return gnet_stats_copy_app(dump, &is, sizeof(is));
}

static int bottleneck_dump_class(struct Qdisc *sch, unsigned long class, struct sk_buff *skb,
				 struct tcmsg *tcm)
{
	struct bottleneck *link = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = link->queue->handle;
	return 0;
}

static int bottleneck_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new,
			    struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct bottleneck *link = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ? new : &noop_qdisc, &link->queue);
	return 0;
}

static struct Qdisc *bottleneck_leaf(struct Qdisc *sch, unsigned long class)
{
	struct bottleneck *link = qdisc_priv(sch);

	return link->queue;
}

static unsigned long bottleneck_find(struct Qdisc *sch, u32 classid)
{
	return 1;
}

static void bottleneck_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, 1, walker);
}

static const struct Qdisc_class_ops bottleneck_class_ops = {
	.graft		= bottleneck_graft,
	.leaf		= bottleneck_leaf,
	.find		= bottleneck_find,
	.walk		= bottleneck_walk,
	.dump		= bottleneck_dump_class,
};

static struct Qdisc_ops bottleneck_ops __read_mostly = {
	.id		= "bottleneck",
	.cl_ops		= &bottleneck_class_ops,
	.priv_size	= sizeof(struct bottleneck),
	.enqueue	= bottleneck_enqueue,
	.dequeue	= bottleneck_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= bottleneck_init,
	.change		= bottleneck_change,
	.reset		= bottleneck_reset,
	.destroy	= bottleneck_destroy,
	.dump_stats	= bottleneck_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init bottleneck_register(void)
{
	return register_qdisc(&bottleneck_ops);
}

static void __exit bottleneck_unregister(void)
{
	unregister_qdisc(&bottleneck_ops);
}

module_init(bottleneck_register);
module_exit(bottleneck_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The sending end of a link: one packet in transmission, at a rate");
