// SPDX-License-Identifier: GPL-2.0
/*
 * farlink: links between User Mode Linux guests that run in one virtual time.
 *
 * Each guest is a site of one topology, on a core of its own. A packet that enters
 * a far link at time t leaves it at t + delay, at another site. So what a site does
 * within the least delay of all far links, a window, cannot depend on what other
 * sites do meanwhile. Time is cut into windows, of which the least delay holds a
 * number, the lead. Every site runs freely through a window. At its end it closes
 * the window, waits until all others have closed the one that ended a lead before
 * the end of the next, and opens that next. So a site that had less to do for a
 * while is ahead by up to a lead, and does not wait for each single window. This is
 * conservative parallel discrete-event simulation: K. M. Chandy, J. Misra,
 * "Distributed simulation: a case study in design and verification of distributed
 * programs", IEEE Transactions on Software Engineering 5 (1979).
 *
 * Packets cross in memory that all sites map (shared.h). Sending copies a packet
 * and lets go of it, as a network card does once it has left. At t + delay a timer
 * copies it into a new sk_buff. Payload that a program sends from a file to one that
 * discards it, as iperf3 does in the lab, is not copied.
 *
 * Waiting must not move the virtual clock: cpu_relax() does (arch/um/kernel/
 * time.c), so a site waits with futex(2) of the machine.
 */

#include <linux/hrtimer.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/tcp.h>
#include "host.h"
#include "port.h"
#include "shared.h"

#define MOST_DEVICES 32
#define MOST_PORTS 256

static char *file = "farlink";
module_param(file, charp, 0444);
MODULE_PARM_DESC(file, "the shared file, on the machine that the guest runs on");

static unsigned int site;
module_param(site, uint, 0444);
MODULE_PARM_DESC(site, "number of this site, from 0");

static char *devices[MOST_DEVICES];
static int device_count;
module_param_array(devices, charp, &device_count, 0444);
MODULE_PARM_DESC(devices, "names of this site's ends of far links");

static unsigned int out[MOST_DEVICES];
static int out_count;
module_param_array(out, uint, &out_count, 0444);
MODULE_PARM_DESC(out, "channel that each device sends to");

static unsigned int in[MOST_DEVICES];
static int in_count;
module_param_array(in, uint, &in_count, 0444);
MODULE_PARM_DESC(in, "channel that each device receives from");

static unsigned long delay_ns[MOST_DEVICES];
static int delay_count;
module_param_array(delay_ns, ulong, &delay_count, 0444);
MODULE_PARM_DESC(delay_ns, "delay of what each device receives, at least the lead");

static ushort unread_ports[MOST_PORTS];
static int unread_port_count;
module_param_array(unread_ports, ushort, &unread_port_count, 0444);
MODULE_PARM_DESC(unread_ports, "TCP ports of programs that discard what was sent from a file");

static bool done;
module_param(done, bool, 0644);
MODULE_PARM_DESC(done, "this site's programs have ended; written once");

static bool over;
module_param(over, bool, 0444);
MODULE_PARM_DESC(over, "all sites are done, and the links are down");

struct far_port {
	struct net_device *device;
	struct hrtimer timer;		/* the next packet's arrival */
	u8 *sending;			/* slots of the channel that it sends to */
	u8 *receiving;
	u64 delay_ns;
	u64 written_bytes;		/* of the open window's slot */
	u64 read_window;		/* the window that is being delivered */
	u64 read_bytes;			/* of it, delivered */
};

static struct far_header *shared;
static struct far_site *sites;
static struct far_port ports[MOST_DEVICES];
static struct hrtimer barrier;
static u64 open_window;			/* the number of the window that is open */
static u64 opened_cpu_ns;		/* CPU time when the window was opened */
static bool is_open;			/* between the first window's start and the end */
static struct page *unread_payload;	/* stands for all payload that nobody reads */

static u64 *path_of(u32 number, u64 window)
{
	return &sites[number].path_ns[window % ARRAY_SIZE(sites[number].path_ns)];
}

