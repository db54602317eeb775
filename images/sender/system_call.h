// SPDX-License-Identifier: BSD-3-Clause
/*
 * System calls for the libraries that are preloaded into programs of end hosts.
 *
 * They are linked to no libc: the guest's may be older than the one of the machine
 * that compiles them. Only __errno_location() is taken from the process, because
 * errno belongs to a thread and libc owns it.
 */
#ifndef SYSTEM_CALL_H
#define SYSTEM_CALL_H

#ifndef __x86_64__
#error "system calls are written for x86-64"
#endif

typedef unsigned long size_t;
typedef long ssize_t;

extern int *__errno_location(void);

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static ssize_t with_errno(long result)
{
	if (result < 0) {
		*__errno_location() = (int)-result;
		return -1;
	}
	return result;
}

#endif
