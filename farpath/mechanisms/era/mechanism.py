"""Eras: what end hosts are, of 2004 or of today, with processors and buses, from ``eras.toml``."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from farpath.base.column import Column
from farpath.base.errors import BadInputError
from farpath.base.options import HOSTS, Option
from farpath.mechanisms.mechanism import Fact, Mechanism, Recorded, Texts
from farpath.mechanisms.quantities import FREQUENCY_HZ, JITTER_MS, RATE_BPS
from farpath.platforms import platform_of
from farpath.programs.catalog import split_text
from farpath.programs.registry import program_of
from farpath.spec.bus import CLOCKS_HZ, MMRBC_BYTES, Bus
from farpath.spec.era import MODERN, Era
from farpath.spec.plan import Plan
from farpath.spec.processor import BACKLOG_PACKETS, BY_STACK, Processor
from farpath.spec.processor import HINTS as ALLOWED_HINTS
from farpath.spec.qdiscs import FqPacing, nic_qdisc

#: Length of a NIC's queue in packets, and of its ring. Linux allows any number; a
#: longer queue than this would hold more than a second of packets at 1 Gbit/s.
QUEUE_RANGES = {"txqueuelen": (1, 100_000), "ring": (0, 4096)}
#: Other programs, processors of a host, and packets that may wait for them.
PROCESSOR_RANGES = {"load": (0, 100), "processors": (1, 64), "backlog": (1, 100_000)}
#: Whether a packet that finds a full backlog closes it until it is empty.
THROTTLE = "throttle"
#: Whose walks along the list of packets sent are remembered.
HINTS = "hints"
#: Bytes that a bus reads at once, and whether the card makes the packets.
BUS_WORDS = ("mmrbc", "toe")
YES, NO = "yes", "no"
#: Whether end hosts offer selective acknowledgements.
SACK = "net.ipv4.tcp_sack"
#: The qdisc that is a processor (images/kernel/devices/processor.c).
PROCESSOR_QDISC = "processor"
#: The word for a processor that is infinitely fast.
NO_PROCESSOR = "none"
#: Most jitter of a sending host, in ms: its timers are of 1 ms, and 10 ms in 2.4.
MOST_JITTER_MS = 10.0
#: Loss recovery by the word that chooses it; ``images/kernel/stacks/recovery.h`` has the other one.
RECOVERIES = {"today": "", "2.4": "2.4"}
EXAMPLE = "ERA=2004:txqueuelen=1000,ring=0,cpu=2.8GHz,load=1,processors=2"


@dataclass(frozen=True)
class Feature:
    """A difference between hosts of 2004 and of today.

    ``then``, ``now``: behaviour of Linux in 2004 and today. ``set``: settings of the era.
    ``left``: differences that remain.
    """

    name: str
    then: str
    now: str
    set: str
    left: str


@cache
def _data() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("eras.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def era_names() -> tuple[str, ...]:
    """Return the names of all eras."""
    return tuple(_data())


def features(era: str) -> tuple[Feature, ...]:
    """Return how hosts of an era differ from today's; empty for today's."""
    return tuple(Feature(**feature) for feature in _data()[era].get("features", ()))


def title_of(era: str) -> str:
    """Return the title of an era."""
    title: str = _data()[era]["title"]
    return title


def _whole_number(name: str, text: str, allowed: tuple[int, int]) -> int:
    low, high = allowed
    if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
        raise BadInputError(
            option="era",
            problem=f"{name} is '{text}'",
            remedy=f"it must be a whole number from {low} to {high}",
        )
    return int(text)


def _processor(parameters: Mapping[str, str]) -> Processor | None:
    """Return the processor that ``cpu``, ``load`` and ``processors`` describe, if any is given.

    ``cpu=none`` says that there is none: an infinitely fast one.
    """
    numbers = {
        name: _whole_number(name, parameters[name], allowed)
        for name, allowed in PROCESSOR_RANGES.items()
        if name in parameters
    }
    if parameters.get("cpu", NO_PROCESSOR) != NO_PROCESSOR:
        return Processor(
            FREQUENCY_HZ.parse(parameters["cpu"], "era: cpu"),
            load=numbers.get("load", 0),
            processors=numbers.get("processors", 1),
            backlog_packets=numbers.get("backlog", BACKLOG_PACKETS),
            throttles=_one_of(THROTTLE, parameters.get(THROTTLE, NO), (YES, NO)) == YES,
            hints=_one_of(HINTS, parameters.get(HINTS, BY_STACK), ALLOWED_HINTS),
        )
    if words := [word for word in (*PROCESSOR_RANGES, THROTTLE, HINTS) if word in parameters]:
        raise BadInputError(
            option="era",
            problem=f"it has {' and '.join(words)} without cpu",
            remedy=f"give the processor's frequency too, as in {EXAMPLE}",
        )
    return None


def _one_of(name: str, text: str, allowed: Iterable[object]) -> str:
    texts = [str(value) for value in allowed]
    if text not in texts:
        raise BadInputError(
            option="era",
            problem=f"{name} is '{text}'",
            remedy=f"it must be one of {', '.join(texts)}",
        )
    return text


def _bus(parameters: Mapping[str, str]) -> Bus | None:
    """Return the bus that ``bus``, ``mmrbc`` and ``toe`` describe, if any is given."""
    if "bus" not in parameters:
        if words := [word for word in BUS_WORDS if word in parameters]:
            raise BadInputError(
                option="era",
                problem=f"it has {' and '.join(words)} without bus",
                remedy="give the bus too, as in `era=2004:card=10Gbit,bus=133MHz,mmrbc=4096`",
            )
        return None
    return Bus(
        _one_of("bus", parameters["bus"], CLOCKS_HZ),
        int(_one_of("mmrbc", parameters.get("mmrbc", str(MMRBC_BYTES[0])), MMRBC_BYTES)),
        _one_of("toe", parameters.get("toe", NO), (YES, NO)) == YES,
    )


def _sysctl(era: Era, parameters: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings of an era, without selective acknowledgements if ``sack`` says so."""
    if _one_of("sack", parameters.get("sack", YES), (YES, NO)) == YES:
        return era.sysctl
    return {**era.sysctl, SACK: "0"}


