"""The explorer without a browser: what its widgets hold after what was done to them."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import BadInputError, LabFailedError
from farpath.lab import background_run
from farpath.lab.run import Outcome
from farpath.notebook import explorer as explore
from farpath.notebook.explorer import PLOTLY, Choice, Explorer
from farpath.planning.path_files import path_by_name
from farpath.record.record import RECORD_FILE
from farpath.report.html.render import PLOTLY_CONFIG
from farpath.spec.plan import Plan
from tests.support.campaigns import write_seven_regions

ABSENT = "there are no records to show: make some"


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> list[FilePath]:
    """Records to look at beside those in the explorer's own place; a test adds some."""
    record_dirs: list[FilePath] = []

    def select_records(_results: FilePath) -> tuple[str, list[FilePath], tuple[str, ...]]:
        if not record_dirs:
            raise BadInputError(ABSENT)
        return "The records that farpath ships", record_dirs, ()

    monkeypatch.setattr(explore, "select_records", select_records)
    monkeypatch.setattr(explore, "lab_problem", lambda: "")
    return record_dirs


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """A lab that records at once; the plans it was given."""
    plans: list[Plan] = []

    def run(plan: Plan, out: FilePath, _force: bool, watch: Any, **_further: Any) -> Outcome:
        plans.append(plan)
        watch({"event": "progress", "t_s": 1.0})
        record_dir = out / f"run-{len(plans)}"
        label = plan.stacks[0].label
        write_seven_regions(record_dir, label, plan.seed, plan.schedule.region_s, path=plan.path)
        return Outcome(record_dir, cached=False, wall_s=2.0)

    monkeypatch.setattr(background_run, "run", run)
    return plans


def figure_of(explorer: Explorer) -> dict[str, Any]:
    """The figure that is shown."""
    (figure,) = [
        output["data"][PLOTLY]
        for output in explorer._widgets.figure.outputs
        if PLOTLY in output["data"]
    ]
    return dict(figure)


def text_of(explorer: Explorer) -> str:
    return "".join(output["data"]["text/plain"] for output in explorer._widgets.figure.outputs)


def test_a_choice_is_the_run_that_the_command_line_would_make() -> None:
    plan = Choice("cern", "htcp_2004", region="10s", seed=3).plan()
    assert plan.path.name == "cern"
    assert plan.schedule.duration_s == 80.0
    assert (plan.seed, plan.era.name, plan.settings.clock) == (3, "2004", "virtual")


def test_a_changed_loss_and_buffer_make_a_path_of_another_name() -> None:
    path = Choice("ufl", loss=" 1e-5 ", buffer="2MB").plan().path
    assert (path.name, path.loss, path.buffer_bytes) == ("ufl-changed", 1e-5, 2_000_000)
    assert path.rate_bps == path_by_name("ufl").rate_bps


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        ({"path": "../x"}, "path is"),
        ({"stack": "quic"}, "stack is"),
        ({"loss": "2"}, "loss is"),
        ({"buffer": "big"}, "buffer is"),
        ({"region": "1s"}, "region is"),
        ({"seed": 0}, "seed is"),
    ],
)
def test_a_choice_that_means_nothing_names_its_field(chosen: dict[str, Any], named: str) -> None:
    with pytest.raises(BadInputError, match=named):
        Choice(**chosen).plan()


@pytest.mark.usefixtures("others")
def test_a_run_is_made_as_chosen_and_its_curves_are_shown(
    lab: list[Plan], tmp_path: FilePath
) -> None:
    explorer = Explorer(tmp_path)
    line = explorer.run(path="ufl", stack="fast", seed=2)
    assert line == explorer.line == f"ran in 2.0 s: {tmp_path / 'run-1'}"
    (plan,) = lab
    assert (plan.path.name, plan.stacks[0].label, plan.seed) == ("ufl", "fast", 2)
    assert explorer.record_dir == tmp_path / "run-1"
    names = {trace["name"] for trace in figure_of(explorer)["data"]}
    flows = {f"flow{number} fast" for number in range(1, 5)}
    assert flows | {"ping RTT", "queue", "aggregate", "bottleneck rate"} <= names
    assert figure_of(explorer)["config"] == PLOTLY_CONFIG
    assert "fast" in text_of(explorer)
    widgets = explorer._widgets
    assert (widgets.bar.value, widgets.run.disabled, widgets.stop.disabled) == (1.0, False, True)
    assert widgets.records.value == str(tmp_path / "run-1")


