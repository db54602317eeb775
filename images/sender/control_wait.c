// SPDX-License-Identifier: BSD-3-Clause
/*
 * iperf3 that waits for its control connection as long as TCP does.
 *
 * iperf3 3.18 reads a message of its control connection for ten seconds at most
 * (nread_read_timeout in src/net.c), and then gives up the whole test. Where many
 * packets are lost, or a slow host drops what it cannot take, TCP's timeouts double
 * beyond that, and the message comes later. iperf of 2005 had no control connection.
 *
 * It is a part of accept.so, which receivers load, and of drain.so, which senders load
 * on the virtual clock: select() waits for up to a day where iperf3 waits for ten
 * seconds to read; a run ends before. It has a timeout all the same, for which the
 * kernel reads the clock, and that takes virtual time. In drain.so every call goes
 * on to its own select(), which is compiled under the name drain_select.
 *
 * No identity of a run has it: a run for which it matters fails without it.
 */
#undef select
#include "system_call.h"

/* From the kernel's headers, which may be missing where this is compiled */
enum { SYS_SELECT = 23 };

enum { NREAD_READ_TIMEOUT_S = 10, DAY_S = 86400 };

struct timeval {
	long tv_sec;
	long tv_usec;
};

extern int drain_select(int count, void *reading, void *writing, void *failing,
			struct timeval *timeout) __attribute__((weak));

int select(int count, void *reading, void *writing, void *failing, struct timeval *timeout)
{
	const int reads_message = reading && !writing && !failing && timeout &&
				  timeout->tv_sec == NREAD_READ_TIMEOUT_S && !timeout->tv_usec;
	struct timeval day = { DAY_S, 0 };

	if (reads_message)
		timeout = &day;
	if (drain_select)
		return drain_select(count, reading, writing, failing, timeout);
	return (int)with_errno(system_call(SYS_SELECT, count, (long)reading, (long)writing,
					   (long)failing, (long)timeout, 0));
}
