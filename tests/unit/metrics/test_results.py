"""Campaign: records read, written as one file, and what must not be mixed."""

from __future__ import annotations

import dataclasses
import errno
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.metrics import results as module
from farpath.metrics.results import (
    ResultSet,
    RunSummary,
    load_results,
    mixed,
    read_figures,
    result_set_of,
    write_figures,
)
from farpath.planning.path_files import path_by_name
from farpath.record.description import write_description
from tests.support.campaigns import (
    changed,
    published_campaign,
    run_of,
    write_seven_regions,
    write_three_records,
)


@pytest.fixture
def records(tmp_path: FilePath) -> FilePath:
    """Three records: H-TCP with two seeds, Reno with one."""
    return write_three_records(tmp_path / "records")


def test_records_are_read_sorted_with_all_their_figures(records: FilePath) -> None:
    campaign, problems = load_results(records)
    assert problems == ()
    assert [(run.stack, run.seed) for run in campaign.runs] == [
        ("htcp_2004", 1), ("htcp_2004", 2), ("reno_2004", 1),
    ]  # fmt: skip
    assert (campaign.paths, campaign.stacks) == (("cern",), ("htcp_2004", "reno_2004"))
    assert mixed(campaign) == ()
    run = campaign.of("cern", "htcp_2004")[0]
    assert (run.record, run.kernel) == ("htcp-1", "7.2.1")
    assert run.summary.rate_bps == path_by_name("cern").rate_bps
    # 20 of 80 pings took 300 ms, all in region 4.
    assert (run.summary.rtt_p99_ms, run.summary.base_rtt_ms) == (300.0, 164.0)
    assert [region.rtt_max_ms for region in run.summary.regions] == [164.0] * 3 + [300.0] + [
        164.0
    ] * 3
    assert [region.seconds for region in run.summary.regions] == [10.0] * 3 + [20.0] + [10.0] * 3


def test_a_record_that_was_changed_is_named_and_left_out(records: FilePath) -> None:
    damaged = records / "htcp-2" / "flows.parquet"
    damaged.write_bytes(damaged.read_bytes()[:100])
    campaign, problems = load_results(records)
    assert [run.record for run in campaign.runs] == ["htcp-1", "reno-1"]
    assert len(problems) == 1
    assert str(damaged) in problems[0]


def _edit(record: FilePath, **values: object) -> None:
    file = record / "record.json"
    write_description(file, {**json.loads(file.read_text()), **values})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"format_version": 99}, "format version 99"),
        ({"provenance": {"kernel": "text"}}, "provenance.kernel: "),
        ({"plan": {}}, "plan.path: field required"),
        ({"fingerprint": "0" * 64}, "fingerprint"),
    ],
)
def test_a_record_of_another_version_or_without_its_makers_is_left_out(
    records: FilePath, values: dict[str, object], message: str
) -> None:
    _edit(records / "reno-1", **values)
    campaign, problems = load_results(records)
    assert campaign.stacks == ("htcp_2004",)
    assert len(problems) == 1
    assert "reno-1" in problems[0]
    assert message in problems[0]


def test_a_record_whose_file_is_none_is_left_out(records: FilePath) -> None:
    file = records / "reno-1" / "flows.parquet"
    file.unlink()
    file.symlink_to(file)
    (records / "htcp-2" / "record.json").unlink()
    (records / "htcp-2" / "record.json").mkdir()
    campaign, problems = load_results(records)
    assert [run.record for run in campaign.runs] == ["htcp-1"]
    assert [name for name in ("reno-1", "htcp-2") if name not in "\n".join(problems)] == []


def test_a_record_still_being_made_is_no_record_and_no_problem(records: FilePath) -> None:
    shutil.copytree(records / "htcp-1", records / ".partial-1-x")
    campaign, problems = load_results(records)
    assert (len(campaign.runs), problems) == (3, ())


def test_a_directory_without_any_record_is_refused_with_the_reason(
    tmp_path: FilePath, records: FilePath
) -> None:
    with pytest.raises(BadInputError, match="is no directory"):
        load_results(tmp_path / "none")
    with pytest.raises(BadInputError, match="holds no record"):
        load_results(tmp_path)
    for record in records.glob("*-*"):
        (record / "ping.parquet").unlink()
    with pytest.raises(BadInputError, match=r"lacks ping\.parquet"):
        load_results(records)


