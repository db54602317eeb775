// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include "sizes.h"
#include "window.h"

#ifndef WINDOW_PACKETS
#define WINDOW_PACKETS 10
#endif

static unsigned int packets = WINDOW_PACKETS;
module_param(packets, uint, 0444);

u32 two_window(void)
{
	return packets + ADDED_PACKETS;
}
