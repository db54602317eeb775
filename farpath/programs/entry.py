"""Entry: one stack of the catalogue, with its parameters, as a program's ``stacks.toml`` has it."""

from __future__ import annotations

import dataclasses
import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.units import RATES, SIZES, TIMES, converted, split_quantity
from farpath.spec.era import MODERN

#: File of a program's folder.
STACKS_FILE = "stacks.toml"
#: Module parameters are C integers; no range here needs more than eighteen digits.
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
#: A parameter in parts of a whole takes the fraction itself too: 0.7 is 717 of 1/1024.
_FRACTION = re.compile(r"(?:[01]?\.[0-9]{1,18}|1\.0*)")
_PARTS = re.compile(r"1/([0-9]+)")
#: Of parameters in these units a value may have one of the table: 30Mbit is 30000000 bit/s.
_UNITS = {
    "bit/s": RATES,
    **dict.fromkeys(("bytes", "MiB"), SIZES),
    **dict.fromkeys(("s", "ms", "us", "ns"), TIMES),
}


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
        """Return the allowed values as text."""
        if self.choices:
            return " or ".join(self.choices)
        if self.low is None:
            return "a whole number"
        if (self.low, self.high) == (0, 1) and not self.unit:
            return "0 or 1"
        return f"{self.low} to {self.high}{' in ' + self.unit if self.unit else ''}"

    def checked(self, stack: str, text: str, option: str = "stack") -> str:
        """Return the value in its shortest form; raises BadInputError if it is not allowed.

        ``option``: of which the parameter is a part.

        >>> Parameter("beta", "717", unit="1/1024", low=512, high=1023).checked("cubic", "0.7")
        '717'
        """
        given = text
        if self.choices and text in self.choices:
            return text
        parts = _PARTS.fullmatch(self.unit)
        if parts and _FRACTION.fullmatch(text):
            text = str(round(float(text) * int(parts[1])))
        split = split_quantity(text)
        if self.unit in _UNITS and split and split[1]:
            value = converted(*split, _UNITS[self.unit], self.unit)
            text = text if value is None else f"{value:.18g}"
        if not self.choices and _WHOLE_NUMBER.fullmatch(text):
            number = int(text)
            if self.low is None or (self.high is not None and self.low <= number <= self.high):
                return str(number)
        raise BadInputError(
            option=option,
            problem=f"{self.name} of {stack} is '{given}'",
            remedy=f"it must be {self.allowed}; the default is {self.default}",
        )


@dataclass(frozen=True)
class CatalogEntry:
    """One stack of the catalogue; iperf3's ``stacks.toml`` describes the fields.

    ``program``: as ``Stack.program``. ``parameters`` of a variant have the variant's own defaults.
    """

    name: str
    title: str
    year: int
    source: str
    kind: str
    era: str
    program: str
    parameters: Mapping[str, Parameter]
    form_2004: str = ""
    aliases: tuple[str, ...] = ()
    published: str = ""
    sysctl: Mapping[str, str] = field(default_factory=dict)
    variant_of: str = ""
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


def read_entries(package: str, program: str, kind: str) -> dict[str, CatalogEntry]:
    """Read the stacks of a program, by name; none if its package has no ``stacks.toml``.

    ``kind``: of stacks that name none.
    """
    file = resources.files(package).joinpath(STACKS_FILE)
    if not file.is_file():
        return {}
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: _entry(name, tables, program, kind) for name in tables}


def _entry(name: str, tables: Mapping[str, Any], program: str, kind: str) -> CatalogEntry:
    data = tables[name]
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
        kind=data.get("kind", kind),
        era=data.get("era", MODERN.name),
        parameters=parameters,
        form_2004=data.get("form_2004", ""),
        aliases=tuple(data.get("aliases", ())),
        published=data.get("published", ""),
        sysctl=data.get("sysctl", {}),
        variant_of=data.get("variant_of", ""),
        program=program,
        preset=preset,
    )


def checked_parameters(
    stack: str, parameters: Iterable[Parameter], values: Mapping[str, str], option: str = "stack"
) -> dict[str, str]:
    """Check values by the parameters of a stack; return them ordered by name.

    ``option``: of which they are a part. Raises BadInputError for an unknown parameter and for a
    value that is not allowed.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    for name in values:
        if name not in by_name:
            close = difflib.get_close_matches(name, by_name, n=1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            names = ", ".join(by_name) or "none"
            raise BadInputError(
                option=option,
                problem=f"{stack} has no parameter '{name}'{hint}",
                remedy=f"it has {names}",
            )
    return {name: by_name[name].checked(stack, values[name], option) for name in sorted(values)}


def label_of(name: str, parameters: Mapping[str, str]) -> str:
    """Return the label of a stack in a run: its name and the parameters that were set.

    >>> label_of("fast", {"alpha": "200"})
    'fast:alpha=200'
    """
    parameters_text = ",".join(f"{key}={value}" for key, value in parameters.items())
    return f"{name}:{parameters_text}" if parameters_text else name
