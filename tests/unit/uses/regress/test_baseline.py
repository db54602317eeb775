"""Baselines: bounds, files, and the nearest of a kernel."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.uses.regress.baseline import (
    Baseline,
    BaselineRun,
    Interval,
    as_toml,
    baseline_file,
    baseline_run,
    describe_changes,
    merge_baselines,
    nearest_baseline,
    prediction_interval,
    read_baseline,
    write_baseline,
)
from tests.support.baselines import KNOWN


def test_bounds_are_where_one_more_seed_is_expected() -> None:
    # Student's t with 3 degrees of freedom is below 12.92 in 999 of 1000 cases
    interval = prediction_interval([10.0, 11.0, 12.0, 13.0])
    half = 12.924 * 1.29099 * (1 + 1 / 4) ** 0.5
    assert interval.value == 10
    assert interval.high == pytest.approx(11.5 + half, rel=1e-3)
    assert interval.low == 0


def test_what_no_seed_changes_has_bounds_of_no_width() -> None:
    interval = prediction_interval([7.0, 7.0, 7.0])
    assert (interval.low, interval.high) == (7, 7)
    assert interval.holds(7)
    assert not interval.holds(7.00001)


def test_a_metric_that_some_seeds_have_not_may_come_and_go() -> None:
    by_seed = [{"a": 1.0, "c": 1.0}, {"a": 2.0, "b": 3.0, "c": 1.0}, {"b": 3.5, "c": 1.0}]
    baseline = baseline_run("aa", by_seed)
    assert baseline.bounds["b"].value is None
    for name, value in (("a", 1.5), ("b", 3.2), ("c", 1.0)):
        assert baseline.bounds[name].holds(value)
        assert not baseline.bounds[name].holds(1e9)
    assert [baseline.bounds[name].holds(None) for name in "abc"] == [True, True, False]


def test_one_seed_of_several_says_nothing_of_how_far_others_are_from_it() -> None:
    interval = prediction_interval([None, None, 4.0])
    assert (interval.value, interval.low, interval.optional) == (None, 0, True)
    assert interval.holds(1e6)
    assert interval.holds(None)


def a_baseline(**runs: BaselineRun) -> Baseline:
    """Runs of the stack htcp, by case."""
    made = {"release": "7.2.12-farpath", "processor_level": 3}
    return Baseline("b", made, {f"htcp/{case}": run for case, run in runs.items()})


def test_a_baseline_is_read_as_it_was_written(tmp_path: FilePath) -> None:
    parameters = Baseline("b", {"release": "7.2"}, {"htcp:rtt_scaling=0/one-loss": KNOWN})
    rare = {
        "share_s": Interval(None, 8, 14, optional=True),
        "halve_s": prediction_interval([None, 2.0]),
    }
    optional = a_baseline(
        convergence=BaselineRun("cc", {**rare, "a": Interval(1, 1, 2, optional=True)})
    )
    for each in (a_baseline(burst=KNOWN, sack=KNOWN), parameters, optional):
        write_baseline(each, tmp_path / "b.toml")
        assert read_baseline(tmp_path / "b.toml") == each


def test_a_changed_metric_changes_one_line_of_a_baseline() -> None:
    bounds = {**KNOWN.bounds, "retransmits": Interval(4, 4, 4)}
    before = as_toml(a_baseline(burst=KNOWN)).splitlines()
    after = as_toml(a_baseline(burst=BaselineRun("aa", bounds))).splitlines()
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


@pytest.mark.parametrize("text", ["", "x", "format_version = 1", "[runs.a.b]\nx = 1"])
def test_what_is_no_baseline_is_named(tmp_path: FilePath, text: str) -> None:
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(BadInputError, match=r"b\.toml: is (no baseline|not TOML|damaged)"):
        read_baseline(tmp_path / "b.toml")


def test_a_baseline_of_another_version_or_none_is_refused(tmp_path: FilePath) -> None:
    (tmp_path / "b.toml").write_text("format_version = 2\n[made]\n")
    with pytest.raises(BadInputError, match="version 2"):
        read_baseline(tmp_path / "b.toml")
    with pytest.raises(BadInputError, match="cannot be read"):
        read_baseline(tmp_path / "none.toml")


def test_a_kernel_is_held_against_the_nearest_release_of_its_series(tmp_path: FilePath) -> None:
    for name in ("7.2.12-x86-64-v3", "7.2.12-x86-64-v4", "7.2.9-x86-64-v4", "7.3.1-x86-64-v3"):
        (tmp_path / f"linux-{name}.toml").touch()
    (tmp_path / "linux-mine.toml").touch()

    def found(release: str, level: int) -> str | None:
        file = nearest_baseline(release, level, tmp_path)
        return file.stem if file else None

    assert found("7.2.12-farpath", 4) == "linux-7.2.12-x86-64-v4"
    assert found("7.2.12-farpath", 2) == "linux-7.2.12-x86-64-v3"
    assert found("7.2.8-farpath", 3) == "linux-7.2.9-x86-64-v4"
    assert found("7.3.0-rc2-farpath", 3) == "linux-7.3.1-x86-64-v3"
    assert found("7.4.0-farpath", 3) is None
    assert baseline_file("7.2.12-farpath", 3, tmp_path).stem == "linux-7.2.12-x86-64-v3"
    with pytest.raises(BadInputError, match="no release"):
        baseline_file("mine", 3)


def test_an_update_says_what_it_changes_and_keeps_the_runs_it_did_not_make() -> None:
    old = a_baseline(burst=KNOWN, sack=KNOWN)
    bounds = {**KNOWN.bounds, "retransmits": Interval(4, 4, 5)}
    new = a_baseline(burst=BaselineRun("bb", bounds), prr=KNOWN)
    assert describe_changes(old, new, new.runs) == [
        "~ htcp/burst: another fingerprint",
        "~ htcp/burst: retransmits 3 (3 to 3) -> 4 (4 to 5)",
        "+ htcp/prr: new, 2 metrics",
    ]
    assert set(merge_baselines(old, new).runs) == {"htcp/burst", "htcp/sack", "htcp/prr"}
