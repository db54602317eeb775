"""Every notebook, executed: with the real lab, without it, without records."""

from __future__ import annotations

import json
import shutil

import pytest

from farpath.claims.companion_rules import claims_of
from farpath.companion.analyse import ANALYSES
from farpath.companion.measure import MEASURES_FILE
from farpath.experiment import EXPERIMENTS, PAPER, QUICK, load_experiment
from farpath.made import records_in, shipped_records
from farpath.shown import SHIPPED
from tests.notebooks.conftest import Clone
from tests.unit.companion_runs import write_run

PLOTLY = '"application/vnd.plotly.v1+json"'
#: The notebooks that show records, and what each puts out of them.
PUT_OUT = {
    "01-seven-regions": ("Table 2: S / F of each region, path cern", PLOTLY, '"image/png"'),
    "02-table-1": ("**Table 1: all seven regions, path cern", "Deviations from table 1", PLOTLY),
    "03-table-2": ("**Table 2: S / F of each region, path cern", PLOTLY),
    "04-claims": ("30 claims: holds ", "C1 "),
}
SHOWING = tuple(PUT_OUT)
EXPLORE = "05-explore"


#: By experiment, those of the companion.
COMPANION = {name: f"{number:02}-{name}" for number, name in enumerate(ANALYSES, 6)}


def outputs(clone: Clone, name: str) -> list[str]:
    """What the cells of an executed notebook put out, as JSON."""
    cells = json.loads(clone.text(name))["cells"]
    return [json.dumps(cell.get("outputs", [])) for cell in cells]


def test_on_a_machine_without_a_lab_all_run_and_say_whose_records_they_show(
    shipped: Clone,
) -> None:
    done = shipped.run(*SHOWING, EXPLORE)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in SHOWING:
        assert f"The records that farpath ships, {SHIPPED['quick']}: 9 runs" in shipped.text(name)
        for words in PUT_OUT[name]:
            assert words in "".join(outputs(shipped, name)), name
    explored = shipped.text(EXPLORE)
    assert "No runs here: this machine lacks, for the virtual lab: " in explored
    assert "make setup" in explored
    assert records_in(shipped.folder / "results") == []


def test_the_readers_own_records_take_the_place_of_those_shipped(shipped: Clone) -> None:
    own = shipped.folder / "results" / "paper-quick" / "records"
    shutil.copytree(shipped.records, own)
    shutil.rmtree(own / "cern-udt")
    done = shipped.run("01-seven-regions")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Your own records, of 'make paper-quick': 8 runs" in shipped.text("01-seven-regions")


@pytest.mark.parametrize("name", SHOWING)
def test_without_records_it_ends_with_one_line_and_no_traceback(clone: Clone, name: str) -> None:
    done = clone.run(name)
    assert done.returncode == 1
    said = [line for line in done.stdout.splitlines() if "there are no records to show" in line]
    assert said
    assert all("make paper-quick" in line for line in said)
    assert "farpath/shown.py" not in done.stdout
    assert "raise BadInputError" not in done.stdout


def test_what_the_project_ships_runs_in_every_notebook_that_shows_it(clone: Clone) -> None:
    if ships := records_in(shipped_records(PAPER)):
        shutil.copytree(ships[0].parent, clone.records)
    done = clone.run(*SHOWING)
    assert done.returncode == (0 if ships else 1), done.stdout + done.stderr


def test_companion_notebooks_run_without_a_lab_and_say_whose_records_they_show(
    clone: Clone,
) -> None:
    clone.ship_companion()
    done = clone.run(*COMPANION.values())
    assert done.returncode == 0, done.stdout + done.stderr
    for experiment, name in COMPANION.items():
        loaded = load_experiment(experiment)
        text = clone.text(name)
        many = len(loaded.runs(QUICK))
        said = f"The records that farpath ships, the quick set: {many} of {many} runs of"
        assert f"{said} {experiment}." in text, name
        put_out = "".join(outputs(clone, name))
        for words in (f"**{loaded.title}**", '"image/png"', PLOTLY, *claims_of(experiment)):
            assert words in put_out, (name, words)


def test_the_readers_own_runs_are_shown_and_those_he_lacks_are_named(clone: Clone) -> None:
    clone.ship_companion()
    runs = load_experiment("recovery").runs(QUICK)
    shutil.rmtree(shipped_records("recovery", clone.folder / "experiments"))
    for place, run in enumerate(runs[:2]):
        write_run(clone.folder / "results" / "companion" / str(place), run)
    name = COMPANION["recovery"]
    done = clone.run(name)
    assert done.returncode == 0, done.stdout + done.stderr
    put_out = "".join(outputs(clone, name))
    assert f"Your own records, the quick set: 2 of {len(runs)} runs of recovery." in put_out
    assert f"Missing: {runs[2].label}" in put_out
    assert '"image/png"' in put_out


def test_without_records_companion_notebooks_end_with_one_line_and_no_traceback(
    clone: Clone,
) -> None:
    done = clone.run(*COMPANION.values())
    assert done.returncode == 1
    for experiment in COMPANION:
        words = f"there are no records to show of {experiment}"
        said = [line for line in done.stdout.splitlines() if words in line]
        assert said, experiment
        assert all("make companion-quick" in line for line in said)
    assert "farpath/companion/shown.py" not in done.stdout
    assert "raise BadInputError" not in done.stdout


def test_what_the_project_ships_of_the_companion_runs_in_the_notebooks(clone: Clone) -> None:
    ship = []
    for experiment, name in COMPANION.items():
        here, there = EXPERIMENTS / experiment, clone.folder / "experiments" / experiment
        records, measures = shipped_records(experiment), here / MEASURES_FILE
        if records_in(records):
            shutil.copytree(records, shipped_records(experiment, there.parent))
        if measures.is_file():
            shutil.copy(measures, there)
        if records_in(records) or measures.is_file():
            ship.append(name)
    done = clone.run(*(ship or COMPANION.values()))
    assert done.returncode == (0 if ship else 1), done.stdout + done.stderr


@pytest.mark.lab
def test_with_the_lab_the_explorer_runs_it_and_shows_what_it_measured(shipped: Clone) -> None:
    shipped.link_lab()
    done = shipped.run(EXPLORE)
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = records_in(shipped.folder / "results")
    assert record.name.startswith("cern-htcp_2004-5s-2004-seed1-virtual-")
    assert f"{record.name}" in shipped.text(EXPLORE)
    assert "ran in " in shipped.text(EXPLORE)
