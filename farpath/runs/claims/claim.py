"""The claims of documents: claims.toml in the folders of experiments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError
from farpath.base.project import EXPERIMENTS, experiment_folder
from farpath.runs.experiment import experiment_names

if TYPE_CHECKING:
    from farpath.runs.claims.declared import Rule

#: The file in an experiment's folder.
FILE = "claims.toml"
#: The fields of a claim that are its words.
WORDS = ("id", "source", "claim", "decided_by")


@dataclass(frozen=True)
class Claim:
    """A sentence that a measurement can confirm or refute, and the comparison that decides it.

    ``runs``: those that decide it, if an experiment's measures do. ``fitted``: what the model of
    the path was fitted to, if the claim is about that. ``undecidable``: why no run of this lab
    decides it.
    """

    id: str
    source: str
    claim: str
    decided_by: str
    runs: str = ""
    fitted: str = ""
    undecidable: str = ""

    @property
    def words(self) -> dict[str, str]:
        """Its id, source and sentence, and the comparison."""
        return {name: getattr(self, name) for name in WORDS}


@dataclass(frozen=True, eq=False)
class DeclaredClaim:
    """A claim of a file and the rule that the file has for it, if any."""

    claim: Claim
    rule: Rule | None


@cache
def declared_claims(name: str, experiments: FilePath = EXPERIMENTS) -> tuple[DeclaredClaim, ...]:
    """Return the claims in the file of an experiment; none without a file.

    Raises BadInputError naming a file with an invalid field.
    """
    file = experiment_folder(name, experiments) / FILE
    if not file.is_file():
        return ()
    declared = []
    for entry in read_toml(file).get("claims", ()):
        try:
            declared.append(_declared(entry))
        except BadInputError as error:
            raise error.in_file(str(file)) from error
    return tuple(declared)


def _declared(entry: Mapping[str, Any]) -> DeclaredClaim:
    from farpath.base.validation import validated
    from farpath.runs.claims.declared import FIELDS, rule_from

    rule_fields = {name: value for name, value in entry.items() if name in FIELDS}
    words = {name: value for name, value in entry.items() if name not in FIELDS}
    claim = validated(Claim, words)
    return DeclaredClaim(claim, rule_from(rule_fields) if rule_fields else None)


@cache
def claims(experiments: FilePath = EXPERIMENTS) -> tuple[Claim, ...]:
    """Return the claims of all experiments in a folder, in the order of their ids.

    Raises BadInputError naming a file with an invalid field.
    """
    names = experiment_names(experiments)
    found = [each.claim for name in names for each in declared_claims(name, experiments)]
    return tuple(sorted(found, key=lambda claim: _order(claim.id)))


def _order(text: str) -> list[tuple[int, str]]:
    """Return a key by which a 9 stands before a 10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]
