"""Stand-ins for Mininet's network, nodes and commands, which record a network and start nothing.

``install`` puts them in the place of Mininet's own before a user's file is run. A script that makes
a network in its main part then describes it, up to ``net.start()``.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
import subprocess
from collections.abc import Callable
from typing import Any

import mininet.cli
import mininet.link
import mininet.net
import mininet.node
import mininet.util
from mininet.net import Mininet
from mininet.node import Host
from mininet.topo import Topo

#: Methods of hosts and functions that run a command, or traffic, as scripts call them.
COMMANDS = frozenset(
    (
        *("call", "check_call", "check_output", "cmd", "cmdPrint", "configLinkStatus", "iperf"),
        *("pexec", "ping", "pingAll", "Popen", "popen", "quietRun", "sendCmd", "system"),
    )
)
CHANGE_OF_QUEUES = re.compile(r"\btc (qdisc|class) (add|change|replace)")
#: Options by which a link does something to packets.
SHAPING = frozenset({"bw", "delay", "jitter", "loss", "max_queue_size"})
#: How many commands are named, and how long each may be.
NAMED_COMMANDS, COMMAND_LENGTH = 3, 60


def printed_by(command: Any) -> str:
    """Return the output of a command that looks for a program or sets a sysctl.

    Scripts continue only with such an answer; every other command prints nothing.
    """
    text = command if isinstance(command, str) else " ".join(map(str, command))
    if match := re.fullmatch(r"\s*(?:which|command -v) (\S+)\s*", text):
        return f"/usr/bin/{match[1]}\n"
    if match := re.fullmatch(r"\s*(?:sudo )?sysctl (?:-w )?(\S+)=(\S+)\s*", text):
        return f"{match[1]} = {match[2]}\n"
    return ""


class Process:
    """A process that was not started and has succeeded; called as ``subprocess.Popen``."""

    def __init__(self, args: Any = (), *_rest: Any, **options: Any) -> None:
        is_text = any(options.get(name) for name in ("text", "universal_newlines", "encoding"))
        self.args, self.pid, self.returncode = args, 0, 0
        printed = printed_by(args)
        self.printed: Any = printed if is_text else printed.encode()
        self.nothing: Any = "" if is_text else b""
        kind = "" if is_text else "b"
        end, start = os.pipe()
        os.write(start, printed.encode())
        os.close(start)
        self.stdin = open(os.devnull, f"w{kind}")  # noqa: SIM115 (as a process keeps them)
        self.stdout = os.fdopen(end, f"r{kind}")
        self.stderr = open(os.devnull, f"r{kind}")  # noqa: SIM115

    def __class_getitem__(cls, _item: Any) -> type[Process]:
        return cls

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def communicate(self, *_args: Any, **_options: Any) -> tuple[Any, Any]:
        """Return what it printed, and no errors."""
        return self.printed, self.nothing

    def poll(self, *_args: Any, **_options: Any) -> int:
        """Return its status."""
        return 0

    wait = poll

    def send_signal(self, *_args: Any) -> None:
        """Do nothing: it has ended."""

    kill = terminate = send_signal


class Node:
    """A host, switch or controller of a script, of which only names and options are kept."""

    waiting = False
    pid = 0

    def __init__(self, network: Any, name: str, number: int, params: dict[str, Any]) -> None:
        self.network, self.name, self.number = network, name, number
        address = f"10.0.{number >> 8}.{number & 0xFF}/8"
        self.params = {**params, "ip": params.get("ip") or address}
        self.inNamespace = params.get("inNamespace", True)
        self.intfs: dict[int, Interface] = {}

    def __str__(self) -> str:
        return self.name

    def __getattr__(self, name: str) -> Callable[..., str]:
        if name.startswith("__"):
            raise AttributeError(name)
        # All other methods of Mininet's nodes act on a network that exists
        return lambda *_args, **_options: ""

    def IP(self, _intf: object = None) -> str:  # noqa: N802 (Mininet's name)
        """Its address, as Mininet numbers hosts."""
        return str(self.params["ip"]).partition("/")[0]

    def MAC(self, _intf: object = None) -> str:  # noqa: N802 (Mininet's name)
        """An Ethernet address."""
        return f"00:00:00:00:{self.number >> 8:02x}:{self.number & 0xFF:02x}"

    def popen(self, *args: Any, **options: Any) -> Process:
        """Start nothing."""
        return Process(*args, **options)

    def pexec(self, *_args: Any, **_options: Any) -> tuple[str, str, int]:
        """Run nothing: no output, no errors, status 0."""
        return "", "", 0

    def intf(self, name: Any = None) -> Interface | None:
        """An interface by its name; without one the first."""
        found = [one for one in self.intfs.values() if name in (None, one, one.name)]
        return found[0] if found else None

    defaultIntf = intf  # noqa: N815 (Mininet's name)

    def intfList(self) -> list[Interface]:  # noqa: N802 (Mininet's name)
        """All its interfaces."""
        return list(self.intfs.values())

    def intfNames(self) -> list[str]:  # noqa: N802 (Mininet's name)
        """The names of its interfaces."""
        return [one.name for one in self.intfs.values()]

    def linkTo(self, node: Node, link: Any = None) -> Cable:  # noqa: N802 (Mininet's name)
        """Link it to another node."""
        cable: Cable = self.network.addLink(self, node, cls=link)
        return cable

    def connectionsTo(self, node: Node) -> list[tuple[Any, Any]]:  # noqa: N802 (Mininet's name)
        """Pairs of interfaces to another node: its own and the other's."""
        cables = [one.link for one in self.intfs.values()]
        return [
            (one, other)
            for cable in cables
            for one, other in [(cable.intf1, cable.intf2), (cable.intf2, cable.intf1)]
            if one.node is self and other.node is node
        ]


