"""The picture and the text of a deployment's sites."""

from __future__ import annotations

from dataclasses import replace

from farpath.report.figures import site_map
from farpath.spec import services as spec
from farpath.spec.services import Fault
from tests.support.deployments import deployment, link, service


def test_sites_are_drawn_with_their_services_links_and_faults() -> None:
    far = link("eu", "us", 90, rate_bps=20_000_000, buffer_packets=100)
    asked = deployment(
        [service("db", ""), service("client", "")],
        {"eu": ["db"], "us": ["client"]},
        [replace(far, back=replace(far.back, loss=0.01))],
        faults=(Fault(spec.PARTITION, ("eu", "us"), 2.0, 1.0),),
    )
    assert site_map.as_text(asked).splitlines() == [
        "eu: db",
        "us: client",
        "eu > us: 45 ms, 20 Mbit/s, buffer 100 packets",
        "us > eu: 45 ms, loss 0.01, 20 Mbit/s, buffer 100 packets",
        "fault partition:eu-us,at=2s,for=1s",
        "the end of client ends the run",
    ]
    figure = site_map.draw(asked)
    words = {text.get_text() for text in [*figure.texts, *figure.axes[0].texts]}
    assert {"eu\ndb", "us\nclient", "partition:eu-us,at=2s,for=1s"} <= words
