"""Settings of all tests."""

from pathlib import Path

import pytest
from hypothesis import settings

# How fast an example runs says nothing here: machines are shared and imports lazy.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

#: The marks of all tests in a folder beside this file.
MARKS = {
    "campaign": ("lab",),
    "companion": ("lab", "paper"),
    "hostlab": ("hostlab",),
    "lab": ("lab",),
    "paper": ("lab", "paper"),
    "regress": ("lab",),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what boots a lab by where it stands."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        for mark in MARKS.get(folder, ()):
            item.add_marker(mark)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the host lab's tests, which need QEMU, to those who name them."""
    if collection_path.name == "hostlab" and not any("hostlab" in text for text in config.args):
        return True
    return None
