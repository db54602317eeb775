"""The page of a comparison: the packets, what TCP held, and both runs' time-sequence graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from farpath.report.connection_graphs import Graphed, Panel, panels
from farpath.report.html.capture_page import curves_of
from farpath.report.html.render import render
from farpath.uses.diff.compare import Comparison
from farpath.uses.diff.first_packet import NS_PER_S, RUNS, Captured
from farpath.uses.diff.report import (
    before_lines,
    look_further,
    remarks,
    run_lines,
    state_tables,
    twin_lines,
    verdict,
)

GRAPH = "stevens"
#: How many round trips are drawn before the instant and behind it, and at least how much time.
ROUND_TRIPS, LEAST_S = 1.5, 0.01
#: Time on either side that is shown at first if no packet is before, and sequence numbers that are
#: shown at first, in segments.
LEAST_SHOWN_NS, SEGMENTS_SHOWN = 10_000, 15


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
        curves=time_sequences(comparison),
    )


def time_sequences(comparison: Comparison) -> dict[str, Any] | None:
    """Return the curves of both time-sequence graphs, one below the other, around the instant.

    They have one axis of time and one of sequence numbers. None where the packet is of no flow.
    """
    told, held = comparison.told, comparison.held
    if told is None or held is None:
        return None
    plan = comparison.runs["a"].record.plan
    flow = next(flow for flow in plan.schedule.all_flows if flow.name == held.flow)
    place = comparison.captured.get(flow.sender, told.difference.place)
    now_s = told.difference.time_ns / NS_PER_S
    reach_s = max(LEAST_S, ROUND_TRIPS * plan.pair_rtt_ms(flow.sender, flow.receiver) / 1e3)
    drawn = [_panel(place.of(run), run, flow.port, now_s, reach_s) for run in RUNS]
    if None in drawn:
        return None
    shown_s = min(reach_s, _shown_s(comparison))
    curves = curves_of(
        [panel for panel in drawn if panel is not None], (now_s - shown_s, now_s + shown_s)
    )
    nxt = held.packets[told.run]
    layout = curves["layout"]
    layout["xaxis"]["title"]["text"] = f"time at the {place.name} (s)"
    layout["shapes"] = [
        {"type": "line", "xref": "x", "yref": "paper", "x0": now_s, "x1": now_s, "y0": 0, "y1": 1,
         "line": {"width": 1, "dash": "dot"}}
    ]  # fmt: skip
    layout["annotations"] = [
        {"text": f"{told.packet.time_s} s", "x": now_s, "xref": "x", "y": 1, "yref": "paper",
         "showarrow": False, "xanchor": "left", "font": {"size": 12}}
    ]  # fmt: skip
    layout["yaxis2"]["matches"] = "y"
    if nxt is not None:
        reach = SEGMENTS_SHOWN * max(told.packet.fields["length"], plan.path.mtu_bytes)
        for axis in ("yaxis", "yaxis2"):
            layout[axis]["range"] = [nxt.nxt - reach, nxt.nxt + reach]
    named = set[str]()
    for trace in curves["data"]:
        # A name of both graphs stands in the legend once, and shows or hides both
        trace |= {"legendgroup": trace["name"], "showlegend": trace["name"] not in named}
        named.add(trace["name"])
    return curves


def _panel(captured: Captured, run: str, port: int, now_s: float, reach_s: float) -> Panel | None:
    """Return the graph of a flow in one run; None if it has no data there."""
    data = captured.data_of(port)
    if data is None:
        return None
    connection, segments = data
    span_s = (now_s - reach_s, now_s + reach_s)
    graphed = Graphed(connection, segments, from_client=True, zero_ns=0, span_s=span_s)
    (panel,) = panels(graphed, (GRAPH,))
    return replace(panel, axis=f"{run.upper()}: {panel.axis}")


def _shown_s(comparison: Comparison) -> float:
    """Return how much time is shown at first on either side: the packets before, and the twin."""
    told = comparison.told
    assert told is not None
    now_ns = told.difference.time_ns
    first_ns = min((each.fields["time_ns"] for each in comparison.before), default=now_ns)
    return max(now_ns - first_ns, 2 * (told.late_ns or 0), LEAST_SHOWN_NS) / NS_PER_S