def _recovery(parameters: Mapping[str, str]) -> str:
    return RECOVERIES[_one_of("recovery", parameters.get("recovery", "today"), RECOVERIES)]


def _jitter_ms(parameters: Mapping[str, str]) -> float:
    if "jitter" not in parameters:
        return 0.0
    jitter_ms = JITTER_MS.parse(parameters["jitter"], "era: jitter")
    if jitter_ms > MOST_JITTER_MS:
        raise BadInputError(
            option="era",
            problem=f"jitter is '{parameters['jitter']}'",
            remedy=f"it must be at most {MOST_JITTER_MS:g} ms",
        )
    return jitter_ms


def era_text(era: Era) -> str:
    """Return the shortest text that ``era_by_text`` parses to an era."""
    usual = _named(era.name)
    words: dict[str, tuple[int | str | None, int | None]] = {
        "txqueuelen": (era.txqueuelen_packets, usual.txqueuelen_packets),
        "ring": (era.ring_packets, usual.ring_packets),
    }
    if era.card_rate_bps != usual.card_rate_bps and era.card_rate_bps is not None:
        words["card"] = f"{era.card_rate_bps / 1e9:.12g}Gbit", None
    if bus := era.bus:
        words["bus"] = bus.clock, None
        words["mmrbc"] = bus.mmrbc_bytes, MMRBC_BYTES[0]
        words["toe"] = YES if bus.toe else None, None
    if processor := era.processor:
        words["cpu"] = f"{processor.frequency_hz / 1e9:.12g}GHz", None
        words["load"] = processor.load, 0
        words["processors"] = processor.processors, 1
        words["backlog"] = processor.backlog_packets, BACKLOG_PACKETS
        words[THROTTLE] = YES if processor.throttles else None, None
        words[HINTS] = processor.hints if processor.hints != BY_STACK else None, None
    words["sack"] = NO if era.sysctl.get(SACK) != usual.sysctl.get(SACK) else None, None
    words["recovery"] = era.recovery or None, None
    words["jitter"] = f"{era.jitter_ms * 1e3:.12g}us" if era.jitter_ms else None, None
    given = [f"{word}={value}" for word, (value, default) in words.items() if value != default]
    return f"{era.name}:{','.join(given)}" if given else era.name


def _named(name: str) -> Era:
    """Return an era as ``eras.toml`` has it."""
    field_names = {field.name for field in dataclasses.fields(Era)} - {"name"}
    return Era(name, **{key: value for key, value in _data()[name].items() if key in field_names})


