"""Run settings: what runs were made with, as the columns of a table and as words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from farpath.analysis.record_set import Member, RecordSet
from farpath.analysis.results import RunSummary
from farpath.planning.end_host_sysctls import OWN_SETTINGS
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import SEVEN_REGIONS, TOGETHER
from farpath.spec.settings import HOST, VIRTUAL_CLOCK

#: The MTU, era and IP version of which a table says nothing.
USUAL_MTU_BYTES, USUAL_ERA, USUAL_IP = 1500, "modern", 4
#: What follows the window, and so is no setting of its own.
OF_WINDOW = (*OWN_SETTINGS, "net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_wmem")
#: So much of a hash tells one kernel's build or version of the code from another.
SHORT_HASH = 7


@dataclass(frozen=True)
class Setting:
    """A column of a table of runs: its heading, its key with its unit, its text and value.

    ``words``: the text as it is said outside a table.
    """

    heading: str
    key: str
    text: Callable[[Member], str]
    value: Callable[[Member], str | float | int]
    words: str = "{}"


def buffer_text(buffer_bytes: int) -> str:
    """A buffer's size for people.

    >>> buffer_text(1_250_000), buffer_text(31_000)
    ('1.25 MB', '31 kB')
    """
    unit, size = ("MB", 1e6) if buffer_bytes >= 1e6 else ("kB", 1e3)
    return f"{buffer_bytes / size:.4g} {unit}"


def schedule_text(plan: Plan) -> str:
    """A schedule and how long it takes; of one region the length says all."""
    schedule = plan.schedule
    if schedule.name == TOGETHER:
        return f"{schedule.duration_s:g} s"
    regions = "7 regions" if schedule.name == SEVEN_REGIONS else schedule.name
    return f"{regions} of {schedule.region_s:g} s"


#: What every table of runs says of each, in this order.
SETTINGS = (
    Setting("stack", "stack", lambda m: m.stacks, lambda m: m.stacks),
    Setting("RTT ms", "rtt_ms", lambda m: f"{m.plan.path.rtt_ms:g}",
            lambda m: m.plan.path.rtt_ms, "RTT {} ms"),
    Setting("rate Mbit/s", "rate_bps", lambda m: f"{m.plan.path.rate_bps / 1e6:g}",
            lambda m: m.plan.path.rate_bps, "{} Mbit/s"),
    Setting("buffer", "buffer_bytes", lambda m: buffer_text(m.plan.path.buffer_bytes),
            lambda m: m.plan.path.buffer_bytes, "buffer {}"),
    Setting("loss", "loss", lambda m: f"{m.plan.path.loss:g}", lambda m: m.plan.path.loss,
            "loss {}"),
    Setting("schedule", "schedule", lambda m: schedule_text(m.plan),
            lambda m: m.plan.schedule.name),
)  # fmt: skip


def further_settings(records: RecordSet) -> Mapping[str, str]:
    """What else tells a set's runs from the usual and from each other, by record."""
    sysctls, makers = _differing_sysctls(records), _differing_makers(records)
    return {
        member.run.record: ", ".join(
            [
                *_unusual(member.plan),
                *_values(member, sysctls),
                *(look(member.run) for look in makers),
            ]
        )
        for member in records.members
    }


def group_settings(records: RecordSet) -> tuple[str, ...]:
    """Of each group of runs the settings that differ between groups, stacks apart."""
    firsts = [group.members[0] for group in records.groups]
    differing = [
        setting for setting in SETTINGS[1:] if len({setting.text(each) for each in firsts}) > 1
    ]
    further = further_settings(records)
    texts = [
        [*(each.words.format(each.text(first)) for each in differing), further[first.run.record]]
        for first in firsts
    ]
    return tuple(", ".join(filter(None, parts)) for parts in texts)


def _unusual(plan: Plan) -> Iterator[str]:
    """Settings that most runs leave as they are."""
    path, settings = plan.path, plan.settings
    if path.name != "custom":
        yield f"path {path.name}"
    yield from _of_path(path)
    if plan.droppers:
        yield f"drop {' '.join(map(str, plan.droppers))}"
    if plan.senders:
        yield f"senders {' '.join(map(str, plan.senders))}"
    if plan.schedule.reverse:
        yield f"reverse {' + '.join(flow.stack for flow in plan.schedule.reverse)}"
    if plan.bottlenecks > 1:
        yield f"{plan.bottlenecks} bottlenecks"
    if plan.ip_version != USUAL_IP:
        yield f"IPv{plan.ip_version}"
    if plan.era.name != USUAL_ERA:
        yield f"era {plan.era.name}"
    if not settings.delayed_ack:
        yield "each packet acknowledged"
    if plan.images:
        yield f"image {' and '.join(sorted({image.name for image in plan.images.values()}))}"
    if settings.lab == HOST:
        yield "host lab"
    elif settings.clock != VIRTUAL_CLOCK:
        yield f"{settings.clock} clock"


def _of_path(path: Path) -> Iterator[str]:
    if path.mtu_bytes != USUAL_MTU_BYTES:
        yield f"MTU {path.mtu_bytes}"
    if path.sources.get("window_bytes") == "given":
        yield f"window {buffer_text(path.window_bytes)}"
    if path.background:
        yield f"background {path.background.mean_rate_bps / 1e6:.4g} Mbit/s"
    if path.jitter_ms:
        yield f"jitter {path.jitter_ms:g} ms"
    for name in ("reorder", "duplicate"):
        if part := getattr(path, name):
            yield f"{name} {part:g}"


def _differing_sysctls(records: RecordSet) -> tuple[str, ...]:
    """The sysctls in which a set's runs differ, those that follow the window left out."""
    known = [member.plan.path.sysctl for member in records.members]
    names = dict.fromkeys(name for settings in known for name in settings)
    return tuple(
        name
        for name in names
        if name not in OF_WINDOW and len({settings.get(name) for settings in known}) > 1
    )


def _values(member: Member, sysctls: tuple[str, ...]) -> Iterator[str]:
    settings = member.plan.path.sysctl
    return (f"{name}={settings[name]}" for name in sysctls if name in settings)


#: What made a run beside its plan, and among which runs it tells some from others: modules
#: are those of a run's stacks.
_MAKERS: tuple[tuple[Callable[[RunSummary], str], Callable[[Member], str]], ...] = (
    (lambda run: f"kernel {run.kernel or 'unknown'}", lambda _member: ""),
    (lambda run: f"lab {run.lab[:SHORT_HASH]}", lambda _member: ""),
    (lambda run: f"code {run.code[:SHORT_HASH]}", lambda _member: ""),
    (lambda run: f"modules {run.parts[:SHORT_HASH]}", lambda member: member.stacks),
)


def _differing_makers(records: RecordSet) -> tuple[Callable[[RunSummary], str], ...]:
    """What of these a set's runs differ in."""
    differing = []
    for look, among in _MAKERS:
        texts: dict[str, set[str]] = {}
        for member in records.members:
            texts.setdefault(among(member), set()).add(look(member.run))
        if any(len(each) > 1 for each in texts.values()):
            differing.append(look)
    return tuple(differing)
