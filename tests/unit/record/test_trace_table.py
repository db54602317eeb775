"""Traces: which connections are asked, what their answers mean, and the table made of them."""

from __future__ import annotations

import dataclasses
import errno
import socket
import struct
from collections.abc import Iterator
from pathlib import Path as FilePath

import numpy as np
import pytest

from farpath.base.errors import BadInputError, CheckFailedError, LabFailedError
from farpath.guest.tracer import CARRIES_DATA_BYTES, Tracer
from farpath.planning.planner import make_plan
from farpath.record import trace_rows, trace_table
from farpath.record.checks import check_trace
from farpath.record.record import Record, Samples, load_record, write_record
from farpath.report.figures.decimate import min_max_points
from farpath.report.figures.run import draw
from farpath.report.html.run_page import curves
from farpath.spec import trace
from farpath.spec.plan import Plan
from farpath.spec.schedule import simultaneous, staggered
from farpath.spec.settings import Settings
from farpath.spec.trace import TracerConfig
from farpath.tools import inet_diag
from farpath.tools import tcp_info as tcpinfo
from farpath.tools.inet_diag import Answer
from tests.support.paths import LONG
from tests.support.plans import with_trace

FIRST, SECOND = 5201, 5202
EXTENSION = b"what a later kernel adds"


def tcp_info(**values: int) -> bytes:
    numbers = {name: 0 for name, _ in tcpinfo.FIELDS} | values
    return tcpinfo.LAYOUT.pack(*numbers.values())


def message(
    port: int, cookie: int, info: bytes, state: int = 1, family: int = socket.AF_INET
) -> bytes:
    """An answer as Linux packs it: struct inet_diag_msg and attributes, aligned to four bytes."""

    def attribute(kind: int, data: bytes) -> bytes:
        return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)

    identity = struct.pack(">HH", 40_000 + cookie, port) + bytes(36) + struct.pack("=Q", cookie)
    body = struct.pack("=BBBB", family, state, 0, 0) + identity + bytes(20)
    shutdown, sockopt = attribute(8, b"\0"), attribute(22, b"\x10\0")
    body += shutdown + sockopt + (attribute(2, info) if info else b"")
    return struct.pack("=IHHII", 16 + len(body), 20, 2, 0, 7) + body


def error(number: int) -> bytes:
    body = struct.pack("=i", -number) + bytes(16)
    return struct.pack("=IHHII", 16 + len(body), inet_diag.NLMSG_ERROR, 0, 0, 7) + body


