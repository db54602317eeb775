"""The queues of a run's links: each is named, and a run's figures are of the one that queued."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import pandas as pd
import pytest

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.metrics.link import link_summaries
from farpath.metrics.record_metrics import metrics_of
from farpath.metrics.results import run_summary
from farpath.record import queue_table
from farpath.record.record import Record, load_record
from farpath.report.export import tables_of
from farpath.report.html.run_page import curves
from farpath.report.overview import overview
from farpath.report.tables.comparison import compare
from farpath.spec.plan import Plan
from farpath.spec.user_network import Cable, Shaping, UserNetwork
from tests.support.lesson_runs import plan_of, write_lesson_run
from tests.support.synthetic_run import write_queue
from tests.support.user_networks import ACCESS, own_plan

FAST, NARROW = Shaping(20_000_000, 100, delay_ms=5.0), Shaping(10_000_000, 100, delay_ms=5.0)
#: Of the long flow h1 to h4 the link s3-s4 is the narrowest; g1 and g2 share s1-s2 with it.
FLOWS = "h1>h4:cubic g1>g2:bbr"


@pytest.fixture
def row() -> Plan:
    """Three switches' links in a row, the last of them the narrowest."""
    cables = (
        Cable("h1", 0, "s1", 1, ACCESS, ACCESS),
        Cable("g1", 0, "s1", 2),
        Cable("s1", 3, "s2", 1, FAST, FAST),
        Cable("g2", 0, "s2", 2),
        Cable("s2", 3, "s3", 1, FAST, FAST),
        Cable("s3", 2, "s4", 1, NARROW, NARROW),
        Cable("h4", 0, "s4", 2),
    )
    network = UserNetwork(("h1", "g1", "g2", "h4"), ("s1", "s2", "s3", "s4"), cables)
    return own_plan(network, FLOWS, time="10s", sample="100ms")


def recorded(tmp_path: FilePath, plan: Plan, **queues: dict[str, int]) -> Record:
    """A record of a plan; each link has the given queue, by its name with _, and others none."""
    raw = tmp_path / "raw-queues"
    raw.mkdir()
    for number, (port, link) in enumerate(queue_table.links_of(plan).items()):
        file = f"queue-{port}.txt" if number else "queue.txt"
        given = {"waiting": 0, "drops": 0} | queues.get(link.replace("-", "_"), {})
        write_queue(raw, 10, file, **given)
    table = queue_table.from_raw(raw, plan)
    return write_lesson_run(tmp_path / "run", plan, queues=table)


BUSY = {"waiting": 5, "drops": 3, "sent_bytes": 2_000_000}


def test_a_link_of_a_users_network_is_called_by_the_ends_of_its_cable(row: Plan) -> None:
    names = list(queue_table.links_of(row).values())
    assert names[:2] == ["s3-s4", "s1-s2"]
    assert set(names[2:]) == {"h1-s1", "s2-s3"}


def test_a_link_of_the_projects_topologies_is_called_by_its_nodes() -> None:
    lot = plan_of(topology="parking-lot:2", stack="cubic", rtt="20ms", rate="10Mbit")
    assert list(queue_table.links_of(lot).values()) == ["s1-s2", "s2-s3"]
    both = plan_of(reverse="cubic", stack="cubic", rtt="20ms", rate="10Mbit")
    assert list(queue_table.links_of(both).values()) == ["s2-receiver", "s1-s3"]


