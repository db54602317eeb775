"""A lesson: predict, choose a run, run it in the lab, compare.

It needs ipywidgets, which the optional packages ``farpath[notebook]`` install.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.options import options_of
from farpath.lab.background_run import BackgroundRun
from farpath.lab.progress import Stage
from farpath.notebook.answers import Answer
from farpath.notebook.explorer import lab_problem, plotly_bundle
from farpath.notebook.overlay import overlay
from farpath.planning.request import RunRequest
from farpath.record.record import Record, load_record
from farpath.spec.plan import Plan

#: Where lessons keep their records, from the folder of their notebooks.
RESULTS = "../../results/lessons"
#: So many runs are drawn over each other; older ones leave the figure and stay in the table.
MOST_DRAWN = 4
PREDICT = "First your prediction, then Run."
NO_VALUE = "-"
_NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(\S*)")


@dataclass(frozen=True)
class Attempt:
    """One run of a lesson beside what was predicted: values in the unit of the answer.

    ``chosen``: the options that were chosen. ``measured`` is NaN if the run does not show it, and
    ``theory`` None where none holds.
    """

    chosen: Mapping[str, str]
    predicted: float
    measured: float
    theory: float | None
    right: bool
    unit: str

    @property
    def name(self) -> str:
        """The chosen options as text."""
        return ", ".join(f"{option} {value}" for option, value in self.chosen.items())

    @property
    def verdict(self) -> str:
        """Whether the prediction is right, or by how much it is off."""
        if math.isnan(self.measured):
            return "not seen in this run: try other values"
        if self.right:
            return "right"
        # A percentage of a percentage would be read as a difference
        if self.unit == "%":
            points = self.predicted - self.measured
            return f"too {'high' if points > 0 else 'low'} by {abs(points):.0f} percentage points"
        if self.measured == 0:
            return "too high"
        off = self.predicted / self.measured
        if off >= 2:
            return f"too high by a factor of {off:.1f}"
        if 0 < off <= 0.5:
            return f"too low by a factor of {1 / off:.1f}"
        return f"too {'high' if off > 1 else 'low'} by {abs(off - 1):.0%}"


def parse_prediction(text: str, unit: str) -> float:
    """Parse a prediction: a number, perhaps with the unit of the answer.

    >>> parse_prediction("250 ms", "ms"), parse_prediction("250", "ms")
    (250.0, 250.0)
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None or match[2] not in ("", unit) or not math.isfinite(float(match[1])):
        raise BadInputError(
            problem=f"the prediction is '{text}'",
            remedy=f"it must be a number{f' in {unit}' if unit else ''}, such as 25",
        )
    return float(match[1])


def number_text(value: float | None, unit: str) -> str:
    """Format a value with its unit in three digits; a dash for none."""
    if value is None or math.isnan(value):
        return NO_VALUE
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{min(digits, 3)}f} {unit}".rstrip()


