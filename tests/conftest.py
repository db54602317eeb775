"""Settings of all tests."""

from __future__ import annotations

import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.command_line import Ended, Farpath

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
#: Parts of the lab's tests that only measure packets.
MEASURES_OF_PACKETS = (
    "background", "disks", "flow_drops", "lessons", "offloads", "processor", "responsiveness",
    "scale", "short_flows", "starvation", "transfers", "udp",
)  # fmt: skip
#: Modules, by the beginning of their names, that ``make test-nightly`` runs and ``make test`` does
#: not; single tests elsewhere have the mark themselves.
NIGHTLY = (
    "campaign/test_kubernetes",
    "campaign/test_slurm",
    "companion/",
    "containers/test_bare_machine",
    "containers/test_notebook",
    "hostlab/",
    "regress/test_bisect",
    # Measures of packets that the regression suite holds, as are single tests elsewhere: without
    # another fingerprint they measure the same
    "lab/laws/",
    *(f"lab/test_{part}" for part in MEASURES_OF_PACKETS),
    "paper/",
)
#: What takes longest, so that no core waits for one of them at the end. The first builds
#: containers' images, for which the others of its folder would wait; it and the host lab's
#: QEMU keep one core busy, campaigns any number.
FIRST = (
    "containers/test_images",
    "hostlab",
    "companion",
    "notebooks",
    "paper",
    "regress",
    "unit/report/figures",
)
#: How many files a run of tests has whose files' times are printed, and how many of them are.
MANY_FILES = 40


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what boots a lab by where it stands; what takes longest begins first."""
    for item in items:
        name = _module_name(item)
        for mark in MARKS.get(name.partition("/")[0], ()):
            item.add_marker(mark)
        if name.startswith(NIGHTLY):
            item.add_marker("nightly")
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    name = _module_name(item)
    return next((turn for turn, first in enumerate(FIRST) if name.startswith(first)), len(FIRST))


def _module_name(item: pytest.Item) -> str:
    return str(item.path.relative_to(Path(__file__).parent).with_suffix(""))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long the tests of each file took, as files go to cores as a whole."""
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    if len(seconds) < MANY_FILES:
        return
    terminalreporter.section(f"slowest {MANY_FILES} files")
    longest = sorted(seconds.items(), key=lambda pair: pair[1], reverse=True)
    for file, duration_s in longest[:MANY_FILES]:
        terminalreporter.write_line(f"{duration_s:7.1f} s  {file}")


@pytest.fixture
def farpath(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Farpath]:
    """Run farpath in this process."""
    from farpath.cli import app

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # typer replaces it

    def call(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["farpath", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            app.main()
        return Ended(ended.value.code, *capsys.readouterr())

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)
