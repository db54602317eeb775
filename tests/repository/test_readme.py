"""Documents: the results that they state are those of the records that the project ships."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path as FilePath
from statistics import median

import pytest

from experiments.ablation.analysis import ABLATION, ABLATION_FILE
from experiments.inference.analysis import EXPERIMENT as INFERENCE
from experiments.inference.analysis import FILE as INFERENCE_FILE
from farpath.base.project import PROJECT, experiment_folder
from farpath.runs.analyses import shipped_measures
from tests.support.command_line import Farpath

README = PROJECT / "README.md"
USAGE = PROJECT / "docs" / "reference" / "usage.md"
FIRST_RUN = PROJECT / "docs" / "tutorials" / "first-run.md"
STUDY = PROJECT / "docs" / "results" / "study-2005.md"
COMPANION = PROJECT / "docs" / "results" / "companion.md"
#: The mark before a page's tables.
MARK = "farpath tables"
#: Results that are kept as one file: the experiment, the file, and the mark on its page.
SHIPPED_RESULTS = (
    (ABLATION, ABLATION_FILE, MARK),
    # All mechanisms together, with regions as long as the paper's
    (ABLATION, "ablation-120s.json", f"{MARK} of 120 s"),
    (INFERENCE, INFERENCE_FILE, MARK),
)
#: A newcomer reads it whole.
README_BYTES = 5000
MEASURED = tuple(dict.fromkeys(measure.experiment for measure in shipped_measures()))


def companion_summary() -> str:
    """A row for each measured experiment: how far it is from theory and from printed numbers."""
    rows = ["| experiment | quantities | off theory | off published |", "|---|---:|---:|---:|"]
    for name in MEASURED:
        measures = [measure for measure in shipped_measures() if measure.experiment == name]
        theory = [(each.value, each.theory) for each in measures if each.theory]
        printed = [(each.value, each.printed.value) for each in measures if each.printed]
        link = f"[{name}](../../{experiment_folder(name).relative_to(PROJECT)}/README.md#results)"
        rows.append(f"| {link} | {len(measures)} | {_off(theory)} | {_off(printed)} |")
    return "\n".join(rows) + "\n"


def _off(pairs: Sequence[tuple[float, float]]) -> str:
    """The median deviation from what was expected in per cent, and of how many."""
    parts = [abs(value / expected - 1) for value, expected in pairs if math.isfinite(value)]
    return f"{100 * median(parts):.0f} % of {len(parts)}" if parts else ""


def test_the_study_s_page_has_the_tables_of_the_shipped_campaign(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    assert farpath("tables", "--format=markdown", f"--out={tmp_path}").status == 0
    page = STUDY.read_text()
    for name in ("path-means", "deviations", "agreement"):
        table = (tmp_path / f"{name}.md").read_text()
        assert table in page, f"put 'farpath tables --format=markdown' of {name} into it"


def test_the_companion_s_page_sums_up_what_is_shipped() -> None:
    assert companion_summary() in COMPANION.read_text(), "run tests.repository.shipped_documents"


@pytest.mark.parametrize("name", MEASURED)
def test_the_results_of_an_experiment_are_the_tables_of_what_is_shipped(
    farpath: Farpath, tmp_path: FilePath, name: str
) -> None:
    options = (f"--experiment={name}", "--format=markdown", f"--out={tmp_path}")
    assert farpath("tables", *options).status == 0
    table = (tmp_path / f"{name}.md").read_text()
    page = experiment_folder(name) / "README.md"
    assert table in page.read_text(), f"put 'farpath tables --experiment={name}' into it"


@pytest.mark.parametrize(("name", "file", "mark"), SHIPPED_RESULTS)
def test_the_page_of_kept_results_has_the_tables_of_what_is_shipped(
    farpath: Farpath, tmp_path: FilePath, name: str, file: str, mark: str
) -> None:
    text = (experiment_folder(name) / "README.md").read_text().partition(f"<!-- {mark} -->")[2]
    options = (
        f"--experiment={name}", f"--measures={experiment_folder(name) / file}", "--format=markdown"
    )  # fmt: skip
    assert farpath("tables", *options, f"--out={tmp_path}").status == 0
    tables = [file.read_text() for file in tmp_path.iterdir()]
    assert tables
    for table in tables:
        assert table in text, f"put 'farpath tables {' '.join(options)}' into it"


def test_the_sample_output_is_what_a_shipped_record_shows(farpath: Farpath) -> None:
    text = FIRST_RUN.read_text()
    (name,) = re.findall(r"<!-- farpath show: (\S+) -->", text)
    sample = text.partition(f"{name} -->\n```\n")[2].partition("\n```\n<!-- end of sample -->")[0]
    (record,) = PROJECT.glob(f"experiments/seven_regions/records/{name}-virtual-*")
    ended = farpath("show", "-v", str(record))
    assert ended.status == 0
    assert sample.startswith("Table 1")
    assert sample in "\n".join(line.rstrip() for line in ended.out.splitlines())


def test_the_readme_is_short_and_names_what_ci_and_newcomers_call() -> None:
    text = README.read_text()
    assert len(text.encode()) <= README_BYTES
    for command in ("make experiment", "make test", "make test-host-lab", "pip install"):
        assert command in text


def test_usage_explains_every_variable_of_the_makefile() -> None:
    makefile = (PROJECT / "Makefile").read_text()
    (names,) = re.findall(r"^RUN_VARIABLES := (.+)$", makefile, re.MULTILINE)
    explained = USAGE.read_text()
    assert [name for name in names.split() if f"\n| `{name}` |" not in explained] == []


def test_usage_explains_every_environment_variable_that_the_project_reads() -> None:
    # Include guards of C headers are no variables
    variable = re.compile(r"\bFARPATH_(?!\w+_H\b)[A-Z][A-Z_]*")
    files = [PROJECT / "Makefile", PROJECT / "docker-compose.yml"]
    files += [file for part in ("farpath", "images") for file in (PROJECT / part).rglob("*")]
    named = {
        name
        for file in files
        if file.is_file() and "__pycache__" not in file.parts
        for name in variable.findall(file.read_text(encoding="utf-8"))
    }
    explained = USAGE.read_text()
    assert [name for name in sorted(named) if f"`{name}`" not in explained] == []
