"""The explorer: choose a run in a notebook, make it in the lab, and look at its curves.

It needs ipywidgets, which the optional packages ``farpath[notebook]`` install.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path as FilePath
from typing import Any, Protocol, cast

from farpath.base.errors import BadInputError, FarpathError, MachineLacksError
from farpath.lab import preflight
from farpath.lab.background_run import BackgroundRun
from farpath.lab.progress import Stage
from farpath.lab.run import Outcome
from farpath.mechanisms.quantities import SEED_RANGE
from farpath.metrics.studies import studies
from farpath.planning.path_files import named_paths
from farpath.planning.path_options import DEFAULT_PATH
from farpath.planning.request import RunRequest
from farpath.programs.catalog import catalogue
from farpath.record.record import RECORD_FILE, Record, load_record, records_in
from farpath.report.figures.run_over_time import title
from farpath.report.html.render import PLOTLY_CONFIG
from farpath.report.html.run_page import curves, save_pictures
from farpath.report.overview import overview
from farpath.report.table import render, rich_table
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL

#: Jupyter's media type of Plotly figures.
PLOTLY = "application/vnd.plotly.v1+json"
#: The run that a new explorer offers: about 10 s of a core.
FIRST_STACK, FIRST_REGION = "htcp_2004", "5s"


@dataclass(frozen=True)
class Choice:
    """A run to make, as options of the command line; an empty text takes the path's own value."""

    path: str = DEFAULT_PATH
    stack: str = FIRST_STACK
    loss: str = ""
    buffer: str = ""
    seed: int = 1
    region: str = FIRST_REGION

    @property
    def request(self) -> RunRequest:
        """The request of the seven-region test."""
        return RunRequest(
            path=self.path,
            loss=self.loss.strip() or None,
            buffer=self.buffer.strip() or None,
            stack=self.stack,
            region=self.region,
            seed=str(self.seed),
        )

    def plan(self) -> Plan:
        """Return the plan; raise BadInputError for an invalid text."""
        return self.request.plan()


def lab_problem() -> str:
    """Return why the lab cannot run on this machine, in one line; empty if it can."""
    try:
        preflight.require(preflight.virtual_checks(), VIRTUAL)
    except MachineLacksError as error:
        return error.message
    return ""


def outputs_of(record: Record) -> tuple[dict[str, Any], ...]:
    """Return a record's tables and curves as Jupyter outputs."""
    tables = render(*map(rich_table, overview(record)))
    heading = f"{title(record.plan)}\nfingerprint {record.fingerprint}\n"
    return (
        _output({"text/plain": f"{heading}\n{tables}"}),
        _output(plotly_bundle(curves(record))),
    )


