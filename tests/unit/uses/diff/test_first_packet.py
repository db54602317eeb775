"""The first packet in which captures of two runs differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as FilePath

from farpath.captures.segments import SYN
from farpath.uses.diff.first_packet import find, packets_before
from tests.support.packet_files import SERVER, Sent, handshake
from tests.support.two_captures import Frame, ethernet, place_of

PORT = SERVER[1]
MS = 1_000_000


def data(time_ms: float, seq: int, length: int = 1000) -> Sent:
    return Sent(round(time_ms * MS), True, seq, 1, length)


def ack(time_ms: float, number: int) -> Sent:
    return Sent(round(time_ms * MS), False, 1, number)


#: A flow that sends three segments, and has each acknowledged.
FLOW: list[Frame] = [
    *handshake(),
    *(data(50 + number, 1 + 1000 * number) for number in range(3)),
    *(ack(90 + number, 1001 + 1000 * number) for number in range(3)),
    data(100, 3001),
]


def changed(index: int, **fields: object) -> list[Frame]:
    """The flow with other fields in one segment."""
    frames = list(FLOW)
    frames[index] = replace(frames[index], **fields)  # type: ignore[type-var]
    return frames


def test_in_equal_captures_no_packet_differs(tmp_path: FilePath) -> None:
    found = find([place_of(tmp_path, "sender", FLOW, FLOW)], [PORT])
    assert (found.first, found.substance) == (None, None)


def test_a_packet_with_other_data_is_beside_the_one_in_its_place(tmp_path: FilePath) -> None:
    other = changed(4, length=500)
    found = find([place_of(tmp_path, "sender", FLOW, other)], [PORT])
    assert found.first is not None
    assert found.first.index == {"a": 4, "b": 4}
    assert found.first.time_ns == 51 * MS
    assert not found.first.twin_is_late
    assert found.substance is not None
    assert found.substance.index == found.first.index
    assert list(packets_before(found.first, 3)) == [1, 2, 3]


def test_a_packet_that_comes_later_has_its_twin_there(tmp_path: FilePath) -> None:
    # The second run sends its last segment after one more acknowledgement has come
    early, late = data(91.5, 3001), data(92, 3001)
    a: list[Frame] = [*FLOW[:8], early, FLOW[8]]
    b: list[Frame] = [*FLOW[:9], late]
    found = find([place_of(tmp_path, "sender", a, b)], [PORT])
    assert found.first is not None
    assert found.first.run == "a"
    assert found.first.index == {"a": 8, "b": 9}
    assert found.first.twin_is_late


def test_a_packet_that_one_run_lacks_has_no_twin(tmp_path: FilePath) -> None:
    found = find([place_of(tmp_path, "sender", FLOW[:-1], FLOW)], [PORT])
    assert found.first is not None
    assert found.first.run == "b"
    assert found.first.index == {"a": None, "b": len(FLOW) - 1}


def test_of_all_places_the_earliest_counts_and_at_one_time_what_leaves_a_host(
    tmp_path: FilePath,
) -> None:
    other = changed(6, window=7)
    sender = place_of(tmp_path, "sender", FLOW, other)
    early = changed(3, window=7)
    for places, name in (
        ((sender, place_of(tmp_path, "receiver", FLOW, early, sends_first=False)), "receiver"),
        ((sender, place_of(tmp_path, "bottleneck", FLOW, other, is_host=False)), "sender"),
        # The acknowledgement leaves the receiver, and arrives at the sender, at one time
        ((sender, place_of(tmp_path, "receiver", FLOW, other, sends_first=False)), "receiver"),
    ):
        found = find(places, [PORT])
        assert found.first is not None
        assert found.first.place.name == name


def test_runs_with_other_random_numbers_are_told_apart_by_what_tcp_decided(
    tmp_path: FilePath,
) -> None:
    def shifted(frames: list[Frame]) -> list[Frame]:
        """Of another first number, and each packet a microsecond late."""
        moved: list[Frame] = []
        for frame in frames:
            assert isinstance(frame, Sent)
            seq, ack = (5000, 0) if frame.from_client else (0, 5000)
            late_ns = frame.time_ns + 1000
            moved.append(replace(frame, time_ns=late_ns, seq=frame.seq + seq, ack=frame.ack + ack))
        return moved

    found = find([place_of(tmp_path, "sender", FLOW, shifted(changed(5, length=7)))], [PORT])
    assert found.first is not None
    assert found.first.index["a"] == 0
    assert found.substance is not None
    assert found.substance.index == {"a": 5, "b": 5}
    found = find([place_of(tmp_path, "sender", FLOW, shifted(list(FLOW)))], [PORT])
    assert found.first is not None
    assert found.substance is None


def test_packets_that_are_not_tcp_differ_by_bytes_and_time(tmp_path: FilePath) -> None:
    udp = bytes.fromhex("4500001e00000000401100000a0000020a0000010001000a000a0000")
    one: list[Frame] = [(MS, ethernet(True) + udp + b"ab"), (2 * MS, ethernet(True) + udp + b"cd")]
    other: list[Frame] = [one[0], (2 * MS, ethernet(True) + udp + b"ce")]
    late: list[Frame] = [one[0], (2 * MS + 256, ethernet(True) + udp + b"cd")]
    found = find([place_of(tmp_path, "sender", one, other)], [])
    assert found.first is not None
    assert (found.first.index, found.first.twin_is_late) == ({"a": 1, "b": 1}, False)
    found = find([place_of(tmp_path, "sender", one, late)], [])
    assert found.first is not None
    assert (found.first.index, found.first.twin_is_late) == ({"a": 1, "b": 1}, True)


def test_a_data_connection_is_the_one_of_a_port_with_most_bytes(tmp_path: FilePath) -> None:
    control = [replace(one, time_ns=one.time_ns - 50 * MS) for one in handshake(client=77)]
    assert control[0].flags == SYN
    captured = place_of(tmp_path, "sender", [*FLOW, *handshake(client=90_000)], FLOW).a
    connection = captured.data_connection(PORT)
    assert connection is not None
    assert connection.client_bytes == 4000
    assert captured.data_connection(1) is None
