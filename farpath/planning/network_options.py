"""Network of a run: resolves topology, further senders, reverse flows and the version of IP.

A path with another network gets another name, so that published numbers are not compared with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from farpath.base import path_variants
from farpath.base.errors import BadInputError
from farpath.base.path_variants import varied
from farpath.planning.path_options import sysctl_for
from farpath.planning.rules import senders_not_taken
from farpath.planning.senders import parse_senders
from farpath.planning.stack_texts import parse_stacks
from farpath.planning.user_flows import UserFlow
from farpath.spec.hosts import (
    Pair,
    Sender,
    assign_hosts,
    with_reverse,
)
from farpath.spec.path import WINDOW_BYTES_RANGE, Path
from farpath.spec.plan import DUMBBELL, OWN, Plan
from farpath.spec.schedule import SEVEN_REGIONS, Schedule
from farpath.spec.user_network import UserNetwork
from topologies import find_topology, topology_modules

_TOPOLOGY = re.compile(r"([a-z-]+?)(?::([0-9]{1,3}))?")


@dataclass(frozen=True)
class NetworkOptions:
    """Hosts of a run and how they are connected.

    ``senders``: further ones. ``reverse``: stacks of the flows from receiver to sender.
    ``own``: the user's network, if it has one, with its ``flows``.
    """

    topology: str = DUMBBELL
    bottlenecks: int = 1
    senders: tuple[Sender, ...] = ()
    reverse: tuple[str, ...] = ()
    ip_version: int = 4
    own: UserNetwork | None = None
    flows: tuple[UserFlow, ...] = ()

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Return the pairs of sender and receiver; of the user's network one for each flow."""
        if self.own:
            return tuple(flow.pair for flow in self.flows)
        return find_topology(self.topology).host_pairs(self.bottlenecks, self.senders)

    def stacks(self, texts: Sequence[str], schedule_name: str) -> tuple[str, ...]:
        """Return the stack of each flow; a single one is repeated for each sender."""
        if self.own:
            return tuple(flow.stack for flow in self.flows)
        if len(texts) == 1 and schedule_name != SEVEN_REGIONS:
            return tuple(texts) * len(self.pairs)
        return tuple(texts)

    def schedule(self, schedule: Schedule, reverse: Sequence[str]) -> Schedule:
        """Assign hosts to a schedule's flows and add reverse flows with these labels of stacks."""
        return with_reverse(assign_hosts(schedule, self.pairs), reverse, self.pairs)


def resolve_network(
    path: Path,
    topology: str | None = None,
    senders: str | None = None,
    reverse: str | None = None,
    ip: str | None = None,
    keep_window: bool = False,
) -> tuple[Path, NetworkOptions]:
    """Parse the options of a run's network, and adapt the path's name and window to them.

    The window is raised for the longest RTT. ``keep_window``: leave it as it is, so that it may
    limit senders with a longer RTT. Raises BadInputError for a text that is not allowed.
    """
    name, bottlenecks = parse_topology(DUMBBELL if topology is None else topology)
    ip_version = parse_ip(ip)
    if not find_topology(name).takes_senders and (senders is not None or reverse is not None):
        raise senders_not_taken(name)
    network = NetworkOptions(
        topology=name,
        bottlenecks=bottlenecks,
        senders=() if senders is None else parse_senders(senders, path),
        reverse=() if reverse is None else parse_stacks(reverse, "reverse"),
        ip_version=ip_version,
    )
    resolved = path if keep_window else _with_window(path, network.senders)
    return _renamed(resolved, network), network


def parse_ip(text: str | None) -> int:
    """Parse the version of IP; raise BadInputError for any other text."""
    if text not in (None, "4", "6"):
        raise BadInputError(option="ip", given=text, remedy="it must be 4 or 6")
    return int(text or 4)


