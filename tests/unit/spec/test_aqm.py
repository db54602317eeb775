"""Active queues as data: their tc lines, and what a read-back must be."""

from __future__ import annotations

from typing import Any

import pytest

from farpath.base.errors import BadInputError
from farpath.spec.aqm import Aqm
from farpath.spec.qdiscs import LinkBottleneck, TbfBottleneck

FQ_CODEL = Aqm("fq_codel", {"target": 0.005, "noecn": 1})


def _shown(**options: Any) -> dict[str, Any]:
    usual = {"limit": 660, "target": 4999, "memory_limit": 33554432}
    return {"kind": "fq_codel", "options": {**usual, **options}}


def _bottleneck(aqm: Aqm) -> LinkBottleneck:
    return LinkBottleneck(50_000_000, 1_000_000, 1514, aqm=aqm)


def test_the_queue_is_the_child_of_the_exact_rate() -> None:
    tbf = TbfBottleneck(50_000_000, 1_000_000, 1514, aqm=FQ_CODEL, lateness_s=2e-6)
    root, child = tbf.tc_lines("s2-eth2")
    assert "root handle 1: tbf rate 50000000bit" in root
    assert _bottleneck(FQ_CODEL).tc_lines("s2-eth2") == [child]
    assert child == (
        "qdisc add dev s2-eth2 parent 1:1 handle 10: fq_codel limit 660 target 5ms noecn "
        "memory_limit 33554432"
    )


def test_red_and_cake_count_bytes_and_the_others_full_frames() -> None:
    limits = {
        kind: _bottleneck(Aqm(kind)).aqm_limit
        for kind in ("red", "cake", "codel", "fq_codel", "pie", "fq_pie", "dualpi2")
    }
    assert limits == {
        **dict.fromkeys(("red", "cake"), 1_000_000),
        **dict.fromkeys(("codel", "fq_codel", "pie", "fq_pie", "dualpi2"), 660),
    }


def test_a_readback_that_differs_is_described() -> None:
    bottleneck = _bottleneck(FQ_CODEL)
    assert bottleneck.child_differences(_shown()) == []
    assert bottleneck.child_differences(_shown(target=20_000)) == [
        "fq_codel's target is 20000, not 5000.0"
    ]
    assert bottleneck.child_differences(_shown(ecn=True)) == ["fq_codel's ecn is True, not False"]
    assert bottleneck.child_differences({"kind": "codel"}) == ["its queue is codel, not fq_codel"]
    assert bottleneck.child_differences({}) == ["its queue is none, not fq_codel"]


def test_words_of_cake_are_read_back_by_the_name_of_their_choice() -> None:
    cake = Aqm("cake", {"flows": 1, "ack-filter": 1})
    options = {"memlimit": 100_000, "flowmode": "flows", "ack-filter": "enabled"}
    assert cake.differences({"kind": "cake", "options": options}, 100_000) == []
    options["flowmode"] = "triple-isolate"
    (difference,) = cake.differences({"kind": "cake", "options": options}, 100_000)
    assert difference == "cake's flowmode is triple-isolate, not flows"


@pytest.mark.parametrize(
    ("aqm", "marks"),
    [
        (Aqm("red"), False),
        (Aqm("red", {"ecn": 1}), True),
        (Aqm("codel"), False),
        (Aqm("codel", {"ce_threshold": 0.001}), True),
        (Aqm("fq_codel"), True),
        (FQ_CODEL, False),
        (Aqm("pie"), False),
        (Aqm("cake"), True),
        (Aqm("dualpi2"), True),
    ],
    ids=str,
)
def test_a_queue_says_whether_it_marks(aqm: Aqm, marks: bool) -> None:
    assert aqm.marks == marks


@pytest.mark.parametrize(
    ("kind", "parameters", "problem"),
    [
        ("wfq", {}, ""),
        ("codel", {"flows": 3}, "codel has no parameter 'flows'"),
        ("codel", {"target": 11.0}, "codel's target is 11"),
        ("codel", {"ecn": 1, "noecn": 1}, "codel has ecn and noecn"),
        ("cake", {"flows": 1, "hosts": 1}, "cake has hosts and flows"),
        ("red", {"min": 3000, "max": 2000}, "red's min is not below its max"),
    ],
)
def test_what_a_qdisc_does_not_take_is_refused(
    kind: str, parameters: dict[str, float], problem: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        Aqm(kind, parameters)
    assert (caught.value.option, caught.value.problem) == ("queue", problem)
    assert caught.value.given == (None if problem else kind)
