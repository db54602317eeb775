// SPDX-License-Identifier: BSD-3-Clause
#include "socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 4 << 20 };
static const uint64_t NS_PER_S = 1000000000;

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

// Packets are never split by IP (RFC 9000, section 14); the kernel cuts sizes to what it allows
static void prepare(int socket, int family) {
    const int size = BUFFER_BYTES, never = IP_PMTUDISC_PROBE;
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    setsockopt(socket, IPPROTO_IP, IP_MTU_DISCOVER, &never, sizeof(never));
    if (family == AF_INET6)
        setsockopt(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &never, sizeof(never));
}

static int opened(const struct options* options, int family) {
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_DGRAM}, *found;
    hints.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST | (options->server ? AI_PASSIVE : 0);
    if (getaddrinfo(options->address, options->port, &hints, &found))
        return -1;
    const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int both = 0;
    if (fd >= 0 && options->server && family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof(both));
    const bool ready =
        fd >= 0 && !(options->server ? bind(fd, found->ai_addr, found->ai_addrlen)
                                     : connect(fd, found->ai_addr, found->ai_addrlen));
    const int problem = errno;
    if (ready)
        prepare(fd, found->ai_family);
    else if (fd >= 0)
        close(fd);
    freeaddrinfo(found);
    errno = problem;
    return ready ? fd : -1;
}

int socket_open(const struct options* options) {
    prctl(PR_SET_TIMERSLACK, 1);
    int fd = opened(options, options->server ? AF_INET6 : AF_UNSPEC);
    if (fd < 0 && options->server)
        fd = opened(options, AF_INET);
    if (fd < 0)
        fail(1, "no socket for %s port %s: %s", options->server ? "UDP" : options->address,
             options->port, strerror(errno));
    return fd;
}

struct address socket_local(int socket) {
    struct address local = {.length = sizeof(local.storage)};
    getsockname(socket, (struct sockaddr*)&local.storage, &local.length);
    return local;
}

void socket_wait(int socket, bool wants_room, uint64_t until_ns) {
    struct pollfd waited = {.fd = socket, .events = POLLIN | (wants_room ? POLLOUT : 0)};
    const uint64_t now = now_ns();
    if (until_ns <= now)
        return;
    const uint64_t left_ns = until_ns - now;
    const struct timespec timeout = {(time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S)};
    ppoll(&waited, 1, until_ns == UINT64_MAX ? NULL : &timeout, NULL);
}

ssize_t socket_receive(int socket, void* packet, size_t room, struct address* from) {
    from->length = sizeof(from->storage);
    ssize_t size;
    do
        size = recvfrom(socket, packet, room, 0, (struct sockaddr*)&from->storage, &from->length);
    while (size < 0 && (errno == EINTR || errno == ECONNREFUSED));
    if (size < 0 && errno != EAGAIN)
        fail(1, "the socket: %s", strerror(errno));
    return size;
}

bool socket_send(int socket, const void* packet, size_t size) {
    while (send(socket, packet, size, 0) < 0) {
        if (errno == EAGAIN || errno == ENOBUFS)
            return false;
        if (errno == ECONNREFUSED)
            return true;
        if (errno != EINTR)
            fail(1, "a packet of %zu bytes: %s", size, strerror(errno));
    }
    return true;
}
