/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The beginning of drivers/char/random.c in the lab's kernel (images/kernel/build). When the guest
 * asks for a new key of the random numbers (RNDRESEEDCRNG), nothing before that instant decides a later
 * packet: its programs may be started otherwise, and the kernel be compiled otherwise.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include <crypto/blake2s.h>

/*
 * Once interrupts are enabled, nothing is mixed into the pool of entropy, and a key follows from the
 * run's seed, the command line and the number of keys. Linux mixes in each interrupt with
 * the instruction that it meets, and the run time of each process that ends.
 */
#define blake2s_update(state, data, size)                        \
	do {                                                     \
		if (early_boot_irqs_disabled)                    \
			blake2s_update(state, data, size);       \
	} while (0)

/*
 * The virtual clock is read in steps of 256 ns (TIMER_MULTIPLIER in arch/um), and a timer ends as
 * many ns late as the clock was past a step when it was set. So the time from boot to the first wait
 * would be in all later ones.
 */
static inline void end_step_of_clock(void)
{
	unsigned long flags;
	u64 step_ns;

	/* Where CPU time counts, the clock stands still while interrupts are disabled */
	if (time_travel_mode != TT_MODE_INFCPU || system_state != SYSTEM_RUNNING)
		return;
	/* Reading the clock takes no time here */
	local_irq_save(flags);
	step_ns = ktime_get_ns();
	while (ktime_get_ns() == step_ns)
		ndelay(1);
	local_irq_restore(flags);
}

/* In place of the next key after an interval from boot; crng_reseed() is the only one to call it */
#define queue_delayed_work(queue, work, delay) \
	((void)(work), (void)(delay), end_step_of_clock())

/* random.c has its own */
#undef pr_fmt