def test_two_records_of_the_same_run_are_refused_and_both_named(records: FilePath) -> None:
    write_seven_regions(records / "other", seed=2, kernel="6.1")
    with pytest.raises(BadInputError) as refused:
        load_results(records)
    for word in ("htcp-2", "other", "seed 2", "7.2.1", "6.1"):
        assert word in refused.value.message


@pytest.mark.parametrize(
    ("changes", "message"), [({"region_s": 30.0}, "120 s and 30 s"), ({"era": "modern"}, "2004")]
)
def test_runs_of_two_lengths_or_eras_are_not_averaged(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        result_set_of([run_of("Reno"), run_of("Reno", **changes)])


def test_records_of_two_kernels_are_told_with_who_has_which(records: FilePath) -> None:
    write_seven_regions(records / "reno-2", stack="reno_2004", seed=2, kernel="6.1")
    message = "\n".join(mixed(load_results(records)[0]))
    assert "7.2.1: htcp-1, htcp-2, reno-1; 6.1: reno-2" in message
    assert "records of different kernel source or packages are mixed" in message


def test_a_record_with_another_kernel_at_one_side_is_told(records: FilePath) -> None:
    file = records / "reno-1" / "record.json"
    data = json.loads(file.read_text())
    own = data["provenance"]["kernel"]
    other = {**own, "release": "7.3.4", "source_hash": "source of 7.3.4"}
    data["provenance"]["kernels"] = {"sender": own, "receiver": other}
    write_description(file, data)
    message = "\n".join(mixed(load_results(records)[0]))
    assert "7.2.1: htcp-1, htcp-2; sender 7.2.1, receiver 7.3.4: reno-1" in message
    assert "records of different kernel source or packages are mixed" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"module": "other"}, "records of reno_2004 of different modules or images are mixed"),
        ({"config": "other"}, "records of different kernel configuration are mixed"),
    ],
)
def test_another_module_or_configuration_under_one_kernels_name_is_told(
    records: FilePath, change: dict[str, Any], message: str
) -> None:
    write_seven_regions(records / "reno-2", stack="reno_2004", seed=2, **change)
    (sentence,) = mixed(load_results(records)[0])
    assert sentence.startswith(message)


def test_other_hosts_of_one_stack_are_told_and_of_another_stack_are_no_mixture() -> None:
    def with_hosts(stack: str, seed: int, hosts: str) -> RunSummary:
        return dataclasses.replace(run_of(stack, seed=seed), hosts=hosts)

    # As Scalable's queue before the card
    longer = "2004:txqueuelen=2000"
    runs = [with_hosts("Reno", 1, "2004"), with_hosts("Scalable", 1, longer)]
    assert mixed(result_set_of(runs)) == ()
    (sentence,) = mixed(result_set_of([*runs, with_hosts("Reno", 2, longer)]))
    assert sentence.startswith("records of reno_2004 of different hosts are mixed: 2004: cern")


def test_another_machines_compiler_is_no_mixture(records: FilePath) -> None:
    write_seven_regions(records / "reno-2", stack="reno_2004", seed=2, compiler="gcc 14")
    assert mixed(load_results(records)[0]) == ()


def test_a_path_whose_values_changed_under_its_name_is_told(records: FilePath) -> None:
    path = dataclasses.replace(path_by_name("cern"), loss=3e-6)
    write_seven_regions(records / "reno-2", stack="reno_2004", seed=2, path=path)
    assert [message.split(" of different")[0] for message in mixed(load_results(records)[0])] == [
        "records on path cern"
    ]


def test_different_images_of_different_stacks_and_clocks_of_cpu_runs_are_no_mixture() -> None:
    campaign = published_campaign()
    on_cpu = tuple(
        dataclasses.replace(run, summary=dataclasses.replace(run.summary, clock="wall"))
        for run in campaign.runs
    )
    assert mixed(result_set_of(campaign.runs, on_cpu)) == ()


def test_cpu_is_taken_from_runs_that_counted_it() -> None:
    without = [run_of("Reno", seed=seed, mhz_per_mbps=None) for seed in (1, 2)]
    assert result_set_of(without).cpu_of("cern", "reno_2004") == ()
    counted = run_of("Reno", clock="wall")
    assert result_set_of(without, [counted]).cpu_of("cern", "reno_2004") == (counted,)


def test_a_path_of_the_same_rtt_counts_cpu_for_one_that_has_no_such_runs() -> None:
    without = [run_of("Reno", mhz_per_mbps=None)]
    slow = run_of("Reno", "cern-slow", rate_bps=1e8)
    short = run_of("Reno", "short", base_rtt_ms=13.6)
    assert result_set_of(without, [slow, short]).cpu_of("cern", "reno_2004") == (slow,)
    itself = run_of("Reno")
    assert result_set_of(without, [slow, itself]).cpu_of("cern", "reno_2004") == (itself,)
    assert result_set_of([slow]).cpu_of("cern", "reno_2004") == ()


