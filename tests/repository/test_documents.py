"""The project's documents: every link in them leads somewhere, and the index names them all."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path as FilePath

import pytest
import yaml

from farpath import __version__
from farpath.base.project import PROJECT
from farpath.runs.claims.claim_rules import claims_of
from tests.support.study_runs import ALL_ANALYSES

DOCS = PROJECT / "docs"
CODE_BLOCK = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
#: A file of the project that a document names.
NAMED_FILE = re.compile(
    r"`((?:farpath|tests|images|topologies|benchmarks|experiments|examples)/[\w./-]+\.[a-z]+)`"
)
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
#: A decision's heading or, of a short one, its row.
DECISION = re.compile(r"^(?:## |\| )(\d+)(?:\.| \|)", re.MULTILINE)
#: What GitHub leaves out of a heading's anchor.
NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")


#: Files that others read, and the schema of each.
FORMS = {
    ".github/workflows/check.yml": "vendor.github-workflows",
    ".github/workflows/nightly.yml": "vendor.github-workflows",
    ".github/workflows/release.yml": "vendor.github-workflows",
    ".github/ISSUE_TEMPLATE/bug.yml": "vendor.github-issue-forms",
    "CITATION.cff": "vendor.citation-file-format",
    "action.yml": "vendor.github-actions",
}
#: Where documents are, beneath the project's own folder.
FOLDERS = (".github", "docs", "examples", "experiments", "farpath", "images", "tests")


def documents() -> list[FilePath]:
    """The project's Markdown files."""
    files = [file for folder in FOLDERS for file in (PROJECT / folder).rglob("*.md")]
    return sorted([*PROJECT.glob("*.md"), *files])


def text_of(file: FilePath) -> str:
    """A document without its blocks of code, in which brackets are no links."""
    return CODE_BLOCK.sub("", file.read_text(encoding="utf-8"))


def anchors(file: FilePath) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = HEADING.findall(text_of(file))
    return {NOT_IN_ANCHOR.sub("", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("file", documents(), ids=lambda file: str(file.relative_to(PROJECT)))
def test_its_links_lead_somewhere(file: FilePath) -> None:
    wrong = []
    for link in LINK.findall(text_of(file)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        target_file = (file.parent / target).resolve() if target else file
        if not target_file.exists() or (anchor and anchor not in anchors(target_file)):
            wrong.append(link)
    assert wrong == []


def test_files_that_documents_name_are_there() -> None:
    # The list of changes names files of its time
    texts = [text_of(file) for file in documents() if file.name != "CHANGELOG.md"]
    named = {name for text in texts for name in NAMED_FILE.findall(text)}
    assert len(named) > 50
    assert [name for name in sorted(named) if not (PROJECT / name).exists()] == []


def test_the_index_names_every_document() -> None:
    index = DOCS / "README.md"
    named = {(DOCS / link.partition("#")[0]).resolve() for link in LINK.findall(text_of(index))}
    decisions = DOCS / "explanation" / "decisions"
    expected = {file for file in DOCS.rglob("*.md") if decisions not in file.parents}
    assert expected - named - {index} == set()


def test_the_companion_s_table_names_the_claims_that_each_experiment_decides() -> None:
    rows = re.findall(
        r"^\| \[([\w-]+)\]\(.*?\| ([C\d, ]*)\| \[\d+\]",
        text_of(DOCS / "how-to" / "experiments.md"),
        re.MULTILINE,
    )
    named = {name: tuple(filter(None, claims.strip().split(", "))) for name, claims in rows}
    assert named == {name: tuple(sorted(claims_of(name))) for name in ALL_ANALYSES}


def test_each_decision_stands_on_one_page_under_its_number() -> None:
    decisions = DOCS / "explanation" / "decisions"
    index = LINK.findall(text_of(decisions / "README.md"))
    pages = [file for file in decisions.glob("*.md") if file.name != "README.md"]
    assert {link.partition("#")[0] for link in index} == {file.name for file in pages}
    numbers = [int(n) for file in pages for n in DECISION.findall(text_of(file))]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("form", sorted(set(FORMS.values())))
def test_files_for_others_have_the_form_that_they_ask_for(form: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", f"--builtin-schema={form}"]
    files = [str(PROJECT / name) for name, of_file in FORMS.items() if of_file == form]
    checked = subprocess.run([*command, *files], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
