"""A plan's topology as a figure and as text, from the layout that the lab builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.planning.network_options import flow_routes
from farpath.report.figures.style import QUIET, RULE, print_style
from farpath.spec.layout import Layout, Link, Node, Port
from farpath.spec.plan import Plan
from farpath.spec.processor import ProcessorQueue
from farpath.spec.qdiscs import (
    JITTER_RATE_BPS,
    Bottleneck,
    DeliveryBottleneck,
    FqMaxrate,
    FqPacing,
    NetemDelay,
    NicQueue,
    Qdisc,
)
from topologies import lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Inches between neighbours, and the margin around them.
COLUMN_IN, ROW_IN, MARGIN_IN = 2.1, 1.0, 0.9
HOST_COLOUR, SWITCH_COLOUR, ROUTER_COLOUR = "#dce9f5", "#eeeeee", "#e3efdc"
NARROW_COLOUR = "#b03020"
#: Arrows of horizontal and of vertical cables: from the left or upper end, and towards it.
_ARROWS = {
    True: ("\N{RIGHTWARDS ARROW}", "\N{LEFTWARDS ARROW}"),
    False: ("\N{DOWNWARDS ARROW}", "\N{UPWARDS ARROW}"),
}
#: The distance between a cable and its labels.
_LABEL_OFFSET = 0.07
#: The distance of a hop's name below its router.
_HOP_OFFSET = 0.25


def rate_text(rate_bps: float) -> str:
    """Format a rate in the largest unit that leaves it at least one.

    >>> rate_text(450_000_000), rate_text(10_000_000_000)
    ('450 Mbit/s', '10 Gbit/s')
    """
    unit, size = ("Gbit/s", 1e9) if rate_bps >= 1e9 else ("Mbit/s", 1e6)
    return f"{rate_bps / size:g} {unit}"


def size_text(size_bytes: float) -> str:
    """Format a size in MB or kB.

    >>> size_text(10_500_000), size_text(75_000)
    ('10.5 MB', '75 kB')
    """
    return f"{size_bytes / 1e6:g} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:g} kB"


def queue_labels(queue: Qdisc) -> list[str]:
    """Describe what a port's qdisc does to packets, a few words each."""
    if isinstance(queue, NetemDelay):
        impairments = {
            "jitter": f"{queue.jitter_s * 1e3:g} ms" if queue.jitter_s else "",
            "loss": f"{queue.loss:g}" if queue.loss else "",
            "reorder": f"{queue.reorder:g}" if queue.reorder else "",
            "duplicate": f"{queue.duplicate:g}" if queue.duplicate else "",
        }
        return [
            *([f"delay {queue.delay_s * 1e3:g} ms"] if queue.delay_s else []),
            *(["changing delay"] if queue.changes else []),
            *(f"{name} {value}" for name, value in impairments.items() if value),
        ]
    if isinstance(queue, Bottleneck):
        packets = f"{queue.buffer_packets} packets"
        size = packets if queue.buffer_packets else size_text(queue.buffer_bytes)
        rate = (
            [f"trace, mean {rate_text(queue.rate_bps)}"]
            if isinstance(queue, DeliveryBottleneck)
            else [rate_text(queue.rate_bps), *(["changing"] if queue.changes else [])]
        )
        return [*rate, f"{queue.aqm_kind or 'buffer'} {size}"]
    if isinstance(queue, NicQueue):
        jitter = [f"jitter {queue.jitter_s * 1e6:g} us"] if queue.jitter_s else []
        if queue.rate_bps == JITTER_RATE_BPS:
            return jitter
        return [f"card {rate_text(queue.rate_bps)}", f"{queue.queue_packets} packets", *jitter]
    if isinstance(queue, ProcessorQueue):
        return ["slow processor"]
    if isinstance(queue, FqMaxrate):
        return [f"paces {rate_text(queue.rate_bps)}"]
    assert isinstance(queue, FqPacing)
    return ["paces"] if queue.rate_bps is None else ["paces", f"card {rate_text(queue.rate_bps)}"]


def _dropper_labels(plan: Plan, layout: Layout, port: str) -> list[str]:
    """Describe the droppers where packets arrive at a port."""
    return [
        f"drop {dropper}" for dropper in plan.droppers if port in layout.dropping[dropper.direction]
    ]


def _direction_labels(
    plan: Plan, layout: Layout, link: Link, leaving: Port, arriving: Port
) -> list[str]:
    far = []
    if link.far_delays_s:
        far_s = link.far_delays_s[0 if leaving == link.one else 1]
        far = [f"far link {far_s * 1e3:g} ms"]
    queue = queue_labels(leaving.queue) if leaving.queue else []
    return [*far, *queue, *_dropper_labels(plan, layout, arriving.name)]


def as_text(plan: Plan) -> str:
    """Return the topology as lines: both directions of each cable, then the routes of flows."""
    layout = lay_out(plan)
    lines = [f"{plan.topology}, path {plan.path.name}, IPv{plan.ip_version}"]
    lines += [f"{node.name}: router {node.hop}" for node in layout.nodes if node.hop]
    for link in layout.links:
        lines.append(f"{link.one.name} -- {link.other.name}: MTU {link.mtu_bytes}")
        for leaving, arriving in ((link.one, link.other), (link.other, link.one)):
            if labels := _direction_labels(plan, layout, link, leaving, arriving):
                lines.append(f"  {leaving.node} -> {arriving.node}: {', '.join(labels)}")
    return "\n".join([*lines, *flow_routes(plan)]) + "\n"


