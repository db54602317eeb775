"""Pages of the results site: names and links."""

from __future__ import annotations

import re

from farpath.analysis.results import result_set_of
from farpath.report.site import pages
from tests.support import campaigns


def test_another_stack_and_path_stand_below_and_beside_the_papers() -> None:
    other = campaigns.run_of("Reno", "rtt-10ms", stack="cubic")
    campaign = result_set_of([*campaigns.published_campaign().runs, other])
    assert pages.columns(campaign) == ("caltech", "ufl", "cern", "rtt-10ms")
    assert pages.rows(campaign)[-1] == ("cubic", "cubic")
    assert len(pages.rows(campaign)) == 10


def test_a_run_leads_to_its_seeds_its_stack_elsewhere_and_its_paths_other_stacks() -> None:
    campaign = campaigns.published_campaign()
    run = campaign.of("ufl", "htcp_2004")[1]
    groups = dict(pages.links_of(run, campaign, pages.file_names(campaign)).groups)
    assert [link.text for link in groups["seed"]] == ["1", "2", "3"]
    assert [link.text for link in groups["path"]] == ["Caltech", "UFL", "CERN"]
    assert len(groups["stack"]) == 9
    assert all("seed2" in link.href for name in ("path", "stack") for link in groups[name])
    assert all(sum(link.here for link in links) == 1 for links in groups.values())


def test_names_of_paths_never_lead_out_of_the_site() -> None:
    texts = ("../../etc", "a/b", "a:b", "A/B", "", "ü" * 200)
    campaign = result_set_of(campaigns.run_of("Reno", text) for text in texts)
    names = list(pages.file_names(campaign).values())
    assert len({name.lower() for name in names}) == len(texts)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+\.html", name) for name in names)
