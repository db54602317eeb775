"""Catalogue of stacks, read from ``stacks.toml``, and the parser of texts that name a stack.

A text is ``name`` or ``name:parameter=value,parameter=value``.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from farpath.base.errors import BadInputError
from farpath.programs.quic import fitted_quic
from farpath.spec.datagrams import HEADERS_BYTES, MOST_PACING_BPS, pacing_bps
from farpath.spec.era import MODERN, Era
from farpath.spec.path import Path
from farpath.spec.stack import IPERF3, QUIC, UDP, UDTPERF, Stack

MAINLINE = "mainline"
OURS = "ours"
USER_SPACE = "user space"
DATAGRAMS = "datagrams"
#: The kernel keeps buffer sizes in signed 32-bit integers.
LARGEST_BUFFER_BYTES = (1 << 31) - 1
#: Sysctls that limit the buffers of UDP sockets; the kernel silently cuts larger ones.
UDP_BUFFER_LIMITS = {
    "udp_sndbuf": "net.core.wmem_max",
    "udp_rcvbuf": "net.core.rmem_max",
}
#: Parameter of UDT's stacks: its congestion control, and the one of a constant rate.
CONGESTION, BLAST = "congestion", "blast"
#: Parameter of all modules in images/kernel/stacks, which an era sets.
RECOVERY = "recovery"
#: Module parameters are C integers; no range here needs more than eighteen digits.
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
#: A parameter in parts of a whole takes the fraction itself too: 0.7 is 717 of 1/1024.
_FRACTION = re.compile(r"(?:[01]?\.[0-9]{1,18}|1\.0*)")
_PARTS = re.compile(r"1/([0-9]+)")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a stack: a whole number within a range, or one of some words.

    ``low`` and ``high`` are included in the range. They are None for words, and for a user's own
    module, which checks its ranges itself.
    """

    name: str
    default: str
    meaning: str = ""
    unit: str = ""
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """Return what is allowed as text."""
        if self.choices:
            return " or ".join(self.choices)
        if self.low is None:
            return "a whole number"
        if (self.low, self.high) == (0, 1) and not self.unit:
            return "0 or 1"
        return f"{self.low} to {self.high}{' in ' + self.unit if self.unit else ''}"

    def checked(self, stack: str, text: str) -> str:
        """Return the value in its shortest form; raises BadInputError if it is not allowed.

        >>> Parameter("beta", "717", unit="1/1024", low=512, high=1023).checked("cubic", "0.7")
        '717'
        """
        if self.choices and text in self.choices:
            return text
        parts = _PARTS.fullmatch(self.unit)
        if parts and _FRACTION.fullmatch(text):
            text = str(round(float(text) * int(parts[1])))
        if not self.choices and _WHOLE_NUMBER.fullmatch(text):
            number = int(text)
            if self.low is None or (self.high is not None and self.low <= number <= self.high):
                return str(number)
        raise BadInputError(
            f"STACK: {self.name} of {stack} is '{text}': it must be {self.allowed}; "
            f"the default is {self.default}"
        )


@dataclass(frozen=True)
class CatalogEntry:
    """One stack of the catalogue; ``stacks.toml`` describes the fields.

    ``parameters`` of a variant have the variant's own defaults.
    """

    name: str
    title: str
    year: int
    source: str
    kind: str
    era: str
    parameters: Mapping[str, Parameter]
    form_2004: str = ""
    aliases: tuple[str, ...] = ()
    published: str = ""
    sysctl: Mapping[str, str] = field(default_factory=dict)
    variant_of: str = ""
    program: str = UDTPERF
    preset: Mapping[str, str] = field(default_factory=dict)

    @property
    def congestion(self) -> str:
        """The kernel's name of its congestion control."""
        return self.variant_of or self.name


def _parameter(name: str, data: Mapping[str, Any]) -> Parameter:
    low, high = data.get("range", (None, None))
    return Parameter(
        name,
        str(data["default"]),
        data["meaning"],
        data.get("unit", ""),
        low,
        high,
        tuple(data.get("choices", ())),
    )


