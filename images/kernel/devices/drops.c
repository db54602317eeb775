// SPDX-License-Identifier: GPL-2.0
/*
 * drops: counts the packets that qdiscs drop, by the flow that they are of.
 *
 * A qdisc has one number for all that it drops. The packets themselves it hands back to
 * its caller in a list, to_free of enqueue() in struct Qdisc (include/net/sch_generic.h):
 * one that finds a full queue, as well as one that netem loses at random. The module
 * stands before enqueue() of the qdiscs that it watches, calls it, and reads the ports of
 * the packets by which the list has grown. A packet that is not dropped costs one more
 * call, and none is treated differently.
 *
 * /proc/drops has a line for each qdisc: the name of its port, and for each flow, in the
 * order of the parameter "ports", how many packets to the port of its receiver the qdisc
 * has dropped, and how many from there. The last number is that of all other packets.
 */

#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/flow_dissector.h>
#include <net/sch_generic.h>

#define MOST_PORTS 256
#define TABLE_BITS 6

static ushort ports[MOST_PORTS];
static int flows;
module_param_array(ports, ushort, &flows, 0444);
MODULE_PARM_DESC(ports, "port of each flow's receiver, by which its packets are known");

struct watched {
	struct hlist_node node;		/* in the table, by the qdisc */
	struct list_head line;		/* in the order of the file */
	struct Qdisc *qdisc;
	int (*enqueue)(struct sk_buff *skb, struct Qdisc *qdisc, struct sk_buff **to_free);
	bool is_entered;
	char device[IFNAMSIZ];
	u64 dropped[2 * MOST_PORTS + 1];	/* to and from each port; others */
};

static DEFINE_HASHTABLE(table, TABLE_BITS);
static LIST_HEAD(lines);

static struct watched *watched_of(struct Qdisc *qdisc)
{
	struct watched *one;

	hash_for_each_possible(table, one, node, (unsigned long)qdisc)
		if (one->qdisc == qdisc)
			return one;
	return NULL;
}

/* Data goes to a flow's port, and acknowledgements come from it */
static int place_of(const struct sk_buff *skb)
{
	struct flow_keys keys;
	int number;

	if (!skb_flow_dissect_flow_keys(skb, &keys, 0))
		return 2 * flows;
	for (number = 0; number < flows; number++) {
		__be16 port = htons(ports[number]);

		if (keys.ports.dst == port)
			return 2 * number;
		if (keys.ports.src == port)
			return 2 * number + 1;
	}
	return 2 * flows;
}

static int count_drops(struct sk_buff *skb, struct Qdisc *qdisc, struct sk_buff **to_free)
{
	struct watched *one = watched_of(qdisc);
	struct sk_buff *before = *to_free, *dropped;
	int result;

	/* netem puts a duplicate into itself, with the same list (netem_enqueue()) */
	if (one->is_entered)
		return one->enqueue(skb, qdisc, to_free);
	one->is_entered = true;
	result = one->enqueue(skb, qdisc, to_free);
	one->is_entered = false;
	for (dropped = *to_free; dropped != before; dropped = dropped->next)
		one->dropped[place_of(dropped)]++;
	return result;
}

static int watch_qdisc(struct Qdisc *qdisc, const char *device)
{
	struct watched *one;

	if (!qdisc || !qdisc->enqueue || qdisc->flags & TCQ_F_NOLOCK)
		return -EOPNOTSUPP;
	if (watched_of(qdisc))
		return -EEXIST;
	one = kcalloc(1, sizeof(*one), GFP_KERNEL);
	if (!one)
		return -ENOMEM;
	one->qdisc = qdisc;
	one->enqueue = qdisc->enqueue;
	strscpy(one->device, device);
	hash_add(table, &one->node, (unsigned long)qdisc);
	list_add_tail(&one->line, &lines);
	spin_lock_bh(qdisc_lock(qdisc));
	qdisc->enqueue = count_drops;
	spin_unlock_bh(qdisc_lock(qdisc));
	return 0;
}

/* The name of a port in the writer's network namespace; its qdisc stays to the end */
static int set_watch(const char *text, const struct kernel_param *unused)
{
	struct net_device *device;
	char name[IFNAMSIZ];
	int error = -ENODEV;

	if (strscpy(name, text) < 0)
		return -EINVAL;
	rtnl_lock();
	device = __dev_get_by_name(current->nsproxy->net_ns, strim(name));
	if (device)
		error = watch_qdisc(rtnl_dereference(device->qdisc), device->name);
	rtnl_unlock();
	return error;
}

static const struct kernel_param_ops watch_ops = {
	.set = set_watch,
};
module_param_cb(watch, &watch_ops, NULL, 0200);
MODULE_PARM_DESC(watch, "port whose qdisc is watched from now on");

static int show_lines(struct seq_file *file, void *unused)
{
	struct watched *one;
	int number;

	rtnl_lock();
	list_for_each_entry(one, &lines, line) {
		seq_puts(file, one->device);
		for (number = 0; number <= 2 * flows; number++)
			seq_printf(file, " %llu", one->dropped[number]);
		seq_putc(file, '\n');
	}
	rtnl_unlock();
	return 0;
}

/* The module stays: its guest ends with the run */
static int __init drops_init(void)
{
	return proc_create_single("drops", 0444, NULL, show_lines) ? 0 : -ENOMEM;
}
module_init(drops_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Counts the packets that qdiscs drop, by flow");