class Lesson:
    """Widgets that ask for a prediction, make the run that is chosen, and check both.

    ``question``: a sentence that ``answer`` answers with a number. Options are those of
    ``farpath run``, by name: a text fixes one, a sequence of texts makes a choice that begins at
    the first. Records go to ``results``.

    ``attempts`` holds what was run, in order; ``line`` the line below the buttons. Raises
    BadInputError for an option that a run does not have or does not take.
    """

    def __init__(
        self,
        question: str,
        answer: Answer,
        *,
        results: FilePath | str = RESULTS,
        **options: str | Sequence[str],
    ) -> None:
        known = [option.name for option in options_of(RunRequest)]
        for name in options:
            if name not in known:
                raise BadInputError(
                    problem=f"'{name}' is no option of a run", remedy=f"it must be one of {known}"
                )
        self.question, self.answer = question, answer
        self.attempts: list[Attempt] = []
        self.line = ""
        self._out = FilePath(results)
        self._fixed = {name: text for name, text in options.items() if isinstance(text, str)}
        self._options = {
            name: tuple(texts) for name, texts in options.items() if not isinstance(texts, str)
        }
        self._check_values()
        self._records: list[tuple[str, Record]] = []
        self._run: BackgroundRun | None = None
        self._widgets = _Widgets(question, answer.unit, self._options)
        self._widgets.run.on_click(lambda _button: self.begin())
        self._widgets.stop.on_click(lambda _button: self.stop())
        self._widgets.clear.on_click(lambda _button: self.clear())
        self._widgets.prediction.observe(lambda _change: self._on_predicted(), names="value")
        for choice in self._widgets.choices.values():
            choice.observe(lambda _change: self._on_chosen(), names="value")
        problem = lab_problem()
        self._can_run = not problem
        self._set_line(f"No runs here: {problem}" if problem else PREDICT)

    def _ipython_display_(self) -> None:
        """Show the widgets in a notebook."""
        from IPython.display import display

        display(self._widgets.all)  # type: ignore[no-untyped-call]

    @property
    def chosen(self) -> dict[str, str]:
        """The options as they are chosen."""
        return {name: choice.value for name, choice in self._widgets.choices.items()}

    def begin(self) -> None:
        """Begin the chosen run and return at once; the line says what prevents it."""
        if not self._can_run or (self._run is not None and self._run.running):
            return
        try:
            predicted = parse_prediction(self._widgets.prediction.value, self.answer.unit)
            chosen = self.chosen
            plan = self._plan(chosen)
        except BadInputError as error:
            self._set_line(error.message)
            return
        self._run = BackgroundRun(
            plan, self._out, self._show_stage,
            lambda ended: self._show_outcome(ended, chosen, predicted),
            request=self._request(chosen).typed,
        )  # fmt: skip
        self._widgets.run.disabled, self._widgets.stop.disabled = True, False
        self._show_stage(Stage(0.0, "booting"))
        self._run.start()

    def stop(self) -> None:
        """Stop the current run."""
        if self._run is not None:
            self._run.stop()

    def clear(self) -> None:
        """Forget all attempts."""
        self.attempts, self._records = [], []
        self._show_attempts()

    def run(self, prediction: float | str, **chosen: str) -> str:
        """Choose options, predict, run, wait, and return the line at the end.

        Raises BadInputError for a value that is not offered.
        """
        for name, value in chosen.items():
            if value not in self._options.get(name, ()):
                choices = "; ".join(f"{each}: {', '.join(v)}" for each, v in self._options.items())
                raise BadInputError(
                    problem=f"no choice {name} has '{value}'", remedy=f"there are {choices}"
                )
            self._widgets.choices[name].value = value
        self._widgets.prediction.value = str(prediction)
        before = self._run
        self.begin()
        if self._run is not None and self._run is not before:
            self._run.wait()
        return self.line

    def _check_values(self) -> None:
        """Make the plan of the first value of each choice, and with each other value of one."""
        for name, texts in self._options.items():
            if not texts:
                raise BadInputError(
                    problem=f"{name} has no values", remedy=f"give some, as in {name}=('a', 'b')"
                )
        first = {name: texts[0] for name, texts in self._options.items()}
        self._plan(first)
        for name, texts in self._options.items():
            for text in texts[1:]:
                self._plan({**first, name: text})

    def _request(self, chosen: Mapping[str, str]) -> RunRequest:
        return RunRequest(**self._fixed, **chosen)

    def _plan(self, chosen: Mapping[str, str]) -> Plan:
        return self._request(chosen).plan()

    def _on_chosen(self) -> None:
        """Ask for a prediction of what is now chosen."""
        self._widgets.prediction.value = ""

    def _on_predicted(self) -> None:
        """Let a run begin as soon as there is a prediction."""
        running = self._run is not None and self._run.running
        try:
            parse_prediction(self._widgets.prediction.value, self.answer.unit)
        except BadInputError as error:
            self._widgets.run.disabled = True
            if not running:
                self._set_line(error.message if self._widgets.prediction.value else PREDICT)
            return
        self._widgets.run.disabled = running or not self._can_run
        if self._can_run and not running:
            self._set_line("Now Run.")

    def _set_line(self, line: str) -> None:
        self.line = line
        self._widgets.line.value = html.escape(line)

    def _show_stage(self, stage: Stage) -> None:
        self._widgets.bar.value = stage.part
        self._set_line(stage.note)

    def _show_outcome(
        self, ended: BackgroundRun, chosen: Mapping[str, str], predicted: float
    ) -> None:
        """Show the outcome of a run; this is called in the run's thread."""
        self._widgets.stop.disabled = True
        if ended.outcome is None:
            assert ended.error is not None
            self._widgets.bar.value = 0.0
            self._widgets.run.disabled = False
            self._set_line(ended.error.message)
            return
        self._widgets.bar.value = 1.0
        record = load_record(ended.outcome.directory)
        measured, theory = self.answer.measured(record), self.answer.theory(record.plan)
        attempt = Attempt(
            chosen, predicted, measured, theory, self.answer.is_right(predicted, measured),
            self.answer.unit,
        )  # fmt: skip
        self.attempts.append(attempt)
        number = len(self.attempts)
        self._records.append((f"{number}: {attempt.name}", record))
        self._show_attempts()
        self._widgets.run.disabled = False
        self._set_line(
            f"Run {number}: measured {number_text(measured, self.answer.unit)}, predicted "
            f"{number_text(predicted, self.answer.unit)}: {attempt.verdict}."
        )

    def _show_attempts(self) -> None:
        self._widgets.table.value = (
            attempts_html(self.attempts, self.answer) if self.attempts else ""
        )
        drawn = self._records[-MOST_DRAWN:]
        self._widgets.figure.outputs = (
            ({"output_type": "display_data", "metadata": {},
              "data": plotly_bundle(overlay(drawn, self.answer.panel))},)
            if drawn else ()
        )  # fmt: skip