@cache
def catalogue() -> Mapping[str, CatalogEntry]:
    """Return all stacks by name, in the order of ``stacks.toml``."""
    text = resources.files(__package__).joinpath("stacks.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return {name: _entry(name, data, tables) for name, data in tables.items()}


def _entry(name: str, data: Mapping[str, Any], tables: Mapping[str, Any]) -> CatalogEntry:
    preset = {key: str(value) for key, value in data.get("preset", {}).items()}
    described = tables[data.get("variant_of", name)].get("parameters", {})
    parameters = {key: _parameter(key, value) for key, value in described.items()}
    parameters |= {
        key: dataclasses.replace(parameters[key], default=value) for key, value in preset.items()
    }
    return CatalogEntry(
        name=name,
        title=data["title"],
        year=data["year"],
        source=data["source"],
        kind=data["kind"],
        era=data.get("era", MODERN.name),
        parameters=parameters,
        form_2004=data.get("form_2004", ""),
        aliases=tuple(data.get("aliases", ())),
        published=data.get("published", ""),
        sysctl=data.get("sysctl", {}),
        variant_of=data.get("variant_of", ""),
        program=data.get("program", UDTPERF),
        preset=preset,
    )


def split_text(text: str) -> tuple[str, dict[str, str]]:
    """Split the text of a stack into its name and its parameters.

    Raises BadInputError for a parameter without a value, or one that occurs twice.

    >>> split_text("fast:alpha=200,period_ms=20")
    ('fast', {'alpha': '200', 'period_ms': '20'})
    """
    name, colon, rest = text.partition(":")
    parameters: dict[str, str] = {}
    for part in rest.split(",") if colon else []:
        key, equals, value = part.partition("=")
        if not (key and equals and value) or key in parameters:
            raise BadInputError(
                f"STACK is '{text}': after the colon, give each parameter once with its value, as "
                "in fast:alpha=200,gamma=50"
            )
        parameters[key] = value
    return name, parameters


def entry_by_name(name: str) -> CatalogEntry:
    """Return the stack with a name or an alias, whatever its case.

    Raises BadInputError with all names if there is none.
    """
    entries = catalogue()
    if name in entries:
        return entries[name]
    aliases = {alias: entry for entry in entries.values() for alias in entry.aliases}
    if name in aliases:
        return aliases[name]
    casefolded = {key.casefold(): entry for key, entry in {**aliases, **entries}.items()}
    if name.casefold() in casefolded:
        return casefolded[name.casefold()]
    if "," in name:
        joined = "+".join(part.strip() for part in name.split(",") if part.strip())
        raise BadInputError(
            f"STACK is '{name}': join the stacks of several flows by a plus: write {joined}"
        )
    close = difflib.get_close_matches(name.lower(), [*entries, *aliases], n=1, cutoff=0.5)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise BadInputError(
        f"STACK is '{name}'{hint}: it must be one of the {len(entries)} that 'farpath stacks' "
        "lists, such as reno, cubic or bbr, a kernel module's source like ./tcp_mine.c, a "
        "congestion control for UDT like ./mine.cpp, or an image like oci:./mine"
    )


def checked_parameters(
    stack: str, parameters: Iterable[Parameter], values: Mapping[str, str]
) -> dict[str, str]:
    """Check values by the parameters of a stack; return them ordered by name.

    Raises BadInputError for an unknown parameter and for a value that is not allowed.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    for name in values:
        if name not in by_name:
            close = difflib.get_close_matches(name, by_name, n=1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            names = ", ".join(by_name) or "none"
            raise BadInputError(f"STACK: {stack} has no parameter '{name}'{hint}: it has {names}")
    return {name: by_name[name].checked(stack, values[name]) for name in sorted(values)}


def own_congestion_parameters() -> dict[str, Parameter]:
    """Return the parameters that UDT has with a congestion control of a user's, by name."""
    described = catalogue()["udt4"].parameters
    return {name: parameter for name, parameter in described.items() if name != CONGESTION}


def label_of(name: str, parameters: Mapping[str, str]) -> str:
    """Return the label of a stack in a run: its name and the parameters that were set.

    >>> label_of("fast", {"alpha": "200"})
    'fast:alpha=200'
    """
    parameters_text = ",".join(f"{key}={value}" for key, value in parameters.items())
    return f"{name}:{parameters_text}" if parameters_text else name


def resolve_stack(text: str, era: str | None = None) -> Stack:
    """Return the stack of the catalogue that a text names.

    In the era 2004, a stack that has a form of 2004 is replaced by it. Raises BadInputError for
    an unknown stack or parameter, and for a value that is not allowed.
    """
    name, values = split_text(text)
    entry = entry_by_name(name)
    if era == "2004" and entry.form_2004:
        entry = entry_by_name(entry.form_2004)
    given = checked_parameters(entry.name, entry.parameters.values(), values)
    label = label_of(entry.name, given)
    if entry.kind == USER_SPACE:
        return Stack(label, entry.name, entry.program, parameters=given)
    if entry.kind == DATAGRAMS:
        return Stack(label, entry.name, UDP, parameters=given)
    return Stack(
        label,
        entry.name,
        IPERF3,
        congestion=entry.congestion,
        module=f"tcp_{entry.congestion}" if entry.kind == OURS else "",
        parameters={**entry.preset, **given},
        sysctl=entry.sysctl,
    )


def with_recovery(stack: Stack, era: Era) -> Stack:
    """Give a stack the parameter with which it recovers from losses as the era says.

    A program with a transport of its own has no part in it. Raises BadInputError for a congestion
    control that cannot: only farpath's own modules can.
    """
    if not (era.recovery and stack.congestion):
        return stack
    entry = catalogue().get(stack.name)
    if stack.build or entry is None or entry.kind != OURS:
        forms = ", ".join(name for name, each in catalogue().items() if each.kind == OURS)
        raise BadInputError(
            f"ERA has recovery={era.recovery}, and {stack.label} recovers as the kernel does: "
            f"leave recovery out, or run one of {forms}"
        )
    return dataclasses.replace(stack, parameters={**stack.parameters, RECOVERY: "1"})


def check_together(stacks: Sequence[Stack]) -> None:
    """Raise BadInputError for stacks that cannot share one run."""
    by_module: dict[str, Stack] = {}
    for stack in stacks:
        module = stack.kernel_parameters
        other = by_module.setdefault(module, stack) if module else stack
        if other.parameters != stack.parameters or other.build != stack.build:
            raise BadInputError(
                f"STACK: {other.label} and {stack.label} are one kernel module, which has one set "
                "of parameters: run them one after the other"
            )


def fitted(stack: Stack, path: Path, ip_version: int = 4) -> Stack:
    """Set the parameters of a user-space stack that were left out, within a path's limits.

    Packets are as large as the path's MTU, and socket buffers within its sysctls. Raises
    BadInputError for larger values, since packets would be fragmented and buffers silently cut.
    """
    if stack.program == UDP:
        return _fitted_datagrams(stack, path, ip_version)
    if stack.program == QUIC:
        described = catalogue()[stack.name].parameters
        return fitted_quic(stack, path, {name: one.default for name, one in described.items()})
    if stack.program != UDTPERF:
        return stack
    limits = {"mss": (path.mtu_bytes, "mtu_bytes")}
    for name, sysctl in UDP_BUFFER_LIMITS.items():
        limits[name] = (int(path.sysctl.get(sysctl, LARGEST_BUFFER_BYTES)), sysctl)
    described = own_congestion_parameters() if stack.build else catalogue()[stack.name].parameters
    parameters = {name: parameter.default for name, parameter in described.items()}
    parameters["mss"] = str(path.mtu_bytes)
    for name, (limit, setting) in limits.items():
        if int(stack.parameters.get(name, 0)) > limit:
            raise BadInputError(
                f"STACK: {name} of {stack.name} is {stack.parameters[name]}, but path {path.name} "
                f"allows {limit} ({setting}): lower {name}, or raise {setting}"
            )
        parameters[name] = str(min(int(parameters[name]), limit))
    complete = {**parameters, **stack.parameters}
    if complete.get(CONGESTION) == BLAST and complete["max_rate"] == "0":
        raise BadInputError(
            f"STACK: {stack.label} sends at max_rate: give one in bit/s, as in "
            f"{stack.name}:{CONGESTION}={BLAST},max_rate=100000000"
        )
    return dataclasses.replace(stack, parameters=complete)


def _fitted_datagrams(stack: Stack, path: Path, ip_version: int) -> Stack:
    """Set size and rate of datagrams that were left out.

    Raises BadInputError for more than a packet holds, for both a rate and a spacing, and for a
    higher rate than the kernel can space.
    """
    given, most_bytes = stack.parameters, path.mtu_bytes - HEADERS_BYTES[ip_version]
    if int(given.get("spacing", 0)) and "rate" in given:
        raise BadInputError(f"STACK: {stack.label} has rate and spacing: leave one of them out")
    if int(given.get("size", 0)) > most_bytes:
        raise BadInputError(
            f"STACK: size of {stack.name} is {given['size']}, but a packet of path {path.name} "
            f"holds {most_bytes} bytes: lower size, or raise MTU"
        )
    entry = catalogue()[stack.name]
    rate = {} if int(given.get("spacing", 0)) else {"rate": entry.parameters["rate"].default}
    parameters = {"size": str(most_bytes), **rate, **given}
    complete = dataclasses.replace(stack, parameters=parameters)
    if pacing_bps(complete, ip_version) > MOST_PACING_BPS:
        raise BadInputError(
            f"STACK: {stack.label} sends {pacing_bps(complete, ip_version) / 1e9:.3g} Gbit/s: at "
            f"most {MOST_PACING_BPS / 1e9:g} are possible; give a larger spacing"
        )
    return complete


def era_of(stacks: Iterable[Stack]) -> str:
    """Return the era of a run without one: that of its stacks if they agree, else ``modern``."""
    entries = catalogue()
    eras = {entries[stack.name].era if not stack.build else MODERN.name for stack in stacks}
    return eras.pop() if len(eras) == 1 else MODERN.name
