"""A comparison for people: text for a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from farpath.record.record_directory import short_fingerprint
from farpath.report.table import Table, as_wide_text
from farpath.uses.diff.compare import Comparison, Held, Pair
from farpath.uses.diff.first_packet import NS_PER_S, RUNS, other_run
from farpath.uses.diff.held import CONTROL, SCOREBOARD, TIMERS, WINDOW, FromPackets, Sample
from farpath.uses.diff.packet_words import Seen, seconds

EQUAL = "no packet differs"
NO_TRACE = (
    "senders are at several hosts, whose tracers would move packets, or no flow is of the "
    "kernel's TCP"
)
GROUPS = {"congestion control": CONTROL, "window": WINDOW, "scoreboard": SCOREBOARD,
          "timers": TIMERS}  # fmt: skip
#: Fields of a packet for people.
FIELDS = {
    "window_bytes": "window", "sack": "SACK", "tsval": "timestamp", "tsecr": "echoed timestamp",
    "ip_id": "IP identifier", "time_ns": "time", "wire_bytes": "size", "from": "source",
    "to": "target", "ttl": "TTL", "ecn": "ECN",
}  # fmt: skip
BEFORE_TITLE = "Before it there:"


def text(comparison: Comparison) -> str:
    """Return the comparison for a terminal."""
    lines = [*run_lines(comparison), *remarks(comparison), "", verdict(comparison)]
    if comparison.told is None:
        return "\n".join(lines)
    lines += ["", *twin_lines(comparison), ""]
    if comparison.before:
        lines += [BEFORE_TITLE, *before_lines(comparison), ""]
    parts = [as_wide_text(table) for table in state_tables(comparison)]
    return "\n".join([*lines, *parts, *look_further(comparison)])


def state_tables(comparison: Comparison) -> list[Table]:
    """Return the tables of what TCP held; none where the packet is of no flow of TCP."""
    held = comparison.held
    if held is None:
        return []
    has_samples = any(each.before or each.after for each in held.samples.values())
    return [*([samples_table(held)] if has_samples else []), packets_table(held)]


def run_lines(comparison: Comparison) -> list[str]:
    """Return a line for each run: its name, its kernel, its fingerprint."""
    lines = []
    for run, repeated in comparison.runs.items():
        record = repeated.record
        source = str(record.data["provenance"]["kernel"].get("source", ""))
        kernel = f"Linux {record.kernel}" + (f", {source}" if source else "")
        fingerprint = short_fingerprint(record.fingerprint)
        lines.append(f"{run.upper()}  {comparison.names[run]} ({kernel}; {fingerprint})")
    return lines


def remarks(comparison: Comparison) -> list[str]:
    """Return sentences on what was compared and what was not."""
    lines = [one.difference for one in comparison.runs.values() if one.difference]
    count = sum(comparison.counts["a"].values())
    lines.append(f"compared    {count:,} packets of A at {', '.join(comparison.places)}")
    if comparison.left_out:
        lines.append(
            f"left out    {', '.join(comparison.left_out)}: captures have no room for more"
        )
    if not all(one.record.plan.settings.trace_interval_s for one in comparison.runs.values()):
        lines.append(f"no trace    {NO_TRACE}")
    for run, repeated in comparison.runs.items():
        missed = [one for one in repeated.record.data["warnings"] if "the capture of" in one]
        lines += [f"{run.upper()}: {one}" for one in missed]
    return lines


def verdict(comparison: Comparison) -> str:
    """Return the answer in a sentence, and another if the first difference is only in time."""
    if comparison.first is None:
        return EQUAL
    lines = [f"The first packet that differs {sentence(comparison.first)}"]
    if comparison.substance is not None:
        lines.append(
            "TCP decided the same there; the first segment of a flow's data that it decided "
            f"otherwise {sentence(comparison.substance)}"
        )
    return "\n".join(lines)


def sentence(pair: Pair) -> str:
    """Return the predicate of a sentence about a packet in which runs differ."""
    place = pair.difference.place.name
    flow = pair.packet.fields.get("flow", "")
    of_flow = f" of {flow}" if flow else ""
    other = other_run(pair.run).upper()
    return (
        f"{pair.way} the {place} at {pair.packet.time_s} s in {pair.run.upper()}{of_flow}; "
        f"{_twin_words(pair, other)}."
    )


def _twin_words(pair: Pair, other: str) -> str:
    if pair.twin is None:
        return f"{other} has no such packet"
    late_ns = pair.late_ns or 0
    when = "at the same time" if not late_ns else f"{duration(late_ns)} later"
    if pair.is_twin and late_ns:
        return f"{other} has it {when}"
    names = ", ".join(FIELDS.get(name, name) for name in pair.differs_in if name != "time_ns")
    return f"that of {other} comes {when} and differs in {names or 'nothing else'}"


def duration(time_ns: int) -> str:
    """Return a duration for people.

    >>> duration(256), duration(1_500_000), duration(2_000_000_000)
    ('256 ns', '1.500 ms', '2.000 s')
    """
    for unit_ns, unit in ((NS_PER_S, "s"), (10**6, "ms"), (10**3, "us")):
        if time_ns >= unit_ns:
            return f"{time_ns / unit_ns:.3f} {unit}"
    return f"{time_ns} ns"


def twin_lines(comparison: Comparison) -> list[str]:
    """Return a line for the packet that differs, and one for its twin."""
    told = comparison.told
    if told is None:
        return []
    lines = []
    for run in (told.run, other_run(told.run)):
        packet = told.packets[run]
        what = "no such packet" if packet is None else _line(packet)
        lines.append(f"{run.upper()}  {what}")
    return lines


def before_lines(comparison: Comparison) -> list[str]:
    """Return a line for each packet before the difference, the last one last."""
    told = comparison.told
    if told is None:
        return []
    captured = told.difference.place.of(told.run)
    ways = {True: "out ", False: "in  "}
    is_host = told.difference.place.is_host
    return [
        (ways[captured.leaves(packet.fields["packet"] - 1)] if is_host else "") + _line(packet)
        for packet in comparison.before
    ]


def _line(packet: Seen) -> str:
    return f"{packet.time_s}  {packet.words}"


def samples_table(held: Held) -> Table:
    """Return the table of what the sender's TCP held by the trace, before and after the packet."""
    columns = [
        (run, when, getattr(held.samples[run], when))
        for when in ("before", "after")
        for run in RUNS
    ]
    header = (
        "", "",
        *(f"{run.upper()} {when}: {_instant(sample)}" for run, when, sample in columns),
    )  # fmt: skip
    rows = []
    for group, names in GROUPS.items():
        for number, name in enumerate(names):
            values = [_value(sample, name) for _, _, sample in columns]
            rows.append((group if not number else "", name, *_marked(values)))
    note = "* differs. " + _first_other(held)
    title = f"What the sender's TCP held of {held.flow} (struct tcp_info, by the trace)"
    return Table.of_texts(title, header, rows, note)


