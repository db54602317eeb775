"""The settings of runs, as columns of a table and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from farpath.base.column import Column
from farpath.base.sizes import size_text
from farpath.mechanisms.changes.timeline_text import rate_text, rtt_text
from farpath.mechanisms.draw.mechanism import undrawn
from farpath.mechanisms.mechanism import OF_HOSTS
from farpath.mechanisms.registry import mechanisms
from farpath.metrics.record_set import Member, RecordSet
from farpath.metrics.results import RunSummary
from farpath.planning.end_host_sysctls import OWN_SETTINGS
from farpath.planning.path_options import CUSTOM, choice_text
from farpath.planning.schedules import schedule_option
from farpath.platforms import platform_of
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import SEVEN_REGIONS, TOGETHER
from farpath.spec.settings import VIRTUAL_CLOCK

#: The MTU, IP version and time between samples that tables do not mention.
USUAL_MTU_BYTES, USUAL_IP_VERSION, USUAL_SAMPLE_S = 1500, 4, 1.0
#: Sysctls that follow from the window, so that they are no settings of their own.
WINDOW_SYSCTLS = (*OWN_SETTINGS, "net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_wmem")
#: This many digits of a hash tell kernel builds and versions of the code apart.
SHORT_HASH_DIGITS = 7


def _buffer_text(path: Path) -> str:
    return f"{path.buffer_packets} packets" if path.buffer_packets else size_text(path.buffer_bytes)


def schedule_text(plan: Plan) -> str:
    """Format a schedule and its length; for a single region the length is enough."""
    schedule = undrawn(plan).schedule
    if schedule.name == TOGETHER:
        return f"{schedule.duration_s:g} s"
    regions = "7 regions" if schedule.name == SEVEN_REGIONS else schedule_option(schedule)
    return f"{regions} of {schedule.region_s:g} s"


#: The settings of each run that every table shows, in this order; their words are for texts
#: outside a table.
SETTINGS = (
    Column[Member]("stack", "stack", lambda m: m.stacks, words="{}"),
    Column[Member]("rtt_ms", "RTT ms", lambda m: m.plan.path.rtt_ms, words="RTT {} ms",
                   shown=lambda m: f"{m.plan.path.rtt_ms:g}"),
    Column[Member]("rate_bps", "rate Mbit/s", lambda m: m.plan.path.rate_bps, words="{} Mbit/s",
                   shown=lambda m: f"{m.plan.path.rate_bps / 1e6:g}"),
    Column[Member]("buffer_bytes", "buffer", lambda m: m.plan.path.buffer_bytes,
                   words="buffer {}", shown=lambda m: _buffer_text(m.plan.path)),
    Column[Member]("loss", "loss", lambda m: m.plan.path.loss, words="loss {}",
                   shown=lambda m: f"{m.plan.path.loss:g}"),
    Column[Member]("schedule", "schedule", lambda m: m.plan.schedule.name, words="{}",
                   shown=lambda m: schedule_text(m.plan)),
)  # fmt: skip


def further_settings(records: RecordSet) -> Mapping[str, str]:
    """Return, by record, the settings that differ from the usual or between the runs of a set."""
    sysctls, provenance_parts = _differing_sysctls(records), _differing_provenance(records)
    return {
        member.run.record: ", ".join(
            [
                *_unusual(member.plan),
                *_plain(member.plan, records),
                *_values(member, sysctls),
                *(text_of(member.run) for text_of in provenance_parts),
            ]
        )
        for member in records.members
    }


def further_text(plan: Plan) -> str:
    """Return the settings of a plan that differ from the usual, without those of every table."""
    return ", ".join(text for text in _unusual(plan) if text != f"path {plan.path.name}")


def group_settings(records: RecordSet) -> tuple[str, ...]:
    """Return, for each group of runs, the settings in which groups differ, except the stacks."""
    firsts = [group.members[0] for group in records.groups]
    differing = [
        setting for setting in SETTINGS[1:] if len({setting.text(first) for first in firsts}) > 1
    ]
    further = further_settings(records)
    texts = [
        [
            *(setting.words.format(setting.text(first)) for setting in differing),
            further[first.run.record],
        ]
        for first in firsts
    ]
    return tuple(", ".join(filter(None, parts)) for parts in texts)


def _unusual(plan: Plan) -> Iterator[str]:
    """Return the settings of a plan that differ from the defaults."""
    path, settings = plan.path, plan.settings
    if path.name != CUSTOM:
        yield f"path {path.name}"
    yield from _of_path(path)
    for mechanism in mechanisms():
        if mechanism.order < OF_HOSTS:
            yield from mechanism.words(plan)
            yield from mechanism.path_words(path)
    if plan.senders:
        yield f"senders {' '.join(map(str, plan.senders))}"
    if plan.schedule.reverse:
        yield f"reverse {' + '.join(flow.stack for flow in plan.schedule.reverse)}"
    if plan.bottlenecks > 1:
        yield f"{plan.bottlenecks} bottlenecks"
    if plan.ip_version != USUAL_IP_VERSION:
        yield f"IPv{plan.ip_version}"
    for mechanism in mechanisms():
        if mechanism.order >= OF_HOSTS:
            yield from mechanism.words(plan)
    if settings.sample_interval_s != USUAL_SAMPLE_S:
        yield f"samples of {settings.sample_interval_s:g} s"
    if not settings.delayed_ack:
        yield "each packet acknowledged"
    if plan.images:
        yield f"image {' and '.join(sorted({image.name for image in plan.images.values()}))}"
    if platform_of(plan).measures_cpu:
        yield "host lab"
    elif settings.clock != VIRTUAL_CLOCK:
        yield f"{settings.clock} clock"


def _of_path(path: Path) -> Iterator[str]:
    if path.mtu_bytes != USUAL_MTU_BYTES:
        yield f"MTU {path.mtu_bytes}"
    if path.sources.get("window_bytes") == "given":
        yield f"window {size_text(path.window_bytes)}"


def path_headline(path: Path) -> str:
    """Return the name and title of a path, and why options led to it if they did not name it."""
    choice = choice_text(path)
    return f"path {path.name}: {path.title}{f' ({choice})' if choice else ''}"


def path_line(path: Path) -> str:
    """Return what a path is, on one line.

    >>> from farpath.planning.path_options import resolve_path
    >>> path_line(resolve_path(name="cern"))
    '480 Mbit/s, 164 ms, 11.16 MB, loss 2e-8, cross-traffic 10 %'
    """
    rate, rtt = f"{path.rate_bps / 1e6:g} Mbit/s", f"{path.rtt_ms:g} ms"
    if path.rate_trace:
        rate += f" on average, a trace of {path.rate_trace[-1] / 1e3:g} s"
    parts = [
        rate_text(path) if path.rate_changes else rate,
        rtt_text(path) if path.rtt_changes else rtt,
        _buffer_text(path),
    ]
    if path.loss:
        parts.append(f"loss {path.loss:g}".replace("e-0", "e-"))
    for mechanism in mechanisms():
        parts += (mechanism.line_words or mechanism.path_words)(path)
    if path.mtu_bytes != USUAL_MTU_BYTES:
        parts.append(f"MTU {path.mtu_bytes}")
    return ", ".join(parts)


def _plain(plan: Plan, records: RecordSet) -> Iterator[str]:
    """Yield the words of mechanisms that a run lacks and another run of the set has."""
    for mechanism in mechanisms():
        if not mechanism.plain_words or any(mechanism.path_words(plan.path)):
            continue
        if any(any(mechanism.path_words(member.plan.path)) for member in records.members):
            yield mechanism.plain_words


def _differing_sysctls(records: RecordSet) -> tuple[str, ...]:
    """Return the sysctls in which runs of a set differ, except those that follow the window."""
    all_sysctls = [member.plan.path.sysctl for member in records.members]
    names = dict.fromkeys(name for settings in all_sysctls for name in settings)
    return tuple(
        name
        for name in names
        if name not in WINDOW_SYSCTLS and len({settings.get(name) for settings in all_sysctls}) > 1
    )


def _values(member: Member, sysctls: tuple[str, ...]) -> Iterator[str]:
    settings = member.plan.path.sysctl
    return (f"{name}={settings[name]}" for name in sysctls if name in settings)


#: The provenance of a run that may tell it from others, and among which runs it does: modules are
#: compared between runs of the same stacks.
_PROVENANCE_PARTS: tuple[tuple[Callable[[RunSummary], str], Callable[[Member], str]], ...] = (
    (lambda run: f"kernel {run.kernel or 'unknown'}", lambda _member: ""),
    (lambda run: f"lab {run.lab[:SHORT_HASH_DIGITS]}", lambda _member: ""),
    (lambda run: f"code {run.code[:SHORT_HASH_DIGITS]}", lambda _member: ""),
    (lambda run: f"modules {run.parts[:SHORT_HASH_DIGITS]}", lambda member: member.stacks),
)


def _differing_provenance(records: RecordSet) -> tuple[Callable[[RunSummary], str], ...]:
    """Return the parts of the provenance in which runs of a set differ."""
    differing = []
    for text_of, group_of in _PROVENANCE_PARTS:
        texts: dict[str, set[str]] = {}
        for member in records.members:
            texts.setdefault(group_of(member), set()).add(text_of(member.run))
        if any(len(values) > 1 for values in texts.values()):
            differing.append(text_of)
    return tuple(differing)
