"""Where the project's own folders are."""

from __future__ import annotations

from pathlib import Path as FilePath

#: The project's own folder; its ``build`` holds links to what was built.
PROJECT = FilePath(__file__).resolve().parents[2]
BUILD = PROJECT / "build"
#: Where experiments are, each a folder.
EXPERIMENTS = PROJECT / "experiments"
#: The files by which farpath knows a report, or a site, as one that it made and may replace.
REPORT_MARK, SITE_MARK = ".farpath-report", ".farpath-site"