def era_by_text(text: str) -> Era:
    """Parse ``2004``, ``modern`` or ``2004:txqueuelen=1000,cpu=2.8GHz``.

    Raises BadInputError for another era, an unknown word, and a value out of range.
    """
    name, parameters = split_text(text) if ":" in text else (text, {})
    if name not in _data():
        raise BadInputError(
            option="era", given=text, remedy=f"it must be one of {', '.join(_data())}"
        )
    era = _named(name)
    if not parameters:
        return era
    known = ["jitter"]
    if era.txqueuelen_packets is not None:
        host = ["cpu", *PROCESSOR_RANGES, THROTTLE, HINTS, "sack", "recovery"]
        known = [*QUEUE_RANGES, "card", "bus", *BUS_WORDS, *host, *known]
    if unknown := sorted(set(parameters) - set(known)):
        raise BadInputError(
            option="era",
            given=text,
            problem=f"'{unknown[0]}' cannot be set",
            remedy=f"what can be set of era {name} is {', '.join(known)}, as in {EXAMPLE}",
        )
    bus, processor = _bus(parameters), _processor(parameters)
    if bus is not None and bus.toe and processor is not None:
        raise BadInputError(
            option="era",
            given=text,
            problem=(
                "a card with TCP offload (toe=yes) does the work that cpu charges to the processor"
            ),
            remedy="leave one of them out",
        )
    queues = {
        word: _whole_number(word, parameters[word], allowed)
        for word, allowed in QUEUE_RANGES.items()
        if word in parameters
    }
    return dataclasses.replace(
        era,
        sysctl=_sysctl(era, parameters),
        txqueuelen_packets=queues.get("txqueuelen", era.txqueuelen_packets),
        ring_packets=queues.get("ring", era.ring_packets),
        card_rate_bps=(
            RATE_BPS.parse(parameters["card"], "era: card")
            if "card" in parameters
            else era.card_rate_bps
        ),
        bus=bus,
        processor=processor,
        recovery=_recovery(parameters),
        jitter_ms=_jitter_ms(parameters),
    )


def _check_processor(plan: Plan) -> None:
    """Refuse the processor of 2004 on a real kernel, whose own processor counts there."""
    if plan.era.processor and platform_of(plan).measures_cpu:
        raise BadInputError(
            option="era",
            problem=(
                "with `lab=host` hosts have this machine's own processor, and the era has cpu"
            ),
            remedy="leave one of them out",
        )


def _check_host_jitter(plan: Plan) -> None:
    """Refuse jitter of hosts whose program gives each packet its time."""
    for stack in plan.stacks if plan.era.jitter_ms else ():
        if program_of(stack).paces_itself:
            raise BadInputError(
                option="era",
                problem=f"it has jitter, and {stack.label} spaces its packets itself",
                remedy="leave jitter out, or run TCP alone",
            )


def _check(plan: Plan) -> None:
    _check_processor(plan)
    _check_host_jitter(plan)


def _apply(plan: Plan, texts: Texts) -> Plan:
    return dataclasses.replace(plan, era=era_by_text(texts["era"]))


def _words(plan: Plan) -> list[str]:
    text = era_text(plan.era)
    return [] if text == MODERN.name else [f"era {text}"]


def _without_card_queue(plan: Plan) -> tuple[str, ...]:
    """Warn of TCP whose host lacks the queue of its card, since its port spaces packets of UDP."""
    if plan.era.txqueuelen_packets is None:
        return ()
    stacks: dict[str, list[str]] = {}
    for flow in plan.schedule.all_flows:
        stack = plan.stack_of(flow)
        if stack.congestion and isinstance(nic_qdisc(plan, flow.sender), FqPacing):
            stacks.setdefault(flow.sender, []).append(stack.label)
    return tuple(
        f"{' and '.join(dict.fromkeys(labels))} at {host} has no queue of txqueuelen and ring, "
        "because the host's port spaces packets of UDP: give TCP a host of its own, as in "
        "SENDERS=rtt=50ms"
        for host, labels in stacks.items()
    )


def acks_dropped(record: Recorded) -> int | None:
    """Return how many packets the full input queues of sending hosts dropped: ACKs, and few pings.

    None for hosts whose processor takes no time.
    """
    if record.plan.era.processor is None:
        return None
    qdiscs = record.readback["after"]["qdiscs"]
    return sum(int(qdisc["drops"]) for qdisc in qdiscs if qdisc["kind"] == PROCESSOR_QDISC)


MECHANISM = Mechanism(
    order=52,
    of_flows="hosts are of today, with the `stack` and `sysctl` that you give",
    options={
        "era": Option(
            "Era of the hosts and of the stacks' forms; of hosts of 2004 also the sender's "
            "transmit queue (txqueuelen), card (card, ring) and bus (bus, mmrbc, toe), and its "
            "processor (cpu, backlog, throttle, hints), with other programs (load) on one or "
            "several (processors).",
            "2004:txqueuelen=1000,cpu=2.8GHz",
            "the stacks' era",
            allowed=", ".join(era_names()),
            group=HOSTS,
            words=era_names,
            after="schedule",
            placeholder="ERA",
        )
    },
    apply=_apply,
    texts=lambda plan: {"era": era_text(plan.era)},
    check=_check,
    warnings=_without_card_queue,
    words=_words,
    host_facts=lambda plan: [Fact("hosts", f"era {era_text(plan.era)}: {title_of(plan.era.name)}")],
    columns=(
        Column(
            "acks_dropped", "ACKs dropped", acks_dropped, 0,
            "ACKs dropped at the sending hosts (packets)", less_is_better=True, counts=True,
        ),
    ),
)  # fmt: skip
