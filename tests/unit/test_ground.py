"""The ground of a lab: never the machine itself."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

import pytest

from farpath.guest import platforms, system


def test_a_guest_outside_namespaces_of_its_own_does_nothing() -> None:
    if system.is_user_mode_linux():
        pytest.skip("this machine is a User Mode Linux guest")
    assert os.getpid() != 1
    with pytest.raises(RuntimeError, match="use farpath run"):
        platforms.platform_here()


def test_a_machine_is_never_switched_off() -> None:
    if system.is_user_mode_linux():
        pytest.skip("this machine is a User Mode Linux guest")
    with pytest.raises(RuntimeError, match="it is not powered off"):
        system.power_off()


@pytest.mark.parametrize("writable", [True, False])
def test_what_a_network_namespace_cannot_set_is_the_kernels(
    writable: bool, kernel: dict[str, FilePath], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _file, _mode: writable)
    found = platforms.NamespacePlatform().kernel_wide(kernel)
    assert found == ([] if writable else list(kernel))
    assert platforms.UmlPlatform().kernel_wide(kernel) == list(kernel)


def test_losses_before_a_run_are_not_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "dropped_between_ports", lambda: 12)
    here = platforms.NamespacePlatform()
    here.dropped_before = 10
    assert here.dropped_between_ports() == 2
    assert platforms.UmlPlatform().dropped_between_ports() == 12
