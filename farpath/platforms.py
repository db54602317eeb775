"""Platforms: what each lab has, which rules, checks and texts ask instead of the lab's name."""

from __future__ import annotations

from dataclasses import dataclass

from farpath.spec.plan import Plan
from farpath.spec.settings import HOST, VIRTUAL, Settings


@dataclass(frozen=True)
class Platform:
    """A lab as the rest of the host side sees it. ``name``: as ``Settings.lab``.

    ``boots_kernel``: whether it runs kernels that farpath built, with all queues and devices; else
    it has the kernel of the machine. ``measures_cpu``: whether its hosts have this machine's
    processor, so that CPU time counts, runs differ, and a slow machine alters them.
    """

    name: str
    boots_kernel: bool
    measures_cpu: bool


PLATFORMS = {
    VIRTUAL: Platform(VIRTUAL, boots_kernel=True, measures_cpu=False),
    HOST: Platform(HOST, boots_kernel=False, measures_cpu=True),
}


def platform_of(plan: Plan) -> Platform:
    """Return the platform of a plan."""
    return PLATFORMS[plan.settings.lab]


def real_time_option(settings: Settings) -> str:
    """Return the option by which a run is not in virtual time, for messages.

    >>> real_time_option(Settings(clock="wall", lab="host")), real_time_option(Settings("cpu"))
    ('`lab=host`', '`clock=cpu`')
    """
    if PLATFORMS[settings.lab].measures_cpu:
        return f"`lab={settings.lab}`"
    return f"`clock={settings.clock}`"
