"""One number of a companion experiment, with its published and predicted values."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from farpath.base.documents import check_format_version, read_json
from farpath.base.errors import BadInputError
from farpath.base.files import write_text
from farpath.base.path_variants import CHANGED, REVERSE, SENDERS, without
from farpath.metrics.published_measures import PublishedMeasure, published_measures
from farpath.spec.path import Path

FORMAT_VERSION = 1
#: The file in an experiment's folder that holds the measures of its shipped records.
MEASURES_FILE = "measures.json"


@dataclass(frozen=True)
class Measure:
    """A number that one run, or several of one seed, give.

    ``condition``: the conditions of the run, for people. ``about``: the same for programs, by the
    options of the command line. ``theory``: the value that published rules predict. ``published``:
    the id of the value that a document prints. ``note``: how the value was derived, if it was not
    simply measured.
    """

    experiment: str
    condition: str
    quantity: str
    unit: str
    value: float
    seed: int
    theory: float | None = None
    published: str = ""
    note: str = ""
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def printed(self) -> PublishedMeasure | None:
        """The value that a document prints, if any."""
        return published_measures().get(self.published)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; undefined values are None."""
        plain = dataclasses.asdict(self)
        for name in ("value", "theory"):
            if plain[name] is not None and not math.isfinite(plain[name]):
                plain[name] = None
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Measure:
        """Return the inverse of ``as_dict``.

        Raises BadInputError naming the first field that is missing, unknown or of another type.
        """
        from farpath.base.validation import validated

        if unknown := sorted(set(data) - {field.name for field in dataclasses.fields(cls)}):
            raise BadInputError(problem=f"{unknown[0]} is no field of a measure")
        value = math.nan if data.get("value", 0) is None else data.get("value")
        return validated(cls, {**data, "value": value})


def plain_title(path: Path) -> str:
    """Return a path's title without what options of a run added to it."""
    return without(path.title, CHANGED, SENDERS, REVERSE)


def select_measures(measures: Iterable[Measure], quantity: str, **about: str) -> list[Measure]:
    """Return the measures of a quantity with the given values in ``about``."""
    return [
        measure
        for measure in measures
        if measure.quantity == quantity
        and all(measure.about.get(option) == value for option, value in about.items())
    ]


def write_measures(measures: Iterable[Measure], file: FilePath) -> None:
    """Write measures as JSON, one a line; equal measures give equal bytes."""
    lines = ",\n".join(
        json.dumps(measure.as_dict(), sort_keys=True, allow_nan=False) for measure in measures
    )
    write_text(file, f'{{"format_version":{FORMAT_VERSION},"measures":[\n{lines}\n]}}\n')


def read_measures(file: FilePath) -> tuple[Measure, ...]:
    """Read measures that ``write_measures`` wrote.

    Raises BadInputError for a file that is missing, damaged or of another version.
    """
    remedy = "run 'make campaign EXPERIMENT=companion', which writes one"
    data = read_json(file, remedy)
    check_format_version(data, FORMAT_VERSION, file, remedy)
    entries = data.get("measures")
    if not isinstance(entries, list):
        raise BadInputError(problem=f"{file}: is damaged (no measures in it)", remedy=remedy)
    measures = []
    for number, entry in enumerate(entries, start=1):
        try:
            if not isinstance(entry, dict):
                raise BadInputError(problem="is no object")
            measures.append(Measure.from_dict(entry))
        except BadInputError as error:
            raise BadInputError(
                problem=f"{file}: is damaged (measure {number}: {error.message})",
                remedy=remedy,
            ) from error
    return tuple(measures)