def _instant(sample: Sample | None) -> str:
    return "none" if sample is None else f"{sample['t_s']:.3f} s"


def _value(sample: Sample | None, name: str) -> str:
    if sample is None:
        return ""
    value = sample[name]
    return "-" if value is None else value if isinstance(value, str) else f"{value:,}"


def _marked(values: Sequence[str]) -> Iterator[str]:
    """Yield the values of A and B before, then after; B's has a star where it differs."""
    for number, value in enumerate(values):
        other = values[number - 1] if number % 2 else value
        yield f"{value} *" if value and other and value != other else value


def _first_other(held: Held) -> str:
    if held.first_other is None:
        return "No two samples of one time differ."
    a, b = held.first_other
    names = [name for names in GROUPS.values() for name in names if a[name] != b[name]]
    listed = ", ".join(f"{name} {_value(a, name)} in A, {_value(b, name)} in B" for name in names)
    return f"Samples differ first at {a['t_s']:.3f} s: {listed}."


def packets_table(held: Held) -> Table:
    """Return the table of what the packets at the sender say just before the difference."""
    rows = []
    for name, words in (
        ("una", "first byte not acknowledged"),
        ("nxt", "first byte never sent"),
        ("outstanding_bytes", "bytes on their way: not acknowledged, not in SACK"),
        ("scoreboard", "SACK scoreboard"),
        ("window_bytes", "receiver's window (bytes)"),
        ("duplicate_acks", "duplicate ACKs in a row"),
        ("sent_again", "segments sent again so far"),
        ("ack_age_ms", "since data was acknowledged (ms)"),
        ("sent_age_ms", "since data was sent (ms)"),
        ("rto_in_ms", "retransmission timer expires in (ms)"),
    ):
        values = [_of_packets(held, run, name) for run in RUNS]
        rows.append((words, *_marked(values)))
    note = (
        "Read from the packets that the sender had sent and received until then: exact, but not "
        "the kernel's own memory. The timer is RFC 6298's: the trace's RTO after the last ACK of "
        "new data, or after the first data behind it."
    )
    return Table.of_texts("What its packets say", ("", "A", "B"), rows, note)


def _of_packets(held: Held, run: str, name: str) -> str:
    packets = held.packets[run]
    if packets is None:
        return "not captured"
    if name == "rto_in_ms":
        return _rto(held.samples[run].before, packets)
    value: Any = getattr(packets, name)
    if name == "scoreboard":
        return " ".join(f"{left}:{right}" for left, right in value) or "empty"
    if value is None:
        return "-"
    return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"


def _rto(sample: Sample | None, packets: FromPackets) -> str:
    since_ms = packets.ack_age_ms if packets.ack_age_ms is not None else packets.sent_age_ms
    if sample is None or sample["rto_us"] is None or since_ms is None or packets.una == packets.nxt:
        return "-"
    return f"{sample['rto_us'] / 1e3 - since_ms:,.3f}"


def look_further(comparison: Comparison) -> list[str]:
    """Return the commands that look into the kernel there, and the files of packets."""
    told = comparison.told
    if told is None:
        return []
    instant = f"--at={seconds(told.difference.time_ns)}s"
    lines = [
        f"{run.upper()} in gdb    {shlex.join(['farpath', 'debug', str(record), instant])}"
        for run, record in comparison.records.items()
    ]
    lines += [f"{run.upper()}'s packets {file}" for run, file in comparison.files.items()]
    return lines
