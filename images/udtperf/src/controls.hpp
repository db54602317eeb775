// SPDX-License-Identifier: BSD-3-Clause
// Which congestion control a connection gets.
#ifndef UDTPERF_CONTROLS_HPP
#define UDTPERF_CONTROLS_HPP

#include "options.hpp"

#include <udt/udt.h>

// needs the types that udt.h brings
#include <udt/ccc.h>

#include <memory>

namespace udtperf {

/// What makes the congestion control that the options name; nothing for libudt's own.
/// Refusal if a user's file cannot be loaded or does not take its parameters.
std::unique_ptr<CCCVirtualFactory> control_factory(const Options& options);

} // namespace udtperf

#endif
