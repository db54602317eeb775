"""Explore: choose a run in a notebook, make it in the lab, and look at its curves.

Needs ipywidgets, which the optional packages ``farpath[notebook]`` bring.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, FarpathError, MachineLacksError
from farpath.campaign.status import records_in
from farpath.lab import preflight
from farpath.lab.background_run import BackgroundRun, Stage
from farpath.lab.run import Outcome
from farpath.notebook.paper_records import places_to_show, plan_at
from farpath.planning.path_files import named_paths
from farpath.planning.path_options import DEFAULT_PATH
from farpath.planning.request import SEED_RANGE, RunRequest
from farpath.planning.stack_catalog import catalogue
from farpath.record.record import RECORD_FILE, Record, load_record
from farpath.report.figures.run import title
from farpath.report.html.render import PLOTLY_CONFIG
from farpath.report.html.run_page import curves, save_pictures
from farpath.report.overview import overview
from farpath.report.tables.regions import render, rich_table
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL

#: How Jupyter calls a figure of Plotly's.
PLOTLY = "application/vnd.plotly.v1+json"
#: What a fresh explorer offers to run: some 10 s of a core.
FIRST_STACK, FIRST_REGION = "htcp_2004", "5s"


@dataclass(frozen=True)
class Choice:
    """What to run, as texts of the command line; an empty one takes the path's own value."""

    path: str = DEFAULT_PATH
    stack: str = FIRST_STACK
    loss: str = ""
    buffer: str = ""
    seed: int = 1
    region: str = FIRST_REGION

    def plan(self) -> Plan:
        """The plan of the seven-region test; raises BadInputError for a text that means none."""
        asked = RunRequest(
            path=self.path,
            loss=self.loss.strip() or None,
            buffer=self.buffer.strip() or None,
            stack=self.stack,
            region=self.region,
            seed=str(self.seed),
        )
        return asked.plan()


def lab_problem() -> str:
    """Why the lab cannot run on this machine, in one line; empty if it can."""
    try:
        preflight.require(preflight.virtual_checks(), VIRTUAL)
    except MachineLacksError as error:
        return error.message
    return ""


def outputs_of(record: Record) -> tuple[dict[str, Any], ...]:
    """A record's tables and curves as outputs of Jupyter's."""
    tables = render(*map(rich_table, overview(record)))
    heading = f"{title(record.plan)}\nfingerprint {record.fingerprint}\n"
    return (
        _output({"text/plain": f"{heading}\n{tables}"}),
        _output(plotly_bundle(curves(record))),
    )


def plotly_bundle(figure: Mapping[str, Any]) -> dict[str, Any]:
    """A figure of Plotly's as Jupyter shows it, with no button that sends it anywhere."""
    drawn = {**figure, "config": PLOTLY_CONFIG}
    return {PLOTLY: drawn, "text/plain": "the curves need JupyterLab"}


def show_figure(figure: Mapping[str, Any]) -> None:
    """Show a figure of Plotly's, data and layout, in a notebook."""
    from IPython.display import display

    display(plotly_bundle(figure), raw=True)  # type: ignore[no-untyped-call]


def _output(data: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}}


