"""Site links: the links between the sites of a file, what they do, and when that changes.

A link is a mapping with the two ``sites`` and these keys, which ``there`` (from the first site to
the second) and ``back`` may give anew for one direction:

| key | means |
|---|---|
| ``rtt`` | the link's round-trip time, of which each direction has half |
| ``delay`` | the delay of each direction, in place of ``rtt`` |
| ``rate`` | of each direction; without one nothing waits |
| ``buffer`` | what waits for the rate: ``100packets``, ``50ms``, ``2xBDP`` or ``1MB`` |
| ``queue`` | the qdisc that waits, as of the option `queue` |
| ``loss`` | the probability that a packet is lost |
| ``jitter`` | the largest deviation of the delay |

A rate, an RTT and a delay may change: ``rate: 100Mbit,5s:20Mbit``. Each change is a fault of the
kind ``rate`` or ``delay`` that lasts until the next. A buffer in bytes is counted in packets of
1514 bytes, and one of a ``BDP`` is by the link's own RTT at the start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from farpath.base.errors import BadInputError, on_one_line
from farpath.mechanisms import quantities
from farpath.mechanisms.changes.timeline_text import ChangesText, split_changes
from farpath.planning.deployment import SiteLink
from farpath.planning.faults import MOST_FAULTS
from farpath.planning.file_models import Keyed, Text, Texts, checked, in_part
from farpath.planning.path_options import DEFAULT_MTU_BYTES
from farpath.planning.user_links import parsed_option, with_values
from farpath.planning.yaml_text import nearest, shown
from farpath.spec.changes import RttChanges, timeline
from farpath.spec.path import BUFFER_BYTES_RANGE, ETHERNET_HEADER_BYTES
from farpath.spec.services import DELAY, RATE, Fault
from farpath.spec.user_network import BUFFER_PACKETS_RANGE, Shaping

#: Most links of a file.
MOST_LINKS = 500
FRAME_BYTES = DEFAULT_MTU_BYTES + ETHERNET_HEADER_BYTES


class DirectionModel(Keyed):
    """What a link does to packets of one direction."""

    rate: Text | None = None
    delay: Text | None = None
    buffer: Text | None = None
    queue: Text | None = None
    loss: Text | None = None
    jitter: Text | None = None

    @property
    def texts(self) -> dict[str, str]:
        """The values that are given, by their keys."""
        names = DirectionModel.model_fields
        return {name: text for name in names if (text := getattr(self, name)) is not None}


class LinkModel(DirectionModel):
    """A link of two sites."""

    sites: Texts
    rtt: Text | None = None
    there: DirectionModel | None = None
    back: DirectionModel | None = None


@dataclass(frozen=True)
class _Change:
    """A value that holds from a time on; ``lasts_s``: None for the rest of the run."""

    at_s: float
    lasts_s: float | None
    value: float


@dataclass(frozen=True)
class _Direction:
    """One direction: what it is at first, and the changes of its rate and delay, in s and value."""

    shaping: Shaping
    rates_bps: tuple[_Change, ...]
    delays_ms: tuple[_Change, ...]


def read_links(
    entries: object, sites: Sequence[str], timeout_s: float
) -> tuple[tuple[SiteLink, ...], tuple[Fault, ...]]:
    """Return the links of a file's list, and their changes within a run as faults.

    Raises BadInputError for a link of unknown sites, of a site with itself or of two that have one
    already, for values out of range, and for sites between which there is no way.
    """
    if entries is not None and not isinstance(entries, list):
        raise BadInputError(option="links", given=shown(entries), problem="it must be a list")
    if len(entries or []) > MOST_LINKS:
        raise BadInputError(
            option="links",
            problem=f"there are {len(entries or []):,} of them",
            remedy=f"at most {MOST_LINKS} are possible",
        )
    links: list[SiteLink] = []
    faults: list[Fault] = []
    for number, entry in enumerate(entries or [], 1):
        with in_part(f"links: number {number}"):
            model = checked(LinkModel, entry)
            one, other = _ends(model, sites, links)
        with in_part(f"link {one}-{other}"):
            there, back = _directions(f"{one}-{other}", model, timeout_s)
            links.append(SiteLink(one, other, there.shaping, back.shaping))
            faults += _faults(links[-1], there, back)
        if len(faults) > MOST_FAULTS:
            raise BadInputError(
                option="links",
                problem=f"they change {len(faults):,} times within {timeout_s:g}s",
                remedy=f"at most {MOST_FAULTS:,} changes are possible",
            )
    require_ways(sites, links)
    return tuple(links), tuple(faults)


def require_ways(sites: Sequence[str], links: Sequence[SiteLink]) -> None:
    """Raise BadInputError if no way leads from the first site to another."""
    neighbours: dict[str, list[str]] = {site: [] for site in sites}
    for link in links:
        neighbours[link.one].append(link.other)
        neighbours[link.other].append(link.one)
    todo = list(sites[:1])
    reached = set(todo)
    while todo:
        fresh = [site for site in neighbours[todo.pop()] if site not in reached]
        reached |= set(fresh)
        todo += fresh
    if lost := [site for site in sites if site not in reached]:
        raise BadInputError(
            option="links",
            problem=f"no way leads from {sites[0]} to {', '.join(lost)}",
            remedy=f"link them: {{sites: [{sites[0]}, {lost[0]}], rtt: 80ms}}",
        )


def _ends(model: LinkModel, sites: Sequence[str], before: Sequence[SiteLink]) -> tuple[str, str]:
    if len(model.sites) != 2:
        raise BadInputError(
            option="sites",
            problem=f"there are {len(model.sites)} of them",
            remedy="a link has two, as in sites: [eu, us]",
        )
    one, other = model.sites
    for site in model.sites:
        if site not in sites:
            raise BadInputError(
                option="sites",
                given=on_one_line(site),
                problem=f"there is no such site{nearest(site, sites)}",
                remedy=f"the sites are {', '.join(sites)}",
            )
    if one == other:
        raise BadInputError(
            option="sites", problem=f"{one} is linked with itself", remedy="give two sites"
        )
    if any({link.one, link.other} == {one, other} for link in before):
        raise BadInputError(
            option="sites", problem=f"{one} and {other} have a link already", remedy="give one"
        )
    return one, other


def _directions(name: str, model: LinkModel, timeout_s: float) -> tuple[_Direction, _Direction]:
    """Return what a link does there and back."""
    rtt = None if model.rtt is None else _half("rtt", model.rtt)
    if rtt and model.delay is not None:
        raise BadInputError(
            option="rtt", given=model.rtt, problem="and there is a delay", remedy="give one of them"
        )
    own = [(model.texts | (each.texts if each else {})) for each in (model.there, model.back)]
    delays_ms = [_first_delay_ms(texts, rtt) for texts in own]
    return (
        _direction(name, own[0], rtt, sum(delays_ms), timeout_s),
        _direction(name, own[1], rtt, sum(delays_ms), timeout_s),
    )


def _half(option: str, text: str) -> ChangesText:
    """Return an RTT with its changes as delays of one direction."""
    changes = _changes(option, text)
    values = [
        f"{quantities.RTT_MS.parse(each, option) / 2:.12g}ms"
        for each in (changes.first, *changes.values)
    ]
    return ChangesText(text, values[0], changes.at_s, tuple(values[1:]), changes.period_s)


def _changes(option: str, text: str) -> ChangesText:
    """Split a value from its changes, of which there may be none."""
    return split_changes(text, option) or ChangesText(text, text, (), (), 0.0)


def _first_delay_ms(texts: Mapping[str, str], rtt: ChangesText | None) -> float:
    first = _delay(texts, rtt).first
    return float(_parsed("delay", first)["delay_ms"])


def _delay(texts: Mapping[str, str], rtt: ChangesText | None) -> ChangesText:
    """Return the delay of a direction: its own, half an RTT, or none."""
    if "delay" in texts:
        return _changes("delay", texts["delay"])
    return rtt or ChangesText("0ms", "0ms", (), (), 0.0)


def _direction(
    name: str, texts: Mapping[str, str], rtt: ChangesText | None, rtt_ms: float, timeout_s: float
) -> _Direction:
    delay = _delay(texts, rtt)
    firsts = {**texts, "delay": delay.first}
    rate = None
    if "rate" in texts:
        rate = _changes("rate", texts["rate"])
        firsts["rate"] = rate.first
        rate_bps = quantities.RATE_BPS.parse(rate.first, "rate")
        if "buffer" in texts:
            firsts["buffer"] = _in_packets(texts["buffer"], rate_bps, rtt_ms)
    values: dict[str, Any] = {}
    for option, text in firsts.items():
        values |= _parsed(option, text)
    try:
        shaping = with_values(Shaping(), values, name)
    except BadInputError as error:
        problem = error.problem.removeprefix(f"{name}: ")
        raise BadInputError(problem=problem, remedy=error.remedy) from error
    return _Direction(
        shaping,
        tuple(_times("rate", rate, timeout_s)) if rate else (),
        tuple(_times("delay", delay, timeout_s)),
    )


def _parsed(option: str, text: str) -> dict[str, Any]:
    """Return the fields of ``Shaping`` that a key means; an error names the key."""
    try:
        return parsed_option(option, option, text)
    except BadInputError as error:
        problem = error.problem.removeprefix(f"{option} is ").removeprefix(f"{option}: ")
        raise BadInputError(option=option, problem=problem, remedy=error.remedy) from error


def _in_packets(text: str, rate_bps: int, rtt_ms: float) -> str:
    """Return a buffer as a number of packets: those of full size that its bytes hold."""
    if quantities.parse_buffer_packets(text) is not None:
        return text
    size_bytes = quantities.parse_size(text, "buffer", BUFFER_BYTES_RANGE, (rate_bps, rtt_ms))
    least, most = BUFFER_PACKETS_RANGE
    return f"{min(max(math.ceil(size_bytes / FRAME_BYTES), least), most)}packets"


def _times(option: str, changes: ChangesText, timeout_s: float) -> Iterator[_Change]:
    """Yield when a value is another than the first within a run; in bit/s or ms."""
    if not changes.at_s:
        return
    rounds = timeout_s / changes.period_s if changes.period_s else 1
    if rounds * len(changes.at_s) > MOST_FAULTS:
        raise BadInputError(
            option=option,
            given=changes.text,
            problem=f"it changes more than {MOST_FAULTS:,} times within {timeout_s:g}s",
        )
    quantity = quantities.RATE_BPS if option == "rate" else quantities.DELAY_MS
    first, *later = (quantity.parse(each, option) for each in (changes.first, *changes.values))
    times = RttChanges(changes.at_s, changes.period_s)
    found = [*timeline(first, times, later, timeout_s).changes, (math.inf, first)]
    for (at_s, value), (end_s, _) in pairwise(found):
        if value != first:
            yield _Change(at_s, None if math.isinf(end_s) else round(end_s - at_s, 9), value)


def _faults(link: SiteLink, there: _Direction, back: _Direction) -> Iterator[Fault]:
    """Yield the changes of a link; one of both directions where these change alike."""
    one, other = link.one, link.other
    for kind, on_way, on_return in (
        (RATE, there.rates_bps, back.rates_bps),
        (DELAY, there.delays_ms, back.delays_ms),
    ):
        if on_way == on_return:
            yield from _of_kind(kind, (one, other), on_way, one_way=False)
        else:
            yield from _of_kind(kind, (one, other), on_way, one_way=True)
            yield from _of_kind(kind, (other, one), on_return, one_way=True)


def _of_kind(
    kind: str, of: tuple[str, str], changes: Sequence[_Change], one_way: bool
) -> Iterator[Fault]:
    for change in changes:
        yield Fault(kind, of, change.at_s, change.lasts_s, one_way, change.value)
