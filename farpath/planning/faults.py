"""Faults of a deployment: their texts, their form in a file, and their moments from a seed.

A text, as of the option `fault`, is ``KIND:WHOM[=VALUE],at=TIME[,for=TIME][,probability=NUMBER]``:

| text | what happens |
|---|---|
| ``partition:eu-us,at=12s,for=5s`` | all packets between two sites are lost, in both directions |
| ``partition:eu>us,at=12s`` | those from eu to us alone, for the rest of the run |
| ``partition:db-web+api,at=12s`` | those of a service from and to others, of any site |
| ``link-down:eu-us,at=1s,for=2s`` | the link of two sites goes down, and comes up again |
| ``loss:eu-us=30%,at=3s,for=1s`` | packets are lost at random |
| ``delay:eu>us=200ms,at=3s,for=1s`` | the delay of each direction that is meant |
| ``rate:eu-us=1Mbit,at=3s,for=1s`` | the rate of each direction that is meant |
| ``kill:db,at=3s`` | a service's processes are killed |
| ``restart:db,at=3s`` | they are asked to end, and the service starts again |
| ``stop:db,at=3s,for=2s`` | they are stopped (SIGSTOP), and go on |
| ``full-disk:db,at=3s,for=2s`` | there is no room for what the service writes |
| ``clock-step:db=-30s,at=3s,for=9s`` | its wall clock is 30 s behind the others, then no more |

``db+web`` are two services at the same instant. Names with a hyphen may be joined by ``<>``. Two
names that sites with a link have are those of the sites. Without ``for`` a fault lasts for the rest
of the run. ``at`` and ``for`` may be ranges, ``at=5s..20s``: a seed draws the time within, to 1 ms.
``probability=0.5``: the seed decides whether it happens at all. The fault's place in the list is a
part of the seed, so that a change of one fault leaves the draws of the others alone. Two faults of
a kind on the same thing must not be able to meet, whatever the seed: a list that is possible with
one seed is with all.

In a file a fault is a mapping, with its kind as the first key and whom it befalls behind that:

    faults:
      - {partition: [eu, us], at: 12s, for: 5s, one_way: true}
      - {partition: [db, [web, api]], at: 12s}
      - {loss: [eu, us], value: 30%, at: 3s..9s, for: 1s}
      - {kill: db, at: 3s, probability: 0.5}

or a text, as of the option.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any, Self

from farpath.base.errors import BadInputError, on_one_line
from farpath.base.units import TIMES, Quantity, whole_number_of
from farpath.mechanisms import quantities
from farpath.planning.deployment import Deployment
from farpath.planning.yaml_text import nearest, text_of
from farpath.spec import services
from farpath.spec.path import LEAST_NETEM_CHANCE, WAY_LOSS_RANGE
from farpath.spec.seeds import stream
from farpath.spec.services import AND, MOMENTARY, OF_LINKS, OF_SERVICES, VALUED, Fault
from farpath.spec.trace import TICK_S

OPTION = "fault"
EXAMPLE = "partition:eu-us,at=12s,for=5s"
#: Most faults of a deployment, changes of its links' rates and delays among them.
MOST_FAULTS = 1_000
#: Least time in s that a fault lasts: that to which times are drawn.
LEAST_S = 1e-3
KINDS = (*OF_LINKS, *OF_SERVICES)
_VALUE_EXAMPLES = {
    services.LOSS: "eu-us=30%",
    services.DELAY: "eu-us=200ms",
    services.RATE: "eu-us=1Mbit",
    services.CLOCK_STEP: "db=-30s",
}
_KEYS = ("value", "at", "for", "one_way", "probability")
_OF_TEXTS = ("at", "for", "probability")
#: By how much a clock is stepped, to either side.
STEP_S = Quantity(
    *("a time in whole milliseconds", "30s", TIMES, "s", (1e-3, 315_360_000.0), float),
    whole_number_of(TICK_S, "milliseconds"),
)
_RANGE = "it must be a time or a range of times, as in 5s or 5s..20s"


@dataclass(frozen=True)
class Targets:
    """What faults may befall.

    ``links``: two sites each. ``services``: names. ``timeout_s``: the run's limit in virtual s,
    which a fault has to precede.
    """

    links: tuple[tuple[str, str], ...]
    services: tuple[str, ...]
    timeout_s: float

    @classmethod
    def of(cls, deployment: Deployment) -> Self:
        """Return what faults of a deployment may befall."""
        links = tuple((link.one, link.other) for link in deployment.links)
        names = tuple(service.name for service in deployment.services)
        return cls(links, names, deployment.timeout_s)

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that have links."""
        return tuple(dict.fromkeys(site for link in self.links for site in link))


