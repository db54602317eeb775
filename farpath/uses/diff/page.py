"""The page of a comparison: the packets, what TCP held, and both runs' time-sequence plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farpath.captures.segments import SACK_BLOCKS
from farpath.report.html.render import render
from farpath.uses.diff.compare import Comparison
from farpath.uses.diff.first_packet import NS_PER_S, RUNS, Captured
from farpath.uses.diff.packet_words import seconds
from farpath.uses.diff.report import (
    before_lines,
    look_further,
    remarks,
    run_lines,
    state_tables,
    twin_lines,
    verdict,
)

if TYPE_CHECKING:
    import pandas as pd

#: How much of a round trip is drawn before the instant and behind it, and at least that much.
ROUND_TRIPS, LEAST_S = 1.5, 0.01
#: The most segments of a run that are drawn; of more, less time is.
MOST_SEGMENTS = 3_000
#: Sequence numbers that are shown at first, in segments on either side.
SEGMENTS_SHOWN = 15
PANEL_PX = 340
#: Colours of what is drawn, by the names of the page's hues.
HUES = {"data": "blue", "sent again": "vermillion", "acknowledged": "ink", "window": "green",
        "SACK": "orange"}  # fmt: skip


def render_diff(comparison: Comparison) -> str:
    """Return the page as HTML."""
    return render(
        "diff.html",
        heading="The first packet that differs",
        assets="",
        remarks=(*run_lines(comparison), *remarks(comparison)),
        verdict=verdict(comparison).splitlines(),
        twins=twin_lines(comparison),
        before=before_lines(comparison),
        tables=state_tables(comparison),
        further=look_further(comparison),
        curves=time_sequence(comparison),
    )


def time_sequence(comparison: Comparison) -> dict[str, Any] | None:
    """Return the curves of both time-sequence plots, one below the other, around the instant.

    They have one axis of time and one of sequence numbers. None where the packet is of no flow.
    """
    told, held = comparison.told, comparison.held
    if told is None or held is None:
        return None
    flow = next(
        flow
        for flow in comparison.runs["a"].record.plan.schedule.all_flows
        if flow.name == held.flow
    )
    place = comparison.captured.get(flow.sender, told.difference.place)
    rows = {run: _rows(place.of(run), flow.port) for run in RUNS}
    now_s = told.difference.time_ns / NS_PER_S
    plan = comparison.runs["a"].record.plan
    reach_s = max(LEAST_S, ROUND_TRIPS * plan.pair_rtt_ms(flow.sender, flow.receiver) / 1e3)
    near = {run: _near(rows[run], now_s, reach_s) for run in RUNS}
    while max(map(len, near.values())) > MOST_SEGMENTS:
        reach_s /= 2
        near = {run: _near(rows[run], now_s, reach_s) for run in RUNS}
    zoom_s = min(reach_s, _zoom_s(comparison))
    traces = [trace for number, run in enumerate(RUNS) for trace in _traces(near[run], number)]
    shown = rows[told.run][rows[told.run]["from_client"]]
    return {"data": traces, "layout": _layout(now_s, place.name, zoom_s, _range(shown, now_s))}


def _zoom_s(comparison: Comparison) -> float:
    """Return how much time the plot shows at first on either side: the packets before, the twin."""
    told = comparison.told
    assert told is not None
    first_ns = min((each.fields["time_ns"] for each in comparison.before), default=0)
    return max(told.difference.time_ns - first_ns, 2 * (told.late_ns or 0), 10_000) / NS_PER_S


def _range(mine: pd.DataFrame, now_s: float) -> list[int]:
    """Return the sequence numbers that are shown at first: some segments around the next one."""
    before = mine[mine["time_ns"] <= now_s * NS_PER_S]
    size = int(before["length"].max()) if len(before) else 1
    nxt = int((before["seq"] + before["length"]).max()) if len(before) else 1
    return [nxt - SEGMENTS_SHOWN * max(size, 1), nxt + SEGMENTS_SHOWN * max(size, 1)]


def _rows(captured: Captured, port: int) -> pd.DataFrame:
    connection = captured.data_connection(port)
    assert captured.tcp is not None
    table = captured.tcp.segments
    number = -1 if connection is None else connection.number
    return table[table["connection"] == number]


def _near(rows: pd.DataFrame, now_s: float, reach_s: float) -> pd.DataFrame:
    times_s = rows["time_ns"] / NS_PER_S
    return rows[(times_s >= now_s - reach_s) & (times_s <= now_s + reach_s)]


def _traces(rows: pd.DataFrame, panel: int) -> list[dict[str, Any]]:
    """Return the curves of one run: data, ACKs, the receiver's window, SACK blocks."""
    bars: dict[str, tuple[list[float | None], list[float | None]]] = {
        name: ([], []) for name in ("data", "sent again", "SACK")
    }
    lines: dict[str, tuple[list[float | None], list[float | None]]] = {
        name: ([], []) for name in ("acknowledged", "window")
    }
    nxt = 0
    sides = [f"sack{number}_{side}" for number in range(1, SACK_BLOCKS + 1) for side in _SIDES]
    columns = ["time_ns", "from_client", "seq", "ack", "length", "window", *sides]
    for time_ns, mine, seq, ack, length, window, *sack in rows[columns].itertuples(index=False):
        time_s = time_ns / NS_PER_S
        if mine:
            if length:
                _bar(bars["data" if seq >= nxt else "sent again"], time_s, seq, seq + length)
                nxt = max(nxt, seq + length)
            continue
        for name, value in (("acknowledged", ack), ("window", ack + window)):
            lines[name][0].append(time_s)
            lines[name][1].append(value)
        for left, right in zip(sack[::2], sack[1::2], strict=True):
            if right > 0:
                _bar(bars["SACK"], time_s, left, right)
    return [
        _trace(name, xs, ys, panel, "hv" if name in lines else "linear")
        for name, (xs, ys) in {**bars, **lines}.items()
    ]


