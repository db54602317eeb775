"""The machine's kernel: what a host lab changes of it as a whole comes back."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from farpath.errors import LabFailedError, MachineLacksError
from farpath.guest import congestion
from farpath.lab import host_kernel
from farpath.lab.host_kernel import STATE_FILE, KernelState, restore_leftover
from farpath.stacks import resolve_stack

MEM, BACKLOG = "net.ipv4.tcp_mem", "net.core.netdev_max_backlog"


def test_a_run_gives_back_what_it_set(tmp_path: FilePath, kernel: dict[str, FilePath]) -> None:
    state = KernelState(tmp_path / STATE_FILE)
    state.set({MEM: "7 8 9", BACKLOG: "1000000"})
    assert kernel[MEM].read_text() == "7 8 9\n"
    state.restore()
    assert (kernel[MEM].read_text(), kernel[BACKLOG].read_text()) == ("1 2 3\n", "1000\n")
    assert not state.file.exists()


def test_a_killed_runs_changes_are_given_back_by_the_next(
    tmp_path: FilePath, kernel: dict[str, FilePath]
) -> None:
    KernelState(tmp_path / STATE_FILE).set({MEM: "7 8 9"})
    assert restore_leftover(tmp_path) == [f"{MEM} is 1 2 3 again"]
    assert kernel[MEM].read_text() == "1 2 3\n"
    assert restore_leftover(tmp_path) == []


def test_setting_twice_keeps_the_first_former_value(
    tmp_path: FilePath, kernel: dict[str, FilePath]
) -> None:
    state = KernelState(tmp_path / STATE_FILE)
    state.set({MEM: "7 8 9"})
    state.set({MEM: "10 11 12"})
    state.restore()
    assert kernel[MEM].read_text() == "1 2 3\n"


def test_allowed_controls_come_back_as_far_as_they_are_still_there(
    tmp_path: FilePath, kernel: dict[str, FilePath]
) -> None:
    state = KernelState(tmp_path / STATE_FILE, {congestion.ALLOWED: "reno cubic gone"})
    kernel[congestion.ALLOWED].write_text("reno cubic htcp\n")
    assert state.restore() == [f"{congestion.ALLOWED} is reno cubic again"]


def test_a_setting_that_this_kernel_lacks_is_named_before_any_is_changed(
    tmp_path: FilePath, kernel: dict[str, FilePath]
) -> None:
    with pytest.raises(MachineLacksError, match=r"no setting net\.ipv4\.none"):
        KernelState(tmp_path / STATE_FILE).set({MEM: "7 8 9", "net.ipv4.none": "1"})
    assert kernel[MEM].read_text() == "1 2 3\n"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"settings": 1, "modules": []}'])
def test_a_damaged_state_is_not_thrown_away(tmp_path: FilePath, text: str) -> None:
    (tmp_path / STATE_FILE).write_text(text)
    with pytest.raises(LabFailedError, match="is damaged"):
        restore_leftover(tmp_path)
    assert (tmp_path / STATE_FILE).exists()


def test_a_second_host_lab_is_refused_while_the_first_runs() -> None:
    with (
        host_kernel.only_host_lab(),
        pytest.raises(MachineLacksError, match="another run of the host lab"),
        host_kernel.only_host_lab(),
    ):
        pass
    with host_kernel.only_host_lab():
        pass


@pytest.fixture
def modules(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> FilePath:
    """A kernel's /sys/module with tcp_bic, its beta changed."""
    parameters = tmp_path / "module" / "tcp_bic" / "parameters"
    parameters.mkdir(parents=True)
    (parameters / "beta").write_text("900\n")
    (parameters / "max_increment").write_text("16\n")
    monkeypatch.setattr(congestion, "MODULES", tmp_path / "module")
    return tmp_path / "module"


@pytest.mark.usefixtures("modules")
def test_a_module_that_is_loaded_with_other_parameters_is_refused_by_name() -> None:
    (said,) = host_kernel.loaded_differently([resolve_stack("bic:beta=850")])
    assert "beta of bic:beta=850 is 900, not 850" in said
    assert "rmmod" in said
    assert host_kernel.loaded_differently([resolve_stack("bic:beta=900")]) == []


@pytest.mark.usefixtures("modules")
def test_a_parameter_that_nobody_gave_and_that_is_not_the_default_is_a_warning() -> None:
    (said,) = host_kernel.not_as_usual([resolve_stack("bic")])
    assert "beta of bic is 900 on this machine, its default is 819" in said
    assert host_kernel.not_as_usual([resolve_stack("bic:beta=900")]) == []


def test_one_of_farpaths_own_that_is_loaded_already_is_refused(modules: FilePath) -> None:
    (modules / "tcp_htcp_2004").mkdir()
    (said,) = host_kernel.loaded_differently([resolve_stack("htcp_2004")])
    assert "rmmod tcp_htcp_2004" in said


def test_a_stack_without_congestion_control_needs_no_module(modules: FilePath) -> None:
    assert modules.is_dir()
    udt = dataclasses.replace(resolve_stack("udt"), label="udt")
    assert host_kernel.loaded_differently([udt]) == []
