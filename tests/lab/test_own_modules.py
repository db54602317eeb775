"""Other people's kernel modules in the lab: of older kernels, of taken names, of several files."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.base.project import PROJECT
from farpath.lab.artifacts.user_stacks import user_stack
from farpath.planning.planner import make_plan
from farpath.spec.schedule import simultaneous
from tests.support.paths import SHORT

from .conftest import RunPlan

MODULES = PROJECT / "tests" / "data" / "kernel" / "modules"
TCP_PAYLOAD_BYTES = 1448
#: Of each module: what is given, the stack's name, the window in packets that it holds, and what of
#: Linux is mapped. A window is reached only if the functions are called with what they expect:
#: ``of_4_13`` starts to send with one packet until an event that Linux gives elsewhere now.
OLDER = (
    (
        "tcp_of_4_13.c:window_packets=50",
        "of_4_13",
        50,
        [
            "BTF_SET8_START of functions for BPF is BTF_KFUNCS_START since Linux 6.9",
            "Linux has a tcp_slow_start now: that of the module is own_tcp_slow_start",
            "cong_control has four arguments since Linux 6.10: two are left out",
            "cwnd_event has no CA_EVENT_TX_START since Linux 7.1: cwnd_event_tx_start gives it",
            "prandom_u32_max is get_random_u32_below since Linux 6.2",
            "tcp_tso_autosize is not for modules since Linux 4.17: its formula is calculated",
            "tso_segs_goal is min_tso_segs since Linux 4.17: the number is taken for the least one",
        ],
    ),
    (
        "tcp_of_3_10.c:most_packets=30",
        "of_3_10",
        30,
        [
            "ACCESS_ONCE is READ_ONCE and WRITE_ONCE since Linux 4.15",
            "cong_avoid has acked in place of in_flight since Linux 3.16: "
            "tcp_packets_in_flight() is given",
            "get_seconds is ktime_get_real_seconds since Linux 5.6",
            "min_cwnd is gone since Linux 3.16",
            "pkts_acked has a struct ack_sample since Linux 4.7: its packets and its RTT are given",
            "stamp_jiffies of a struct skb_mstamp is calculated from us since Linux 4.13",
            "struct skb_mstamp is a u64 of us since Linux 4.13",
            "tcp_cong_avoid_ai has the packets of an ACK since Linux 4.0: it gets 1",
            "tcp_is_cwnd_limited has no in_flight since Linux 3.16: it is left out",
            "tcp_slow_start has the packets of an ACK since Linux 3.13: it gets 1",
            "tcp_time_stamp is tcp_jiffies32 since Linux 4.13",
            "undo_cwnd is required since Linux 4.15: it is that of Reno",
        ],
    ),
    ("tcp_cubic.c", "own_cubic", 20, ["its name cubic is own_cubic here"]),
    (
        "of_two:packets=12",
        "two",
        14,
        ["sizes.h is not beside the module: it is taken for empty"],
    ),
)


def test_modules_of_older_kernels_of_a_taken_name_and_of_two_files_run_as_they_are(
    run_plan: RunPlan, build: FilePath
) -> None:
    stacks = []
    for given, name, _packets, changes in OLDER:
        lines: list[str] = []
        stack = user_stack(f"{MODULES}/{given}", build, tell=lines.append)
        assert stack is not None
        assert stack.name == stack.congestion == name
        assert sorted(line.split(": ", 1)[1] for line in lines) == changes
        stacks.append(stack)
    schedule = simultaneous([stack.label for stack in stacks], 2.0)
    path = dataclasses.replace(SHORT, loss=0.0)
    record = run_plan(make_plan(path, schedule, 1, "virtual", user_stacks=stacks))
    rows = record.samples.flows
    last = rows[rows["cwnd_bytes"] > 0].groupby("flow")["cwnd_bytes"].last()
    windows = {stack.name: last[f"flow{number}"] for number, stack in enumerate(stacks, 1)}
    print("windows:", windows)
    assert windows == {name: packets * TCP_PAYLOAD_BYTES for _, name, packets, _ in OLDER}


def test_a_module_that_needs_nothing_is_built_where_it_is(build: FilePath) -> None:
    lines: list[str] = []
    source = PROJECT / "examples" / "own-module" / "tcp_fixed.c"
    stack = user_stack(str(source), build, tell=lines.append)
    assert stack is not None
    assert not lines
    built = build / "own" / stack.build
    assert not [
        file for file in built.iterdir() if file.name.startswith(("Kbuild", "linux_compat"))
    ]
    assert (built / "tcp_fixed.c").read_bytes() == source.read_bytes()


def test_what_cannot_be_mapped_names_the_users_line_and_the_change_of_linux(
    build: FilePath, tmp_path: FilePath
) -> None:
    text = (MODULES / "tcp_of_4_13.c").read_text()
    text = text.replace("#include <net/tcp.h>\n", '#include <net/tcp.h>\n#include "limits.h"\n')
    text = text.replace("rs->acked_sacked", "rs->lost")
    text = text.replace("tcp_sk(sk)->snd_cwnd = ca", "tcp_sk(sk)->guess = ca")
    source = tmp_path / "tcp_of_4_13.c"
    source.write_text(text)
    with pytest.raises(
        BadInputError, match=f"{source} does not compile for the lab's kernel"
    ) as got:
        user_stack(str(source), build)
    numbers = {
        mark: number
        for number, line in enumerate(text.splitlines(), 1)
        for mark in ("rs->lost", "->guess")
        if mark in line
    }
    detail = got.value.detail
    assert f"tcp_of_4_13.c:{numbers['rs->lost']}: rate_sample->lost: Google's kernel" in detail
    assert f"tcp_of_4_13.c:{numbers['->guess']}: a patched kernel has guess in struct tcp_sock" in (
        detail
    )
    assert "limits.h is neither beside the module nor in this kernel" in detail
