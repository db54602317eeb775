"""Campaigns that are interrupted, damaged, mixed, out of disk, or whose runs fail."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path as FilePath

import pytest

from farpath.base.project import experiment_folder
from farpath.record.record import FORMAT_VERSION, RECORD_FILE, load_record
from farpath.runs.status import DAMAGED_DIR
from tests.campaign.conftest import HANG_S, NAME, Campaign, Story, wait_for, wait_for_lock

MEBIBYTE = 1 << 20


@pytest.fixture
def made(story: Story, tmp_path: FilePath) -> Campaign:
    """A copy of the small campaign, for a test to spoil."""
    return story.campaign.copy(tmp_path / "records")


def test_an_interrupted_campaign_leaves_whole_records_only(story: Story) -> None:
    first, second = story.campaign.places
    assert story.status == 130, story.said
    assert "interrupted" in story.said
    assert first.name in story.left
    assert not [name for name in story.left if name.startswith(".partial-")]
    assert f".{second.name}.lock" not in story.left


def test_the_next_call_makes_only_what_is_left(story: Story) -> None:
    first, second = story.campaign.places
    assert story.resumed.returncode == 0, story.resumed.stderr
    assert "1 of 2 runs made, " in story.resumed.stderr
    assert "2 of 2 runs made, 0 running, 0 left" in story.resumed.stderr
    assert (first / RECORD_FILE).stat().st_mtime_ns == story.first_ns
    load_record(second)


def test_a_killed_campaign_leaves_no_job_behind(made: Campaign) -> None:
    first = made.places[0]
    shutil.rmtree(first)
    process = subprocess.Popen(made.command(), stderr=subprocess.DEVNULL)
    lock = made.out / f".{first.name}.lock"
    wait_for(lock)
    with lock.open() as file:
        process.send_signal(signal.SIGKILL)
        process.wait()
        # The job lets go of it when it ends, which an orphan would do with a record
        wait_for_lock(file.fileno())
    assert not (first / RECORD_FILE).exists()


def test_a_failed_run_is_named_with_its_command_and_the_rest_is_kept(made: Campaign) -> None:
    first, second = made.places
    shutil.rmtree(first)
    with (made.out / f".{first.name}.lock").open("w") as file:
        file.write("4711")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        done = made.run()
    assert done.returncode == 4
    assert "1 of 2 runs failed" in done.stderr
    command = f"farpath campaign --experiment={NAME} --experiments={made.experiments}"
    assert f"narrow htcp_2004 seed 1: {command}" in done.stderr
    assert "process 4711 is making this record" in done.stderr
    assert "Traceback" not in done.stderr
    load_record(second)


def test_a_damaged_record_is_put_aside_and_its_run_repeated(made: Campaign, story: Story) -> None:
    first = made.places[0]
    (first / "ping.parquet").write_bytes(b"no table")
    done = made.run()
    assert done.returncode == 0, done.stderr
    assert "the record was changed" in done.stderr
    assert (made.out / DAMAGED_DIR / f"{first.name}-1" / "ping.parquet").read_bytes() == b"no table"
    again = load_record(first)
    assert again.fingerprint == load_record(story.campaign.places[0]).fingerprint


@pytest.fixture
def shipped(story: Story, tmp_path: FilePath) -> Campaign:
    """The small experiment with records that its folder ships, and none elsewhere."""
    experiments = tmp_path / "experiments"
    shutil.copytree(story.campaign.experiments, experiments)
    source = Campaign(experiments, story.campaign.out)
    command = [*source.command(report=True)[:3], "reference", *source.command(report=True)[4:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 0, done.stderr
    assert "2 records copied" in done.stdout
    return Campaign(experiments, tmp_path / "records")


def test_shipped_records_are_small_and_count_as_made(shipped: Campaign, story: Story) -> None:
    folder = experiment_folder(NAME, shipped.experiments) / "records"
    assert sorted(file.name for file in (folder / shipped.places[0].name).iterdir()) == [
        "flows.parquet",
        "ping.parquet",
        "queue.parquet",
        RECORD_FILE,
    ]
    done = shipped.run()
    assert done.returncode == 0, done.stderr
    assert "2 of 2 runs made" in done.stderr
    assert not list(shipped.out.glob(f"*/{RECORD_FILE}"))
    for place in story.campaign.places:
        assert load_record(folder / place.name).fingerprint == load_record(place).fingerprint


def test_records_of_another_machine_with_the_same_sources_count_as_made(shipped: Campaign) -> None:
    folder = experiment_folder(NAME, shipped.experiments) / "records"
    for place in sorted(folder.iterdir()):
        place.rename(place.with_name(place.name.rpartition("-")[0] + "-0123456789"))
    done = shipped.run("--list")
    assert "2 of 2 runs made" in done.stdout


def test_records_of_another_kernel_are_left_out_and_said(shipped: Campaign) -> None:
    folder = experiment_folder(NAME, shipped.experiments) / "records"
    shipped.out.mkdir()
    for place in sorted(folder.iterdir()):
        file = place / RECORD_FILE
        data = json.loads(file.read_text())
        data["provenance"]["source_sha256"] = "0" * 64
        file.write_text(json.dumps(data))
        place.rename(shipped.out / (place.name.rpartition("-")[0] + "-0123456789"))
    done = shipped.run("--list")
    assert "0 of 2 runs made" in done.stdout
    said = "of another kernel, image or setting, and left out: 2 of the records in"
    assert said in done.stdout


def test_a_record_of_a_newer_format_is_not_taken(shipped: Campaign) -> None:
    folder = experiment_folder(NAME, shipped.experiments) / "records"
    file = folder / shipped.places[0].name / RECORD_FILE
    data = json.loads(file.read_text())
    file.write_text(json.dumps(data | {"format_version": FORMAT_VERSION + 1}))
    done = shipped.run("--list")
    assert "1 of 2 runs made" in done.stdout
    assert f"has format version {FORMAT_VERSION + 1}" in done.stdout


def test_gathered_records_are_those_that_count(made: Campaign, tmp_path: FilePath) -> None:
    shutil.copytree(made.places[0], made.out / "narrow-htcp_2004-5s-2004-seed1-virtual-other")
    folder = tmp_path / "gathered"
    for _ in range(2):
        done = made.run(f"--gather={folder}")
        assert done.returncode == 0, done.stderr
    assert sorted(link.name for link in folder.iterdir() if link.is_symlink()) == sorted(
        place.name for place in made.places
    )
    load_record(folder / made.places[0].name)


def test_a_second_campaign_in_the_same_place_waits_for_nobody(made: Campaign) -> None:
    with (made.out / ".campaign.lock").open("w") as file:
        file.write("4711")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        done = made.run()
    assert done.returncode == 2
    assert "process 4711 conducts a campaign" in done.stderr


@pytest.fixture
def small_disk(tmp_path: FilePath) -> Iterator[FilePath]:
    """A file system of 16 MiB."""
    if os.geteuid() != 0:
        pytest.skip("this user may not mount a small file system: not root")
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_without_room_for_records_nothing_is_begun(story: Story, small_disk: FilePath) -> None:
    (small_disk / "filler").write_bytes(bytes(8 * MEBIBYTE))
    done = Campaign(story.campaign.experiments, small_disk / "records").run("--cores=1")
    assert done.returncode == 3
    assert "no space left under" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_disk_that_fills_fails_the_run_clearly_and_can_be_resumed(
    story: Story, small_disk: FilePath
) -> None:
    campaign = Campaign(story.campaign.experiments, small_disk / "records")
    first, second = campaign.places
    campaign.out.mkdir()
    shutil.copytree(
        *(story.campaign.places[1], second),
        ignore=shutil.ignore_patterns("raw", "page.html", "figure.png"),
    )
    process = subprocess.Popen(campaign.command(), stderr=subprocess.PIPE, text=True)
    wait_for(campaign.out / f".{first.name}.lock")
    free = shutil.disk_usage(small_disk).free
    (small_disk / "filler").write_bytes(bytes(free - MEBIBYTE))
    _, said = process.communicate(timeout=HANG_S)
    assert process.returncode == 4
    assert "no space left under" in said
    assert "Traceback" not in said
    assert not (first / RECORD_FILE).exists()
    (small_disk / "filler").unlink()
    resumed = campaign.run()
    assert resumed.returncode == 0, resumed.stderr
    assert load_record(first).fingerprint == load_record(story.campaign.places[0]).fingerprint
