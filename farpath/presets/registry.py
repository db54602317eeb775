"""Registry of presets: every folder of ``farpath/presets``, and what a user asks of one.

Further folders can hold some too: add their directory to ``farpath.presets.__path__`` before the
command line is imported, whose help lists the presets found.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from farpath import presets as package
from farpath.base.errors import BadInputError
from farpath.base.folders import modules_of
from farpath.base.words import parse_words
from farpath.metrics.finding import Finding
from farpath.presets.preset import Preset, PresetOutput
from farpath.programs.entry import checked_parameters

if TYPE_CHECKING:
    from farpath.record.program_record import ProgramRecord


def presets() -> Mapping[str, Preset]:
    """Return all presets by name."""
    return _presets(tuple(package.__path__))


@cache
def _presets(_places: tuple[str, ...]) -> Mapping[str, Preset]:
    found: list[Preset] = [module.PRESET for module in modules_of(package.__name__, "preset")]
    return {preset.name: preset for preset in sorted(found, key=lambda one: one.name)}


@dataclass(frozen=True)
class AskedPreset:
    """A preset with the values of all its parameters, by name."""

    preset: Preset
    values: Mapping[str, str]

    @property
    def text(self) -> str:
        """The preset with each value, as it may be typed."""
        words = ",".join(f"{name}={value}" for name, value in self.values.items())
        return f"{self.preset.name}:{words}" if words else self.preset.name

    def output(self, record: ProgramRecord) -> PresetOutput:
        """Return what its programs left in a record."""
        return PresetOutput(record.directory, record.plan, self.values)

    def findings(self, record: ProgramRecord) -> tuple[Finding, ...]:
        """Return what was measured in a record; nothing if its client failed."""
        return () if record.ending.status else tuple(self.preset.findings(self.output(record)))


def asked_preset(text: str) -> AskedPreset:
    """Return the preset that a text asks for; raise BadInputError.

    >>> asked_preset("db:clients=2").values["clients"]
    '2'
    """
    name, colon, rest = text.partition(":")
    known = presets()
    if name not in known:
        described = "; ".join(f"{one.name} ({one.summary})" for one in known.values())
        close = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise BadInputError(
            option="preset",
            given=text,
            problem=f"there is no such preset{hint}",
            remedy=f"it must be one of {described}",
        )
    preset = known[name]
    example = ",".join(f"{one.name}={one.default}" for one in preset.parameters[:2])
    given = parse_words(rest, "preset", text, f"{name}:{example}")[0] if colon else {}
    checked = checked_parameters(name, preset.parameters, given, "preset")
    return AskedPreset(
        preset, {one.name: checked.get(one.name, one.default) for one in preset.parameters}
    )


def preset_words() -> str:
    """Return the presets as words, for a help."""
    return ", ".join(presets())


def refuse_beside_preset(given: Mapping[str, object]) -> None:
    """Raise BadInputError if an option is given that a preset decides; None if it is not given."""
    for name, value in given.items():
        if value:
            subject = "a command" if name == "command" else f"`{name}`"
            raise BadInputError(
                problem=f"{subject} is given beside `preset`, which brings its own programs",
                remedy="leave one of them out",
            )
