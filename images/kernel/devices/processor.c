// SPDX-License-Identifier: GPL-2.0
/*
 * processor: a queueing discipline that stands for the processor of a slow host. It
 * belongs on the port that leads to the host, and holds what arrives at the host until
 * its processor would have been done with it.
 *
 * Linux of 2004 put what a card received into a queue of net.core.netdev_max_backlog
 * packets and dropped what found it full. With throttle 1 it also drops all that comes
 * after that, until the queue is empty, as Linux 2.4.20 did behind cards whose drivers
 * did not poll (netif_rx() and process_backlog() in net/core/dev.c). The processor worked
 * on one packet after another: packet_ns for each that arrives and for each that an ACK
 * lets go, as many as it newly acknowledges. For an ACK with SACK blocks it walked along
 * the list of packets sent and not yet acknowledged, walk_ns for each packet passed:
 *
 *  - for each block from the list's head to the block's end (tcp_sacktag_write_queue),
 *  - and twice from the head to the highest block, to mark what is lost
 *    (tcp_update_scoreboard) and to find what to send again (tcp_xmit_retransmit_queue).
 *
 * Source: net/ipv4/tcp_input.c and tcp_output.c of Linux 2.4.20. The head of the list is
 * what the ACK acknowledges, so the ACK alone says how long its walks were, in bytes;
 * segment_bytes makes packets of them. A kernel that remembered where earlier walks had
 * ended did none of them: the ACKs of such flows are known by their port, hinted_ports.
 *
 * farpath/spec/processor.py has the times, and where they come from. No program of the
 * host runs slower; what it sends waits for ACKs that wait here.
 */

#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/unaligned.h>
#include <net/pkt_sched.h>
#include <net/tcp.h>

#define MOST_HINTED 256
#define FLOW_BITS 10

static ulong packet_ns;
module_param(packet_ns, ulong, 0444);
MODULE_PARM_DESC(packet_ns, "time for a packet that arrives or that an ACK lets go");

static ulong walk_ns;
module_param(walk_ns, ulong, 0444);
MODULE_PARM_DESC(walk_ns, "time for a packet passed in a walk that a SACK causes");

static uint segment_bytes = 1448;
module_param(segment_bytes, uint, 0444);
MODULE_PARM_DESC(segment_bytes, "payload of a packet in the list of packets sent");

static uint backlog_packets = 300;
module_param(backlog_packets, uint, 0444);
MODULE_PARM_DESC(backlog_packets, "packets that may wait, with the one worked on");

static bool throttle;
module_param(throttle, bool, 0444);
MODULE_PARM_DESC(throttle, "a queue that was full takes no packet before it is empty");

static ushort hinted_ports[MOST_HINTED];
static int hinted_count;
module_param_array(hinted_ports, ushort, &hinted_count, 0444);
MODULE_PARM_DESC(hinted_ports, "source ports of ACKs that cause no walk");

/* What a connection has acknowledged; two that share a place forget each other */
struct flow {
	u32 ports;		/* as in the TCP header; 0: none yet */
	u32 acknowledged;
};

struct processor {
	struct qdisc_watchdog watchdog;
	u64 idle_ns;		/* when all that has arrived will be done */
	bool is_throttled;
	struct flow flows[1 << FLOW_BITS];
};

struct work {
	u64 done_ns;
};

static struct work *work_of(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct work));
	return (struct work *)qdisc_skb_cb(skb)->data;
}

/* Where the TCP header of a packet is; 0 if it has none */
static int tcp_offset(const struct sk_buff *skb)
{
	int network = skb_network_offset(skb);
	struct ipv6hdr six;
	struct iphdr four;

	switch (skb->protocol) {
	case htons(ETH_P_IP):
		if (skb_copy_bits(skb, network, &four, sizeof(four)) ||
		    four.protocol != IPPROTO_TCP || ip_is_fragment(&four))
			return 0;
		return network + four.ihl * 4;
	case htons(ETH_P_IPV6):
		if (skb_copy_bits(skb, network, &six, sizeof(six)) ||
		    six.nexthdr != IPPROTO_TCP)
			return 0;
		return network + sizeof(six);
	}
	return 0;
}

static bool is_hinted(u16 port)
{
	int number;

	for (number = 0; number < hinted_count; number++)
		if (hinted_ports[number] == port)
			return true;
	return false;
}

/* The bytes that all walks of an ACK pass, by its SACK option: blocks of begin and end */
static u64 walked_bytes(const u8 *option, u32 acknowledged)
{
	int blocks = (option[1] - TCPOLEN_SACK_BASE) / TCPOLEN_SACK_PERBLOCK;
	u32 highest = 0;
	u64 sum = 0;
	int block;

	for (block = 0; block < blocks; block++) {
		u32 end = get_unaligned_be32(option + 2 + block * TCPOLEN_SACK_PERBLOCK + 4);
		u32 distance = end - acknowledged;

		/* A block below the head is of a packet that came twice (RFC 2883) */
		if ((s32)distance <= 0)
			continue;
		highest = max(highest, distance);
		sum += distance;
	}
	return sum + 2ULL * highest;
}

