"""Every notebook, executed without a lab, with records and without; tests/browser has the lab."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path as FilePath

import pytest

from experiments.ablation.analysis import write_ablation
from experiments.seven_regions.selection import EXPERIMENT as PAPER
from farpath.base.project import PROJECT, experiment_folder
from farpath.metrics.measures import MEASURES_FILE
from farpath.notebook.experiment_records import experiment_to_show
from farpath.runs.claims.claim_rules import claims_of
from farpath.runs.experiment import QUICK, load_experiment
from farpath.runs.status import shipped_records
from tests.notebooks.conftest import Clone, make_clone
from tests.support.ablations import ablation_of, halved
from tests.support.study_runs import ALL_ANALYSES, write_run

PLOTLY = '"application/vnd.plotly.v1+json"'
#: The notebooks that show records, and what each puts out of them.
PUT_OUT = {
    "01-seven-regions": ("Table 2: S / F of each region, path cern", PLOTLY, '"image/png"'),
    "02-table-1": ("**Table 1: all seven regions, path cern", "Deviations from table 1", PLOTLY),
    "03-table-2": ("**Table 2: S / F of each region, path cern", PLOTLY),
    "04-claims": ("49 claims: holds ", "C1 "),
}
SHOWING = tuple(PUT_OUT)
EXPLORE = "05-explore"
ABLATION_NOTEBOOK = "14-ablation"
LESSON = "lessons/01-slow-start"


#: By experiment, those of the companion and of the host lab.
COMPANION = {
    name: next((PROJECT / "notebooks").glob(f"*-{name}.ipynb")).stem for name in ALL_ANALYSES
}
#: Of the companion, those with code of their own, and one with the code of all others.
PLAIN = "mtu-bias"
EXECUTED = (
    *("response-function", "recovery", "loss-utilisation", "rtt-bias", "cbr-background"),
    PLAIN,
)
ONE_RUN, VERDICTS = "shown.show_closest_run(", "shown.verdicts_text"


def code_cells(name: str) -> list[str]:
    """The code of a notebook's cells."""
    cells = json.loads((PROJECT / "notebooks" / f"{name}.ipynb").read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def outputs(clone: Clone, name: str) -> str:
    """What the cells of an executed notebook put out, as JSON."""
    cells = json.loads(clone.text(name))["cells"]
    return "".join(json.dumps(cell.get("outputs", [])) for cell in cells)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """A clone whose notebooks were executed with what is shipped, and runs of its reader's own."""
    clone = make_clone(tmp_path_factory.mktemp("shown") / "farpath")
    for experiment in (PAPER, *EXECUTED):
        cloned = experiment_folder(experiment, clone.folder / "experiments")
        if (records := shipped_records(experiment)).is_dir():
            shutil.copytree(records, shipped_records(experiment, cloned.parent))
        if (measures := experiment_folder(experiment) / MEASURES_FILE).is_file():
            shutil.copy(measures, cloned)
    for index, run in enumerate(load_experiment(PLAIN).runs(QUICK)):
        write_run(clone.folder / "results" / "companion" / str(index), run)
    write_ablation(ablation_of(halved("quiet", "htcp_2004")), clone.ablation)
    companion = (COMPANION[experiment] for experiment in EXECUTED)
    done = clone.run(*SHOWING, EXPLORE, *companion, ABLATION_NOTEBOOK)
    assert done.returncode == 0, done.stdout + done.stderr
    return clone


def test_on_a_machine_without_a_lab_the_paper_s_notebooks_show_what_the_project_ships(
    shown: Clone,
) -> None:
    for name in SHOWING:
        assert "The records that farpath ships" in shown.text(name)
        for words in PUT_OUT[name]:
            assert words in outputs(shown, name), name
    explored = shown.text(EXPLORE)
    assert "No runs here: this machine lacks, for the virtual lab: " in explored
    assert "make setup" in explored


@pytest.mark.parametrize("experiment", EXECUTED)
def test_a_companion_notebook_shows_its_reader_s_runs_or_what_the_project_ships(
    shown: Clone, experiment: str
) -> None:
    selection = experiment_to_show(
        experiment, shown.folder / "results", shown.folder / "experiments"
    )
    title = f"**{load_experiment(experiment).title}**"
    put_out = outputs(shown, COMPANION[experiment])
    expected = [*selection.sentences[:1], *claims_of(experiment)]
    expected += [PLOTLY] if selection.done else []
    expected += ['"image/png"'] if selection.figures else []
    for words in expected:
        assert words in put_out, words
    assert (title in put_out) == bool(selection.measures)
    assert ("Your own records" in put_out) == (experiment == PLAIN)


@pytest.mark.parametrize("experiment", sorted(set(COMPANION) - set(EXECUTED)))
def test_the_other_companion_notebooks_have_the_cells_of_one_that_is_executed(
    experiment: str, tmp_path: FilePath
) -> None:
    common = code_cells(COMPANION[PLAIN])
    assert [cell for cell in common if VERDICTS in cell] == common[-1:]
    cells = code_cells(COMPANION[experiment])
    (shows_run,) = (cell for cell in cells if ONE_RUN in cell)
    common = [cell.replace(f'"{PLAIN}"', f'"{experiment}"') for cell in common]
    common = [shows_run if ONE_RUN in cell else cell for cell in common]
    assert cells == (common if claims_of(experiment) else common[:-1])
    (call,) = ast.parse(shows_run).body
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    options = {word.arg or "": ast.literal_eval(word.value) for word in call.value.keywords}
    shipped = experiment_to_show(experiment, tmp_path / "no-results")
    assert (shipped.closest_run(**options) is None) == (shipped.done == ())


def test_the_ablation_s_notebook_shows_what_the_project_ships(shown: Clone) -> None:
    assert "The runs that farpath made: 249 runs, 11 mechanisms" in shown.text(ABLATION_NOTEBOOK)
    put_out = outputs(shown, ABLATION_NOTEBOOK)
    for words in ('"image/png"', "F min with each mechanism", "quiet: C12 holds -> fails"):
        assert words in put_out, words


def test_without_records_and_a_lab_each_says_what_to_do_in_one_line_and_no_traceback(
    tmp_path: FilePath,
) -> None:
    clone = make_clone(tmp_path)
    clone.ablation.unlink(missing_ok=True)
    companion = COMPANION["recovery"]
    done = clone.run("04-claims", companion, ABLATION_NOTEBOOK, LESSON)
    assert done.returncode == 1
    assert "3 failed, 1 passed" in done.stdout
    for words, remedy in (
        ("there are no records to show", "make campaign SET=quick"),
        ("", "make campaign EXPERIMENT=ablation SET=quick"),
        ("farpath: the lab's kernel is not built", "make setup"),
    ):
        assert any(words in line and remedy in line for line in done.stdout.splitlines()), remedy
    for traceback in ("farpath/notebook/", "raise BadInputError", "raise MachineLacksError"):
        assert traceback not in done.stdout
    put_out = outputs(clone, companion)
    for words in ("Nothing is measured yet", "make campaign EXPERIMENT=companion SET=quick"):
        assert words in put_out, words
    assert all(claim in put_out for claim in claims_of("recovery"))
