"""A plan's topology as a picture and as text, from the layout that the lab builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.planning.network import flow_routes
from farpath.report.figures.style import QUIET, RULE, print_style
from farpath.spec.layout import Layout, Link, Node, Port
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import FqMaxrate, FqPacing, NetemDelay, NicQueue, Qdisc, TbfBottleneck
from topologies import lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Inches between neighbours, and what stands around.
COLUMN_IN, ROW_IN, MARGIN_IN = 2.1, 1.0, 0.9
HOST_COLOUR, SWITCH_COLOUR, NARROW_COLOUR = "#dce9f5", "#eeeeee", "#b03020"
#: Of a cable that lies, and of one that stands: from its left or upper end, and towards it.
_ARROWS = {
    True: ("\N{RIGHTWARDS ARROW}", "\N{LEFTWARDS ARROW}"),
    False: ("\N{DOWNWARDS ARROW}", "\N{UPWARDS ARROW}"),
}
#: How far beside a cable its words are.
_BESIDE = 0.07


def rate_text(rate_bps: float) -> str:
    """A rate in the largest unit that leaves it above one.

    >>> rate_text(450_000_000), rate_text(10_000_000_000)
    ('450 Mbit/s', '10 Gbit/s')
    """
    unit, size = ("Gbit/s", 1e9) if rate_bps >= 1e9 else ("Mbit/s", 1e6)
    return f"{rate_bps / size:g} {unit}"


def size_text(size_bytes: float) -> str:
    """A size in MB or kB.

    >>> size_text(10_500_000), size_text(75_000)
    ('10.5 MB', '75 kB')
    """
    return f"{size_bytes / 1e6:g} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:g} kB"


def queue_words(queue: Qdisc) -> list[str]:
    """What a port's queue does to packets, a few words each."""
    if isinstance(queue, NetemDelay):
        more = {
            "jitter": f"{queue.jitter_s * 1e3:g} ms" if queue.jitter_s else "",
            "loss": f"{queue.loss:g}" if queue.loss else "",
            "reorder": f"{queue.reorder:g}" if queue.reorder else "",
            "duplicate": f"{queue.duplicate:g}" if queue.duplicate else "",
        }
        return [
            f"delay {queue.delay_s * 1e3:g} ms",
            *(f"{name} {value}" for name, value in more.items() if value),
        ]
    if isinstance(queue, TbfBottleneck):
        return [rate_text(queue.rate_bps), f"buffer {size_text(queue.buffer_bytes)}"]
    if isinstance(queue, NicQueue):
        return [f"card {rate_text(queue.rate_bps)}", f"{queue.queue_packets} packets"]
    if isinstance(queue, FqMaxrate):
        return [f"paces {rate_text(queue.rate_bps)}"]
    assert isinstance(queue, FqPacing)
    return ["paces"] if queue.rate_bps is None else ["paces", f"card {rate_text(queue.rate_bps)}"]


def _dropper_words(plan: Plan, layout: Layout, port: str) -> list[str]:
    """The droppers that stand where packets arrive at a port."""
    return [
        f"drop {dropper}" for dropper in plan.droppers if port in layout.dropping[dropper.direction]
    ]


def _way_words(plan: Plan, layout: Layout, leaving: Port, arriving: Port) -> list[str]:
    queue = queue_words(leaving.queue) if leaving.queue else []
    return [*queue, *_dropper_words(plan, layout, arriving.name)]


def as_text(plan: Plan) -> str:
    """The topology in lines: a cable's two ways, then who sends to whom."""
    layout = lay_out(plan)
    lines = [f"{plan.topology}, path {plan.path.name}, IPv{plan.ip_version}"]
    for link in layout.links:
        lines.append(f"{link.one.name} -- {link.other.name}: MTU {link.mtu_bytes}")
        for leaving, arriving in ((link.one, link.other), (link.other, link.one)):
            if words := _way_words(plan, layout, leaving, arriving):
                lines.append(f"  {leaving.node} -> {arriving.node}: {', '.join(words)}")
    return "\n".join([*lines, *flow_routes(plan)]) + "\n"