class Interface:
    """One end of a link. ``key``: of this end's options within those of the link."""

    def __init__(self, node: Node, port: int, link: Cable, key: str) -> None:
        self.node, self.link, self.key = node, link, key
        self.name = f"{node.name}-eth{port}"

    def __str__(self) -> str:
        return self.name

    def __getattr__(self, name: str) -> Callable[..., str]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_args, **_options: ""

    def config(self, **options: Any) -> None:
        """Give this end further options, which come before those that the link has."""
        info = self.link.info
        for name, value in options.items():
            if name in info:
                before = info.pop(name)
                for key in ("params1", "params2"):
                    info[key] = {**(info.get(key) or {}), name: before}
            info[self.key] = {**(info.get(self.key) or {}), name: value}

    def IP(self) -> str:  # noqa: N802 (Mininet's name)
        """The address of its node."""
        return self.node.IP()

    def MAC(self) -> str:  # noqa: N802 (Mininet's name)
        """The Ethernet address of its node."""
        return self.node.MAC()


class Cable:
    """A link of a script. ``info``: its options, as a topology keeps them."""

    def __init__(self, one: Node, other: Node, info: dict[str, Any]) -> None:
        self.info = info
        self.intf1 = Interface(one, info["port1"], self, "params1")
        self.intf2 = Interface(other, info["port2"], self, "params2")
        one.intfs[info["port1"]], other.intfs[info["port2"]] = self.intf1, self.intf2

    def __getattr__(self, name: str) -> Callable[..., str]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_args, **_options: ""


def unwrapped(options: dict[str, Any]) -> dict[str, Any]:
    """Return options whose class, if it is a partial one, is named beside its own options.

    ``partial(TCLink, bw=10)`` becomes ``TCLink`` and ``bw``, below options that are given too.
    """
    maker = options.get("cls")
    while isinstance(maker, functools.partial):
        options = {**maker.keywords, **options, "cls": maker.func}
        maker = maker.func
    return options


