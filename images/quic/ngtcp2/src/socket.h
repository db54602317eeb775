// SPDX-License-Identifier: BSD-3-Clause
// The UDP socket, the clock and waiting for both.
#ifndef SOCKET_H
#define SOCKET_H

#include "options.h"

#include <sys/socket.h>

struct address {
    struct sockaddr_storage storage;
    socklen_t length;
};

uint64_t now_ns(void);

// A socket that waits on the port, or one that is connected to the server.
int socket_open(const struct options* options);

struct address socket_local(int socket);

// Waits for a packet, or for room where wants_room is set, or until a time of CLOCK_MONOTONIC.
void socket_wait(int socket, bool wants_room, uint64_t until_ns);

// The packet's size; -1 if there is none.
ssize_t socket_receive(int socket, void* packet, size_t room, struct address* from);

// Whether the packet went out, or was lost at once; false if the socket has no room.
bool socket_send(int socket, const void* packet, size_t size);

#endif
