"""Files of any content give a deployment or an error of one line, and nothing else, in time."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farpath.base.errors import BadInputError
from farpath.planning.compose.model import REFUSED, WITHOUT_MEANING, Health, ServiceModel
from farpath.planning.compose.reader import OwnModel
from farpath.planning.containerlab import NodeModel, VarsModel
from farpath.planning.deployment import Deployment
from farpath.planning.deployment_files import read_deployment
from farpath.planning.faults import KINDS
from farpath.planning.site_links import LinkModel
from tests.unit.planning.test_compose import ETCD, POSTGRES, WEB
from tests.unit.planning.test_containerlab import LAB

#: Files are read from one folder, as hypothesis has it.
FREE = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
KEYS = [
    *ServiceModel.model_fields, *Health.model_fields, *OwnModel.model_fields, *KINDS,
    *(field.alias or name for name, field in NodeModel.model_fields.items()),
    *VarsModel.model_fields, *LinkModel.model_fields, *REFUSED, *WITHOUT_MEANING,
    *("services", "volumes", "networks", "x-farpath", "topology", "nodes", "links", "endpoints"),
    *("a", "b", "at", "for", "value", "condition", "source", "target", "type", "<<"),
]  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.sampled_from(
        [
            *(
                "a",
                "b",
                "machine",
                "1s",
                "10ms",
                "1Mbit",
                "1xBDP",
                "5s..9s",
                "50%",
                "a:/b",
                "./a:/b",
            ),
            *(
                "CMD",
                "1m30s",
                "${A:-b}",
                "$A",
                "${",
                "$$",
                "a-b",
                "eu",
                "100Mbit,5s:20Mbit",
                "a:eth1",
            ),
            *("service_healthy", "linux", "always", "SIGTERM", "", "~", "\x00", "\ud7ff", "a\nb"),
        ]
    ),
    st.text(max_size=20),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def outcome(file: Path) -> Deployment | BadInputError:
    try:
        return read_deployment(file, environment={"A": "b"})
    except BadInputError as error:
        return error


def check(folder: Path, text: str) -> None:
    file = folder / "compose.yml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    begin = time.monotonic()
    found = outcome(file)
    assert isinstance(found, Deployment) or "\n" not in found.message
    assert time.monotonic() - begin < 2


@FREE
@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(tmp_path: Path, text: str) -> None:
    check(tmp_path, text)


@FREE
@given(VALUES)
def test_any_values_are_read_or_refused(tmp_path: Path, value: Any) -> None:
    check(tmp_path, json.dumps(value))


@FREE
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4), VALUES)
def test_any_service_is_read_or_refused(tmp_path: Path, more: Any, own: Any) -> None:
    services = {"a": {"image": "i", **more}, "b": {"image": "i", "depends_on": ["a"]}}
    check(tmp_path, json.dumps({"services": services, "x-farpath": own}))


@FREE
@given(st.dictionaries(st.sampled_from([*OwnModel.model_fields]), VALUES, max_size=4), VALUES)
def test_any_network_is_read_or_refused(tmp_path: Path, own: Any, link: Any) -> None:
    services = {"a": {"image": "i"}, "b": {"image": "i", "depends_on": ["a"]}}
    network = {"sites": {"eu": ["a"], "us": ["b"]}, "links": [link], **own}
    check(tmp_path, json.dumps({"services": services, "x-farpath": network}))


@FREE
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4), VALUES)
def test_any_topology_is_read_or_refused(tmp_path: Path, node: Any, links: Any) -> None:
    nodes = {"a": {"kind": "linux", "image": "i", **node}}
    check(tmp_path, json.dumps({"topology": {"nodes": nodes, "links": links}}))


@FREE
@given(st.sampled_from([ETCD, POSTGRES, WEB, LAB]), st.data())
def test_a_usual_file_with_a_change_is_read_or_refused(
    tmp_path: Path, text: str, data: Any
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    put = data.draw(st.sampled_from(["", " ", "\n", ":", "- ", "[", "*", "&a ", "!", "$", "\t"]))
    check(tmp_path, text[:start] + put + text[end:])