def test_cpu_of_two_paths_or_processors_is_a_mixture() -> None:
    without = [run_of("Reno", mhz_per_mbps=None)]
    two = [run_of("Reno", "slow"), run_of("Reno", "slower")]
    (message,) = mixed(result_set_of(without, two))
    assert message.startswith("CPU records for path cern of different path are mixed")
    one = dataclasses.replace(run_of("Reno", seed=2), processor="another")
    (message,) = mixed(result_set_of(without, [run_of("Reno"), one]))
    assert message.startswith("CPU records for path cern of different processor are mixed")


def _equal(one: ResultSet, other: ResultSet) -> bool:
    """Equal but for NaN, which as_dict writes as None."""
    both = [[run.as_dict() for run in (*each.runs, *each.cpu_runs)] for each in (one, other)]
    return both[0] == both[1]


def test_figures_are_read_as_they_were_written_even_where_one_is_undefined(
    tmp_path: FilePath, records: FilePath
) -> None:
    campaign, _ = load_results(records)
    campaign = changed(
        result_set_of(campaign.runs, published_campaign().runs),
        lambda run: dataclasses.replace(
            run, summary=dataclasses.replace(run.summary, rtt_std_ms=math.nan, cpu_percent=None)
        ),
    )
    file = tmp_path / "below" / "summary.json"
    write_figures(campaign, file)
    read = read_figures(file)
    assert _equal(read, campaign)
    assert math.isnan(read.runs[0].summary.rtt_std_ms)
    assert read.runs[0].summary.cpu_percent is None
    assert read.runs[0].summary.regions == campaign.runs[0].summary.regions
    assert list(file.parent.iterdir()) == [file]


def test_equal_campaigns_in_any_order_give_equal_bytes(tmp_path: FilePath) -> None:
    campaign = published_campaign()
    write_figures(campaign, tmp_path / "one.json")
    write_figures(result_set_of(reversed(campaign.runs)), tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert (tmp_path / "one.json").read_text().count("\n") == 81 + 4


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-100],
        lambda text: "[]",
        lambda text: "[" * 100_000,
        lambda text: text.replace('"seed":1', '"seed":"one"', 1),
        lambda text: text.replace('"mean_bps"', '"mean"'),
        lambda text: text.replace('"kernel":"7.2.1",', "", 1),
        lambda text: text.replace('"kernel":"7.2.1"', '"kernel":7', 1),
        lambda text: text.replace('"record"', '"unheard":"of","record"', 1),
    ],
    ids=[
        "cut",
        "no object",
        "bottomless",
        "text for number",
        "renamed",
        "missing",
        "number for text",
        "more",
    ],
)
def test_damaged_figures_are_refused_with_the_remedy(
    tmp_path: FilePath, damage: Callable[[str], str]
) -> None:
    file = tmp_path / "summary.json"
    write_figures(published_campaign(), file)
    file.write_text(damage(file.read_text()))
    with pytest.raises(
        BadInputError, match=r"summary\.json: is .*'farpath tables --format=summary'"
    ):
        read_figures(file)


def test_figures_that_are_no_text_absent_or_of_another_version_are_refused(
    tmp_path: FilePath,
) -> None:
    file = tmp_path / "summary.json"
    with pytest.raises(BadInputError, match="cannot be read"):
        read_figures(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInputError, match="is not JSON"):
        read_figures(file)
    file.write_text('{"format_version": 1}')
    with pytest.raises(BadInputError, match="format version 1, this farpath reads 2"):
        read_figures(file)


def test_a_full_disk_is_one_line_and_keeps_the_figures_that_were_there(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "summary.json"
    write_figures(published_campaign(), file)
    before = file.read_bytes()

    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FilePath, "replace", full)
    with pytest.raises(MachineLacksError, match="no space left"):
        write_figures(published_campaign(seeds=[1]), file)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_the_examples_of_mixed_sentences_name_at_most_a_few_records() -> None:
    campaign = published_campaign()
    other = changed(campaign, lambda run: dataclasses.replace(run, kernel=f"6.{run.seed}"))
    assert f"6.1: {27} records" in mixed(other)[0]
    assert module.MAX_NAMED_RECORDS < 27