def parse_topology(text: str) -> tuple[str, int]:
    """Parse a topology and its number of bottlenecks; raise BadInputError for any other text.

    >>> parse_topology("dumbbell"), parse_topology("parking-lot:2")
    (('dumbbell', 1), ('parking-lot', 2))
    """
    match = _TOPOLOGY.fullmatch(text)
    if match and match[1] in topology_modules() and not find_topology(match[1]).is_of_file:
        topology = find_topology(match[1])
        if match[2] is None:
            return match[1], topology.default_bottlenecks
        if int(match[2]) in topology.bottlenecks:
            return match[1], int(match[2])
    raise BadInputError(
        option="topology", given=text, remedy=f"it must be one of {topology_texts()}"
    )


def topology_texts() -> str:
    """Return the texts that name a topology, for people.

    >>> topology_texts()
    'dumbbell, parking-lot, parking-lot:2 to parking-lot:8, routed, ./mine.py'
    """
    texts: list[str] = []
    of_files: list[str] = []
    for name in topology_modules():
        topology = find_topology(name)
        if topology.is_of_file:
            # Of several that are of files, one alone is a run's
            of_files = ["./mine.py"]
            continue
        texts.append(name)
        counts = topology.bottlenecks
        if len(counts) > 1:
            texts.append(f"{name}:{counts[0]} to {name}:{counts[-1]}")
    texts += of_files
    return ", ".join(texts)


def flow_routes(plan: Plan) -> list[str]:
    """Return a line for each pair of hosts with its base RTT, MTU, flows and stacks."""
    lines = []
    for flows in (plan.schedule.flows, plan.schedule.reverse):
        by_pair: dict[Pair, list[str]] = {}
        for flow in flows:
            by_pair.setdefault((flow.sender, flow.receiver), []).append(f"{flow.name} {flow.stack}")
        for (sender, receiver), flow_texts in by_pair.items():
            near = sender if flows is plan.schedule.flows else receiver
            rtt_ms = plan.pair_rtt_ms(sender, receiver)
            rtt, mtu = f"RTT {rtt_ms:g} ms", f"MTU {plan.host_mtu_bytes(near)}"
            lines.append(f"{sender} -> {receiver}, {rtt}, {mtu}: {', '.join(flow_texts)}")
    return lines


def user_network_options(
    own: UserNetwork, flows: tuple[UserFlow, ...], ip: str | None
) -> NetworkOptions:
    """Return the options of a run over the user's network."""
    pairs = [flow.pair for flow in flows]
    return NetworkOptions(
        topology=OWN,
        bottlenecks=len(own.bottlenecks(pairs)),
        ip_version=parse_ip(ip),
        own=own,
        flows=flows,
    )


def _with_window(path: Path, senders: Sequence[Sender]) -> Path:
    """Raise a path's window to twice the longest bandwidth-delay product plus the buffer."""
    longest_ms = max([path.rtt_ms, *(sender.rtt_ms for sender in senders)])
    if longest_ms == path.rtt_ms:
        return path
    ideal_bytes = round(2 * max(path.rates_bps) * longest_ms / 8e3) + path.buffer_bytes
    window_bytes = max(path.window_bytes, min(ideal_bytes, WINDOW_BYTES_RANGE[1]))
    if window_bytes == path.window_bytes:
        return path
    source = (
        f"raised for the RTT of {longest_ms:g} ms: twice its bandwidth-delay product and the buffer"
    )
    return replace(
        path,
        window_bytes=window_bytes,
        sysctl=sysctl_for(window_bytes, path.sysctl),
        sources={**path.sources, "window_bytes": source, "sysctl": "maxima raised for the window"},
    )


def _renamed(path: Path, network: NetworkOptions) -> Path:
    """Add each difference from the path's own network to its name and its title."""
    differences = {
        path_variants.of_topology(network.topology, network.bottlenecks): (
            network.topology != DUMBBELL
        ),
        path_variants.SENDERS: bool(network.senders),
        path_variants.REVERSE: bool(network.reverse),
        path_variants.IPV6: network.ip_version == 6,
    }
    variants = [variant for variant, differs in differences.items() if differs]
    return replace(path, **varied(path.name, path.title, variants)) if variants else path
