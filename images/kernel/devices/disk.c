// SPDX-License-Identifier: GPL-2.0
/*
 * disk: character devices that stand for the disks of hosts, each as a rate. A program
 * reads from one as from a large file, or writes to it, and waits as it would for the
 * disk: no more. There are no sectors, no seeks and no file system, a device reads as
 * zeros, and what is written is kept nowhere.
 *
 * A disk that is read works from the first read on, whether or not the program asks,
 * until it is cache_bytes ahead of the program (read-ahead). A disk that is written has
 * the program go on while no more than cache_bytes are still to be written (write-back).
 * Both are one rule: the disk's position in its work, as a time, is at most the time
 * of cache_bytes behind the present, and a program waits for the position that its bytes
 * lead to. It is counted in bytes since begin_ns, so that no rounding adds up.
 *
 * Programs that share a disk share its rate and its cache, in the order of their calls.
 * A call that a signal ends has done its work at the disk: bytes to be written count,
 * bytes read are lost, as the program never gets them.
 */

#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#define MOST_DISKS 256
#define NAME_BYTES 16

static int disks;

static ulong rate_bps[MOST_DISKS];
module_param_array(rate_bps, ulong, &disks, 0444);
MODULE_PARM_DESC(rate_bps, "rate of each disk");

static ulong cache_bytes[MOST_DISKS];
static int caches;
module_param_array(cache_bytes, ulong, &caches, 0444);
MODULE_PARM_DESC(cache_bytes, "read-ahead of a disk that is read, write-back of one that is written");

static bool written[MOST_DISKS];
static int directions;
module_param_array(written, bool, &directions, 0444);
MODULE_PARM_DESC(written, "whether programs write to a disk, and do not read from it");

/* Counters, with the number of disks, and not parameters */
static ullong moved_bytes[MOST_DISKS];
module_param_array(moved_bytes, ullong, &disks, 0444);
MODULE_PARM_DESC(moved_bytes, "what programs were given, or what was taken from them");

static ullong waited_ns[MOST_DISKS];
module_param_array(waited_ns, ullong, &disks, 0444);
MODULE_PARM_DESC(waited_ns, "how long programs have waited for the disk");

static ullong idle_ns[MOST_DISKS];
module_param_array(idle_ns, ullong, &disks, 0444);
MODULE_PARM_DESC(idle_ns, "how long the disk has waited for programs, since the first call");

struct disk {
	struct miscdevice device;
	char name[NAME_BYTES];
	unsigned int number;
	spinlock_t lock;	/* of what follows, and of the counters */
	bool begun;
	s64 begin_ns;
	u64 bytes;		/* since then */
};

static struct disk all_disks[MOST_DISKS];

static s64 time_of(const struct disk *disk, u64 bytes)
{
	return mul_u64_u64_div_u64(bytes, 8 * NSEC_PER_SEC, rate_bps[disk->number]);
}

/* When a program that moves so many bytes may go on */
static s64 due_ns(struct disk *disk, size_t bytes)
{
	s64 now = ktime_get_ns();
	s64 earliest = now - time_of(disk, cache_bytes[disk->number]);
	s64 position, due;

	spin_lock(&disk->lock);
	position = disk->begin_ns + time_of(disk, disk->bytes);
	if (!disk->begun) {
		disk->begun = true;
		disk->begin_ns = written[disk->number] ? earliest : now;
	} else if (position < earliest) {
		idle_ns[disk->number] += earliest - position;
		disk->begin_ns = earliest;
		disk->bytes = 0;
	}
	disk->bytes += bytes;
	due = disk->begin_ns + time_of(disk, disk->bytes);
	spin_unlock(&disk->lock);
	return due;
}

/* Wait until then; false if a signal came first */
static bool waited(ktime_t due)
{
	while (!signal_pending(current)) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!schedule_hrtimeout(&due, HRTIMER_MODE_ABS))
			return true;
	}
	return false;
}

static bool move(struct disk *disk, size_t bytes)
{
	s64 due = due_ns(disk, bytes), began = ktime_get_ns();
	bool whole = due <= began || waited(ns_to_ktime(due));
	s64 ended = due <= began ? began : ktime_get_ns();

	spin_lock(&disk->lock);
	waited_ns[disk->number] += ended - began;
	if (whole || written[disk->number])
		moved_bytes[disk->number] += bytes;
	spin_unlock(&disk->lock);
	return whole;
}

static struct disk *disk_of(struct file *file)
{
	/* misc_open() put it there */
	return container_of(file->private_data, struct disk, device);
}

static int disk_open(struct inode *inode, struct file *file)
{
	bool writes = written[disk_of(file)->number];

	if (file->f_mode & (writes ? FMODE_READ : FMODE_WRITE))
		return -EACCES;
	return stream_open(inode, file);
}

static ssize_t disk_read(struct file *file, char __user *buffer, size_t bytes, loff_t *unused)
{
	if (!move(disk_of(file), bytes))
		return -EINTR;
	return clear_user(buffer, bytes) ? -EFAULT : bytes;
}

static ssize_t disk_write(struct file *file, const char __user *buffer, size_t bytes,
			  loff_t *unused)
{
	if (fault_in_readable(buffer, bytes))
		return -EFAULT;
	move(disk_of(file), bytes);
	return bytes;
}

static const struct file_operations disk_operations = {
	.owner	= THIS_MODULE,
	.open	= disk_open,
	.read	= disk_read,
	.write	= disk_write,
};

static int register_disk(struct disk *disk, unsigned int number)
{
	disk->number = number;
	spin_lock_init(&disk->lock);
	snprintf(disk->name, sizeof(disk->name), "disk%u", number);
	disk->device.minor = MISC_DYNAMIC_MINOR;
	disk->device.name = disk->name;
	disk->device.fops = &disk_operations;
	disk->device.mode = 0666;
	return misc_register(&disk->device);
}

/* The module stays: its guest ends with the run */
static int __init disk_init(void)
{
	unsigned int number;
	int error;

	if (!disks || caches != disks || directions != disks) {
		pr_err("disk: rate_bps, cache_bytes and written must have one value for each disk\n");
		return -EINVAL;
	}
	for (number = 0; number < disks; number++)
		if (!rate_bps[number]) {
			pr_err("disk: rate_bps must not be 0\n");
			return -EINVAL;
		}
	for (number = 0; number < disks; number++) {
		error = register_disk(&all_disks[number], number);
		if (error) {
			while (number--)
				misc_deregister(&all_disks[number].device);
			return error;
		}
	}
	return 0;
}
module_init(disk_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Disks of hosts, as rates");
