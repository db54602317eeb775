"""Faults: their texts, their mappings, and what a seed draws of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import BadInputError
from farpath.planning.faults import Targets, fault_text, read_faults
from farpath.spec.services import (
    CLOCK_STEP,
    LOSS,
    MOMENTARY,
    OF_LINKS,
    OF_SERVICES,
    PARTITION,
    RATE,
    VALUED,
    Fault,
)
from tests.support.refusals import refused

#: One is called like a site.
SERVICES = ("db", "web-1", "eu")
TARGETS = Targets((("eu", "us"), ("us", "asia-1"), ("a", "b-c"), ("a-b", "c")), SERVICES, 60)


def read(*texts: str, seed: int = 1) -> tuple[Fault, ...]:
    return read_faults(texts, None, TARGETS, seed)


def of_file(*entries: object, seed: int = 1) -> tuple[Fault, ...]:
    return read_faults((), list(entries), TARGETS, seed)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("partition:eu-us,at=12s,for=5s", Fault("partition", ("eu", "us"), 12, 5)),
        ("partition:us>eu,at=0s", Fault("partition", ("us", "eu"), 0, one_way=True)),
        ("link-down:us-asia-1,at=1s", Fault("link-down", ("us", "asia-1"), 1)),
        ("loss:eu-us=30%,at=3s", Fault("loss", ("eu", "us"), 3, value=0.3)),
        ("loss:eu<>us=1,at=3s", Fault("loss", ("eu", "us"), 3, value=1)),
        ("delay:eu-us=200ms,at=3s", Fault("delay", ("eu", "us"), 3, value=200)),
        ("rate:eu-us=1Mbit,at=3s", Fault("rate", ("eu", "us"), 3, value=1_000_000)),
        ("kill:db,at=3s", Fault("kill", ("db",), 3)),
        ("kill:db+web-1,at=3s", Fault("kill", ("db", "web-1"), 3)),
        ("restart:db, at=3s", Fault("restart", ("db",), 3)),
        ("stop:db,at=3s,for=500ms", Fault("stop", ("db",), 3, 0.5)),
        ("full-disk:db,at=3s,for=2s", Fault("full-disk", ("db",), 3, 2)),
        ("clock-step:db=-1.5s,at=3s", Fault("clock-step", ("db",), 3, value=-1.5)),
        ("clock-step:db+web-1=+1h,at=3s", Fault("clock-step", ("db", "web-1"), 3, value=3600)),
        (
            "partition:db-web-1,at=1s",
            Fault("partition", ("db", "web-1"), 1, is_of_services=True),
        ),
        (
            "partition:web-1 + db > eu,at=1s,for=2s",
            Fault("partition", ("web-1+db", "eu"), 1, 2, one_way=True, is_of_services=True),
        ),
    ],
)
def test_a_text_is_a_fault(text: str, fault: Fault) -> None:
    assert read(text) == (fault,)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"partition": ["eu", "us"], "at": "12s", "for": "5s"}, "partition:eu-us,at=12s,for=5s"),
        ({"partition": ["eu", "us"], "at": "1s", "one_way": True}, "partition:eu>us,at=1s"),
        ({"loss": ["eu", "us"], "value": "30%", "at": "1s"}, "loss:eu-us=30%,at=1s"),
        ({"kill": "db", "at": "1s"}, "kill:db,at=1s"),
        ({"kill": ["db", "web-1"], "at": "1s"}, "kill:db+web-1,at=1s"),
        ("kill:db,at=1s", "kill:db,at=1s"),
        ({"partition": ["db", "web-1"], "at": "1s"}, "partition:db<>web-1,at=1s"),
        ({"partition": [["db", "eu"], ["web-1"]], "at": "1s"}, "partition:db+eu<>web-1,at=1s"),
        ({"clock-step": "db", "value": "-30s", "at": "1s"}, "clock-step:db=-30s,at=1s"),
    ],
)
def test_a_mapping_of_a_file_is_a_fault(entry: object, text: str) -> None:
    assert of_file(entry) == read(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "kill", "kill:", "kill:db", "kil:db,at=1s", "kill:dbx,at=1s", "kill:db,db,at=1s",
        "kill:db+db,at=1s", "kill:db,at=3", "kill:db,at=60s", "kill:db,at=50s..70s", "kill:db,at=",
        "kill:db,at=1s,at=2s", "kill:db,at=1s,for=1s", "kill:db=3,at=1s", "stop:db,at=1s,for=0s",
        "stop:db,at=5s..1s", "stop:db,at=1s..", "stop:db,at=1s,probability=2", "loss:eu-us,at=1s",
        "loss:eu-us=0,at=1s", "loss:eu-us=200%,at=1s", "rate:eu-us=1s,at=1s", "partition:eu,at=1s",
        "partition:eu-uk,at=1s", "partition:eu-eu,at=1s", "partition:eu-asia-1,at=1s",
        "partition:eu>,at=1s", "partition:a-b-c,at=1s", "partition:db-us,at=1s",
        "partition:db<>db+web-1,at=1s", "partition:db+db<>web-1,at=1s", "link-down:db-web-1,at=1s",
        "loss:db-web-1=1%,at=1s", "clock-step:db,at=1s", "clock-step:db=0,at=1s",
        "clock-step:db=+-1s,at=1s", "clock-step:db=1ns,at=1s", "clock-step:eu-us=1s,at=1s",
    ],
)  # fmt: skip
def test_what_is_no_fault_is_refused_with_its_text(text: str) -> None:
    with refused("fault", text):
        read(text)


@pytest.mark.parametrize(
    "entry",
    [
        None, 3, [], {}, {"at": "1s"}, {"kill": "db"}, {"kill": None, "at": "1s"},
        {"kill": "db", "stop": "db", "at": "1s"}, {"kill": {"a": "b"}, "at": "1s"},
        {"kill": "db", "at": ["1s"]}, {"kill": "db", "at": "1s", "one_way": True},
        {"partition": ["eu"], "at": "1s"}, {"partition": "eu-us", "at": "1s"},
        {"partition": ["eu", "us", "eu"], "at": "1s"}, {"stop": "db", "at": "1s", "fro": "2s"},
        {"partition": ["eu", "us"], "at": "1s", "one_way": "maybe"},
        {"partition": [["db"], []], "at": "1s"}, {"partition": [["db"], [None]], "at": "1s"},
        {"kill": [["db"]], "at": "1s"}, {"loss": [["db"], "eu"], "value": "1%", "at": "1s"},
    ],
)  # fmt: skip
def test_what_is_no_fault_in_a_file_is_refused_with_its_number(entry: object) -> None:
    with refused("faults"):
        of_file({"kill": "db", "at": "1s"}, entry)


@pytest.mark.parametrize(
    "texts",
    [
        ("stop:db,at=1s", "stop:db,at=3s"),
        ("stop:db,at=1s,for=3s", "stop:db+web-1,at=3s"),
        ("stop:db,at=3s", "stop:db,at=1s,for=1s..4s"),
        ("loss:eu-us=1%,at=1s..9s,for=1s", "loss:us>eu=2%,at=5s,for=1s"),
        ("stop:db,at=1s,probability=0", "stop:db,at=3s"),
        ("partition:db-web-1,at=1s", "partition:web-1>eu+db,at=3s"),
    ],
)
def test_faults_that_may_meet_are_refused_whatever_the_seed(texts: Sequence[str]) -> None:
    for seed in range(5):
        with refused("fault", texts[1]):
            read(*texts, seed=seed)


@pytest.mark.parametrize(
    "texts",
    [
        ("stop:db,at=1s,for=2s", "stop:db,at=3s"),
        ("stop:db,at=1s", "stop:web-1,at=3s"),
        ("stop:db,at=1s", "full-disk:db,at=3s"),
        ("loss:eu>us=1%,at=1s", "loss:us>eu=2%,at=1s"),
        ("kill:db,at=1s..9s", "kill:db,at=1s..9s"),
        ("partition:eu-us,at=1s", "partition:db-eu,at=1s"),
    ],
)
def test_faults_of_other_things_and_times_stand_beside_each_other(texts: Sequence[str]) -> None:
    assert len(read(*texts)) == 2


def test_faults_are_in_order_of_time() -> None:
    assert [fault.at_s for fault in read("kill:db,at=3s", "stop:db,at=1s,for=1s")] == [1, 3]


def test_a_seed_draws_the_times_within_their_ranges_to_a_millisecond() -> None:
    text = "stop:db,at=5s..20s,for=1s..2s"
    (first,), (second,) = read(text, seed=1), read(text, seed=2)
    assert first == read(text, seed=1)[0] != second
    for fault in (first, second):
        assert 5 <= fault.at_s <= 20
        assert fault.lasts_s is not None
        assert 1 <= fault.lasts_s <= 2
        assert round(fault.at_s, 3) == fault.at_s


def test_another_fault_leaves_a_faults_draw_alone() -> None:
    drawn = "kill:web-1,at=1s..50s"
    kept = [fault for fault in read("stop:db,at=1s", drawn) if fault.kind == "kill"]
    other = read("stop:db,at=2s,for=1s,probability=0.5", drawn)
    assert kept == [fault for fault in other if fault.kind == "kill"]


def test_a_probability_is_that_of_happening_at_all() -> None:
    counts = [len(read("kill:db,at=1s,probability=0.25", seed=seed)) for seed in range(400)]
    assert 70 < sum(counts) < 130
    assert not any(read("kill:db,at=1s,probability=0", seed=seed) for seed in range(50))


TIMES = st.integers(0, 59_999).map(lambda ms: ms / 1e3)


@st.composite
def faults(draw: st.DrawFn) -> Fault:
    kind = draw(st.sampled_from((*OF_LINKS, *OF_SERVICES)))
    lasts_s = None
    if kind not in MOMENTARY:
        lasts_s = draw(st.none() | st.integers(1, 86_400_000).map(lambda ms: ms / 1e3))
    if kind in OF_SERVICES:
        of = draw(st.sampled_from((("db",), ("web-1",), ("web-1", "db"))))
        value = 0.0
        if kind == CLOCK_STEP:
            size_ms = draw(st.integers(1, 315_360_000_000))
            value = draw(st.sampled_from((-1, 1))) * size_ms / 1e3
        return Fault(kind, of, draw(TIMES), lasts_s, value=value)
    value = 0.0
    if kind == PARTITION and draw(st.booleans()):
        of = draw(st.sampled_from((("db", "web-1"), ("eu+db", "web-1"), ("web-1", "db+eu"))))
        at_s, one_way = draw(TIMES), draw(st.booleans())
        return Fault(kind, of, at_s, lasts_s, one_way, is_of_services=True)
    if kind == LOSS:
        value = draw(st.integers(1, 10_000)) / 10_000
    elif kind == RATE:
        value = draw(st.integers(100_000, 10**10))
    elif kind in VALUED:
        value = draw(st.integers(0, 5_000_000)) / 1_000
    link = draw(st.sampled_from(TARGETS.links))
    of = link if draw(st.booleans()) else link[::-1]
    return Fault(kind, of, draw(TIMES), lasts_s, draw(st.booleans()), value)


@given(faults())
def test_a_fault_as_text_is_the_fault(fault: Fault) -> None:
    assert read(fault_text(fault)) == (fault,)


@given(st.text(max_size=60))
def test_any_text_is_a_fault_or_refused(text: str) -> None:
    with suppress(BadInputError):
        read(text)
