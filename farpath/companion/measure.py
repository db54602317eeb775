"""Measure: one number of a companion experiment, with what is published and predicted of it."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from farpath.errors import BadInputError, CheckFailedError
from farpath.experiment import WantedRun
from farpath.places import write_text
from farpath.published import PublishedMeasure, published_measures
from farpath.record import Record

FORMAT_VERSION = 1
#: Where an experiment's folder has the measures of its shipped records.
MEASURES_FILE = "measures.json"


@dataclass(frozen=True, eq=False)
class Done:
    """A run of an experiment and its record."""

    run: WantedRun
    record: Record


@dataclass(frozen=True)
class Measure:
    """A number that a run, or several of one seed, give.

    ``condition``: of what, for people; ``about``: the same for programs, by the words of
    the command line. ``theory``: what published rules predict. ``published``: the id of
    what a document prints. ``note``: how it was got, if not plainly measured.
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
        """What a document prints of it."""
        return published_measures().get(self.published)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not defined is None."""
        plain = dataclasses.asdict(self)
        for name in ("value", "theory"):
            if plain[name] is not None and not math.isfinite(plain[name]):
                plain[name] = None
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Measure:
        """The inverse of :meth:`as_dict`; KeyError or TypeError if it is not one."""
        value = math.nan if data["value"] is None else float(data["value"])
        return cls(**{**data, "value": value})


def one_of(measures: Iterable[Measure], quantity: str, **about: str) -> list[Measure]:
    """Those of a quantity that are about certain words' values."""
    return [
        measure
        for measure in measures
        if measure.quantity == quantity
        and all(measure.about.get(word) == value for word, value in about.items())
    ]


def write_measures(measures: Iterable[Measure], file: FilePath) -> None:
    """Measures as JSON, a line each; equal measures give equal bytes."""
    lines = ",\n".join(
        json.dumps(measure.as_dict(), sort_keys=True, allow_nan=False) for measure in measures
    )
    write_text(file, f'{{"format_version":{FORMAT_VERSION},"measures":[\n{lines}\n]}}\n')


def read_measures(file: FilePath) -> tuple[Measure, ...]:
    """What :func:`write_measures` wrote.

    Raises BadInputError for a file that is not there or of another version,
    CheckFailedError for a damaged one.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        version = data["format_version"]
        found = tuple(Measure.from_dict(each) for each in data["measures"])
    except OSError as error:
        raise BadInputError(
            f"{file}: cannot be read ({error.strerror}): run 'make companion'"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CheckFailedError(
            f"{file}: is damaged ({error}): run 'make companion' again"
        ) from error
    if version != FORMAT_VERSION:
        raise BadInputError(
            f"{file}: has format version {version}, this farpath reads {FORMAT_VERSION}"
        )
    return found
