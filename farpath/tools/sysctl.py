"""sysctl: reads and writes kernel settings of the network namespace of this process."""

from __future__ import annotations

import os
from pathlib import Path as FilePath


class SettingError(RuntimeError):
    """The kernel refuses a value of a sysctl; the text names both."""


def _setting(name: str) -> FilePath:
    return FilePath("/proc/sys", *name.split("."))


def has_setting(name: str) -> bool:
    """Whether this network namespace has a sysctl, named as ``net.ipv4.tcp_sack``."""
    return _setting(name).is_file()


def can_write_setting(name: str) -> bool:
    """Whether a sysctl can be written here; some only in the initial network namespace."""
    return has_setting(name) and os.access(_setting(name), os.W_OK)


def write_setting(name: str, value: str) -> None:
    """Set a sysctl of this network namespace; raises SettingError if the kernel refuses it."""
    try:
        _setting(name).write_text(value + "\n", encoding="ascii")
    except OSError as error:
        raise SettingError(f"the kernel does not take {name}={value} ({error.strerror})") from error


def read_setting(name: str) -> str:
    """Return the value of a sysctl, its fields separated by single spaces."""
    return " ".join(_setting(name).read_text(encoding="ascii").split())


#: Limit of the packets that wait between two ends of a veth pair: a host is infinitely fast,
#: and the kernel's default of 1000 would drop part of a window sent at once.
BACKLOG = "net.core.netdev_max_backlog"
BACKLOG_PACKETS = 1_000_000