@dataclass(frozen=True)
class _Request:
    """A fault as asked for; ``texts``: by key of ``_KEYS``."""

    kind: str
    of: tuple[str, ...]
    one_way: bool
    texts: Mapping[str, str]


@dataclass(frozen=True)
class _Span:
    """When a fault may be there, from the earliest to the latest, and on what."""

    kind: str
    things: frozenset[Any]
    begin_s: float
    end_s: float
    text: str

    def meets(self, other: _Span) -> bool:
        """Whether another fault of this kind may be there at the same time."""
        if self.kind != other.kind or not self.things & other.things:
            return False
        return self.begin_s < other.end_s and other.begin_s < self.end_s


def read_faults(
    texts: Sequence[str],
    entries: object,
    targets: Targets,
    seed: int,
    changes: Sequence[Fault] = (),
    part: str = "",
) -> tuple[Fault, ...]:
    """Return the faults of a file's entries and then of texts, in order of time.

    ``entries``: the list of a file, None for none. ``changes``: of links of the file, which are
    among the faults. ``part``: of which file the entries are, for errors. Raises BadInputError
    about the option `fault`, or the key `faults`, for a fault that is none, for one of what is not
    there, and for two of a kind that may be on the same thing at one time.
    """
    if entries is not None and not isinstance(entries, list):
        raise BadInputError(
            option="faults", problem="it is no list", remedy="give one, as in - kill: db", file=part
        )
    of_file = entries or []
    if len(of_file) + len(texts) > MOST_FAULTS:
        raise BadInputError(
            option="faults" if len(of_file) > len(texts) else OPTION,
            problem=f"there are {len(of_file) + len(texts):,} of them",
            remedy=f"at most {MOST_FAULTS:,} are possible",
            file=part if len(of_file) > len(texts) else "",
        )
    found = list(changes)
    spans = [_span_of(change) for change in changes]
    for place, given in enumerate([*of_file, *texts]):
        rng = stream(seed, "fault", place)
        try:
            is_text = isinstance(given, str)
            request = _of_text(given, targets) if is_text else _of_mapping(given)
            fault, span = _drawn(request, targets, rng)
            _require_free(span, spans)
        except BadInputError as error:
            if place < len(of_file):
                raise BadInputError(
                    option="faults",
                    problem=f"number {place + 1}: {error.problem}",
                    remedy=error.remedy,
                    file=part,
                ) from error
            raise BadInputError(
                option=OPTION,
                given=on_one_line(given),
                problem=error.problem,
                remedy=error.remedy or f"write it as in {EXAMPLE}",
            ) from error
        spans.append(span)
        if fault and fault not in found:
            found.append(fault)
    return in_order(found)


