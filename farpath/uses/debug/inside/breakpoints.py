"""Breakpoints and watchpoints, by which a run stops at an event of its flows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gdb

from farpath.uses.debug.inside import kernel, queues, sockets
from farpath.uses.debug.inside.inferiors import Sites
from farpath.uses.debug.inside.stopping import EventBreakpoint, FieldWatch, MakeBreakpoints

Flow = Mapping[str, Any]
#: The comparisons of a watch.
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
#: Arguments of functions that are a socket, or lead to one.
_SOCKETS = ("sk", "meta_sk", "ssk", "tp", "icsk")
#: Functions of TCP: a packet is sent, one has arrived (by version of IP), the timer has expired.
SENT, ARRIVED, EXPIRED = "__tcp_transmit_skb", ("tcp_v4_rcv", "tcp_v6_rcv"), "tcp_retransmit_timer"
#: Hardware breakpoints and watchpoints of an x86-64 processor, without the one of another site.
MOST_WATCHES = 3


def _variable(name: str) -> Any:
    return gdb.selected_frame().read_var(name)


def _names(function: str) -> set[str]:
    """Return the arguments of a function; raises gdb.GdbError for a function that is unknown."""
    symbol = gdb.lookup_global_symbol(function) or gdb.lookup_static_symbol(function)
    if symbol is None or symbol.symtab is None:
        raise gdb.GdbError(f"the kernel has no function {function}, or none of its own code")
    block = gdb.block_for_pc(int(symbol.value().address))
    return {one.name for one in block if one.is_argument} if block else set()


def _socket_here(names: set[str]) -> Any | None:
    """Return the socket of the function in which a guest stands, as struct sock; None without."""
    sock = kernel.type_of("struct sock").pointer()
    for name in _SOCKETS:
        if name in names:
            return _variable(name).cast(sock)
    return _variable("skb")["sk"]


def _ports_here(names: set[str]) -> tuple[int, int]:
    """Return both ports of the socket or packet with which a function was called."""
    found = _socket_here(names)
    if found is not None and int(found):
        return sockets.ports_of(found)
    skb = _variable("skb")
    header = int(skb["head"]) + int(skb["transport_header"])
    pair = bytes(gdb.selected_inferior().read_memory(header, 4))
    return int.from_bytes(pair[:2], "big"), int.from_bytes(pair[2:], "big")


def of_flows(function: str, flows: Sequence[Flow]) -> Callable[[], bool]:
    """Return the condition that a function is called for one of the flows.

    Raises gdb.GdbError for a function that has neither a socket nor a packet.
    """
    names = _names(function)
    if not names & {*_SOCKETS, "skb"}:
        raise gdb.GdbError(
            f"{function} has no argument that is a socket or a packet ({', '.join(sorted(names))}):"
            " leave out the flow"
        )
    ports = {int(flow["port"]) for flow in flows}
    return lambda: not ports.isdisjoint(_ports_here(names))


def at_function(
    sites: Sites, stop: Mapping[str, Any], flow: Flow | None, _queues: Sequence[str]
) -> MakeBreakpoints:
    """Return the breakpoint in a function, of a flow if one is given."""
    function = str(stop["function"])
    conditions = [of_flows(function, [flow])] if flow else []
    if not flow:
        try:
            gdb.decode_line(function)
        except gdb.error as error:
            raise gdb.GdbError(f"the kernel has no function {function}: {error}") from error
    return lambda counts: [EventBreakpoint(function, [counts, *conditions])]


def at_packet(
    sites: Sites, stop: Mapping[str, Any], flow: Flow | None, _queues: Sequence[str]
) -> MakeBreakpoints:
    """Return the breakpoint where a flow sends a packet, by its number or by one of its bytes."""
    assert flow is not None
    of_flow = of_flows(SENT, [flow])
    number, by_byte = int(stop["number"]), bool(stop["sequence"])
    block = kernel.type_of("struct tcp_skb_cb").pointer()

    def is_it() -> bool:
        tcp, skb = sockets.as_tcp(_variable("sk")), _variable("skb")
        if not int(skb["len"]) or sockets.ports_of(_variable("sk"))[1] != flow["port"]:
            return False
        control = skb["cb"].address.cast(block)
        if by_byte:
            sent = int(tcp["bytes_sent"]) - int(tcp["bytes_retrans"])
            first = (sent + int(control["seq"]) - int(tcp["snd_nxt"])) % sockets.SEQUENCES
            return first <= number < first + int(skb["len"])
        before = int(tcp["data_segs_out"])
        return before < number <= before + max(1, int(control["tcp_gso_segs"]))

    def is_data() -> bool:
        """Whether it is the flow's connection with data: the last one to its port."""
        site = sites.current
        found = sockets.data_connection(site, flow, sending=True)
        return found is not None and int(found) == int(_variable("sk"))

    return lambda counts: [EventBreakpoint(SENT, [counts, of_flow, is_it, is_data])]


