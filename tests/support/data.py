"""Captured output of real tools, one file for each behaviour."""

from __future__ import annotations

from farpath.base.project import PROJECT

DATA = PROJECT / "tests" / "data"


def captured(name: str) -> str:
    """The text of a captured file, named by its tool and its behaviour."""
    return (DATA / name).read_text(encoding="utf-8")
