// SPDX-License-Identifier: BSD-3-Clause
// One transfer over UDT, from the connection to its end.
#ifndef UDTPERF_TRANSFER_HPP
#define UDTPERF_TRANSFER_HPP

#include "report.hpp"

#include <udt/udt.h>

// needs the types that udt.h brings
#include <udt/ccc.h>

#include <functional>

namespace udtperf {

using Watch = std::function<void(const Interval&)>;

/// Run what the options ask for; `watch` gets every interval as it ends. SIGTERM and
/// SIGINT end the transfer and leave the report of what there was. A failure is in
/// the report's error, not an exception.
/// `control`: makes the congestion control; nothing for libudt's own.
Report transfer(const Options& asked, CCCVirtualFactory* control, const Watch& watch);

} // namespace udtperf

#endif
