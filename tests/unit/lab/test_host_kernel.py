"""The machine's kernel: what a host lab changes of it as a whole comes back."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.lab import host_kernel
from farpath.lab.host_kernel import STATE_FILE, KernelState, restore_leftover
from farpath.programs.catalog import resolve_stack
from farpath.tools import congestion_control
from tests.support.refusals import refused

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
    state = KernelState(tmp_path / STATE_FILE, {congestion_control.ALLOWED: "reno cubic gone"})
    kernel[congestion_control.ALLOWED].write_text("reno cubic htcp\n")
    assert state.restore() == [f"{congestion_control.ALLOWED} is reno cubic again"]


def test_a_setting_that_this_kernel_lacks_is_named_before_any_is_changed(
    tmp_path: FilePath, kernel: dict[str, FilePath]
) -> None:
    with pytest.raises(MachineLacksError, match=r"no setting net\.ipv4\.none"):
        KernelState(tmp_path / STATE_FILE).set({MEM: "7 8 9", "net.ipv4.none": "1"})
    assert kernel[MEM].read_text() == "1 2 3\n"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"settings": 1, "modules": []}'])
def test_a_damaged_state_is_not_thrown_away(tmp_path: FilePath, text: str) -> None:
    (tmp_path / STATE_FILE).write_text(text)
    with pytest.raises(BadInputError, match=r"is (damaged|not JSON)"):
        restore_leftover(tmp_path)
    assert (tmp_path / STATE_FILE).exists()


@pytest.mark.parametrize(
    ("settings", "modules"),
    [
        ({"../../../../tmp/x": "1"}, []),
        ({"net.ipv4/../../../etc/motd": "1"}, []),
        ({"kernel.core_pattern": "|/bin/sh"}, []),
        ({"net.ipv4.ip_forward": "1"}, []),
        ({BACKLOG: 1000}, []),
        ({BACKLOG: "1000\n2"}, []),
        ([[BACKLOG, "1000"]], []),
        ({}, ["../../tmp/x"]),
        ({}, ["nf_tables"]),
        ({}, ["tcp_diag"]),
        ({}, [["tcp_mine"]]),
        ({}, {"tcp_mine": 1}),
    ],
)
def test_a_state_that_no_run_can_have_left_changes_nothing(
    tmp_path: FilePath, kernel: dict[str, FilePath], settings: object, modules: object
) -> None:
    file = tmp_path / STATE_FILE
    both = {MEM: "9 9 9", **settings} if isinstance(settings, dict) else settings
    file.write_text(json.dumps({"settings": both, "modules": modules}))
    before = {name: place.read_text() for name, place in kernel.items()}
    with pytest.raises(BadInputError, match="is damaged") as caught:
        restore_leftover(tmp_path)
    assert "\n" not in caught.value.message
    assert {name: place.read_text() for name, place in kernel.items()} == before
    assert file.exists()


def test_a_state_that_is_a_link_or_another_users_changes_nothing(
    tmp_path: FilePath, kernel: dict[str, FilePath], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").write_text(json.dumps({"settings": {MEM: "9 9 9"}, "modules": []}))
    (tmp_path / STATE_FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInputError, match="not a file that this user owns"):
        restore_leftover(tmp_path)
    (tmp_path / STATE_FILE).unlink()
    KernelState(tmp_path / STATE_FILE, {MEM: "9 9 9"}).save()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(BadInputError, match="not a file that this user owns"):
        restore_leftover(tmp_path)
    assert kernel[MEM].read_text() == "1 2 3\n"


def test_saving_writes_through_no_link_that_waits_for_it(tmp_path: FilePath) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in (STATE_FILE, f"{STATE_FILE}.{os.getpid()}"):
        (tmp_path / name).symlink_to(precious)
    KernelState(tmp_path / STATE_FILE, {MEM: "1 2 3"}).save()
    assert precious.read_text() == "mine"
    assert not (tmp_path / STATE_FILE).is_symlink()


def test_a_setting_that_says_who_may_do_what_is_never_changed(
    tmp_path: FilePath, kernel: dict[str, FilePath]
) -> None:
    name = "net.core.bpf_jit_harden"
    kernel[MEM].with_name(name).write_text("2\n")
    with refused("sysctl"):
        KernelState(tmp_path / STATE_FILE).set({MEM: "7 8 9", name: "0"})
    assert kernel[MEM].read_text() == "1 2 3\n"
    assert kernel[MEM].with_name(name).read_text() == "2\n"


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
    monkeypatch.setattr(congestion_control, "MODULES", tmp_path / "module")
    return tmp_path / "module"


@pytest.mark.usefixtures("modules")
def test_a_module_that_is_loaded_with_other_parameters_is_refused_by_name() -> None:
    (said,) = host_kernel.conflicting_modules([resolve_stack("bic:beta=850")])
    assert "beta of bic:beta=850 is 900, not 850" in said
    assert "rmmod" in said
    assert host_kernel.conflicting_modules([resolve_stack("bic:beta=900")]) == []


@pytest.mark.usefixtures("modules")
def test_a_parameter_that_nobody_gave_and_that_is_not_the_default_is_a_warning() -> None:
    (said,) = host_kernel.unusual_parameters([resolve_stack("bic")])
    assert "beta of bic is 900 on this machine, its default is 819" in said
    assert host_kernel.unusual_parameters([resolve_stack("bic:beta=900")]) == []


def test_one_of_farpaths_own_that_is_loaded_already_is_refused(modules: FilePath) -> None:
    (modules / "tcp_htcp_2004").mkdir()
    (said,) = host_kernel.conflicting_modules([resolve_stack("htcp_2004")])
    assert "rmmod tcp_htcp_2004" in said


def test_a_stack_without_congestion_control_needs_no_module(modules: FilePath) -> None:
    assert modules.is_dir()
    udt = dataclasses.replace(resolve_stack("udt"), label="udt")
    assert host_kernel.conflicting_modules([udt]) == []