static struct far_window *slot_of(u8 *slots, u64 window)
{
	return (struct far_window *)(slots + (window % shared->slots) * shared->capacity_bytes);
}

/* ------------------------------------------------------------- sending */

static bool is_unread_port(const struct sk_buff *skb)
{
	bool is_ipv6 = skb->protocol == htons(ETH_P_IPV6);
	int offset = ETH_HLEN + (is_ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
	const struct tcphdr *header;
	struct tcphdr buffer;
	int number;

	header = skb_header_pointer(skb, offset, sizeof(buffer), &buffer);
	for (number = 0; header && number < unread_port_count; number++)
		if (header->dest == htons(unread_ports[number]))
			return true;
	return false;
}

/*
 * Whether a packet's payload is in pages of a file, from sendfile(2), for a program
 * that discards it. What write(2) sent is in pages without a mapping.
 */
static bool is_unread(const struct sk_buff *skb)
{
	int number;

	if (!skb_shinfo(skb)->nr_frags || skb_has_frag_list(skb))
		return false;
	for (number = 0; number < skb_shinfo(skb)->nr_frags; number++) {
		struct page *page = skb_frag_page(&skb_shinfo(skb)->frags[number]);

		if (!page || !page_folio(page)->mapping)
			return false;
	}
	return is_unread_port(skb);
}

static netdev_tx_t far_xmit(struct sk_buff *skb, struct net_device *device)
{
	struct far_port *port = *(struct far_port **)netdev_priv(device);
	u32 copied_bytes = is_unread(skb) ? skb_headlen(skb) : skb->len;
	u64 needed = sizeof(struct far_record) + ALIGN(copied_bytes, 8);
	struct far_record *record;

	if (unlikely(!is_open)) {
		dev_core_stats_tx_dropped_inc(device);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	if (unlikely(port->written_bytes + needed > shared->capacity_bytes))
		panic("farlink: %s has no room for the packets of one window", device->name);
	record = (void *)slot_of(port->sending, open_window) + port->written_bytes;
	port->written_bytes += needed;
	record->departure_ns = ktime_get_real_ns();
	record->bytes = skb->len;
	record->copied_bytes = copied_bytes;
	record->truesize_bytes = skb->truesize;
	record->csum_start = 0;
	record->csum_offset = 0;
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		record->csum_start = skb_checksum_start_offset(skb);
		record->csum_offset = skb->csum_offset;
	}
	skb_copy_bits(skb, 0, record + 1, copied_bytes);
	dev_sw_netstats_tx_add(device, 1, skb->len);
	dev_consume_skb_any(skb);
	return NETDEV_TX_OK;
}

/* ----------------------------------------------------------- receiving */

static void deliver(struct far_port *port, const struct far_record *record)
{
	struct net_device *device = port->device;
	u32 unread_bytes = record->bytes - record->copied_bytes;
	struct sk_buff *skb = netdev_alloc_skb_ip_align(device, record->copied_bytes);

	if (unlikely(!skb))
		panic("farlink: no memory for a packet that arrives at %s", device->name);
	skb_put_data(skb, record + 1, record->copied_bytes);
	if (unread_bytes) {
		get_page(unread_payload);
		skb_add_rx_frag(skb, 0, unread_payload, 0, unread_bytes, 0);
	}
	/*
	 * A veth pair would pass on the same skb. Its memory decides the window that a
	 * receiver advertises (tcp_measure_rcv_mss() in net/ipv4/tcp_input.c).
	 */
	skb->truesize = record->truesize_bytes;
	skb->protocol = eth_type_trans(skb, device);
	if (record->csum_start &&
	    !skb_partial_csum_set(skb, record->csum_start - ETH_HLEN, record->csum_offset))
		panic("farlink: a packet for %s has no checksum field", device->name);
	dev_sw_netstats_rx_add(device, record->bytes);
	netif_rx(skb);
}

/* The next packet of windows that all sites have closed; NULL if there is none */
static struct far_record *next_record(struct far_port *port)
{
	for (; port->read_window + shared->lead <= open_window;
	     port->read_window++, port->read_bytes = 0) {
		struct far_window *window = slot_of(port->receiving, port->read_window);

		if (unlikely(window->number != port->read_window))
			panic("farlink: window %llu of %s was overwritten",
			      port->read_window, port->device->name);
		if (port->read_bytes < window->bytes)
			return (void *)(window + 1) + port->read_bytes;
	}
	return NULL;
}

/* Delivers what is due; returns when the next packet is, or KTIME_MAX */
static ktime_t deliver_due(struct far_port *port)
{
	u64 now_ns = ktime_get_real_ns();
	struct far_record *record;

	while ((record = next_record(port))) {
		if (record->departure_ns + port->delay_ns > now_ns)
			return ns_to_ktime(record->departure_ns + port->delay_ns);
		deliver(port, record);
		port->read_bytes += sizeof(*record) + ALIGN(record->copied_bytes, 8);
	}
	return KTIME_MAX;
}

static enum hrtimer_restart far_arrival(struct hrtimer *timer)
{
	ktime_t next = deliver_due(container_of(timer, struct far_port, timer));

	if (next == KTIME_MAX)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, next);
	return HRTIMER_RESTART;
}

