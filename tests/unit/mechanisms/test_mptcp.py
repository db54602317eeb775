"""MPTCP of hosts with several links: roles, texts that are refused, and subflows summed up."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import pandas as pd
import pytest

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.mechanisms.mptcp import subflow_table
from farpath.mechanisms.mptcp.mechanism import MECHANISM, mptcp_text
from farpath.planning.request import RunRequest
from farpath.planning.rules import check_plan
from farpath.record.record import Samples
from farpath.report.figures.run_over_time import draw
from farpath.spec.mptcp import mptcp_of
from farpath.spec.plan import Plan
from farpath.spec.protocol import SUBFLOWS_FILE
from farpath.spec.user_network import Cable, Shaping, UserNetwork
from tests.support.curves import ys
from tests.support.user_networks import own_plan

RATED = Shaping(10_000_000, 50, delay_ms=10.0)


def two_paths(joined: bool) -> UserNetwork:
    """Hosts h1 and h2 with two links each, to switches that are joined or not."""
    ends = [("h1", 0, "s1", 1), ("h1", 1, "s2", 1), ("s1", 2, "h2", 0), ("s2", 2, "h2", 1)]
    cables = [Cable(*each, RATED, RATED) for each in ends]
    if joined:
        cables.append(Cable("s1", 3, "s2", 3))
    return UserNetwork(("h1", "h2"), ("s1", "s2"), tuple(cables))


def plan_of(joined: bool = True, flows: str = "h1>h2:mptcp", mptcp: str | None = None) -> Plan:
    """A plan of one flow over two paths."""
    given = {} if mptcp is None else {"mptcp": mptcp}
    plan = own_plan(two_paths(joined), flows, **given)
    check_plan(plan)
    return plan


@pytest.mark.parametrize(("joined", "role"), [(True, "subflow"), (False, "fullmesh")])
def test_a_sender_reaches_the_first_link_or_all_and_a_receiver_tells_of_its_links(
    joined: bool, role: str
) -> None:
    mptcp = mptcp_of(plan_of(joined))
    assert mptcp
    assert mptcp.roles == {"h1": role, "h2": "signal"}


def test_roles_and_scheduler_come_from_the_option_and_go_back_to_its_text() -> None:
    plan = plan_of(mptcp="h1=backup scheduler=burst")
    mptcp = mptcp_of(plan)
    assert mptcp
    assert (mptcp.roles, mptcp.scheduler) == ({"h1": "backup", "h2": "signal"}, "burst")
    assert mptcp_text(plan) == "h1=backup,scheduler=burst"
    assert mptcp_of(plan_of(flows="h1>h2:cubic")) is None


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"mptcp": "h1"}, "'h1' is no role of a host"),
        ({"mptcp": "h1=all"}, "it must be one of subflow, backup, fullmesh, signal, none"),
        ({"mptcp": "h3=signal"}, "host 'h3' has no further link"),
        ({"mptcp": "scheduler=a/b"}, "no scheduler's name"),
        ({"mptcp": "h1=signal", "flows": "h1>h2:cubic"}, "no flow of this run is MPTCP"),
    ],
)
def test_what_has_no_effect_or_is_no_role_is_refused(words: dict[str, str], problem: str) -> None:
    with pytest.raises(BadInputError) as caught:
        plan_of(mptcp=words["mptcp"], flows=words.get("flows", "h1>h2:mptcp"))
    assert caught.value.option == "mptcp"
    assert problem in caught.value.message


def test_mptcp_over_one_path_is_run_and_said() -> None:
    plan = RunRequest(rtt="20ms", stack="mptcp", time="5s").plan()
    check_plan(plan)
    (warning,) = MECHANISM.warnings(plan)
    assert "has one subflow" in warning
    assert not list(MECHANISM.warnings(plan_of()))


def write_samples(folder: FilePath, token: int | None) -> None:
    """Two samples of two subflows, and of a connection of something else."""
    common = {"port": 5201, "token": token, "remote": "10.0.0.2", "congestion": "cubic"}
    lines = [
        {
            "t_s": float(t_s),
            "rows": [
                {
                    **common,
                    "local": f"10.0.0.{number}:400",
                    "is_first": number == 1,
                    "bytes_acked": t_s * number * 1_000_000,
                    "rtt_us": 20_000 * number,
                    "cwnd_packets": 10,
                    "retransmits": number,
                }
                for number in (3, 1)
            ]
            + [{**common, "port": 22, "local": "10.0.0.1:1", "is_first": False}],
        }
        for t_s in (1, 2)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / SUBFLOWS_FILE.format(host="h1")).write_text(text)


def test_subflows_of_a_flow_are_numbered_and_summed_up(tmp_path: FilePath) -> None:
    plan = plan_of()
    write_samples(tmp_path, 77)
    frame = subflow_table.from_raw(tmp_path, plan)
    assert frame["subflow"].tolist() == [1, 2, 1, 2]
    first, second = subflow_table.summary(frame, plan)["flow1"]
    assert (first["rate_bps"], second["rate_bps"]) == (8e6, 24e6)
    assert (second["local"], second["rtt_ms"], second["retransmits"]) == ("10.0.0.3:400", 60.0, 3)


def test_the_figure_of_a_run_has_a_panel_with_a_curve_for_each_subflow() -> None:
    rows = [
        ("flow1", number, t_s, f"10.0.0.{number}:1", "10.0.0.9", "cubic", acked_bytes, 20_000, 9, 0)
        for number, each_bytes in ((1, 125_000), (2, 250_000))
        for t_s, acked_bytes in ((1.0, each_bytes), (2.0, 2 * each_bytes), (4.0, 6 * each_bytes))
    ]
    panel = subflow_table.rates_over_time(pd.DataFrame(rows, columns=[*subflow_table.COLUMNS]))
    assert [(curve.label, curve.t_s, curve.values) for curve in panel.curves] == [
        ("flow1, subflow 1 from 10.0.0.1:1", [2.0, 4.0], [1.0, 2.0]),
        ("flow1, subflow 2 from 10.0.0.2:1", [2.0, 4.0], [2.0, 4.0]),
    ]
    plan = plan_of()
    seconds = [1.0, 2.0, 3.0, 4.0, 5.0]
    flow = {"flow": "flow1", "interval_s": 1.0, "retransmits": 0, "cwnd_bytes": 1, "rtt_us": 1}
    flows = pd.DataFrame({"t_s": seconds, "throughput_bps": 19e6, **flow})
    ping = pd.DataFrame({"t_s": seconds, "rtt_ms": 20.0})
    queue = pd.DataFrame({"t_s": seconds, "backlog_bytes": 0, "backlog_packets": 0, "drops": 0})
    figure = draw(Samples(flows, ping, queue), plan, further=[panel])
    *_, lowest = figure.axes
    assert lowest.get_ylabel() == panel.heading
    assert [ys(line) for line in lowest.lines[:2]] == [[1.0, 2.0], [2.0, 4.0]]
    # More than the bottleneck's rate is no late data: it came by the other link
    assert "exceeds" not in lowest.get_xlabel()


def test_a_flow_that_fell_back_to_tcp_fails_the_run(tmp_path: FilePath) -> None:
    write_samples(tmp_path, None)
    with pytest.raises(CheckFailedError, match="flow1 fell back to TCP"):
        subflow_table.from_raw(tmp_path, plan_of())
