"""Progress in a notebook: one line, which is gone at the end."""

from __future__ import annotations

from typing import Any

import IPython.display
import pytest

from farpath.notebook.renewed_line import NotebookProgress, in_notebook


class Shown:
    """What a cell's output holds after each change."""

    def __init__(self) -> None:
        self.contents: list[str] = []

    def display(self, output: Any, **_options: bool) -> Shown:
        self.update(output)
        return self

    def update(self, output: Any) -> None:
        self.contents.append(output.data)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    cell = Shown()
    monkeypatch.setattr(IPython.display, "display", cell.display)
    return cell


def test_a_run_is_followed_in_one_line_that_is_gone_at_its_end(shown: Shown) -> None:
    with NotebookProgress("cern <htcp>", 10.0) as progress:
        progress.watch({"event": "network-ready"})
        progress.watch({"event": "unknown"})
        progress.watch({"event": "progress", "t_s": 5.0})
    empty, booting, built, half, end = shown.contents
    assert (empty, end) == ("", "")
    assert "cern &lt;htcp&gt;: booting" in booting
    assert "network built" in built
    assert 'value="0.500"' in half


def test_a_run_that_fails_leaves_no_line(shown: Shown) -> None:
    with pytest.raises(ValueError, match="gone"), NotebookProgress("a run", 10.0):
        raise ValueError("gone")
    assert shown.contents[-1] == ""


def test_a_script_is_no_notebook() -> None:
    assert not in_notebook()
