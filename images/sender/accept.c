// SPDX-License-Identifier: BSD-3-Clause
/*
 * A receiver that tells when each of its connections began.
 *
 * iperf3 counts the time of its intervals from the moment at which it has accepted
 * the connection that carries the data (iperf_init_test in src/iperf_api.c), and
 * does not say when that was: some round trips after the sender's start, more where
 * buffers are full. Preloaded into the receiving iperf3 (LD_PRELOAD), this library
 * writes a line for each connection accepted, and for each peer of datagrams, to which
 * iperf3 then connects its socket (iperf_udp_accept in src/iperf_udp.c), to standard error:
 *
 *     accepted 12345678901
 *
 * in ns of the monotonic clock, which the guest's other programs read too.
 */
#include "system_call.h"

/* From the kernel's headers, which may be missing where this is compiled */
enum { SYS_WRITE = 1, SYS_CONNECT = 42, SYS_ACCEPT = 43, SYS_CLOCK_GETTIME = 228, MONOTONIC = 1 };

enum {
	STANDARD_ERROR = 2,
	MOST_DIGITS = 20,
};

struct timespec {
	long tv_sec;
	long tv_nsec;
};

static const char heading[] = "accepted ";

static void tell(unsigned long ns)
{
	char line[sizeof(heading) + MOST_DIGITS];
	char digits[MOST_DIGITS];
	size_t count = 0, length = 0;

	do {
		digits[count++] = (char)('0' + ns % 10);
		ns /= 10;
	} while (ns);
	while (length < sizeof(heading) - 1) {
		line[length] = heading[length];
		length++;
	}
	while (count)
		line[length++] = digits[--count];
	line[length++] = '\n';
	system_call(SYS_WRITE, STANDARD_ERROR, (long)line, (long)length, 0, 0, 0);
}

static int told(long result)
{
	struct timespec now = { 0, 0 };

	if (result >= 0) {
		system_call(SYS_CLOCK_GETTIME, MONOTONIC, (long)&now, 0, 0, 0, 0);
		tell((unsigned long)now.tv_sec * 1000000000UL + (unsigned long)now.tv_nsec);
	}
	return (int)with_errno(result);
}

int accept(int fd, void *address, void *address_bytes)
{
	return told(system_call(SYS_ACCEPT, fd, (long)address, (long)address_bytes, 0, 0, 0));
}

int connect(int fd, const void *address, unsigned int address_bytes)
{
	return told(system_call(SYS_CONNECT, fd, (long)address, address_bytes, 0, 0, 0));
}
