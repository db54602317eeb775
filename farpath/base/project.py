"""Paths of the project's own directories, and names of its marker files."""

from __future__ import annotations

from pathlib import Path as FilePath

#: The project's root directory; ``build`` in it holds symbolic links to built artifacts.
PROJECT = FilePath(__file__).resolve().parents[2]
BUILD = PROJECT / "build"
#: The directory of the experiments; each is a directory in it.
EXPERIMENTS = PROJECT / "experiments"
#: Marker files in reports and sites that farpath made and may therefore replace.
REPORT_MARK, SITE_MARK = ".farpath-report", ".farpath-site"