def draw(plan: Plan) -> Figure:
    """The topology as a figure: hosts round, switches square, bottlenecks red."""
    from matplotlib.figure import Figure

    layout = lay_out(plan)
    nodes = {node.name: node for node in layout.nodes}
    columns, rows = [n.column for n in nodes.values()], [n.row for n in nodes.values()]
    notes = flow_routes(plan)
    wide = (max(columns) - min(columns)) * COLUMN_IN + 2 * MARGIN_IN
    high = (max(rows) - min(rows)) * ROW_IN + 2 * MARGIN_IN + 0.16 * len(notes)
    with print_style():
        figure = Figure(figsize=(wide, high))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(min(columns) * COLUMN_IN - MARGIN_IN, max(columns) * COLUMN_IN + MARGIN_IN)
        below = max(rows) * ROW_IN + MARGIN_IN + 0.16 * len(notes)
        axes.set_ylim(below, min(rows) * ROW_IN - MARGIN_IN)
        axes.set_axis_off()
        for link in layout.links:
            _draw_link(axes, plan, layout, link, nodes)
        for node in layout.nodes:
            _draw_node(axes, node)
        figure.text(
            0.02, 1 - 0.1 / high,
            f"{plan.topology}: {plan.path.title}, IPv{plan.ip_version}, MTU {plan.path.mtu_bytes}",
            va="top", fontsize=10, parse_math=False,
        )  # fmt: skip
        figure.text(0.02, 0.1 / high, "\n".join(notes), va="bottom", color=QUIET)
    return figure


def _place(node: Node) -> tuple[float, float]:
    return node.column * COLUMN_IN, node.row * ROW_IN


def _draw_node(axes: Axes, node: Node) -> None:
    shape = "round,pad=0.5" if node.is_host else "square,pad=0.6"
    colour = HOST_COLOUR if node.is_host else SWITCH_COLOUR
    axes.text(
        *_place(node), node.name, ha="center", va="center", zorder=3,
        bbox={"boxstyle": shape, "facecolor": colour, "edgecolor": QUIET, "linewidth": 0.8},
    )  # fmt: skip


def _draw_link(axes: Axes, plan: Plan, layout: Layout, link: Link, nodes: dict[str, Node]) -> None:
    one, other = _place(nodes[link.one.node]), _place(nodes[link.other.node])
    narrow = any(port.name in layout.bottlenecks for port in (link.one, link.other))
    ends = sorted([(one, link.one, link.other), (other, link.other, link.one)], key=_left_first)
    (left, _, _), (right, _, _) = ends
    # A node in another row is reached by a bend, so that cables to one switch do not cross words.
    axes.plot(
        [left[0], right[0], right[0]], [left[1], left[1], right[1]], zorder=1,
        color=NARROW_COLOUR if narrow else RULE, linewidth=1.6 if narrow else 1.0,
    )  # fmt: skip
    flat = left[0] != right[0]
    middle = ((left[0] + right[0]) / 2, left[1] if flat else (left[1] + right[1]) / 2)
    own_mtu = [f"MTU {link.mtu_bytes}"] if link.mtu_bytes != plan.path.mtu_bytes else []
    for place, (_, leaving, arriving) in enumerate(ends):
        lines = _arrowed(_way_words(plan, layout, leaving, arriving), flat, place)
        lines += own_mtu if place else []
        _write(axes, middle, flat, place, "\n".join(lines))


def _left_first(end: tuple[tuple[float, float], Port, Port]) -> tuple[float, float]:
    return end[0]


def _arrowed(words: list[str], flat: bool, place: int) -> list[str]:
    """Words, if there are any, with an arrow that says which way they are about."""
    arrow = _ARROWS[flat][place]
    return [f"{arrow} {words[0]}", *words[1:]] if words else []


def _write(axes: Axes, middle: tuple[float, float], flat: bool, place: int, text: str) -> None:
    """The first way's words above a cable, or left of a steep one; the other's opposite."""
    x, y = middle
    side = -_BESIDE if place == 0 else _BESIDE
    if flat:
        across, along = "center", "bottom" if place == 0 else "top"
        y += side
    else:
        across, along = "right" if place == 0 else "left", "center"
        x += side
    axes.text(x, y, text, fontsize=7, color=QUIET, zorder=2, ha=across, va=along)