class Connections:
    """A kernel of which a test says at each moment what connections it has."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.dumps = 0

    def established(self) -> Iterator[Answer]:
        self.dumps += 1
        return inet_diag.answers(b"".join(self.messages))

    def ask(self, identities: list[bytes]) -> Iterator[Answer]:
        there = {answer.identity: answer for answer in self.established()}
        self.dumps -= 1
        (gone,) = inet_diag.answers(error(errno.ENOENT))
        return iter([there.get(identity, gone) for identity in identities])


def orders(*flows: tuple[int, int, int]) -> TracerConfig:
    return TracerConfig(10_000_000, flows, "file", socket.AF_INET, last_in_line=True)


@pytest.fixture
def tracing() -> Plan:
    return with_trace(
        make_plan(LONG, staggered(["reno", "cubic"], 5.0), seed=1, clock="virtual"), 0.01
    )


def rows_of(tracer: Tracer) -> list[tuple[int, int, int]]:
    """Tick, port and cookie of each row taken down."""
    _, blocks = trace_rows.parse(b"".join(tracer.rows.parts(ticks=1, asked=1)))
    return [
        (int(row["tick"]), int(row["port"]), int(row["cookie"])) for row in np.hstack([*blocks])
    ]


def write_raw(
    raw: FilePath, plan: Plan, ticks: int | None = None, asked: int | None = None
) -> None:
    """What a tracer leaves of two flows, each of two connections, 1 MB a second."""
    rows = tcpinfo.Rows()
    for flow in plan.schedule.flows:
        for tick in range(int(flow.start_s * 100) + 5, int(flow.stop_s * 100) + 1):
            acked = int((tick / 100 - flow.start_s) * 1e6)
            control = tcp_info(bytes_acked=300, snd_cwnd=10, snd_mss=1448)
            data = tcp_info(
                bytes_acked=acked, snd_cwnd=tick, snd_mss=1448, ca_state=3, unacked=90,
                sacked=20, lost=5, retrans=2, snd_ssthresh=tcpinfo.INFINITE_SSTHRESH,
                pacing_rate=1000, delivery_rate=500, flags=0xFF, min_rtt=164_000, snd_wnd=7,
            )  # fmt: skip
            rows.add(tick, flow.port, 1, 2 * flow.port, control)
            rows.add(tick, flow.port, 1, 2 * flow.port + 1, data)
    wanted = trace.ticks(plan.schedule.duration_s, plan.settings.trace_interval_s)
    about = {"ticks": ticks or wanted, "asked": asked or ticks or wanted}
    (raw / f"sender{trace.SUFFIX}").write_bytes(b"".join(rows.parts(**about)))


def samples_like(samples: Samples, plan: Plan, bytes_per_s: float = 1e6) -> Samples:
    """Samples whose receivers took so much each second."""
    rows = [
        (flow.name, flow.start_s + k, 8 * bytes_per_s, 0, 1, 1, 1)
        for flow in plan.schedule.flows
        for k in range(1, int(flow.stop_s - flow.start_s) + 1)
    ]
    frame = type(samples.flows)(rows, columns=list(samples.flows.columns))
    return dataclasses.replace(samples, flows=frame)


def test_a_request_is_the_kernels_structure() -> None:
    asked = inet_diag.request(socket.AF_INET)
    assert len(asked) == 16 + 56
    assert struct.unpack_from("=IHH", asked) == (72, 20, 0x301)
    # family, TCP, struct tcp_info, established connections
    assert struct.unpack_from("=BBBxI", asked, 16) == (2, 6, 0b10, 0b10)
    (answer,) = inet_diag.answers(message(FIRST, 5, tcp_info()))
    one = inet_diag.request(socket.AF_INET, answer.identity)
    assert struct.unpack_from("=IHH", one) == (72, 20, 0x1)
    assert one[24:] == answer.identity


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_answers_are_taken_apart(family: int) -> None:
    info = tcp_info(snd_cwnd=10, bytes_acked=1 << 40)
    datagram = message(FIRST, 1, info + EXTENSION, 4, family) + message(SECOND, 2, b"")
    first, second = inet_diag.answers(datagram + error(errno.ENOENT)[:0])
    assert (first.far_port, first.state, first.cookie) == (FIRST, 4, 1)
    assert first.tcp_info == info + EXTENSION
    assert tcpinfo.bytes_acked(first.tcp_info) == 1 << 40
    assert (second.far_port, second.tcp_info) == (SECOND, b"")


def test_a_refusal_has_its_number_and_a_cut_message_is_an_error() -> None:
    (refused,) = inet_diag.answers(error(errno.ENOENT))
    assert (refused.kind, refused.error) == (inet_diag.NLMSG_ERROR, errno.ENOENT)
    with pytest.raises(ValueError, match="netlink message"):
        list(inet_diag.answers(message(FIRST, 1, tcp_info())[:-4]))


def test_the_connection_that_carries_data_is_followed_to_its_end_without_another_dump() -> None:
    kernel = Connections()
    tracer = Tracer(orders((FIRST, 2, 9)), kernel)
    control = message(FIRST, 1, tcp_info(bytes_acked=400))
    slow, fast = (message(FIRST, 2, tcp_info(bytes_acked=CARRIES_DATA_BYTES + n)) for n in (0, 1))
    said = {
        1: [control], 2: [], 3: [control], 4: [control, slow], 5: [control, fast],
        6: [control, fast], 7: [control, fast], 8: [control], 9: [control],
    }  # fmt: skip
    for tick, messages in said.items():
        kernel.messages = messages
        tracer.look(tick)
    # Ticks 2 to 5 looked for it; 6 and 7 asked for it alone; at 8 it was gone
    assert kernel.dumps == 4
    assert rows_of(tracer) == [
        (3, FIRST, 1), (4, FIRST, 1), (4, FIRST, 2), (5, FIRST, 1), (5, FIRST, 2),
        (6, FIRST, 2), (7, FIRST, 2),
    ]  # fmt: skip
    assert tracer.asked == 9


def test_other_connections_are_left_alone_and_a_flow_is_looked_for_in_its_time() -> None:
    kernel = Connections()
    kernel.messages = [message(port, port, tcp_info()) for port in (FIRST, SECOND, 22)]
    tracer = Tracer(orders((FIRST, 0, 1), (SECOND, 1, 2)), kernel)
    for tick in range(4):
        tracer.look(tick)
    assert rows_of(tracer) == [(0, FIRST, FIRST), (1, FIRST, FIRST), (1, SECOND, SECOND),
                               (2, SECOND, SECOND)]  # fmt: skip
    assert kernel.dumps == 3


def test_a_kernel_that_tells_too_little_is_refused() -> None:
    with pytest.raises(ValueError, match="struct tcp_info has 104 bytes"):
        tcpinfo.Rows().add(0, FIRST, 1, 1, bytes(104))


def test_orders_come_back_equal_from_their_line(tracing: Plan) -> None:
    made = trace.tracer_config(
        tracing, trace.flows(tracing), "a file", socket.AF_INET, last_in_line=True
    )
    assert made.flows == ((5201, 0, 1000), (5202, 500, 1000))
    assert TracerConfig.from_json(made.to_json()) == made
    assert b"\n" not in made.to_json()


def test_a_trace_has_the_data_connections_rows_in_units_of_their_names(
    tracing: Plan, tmp_path: FilePath
) -> None:
    write_raw(tmp_path, tracing)
    found = trace_table.from_raw(tmp_path, tracing)
    assert found is not None
    frame = found.frame
    assert list(frame.columns) == list(trace_table.COLUMNS)
    assert (found.ticks, found.asked) == ({"sender": 1001}, {"sender": 1001})
    second = frame[frame["flow"] == "flow2"]
    assert len(frame) == 996 + 496
    assert second["t_s"].tolist()[:2] == [5.05, 5.06]
    row = second.iloc[0].to_dict()
    wanted = {
        "ca_state": "recovery", "cwnd_packets": 505, "ssthresh_packets": -1,
        "in_flight_packets": 67, "mss_bytes": 1448, "pacing_rate_bps": 8000,
        "delivery_rate_bps": 4000, "app_limited": 1, "min_rtt_us": 164_000, "snd_wnd_bytes": 7,
    }  # fmt: skip
    assert {name: row[name] for name in wanted} == wanted


def test_a_run_without_a_trace_has_none(tracing: Plan, tmp_path: FilePath) -> None:
    assert trace_table.from_raw(tmp_path, with_trace(tracing, 0.0)) is None
    assert trace.hosts(with_trace(tracing, 0.0)) == []


def test_a_missing_or_broken_trace_is_a_failed_lab(tracing: Plan, tmp_path: FilePath) -> None:
    with pytest.raises(LabFailedError, match="left no trace"):
        trace_table.from_raw(tmp_path, tracing)
    write_raw(tmp_path, tracing)
    file = tmp_path / f"sender{trace.SUFFIX}"
    whole = file.read_bytes()
    for broken in (whole[:-9], b"", b"{}\n" + whole, b'{"ticks": 1, "asked": 1}\n'):
        file.write_bytes(broken)
        with pytest.raises(LabFailedError, match="trace"):
            trace_table.from_raw(tmp_path, tracing)


@pytest.mark.parametrize(
    ("interval_s", "said"),
    [(0.0005, "0.5 ms"), (0.0101, "10.1 ms"), (11.0, "11000 ms"), (-0.01, "-10 ms")],
)
def test_an_interval_must_be_whole_milliseconds(
    tracing: Plan, interval_s: float, said: str
) -> None:
    with pytest.raises(BadInputError, match=f"TRACE is {said}: it must be whole milliseconds"):
        with_trace(tracing, interval_s)


def test_an_interval_that_a_flow_may_see_no_tick_of_is_refused() -> None:
    plan = make_plan(LONG, staggered(["reno", "reno"], 5.0), seed=1, clock="virtual")
    with pytest.raises(BadInputError, match=r"2\.501 s, more than half of the 5 s that a flow"):
        with_trace(plan, 2.501)
    with_trace(plan, 2.5)


def test_a_trace_of_too_many_samples_is_refused() -> None:
    plan = make_plan(LONG, simultaneous(["reno"] * 10, 600.0), seed=1, clock="virtual")
    with pytest.raises(BadInputError, match=r"6,000,000 samples.* at most 2,500,000"):
        with_trace(plan, 0.001)


def test_a_trace_needs_a_flow_of_the_kernels_tcp_and_says_which_have_none() -> None:
    only = make_plan(LONG, simultaneous(["udt"], 5.0), seed=1, clock="virtual")
    with pytest.raises(BadInputError, match=r"TRACE: no flow is of the kernel's TCP \(udt\)"):
        with_trace(only, 0.01)
    mixed = with_trace(make_plan(LONG, simultaneous(["udt", "reno"], 5.0), 1, "virtual"), 0.01)
    assert [flow.name for flow in trace.flows(mixed)] == ["flow2"]
    assert trace.untraced(mixed) == ["flow1 has no trace: udt is none of the kernel's TCP"]


def test_settings_from_before_there_were_traces_have_none(tracing: Plan) -> None:
    data = tracing.as_dict()
    assert Plan.from_dict(data) == tracing
    del data["settings"]["trace_interval_s"]
    assert Plan.from_dict(data).settings.trace_interval_s == 0.0
    assert Settings().trace_interval_s == 0.0


def test_a_good_trace_passes_its_check(tracing: Plan, samples: Samples, tmp_path: FilePath) -> None:
    write_raw(tmp_path, tracing, ticks=1012)
    found = trace_table.from_raw(tmp_path, tracing)
    assert check_trace(found, samples_like(samples, tracing), tracing) == []
    assert check_trace(None, samples, tracing) == []


@pytest.mark.parametrize(
    ("ticks", "asked", "bytes_per_s", "said"),
    [
        (1000, 1000, 1e6, "1,000 of 1,000 ticks, not of 1,001"),
        (1001, 990, 1e6, "990 of 1,001 ticks"),
        (1001, 1001, 9e6, "flow1 ends with 10.0 MB acknowledged, but its receiver took 90.0 MB"),
    ],
)
def test_a_trace_with_ticks_or_bytes_missing_fails_the_run(
    tracing: Plan, samples: Samples, tmp_path: FilePath,
    ticks: int, asked: int, bytes_per_s: float, said: str,
) -> None:  # fmt: skip
    write_raw(tmp_path, tracing, ticks, asked)
    found = trace_table.from_raw(tmp_path, tracing)
    with pytest.raises(CheckFailedError, match=said):
        check_trace(found, samples_like(samples, tracing, bytes_per_s), tracing)


def test_a_late_machine_in_real_time_is_a_warning(
    tracing: Plan, samples: Samples, tmp_path: FilePath
) -> None:
    real = dataclasses.replace(
        tracing, settings=dataclasses.replace(tracing.settings, clock="wall")
    )
    write_raw(tmp_path, real, 1001, 998)
    found = trace_table.from_raw(tmp_path, real)
    (said,) = check_trace(found, samples_like(samples, real), real)
    assert "the trace of sender lacks 3 of 1,001 ticks" in said


@pytest.fixture
def traced(tracing: Plan, samples: Samples, tmp_path: FilePath) -> Record:
    """A record with a trace."""
    raw = tmp_path / "traced-raw"
    raw.mkdir()
    write_raw(raw, tracing)
    found = trace_table.from_raw(raw, tracing)
    like = samples_like(samples, tracing)
    return write_record(tmp_path / "traced", tracing, like, {}, {"before": {}}, [], raw, found)


def test_a_trace_is_read_back_equal_and_is_no_part_of_the_fingerprint(
    traced: Record, tmp_path: FilePath, tracing: Plan
) -> None:
    again = load_record(traced.directory)
    assert again.trace is not None
    assert trace_table.fingerprint(again.trace) == traced.data["trace"]["fingerprint"]
    assert len(again.trace) == 996 + 496
    # Its samples are in the table, and not once more among the raw output
    assert list((traced.directory / "raw").iterdir()) == []
    plain = write_record(
        tmp_path / "plain", tracing, again.samples, {}, {}, [], tmp_path / "traced-raw"
    )
    assert plain.fingerprint == traced.fingerprint
    assert plain.trace is None
    assert "trace" not in plain.data


def test_a_changed_trace_is_refused(traced: Record) -> None:
    file = traced.directory / "trace.parquet"
    frame = load_record(traced.directory).trace
    assert frame is not None
    frame.loc[7, "cwnd_packets"] += 1
    frame.to_parquet(file)
    with pytest.raises(CheckFailedError, match="the record was changed"):
        _ = load_record(traced.directory).trace
    file.unlink()
    with pytest.raises(CheckFailedError, match="the record was changed"):
        _ = load_record(traced.directory).trace


def test_page_and_figure_draw_windows_from_the_trace(traced: Record) -> None:
    drawn = [line for line in curves(traced)["data"] if line.get("yaxis") == "y3"]
    names = [
        f"{flow.name} {flow.stack} {each}"
        for flow in traced.plan.schedule.flows
        for each in ("window", "ssthresh")
    ]
    assert [line["name"] for line in drawn] == names
    assert drawn[0]["y"][-1] == pytest.approx(1000 * 1448 / 1e6)
    assert set(drawn[1]["y"]) == {None}  # no threshold yet
    figure = draw(traced.samples, traced.plan, trace=traced.trace)
    assert [axes.get_ylabel().split()[0] for axes in figure.axes] == ["ping", "throughput", "cwnd"]
    assert len(draw(traced.samples, traced.plan).axes) == 2


def test_a_thinned_curve_keeps_peaks_and_troughs() -> None:
    y = np.sin(np.arange(100_000) / 100.0)
    y[[31_415, 27_182]] = 5.0, -5.0
    x, thin = min_max_points(np.arange(100_000), y, 1000)
    assert thin.size <= 1000
    assert thin[x == 31_415] == [5.0]
    assert thin[x == 27_182] == [-5.0]
    assert (np.diff(x) > 0).all()
    assert min_max_points([0, 1], [float("nan")] * 2, 2)[1].size == 2
    assert np.isnan(min_max_points(range(9), [float("nan")] * 9, 2)[1]).all()
