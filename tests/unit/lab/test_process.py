"""What a guest gets of farpath's code."""

from __future__ import annotations

from typing import Any

from farpath import __version__
from farpath.lab.process import GUEST_INIT


def test_the_package_in_the_guest_has_a_version_and_nothing_of_the_host() -> None:
    package: dict[str, Any] = {}
    exec(GUEST_INIT, package)
    assert set(package) - {"__builtins__"} == {"__doc__", "__version__"}
    assert package["__version__"] == __version__
