"""Settings of all tests."""

from pathlib import Path

import pytest
from hypothesis import settings

# How fast an example runs says nothing here: machines are shared and imports lazy.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the host lab's tests, which need QEMU, to those who name them."""
    if collection_path.name == "hostlab" and not any("hostlab" in text for text in config.args):
        return True
    return None
