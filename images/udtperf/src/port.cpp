// SPDX-License-Identifier: BSD-3-Clause
#include "port.hpp"

#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

namespace udtperf {

namespace {

class Socket {
  public:
    Socket(int family, int type, int protocol)
        : fd_(::socket(family, type | SOCK_CLOEXEC, protocol)) {}
    ~Socket() {
        if (fd_ >= 0)
            ::close(fd_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

/// Number of the port whose address packets to `peer` would carry; 0 if none.
unsigned port_towards(const sockaddr_in& peer) {
    const Socket probe(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in here{};
    socklen_t bytes = sizeof(here);
    if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof(peer)) ||
        getsockname(probe.get(), reinterpret_cast<sockaddr*>(&here), &bytes))
        return 0;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list))
        return 0;
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> held(list, freeifaddrs);
    for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
        const auto* address = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
        if (address && address->sin_family == AF_INET &&
            address->sin_addr.s_addr == here.sin_addr.s_addr)
            return if_nametoindex(entry->ifa_name);
    }
    return 0;
}

/// The kind of the queue that one answer of the kernel describes, if it is one of
/// `port`; else nothing.
std::string queue_of(const nlmsghdr& answer, unsigned port) {
    const auto* queue = static_cast<const tcmsg*>(NLMSG_DATA(&answer));
    if (answer.nlmsg_type != RTM_NEWQDISC || queue->tcm_ifindex != static_cast<int>(port))
        return "";
    int left = static_cast<int>(answer.nlmsg_len - NLMSG_LENGTH(sizeof(tcmsg)));
    for (const rtattr* part = TCA_RTA(queue); RTA_OK(part, left); part = RTA_NEXT(part, left))
        if (part->rta_type == TCA_KIND)
            return static_cast<const char*>(RTA_DATA(part));
    return "";
}

} // namespace

bool sends_on_time(const sockaddr_in& peer) {
    const unsigned port = port_towards(peer);
    const Socket kernel(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    struct {
        nlmsghdr header;
        tcmsg queue;
    } question{};
    question.header = {sizeof(question), RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, 1, 0};
    if (!port || send(kernel.get(), &question, sizeof(question), 0) < 0)
        return false;
    alignas(nlmsghdr) std::array<char, 16'384> answers{};
    for (;;) {
        ssize_t left = recv(kernel.get(), answers.data(), answers.size(), 0);
        if (left <= 0)
            return false;
        for (auto* answer = reinterpret_cast<const nlmsghdr*>(answers.data());
             NLMSG_OK(answer, left); answer = NLMSG_NEXT(answer, left)) {
            if (answer->nlmsg_type == NLMSG_DONE || answer->nlmsg_type == NLMSG_ERROR)
                return false;
            if (queue_of(*answer, port) == "fq")
                return true;
        }
    }
}

} // namespace udtperf
