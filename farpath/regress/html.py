"""Page: what a suite found as one HTML page, with the curves of what is not identical."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farpath.analysis.metrics import per_second
from farpath.record.record import load_record
from farpath.regress import report
from farpath.regress.compare import Comparison
from farpath.regress.suite import Trial
from farpath.regress.verdict import CaseState, CaseVerdict
from farpath.report.figures.decimate import min_max_points
from farpath.report.figures.style import NORMAL
from farpath.report.html.render import render
from farpath.report.tables.regions import Grid
from farpath.spec.labels import flow_label

if TYPE_CHECKING:
    from farpath.record.record import Record

#: Of a curve a page holds so many points: its peaks and troughs.
MOST_POINTS = 1500
ONLY_AFTER = (
    "Only the run after is drawn: a baseline holds figures and bounds, and no samples. With "
    "--base=<kernel> both kernels are run, and both drawn."
)
PANELS = ("throughput (Mbit/s)", "congestion window (packets)")


@dataclass(frozen=True)
class Cell:
    """One run in the table of all: its mark, its state, and its section if it has one."""

    mark: str = ""
    state: str = ""
    section: str = ""


@dataclass(frozen=True)
class Section:
    """A run that is not identical: what was found, drawn where there is a record.

    ``commands``: what repeats it, by what that does.
    """

    verdict: CaseVerdict
    name: str
    title: str
    curves: dict[str, Any] | None
    note: str
    commands: Mapping[str, str]


def render_page(compared: Comparison, trials: Iterable[Trial], options: Sequence[str] = ()) -> str:
    """The page, self-contained; ``options``: of farpath regress, which chose the kernels."""
    by_name = {trial.name: trial for trial in trials}
    order = list(CaseState)
    shown = [
        _section(compared, verdict, by_name[verdict.trial], options)
        for verdict in sorted(compared.verdicts, key=lambda each: -order.index(each.state))
        if verdict.state != CaseState.IDENTICAL
    ]
    matrix = report.matrix(compared).grid
    return render(
        "regress.html",
        heading=f"{compared.after} against {compared.before}",
        assets="",
        summary=report.summary(compared.verdicts),
        matrix=matrix,
        rows=_rows(compared, matrix),
        shown=shown,
    )


def _rows(compared: Comparison, matrix: Grid) -> list[tuple[str, list[Cell]]]:
    """The cells of the table of all runs, row by row."""
    by_trial = {verdict.trial: verdict for verdict in compared.verdicts}
    stacks = matrix.header[1:]
    return [
        (case, [_cell(by_trial.get(f"{stack}/{case}")) for stack in stacks])
        for case, *_ in matrix.rows
    ]


def _cell(verdict: CaseVerdict | None) -> Cell:
    if verdict is None:
        return Cell()
    section = "" if verdict.state == CaseState.IDENTICAL else _section_name(verdict)
    return Cell(report.MARKS[verdict.state], str(verdict.state), section)


def _section_name(verdict: CaseVerdict) -> str:
    return f"run-{verdict.stack}-{verdict.case}"


def _section(
    compared: Comparison, verdict: CaseVerdict, trial: Trial, options: Sequence[str]
) -> Section:
    before, after = compared.records.get(verdict.trial, (None, None))
    again = ("farpath", "regress", f"--stacks={trial.stack}", f"--only={trial.name}", *options)
    commands = {
        "judges it again": shlex.join(again),
        "makes a record of it with figure and page, on the kernel that make has built": shlex.join(
            ["farpath", "run", *trial.asked.options()]
        ),
    }
    return Section(
        verdict,
        _section_name(verdict),
        trial.case.title,
        _curves(compared, verdict),
        ONLY_AFTER if before is None and after is not None else "",
        commands,
    )


def _curves(compared: Comparison, verdict: CaseVerdict) -> dict[str, Any] | None:
    """Both runs' curves over each other; None if there is no record."""
    traces = []
    places = compared.records.get(verdict.trial, (None, None))
    for place, name, dash in zip(places, ("before", "after"), ("dot", "solid"), strict=True):
        if place is not None:
            traces += _of_record(load_record(place, verify=False), name, dash)
    return {"data": traces, "layout": _layout()} if traces else None


def _of_record(record: Record, name: str, dash: str) -> list[dict[str, Any]]:
    schedule = record.plan.schedule
    each = per_second(record.samples, schedule)
    found = []
    for number, flow in enumerate(schedule.flows):
        look: dict[str, Any] = {
            "type": "scatter",
            "mode": "lines",
            "name": f"{name} {flow_label(flow)}" if len(schedule.flows) > 1 else name,
            "legendgroup": name,
            "line": {"color": NORMAL.colour(number), "dash": dash, "width": 1.3},
            "meta": {"colour": f"flow-{number + 1}" if name == "after" else "ink"},
        }
        rates = each[flow.name] / 1e6
        found.append(_line(each.index - 0.5, rates, "%{y:.1f} Mbit/s", yaxis="y", **look))
        if record.trace is not None:
            mine = record.trace[record.trace["flow"] == flow.name]
            windows = min_max_points(mine["t_s"], mine["cwnd_packets"], MOST_POINTS)
            look["showlegend"] = False
            found.append(_line(*windows, "window %{y:.0f} packets", yaxis="y2", **look))
    return found


def _line(x: Iterable[float], y: Iterable[float], quantity: str, **look: Any) -> dict[str, Any]:
    rounded = {"x": [round(float(v), 3) for v in x], "y": [round(float(v), 4) for v in y]}
    over = f"%{{fullData.name}}: {quantity} at %{{x:.2~f}} s<extra></extra>"
    return {**look, **rounded, "hovertemplate": over}


def _layout() -> dict[str, Any]:
    layout: dict[str, Any] = {
        "height": 480,
        "margin": {"l": 70, "r": 20, "t": 30, "b": 50},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "time (s)"}, "anchor": "y2"},
        "shapes": [],
        "annotations": [],
    }
    for place, (text, domain) in enumerate(zip(PANELS, ([0.53, 1.0], [0.0, 0.47]), strict=True)):
        layout[f"yaxis{place + 1 if place else ''}"] = {
            "title": {"text": text}, "domain": domain, "rangemode": "tozero",
        }  # fmt: skip
    return layout
