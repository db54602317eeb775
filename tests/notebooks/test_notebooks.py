"""Every notebook, executed without a lab, with records and without; tests/browser has the lab."""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path as FilePath

import pytest

from experiments.ablation.analysis import ABLATION, ABLATION_FILE, write_ablation
from farpath.analysis.claims.rules import claims_of
from farpath.analysis.measures import MEASURES_FILE
from farpath.base.project import PROJECT, experiment_folder
from farpath.notebook.experiment_records import experiment_to_show
from farpath.notebook.paper_records import SHIPPED
from farpath.planning.experiment import PAPER, QUICK, load_experiment
from farpath.record.record import records_in
from farpath.runs.status import shipped_records
from tests.notebooks.conftest import Clone
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


def outputs(clone: Clone, name: str) -> list[str]:
    """What the cells of an executed notebook put out, as JSON."""
    cells = json.loads(clone.text(name))["cells"]
    return [json.dumps(cell.get("outputs", [])) for cell in cells]


def test_on_a_machine_without_a_lab_all_show_what_the_project_ships(clone: Clone) -> None:
    shutil.copytree(shipped_records(PAPER), clone.records)
    done = clone.run(*SHOWING, EXPLORE)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in SHOWING:
        assert "The records that farpath ships" in clone.text(name)
        for words in PUT_OUT[name]:
            assert words in "".join(outputs(clone, name)), name
    explored = clone.text(EXPLORE)
    assert "No runs here: this machine lacks, for the virtual lab: " in explored
    assert "make setup" in explored
    assert records_in(clone.folder / "results") == []


def test_a_quick_set_that_is_shipped_is_called_that(shipped: Clone) -> None:
    done = shipped.run("04-claims")
    assert done.returncode == 0, done.stdout + done.stderr
    message = f"The records that farpath ships, {SHIPPED['quick']}, of earlier settings: 9 runs"
    assert message in shipped.text("04-claims")


def test_the_readers_own_records_take_the_place_of_those_shipped(shipped: Clone) -> None:
    own = shipped.folder / "results" / "paper-quick" / "records"
    shutil.copytree(shipped.records, own)
    shutil.rmtree(own / "cern-udt")
    done = shipped.run("01-seven-regions")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Your own records, of 'make campaign SET=quick': 8 runs" in shipped.text(
        "01-seven-regions"
    )


def test_without_records_the_paper_s_notebooks_end_with_one_line_and_no_traceback(
    clone: Clone,
) -> None:
    done = clone.run("04-claims")
    assert done.returncode == 1
    words, remedy = "there are no records to show", "make campaign SET=quick"
    assert any(words in line and remedy in line for line in done.stdout.splitlines())
    assert "farpath/notebook/paper_records.py" not in done.stdout
    assert "raise BadInputError" not in done.stdout


def test_companion_notebooks_show_what_the_project_ships_or_that_nothing_is_measured_yet(
    clone: Clone, tmp_path: FilePath
) -> None:
    for experiment in EXECUTED:
        cloned = experiment_folder(experiment, clone.folder / "experiments")
        if (records := shipped_records(experiment)).is_dir():
            shutil.copytree(records, shipped_records(experiment, cloned.parent))
        if (measures := experiment_folder(experiment) / MEASURES_FILE).is_file():
            shutil.copy(measures, cloned)
    done = clone.run(*(COMPANION[experiment] for experiment in EXECUTED))
    assert done.returncode == 0, done.stdout + done.stderr
    for experiment in EXECUTED:
        shipped = experiment_to_show(experiment, tmp_path / "no-results")
        title = f"**{load_experiment(experiment).title}**"
        expected = [*claims_of(experiment)]
        expected += [title] if shipped.measures else ["Nothing is measured yet"]
        expected += [PLOTLY] if shipped.done else []
        expected += ['"image/png"'] if shipped.figures else []
        expected += ["The records that farpath ships"] if shipped.done else []
        put_out = "".join(outputs(clone, COMPANION[experiment]))
        for words in expected:
            assert words in put_out, (experiment, words)
        assert (title in put_out) == bool(shipped.measures), experiment


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


def test_a_companion_notebook_without_records_runs_and_says_that_nothing_is_measured_yet(
    clone: Clone,
) -> None:
    name = COMPANION["recovery"]
    done = clone.run(name)
    assert done.returncode == 0, done.stdout + done.stderr
    put_out = "".join(outputs(clone, name))
    for words in (
        "Nothing is measured yet",
        "make campaign EXPERIMENT=companion SET=quick",
        *claims_of("recovery"),
    ):
        assert words in put_out, words


def test_the_ablation_s_notebook_shows_what_the_project_ships(clone: Clone) -> None:
    shipped = clone.folder / "experiments" / ABLATION / ABLATION_FILE
    shipped.unlink(missing_ok=True)
    write_ablation(ablation_of(halved("quiet", "htcp_2004")), shipped)
    done = clone.run(ABLATION_NOTEBOOK)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The runs that farpath made: 249 runs, 11 mechanisms" in clone.text(ABLATION_NOTEBOOK)
    put_out = "".join(outputs(clone, ABLATION_NOTEBOOK))
    for words in ('"image/png"', "F min with each mechanism", "quiet: C12 holds -> fails"):
        assert words in put_out, words


def test_without_an_ablation_its_notebook_ends_with_one_line(clone: Clone) -> None:
    (clone.folder / "experiments" / ABLATION / ABLATION_FILE).unlink(missing_ok=True)
    done = clone.run(ABLATION_NOTEBOOK)
    assert done.returncode == 1
    assert any(
        "make campaign EXPERIMENT=ablation SET=quick" in line for line in done.stdout.splitlines()
    )
    assert "raise BadInputError" not in done.stdout


def test_a_quick_set_of_the_companion_that_is_shipped_is_called_that(clone: Clone) -> None:
    clone.ship_companion()
    name = COMPANION["mtu-bias"]
    done = clone.run(name)
    assert done.returncode == 0, done.stdout + done.stderr
    many = len(load_experiment("mtu-bias").runs(QUICK))
    message = f"The records that farpath ships, the quick set: {many} of {many} runs of mtu-bias."
    assert message in clone.text(name)


def test_the_readers_own_runs_are_shown_and_those_he_lacks_are_named(clone: Clone) -> None:
    clone.ship_companion()
    runs = load_experiment("recovery").runs(QUICK)
    shutil.rmtree(shipped_records("recovery", clone.folder / "experiments"))
    for index, run in enumerate(runs[:2]):
        write_run(clone.folder / "results" / "companion" / str(index), run)
    name = COMPANION["recovery"]
    done = clone.run(name)
    assert done.returncode == 0, done.stdout + done.stderr
    put_out = "".join(outputs(clone, name))
    assert f"Your own records, the quick set: 2 of {len(runs)} runs of recovery." in put_out
    assert f"Missing: {runs[2].label}" in put_out
    assert '"image/png"' in put_out


def test_without_a_lab_a_lesson_s_run_by_hand_ends_with_one_line(
    clone: Clone,
) -> None:
    done = clone.run(LESSON)
    assert done.returncode == 1
    assert re.search("farpath: the lab's kernel is not built .*make setup", done.stdout)
    assert "raise MachineLacksError" not in done.stdout
