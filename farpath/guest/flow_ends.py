"""Flow ends: commands, environment and files of the programs at both ends of a flow.

A folder of ``farpath/programs`` whose program is no other's like says so in its ``device.py``, by
``ENDS``. Without it a program takes iperf3's options (``farpath.tools.iperf3_like``), and its
stack's parameters as further ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path as FilePath

from farpath.guest.device import device_modules
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.stack import Stack
from farpath.tools import iperf3_like


class FlowEnds:
    """The two ends of a program's flows; a class below overrides the parts that differ.

    ``program``: as ``Stack.program``. ``on_bare_host``: whether it runs outside of a container,
    beside the guest's own programs.
    """

    program = ""
    on_bare_host = False

    def command(self, stack: Stack) -> list[str]:
        """Return the program itself, without its options."""
        return list(stack.root_command) if stack.root else [stack.program]

    def receiver(self, plan: Plan, flow: Flow) -> list[str]:
        """Return the command of a flow's receiver."""
        stack, interval_s = plan.stack_of(flow), plan.settings.flow_interval_s
        return iperf3_like.server_arguments(self.command(stack), flow, interval_s, stack.parameters)

    def sender(self, plan: Plan, flow: Flow, address: str) -> list[str]:
        """Return the command of a flow's sender. ``address``: of the receiver's host."""
        stack, interval_s = plan.stack_of(flow), plan.settings.flow_interval_s
        return iperf3_like.client_arguments(
            self.command(stack), flow, address, interval_s, stack.parameters
        )

    def receiver_environment(self, plan: Plan, flow: Flow) -> dict[str, str]:
        """Return the environment variables of a flow's receiver."""
        return {}

    def sender_environment(self, plan: Plan, flow: Flow) -> dict[str, str]:
        """Return the environment variables of a flow's sender."""
        return {}

    def written(self, plan: Plan, flow: Flow) -> Mapping[str, str]:
        """Return the raw files that a flow's sender writes, by their path in its container."""
        return {}


@cache
def _all_ends() -> Mapping[str, FlowEnds]:
    found: list[FlowEnds] = [module.ENDS for module in device_modules() if hasattr(module, "ENDS")]
    return {ends.program: ends for ends in found}


def ends_of(stack: Stack) -> FlowEnds:
    """Return the ends of a stack's flows."""
    return _all_ends().get(stack.program) or FlowEnds()


def make_files(raw: FilePath, written: Mapping[str, str]) -> dict[str, str]:
    """Make raw files that a program may write; return each by its path in the container."""
    places = {}
    for place, name in written.items():
        file = raw / name
        file.touch()
        file.chmod(0o666)
        places[place] = str(file)
    return places
