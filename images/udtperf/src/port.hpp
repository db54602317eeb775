// SPDX-License-Identifier: BSD-3-Clause
// What the kernel does to packets before they leave this host.
#ifndef UDTPERF_PORT_HPP
#define UDTPERF_PORT_HPP

#include <netinet/in.h>

namespace udtperf {

/// Whether the port towards an address sends packets at the times they carry: whether
/// it has a queue fq (tc-fq(8)). False too where the kernel does not say.
bool sends_on_time(const sockaddr_in& peer);

} // namespace udtperf

#endif
