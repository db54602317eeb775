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
#: The folders whose tests take longest, so that no core waits for one of them at the end.
FIRST = ("containers", "regress", "paper", "companion")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what boots a lab by where it stands, and say in which order and where all are run.

    A file's tests share what they set up, and those of all containers their images: one
    process of pytest-xdist has them.
    """
    for item in items:
        folder = _folder(item)
        for mark in MARKS.get(folder, ()):
            item.add_marker(mark)
        item.add_marker(pytest.mark.xdist_group(folder if folder == "containers" else _place(item)))
    items.sort(key=lambda item: [*FIRST, _folder(item)].index(_folder(item)))


def _place(item: pytest.Item) -> str:
    return str(item.path.relative_to(Path(__file__).parent).with_suffix(""))


def _folder(item: pytest.Item) -> str:
    return _place(item).partition("/")[0]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the host lab's tests, which need QEMU, to those who name them."""
    if collection_path.name == "hostlab" and not any("hostlab" in text for text in config.args):
        return True
    return None
