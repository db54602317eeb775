"""Programs: the plan of a lab for a user's own programs, and their options."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError
from farpath.base.options import options_of
from farpath.mechanisms.registry import lasts, mechanisms, program_options
from farpath.planning import path_options
from farpath.planning.memory import memory_bytes
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from farpath.spec.program_schedule import OF_CLIENT, has_client_schedule, lasting
from farpath.spec.programs import NAMES

if TYPE_CHECKING:
    from farpath.planning.request import UserParts

#: Options of a run without those of mechanisms that programs have too, with their defaults where
#: these differ. The flow of such a plan does not run.
_PLAIN_OPTIONS = (
    *("path", "rtt", "rate", "buffer", "loss", "mtu", "window", "sysctl", "ip", "stack", "seed"),
    "sample",
)
#: All options of a run that programs have too.
OPTIONS = (*_PLAIN_OPTIONS, *program_options())
#: Those of a lab in which programs run without a time limit, so that nothing begins at a time.
STILL_OPTIONS = (*_PLAIN_OPTIONS, *program_options(with_time=False))
DEFAULTS = {"stack": "cubic", "sample": "100ms"}
#: Default of the IP version of ``farpath exec``: both, where a plan has the first.
BOTH_FAMILIES, FAMILIES = "both", ("both", "4", "6")
#: Meanings of options where they differ from a run's.
HELPS = {
    "rtt": "Round-trip time of the path. It may change at times since the client's start: "
    "50ms,2s:80ms.",
    "up_rate": "Rate towards the client, in place of `rate`.",
    "rate": "Rate of the bottleneck, in each direction. It may change at times since the client's "
    "start: 100Mbit,5s:20Mbit, or be a trace of mahimahi's: trace:./lte.down.",
    "buffer": "Buffer of the bottleneck, in each direction: bytes, 100packets, 50ms or 2xBDP.",
    "queue": "The bottleneck's queue, in each direction: tail drop, or a qdisc of Linux with the "
    "parameters of tc; its limit is `buffer`.",
    "loss": "Random loss in each direction.",
    "jitter": "Largest deviation of a packet's delay, in each direction.",
    "reorder": "Fraction of the packets of each direction that overtake all others.",
    "duplicate": "Fraction of the packets of each direction that arrive twice.",
    "stack": "Congestion control of the hosts: a name from 'farpath stacks', or ./tcp_mine.c.",
    "sample": "Time between two samples of queues and connections.",
    "ip": "IP version of the hosts.",
}
#: Buffers of TCP as Debian 13 has them on any machine of today, whose kernel takes them from its
#: memory: least, first and largest size in bytes (tcp_init in net/ipv4/tcp.c). Memory of all
#: sockets is not limited.
USUAL_SYSCTL = {
    "net.ipv4.tcp_rmem": "4096 131072 6291456",
    "net.ipv4.tcp_wmem": "4096 16384 4194304",
    "net.ipv4.tcp_mem": "33554432 33554432 33554432",
}
_NO_SCHEDULE = "nothing begins here by whose time a path would change"
_WITHOUT_CHANGES = "give `rate=100Mbit` and `rtt=50ms`, without changes"
#: Time limit of a client that is given none, and the length of a plan's schedule by which nothing
#: is done, both in s.
DEFAULT_TIMEOUT_S, STILL_S = 600.0, 5.0
#: Memory for programs and their files, besides the packets', in bytes.
DEFAULT_MEMORY_BYTES = 1 << 30
#: What clocks show when the client starts, if no date is asked for: a day after those from which
#: certificates of this release's time are valid. It is the same in every run of a release.
DEFAULT_DATE = "2026-11-26"
DATE_S_RANGE = (946_684_800, 4_102_358_400)
MEMORY_BYTES_RANGE = (64 << 20, 64 << 30)
#: Of the largest file that programs write, and so of their output.
OUTPUT_BYTES_RANGE = (64 << 10, 64 << 30)


#: What to do without options of a run that mechanisms do not have, and that programs lack.
_WITHOUT = {
    **dict.fromkeys(("time", "region", "schedule"), "give the client a `timeout`"),
    "sender_image": "give `image`",
    "parallel": "start as many clients as you like by a shell",
    "topology": "for other networks there is 'farpath up'",
}
#: Options of other tools that people give to programs, and what there is instead.
_OF_OTHER_TOOLS = {
    **dict.fromkeys(
        ("pcap", "tcpdump"), "`capture=sender,receiver` for files of pcapng of both ends"
    ),
    **dict.fromkeys(("tty", "interactive"), "`shell=sender` for a terminal on that host"),
    **dict.fromkeys(("repeat", "runs", "count"), "`seeds=3` for a run with each of three seeds"),
    **dict.fromkeys(
        ("assert", "expect"), "a `timeout`, or a client that ends with a status: sh -c '...'"
    ),
    **dict.fromkeys(
        ("batch", "client", "clients"), "one client that starts them all: sh -c 'one & two; wait'"
    ),
    "env_file": "`env=NAME=value` for each variable",
    "ulimit": "your shell's limits, which programs have too: set them before",
    "duration": "`timeout=30s` for the client's longest virtual time",
    "down_rate": "`rate` for both directions, and `up_rate` for the way to the client",
    **dict.fromkeys(("up_loss", "down_loss"), "`drop=random:1%,direction=back` for one direction"),
    **dict.fromkeys(("burst", "gilbert", "gemodel"), "`drop=burst:1e-4,0.3` for bursts of losses"),
    **dict.fromkeys(
        ("up_rtt", "up_delay", "down_delay"),
        "`rtt`, or 'farpath up', whose links may differ by direction",
    ),
    **dict.fromkeys(("compose", "hosts", "nodes"), "'farpath up compose.yml' for several hosts"),
    **dict.fromkeys(
        ("outage", "partition", "down", "fault"),
        "'farpath up compose.yml', where links fail, as in `fault=link-down:eu-us,at=5s,for=3s`",
    ),
}
_NO_SUCH_OPTION = re.compile(r"No such option:? '?--([\w-]+)'?")


def with_reason(message: str) -> str:
    """Return the parser's message about an option that programs do not have, with a remedy.

    Options of flows have the reason why, those of other tools what there is here instead.

    >>> with_reason("No such option: --time")
    '`time` is for flows, and programs run here in their place; give the client a `timeout`'
    >>> with_reason("No such option: --tty (Possible options: --rtt)")
    'No such option: --tty; use `shell=sender` for a terminal on that host'
    >>> with_reason("No such option: --colour")
    'No such option: --colour'
    """
    found = _NO_SUCH_OPTION.match(message)
    name = found[1].replace("-", "_") if found else ""
    if name not in {one.name for one in options_of(RunRequest)}:
        instead = _OF_OTHER_TOOLS.get(name)
        return f"No such option: --{found[1]}; use {instead}" if found and instead else message
    reasons = {**_WITHOUT, **{each: one.of_flows for one in mechanisms() for each in one.options}}
    remedy = reasons.get(name) or "leave it out"
    return f"`{name}` is for flows, and programs run here in their place; {remedy}"


def require_path(options: Mapping[str, str | None]) -> None:
    """Raise BadInputError if options of a run name no path: there is no default for programs."""
    if options["rtt"] is None and options["path"] is None:
        raise BadInputError(
            option="rtt",
            problem="it is missing",
            remedy="give the path's round-trip time, as in `rtt=164ms`",
        )


def require_client(command: Sequence[str] | None, shell: str | None) -> None:
    """Raise BadInputError unless there is a client, or a shell on one of the hosts."""
    if shell is None and not command:
        raise BadInputError(
            problem="no client is given",
            remedy="give its command after all options, a preset, as in `preset=db`, or a `shell`",
        )
    if shell is not None and shell not in NAMES:
        raise BadInputError(
            option="shell", given=shell, remedy=f"it must be one of {', '.join(NAMES)}"
        )
    if shell is not None and command:
        raise BadInputError(
            option="shell",
            problem="there is a client beside it",
            remedy="leave one of them out: the shell runs in the client's place",
        )


def require_still(plans: Sequence[Plan]) -> None:
    """Raise BadInputError for what a shell cannot have: several paths, and what has a time."""
    if len(plans) != 1:
        raise BadInputError(
            option="shell",
            problem=f"there are {len(plans)} paths",
            remedy="give one value for each option, and one seed",
        )
    if has_client_schedule(plans[0]):
        raise BadInputError(
            option="shell",
            problem="changes, drops, captures and background begin with a client",
            remedy="leave them out, or give a client in place of the shell",
        )


def program_plan(
    request: RunRequest,
    user_parts: UserParts | None = None,
    program_bytes: int = DEFAULT_MEMORY_BYTES,
    both_families: bool = False,
    timeout_s: float | None = DEFAULT_TIMEOUT_S,
) -> Plan:
    """Make the plan of a lab in which programs run, in one guest.

    ``program_bytes``: memory for programs and their files. ``both_families``: whether hosts
    have IPv4 and IPv6, as of ``has_both_families``. ``timeout_s``: time limit of the client in s,
    which is the length of the schedule where something is done by its time; None for a lab in which
    nothing can be. Both directions of the path are alike, but for what ``up_rate`` says. Hosts have
    Debian's usual buffers unless the request names a path, or WINDOW. Background traffic of a named
    path is left out. Raises BadInputError.
    """
    for name in ("rtt", "rate") if timeout_s is None else ():
        text = getattr(request, name) or ""
        if "," in text or text.startswith("trace:"):
            raise BadInputError(
                option=name, given=text, problem=_NO_SCHEDULE, remedy=_WITHOUT_CHANGES
            )
    plan = request.plan(
        user_parts=user_parts, both_families=both_families, program_s=timeout_s or STILL_S
    )
    if lasts(plan):
        plan = lasting(plan, plan.schedule.duration_s, OF_CLIENT)
    else:
        plan = lasting(plan, STILL_S)
    if len(plan.stacks) != 1 or not plan.stacks[0].is_congestion_control:
        raise BadInputError(
            option="stack",
            given=request.stack,
            remedy=(
                "give one congestion control of the kernel's, which the hosts then "
                "use, as in `stack=cubic`"
            ),
        )
    path = plan.path
    if path.is_changing and timeout_s is None:
        raise BadInputError(
            problem=f"path {path.name} changes during a run, and {_NO_SCHEDULE}",
            remedy=_WITHOUT_CHANGES,
        )
    if request.path is None and request.window is None:
        given = {} if request.sysctl is None else path_options.parse_sysctl(request.sysctl)
        source = "default: those of Debian 13"
        sources = {**path.sources, "sysctl": source}
        path = dataclasses.replace(path, sysctl={**USUAL_SYSCTL, **given}, sources=sources)
    plan = dataclasses.replace(plan, path=path).in_one_guest()
    needed_bytes = memory_bytes(lasting(plan, min(plan.schedule.duration_s, DEFAULT_TIMEOUT_S)))
    settings = dataclasses.replace(plan.settings, memory_bytes=needed_bytes + program_bytes)
    return dataclasses.replace(plan, settings=settings)


def has_both_families(text: str | None) -> bool:
    """Whether hosts have IPv4 and IPv6, by the option's text: the default."""
    return text in (None, BOTH_FAMILIES)


