"""User time: what host and guest share of the module by which a user's programs find time.

The module is ``images/kernel/devices/usertime.c``; ``farpath exec`` and ``farpath shell`` load it.
"""

from __future__ import annotations

MODULE = "usertime"
#: File in the shared directory with the module's parameters: addresses in the guest's kernel.
ADDRESSES_FILE = "usertime.json"
#: Symbols of the kernel whose addresses are parameters of the same name.
SYMBOLS = ("sig_info", "sys_call_table", "time_travel_time")
#: Parameter with the address by which the kernel calls a function of the C library, and which.
SLOT, FUNCTION = "clone_slot", "clone"
