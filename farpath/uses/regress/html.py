"""The HTML page of a suite's results, with the curves of runs that are not identical."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farpath.metrics.run import per_second
from farpath.record.record import load_record
from farpath.report.figures.decimate import min_max_points
from farpath.report.figures.stack_colours import looks_of
from farpath.report.html.render import MODEBAR, MODEBAR_PX, render
from farpath.report.late_data import above_rates_note
from farpath.report.table import Table
from farpath.spec.labels import flow_label
from farpath.uses.regress import report
from farpath.uses.regress.kernel_comparison import Comparison
from farpath.uses.regress.suite import Trial
from farpath.uses.regress.verdict import CaseState, CaseVerdict

if TYPE_CHECKING:
    from farpath.record.record import Record

#: The most points of a curve that a page holds: its peaks and troughs.
MAX_POINTS = 1500
ONLY_AFTER = (
    "Only the run after is drawn: a baseline holds figures and bounds, and no samples. With "
    "--base=<kernel> both kernels are run, and both drawn."
)
#: The runs of a section, and the dash of each's curves.
DASHES = {"before": "dot", "after": "solid"}
PANELS = ("throughput (Mbit/s)", "congestion window (packets)")


@dataclass(frozen=True)
class Cell:
    """One run in the table of all runs: its mark, its state, and its section if it has one."""

    mark: str = ""
    state: str = ""
    section: str = ""


@dataclass(frozen=True)
class Section:
    """A run that is not identical: the results, with curves if there is a record.

    ``note``: which run the curves are of. ``above_rate``: why they exceed the bottleneck's rate.
    ``commands``: the commands that repeat it, by their purpose.
    """

    verdict: CaseVerdict
    name: str
    title: str
    curves: dict[str, Any] | None
    note: str
    above_rate: str
    commands: Mapping[str, str]


def render_page(
    comparison: Comparison, trials: Iterable[Trial], options: Sequence[str] = ()
) -> str:
    """Return the self-contained page of a comparison.

    ``options``: the options of farpath regress that chose the kernels.
    """
    by_name = {trial.name: trial for trial in trials}
    order = list(CaseState)
    sections = [
        _section(comparison, verdict, by_name[verdict.trial], options)
        for verdict in sorted(comparison.verdicts, key=lambda verdict: -order.index(verdict.state))
        if verdict.state != CaseState.IDENTICAL
    ]
    matrix = report.matrix(comparison)
    return render(
        "regress.html",
        heading=f"{comparison.after} against {comparison.before}",
        assets="",
        summary=report.summary(comparison.verdicts),
        matrix=matrix,
        rows=_rows(comparison, matrix),
        sections=sections,
    )


def _rows(comparison: Comparison, matrix: Table) -> list[tuple[str, list[Cell]]]:
    """Return the cells of the table of all runs, row by row."""
    by_trial = {verdict.trial: verdict for verdict in comparison.verdicts}
    stacks = matrix.header[1:]
    return [
        (case, [_cell(by_trial.get(f"{stack}/{case}")) for stack in stacks])
        for case, *_ in matrix.lines
    ]


def _cell(verdict: CaseVerdict | None) -> Cell:
    if verdict is None:
        return Cell()
    section = "" if verdict.state == CaseState.IDENTICAL else _section_name(verdict)
    return Cell(report.MARKS[verdict.state], str(verdict.state), section)


def _section_name(verdict: CaseVerdict) -> str:
    return f"run-{verdict.stack}-{verdict.case}"


def _section(
    comparison: Comparison, verdict: CaseVerdict, trial: Trial, options: Sequence[str]
) -> Section:
    before, after = comparison.records.get(verdict.trial, (None, None))
    records = {
        name: load_record(directory, verify=False)
        for name, directory in zip(DASHES, (before, after), strict=True)
        if directory is not None
    }
    judge_command = (
        "farpath",
        "regress",
        f"--stacks={trial.stack}",
        f"--only={trial.name}",
        *options,
    )
    commands = {
        "judges it again": shlex.join(judge_command),
        "makes a record of it with figure and page, on the kernel that make has built": shlex.join(
            ["farpath", "run", *trial.request.options()]
        ),
    }
    if command := comparison.diff_of(verdict):
        commands["finds the first packet that differs"] = command
    return Section(
        verdict,
        _section_name(verdict),
        trial.case.title,
        _curves(records),
        ONLY_AFTER if before is None and after is not None else "",
        above_rates_note(records.values()),
        commands,
    )


def _curves(records: Mapping[str, Record]) -> dict[str, Any] | None:
    """Return both runs' curves in one figure; None if there is no record."""
    traces = []
    for name, record in records.items():
        traces += _record_traces(record, name, DASHES[name])
    return {"data": traces, "layout": _layout()} if traces else None


def _record_traces(record: Record, name: str, dash: str) -> list[dict[str, Any]]:
    schedule = record.plan.schedule
    throughputs_bps = per_second(record.samples, schedule)
    traces = []
    looks = looks_of([flow.stack for flow in schedule.flows])
    for flow, look in zip(schedule.flows, looks, strict=True):
        style: dict[str, Any] = {
            "type": "scatter",
            "mode": "lines",
            "name": f"{name} {flow_label(flow)}" if len(schedule.flows) > 1 else name,
            "legendgroup": name,
            "line": {"color": look.colour, "dash": dash, "width": 1.3},
            "meta": look.meta if name == "after" else {"colour": "ink"},
        }
        rates = throughputs_bps[flow.name] / 1e6
        traces.append(
            _line(throughputs_bps.index - 0.5, rates, "%{y:.1f} Mbit/s", yaxis="y", **style)
        )
        if record.trace is not None:
            trace = record.trace[record.trace["flow"] == flow.name]
            windows = min_max_points(trace["t_s"], trace["cwnd_packets"], MAX_POINTS)
            style["showlegend"] = False
            traces.append(_line(*windows, "window %{y:.0f} packets", yaxis="y2", **style))
    return traces


def _line(x: Iterable[float], y: Iterable[float], quantity: str, **style: Any) -> dict[str, Any]:
    rounded = {"x": [round(float(v), 3) for v in x], "y": [round(float(v), 4) for v in y]}
    hover_text = f"%{{fullData.name}}: {quantity} at %{{x:.2~f}} s<extra></extra>"
    return {**style, **rounded, "hovertemplate": hover_text}


def _layout() -> dict[str, Any]:
    layout: dict[str, Any] = {
        "height": 480,
        "margin": {"l": 70, "r": MODEBAR_PX, "t": 30, "b": 50},
        "modebar": MODEBAR,
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "time (s)"}, "anchor": "y2"},
        "shapes": [],
        "annotations": [],
    }
    for index, (text, domain) in enumerate(zip(PANELS, ([0.53, 1.0], [0.0, 0.47]), strict=True)):
        layout[f"yaxis{index + 1 if index else ''}"] = {
            "title": {"text": text},
            "domain": domain,
            "rangemode": "tozero",
        }
    return layout