/* ------------------------------------------------------------- windows */

static void open_slots(void)
{
	int number;

	for (number = 0; number < device_count; number++)
		ports[number].written_bytes = sizeof(struct far_window);
}

static void close_slots(void)
{
	int number;

	for (number = 0; number < device_count; number++) {
		struct far_port *port = &ports[number];
		struct far_window *window = slot_of(port->sending, open_window);

		window->bytes = port->written_bytes - sizeof(*window);
		window->number = open_window;
	}
}

/* Waits in real time until every site has closed so many windows */
static void wait_for_sites(u32 closed)
{
	u32 number;

	for (number = 0; number < shared->sites; number++) {
		u32 *other = &sites[number].closed;
		u32 seen;

		/* Pairs with the release in close_window(): the site's slots are whole */
		while ((seen = smp_load_acquire(other)) < closed)
			host_wait(other, seen);
	}
}

/*
 * Whether all sites were done when they closed the last window that all have
 * closed. A site that is ahead may have said so of a later one.
 */
static bool all_done(void)
{
	u32 number;

	for (number = 0; number < shared->sites; number++) {
		u32 done_at = READ_ONCE(sites[number].done);

		if (!done_at || done_at + shared->lead > open_window + 1)
			return false;
	}
	return true;
}

/*
 * With a core for each site, the open window would have been opened as soon as this
 * site had closed the one before, and all sites the one a lead before.
 */
static void count_critical_path(void)
{
	struct far_site *own = &sites[site];
	u64 cpu_ns = host_cpu_ns();
	u64 path_ns = own->critical_ns;
	u32 number;

	for (number = 0; open_window >= shared->lead && number < shared->sites; number++)
		path_ns = max(path_ns, *path_of(number, open_window - shared->lead));
	own->critical_ns = path_ns + cpu_ns - opened_cpu_ns;
	*path_of(site, open_window) = own->critical_ns;
	opened_cpu_ns = cpu_ns;
}

static void close_window(void)
{
	struct far_site *own = &sites[site];

	close_slots();
	count_critical_path();
	if (done && !own->done)
		own->done = open_window + 1;
	open_window++;
	/* Pairs with the acquire in wait_for_sites() */
	smp_store_release(&own->closed, (u32)open_window);
	host_wake_all(&own->closed);
	if (open_window >= shared->lead)
		wait_for_sites(open_window + 1 - shared->lead);
}

static void arm_arrivals(void)
{
	int number;

	for (number = 0; number < device_count; number++) {
		struct far_port *port = &ports[number];
		ktime_t next;

		if (hrtimer_is_queued(&port->timer))
			continue;
		next = deliver_due(port);
		if (next != KTIME_MAX)
			hrtimer_start(&port->timer, next, HRTIMER_MODE_ABS_HARD);
	}
}

