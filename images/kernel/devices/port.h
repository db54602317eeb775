/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the ports of farpath's devices have in common: Ethernet without a queue of
 * its own, and pages of zeros for payload that nobody reads.
 */

#ifndef FARPATH_PORT_H
#define FARPATH_PORT_H

#include <linux/etherdevice.h>
#include <linux/netdevice.h>

#define PAYLOAD_ORDER	4	/* 64 KB, more than any packet */

static inline void setup_port(struct net_device *port, const struct net_device_ops *ops)
{
	ether_setup(port);
	port->netdev_ops = ops;
	port->needs_free_netdev = true;
	port->lltx = true;
	port->priv_flags |= IFF_NO_QUEUE;
	port->min_mtu = ETH_MIN_MTU;
	port->max_mtu = ETH_MAX_MTU;
	port->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	eth_hw_addr_random(port);
}

/* Returns NULL without memory */
static inline struct page *alloc_payload(void)
{
	return alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, PAYLOAD_ORDER);
}

#endif
