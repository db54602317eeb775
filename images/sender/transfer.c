// SPDX-License-Identifier: BSD-3-Clause
/*
 * A sender that sends a given number of bytes and tells when they were acknowledged.
 *
 * iperf3 3.18 has -n for that. Its sending thread stops sending after so many bytes and
 * calls iperf_send_mt() (src/iperf_api.c) in a loop that neither sends nor waits, until
 * the main thread wakes for its next interval. Where computation takes no time, that
 * moment never comes.
 *
 * Preloaded into an iperf3 that sends for a given time with --zerocopy (LD_PRELOAD), this
 * library ends what sendfile() gives to the connection after $TRANSFER_BYTES, which must be
 * whole blocks: a receiving iperf3 counts no others. The thread then waits until the kernel
 * says that all is acknowledged (SO_TIMESTAMPING with SOF_TIMESTAMPING_TX_ACK,
 * Documentation/networking/timestamping.rst in Linux), and until iperf3 cancels it. The
 * library writes a line to standard error:
 *
 *     transferred 12345678901 12445678901
 *
 * These are the moments before the first byte was written and after the last one was
 * acknowledged, in ns of the monotonic clock.
 */
#include "system_call.h"

/* From the kernel's headers, which may be missing where this is compiled */
enum {
	SYS_POLL = 7,
	SYS_IOCTL = 16,
	SYS_SENDFILE = 40,
	SYS_RECVFROM = 45,
	SYS_SETSOCKOPT = 54,
	SYS_CLOCK_GETTIME = 228,
	MONOTONIC = 1,
	SOCKET_LEVEL = 1, /* SOL_SOCKET */
	TIMESTAMPING = 37, /* SO_TIMESTAMPING */
	SOFTWARE = 1 << 4, /* SOF_TIMESTAMPING_SOFTWARE */
	TX_ACK = 1 << 9, /* SOF_TIMESTAMPING_TX_ACK */
	WITHOUT_DATA = 1 << 11, /* SOF_TIMESTAMPING_OPT_TSONLY */
	UNACKNOWLEDGED = 0x5411, /* SIOCOUTQ */
	ERROR_QUEUE = 0x2000, /* MSG_ERRQUEUE */
	DO_NOT_WAIT = 0x40, /* MSG_DONTWAIT */
};

enum {
	STANDARD_ERROR = 2,
	DECIMAL = 10,
};

struct timespec {
	long tv_sec;
	long tv_nsec;
};

struct pollfd {
	int fd;
	short events;
	short revents;
};

/* Of the process's libc, whichever it is */
extern char *getenv(const char *name);
extern unsigned long strtoul(const char *text, char **end, int base);
extern int dprintf(int fd, const char *format, ...);

static int connection = -1;
static unsigned long left_bytes;
static unsigned long first_ns;

static unsigned long now_ns(void)
{
	struct timespec now = { 0, 0 };

	system_call(SYS_CLOCK_GETTIME, MONOTONIC, (long)&now, 0, 0, 0, 0);
	return (unsigned long)now.tv_sec * 1000000000UL + (unsigned long)now.tv_nsec;
}

static void begin(int fd)
{
	const char *text = getenv("TRANSFER_BYTES");

	connection = fd;
	left_bytes = text ? strtoul(text, 0, DECIMAL) : 0;
	first_ns = now_ns();
}

static void ask_for_acknowledgement(void)
{
	const int flags = SOFTWARE | TX_ACK | WITHOUT_DATA;

	system_call(SYS_SETSOCKOPT, connection, SOCKET_LEVEL, TIMESTAMPING, (long)&flags,
		    sizeof(flags), 0);
}

/* Whether all is acknowledged; if not, the connection has failed */
static int await_acknowledgement(void)
{
	struct pollfd errors = { connection, 0, 0 };
	int bytes = 0;

	for (;;) {
		if (system_call(SYS_IOCTL, connection, UNACKNOWLEDGED, (long)&bytes, 0, 0, 0) < 0)
			return 0;
		if (!bytes)
			return 1;
		if (system_call(SYS_POLL, (long)&errors, 1, -1, 0, 0, 0) < 0)
			continue;
		if (system_call(SYS_RECVFROM, connection, 0, 0, ERROR_QUEUE | DO_NOT_WAIT, 0, 0) <
		    0)
			return 0;
	}
}

static void await_end(void)
{
	if (await_acknowledgement())
		dprintf(STANDARD_ERROR, "transferred %lu %lu\n", first_ns, now_ns());
	for (;;)
		system_call(SYS_POLL, 0, 0, -1, 0, 0, 0);
}

ssize_t sendfile64(int to, int from, long *offset, size_t bytes)
{
	long sent;

	if (connection < 0)
		begin(to);
	if (!left_bytes)
		await_end();
	if (bytes >= left_bytes)
		ask_for_acknowledgement();
	sent = system_call(SYS_SENDFILE, to, from, (long)offset, (long)bytes, 0, 0);
	if (sent > 0)
		left_bytes -= (unsigned long)sent;
	return with_errno(sent);
}

ssize_t sendfile(int to, int from, long *offset, size_t bytes)
{
	return sendfile64(to, from, offset, bytes);
}