def attempts_html(attempts: Sequence[Attempt], answer: Answer) -> str:
    """Return the table of attempts as HTML, and the explanation of the answer below."""
    header = ("run", *attempts[0].chosen, "predicted", "measured", "theory", "")
    rows = [
        (
            str(number), *attempt.chosen.values(), number_text(attempt.predicted, answer.unit),
            number_text(attempt.measured, answer.unit), number_text(attempt.theory, answer.unit),
            attempt.verdict,
        )
        for number, attempt in enumerate(attempts, 1)
    ]  # fmt: skip
    gap = "style='padding: 0 2em 0 0; text-align: left'"
    head = "".join(f"<th scope='col' {gap}>{html.escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td {gap}>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    why = f"<p>{html.escape(answer.why)}</p>"
    return f"<table class='farpath-attempts'><tr>{head}</tr>{body}</table>{why}"


class _Widgets:
    """The widgets of a lesson."""

    def __init__(self, question: str, unit: str, options: Mapping[str, Sequence[str]]) -> None:
        import ipywidgets as widgets

        style = {"style": {"description_width": "7em"}}
        wide = {"width": "32em"}
        self.question = widgets.HTML(f"<b>{html.escape(question)}</b>")
        self.choices = {
            # Quantities lie along a line, and names do not
            name: (widgets.SelectionSlider if texts[0][0].isdigit() else widgets.Dropdown)(
                options=list(texts), value=texts[0], description=name, layout=wide, **style
            )
            for name, texts in options.items()
        }
        self.prediction = widgets.Text(
            description="prediction", placeholder=f"a number in {unit}" if unit else "a number",
            continuous_update=True, layout=wide, **style,
        )  # fmt: skip
        self.run = widgets.Button(
            description="Run", button_style="primary", icon="play", disabled=True
        )
        self.stop = widgets.Button(description="Stop", icon="stop", disabled=True)
        self.clear = widgets.Button(description="Clear", icon="trash")
        self.bar = widgets.FloatProgress(min=0.0, max=1.0)
        self.line = widgets.HTML()
        self.table = widgets.HTML()
        self.figure = widgets.Output()
        buttons = widgets.HBox([self.run, self.stop, self.clear, self.bar])
        self.all = widgets.VBox(
            [self.question, *self.choices.values(), self.prediction, buttons, self.line,
             self.table, self.figure]
        )  # fmt: skip
