"""Commands that farpath adds to gdb's own, on all sites of a stopped run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import gdb

from farpath.base.errors import BadInputError
from farpath.base.units import TIMES, Quantity
from farpath.uses.debug.inside import (
    breakpoints,
    far_link_packets,
    queues,
    sockets,
    stopping,
    timers,
)
from farpath.uses.debug.inside.inferiors import Site, Sites
from farpath.uses.debug.inside.module_symbols import Modules
from farpath.uses.debug.inside.scoreboard import ranges, scoreboard_lines

TIME = Quantity("a time", "100ms", TIMES, "s", (0.0, 1e6), float)
#: Frames of a backtrace in the state of a stop, and timers that are shown.
MOST_FRAMES, MOST_TIMERS, MOST_PACKETS = 24, 12, 10


class Session:
    """A stopped run: its sites, its flows, and what happens after gdb has ended.

    ``config``: what ``farpath.uses.debug.session`` has written for gdb's side.
    """

    def __init__(self, config: Mapping[str, Any], sites: Sites) -> None:
        self.config = config
        self.sites = sites
        self._modules = [
            Modules(site, one["modules"])
            for site, one in zip(sites.all, config["sites"], strict=True)
        ]
        self.flows: dict[str, Mapping[str, Any]] = {flow["name"]: flow for flow in config["flows"]}
        #: Lines of a script that are still to be run.
        self.rest: list[str] = config["script"] or []
        self._answer = FilePath(config["answer"])

    def flow(self, name: str) -> Mapping[str, Any]:
        """Return a flow; raises gdb.GdbError for another name. Without a name it is the first."""
        try:
            return self.flows[name or next(iter(self.flows))]
        except KeyError:
            known = ", ".join(self.flows)
            raise gdb.GdbError(f"the run has no {name}; its flows are {known}") from None

    def leave(self, then: str, **further: Any) -> None:
        """Let go of all guests and end gdb, with word of what comes next."""
        self.tell(then, rest=self.rest, **further)
        detach_all(self.sites)
        gdb.execute("quit")

    def tell(self, then: str, **further: Any) -> None:
        """Leave word for farpath, which waits for gdb's end."""
        self._answer.write_text(json.dumps({"then": then, **further}))

    @property
    def now_s(self) -> float:
        """The current site's time in s from the schedule's start."""
        return self.sites.at_s(self.sites.current.now_ns)

    def stop_at(self, stop: Mapping[str, Any], found: stopping.Found | None = None) -> Site:
        """Bring all sites to a stop; raises as ``farpath.uses.debug.inside.stopping`` does."""
        self._add_symbols()
        if stop["kind"] == "at":
            return self._bring_to(self.sites.ns_of(stop["at_s"]))
        first_ns = self.sites.ns_of(stop["at_s"])
        flow = self.flows.get(stop["flow"])
        if found is None and self.sites.current.now_ns < first_ns:
            self._bring_to(first_ns)
        make = breakpoints.EVENTS[stop["kind"]](self.sites, stop, flow, self.config["queues"])
        return stopping.bring_to_event(self.sites, make, found, first_ns)

    def _bring_to(self, until_ns: int) -> Site:
        """Bring all sites to an instant; modules may have been loaded on the way."""
        site = stopping.bring_to(self.sites, until_ns)
        self._add_symbols()
        return site

    def _add_symbols(self) -> None:
        for modules in self._modules:
            modules.add_symbols()

    def state(self) -> dict[str, Any]:
        """Return the state of all sites and flows at this instant, for JSON."""
        state = {
            "at_s": self.now_s,
            "site": self.sites.current.title,
            "backtrace": backtrace(),
            "sites": sites_state(self.sites),
        }
        if self.config["names_only"]:
            return state
        return {
            **state,
            "flows": {name: self.flow_state(flow) for name, flow in self.flows.items()},
            "queues": self.queue_states(self.config["queues"]),
        }

    def flow_state(self, flow: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state of a flow's connection at each end that has it."""
        state: dict[str, Any] = {}
        for end in ("sender", "receiver"):
            site = next(one for one in self.sites.all if one.number == flow[f"{end}_site"])
            with site.selected():
                sock = sockets.data_connection(site, flow, sending=end == "sender")
                if sock is not None:
                    state[end] = sockets.described(sock, _jiffies())
                    if end == "sender":
                        state["scoreboard"] = list(ranges(sockets.segments(sock)))
        return state

    def queue_states(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the qdiscs of all devices whose names begin with one of these."""
        found = []
        for site in self.sites.all:
            with site.selected():
                for device in queues.devices():
                    if any(_is_named(queues.name_of(device), name) for name in names):
                        found += queues.states(device)
        return found


def _is_named(device: str, name: str) -> bool:
    """Whether a device is this one, or of this node: s2-eth1 is of s2."""
    return device == name or device.startswith(f"{name}-")


def _jiffies() -> int:
    return int(gdb.parse_and_eval("(unsigned long)jiffies_64"))


def detach_all(sites: Sites) -> None:
    """Detach from all guests."""
    for site in sites.all:
        if site.is_alive:
            gdb.execute(f"detach inferiors {site.inferior}", to_string=True)


def sites_state(sites: Sites) -> list[dict[str, Any]]:
    """Return each site's time, from the schedule's start and by its own clock."""
    return [
        {
            "site": site.title,
            "at_s": sites.at_s(site.now_ns),
            "clock_ns": site.now_ns,
            "pid": site.pid,
            "inferior": site.inferior,
        }
        for site in sites.all
    ]


def backtrace() -> list[dict[str, Any]]:
    """Return the selected frame and those above it: function, and file and line where known."""
    frames: list[dict[str, Any]] = []
    frame = gdb.newest_frame()
    while frame is not None and len(frames) < MOST_FRAMES:
        place = frame.find_sal()
        file = place.symtab.fullname() if place.symtab else None
        frames.append(
            {"function": frame.name(), "file": file, "line": place.line if file else None}
        )
        frame = frame.older()
    return frames


def _require_guests(session: Session) -> None:
    """Raise gdb.GdbError if a guest has ended."""
    if session.sites.is_over():
        raise gdb.GdbError("the run has ended: Ctrl-D leaves gdb")


def _done(session: Session, act: Callable[[Session, str], None], words: str) -> None:
    """Do what a command asks for; errors of its words are one line."""
    _require_guests(session)
    if session.config["names_only"] and act in OF_TYPES:
        raise gdb.GdbError("this needs the kernel's types: leave out --names-only")
    try:
        act(session, words.strip())
    except BadInputError as error:
        raise gdb.GdbError(error.message) from error


class _Command(gdb.Command):
    """A command of farpath's, which ``act`` does."""

    def __init__(self, name: str, session: Session, act: Callable[[Session, str], None]) -> None:
        self.__doc__ = act.__doc__
        super().__init__(name, gdb.COMMAND_USER)
        self._session, self._act = session, act

    def invoke(self, argument: str, from_tty: bool) -> None:
        self.dont_repeat()
        _done(self._session, self._act, argument)


def show_sites(session: Session, _words: str) -> None:
    """Print each site's virtual time; the current one has a star."""
    current = session.sites.current
    for site, state in zip(session.sites.all, sites_state(session.sites), strict=True):
        star = "*" if site is current else " "
        print(f"{star} {site.inferior}  {site.title:<12} {state['at_s']:.9f} s  process {site.pid}")


def show_sock(session: Session, words: str) -> None:
    """Print the connection of a flow at both ends: sock flow1."""
    state = session.flow_state(session.flow(words))
    if not state:
        print("it has no connection at this instant")
    for end in ("sender", "receiver"):
        if end in state:
            print(f"{end}:")
            for name, value in state[end].items():
                print(f"  {name:<22} {_text(value)}")


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "-" if value is None or value == "" else str(value)
    return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"


def show_scoreboard(session: Session, words: str) -> None:
    """Print what a flow has sent and no acknowledgement covers, by its state: scoreboard flow1."""
    flow = session.flow(words)
    site = sockets.sending_site(session.sites, flow)
    with site.selected():
        sock = sockets.data_connection(site, flow, sending=True)
        if sock is None:
            print("it has no connection at this instant")
            return
        print("\n".join(scoreboard_lines(sockets.segments(sock))))


def show_queue(session: Session, words: str) -> None:
    """Print the qdiscs of a device or of all devices of a node: queue s2."""
    found = session.queue_states(words.split() or session.config["queues"])
    if not found:
        raise gdb.GdbError(f"no site has a device {words} or a node with this name")
    for state in found:
        marks = f"  marks {state['marks']:,}" if "marks" in state else ""
        print(
            f"{state['device']:<10} {state['kind']:<11} {state['handle']:<6} "
            f"{state['packets']:>6,} packets {state['backlog_bytes']:>10,} bytes  "
            f"drops {state['drops']:,}{marks}"
        )


def show_timers(session: Session, _words: str) -> None:
    """Print the next timers of the current site, and those of the flows' connections."""
    for timer in timers.hrtimers(session.sites.current.now_ns)[:MOST_TIMERS]:
        print(f"in {timer['in_ns'] / 1e6:>14,.6f} ms  {timer['function']}")
    for name, flow in session.flows.items():
        for end, state in session.flow_state(flow).items():
            for key in ("retransmit_timer_ms", "delayed_ack_timer_ms", "keepalive_timer_ms"):
                if end != "scoreboard" and state[key] is not None:
                    print(f"in {state[key]:>14,} ms  {name} {end}: {key.removesuffix('_timer_ms')}")


def show_packets(session: Session, words: str) -> None:
    """Print the last packets that have entered far links: packets 20."""
    far = session.config["far"]
    if not far:
        raise gdb.GdbError("this run has one guest, and so no far link")
    count = int(words) if words.isdigit() else MOST_PACKETS
    now_ns = session.sites.current.now_ns
    packets = far_link_packets.on_far_links(FilePath(far["file"]), far["header"], now_ns)
    for packet in packets[-count:]:
        print(
            f"{session.sites.at_s(packet.at_ns):.9f} s  link {packet.channel}  "
            f"{packet.size_bytes:>5} bytes  {packet.words}"
        )


def go_back(session: Session, words: str) -> None:
    """Make the run again and stop it earlier by this time: back 100ms."""
    at_s = session.now_s - TIME.parse(words, "back")
    if at_s < 0:
        raise gdb.GdbError(f"that is before the schedule's start, {session.now_s:.9f} s ago")
    session.leave("again", stop={"kind": "at", "at_s": at_s, "flow": ""})


def step_packet(session: Session, words: str) -> None:
    """Go on to the next packet that a flow sends or receives: step packet, step packet flow1."""
    flows = [session.flow(words)] if words else list(session.flows.values())
    make = breakpoints.next_packet(session.sites, flows)
    _go(session, lambda: stopping.bring_to_event(session.sites, make))


def run_to(session: Session, words: str) -> None:
    """Go on: run to 12.5s, run to tcp_ack:flow1, or run to end, which ends gdb and not the run."""
    if words == "end":
        session.leave("end")
        return
    if words[:1].isdigit() or words.startswith("."):
        at_s = TIME.parse(words, "run to")
        if at_s <= session.now_s:
            raise gdb.GdbError(f"the run is at {session.now_s:.9f} s already; `back` goes back")
        _go(session, lambda: session.stop_at({"kind": "at", "at_s": at_s, "flow": ""}))
        return
    function, _, name = words.partition(":")
    if not function:
        raise gdb.GdbError("say to where: run to 12.5s, run to tcp_ack:flow1, run to end")
    if name:
        session.flow(name)
    stop = {"kind": "break", "at_s": session.now_s, "flow": name, "function": function}
    _go(session, lambda: session.stop_at(stop))


def _go(session: Session, go: Callable[[], Site]) -> None:
    """Go on to a stop, and say where the run is then."""
    try:
        go()
    except stopping.NotReached:
        raise gdb.GdbError("the run has ended") from None
    except stopping.Ahead:
        pass  # `sites` shows how far the others are
    where(session, "")


def where(session: Session, _words: str) -> None:
    """Print where the current site is: its time, and its function with the line of its source."""
    print(f"{session.sites.current.title} at {session.now_s:.9f} s")
    gdb.execute("frame")


def print_state(session: Session, _words: str) -> None:
    """Print the state of all sites, flows and queues as one object of JSON."""
    print(json.dumps(session.state()))


_COMMANDS: dict[str, Callable[[Session, str], None]] = {
    "sites": show_sites,
    "sock": show_sock,
    "scoreboard": show_scoreboard,
    "queue": show_queue,
    "timers": show_timers,
    "packets": show_packets,
    "back": go_back,
    "where-in-time": where,
    "state": print_state,
}


#: Those that need the kernel's debug information.
OF_TYPES = (show_sock, show_scoreboard, show_queue, show_timers)


def add_commands(session: Session) -> None:
    """Add all commands to gdb; ``step packet`` and ``run to`` stand beside gdb's step and run."""
    for name, act in _COMMANDS.items():
        _Command(name, session, act)
    _Prefixed("step", {"packet": step_packet}, session)
    _Prefixed("run", {"to": run_to}, session)


class _Prefixed(gdb.Command):
    """A command of gdb's that has words of ours; ``step`` without them is as it was.

    ``run`` would start the guest anew, and is refused.
    """

    def __init__(
        self, name: str, words: Mapping[str, Callable[[Session, str], None]], session: Session
    ) -> None:
        self.__doc__ = "\n".join(f"{name} {word}: {act.__doc__}" for word, act in words.items())
        super().__init__(name, gdb.COMMAND_RUNNING)
        self._name, self._words, self._session = name, words, session

    def invoke(self, argument: str, from_tty: bool) -> None:
        word, _, rest = argument.strip().partition(" ")
        if word in self._words:
            _done(self._session, self._words[word], rest)
        elif self._name == "step":
            gdb.execute(f'interpreter-exec mi "-exec-step {argument}"')
        else:
            raise gdb.GdbError("the run goes on with `continue`, or to a place with `run to`")