def at_timeout(
    sites: Sites, stop: Mapping[str, Any], flow: Flow | None, _queues: Sequence[str]
) -> MakeBreakpoints:
    """Return the breakpoint where a retransmission timer has expired with data on the way."""

    def has_data() -> bool:
        return int(sockets.as_tcp(_variable("sk"))["packets_out"]) > 0

    return lambda counts: [EventBreakpoint(EXPIRED, [counts, has_data])]


def at_drop(
    sites: Sites, stop: Mapping[str, Any], flow: Flow | None, names: Sequence[str]
) -> MakeBreakpoints:
    """Return the watchpoints on the drop counters of the queues that a run samples."""
    return _counters(sites, names, queues.drops_address, "drops")


def at_mark(
    sites: Sites, stop: Mapping[str, Any], flow: Flow | None, names: Sequence[str]
) -> MakeBreakpoints:
    """Return the watchpoints on the counters of marks of these queues."""
    return _counters(sites, names, queues.marks_address, "marks")


def _counters(
    sites: Sites, names: Sequence[str], address_of: Callable[[Any], int | None], what: str
) -> MakeBreakpoints:
    found: list[tuple[Any, int]] = []
    for site in sites.all:
        with site.selected():
            for device in queues.devices():
                if queues.name_of(device) in names:
                    # The innermost drops and marks; those above only count what it has handed back
                    addresses = [address_of(one) for one in queues.qdiscs(device)]
                    found += [(site, one) for one in addresses if one is not None][-1:]
    if not found:
        raise gdb.GdbError(f"no queue of this run counts {what}: {', '.join(names)}")

    def make(counts: Callable[[], bool]) -> list[FieldWatch]:
        made = []
        for site, address in found[:MOST_WATCHES]:
            with site.selected():
                made.append(FieldWatch(f"*(unsigned int *){address}", counts))
        return made

    return make


def at_value(
    sites: Sites, stop: Mapping[str, Any], flow: Flow | None, _queues: Sequence[str]
) -> MakeBreakpoints:
    """Return the watchpoint on a field of a flow's sending socket, from its connection on."""
    assert flow is not None
    site = sockets.sending_site(sites, flow)
    field, compare = str(stop["field"]), COMPARISONS[str(stop["comparison"])]
    number = int(stop["number"])

    def make(counts: Callable[[], bool]) -> list[FieldWatch]:
        with site.selected():
            sock = sockets.data_connection(site, flow, sending=True)
            if sock is None:
                raise gdb.GdbError(
                    f"{flow['name']} has no connection yet; give a later `at` beside `watch`"
                )
            try:
                word = sockets.as_tcp(sock)[field]
            except gdb.error as error:
                raise gdb.GdbError(f"struct tcp_sock has no {field}") from error
            address, kind = int(word.address), word.type
            pointer = gdb.Value(address).cast(kind.pointer())
            return [
                FieldWatch(
                    f"*({kind} *){address}",
                    lambda: counts() and compare(int(pointer.dereference()), number),
                )
            ]

    return make


def next_packet(sites: Sites, flows: Sequence[Flow]) -> MakeBreakpoints:
    """Return the breakpoints where flows send a packet, or one arrives for them."""
    functions = [one for one in (SENT, *ARRIVED) if gdb.lookup_global_symbol(one) or one == SENT]
    return lambda _counts: [EventBreakpoint(one, [of_flows(one, flows)]) for one in functions]


Event = Callable[[Sites, Mapping[str, Any], Flow | None, Sequence[str]], MakeBreakpoints]
#: By the kind of a stop.
EVENTS: dict[str, Event] = {
    "break": at_function,
    "packet": at_packet,
    "timeout": at_timeout,
    "drop": at_drop,
    "mark": at_mark,
    "watch": at_value,
}