def parse_ip_version(text: str | None) -> str:
    """Return the IP version of a plan, the first of both; raise BadInputError.

    >>> parse_ip_version("both"), parse_ip_version("6")
    ('4', '6')
    """
    if has_both_families(text):
        return "4"
    if text not in FAMILIES:
        raise BadInputError(
            option="ip", given=text, remedy=f"it must be one of {', '.join(FAMILIES)}"
        )
    return text


def parse_wait_for(texts: Sequence[str]) -> tuple[int, ...]:
    """Parse the ports that are waited for; raise BadInputError.

    >>> parse_wait_for(["tcp:80", "tcp:5432"])
    (80, 5432)
    """
    ports = []
    for text in texts:
        protocol, _, number = text.partition(":")
        if protocol != "tcp" or not number.isdecimal() or not 1 <= int(number) <= 65_535:
            raise BadInputError(
                option="wait_for",
                given=text,
                remedy=(
                    "give a TCP port of the server's host from 1 to 65535, as in "
                    "`wait_for=tcp:5432`"
                ),
            )
        ports.append(int(number))
    return tuple(dict.fromkeys(ports))


def parse_date_s(text: str) -> int:
    """Parse a date, or a date and time, of UTC unless it says otherwise; return its Unix time.

    >>> parse_date_s("2026-01-01"), parse_date_s("2026-01-01T12:00:00")
    (1767225600, 1767268800)
    """
    try:
        moment = datetime.fromisoformat(text)
        if not moment.tzinfo:
            moment = moment.replace(tzinfo=UTC)
        seconds = round(moment.timestamp())
    except (ValueError, OverflowError) as error:
        raise BadInputError(
            option="date",
            given=text,
            remedy=(
                "give a date, and a time if it matters, as in 2026-01-01 or 2026-01-01T12:00:00"
            ),
        ) from error
    low, high = DATE_S_RANGE
    if not low <= seconds <= high:
        raise BadInputError(
            option="date", given=text, remedy="it must be from 2000-01-01 to 2099-12-31"
        )
    return seconds


