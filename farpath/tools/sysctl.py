"""Kernel settings (sysctl) of the network namespace that this process is in."""

from __future__ import annotations

import os
from pathlib import Path as FilePath


class SettingError(RuntimeError):
    """The kernel does not take a setting's value; the text names both."""


def _setting(name: str) -> FilePath:
    return FilePath("/proc/sys", *name.split("."))


def has_setting(name: str) -> bool:
    """Whether this network namespace has a sysctl (``net.ipv4.tcp_sack`` style)."""
    return _setting(name).is_file()


def can_write_setting(name: str) -> bool:
    """Whether a sysctl can be set here: outside the first namespace some cannot."""
    return has_setting(name) and os.access(_setting(name), os.W_OK)


def write_setting(name: str, value: str) -> None:
    """Set one sysctl of this network namespace; SettingError for what it cannot be."""
    try:
        _setting(name).write_text(value + "\n", encoding="ascii")
    except OSError as error:
        raise SettingError(f"the kernel does not take {name}={value} ({error.strerror})") from error


def read_setting(name: str) -> str:
    """The value of one sysctl, its fields separated by single blanks."""
    return " ".join(_setting(name).read_text(encoding="ascii").split())


#: Packets that may wait between two ends of a virtual cable: a host is infinitely
#: fast, and the kernel's 1000 would drop part of a window sent at once.
BACKLOG = "net.core.netdev_max_backlog"
BACKLOG_PACKETS = 1_000_000