def draw(plan: Plan) -> Figure:
    """Draw the topology: round hosts, square switches, routers with hops, red bottlenecks."""
    from matplotlib.figure import Figure

    layout = lay_out(plan)
    nodes = {node.name: node for node in layout.nodes}
    columns, rows = [n.column for n in nodes.values()], [n.row for n in nodes.values()]
    notes = flow_routes(plan)
    width = (max(columns) - min(columns)) * COLUMN_IN + 2 * MARGIN_IN
    height = (max(rows) - min(rows)) * ROW_IN + 2 * MARGIN_IN + 0.16 * len(notes)
    with print_style():
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(min(columns) * COLUMN_IN - MARGIN_IN, max(columns) * COLUMN_IN + MARGIN_IN)
        bottom = max(rows) * ROW_IN + MARGIN_IN + 0.16 * len(notes)
        axes.set_ylim(bottom, min(rows) * ROW_IN - MARGIN_IN)
        axes.set_axis_off()
        for link in layout.links:
            _draw_link(axes, plan, layout, link, nodes)
        for node in layout.nodes:
            _draw_node(axes, node)
        figure.text(
            0.02, 1 - 0.1 / height,
            f"{plan.topology}: {plan.path.title}, IPv{plan.ip_version}, MTU {plan.path.mtu_bytes}",
            va="top", fontsize=10, parse_math=False,
        )  # fmt: skip
        figure.text(0.02, 0.1 / height, "\n".join(notes), va="bottom", color=QUIET)
    return figure


def _position(node: Node) -> tuple[float, float]:
    return node.column * COLUMN_IN, node.row * ROW_IN


def _draw_node(axes: Axes, node: Node) -> None:
    shape = "round,pad=0.5" if node.is_host else "square,pad=0.6"
    colour = HOST_COLOUR if node.is_host else ROUTER_COLOUR if node.hop else SWITCH_COLOUR
    axes.text(
        *_position(node), node.name, ha="center", va="center", zorder=3,
        bbox={"boxstyle": shape, "facecolor": colour, "edgecolor": QUIET, "linewidth": 0.8},
    )  # fmt: skip
    if node.hop:
        x, y = _position(node)
        axes.text(
            x, y + _HOP_OFFSET, node.hop, fontsize=7, color=QUIET, zorder=3,
            ha="right", va="top", rotation=45, rotation_mode="anchor", parse_math=False,
        )  # fmt: skip


def _draw_link(axes: Axes, plan: Plan, layout: Layout, link: Link, nodes: dict[str, Node]) -> None:
    first, second = _position(nodes[link.one.node]), _position(nodes[link.other.node])
    is_bottleneck = any(port.name in layout.bottlenecks for port in (link.one, link.other))
    ends = sorted([(first, link.one, link.other), (second, link.other, link.one)], key=_left_first)
    (left, _, _), (right, _, _) = ends
    # A cable to a node in another row has a bend, so that it does not cross the labels of others.
    # It is at the switch: beside a host with one cable, another host may stand above or below.
    # Between switches it is at the upper one, from which others may branch off.
    left_node, right_node = nodes[ends[0][1].node], nodes[ends[1][1].node]
    branches = not left_node.is_host or len(layout.host_ports(left_node.name)) > 1
    is_at_left = branches and (right_node.is_host or left_node.row < right_node.row)
    bend = (left[0], right[1]) if is_at_left else (right[0], left[1])
    axes.plot(
        [left[0], bend[0], right[0]], [left[1], bend[1], right[1]], zorder=1,
        color=NARROW_COLOUR if is_bottleneck else RULE, linewidth=1.6 if is_bottleneck else 1.0,
    )  # fmt: skip
    horizontal = left[0] != right[0]
    row = right[1] if is_at_left else left[1]
    middle = ((left[0] + right[0]) / 2, row if horizontal else (left[1] + right[1]) / 2)
    own_mtu = [f"MTU {link.mtu_bytes}"] if link.mtu_bytes != plan.path.mtu_bytes else []
    for index, (_, leaving, arriving) in enumerate(ends):
        lines = _with_arrow(
            _direction_labels(plan, layout, link, leaving, arriving), horizontal, index
        )
        lines += own_mtu if index else []
        _write(axes, middle, horizontal, index, "\n".join(lines))


def _left_first(end: tuple[tuple[float, float], Port, Port]) -> tuple[float, float]:
    return end[0]


def _with_arrow(labels: list[str], horizontal: bool, index: int) -> list[str]:
    """Prefix labels, if there are any, with the arrow of their direction."""
    arrow = _ARROWS[horizontal][index]
    return [f"{arrow} {labels[0]}", *labels[1:]] if labels else []


def _write(
    axes: Axes, middle: tuple[float, float], horizontal: bool, index: int, text: str
) -> None:
    """Write the labels of one direction above or left of a cable, those of the other opposite."""
    x, y = middle
    offset = -_LABEL_OFFSET if index == 0 else _LABEL_OFFSET
    if horizontal:
        ha, va = "center", "bottom" if index == 0 else "top"
        y += offset
    else:
        ha, va = "right" if index == 0 else "left", "center"
        x += offset
    axes.text(x, y, text, fontsize=7, color=QUIET, zorder=2, ha=ha, va=va)