class Network(Mininet):
    """Takes the place of ``mininet.net.Mininet``, and records the topology.

    ``started``: called instead of a start.
    """

    started: Callable[[Network], None]
    #: The last that was made.
    last: Network | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        self.recorded = Topo()
        self.built = False
        type(self).last = Network.last = self
        super().__init__(*args, **options)

    @classmethod
    def init(cls) -> None:
        """Raise no limits of the machine, and ask for no rights."""

    def build(self) -> None:
        """Take the topology that it was given, and no further steps."""
        if not self.built and self.topo:
            self.buildFromTopo(self.topo)
        self.built = True

    def buildFromTopo(self, topo: Any = None) -> None:  # noqa: N802 (Mininet's name)
        """Take nodes and links of a topology."""
        topo = topo or self.topo
        for name in topo.hosts():
            self.addHost(name, **topo.nodeInfo(name))
        for name in topo.switches():
            self.addSwitch(name, **topo.nodeInfo(name))
        for _, _, info in topo.links(sort=True, withInfo=True):
            self.addLink(**info)

    def addHost(self, name: str, cls: Any = None, **params: Any) -> Node:  # noqa: N802
        """Take a host."""
        options = unwrapped({**params, "cls": cls or self.host or Host})
        self.recorded.addHost(name, **options)
        return self._added(self.hosts, name, options)

    def addSwitch(self, name: str, cls: Any = None, **params: Any) -> Node:  # noqa: N802
        """Take a switch."""
        options = unwrapped({**params, "cls": cls or self.switch})
        self.recorded.addSwitch(name, **{k: v for k, v in options.items() if k != "isSwitch"})
        return self._added(self.switches, name, options)

    def addController(self, name: Any = "c0", *_args: Any, **params: Any) -> Node:  # noqa: N802
        """Take a controller, which no switch here has."""
        return self._added(self.controllers, str(name), params)

    def _added(self, nodes: list[Node], name: str, options: dict[str, Any]) -> Node:
        node = Node(self, name, len(nodes) + 1, options)
        nodes.append(node)
        self.nameToNode[name] = node
        return node

    def addLink(  # noqa: N802 (Mininet's name)
        self, node1: Any, node2: Any, port1: Any = None, port2: Any = None, cls: Any = None,
        **params: Any,
    ) -> Cable:  # fmt: skip
        """Take a link between two nodes or their names."""
        one, other = (self._node(node) for node in (node1, node2))
        options = unwrapped({**params, "cls": cls or self.link})
        if options["cls"] is None:
            del options["cls"]
        elif is_users(options["cls"]):
            # The arguments that a user's class passes to Mininet's class count
            maker = options.pop("cls")
            ports = {"port1": port1, "port2": port2}
            maker(one, other, **{k: v for k, v in ports.items() if v is not None}, **options)
            made: Cable = self.links[-1]
            return made
        key = self.recorded.addLink(one.name, other.name, port1, port2, **options)
        cable = Cable(one, other, self.recorded.linkInfo(one.name, other.name, key))
        self.links.append(cable)
        return cable

    def _node(self, given: Any) -> Node:
        if isinstance(given, mininet.node.Node):
            raise TypeError(
                f"{given.name} is made outside the network, by {type(given).__name__}(): add it "
                "with net.addHost() or net.addSwitch()"
            )
        return given if isinstance(given, Node) else self[given]

    def delLink(self, link: Cable) -> None:  # noqa: N802 (Mininet's name)
        """Leave a link out again."""
        self.links.remove(link)
        kept, self.recorded = self.recorded, Topo()
        for name in kept.hosts():
            self.recorded.addHost(name, **kept.nodeInfo(name))
        for name in kept.switches():
            self.recorded.addNode(name, **kept.nodeInfo(name))
        for one in self.links:
            key = self.recorded.addLink(**one.info)
            one.info = self.recorded.linkInfo(one.info["node1"], one.info["node2"], key)

    def start(self) -> None:
        """End here: the rest of a script acts on a running network."""
        if not self.built:
            self.build()
        type(self).started(self)

    def stop(self) -> None:
        """Be done, for a script that starts its parts one by one."""
        self.start()

    def waitConnected(self, *_args: Any, **_options: Any) -> bool:  # noqa: N802
        """Wait for no controller."""
        return True

    def _idle(self, *_args: Any, **_options: Any) -> None:
        """Do nothing: a network that is not there has no terminals and no addresses."""

    staticArp = startTerms = configHosts = _idle  # noqa: N815 (Mininet's names)

    def _traffic(self, *_args: Any, **_options: Any) -> None:
        self.start()

    ping = pingFull = pingAll = pingPair = pingAllFull = iperf = interact = _traffic  # noqa: N815
    runCpuLimitTest = configLinkStatus = monitor = _traffic  # noqa: N815 (Mininet's names)


class Prompt:
    """Takes the place of ``mininet.cli.CLI``: the network is as the user at a prompt sees it."""

    def __init__(self, network: Network, *_args: Any, **_options: Any) -> None:
        network.start()


def is_users(kind: Any) -> bool:
    """Whether a class of links is a user's own."""
    return inspect.isclass(kind) and kind.__module__ != mininet.link.__name__


