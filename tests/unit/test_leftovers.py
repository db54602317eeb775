"""Leftovers: what dead runs left goes, what living runs hold stays."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path as FilePath

import pytest

from farpath import leftovers
from farpath.errors import MachineLacksError
from farpath.lab import clean as cleaning
from farpath.lab import host_kernel
from farpath.plan import PLAN_FILE

#: A maker of a record that is killed while it works.
MAKER = """
import os, signal, sys
from pathlib import Path
from farpath import leftovers
with leftovers.fresh_partial(Path(sys.argv[1])) as partial:
    (partial / "flows.parquet").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def own_place_for_temporary_files(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cleaning looks nowhere else."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))


@pytest.fixture
def out(tmp_path: FilePath) -> FilePath:
    """A place for records."""
    place = tmp_path / "results"
    place.mkdir()
    return place


def killed_maker(out: FilePath) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAKER, str(out)],
        env={"PYTHONPATH": str(FilePath(__file__).parents[2])},
        check=False,
    )
    assert done.returncode == -9


def test_a_killed_makers_record_is_removed_and_a_living_ones_is_not(out: FilePath) -> None:
    killed_maker(out)
    (left,) = out.iterdir()
    with leftovers.fresh_partial(out) as alive:
        assert leftovers.sweep_partials(out) == [left]
        assert list(out.iterdir()) == [alive]


def test_a_record_in_the_making_is_gone_after_it(out: FilePath) -> None:
    with leftovers.fresh_partial(out) as partial:
        (partial / "file").write_text("x")
    assert list(out.iterdir()) == []


def test_a_partial_that_became_the_record_stays(out: FilePath) -> None:
    with leftovers.fresh_partial(out) as partial:
        partial.rename(out / "record")
    assert (out / "record").is_dir()


def test_shared_directories_are_known_by_their_plan(out: FilePath) -> None:
    dead, alive, other = (out / f"farpath-{name}" for name in ("dead1234", "alive123", "other_12"))
    for place in (dead, alive, other):
        place.mkdir()
    for place in (dead, alive):
        (place / PLAN_FILE).write_text("{}")
    with leftovers.held(alive):
        assert leftovers.sweep_shares(out) == [dead]
    assert sorted(out.iterdir()) == [alive, other]


def test_what_is_merely_called_like_a_leftover_stays(out: FilePath) -> None:
    mine = [out / ".rustup.lock", out / ".partial-thoughts", out / "farpath-my-study"]
    mine[0].write_text("")
    for place in mine[1:]:
        place.mkdir()
        (place / PLAN_FILE).write_text("{}")
    outside = out.parent / "outside"
    outside.mkdir()
    (outside / PLAN_FILE).write_text("{}")
    links = [out / ".partial-123-abcd1234", out / "farpath-abcd1234"]
    for link in links:
        link.symlink_to(outside)
    assert leftovers.sweep_locks(out) == []
    assert leftovers.sweep_partials(out) == []
    assert leftovers.sweep_shares(out) == []
    assert sorted(out.iterdir()) == sorted([*mine, *links])
    assert (outside / PLAN_FILE).exists()


def test_cleaning_says_what_it_removed(out: FilePath) -> None:
    killed_maker(out)
    (out / ".cern-htcp-10s-2004-seed1-virtual-0123456789.lock").write_text("123")
    record = out / "record"
    record.mkdir()
    done = cleaning.clean(out)
    assert [sentence.startswith(f"removed {out}/.") for sentence in done] == [True, True]
    assert list(out.iterdir()) == [record]


def test_cleaning_gives_back_what_a_killed_host_lab_changed(
    out: FilePath, kernel: dict[str, FilePath], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    state = host_kernel.KernelState(out / host_kernel.STATE_FILE)
    state.set({"net.ipv4.tcp_mem": "4 5 6"})
    assert cleaning.clean(out) == ["net.ipv4.tcp_mem is 1 2 3 again"]
    assert kernel["net.ipv4.tcp_mem"].read_text() == "1 2 3\n"
    assert not state.file.exists()


def test_only_root_can_give_settings_back(out: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    host_kernel.KernelState(out / host_kernel.STATE_FILE).save()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MachineLacksError, match="only root"):
        cleaning.clean(out)


def test_cleaning_a_place_that_is_not_there_does_nothing(out: FilePath) -> None:
    assert cleaning.clean(out / "none") == []
