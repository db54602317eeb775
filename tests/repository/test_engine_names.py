"""The engine names no study: what is written about one stands with its experiment."""

from __future__ import annotations

import re

import pytest

from farpath.base.project import PROJECT
from farpath.runs.claims.claim import claims

#: The paths of the study of 2005, and its year where it is not that of a cited paper.
STUDY = re.compile(
    r"\b(cern|caltech|ufl|florida)\b|(?<!INFOCOM )(?<!SLAC, )(?<!year = )\b2005\b", re.IGNORECASE
)
#: Files that guests import: their edits are gathered, comments included.
GUESTS = ("farpath/guest/", "farpath/spec/", "farpath/tools/")
#: Where the engine has a path of ``topologies/paths`` by its name, and why.
NAMED = {
    "farpath/planning/path_options.py": "the path of a run for which none is named",
    "farpath/planning/request.py": "the same, as help says it",
    "farpath/planning/rules.py": "the named paths that have routers",
    "farpath/mechanisms/traffic/text.py": "an example of a named path's other traffic",
    "farpath/metrics/run_settings.py": "an example of a named path",
    "farpath/uses/regress/suite.toml": "the path of the baseline, whose fingerprints need it",
    "farpath/record/machine_health.py": "the source of a tolerance",
    "farpath/report/html/templates/index.html": "the page of stacks against paths",
}
FILES = sorted(
    file
    for file in (PROJECT / "farpath").rglob("*")
    if file.suffix in (".py", ".toml", ".csv", ".html", ".js", ".css")
)


def _lines(pattern: re.Pattern[str]) -> list[str]:
    """The lines of the engine in which a pattern is, each with its file."""
    named = [str(file.relative_to(PROJECT)) for file in FILES]
    return [
        f"{name}: {line.strip()}"
        for name, file in zip(named, FILES, strict=True)
        if not name.startswith(GUESTS)
        for line in file.read_text(encoding="utf-8").splitlines()
        if pattern.search(line)
    ]


def test_no_file_of_the_engine_names_a_path_or_the_year_of_the_study() -> None:
    assert [line for line in _lines(STUDY) if line.partition(":")[0] not in NAMED] == []


@pytest.mark.parametrize("name", NAMED)
def test_a_file_that_may_name_a_path_does(name: str) -> None:
    assert STUDY.search((PROJECT / name).read_text(encoding="utf-8"))


def test_no_file_of_the_engine_names_a_claim() -> None:
    # C20 is what the interop runner calls its case with ChaCha20
    ids = "|".join(claim.id for claim in claims() if len(claim.id) > 2 and claim.id != "C20")
    assert _lines(re.compile(rf"\b({ids})\b")) == []