def _direct_link(
    self: Any, node1: Any, node2: Any, port1: Any = None, port2: Any = None, **params: Any
) -> None:
    """Record a link that a script makes by its class, as in ``TCLink(h1, s1, bw=10)``."""
    kind = type(self)
    if is_users(kind):
        kind = mininet.link.TCLink if issubclass(kind, mininet.link.TCLink) else mininet.link.Link
        own = {**(params.pop("params1", None) or {})}
        if own == (params.get("params2") or {}):
            # The same for both ends, as a class of the user's passes it
            params = {**params, **own}
            params.pop("params2", None)
        else:
            params["params1"] = own
    network = node1.network if isinstance(node1, Node) else Network.last or Network(build=False)
    cable = network.addLink(node1, node2, port1, port2, cls=kind, **params)
    self.intf1, self.intf2 = cable.intf1, cable.intf2


def _bare_node(self: Any, name: str, inNamespace: bool = True, **params: Any) -> None:  # noqa: N803
    """Make a node that a script makes by its class, such as a controller, and no shell for it."""
    self.name, self.inNamespace, self.params = name, inNamespace, params
    self.intfs, self.ports, self.nameToIntf, self.waiting, self.pid = {}, {}, {}, False, 0


def install(started: Callable[[Network], None]) -> None:
    """Put the stand-ins in their places. ``started``: called where a network would start.

    No command is started either, and a script that asks finds itself to be root, as under sudo.
    """
    Network.started = staticmethod(started)
    mininet.net.Mininet = Network
    mininet.cli.CLI = mininet.net.CLI = Prompt
    mininet.link.Link.__init__ = _direct_link
    mininet.node.Node.__init__ = _bare_node
    for name in ("cmd", "cmdPrint", "sendCmd", "waitOutput", "pexec", "popen"):
        setattr(mininet.node.Node, name, getattr(Node(None, "none", 0, {}), name))
    mininet.util.custom = functools.partial
    mininet.node.Controller.checkListening = lambda _self: None
    mininet.node.OVSSwitch.setup = classmethod(lambda _cls: None)
    mininet.node.pathCheck = lambda *_programs, **_options: None
    stand_in: Any = Process
    subprocess.Popen = stand_in  # type: ignore[misc]
    for module in (mininet.util, mininet.cli):
        for name in ("Popen", "call", "check_call"):
            if hasattr(module, name):
                setattr(module, name, stand_in if name == "Popen" else getattr(subprocess, name))
    os.system = lambda command: 0
    os.getuid = os.geteuid = lambda: 0


def start_last() -> None:
    """Start the network that a script has made and not started, if there is one."""
    network = Network.last
    if network and (network.hosts or network.topo):
        network.start()


def commands_in(source: str) -> list[str]:
    """Return the commands of a script, each with its line, as in ``line 3: h1.cmd('iperf -s')``."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in COMMANDS:
                found.append((node.lineno, ast.unparse(node)))
    return [
        f"line {line}: {text if len(text) <= COMMAND_LENGTH else f'{text[:COMMAND_LENGTH]}...'}"
        for line, text in sorted(found)
    ]


def notes_on(network: Network, source: str) -> list[str]:
    """Return the parts of a script and its network that are not carried out, as sentences."""
    found = commands_in(source)
    notes = []
    if found:
        more = len(found) - NAMED_COMMANDS
        rest = f", and {more} more" if more > 0 else ""
        notes.append(
            f"its commands are not run ({'; '.join(found[:NAMED_COMMANDS])}{rest}): FLOWS says "
            "who sends to whom"
        )
    if queues := [text for text in found if CHANGE_OF_QUEUES.search(text)]:
        notes.append(f"what it tells tc is not seen ({queues[0]}): give it as LINK")
    plain = [
        f"{info['node1']}-{info['node2']}"
        for _, _, info in network.recorded.links(sort=True, withInfo=True)
        if info.get("cls") is mininet.link.Link
        and SHAPING & {*info}
        and mininet.link.TCIntf not in (info.get("cls1"), info.get("intf"))
    ]
    if plain:
        notes.append(
            f"Mininet ignores what its links do to packets ({plain[0]}), since they are of class "
            "Link; here every link is a TCLink"
        )
    return notes
