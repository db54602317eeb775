// SPDX-License-Identifier: GPL-2.0
/*
 * background: a port of a switch at which background traffic arrives, as from the
 * other end of a cable. Nothing comes back: what is sent to the port is
 * dropped.
 *
 * Each source sends frames of one size at a constant rate while its bit of the
 * parameter "on" is set. Frames are prepared, so a source takes a timer and an
 * sk_buff for each, and no program runs.
 */

#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include "port.h"

#define MOST_SOURCES 64
#define MOST_HEADER_BYTES 128

static char *device = "background0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "name of the port");

static uint sources = 1;
module_param(sources, uint, 0444);
MODULE_PARM_DESC(sources, "number of sources, at most 64");

static ulong rate_bps;
module_param(rate_bps, ulong, 0444);
MODULE_PARM_DESC(rate_bps, "rate of a source while it is on, of whole frames");

static uint frame_bytes = ETH_FRAME_LEN;
module_param(frame_bytes, uint, 0444);
MODULE_PARM_DESC(frame_bytes, "size of a frame with its Ethernet header");

static u8 header[MOST_HEADER_BYTES];
static int header_bytes;
module_param_array(header, byte, &header_bytes, 0444);
MODULE_PARM_DESC(header, "bytes that a frame begins with; zeros follow");

static uint port_offset;
module_param(port_offset, uint, 0444);
MODULE_PARM_DESC(port_offset, "where the header has a port, to which a source adds its number");

struct source {
	struct hrtimer timer;
	u64 start_ns;
	u64 sent;			/* frames since then */
	__be16 port;
};

static struct source all_sources[MOST_SOURCES];
static struct net_device *port;
static struct page *payload;
static unsigned long on;

static void send_frame(const struct source *source)
{
	struct sk_buff *skb = netdev_alloc_skb_ip_align(port, header_bytes);

	if (unlikely(!skb))
		panic("background: no memory for a packet that arrives at %s", port->name);
	skb_put_data(skb, header, header_bytes);
	if (port_offset)
		memcpy(skb->data + port_offset, &source->port, sizeof(source->port));
	get_page(payload);
	skb_add_rx_frag(skb, 0, payload, 0, frame_bytes - header_bytes, PAGE_SIZE);
	skb->protocol = eth_type_trans(skb, port);
	dev_sw_netstats_rx_add(port, frame_bytes);
	netif_rx(skb);
}

static enum hrtimer_restart next_frame(struct hrtimer *timer)
{
	struct source *source = container_of(timer, struct source, timer);
	u64 frame_ns_bps = 8ULL * frame_bytes * NSEC_PER_SEC;

	send_frame(source);
	source->sent++;
	hrtimer_set_expires(timer, ns_to_ktime(source->start_ns +
		mul_u64_u64_div_u64(source->sent, frame_ns_bps, rate_bps)));
	return HRTIMER_RESTART;
}

static int set_on(const char *text, const struct kernel_param *parameter)
{
	unsigned long wanted;
	unsigned int number;
	int error = kstrtoul(text, 0, &wanted);

	if (error)
		return error;
	for (number = 0; number < sources; number++) {
		struct source *source = &all_sources[number];

		if (!(BIT(number) & (wanted ^ on)))
			continue;
		if (BIT(number) & on) {
			hrtimer_cancel(&source->timer);
			continue;
		}
		source->start_ns = ktime_get_ns();
		source->sent = 0;
		hrtimer_start(&source->timer, ns_to_ktime(source->start_ns),
			      HRTIMER_MODE_ABS_HARD);
	}
	on = wanted;
	return 0;
}

static const struct kernel_param_ops on_ops = {
	.set = set_on,
	.get = param_get_ulong,
};
module_param_cb(on, &on_ops, &on, 0644);
MODULE_PARM_DESC(on, "sources that send, a bit for each");

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *unused)
{
	dev_core_stats_tx_dropped_inc(unused);
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops port_ops = {
	.ndo_start_xmit = drop,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static void background_setup(struct net_device *device)
{
	setup_port(device, &port_ops);
}

/* The module stays: its guest ends with the run */
static int __init background_init(void)
{
	unsigned int number;
	int error;

	if (!sources || sources > MOST_SOURCES || !rate_bps || header_bytes < ETH_HLEN ||
	    frame_bytes < header_bytes || frame_bytes > PAGE_SIZE << PAYLOAD_ORDER)
		return -EINVAL;
	payload = alloc_payload();
	if (!payload)
		return -ENOMEM;
	for (number = 0; number < sources; number++) {
		struct source *source = &all_sources[number];
		__be16 base = 0;

		memcpy(&base, header + port_offset, sizeof(base));
		source->port = htons(ntohs(base) + number);
		hrtimer_setup(&source->timer, next_frame, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	}
	port = alloc_netdev(0, device, NET_NAME_USER, background_setup);
	if (!port)
		return -ENOMEM;
	error = register_netdev(port);
	if (error)
		free_netdev(port);
	return error;
}
module_init(background_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A port of a switch at which background traffic arrives");
