"""The verdict on a case: files that differ, and packets that do not show what it demands."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.uses.interop.quic_packets import EARLY, INITIAL, RETRY, SHORT, QuicPacket
from farpath.uses.interop.testcases import CASES, QUIC_1, QUIC_2, Case, asked_cases
from farpath.uses.interop.verdict import wrong_files, wrong_packets

CLIENT, SERVER = b"client-name", b"srv"


def answered(version: int = QUIC_1, source: bytes = SERVER) -> QuicPacket:
    return QuicPacket(0, True, INITIAL, 1200, version, source)


def case(name: str) -> Case:
    (found,) = asked_cases(name)
    return found


@pytest.mark.parametrize(
    ("name", "packets", "problem"),
    [
        ("handshake", [answered()], ""),
        ("handshake", [answered(), answered(source=b"x")], "2 handshakes in place of 1"),
        (
            "handshake",
            [answered(), QuicPacket(0, True, RETRY, 90, QUIC_1, SERVER, b"t")],
            "the server sent a Retry",
        ),
        ("v2", [answered()], "the server answered in version 0x00000001, not 0x6b3343cf"),
        ("v2", [answered(), answered(QUIC_2)], ""),
        ("retry", [answered()], "the server sent no Retry"),
        (
            "retry",
            [answered(), QuicPacket(0, True, RETRY, 90, QUIC_1, SERVER, b"t")],
            "no Initial packet has the token of the Retry",
        ),
        (
            "retry",
            [
                *(answered(), QuicPacket(0, True, RETRY, 90, QUIC_1, SERVER, b"t")),
                QuicPacket(0, False, INITIAL, 1200, QUIC_1, CLIENT, b"t"),
            ],
            "",
        ),
        (
            "zerortt",
            [answered(), answered(source=b"x")],
            "the client sent nothing in 0-RTT packets",
        ),
        (
            "zerortt",
            [
                *(answered(), answered(source=b"x"), QuicPacket(0, False, EARLY, 300, QUIC_1)),
                QuicPacket(0, False, SHORT, 6_000),
            ],
            "the client sent 6,000 bytes after its handshakes",
        ),
    ],
)
def test_packets_show_whether_a_case_was_what_it_says(
    name: str, packets: list[QuicPacket], problem: str
) -> None:
    assert next(wrong_packets(case(name), packets), "") == problem


def test_files_that_lack_differ_or_are_too_many_are_told(tmp_path: FilePath) -> None:
    downloads = tmp_path / "client" / "downloads"
    downloads.mkdir(parents=True)
    files = {"a": b"1", "b": b"2"}
    (downloads / "a").write_bytes(b"1")
    assert wrong_files(files, tmp_path) == "1 of 2 files are missing"
    (downloads / "b").write_bytes(b"3")
    assert wrong_files(files, tmp_path) == "1 of 2 files differ from the server's"
    (downloads / "b").write_bytes(b"2")
    assert wrong_files(files, tmp_path) == ""
    (downloads / "c").write_bytes(b"")
    assert "1 files that nobody asked for, as c" in wrong_files(files, tmp_path)


def test_names_and_letters_of_cases_are_all_different() -> None:
    for words in ([one.name for one in CASES], [one.letters for one in CASES]):
        assert len(set(words)) == len(words)