_SIDES = ("left", "right")


def _bar(
    points: tuple[list[float | None], list[float | None]], time_s: float, low: int, high: int
) -> None:
    points[0].extend((time_s, time_s, None))
    points[1].extend((low, high, None))


def _trace(
    name: str, xs: list[float | None], ys: list[float | None], panel: int, shape: str
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": name, "legendgroup": name,
        "showlegend": panel == 0, "x": xs, "y": ys, "yaxis": "y2" if panel else "y",
        "visible": "legendonly" if name == "window" else True,
        "line": {"width": 1.5, "shape": shape}, "meta": {"colour": f"hue-{HUES[name]}"
                 if HUES[name] != "ink" else "ink"},
        "hovertemplate": f"{'AB'[panel]}, {name}: %{{y:,}} at %{{x:.9f}} s<extra></extra>",
    }  # fmt: skip


def _layout(now_s: float, place: str, zoom_s: float, numbers: list[int]) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "height": 2 * PANEL_PX,
        "margin": {"l": 90, "r": 20, "t": 30, "b": 50},
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "xaxis": {
            "title": {"text": f"time at the {place} (s)"},
            "anchor": "y2",
            "range": [now_s - zoom_s, now_s + zoom_s],
        },
        "shapes": [
            {"type": "line", "xref": "x", "yref": "paper", "x0": now_s, "x1": now_s,
             "y0": 0, "y1": 1, "line": {"width": 1, "dash": "dot"}}
        ],
        "annotations": [
            {"text": f"{seconds(round(now_s * NS_PER_S))} s", "x": now_s, "xref": "x", "y": 1,
             "yref": "paper", "showarrow": False, "xanchor": "left", "font": {"size": 12}}
        ],
    }  # fmt: skip
    for number, (run, domain) in enumerate(zip("AB", ([0.53, 1.0], [0.0, 0.47]), strict=True)):
        layout[f"yaxis{2 if number else ''}"] = {
            "title": {"text": f"{run}: sequence number (bytes)"},
            "domain": domain,
            "range": numbers,
            **({"matches": "y"} if number else {}),
        }
    return layout
