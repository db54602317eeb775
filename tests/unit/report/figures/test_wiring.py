"""The picture of a topology."""

from __future__ import annotations

import numpy as np
import pytest

from farpath.planning.request import RunRequest
from farpath.report.figures import wiring as pictures
from tests.support.networks import NETWORKS, ROUTED, short_plan
from topologies import lay_out


@pytest.mark.parametrize("words", NETWORKS, ids=str)
def test_a_picture_names_every_host_and_all_that_packets_meet(words: dict[str, str]) -> None:
    plan = short_plan(**words, drop="every:1000")
    layout = lay_out(plan)
    texts = [text.get_text() for text in pictures.draw(plan).axes[0].texts]
    assert {node.name for node in layout.nodes} <= set(texts)
    words_shown = "\n".join(texts)
    narrow = words_shown.count("450 Mbit/s\nbuffer")
    assert narrow == len(layout.bottlenecks)
    assert words_shown.count("drop every:1000") == len(layout.dropping["there"])
    own_mtus = {sender.mtu_bytes for sender in plan.senders} - {plan.path.mtu_bytes}
    assert all(f"MTU {mtu_bytes}" in words_shown for mtu_bytes in own_mtus)


@pytest.mark.parametrize("words", ROUTED, ids=str)
def test_a_picture_and_its_text_name_every_hop(words: dict[str, str]) -> None:
    plan = short_plan(**words)
    shown = [text.get_text() for text in pictures.draw(plan).axes[0].texts]
    assert set(plan.path.hop_names) <= set(shown)
    lines = pictures.as_text(plan).splitlines()
    for number, hop in enumerate(plan.path.hop_names, start=1):
        assert f"r{number}: router {hop}" in lines


def test_a_cable_between_rows_bends_at_its_switch_and_not_at_another_host() -> None:
    plan = RunRequest(rtt="50ms", background="5%+tcp:5%").plan()
    hosts = [pictures._position(node) for node in lay_out(plan).nodes if node.is_host]
    for line in pictures.draw(plan).axes[0].lines:
        first, bend, last = np.asarray(line.get_xydata())
        at_an_end = np.allclose(bend, first) or np.allclose(bend, last)
        assert at_an_end or not any(np.allclose(bend, host) for host in hosts)