def plotly_bundle(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Plotly figure as Jupyter shows it, without buttons that send it anywhere."""
    configured = {**figure, "config": PLOTLY_CONFIG}
    return {PLOTLY: configured, "text/plain": "the curves need JupyterLab"}


def show_figure(figure: Mapping[str, Any]) -> None:
    """Show a Plotly figure, data and layout, in a notebook."""
    from IPython.display import display

    display(plotly_bundle(figure), raw=True)  # type: ignore[no-untyped-call]


def _output(data: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}}


class Explorer:
    """Widgets that choose a run, make it, and show its curves and those of other records.

    ``results``: the directory for records, as that of ``farpath run``. Without a lab the line below
    the buttons says why, and records can still be shown. ``line`` holds that line, ``record_dir``
    the directory of the record that is shown, None without one.
    """

    def __init__(self, results: FilePath | str) -> None:
        self.line = ""
        self.record_dir: FilePath | None = None
        self._out = FilePath(results)
        self._attempt: BackgroundRun | None = None
        self._widgets = _Widgets()
        self._widgets.run.on_click(lambda _button: self.begin(self._widgets.choice))
        self._widgets.stop.on_click(lambda _button: self.stop())
        self._widgets.records.observe(self._on_record_chosen, names="value")
        problem = lab_problem()
        self._can_run = not problem
        self._widgets.run.disabled = not self._can_run
        record_dirs, origin = self._records()
        remark = "" if record_dirs else f"; {origin}"
        self._set_line(f"No runs here: {problem}{remark}" if problem else origin)
        if record_dirs:
            self.show(record_dirs[0])

    def _ipython_display_(self) -> None:
        """Show the widgets in a notebook."""
        from IPython.display import display

        display(self._widgets.all)  # type: ignore[no-untyped-call]

    def show(self, record_dir: FilePath) -> None:
        """Show the record in a directory; the line says so if it cannot be read."""
        try:
            outputs = outputs_of(load_record(record_dir))
        except FarpathError as error:
            self._set_line(error.message)
            return
        self.record_dir = record_dir
        self._widgets.figure.outputs = outputs
        if str(record_dir) in [value for _, value in self._widgets.records.options]:
            self._widgets.records.value = str(record_dir)

    def begin(self, choice: Choice) -> None:
        """Begin a run and return at once; the line says what prevents it."""
        if not self._can_run:
            return
        if self._attempt is not None and self._attempt.running:
            self._set_line("a run is under way: wait for its end, or stop it")
            return
        try:
            plan = choice.plan()
        except FarpathError as error:
            self._set_line(error.message)
            return
        self._attempt = BackgroundRun(
            plan,
            self._out,
            self._show_stage,
            self._show_outcome,
            save_pictures,
            choice.request.typed,
        )
        self._widgets.run.disabled, self._widgets.stop.disabled = True, False
        self._show_stage(Stage(0.0, "booting"))
        self._attempt.start()

    def stop(self) -> None:
        """Stop the current run."""
        if self._attempt is not None:
            self._attempt.stop()

    def run(self, **chosen: Any) -> str:
        """Set fields of ``Choice``, run, wait, and return the line at the end.

        Interrupting the notebook's kernel stops the run.
        """
        self._widgets.choice = replace(self._widgets.choice, **chosen)
        before = self._attempt
        self.begin(self._widgets.choice)
        if self._attempt is not None and self._attempt is not before:
            self._attempt.wait()
        return self.line

    def _set_line(self, line: str) -> None:
        self.line = line
        self._widgets.line.value = html.escape(line)

    def _on_record_chosen(self, change: Mapping[str, Any]) -> None:
        if change["new"] not in (None, str(self.record_dir)):
            self.show(FilePath(change["new"]))

    def _show_stage(self, stage: Stage) -> None:
        self._widgets.bar.value = stage.part
        self._set_line(stage.note)

    def _show_outcome(self, attempt: BackgroundRun) -> None:
        """Show the outcome of a run; this is called in the run's thread."""
        self._widgets.run.disabled, self._widgets.stop.disabled = False, True
        if attempt.outcome is None:
            assert attempt.error is not None
            self._widgets.bar.value = 0.0
            self._set_line(attempt.error.message)
            return
        self._widgets.bar.value = 1.0
        self._records()
        self._set_line(_outcome_text(attempt.outcome))
        self.show(attempt.outcome.directory)

    def _records(self) -> tuple[list[FilePath], str]:
        """List all records, those made here first by age, and return whose the others are."""
        try:
            origin, others, _ = select_records(self._out)
        except BadInputError as error:
            origin, others = error.message, []
        record_dirs = [*_newest_first(records_in(self._out)), *others]
        options = [
            (name, str(record_dir)) for record_dir in record_dirs for name in _titles_of(record_dir)
        ]
        self._widgets.records.options = [("choose a record", None), *options]
        return [FilePath(record_dir) for _, record_dir in options], origin


class _StudyOfRecords(Protocol):
    """The function in a study.py that finds records to show."""

    def select_records(self, results: FilePath) -> tuple[str, list[FilePath], tuple[str, ...]]:
        """Return the origin and directories of the study's records, and problems."""


def select_records(results: FilePath) -> tuple[str, list[FilePath], tuple[str, ...]]:
    """Return the origin and directories of the first study's records, and problems.

    Those below ``results`` are taken before shipped ones. Raises BadInputError without any.
    """
    for study in studies():
        return cast(_StudyOfRecords, study).select_records(results)
    return "No experiment of this project is a study with records", [], ()


def _newest_first(record_dirs: Iterable[FilePath]) -> list[FilePath]:
    return sorted(record_dirs, key=lambda record_dir: -(record_dir / RECORD_FILE).stat().st_mtime)


def _titles_of(record_dir: FilePath) -> list[str]:
    """Return a record's title as the only item; empty if the record cannot be read."""
    try:
        return [title(load_record(record_dir, verify=False).plan)]
    except FarpathError:
        return []


def _outcome_text(outcome: Outcome) -> str:
    if outcome.cached:
        return f"already recorded, shown from there: {outcome.directory}"
    return f"ran in {outcome.wall_s:.1f} s: {outcome.directory}"


class _Widgets:
    """The widgets of an explorer."""

    def __init__(self) -> None:
        import ipywidgets as widgets

        first = Choice()
        style = {"style": {"description_width": "5em"}}
        stacks = [(f"{name}: {entry.title}", name) for name, entry in catalogue().items()]
        self.path = widgets.Dropdown(options=list(named_paths()), description="path", **style)
        self.stack = widgets.Dropdown(options=stacks, description="stack", **style)
        self.region = widgets.Text(description="region", **style)
        self.loss = widgets.Text(placeholder="the path's, or 1e-6", description="loss", **style)
        self.buffer = widgets.Text(placeholder="the path's, or 2MB", description="buffer", **style)
        self.seed = widgets.BoundedIntText(
            min=SEED_RANGE[0], max=SEED_RANGE[1], description="seed", **style
        )
        self.run = widgets.Button(description="Run", button_style="primary", icon="play")
        self.stop = widgets.Button(description="Stop", icon="stop", disabled=True)
        self.bar = widgets.FloatProgress(min=0.0, max=1.0)
        self.line = widgets.HTML()
        self.records = widgets.Dropdown(description="record", layout={"width": "95%"}, **style)
        self.figure = widgets.Output()
        left = widgets.VBox([self.path, self.stack, self.region])
        right = widgets.VBox([self.loss, self.buffer, self.seed])
        buttons = widgets.HBox([self.run, self.stop, self.bar])
        above = widgets.HBox([left, right])
        self.all = widgets.VBox([above, buttons, self.line, self.records, self.figure])
        self.choice = first

    @property
    def choice(self) -> Choice:
        """The chosen values."""
        return Choice(**{field.name: getattr(self, field.name).value for field in fields(Choice)})

    @choice.setter
    def choice(self, choice: Choice) -> None:
        for name, value in vars(choice).items():
            getattr(self, name).value = value