class Explorer:
    """Widgets that choose a run, make it, and show its curves and those of other records.

    ``results``: where records go, as those of ``farpath run``. Without a lab the line
    below the buttons says why, and records can still be looked at. ``line`` has that
    line, ``place`` the directory of the record that is shown, None without one.
    """

    def __init__(self, results: FilePath | str) -> None:
        self.line = ""
        self.place: FilePath | None = None
        self._out = FilePath(results)
        self._attempt: BackgroundRun | None = None
        self._widgets = _Widgets()
        self._widgets.run.on_click(lambda _button: self.begin(self._widgets.choice))
        self._widgets.stop.on_click(lambda _button: self.stop())
        self._widgets.records.observe(self._chosen, names="value")
        problem = lab_problem()
        self._can_run = not problem
        self._widgets.run.disabled = not self._can_run
        places, said = self._records()
        about = "" if places else f"; {said}"
        self._say(f"No runs here: {problem}{about}" if problem else said)
        if places:
            self.show(places[0])

    def _ipython_display_(self) -> None:
        """What a notebook shows."""
        from IPython.display import display

        display(self._widgets.all)  # type: ignore[no-untyped-call]

    def show(self, place: FilePath) -> None:
        """Show the record in a directory; the line says so if it cannot be read."""
        try:
            outputs = outputs_of(load_record(place))
        except FarpathError as error:
            self._say(error.message)
            return
        self.place = place
        self._widgets.figure.outputs = outputs
        if str(place) in [value for _, value in self._widgets.records.options]:
            self._widgets.records.value = str(place)

    def begin(self, choice: Choice) -> None:
        """Begin a run and return at once; what hinders it is said in the line."""
        if not self._can_run:
            return
        if self._attempt is not None and self._attempt.running:
            self._say("a run is under way: wait for its end, or stop it")
            return
        try:
            plan = choice.plan()
        except FarpathError as error:
            self._say(error.message)
            return
        self._attempt = BackgroundRun(plan, self._out, self._told, self._ended, save_pictures)
        self._widgets.run.disabled, self._widgets.stop.disabled = True, False
        self._told(Stage(0.0, "booting"))
        self._attempt.start()

    def stop(self) -> None:
        """Stop the run that is under way."""
        if self._attempt is not None:
            self._attempt.stop()

    def run(self, **chosen: Any) -> str:
        """Choose by the names of :class:`Choice`, run, wait; returns the line at the end.

        An interruption of the notebook's kernel stops the run.
        """
        self._widgets.choice = replace(self._widgets.choice, **chosen)
        before = self._attempt
        self.begin(self._widgets.choice)
        if self._attempt is not None and self._attempt is not before:
            self._attempt.wait()
        return self.line

    def _say(self, line: str) -> None:
        self.line = line
        self._widgets.line.value = html.escape(line)

    def _chosen(self, change: Mapping[str, Any]) -> None:
        if change["new"] not in (None, str(self.place)):
            self.show(FilePath(change["new"]))

    def _told(self, stage: Stage) -> None:
        self._widgets.bar.value = stage.part
        self._say(stage.note)

    def _ended(self, attempt: BackgroundRun) -> None:
        """Show what came of a run; called in its thread."""
        self._widgets.run.disabled, self._widgets.stop.disabled = False, True
        if attempt.outcome is None:
            assert attempt.error is not None
            self._widgets.bar.value = 0.0
            self._say(attempt.error.message)
            return
        self._widgets.bar.value = 1.0
        self._records()
        self._say(_what_came(attempt.outcome))
        self.show(attempt.outcome.directory)

    def _records(self) -> tuple[list[FilePath], str]:
        """List the records there are, the newest made here first; says whose the others are."""
        try:
            whose, others, _ = places_to_show(self._out)
        except BadInputError as error:
            whose, others = error.message, []
        places = [*_newest_first(records_in(self._out)), *others]
        options = [(name, str(place)) for place in places for name in _name_of(place)]
        self._widgets.records.options = [("choose a record", None), *options]
        return [FilePath(place) for _, place in options], whose


def _newest_first(places: Iterable[FilePath]) -> list[FilePath]:
    return sorted(places, key=lambda place: -(place / RECORD_FILE).stat().st_mtime)


def _name_of(place: FilePath) -> list[str]:
    """A record's name for people; none if it does not tell what was run."""
    try:
        return [title(plan_at(place))]
    except FarpathError:
        return []


def _what_came(outcome: Outcome) -> str:
    if outcome.cached:
        return f"already recorded, shown from there: {outcome.directory}"
    return f"ran in {outcome.wall_s:.1f} s: {outcome.directory}"


class _Widgets:
    """What an explorer is made of."""

    def __init__(self) -> None:
        import ipywidgets as widgets

        first = Choice()
        look = {"style": {"description_width": "5em"}}
        stacks = [(f"{name}: {entry.title}", name) for name, entry in catalogue().items()]
        self.path = widgets.Dropdown(options=list(named_paths()), description="path", **look)
        self.stack = widgets.Dropdown(options=stacks, description="stack", **look)
        self.region = widgets.Text(description="region", **look)
        self.loss = widgets.Text(placeholder="the path's, or 1e-6", description="loss", **look)
        self.buffer = widgets.Text(placeholder="the path's, or 2MB", description="buffer", **look)
        self.seed = widgets.BoundedIntText(
            min=SEED_RANGE[0], max=SEED_RANGE[1], description="seed", **look
        )
        self.run = widgets.Button(description="Run", button_style="primary", icon="play")
        self.stop = widgets.Button(description="Stop", icon="stop", disabled=True)
        self.bar = widgets.FloatProgress(min=0.0, max=1.0)
        self.line = widgets.HTML()
        self.records = widgets.Dropdown(description="record", layout={"width": "95%"}, **look)
        self.figure = widgets.Output()
        left = widgets.VBox([self.path, self.stack, self.region])
        right = widgets.VBox([self.loss, self.buffer, self.seed])
        buttons = widgets.HBox([self.run, self.stop, self.bar])
        above = widgets.HBox([left, right])
        self.all = widgets.VBox([above, buttons, self.line, self.records, self.figure])
        self.choice = first

    @property
    def choice(self) -> Choice:
        """What is chosen."""
        return Choice(**{field.name: getattr(self, field.name).value for field in fields(Choice)})

    @choice.setter
    def choice(self, choice: Choice) -> None:
        for name, value in vars(choice).items():
            getattr(self, name).value = value