def test_each_bottleneck_and_each_link_that_queued_has_a_row(row: Plan, tmp_path: FilePath) -> None:
    record = recorded(tmp_path, row, s1_s2=BUSY, h1_s1={"waiting": 1})
    idle, full, access = link_summaries(record)
    assert (idle.link, idle.drops, idle.queue_max_bytes) == ("s3-s4", 0, 0)
    assert (full.link, full.drops, full.queue_max_bytes) == ("s1-s2", 30, 50 * 1514)
    assert full.frame_utilisation == pytest.approx(0.8)
    assert full.queueing_mean_ms == pytest.approx(8e3 * 25 * 1514 / 20e6)
    assert access.link == "h1-s1"
    rows = {table.title: table for table in overview(record)}["Links"].lines
    assert [cells[0] for cells in rows] == ["s3-s4", "s1-s2", "h1-s1"]
    assert [link["link"] for link in metrics_of(record)["links"]] == ["s3-s4", "s1-s2", "h1-s1"]
    drawn = [trace["name"] for trace in curves(record)["data"] if "queue" in trace["name"]]
    assert drawn == ["queue s3-s4", "queue s1-s2", "queue h1-s1"]


def test_the_figures_of_a_run_are_of_the_link_that_queued_and_name_it(
    row: Plan, tmp_path: FilePath
) -> None:
    record = recorded(tmp_path, row, s1_s2=BUSY)
    metrics = json.loads(json.dumps(metrics_of(record), allow_nan=False))
    assert (metrics["queue_link"], metrics["queue_drops"]) == ("s1-s2", 30)
    rows = {table.title: table for table in overview(record)}["Whole run"].lines
    whole = {cells[0]: cells[1] for cells in rows}
    assert whole["drops at s1-s2"] == "30 packets"
    assert whole["queueing delay at s1-s2, mean"] == "15.1 ms"
    assert not [words for words in whole if "the bottleneck" in words]
    summary = run_summary(record).summary
    assert (summary.queue_link, summary.queue_drops) == ("s1-s2", 30)
    assert type(summary).from_dict(summary.as_dict()) == summary


def test_a_comparison_says_which_links_drops_it_has(row: Plan, tmp_path: FilePath) -> None:
    records = []
    for number, queues in enumerate(({"s1_s2": BUSY}, {"s3_s4": BUSY})):
        folder = tmp_path / str(number)
        folder.mkdir()
        records.append(recorded(folder, row, **queues))
    cells = {cells[0]: cells[1:] for cells in compare(records).results_table.lines}
    assert cells["link that queued most"] == ("s1-s2", "s3-s4", "-")
    assert cells["throughput over rate"][0] == "-"


def test_the_table_of_queues_is_kept_checked_and_exported(row: Plan, tmp_path: FilePath) -> None:
    record = recorded(tmp_path, row, s1_s2=BUSY)
    loaded = load_record(record.directory)
    assert loaded.fingerprint == record.fingerprint
    assert set(tables_of(loaded)["queues"]["link"]) == set(queue_table.links_of(row).values())
    file = record.directory / "queues.parquet"
    pd.read_parquet(file).assign(drops=7).to_parquet(file)
    with pytest.raises(CheckFailedError, match=r"queues\.parquet: the record was changed"):
        _ = load_record(record.directory).queues


def test_a_record_without_the_table_names_the_only_link_that_it_has(
    row: Plan, tmp_path: FilePath
) -> None:
    record = write_lesson_run(tmp_path / "run", row)
    (link,) = link_summaries(record)
    assert (link.link, link.frame_utilisation) == ("s3-s4", None)
    table = {table.title: table for table in overview(record)}["Links"]
    assert "samples of the first flow's bottleneck only" in table.note
    assert metrics_of(record)["queue_link"] == "s3-s4"


def test_a_run_with_one_queue_has_no_such_table(record: Record, plan: Plan) -> None:
    assert record.queues is None
    assert "links" not in metrics_of(record)
    assert "queue_link" not in metrics_of(record)
    assert queue_table.from_raw(record.directory, plan) is None


def test_a_queue_whose_samples_are_missing_or_broken_is_named(
    row: Plan, tmp_path: FilePath
) -> None:
    with pytest.raises(LabFailedError, match=r"the lab left no queue\.txt"):
        queue_table.from_raw(tmp_path, row)
    (tmp_path / "queue.txt").write_text("0.0 [{]\n")
    with pytest.raises(LabFailedError, match=r"queue\.txt: line 1"):
        queue_table.from_raw(tmp_path, row)
