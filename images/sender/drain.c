// SPDX-License-Identifier: BSD-3-Clause
/*
 * A sender that waits while its path drains, and does not spin.
 *
 * iperf3 3.18 waits in select() until its next timer is due (iperf_run_client in
 * src/iperf_client_api.c). It runs its timers during the test only. So after the
 * test the first one that is due stays due, and select() is called with a timeout
 * of zero until the peer has answered: when the buffers of the path are empty, and
 * half a round trip later. Each of these calls reads the clock, which takes 256 ns
 * of virtual time, some four million readings in a virtual second.
 *
 * Preloaded into the sending iperf3 (LD_PRELOAD), this library makes select() wait
 * for up to LOOK_US where the calls before had nothing ready and a timeout of zero.
 * A descriptor that is ready ends the wait at once, as ever. During the test a
 * timeout of zero means that a timer is due; it is run before the next call, whose
 * timeout is not zero.
 *
 * The count is not kept by thread: only iperf3's main thread calls select() with a
 * timeout of zero.
 */
#include "system_call.h"

/* From the kernel's headers, which may be missing where this is compiled */
enum { SYS_SELECT = 23 };

struct timeval {
	long tv_sec;
	long tv_usec;
};

enum {
	/* Looks in a row with nothing ready, after which select() waits */
	EMPTY_LOOKS = 2,
	LOOK_US = 10000,
};

static int empty_looks;

int select(int count, void *reading, void *writing, void *failing, struct timeval *timeout)
{
	const int looks = timeout && !timeout->tv_sec && !timeout->tv_usec;
	struct timeval wait = { 0, LOOK_US };
	long ready;

	if (looks && empty_looks >= EMPTY_LOOKS)
		timeout = &wait;
	ready = system_call(SYS_SELECT, count, (long)reading, (long)writing, (long)failing,
			    (long)timeout, 0);
	if (!looks || ready)
		empty_looks = 0;
	else if (empty_looks < EMPTY_LOOKS)
		empty_looks++;
	return (int)with_errno(ready);
}
