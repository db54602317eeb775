/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of the machine that this User Mode Linux kernel runs on. Linux exports
 * them to modules (arch/um/kernel/ksyms.c).
 */

#ifndef FARLINK_HOST_H
#define FARLINK_HOST_H

#include <asm/unistd.h>
#include <linux/types.h>
#include <os.h>

/* The C library's syscall(3): -1 and errno for an error, which is not read here */
long syscall(long number, ...);

#define HOST_PROT_READ_WRITE	3	/* PROT_READ | PROT_WRITE of mmap(2) */
#define HOST_MAP_SHARED		1	/* MAP_SHARED of mmap(2) */
#define HOST_FUTEX_WAIT		0	/* of futex(2), between processes */
#define HOST_FUTEX_WAKE		1
#define HOST_CPU_CLOCK		2	/* CLOCK_PROCESS_CPUTIME_ID of clock_gettime(2) */

/* Returns the mapping of a whole file, or NULL */
static inline void *host_map(const char *file, u64 size_bytes)
{
	int descriptor = os_open_file(file, of_rdwr(OPENFLAGS()), 0);
	long address;

	if (descriptor < 0)
		return NULL;
	address = syscall(__NR_mmap, 0L, (long)size_bytes, (long)HOST_PROT_READ_WRITE,
			  (long)HOST_MAP_SHARED, (long)descriptor, 0L);
	os_close_file(descriptor);
	return address == -1 ? NULL : (void *)address;
}

/* Sleeps while *word is value; returns early too, for a signal */
static inline void host_wait(u32 *word, u32 value)
{
	syscall(__NR_futex, word, (long)HOST_FUTEX_WAIT, (long)value, 0L, 0L, 0L);
}

static inline void host_wake_all(u32 *word)
{
	syscall(__NR_futex, word, (long)HOST_FUTEX_WAKE, (long)S32_MAX, 0L, 0L, 0L);
}

/* Returns the CPU time of this kernel; user programs are other processes */
static inline u64 host_cpu_ns(void)
{
	struct { long s, ns; } time = { 0, 0 };

	syscall(__NR_clock_gettime, (long)HOST_CPU_CLOCK, &time);
	return time.s * 1000000000ULL + time.ns;
}

#endif