#: Parts of a shell's line: an escaped character, and a text in quotes.
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""")
#: Words outside quotes that a shell acts on: operators, redirections, variables, substitutions,
#: and an assignment before the command.
_OF_A_SHELL = re.compile(
    r"(?:^|\s)(?P<operator>&&|\|\|?|&|;|\d*>>?\S*|\d*<\S*)(?=\s|$)|(?P<end>;)(?=\s|$)"
    r"|(?P<variable>\$(?:\w+|[({])|`)|^(?P<assignment>\w+=)"
)


def parse_command(text: str, name: str) -> tuple[str, ...]:
    """Split a command into its words as a shell does, without running one.

    >>> parse_command("nginx -g 'daemon off;'", "server")
    ('nginx', '-g', 'daemon off;')
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise BadInputError(
            option=name, given=text, problem=f"{error}", remedy="quote it as for a shell"
        ) from error
    if not words:
        raise BadInputError(
            option=name, given=text, remedy=f"give a command, as in `{name}`='./server --port 80'"
        )
    if found := _OF_A_SHELL.search(_QUOTED.sub("_", text)):
        word = next(part for part in found.groups() if part).strip()
        raise BadInputError(
            option=name,
            given=text,
            problem=f"no shell runs it, and {word} is a shell's",
            remedy=f"write `{name}`={_in_a_shell(text)}",
        )
    return words


def _in_a_shell(text: str) -> str:
    """Return the word by which a user has a shell run a line."""
    command = f"sh -c {shlex.quote(text)}"
    return shlex.quote(command) if set('"$`\\') & set(command) else f'"{command}"'
