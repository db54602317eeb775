"""Queue: what the bottleneck's buffer is; ``farpath.spec.aqm`` has the parameters of each kind."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.base.options import PATH, Option
from farpath.mechanisms import quantities
from farpath.mechanisms.mechanism import Fact, Mechanism, Texts
from farpath.platforms import platform_of
from farpath.spec.aqm import DROP_TAIL, KINDS, Aqm, Parameter
from farpath.spec.plan import Plan
from farpath.spec.settings import HOST, VIRTUAL

EXAMPLE = "fq_codel:target=5ms,ecn"
#: All texts that begin a queue.
NAMES = (DROP_TAIL, *KINDS)


@dataclass(frozen=True)
class QueueRequest:
    """A queue as QUEUE gives it. ``aqm``: None for one that drops at its tail.

    ``limit``: its limit as BUFFER takes it, None without one.
    """

    aqm: Aqm | None
    limit: str | None = None


def parse_queue(text: str) -> QueueRequest:
    """Parse a kind of queue with its parameters, separated by commas.

    Raises BadInputError for any other text, for a value out of its range, and for parameters that
    exclude each other.

    >>> parse_queue("fq_codel:target=5ms,limit=1000")
    QueueRequest(aqm=Aqm(kind='fq_codel', parameters={'target': 0.005}), limit='1000packets')
    """
    kind, _, rest = text.strip().partition(":")
    if kind not in NAMES:
        raise BadInputError(
            option="queue",
            given=text,
            remedy=(
                f"it must be one of {', '.join(NAMES)}, with parameters as in "
                f"{EXAMPLE}{_near(kind, NAMES)}"
            ),
        )
    words = [word.strip() for word in rest.split(",")] if rest else []
    if kind == DROP_TAIL:
        if words:
            raise BadInputError(
                option="queue",
                given=text,
                problem=f"{DROP_TAIL} has no parameters",
                remedy="give `buffer`, which it is",
            )
        return QueueRequest(None)
    limit: str | None = None
    parameters: dict[str, float] = {}
    for word in words:
        name, equals, value = word.partition("=")
        known = KINDS[kind].parameters
        limit_name = KINDS[kind].limit_name
        if name in parameters or (name == limit_name and limit is not None):
            raise BadInputError(option="queue", given=text, remedy=f"give {name} once")
        if name == limit_name and equals:
            limit = f"{value}packets" if KINDS[kind].limit_unit == "packets" else value
        elif name in known:
            parameters[name] = _value(text, name, equals, value, known[name])
        else:
            names = (limit_name, *known)
            raise BadInputError(
                option="queue",
                given=text,
                problem=f"{kind} has no parameter '{name}'",
                remedy=f"it takes {', '.join(names)}{_near(name, names)}",
            )
    try:
        return QueueRequest(Aqm(kind, parameters), limit)
    except BadInputError as error:
        raise BadInputError(
            option="queue", given=text, problem=error.problem, remedy=error.remedy
        ) from error


def _near(word: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(word.lower(), list(names), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _value(text: str, name: str, equals: str, value: str, parameter: Parameter) -> float:
    """Parse the value of one parameter, in the unit that it has in a plan."""
    if parameter.unit == "flag":
        if equals:
            raise BadInputError(
                option="queue", given=text, problem=f"{name} is a word without a value"
            )
        return 1
    if not equals:
        raise BadInputError(
            option="queue",
            given=text,
            problem=f"{name} needs a value",
            remedy=f"write it as in {EXAMPLE}",
        )
    owner, allowed = f"queue: {name}", (parameter.least, parameter.most)
    if parameter.unit == "s":
        return quantities.SHORT_TIME_S.parse(value, owner, allowed)
    if parameter.unit == "bytes":
        return quantities.SIZE_BYTES.parse(value, owner, allowed)
    if parameter.unit == "fraction":
        return quantities.FRACTION.parse(value, owner, allowed)
    return quantities.whole(allowed).parse(value, owner)


def check_queue(plan: Plan) -> None:
    """Raise BadInputError for an active queue of the host lab, whose kernel may lack it."""
    if plan.path.queue and not platform_of(plan).boots_kernel:
        raise BadInputError(
            option="queue",
            given=str(plan.path.queue),
            problem=f"`lab` is '{HOST}', and the kernel of another machine may lack it",
            remedy=f"leave `queue` out, or take `lab={VIRTUAL}`",
        )


def _limit(texts: Texts) -> Texts:
    """Return the limit of QUEUE as BUFFER, if it has one; it excludes another."""
    limit = parse_queue(texts["queue"]).limit
    if limit is None:
        return {}
    if "buffer" in texts:
        raise BadInputError(
            option="queue",
            given=texts["queue"],
            problem=f"`buffer` is '{texts['buffer']}', and the limit is the buffer",
            remedy="leave one of them out",
        )
    return {"buffer": limit}


MECHANISM = Mechanism(
    order=25,
    of_programs=True,
    options={
        "queue": Option(
            "The bottleneck's queue: tail drop, or a qdisc of Linux with the parameters of tc, "
            "separated by commas; its limit is `buffer`.",
            EXAMPLE,
            "the path's, else droptail",
            allowed=", ".join(NAMES),
            see="reference/queues.md",
            group=PATH,
            words=lambda: NAMES,
            after="buffer",
            placeholder="QDISC",
            common=True,
        )
    },
    stands_for=lambda texts: _limit(texts) if "queue" in texts else {},
    apply_path=lambda _path, given: {"queue": parse_queue(given["queue"]).aqm} if given else {},
    texts=lambda plan: {"queue": str(plan.path.queue or DROP_TAIL)},
    check=check_queue,
    path_words=lambda path: [f"queue {path.queue}"] if path.queue else [],
    plain_words=f"queue {DROP_TAIL}",
    facts=lambda plan: [Fact("queue", str(plan.path.queue), "queue")] if plan.path.queue else [],
)