/* The time for the packets that an ACK lets go, one for each that it newly acknowledges */
static u64 sending_ns(struct processor *processor, const struct tcphdr *tcp)
{
	u32 ports = ((u32)ntohs(tcp->source) << 16) | ntohs(tcp->dest);
	struct flow *flow = &processor->flows[hash_32(ports, FLOW_BITS)];
	u32 acknowledged = ntohl(tcp->ack_seq);
	s32 bytes = acknowledged - flow->acknowledged;

	if (flow->ports != ports)
		bytes = 0;
	else if (bytes <= 0)
		return 0;
	flow->ports = ports;
	flow->acknowledged = acknowledged;
	return div_u64((u64)bytes * packet_ns, segment_bytes);
}

static u64 walks_ns(const struct sk_buff *skb, int offset, const struct tcphdr *tcp)
{
	int length = tcp->doff * 4 - (int)sizeof(*tcp), at;
	u8 options[MAX_TCP_OPTION_SPACE];

	if (length <= 0 || is_hinted(ntohs(tcp->source)) ||
	    skb_copy_bits(skb, offset + sizeof(*tcp), options, length))
		return 0;
	for (at = 0; at < length && options[at] != TCPOPT_EOL;) {
		if (options[at] == TCPOPT_NOP) {
			at++;
			continue;
		}
		if (at + 1 >= length || options[at + 1] < 2 || at + options[at + 1] > length)
			return 0;
		if (options[at] == TCPOPT_SACK)
			return div_u64(walked_bytes(options + at, ntohl(tcp->ack_seq)),
				       segment_bytes) * walk_ns;
		at += options[at + 1];
	}
	return 0;
}

static u64 work_ns(struct processor *processor, const struct sk_buff *skb)
{
	int offset = tcp_offset(skb);
	struct tcphdr tcp;

	if (!offset || skb_copy_bits(skb, offset, &tcp, sizeof(tcp)) || !tcp.ack)
		return packet_ns;
	return packet_ns + sending_ns(processor, &tcp) + walks_ns(skb, offset, &tcp);
}

static int processor_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct processor *processor = qdisc_priv(sch);

	if (!sch->q.qlen)
		processor->is_throttled = false;
	else if (sch->q.qlen >= backlog_packets)
		processor->is_throttled = throttle;
	if (processor->is_throttled || sch->q.qlen >= backlog_packets)
		return qdisc_drop(skb, sch, to_free);
	processor->idle_ns = max(processor->idle_ns, ktime_get_ns()) + work_ns(processor, skb);
	work_of(skb)->done_ns = processor->idle_ns;
	return qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *processor_dequeue(struct Qdisc *sch)
{
	struct processor *processor = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_peek_head(sch);

	if (!skb)
		return NULL;
	if (work_of(skb)->done_ns > ktime_get_ns()) {
		qdisc_watchdog_schedule_ns(&processor->watchdog, work_of(skb)->done_ns);
		return NULL;
	}
	return qdisc_dequeue_head(sch);
}

static int processor_init(struct Qdisc *sch, struct nlattr *options,
			  struct netlink_ext_ack *extack)
{
	struct processor *processor = qdisc_priv(sch);

	processor->idle_ns = 0;
	processor->is_throttled = false;
	memset(processor->flows, 0, sizeof(processor->flows));
	qdisc_watchdog_init(&processor->watchdog, sch);
	return 0;
}

static void processor_reset(struct Qdisc *sch)
{
	struct processor *processor = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	qdisc_watchdog_cancel(&processor->watchdog);
	processor->idle_ns = 0;
	processor->is_throttled = false;
}

static void processor_destroy(struct Qdisc *sch)
{
	struct processor *processor = qdisc_priv(sch);

	qdisc_watchdog_cancel(&processor->watchdog);
}

static struct Qdisc_ops processor_ops __read_mostly = {
	.id		= "processor",
	.priv_size	= sizeof(struct processor),
	.enqueue	= processor_enqueue,
	.dequeue	= processor_dequeue,
	.peek		= qdisc_peek_head,
	.init		= processor_init,
	.reset		= processor_reset,
	.destroy	= processor_destroy,
	.owner		= THIS_MODULE,
};

static int __init processor_register(void)
{
	if (!segment_bytes || !backlog_packets) {
		pr_err("processor: segment_bytes and backlog_packets must not be 0\n");
		return -EINVAL;
	}
	return register_qdisc(&processor_ops);
}

static void __exit processor_unregister(void)
{
	unregister_qdisc(&processor_ops);
}

module_init(processor_register);
module_exit(processor_unregister);

MODULE_AUTHOR("farpath");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The processor of a slow host as a queue");