@pytest.mark.usefixtures("others")
def test_the_run_button_runs_what_the_fields_say(lab: list[Plan], tmp_path: FilePath) -> None:
    explorer = Explorer(tmp_path)
    explorer._widgets.loss.value = "1e-4"
    explorer._widgets.region.value = "6s"
    explorer._widgets.run.click()
    assert explorer._attempt is not None
    explorer._attempt.wait()
    (plan,) = lab
    assert (plan.path.loss, plan.schedule.region_s) == (1e-4, 6.0)


@pytest.mark.usefixtures("others")
def test_a_text_that_means_nothing_is_one_escaped_line_and_runs_nothing(
    lab: list[Plan], tmp_path: FilePath
) -> None:
    explorer = Explorer(tmp_path)
    line = explorer.run(loss="<b>")
    assert "loss is '<b>'" in line
    assert "&lt;b&gt;" in explorer._widgets.line.value
    assert "<b>" not in explorer._widgets.line.value
    assert lab == []


@pytest.mark.usefixtures("others")
def test_a_lab_that_fails_is_one_line_and_another_run_can_be_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    def fail(*_arguments: object, **_named: object) -> Outcome:
        raise LabFailedError("the lab hangs", "its console\nand more")

    monkeypatch.setattr(background_run, "run", fail)
    explorer = Explorer(tmp_path)
    assert explorer.run() == "the lab hangs"
    assert explorer.record_dir is None
    assert (explorer._widgets.bar.value, explorer._widgets.run.disabled) == (0.0, False)


@pytest.mark.usefixtures("others")
def test_while_a_run_is_under_way_no_other_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    def forever(_plan: Plan, _out: FilePath, _force: bool, watch: Any, **_further: Any) -> Outcome:
        while True:
            watch({"event": "network-ready"})

    monkeypatch.setattr(background_run, "run", forever)
    explorer = Explorer(tmp_path)
    explorer.begin(Choice())
    first = explorer._attempt
    assert explorer._widgets.run.disabled
    assert not explorer._widgets.stop.disabled
    explorer.begin(Choice())
    assert explorer._attempt is first
    explorer._widgets.stop.click()
    assert first is not None
    first.wait()
    assert explorer.line == "stopped; no partial record is left"


def test_without_a_lab_the_line_says_why_and_a_record_is_shown(
    monkeypatch: pytest.MonkeyPatch, others: list[FilePath], lab: list[Plan], tmp_path: FilePath
) -> None:
    monkeypatch.setattr(explore, "lab_problem", lambda: "this machine lacks ptrace")
    others.append(write_seven_regions(tmp_path / "shipped" / "a", "fast").directory)
    explorer = Explorer(tmp_path / "results")
    assert explorer.line == "No runs here: this machine lacks ptrace"
    assert explorer._widgets.run.disabled
    assert explorer.record_dir == others[0]
    assert "fast" in text_of(explorer)
    assert explorer.run() == explorer.line
    assert lab == []


@pytest.mark.usefixtures("others")
def test_without_a_lab_and_without_records_both_are_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    monkeypatch.setattr(explore, "lab_problem", lambda: "this machine lacks ptrace")
    explorer = Explorer(tmp_path)
    assert explorer.line == f"No runs here: this machine lacks ptrace; {ABSENT}"
    assert explorer._widgets.figure.outputs == ()


def test_a_machine_without_images_has_a_problem_that_names_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    from farpath.lab import preflight
    from farpath.lab.artifacts import images

    monkeypatch.setattr(preflight, "find_images", lambda: images.find_images(tmp_path))
    assert "make setup" in explore.lab_problem()
    assert "\n" not in explore.lab_problem()


def test_a_record_that_is_chosen_is_shown_and_a_changed_one_is_named(
    others: list[FilePath], tmp_path: FilePath
) -> None:
    for stack in ("fast", "udt", "ltcp"):
        others.append(write_seven_regions(tmp_path / "s" / stack, stack).directory)
    (others[2] / RECORD_FILE).write_text("{}")
    explorer = Explorer(tmp_path / "results")
    listed = [value for _, value in explorer._widgets.records.options]
    assert listed == [None, str(others[0]), str(others[1])]
    explorer._widgets.records.value = str(others[1])
    assert explorer.record_dir == others[1]
    assert "udt" in text_of(explorer)
    (others[0] / "ping.parquet").write_bytes(b"")
    explorer._widgets.records.value = str(others[0])
    assert "ping.parquet" in explorer.line
    assert explorer.record_dir == others[1]
