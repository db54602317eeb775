"""Pages of the results site: names."""

from __future__ import annotations

import re

from farpath.metrics.results import result_set_of
from farpath.report.site import pages
from tests.support import campaigns


def test_names_of_paths_never_lead_out_of_the_site() -> None:
    texts = ("../../etc", "a/b", "a:b", "A/B", "", "ü" * 200)
    campaign = result_set_of(campaigns.run_of("Reno", text) for text in texts)
    names = list(pages.file_names(campaign).values())
    assert len({name.lower() for name in names}) == len(texts)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+\.html", name) for name in names)