/* The end of a window, and before all the start of the first */
static enum hrtimer_restart far_barrier(struct hrtimer *timer)
{
	if (is_open)
		close_window();
	else
		opened_cpu_ns = host_cpu_ns();
	is_open = !all_done();
	if (!is_open) {
		over = true;
		return HRTIMER_NORESTART;
	}
	open_slots();
	arm_arrivals();
	hrtimer_set_expires(timer, ns_to_ktime(shared->start_ns +
					       (open_window + 1) * shared->window_ns));
	return HRTIMER_RESTART;
}

/* ------------------------------------------------------------- devices */

static const struct net_device_ops far_ops = {
	.ndo_start_xmit = far_xmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static void far_setup(struct net_device *device)
{
	setup_port(device, &far_ops);
	device->features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA;
	device->hw_features = device->features;
}

static u8 *slots_of(unsigned int channel)
{
	u64 start = ALIGN(sizeof(*shared) + shared->sites * sizeof(*sites), FAR_PAGE);

	return (u8 *)shared + start + channel * shared->slots * shared->capacity_bytes;
}

static int add_port(int number)
{
	struct far_port *port = &ports[number];
	int error;

	if (out[number] >= shared->channels || in[number] >= shared->channels ||
	    delay_ns[number] < shared->lead * shared->window_ns)
		return -EINVAL;
	port->device = alloc_netdev(sizeof(port), devices[number], NET_NAME_USER, far_setup);
	if (!port->device)
		return -ENOMEM;
	*(struct far_port **)netdev_priv(port->device) = port;
	port->sending = slots_of(out[number]);
	port->receiving = slots_of(in[number]);
	port->delay_ns = delay_ns[number];
	hrtimer_setup(&port->timer, far_arrival, CLOCK_REALTIME, HRTIMER_MODE_ABS_HARD);
	error = register_netdev(port->device);
	if (error)
		free_netdev(port->device);
	return error;
}

static int __init map_shared(void)
{
	struct far_header *header = host_map(file, FAR_PAGE);
	u64 size_bytes;

	if (!header || header->magic != FAR_MAGIC || header->version != FAR_VERSION ||
	    site >= header->sites || !header->window_ns || !header->lead ||
	    header->lead > FAR_MOST_LEAD)
		return -EINVAL;
	size_bytes = ALIGN(sizeof(*header) + header->sites * sizeof(*sites), FAR_PAGE) +
		     header->capacity_bytes * header->slots * header->channels;
	shared = host_map(file, size_bytes);
	if (!shared)
		return -ENOMEM;
	sites = (struct far_site *)(shared + 1);
	unread_payload = alloc_payload();
	return unread_payload ? 0 : -ENOMEM;
}

/* The module stays: guests end with their run */
static int __init farlink_init(void)
{
	int error = map_shared();
	int number;

	if (out_count != device_count || in_count != device_count || delay_count != device_count) {
		pr_err("farlink: each device needs two channels and a delay\n");
		return -EINVAL;
	}
	if (error) {
		pr_err("farlink: %s is no file of far links for site %u\n", file, site);
		return error;
	}
	if (ktime_get_real_ns() >= shared->start_ns) {
		pr_err("farlink: the first window has begun already\n");
		return -ETIME;
	}
	for (number = 0; number < device_count; number++) {
		error = add_port(number);
		if (error) {
			pr_err("farlink: device %s: error %d\n", devices[number], -error);
			return error;
		}
	}
	hrtimer_setup(&barrier, far_barrier, CLOCK_REALTIME, HRTIMER_MODE_ABS_HARD);
	hrtimer_start(&barrier, ns_to_ktime(shared->start_ns), HRTIMER_MODE_ABS_HARD);
	return 0;
}
module_init(farlink_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Links between User Mode Linux guests in one virtual time");