def in_order(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """Return faults in order of time; those of one instant stay as they are."""
    return tuple(sorted(faults, key=lambda fault: fault.at_s))


def fault_text(fault: Fault) -> str:
    """Return a fault as it is typed.

    >>> fault_text(Fault("loss", ("eu", "us"), 3.0, 1.5, one_way=True, value=0.3))
    'loss:eu>us=30%,at=3s,for=1.5s'
    """
    if fault.kind in OF_LINKS:
        has_hyphen = "-" in "".join(fault.of)
        whom = (">" if fault.one_way else "<>" if has_hyphen else "-").join(fault.of)
    else:
        whom = "+".join(fault.of)
    value = f"={_value_text(fault)}" if fault.kind in VALUED else ""
    lasts = "" if fault.lasts_s is None else f",for={fault.lasts_s:.12g}s"
    return f"{fault.kind}:{whom}{value},at={fault.at_s:.12g}s{lasts}"


def _value_text(fault: Fault) -> str:
    if fault.kind == services.LOSS:
        return f"{fault.value * 100:.10g}%"
    if fault.kind == services.DELAY:
        return f"{fault.value:.12g}ms"
    if fault.kind == services.CLOCK_STEP:
        return f"{fault.value:+.12g}s"
    return f"{fault.value / 1e6:.12g}Mbit"


def _of_text(text: str, targets: Targets) -> _Request:
    """Parse a fault's text."""
    head, *words = text.strip().split(",")
    kind, colon, whom = (part.strip() for part in head.partition(":"))
    _require_kind(kind)
    whom, equals, value = (part.strip() for part in whom.partition("="))
    if not (colon and whom) or (equals and not value):
        raise BadInputError(problem=f"{kind} of nothing", remedy=f"write it as in {EXAMPLE}")
    texts = {"value": value} if equals else {}
    for word in words:
        key, equals, value = (part.strip() for part in word.partition("="))
        if key not in _OF_TEXTS or not value or key in texts:
            raise BadInputError(
                problem=f"'{on_one_line(word)}' is none of {', '.join(_OF_TEXTS)}, each once",
                remedy=f"write it as in {EXAMPLE}",
            )
        texts[key] = value
    if kind in OF_SERVICES:
        return _Request(kind, _names(whom), False, texts)
    one_way, of = _sites(whom, targets)
    return _Request(kind, of, one_way, texts)


def _sites(whom: str, targets: Targets) -> tuple[bool, tuple[str, str]]:
    """Split two sites, or groups of services; return whether one direction is meant, and both."""
    for between in ("<>", ">"):
        if between in whom:
            one, _, other = (part.strip() for part in whom.partition(between))
            return between == ">", (one, other)
    parts = whom.split("-")
    splits = [
        ("-".join(parts[:number]), "-".join(parts[number:])) for number in range(1, len(parts))
    ]
    fitting = [pair for pair in splits if set(pair) <= set(targets.sites)] or [
        pair for pair in splits if set(AND.join(pair).split(AND)) <= set(targets.services)
    ]
    if len(fitting) > 1:
        raise BadInputError(
            problem=f"'{whom}' may mean " + " or ".join(f"{a} and {b}" for a, b in fitting),
            remedy=f"write {'<>'.join(fitting[0])}",
        )
    if not splits:
        raise BadInputError(
            problem=f"'{on_one_line(whom)}' is no link",
            remedy="give its sites as in eu-us, or eu>us for one direction",
        )
    return False, fitting[0] if fitting else splits[0]


def _of_mapping(entry: object) -> _Request:
    """Parse a fault's mapping."""
    if not isinstance(entry, dict):
        raise BadInputError(
            problem="it is no mapping", remedy="write it as in {partition: [eu, us], at: 12s}"
        )
    kinds = [key for key in entry if key not in _KEYS]
    if len(kinds) != 1:
        known = ", ".join(KINDS)
        raise BadInputError(
            problem=f"it has {len(kinds)} keys that are kinds of faults"
            + "".join(nearest(kind, (*KINDS, *_KEYS)) for kind in kinds if kind not in KINDS),
            remedy=f"give one of {known}",
        )
    (kind,) = kinds
    _require_kind(kind)
    of = entry[kind] if isinstance(entry[kind], list) else [entry[kind]]
    names = [_side(one) if kind in OF_LINKS else text_of(one) for one in of]
    texts = {key: text_of(value) for key, value in entry.items() if key != kind}
    for key, text in [*texts.items(), *((kind, name) for name in names)]:
        if text is None:
            raise BadInputError(problem=f"{key} is no text", remedy=f"give {key} a text")
    one_way = texts.pop("one_way", "false")
    if one_way not in ("true", "false") or (one_way == "true" and kind in OF_SERVICES):
        raise BadInputError(
            problem=f"one_way is '{on_one_line(str(one_way))}'",
            remedy="it must be true or false, and links alone have directions",
        )
    if kind in OF_LINKS and len(names) != 2:
        raise BadInputError(
            problem=f"{kind} is of {len(names)} sites", remedy=f"give two: {kind}: [eu, us]"
        )
    return _Request(
        kind, tuple(map(str, names)), one_way == "true", {key: str(t) for key, t in texts.items()}
    )


def _side(given: object) -> str | None:
    """Return a site, or services as a text has them; None for what is neither."""
    if not isinstance(given, list):
        return text_of(given)
    names = [text_of(name) for name in given]
    return AND.join(map(str, names)) if names and None not in names else None


def _names(whom: str) -> tuple[str, ...]:
    """Split the services of a text."""
    return tuple(name.strip() for name in whom.split(AND))


def _require_kind(kind: str) -> None:
    if kind not in KINDS:
        raise BadInputError(
            problem=f"'{on_one_line(kind)}' is no kind of fault{nearest(kind, KINDS)}",
            remedy=f"it must be one of {', '.join(KINDS)}",
        )


def _drawn(request: _Request, targets: Targets, rng: Random) -> tuple[Fault | None, _Span]:
    """Return a fault with its times, None for one that the seed leaves out, and when it may be."""
    # Each fault draws three numbers, so that a new option leaves the others' draws alone
    happens, at, lasts = rng.random(), rng.random(), rng.random()
    kind, texts = request.kind, request.texts
    _require_targets(request, targets)
    if "at" not in texts:
        raise BadInputError(problem="it has no time", remedy="say when, as in at=12s")
    low_s, high_s = _times_s("at", texts["at"], 0.0)
    if high_s >= targets.timeout_s:
        raise BadInputError(
            problem=f"at is {texts['at']}, and the run's limit is {targets.timeout_s:g}s",
            remedy="give an earlier time, or the run a longer timeout",
        )
    at_s = _within(low_s, high_s, at)
    lasts_s, longest_s = None, math.inf
    if "for" in texts:
        if kind in MOMENTARY:
            raise BadInputError(
                problem=f"{kind} lasts no time", remedy="leave its duration out, or take stop"
            )
        shortest_s, longest_s = _times_s("for", texts["for"], LEAST_S)
        lasts_s = _within(shortest_s, longest_s, lasts)
    probability = 1.0
    if "probability" in texts:
        name = f"{OPTION}: probability"
        probability = quantities.FRACTION.parse(texts["probability"], name, (0.0, 1.0))
    value = _value(kind, texts.get("value"))
    of, is_of_services = request.of, kind in OF_LINKS and not _is_link(request.of, targets)
    if is_of_services:
        of = tuple(AND.join(_names(side)) for side in of)
    fault = Fault(kind, of, at_s, lasts_s, request.one_way, value, is_of_services)
    is_instant = kind in MOMENTARY
    end_s = low_s if is_instant else high_s + longest_s
    span = _Span(kind, frozenset(_things(fault)), low_s, end_s, fault_text(fault))
    return fault if happens < probability else None, span


def _span_of(fault: Fault) -> _Span:
    end_s = math.inf if fault.lasts_s is None else fault.at_s + fault.lasts_s
    return _Span(fault.kind, frozenset(_things(fault)), fault.at_s, end_s, fault_text(fault))


def _is_link(of: tuple[str, ...], targets: Targets) -> bool:
    return of in targets.links or of[::-1] in targets.links


def _require_targets(request: _Request, targets: Targets) -> None:
    of = request.of
    if request.kind in OF_LINKS and not _is_link(of, targets):
        one, other = of
        of = tuple(name for side in of for name in _names(side))
        if request.kind != services.PARTITION or not set(of) & set(targets.services):
            links = ", ".join("-".join(link) for link in targets.links)
            unknown = [site for site in (one, other) if site not in targets.sites]
            hint = "".join(nearest(site, targets.sites) for site in unknown)
            raise BadInputError(
                problem=f"there is no link of {on_one_line(one)} and {on_one_line(other)}{hint}",
                remedy=f"the links are {links}" if links else "all services are at one site",
            )
    elif request.kind in OF_LINKS:
        return
    for number, name in enumerate(of):
        if name not in targets.services:
            raise BadInputError(
                problem=f"there is no service '{on_one_line(name)}'"
                + nearest(name, targets.services),
                remedy=f"the services are {', '.join(targets.services)}",
            )
        if name in of[:number]:
            raise BadInputError(problem=f"it names {name} twice", remedy="name it once")


def _times_s(key: str, text: str, least_s: float) -> tuple[float, float]:
    """Parse a time or a range of times in s."""
    low, dots, high = (part.strip() for part in text.partition(".."))
    allowed = (least_s, quantities.MOMENT_S_RANGE[1])
    low_s = quantities.MOMENT_S.parse(low, f"{OPTION}: {key}", allowed)
    high_s = quantities.MOMENT_S.parse(high, f"{OPTION}: {key}", allowed) if dots else low_s
    if high_s < low_s:
        raise BadInputError(problem=f"{key} is '{text}', and ends before it begins", remedy=_RANGE)
    return low_s, high_s


def _within(low_s: float, high_s: float, drawn: float) -> float:
    """Return the time of a range at a part of it, to 1 ms; one that is no range as it is."""
    if low_s == high_s:
        return low_s
    return min(max(round(low_s + drawn * (high_s - low_s), 3), low_s), high_s)


def _value(kind: str, text: str | None) -> float:
    if kind not in VALUED:
        if text is not None:
            raise BadInputError(problem=f"{kind} has no value", remedy=f"leave '{text}' out")
        return 0.0
    if text is None:
        example = _VALUE_EXAMPLES[kind]
        raise BadInputError(
            problem=f"{kind} has no value", remedy=f"give one, as in {kind}:{example}"
        )
    name = f"{OPTION}: {kind}"
    if kind == services.LOSS:
        allowed = (LEAST_NETEM_CHANCE, WAY_LOSS_RANGE[1])
        return quantities.FRACTION.parse(text, name, allowed)
    if kind == services.DELAY:
        return quantities.DELAY_MS.parse(text, name)
    if kind == services.CLOCK_STEP:
        size_s = STEP_S.parse(text.removeprefix("-").removeprefix("+"), name)
        return -size_s if text.startswith("-") else size_s
    return quantities.RATE_BPS.parse(text, name)


def _require_free(span: _Span, before: Sequence[_Span]) -> None:
    """Raise BadInputError if a fault may meet one of its kind that is there already."""
    for other in before:
        if span.meets(other):
            raise BadInputError(
                problem=f"it may meet {other.text}, of the same kind, at one time",
                remedy=f"let each {span.kind} end, with for=..., before the next may begin",
            )


def _things(fault: Fault) -> Iterator[Any]:
    """Yield what a fault befalls: services, or directions of a link."""
    if fault.kind in OF_SERVICES:
        yield from fault.of
        return
    pairs = [fault.of]
    if fault.is_of_services:
        pairs = list(product(*fault.sides))
    for pair in pairs:
        yield fault.is_of_services, pair
        if not fault.one_way:
            yield fault.is_of_services, pair[::-1]
