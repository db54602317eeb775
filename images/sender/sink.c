// SPDX-License-Identifier: BSD-3-Clause
/*
 * A receiver that counts its bytes and does not copy them.
 *
 * Preloaded into a traffic tool of the guest (LD_PRELOAD), this library makes
 * each big read() or recv() of a TCP socket discard its payload in the kernel:
 * MSG_TRUNC of tcp(7). It also sets SO_RCVLOWAT, once per socket, so that the
 * tool wakes once per $SINK_WAKE_BYTES (default 131072) and not once per packet.
 * What the peer sees, acknowledgements and window, is the work of the same
 * kernel TCP; only the copy to user space and most wake-ups are gone, which took
 * about half of the host's time in a run.
 *
 * - A read is big from 32 KiB on. iperf3 reads its payload in blocks of 128 KiB
 *   and its control messages in small reads; those are untouched.
 * - A big read of something that is no socket (a file, a pipe) is a plain read.
 * - The low-water mark needs a socket with a fixed receive buffer: on an
 *   auto-tuned one it holds the window at about 300 KB.
 * - A socket is known by its descriptor number. One that takes the number of a
 *   closed socket gets a mark of its own, since close() forgets the number.
 * - No libc (system_call.h). Only environ and errno are taken from the process.
 */
#include "system_call.h"

/* From the kernel's headers, which may be missing where this is compiled */
enum {
	SYS_READ = 0,
	SYS_CLOSE = 3,
	SYS_RECVFROM = 45,
	SYS_SETSOCKOPT = 54,
	SOCKET_LEVEL = 1, /* SOL_SOCKET */
	RECEIVE_LOW_WATER = 18, /* SO_RCVLOWAT */
	TRUNCATE = 0x20, /* MSG_TRUNC */
	PEEK = 0x02, /* MSG_PEEK */
	NOT_A_SOCKET = 88, /* ENOTSOCK */
};

enum {
	BIG_READ_BYTES = 32 * 1024,
	DEFAULT_WAKE_BYTES = 128 * 1024,
	KNOWN_DESCRIPTORS = 1024,
};

extern char **environ;

static unsigned char marked[KNOWN_DESCRIPTORS];

/* The text after "name=" in the environment, or nothing */
static const char *environment(const char *name)
{
	for (char **entry = environ; entry && *entry; entry++) {
		const char *text = *entry, *wanted = name;

		while (*wanted && *text == *wanted) {
			text++;
			wanted++;
		}
		if (!*wanted && *text == '=')
			return text + 1;
	}
	return 0;
}

static int wake_bytes(void)
{
	const char *text = environment("SINK_WAKE_BYTES");
	long bytes = 0;

	if (!text || !*text)
		return DEFAULT_WAKE_BYTES;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return DEFAULT_WAKE_BYTES;
		bytes = bytes * 10 + (*text - '0');
		if (bytes > 0x7fffffff)
			return DEFAULT_WAKE_BYTES;
	}
	return bytes ? (int)bytes : DEFAULT_WAKE_BYTES;
}

static void mark_once(int fd)
{
	int bytes;

	if (fd < 0 || fd >= KNOWN_DESCRIPTORS || marked[fd])
		return;
	marked[fd] = 1;
	bytes = wake_bytes();
	/* No socket or no TCP: refused, and the read that follows tells */
	system_call(SYS_SETSOCKOPT, fd, SOCKET_LEVEL, RECEIVE_LOW_WATER, (long)&bytes,
		    sizeof(bytes), 0);
}

static long discard(int fd, void *buffer, size_t size, int flags)
{
	mark_once(fd);
	return system_call(SYS_RECVFROM, fd, (long)buffer, (long)size, flags | TRUNCATE, 0, 0);
}

ssize_t read(int fd, void *buffer, size_t size)
{
	if (size >= BIG_READ_BYTES) {
		long result = discard(fd, buffer, size, 0);

		if (result != -NOT_A_SOCKET)
			return with_errno(result);
	}
	return with_errno(system_call(SYS_READ, fd, (long)buffer, (long)size, 0, 0, 0));
}

ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
	if (size >= BIG_READ_BYTES && !(flags & PEEK))
		return with_errno(discard(fd, buffer, size, flags));
	return with_errno(system_call(SYS_RECVFROM, fd, (long)buffer, (long)size, flags, 0, 0));
}

int close(int fd)
{
	if (fd >= 0 && fd < KNOWN_DESCRIPTORS)
		marked[fd] = 0;
	return (int)with_errno(system_call(SYS_CLOSE, fd, 0, 0, 0, 0, 0));
}
