"""The images: small, labelled, without build tools, of the parts that processes use too."""

from __future__ import annotations

import json

import pytest

from farpath.base.project import PROJECT
from tests.containers.conftest import container, docker, inspect

#: What compiles, and what asks an archive for more: none of it is in a final image.
BUILD_TOOLS = ("gcc", "cc", "make", "ld", "flex", "bison", "apt-get", "pip", "mmdebstrap")
#: The sizes that each image must stay below, in bytes.
SENDER_LIMIT_BYTES = 120_000_000
LAB_LIMIT_BYTES = 500_000_000
ANNOTATIONS = ("title", "description", "licenses", "version", "revision")


@pytest.mark.parametrize("image", ["sender", "lab"])
def test_an_image_says_what_it_is_and_runs_as_an_ordinary_user(image: str) -> None:
    config = inspect(f"farpath/{image}")["Config"]
    for name in ANNOTATIONS:
        assert config["Labels"][f"org.opencontainers.image.{name}"]
    assert config["User"].split(":")[0] not in ("", "0")


@pytest.mark.parametrize(
    ("image", "limit_bytes"), [("sender", SENDER_LIMIT_BYTES), ("lab", LAB_LIMIT_BYTES)]
)
def test_an_image_is_small(image: str, limit_bytes: int) -> None:
    size_bytes = inspect(f"farpath/{image}")["Size"]
    print(f"farpath/{image}: {size_bytes / 1e6:.0f} MB of at most {limit_bytes / 1e6:.0f}")
    assert size_bytes < limit_bytes


@pytest.mark.parametrize("image", ["sender", "lab"])
def test_no_build_tool_and_nothing_of_this_machine_is_in_an_image(image: str) -> None:
    tools = "for tool; do command -v $tool; done"
    directories = "ls -d /etc/farpath-machine /src /cache 2>/dev/null"
    script = f"{tools}; {directories}; true"
    output = docker(
        *("run", "--rm", "--network=none", "--entrypoint=sh", f"farpath/{image}"),
        *("-c", script, "sh", *BUILD_TOOLS),
    )
    assert output == ""


@pytest.mark.parametrize("part", ["kernel", "stacks", "lab", "sender"])
def test_an_image_holds_the_parts_that_plain_processes_use(part: str) -> None:
    inside = docker(
        *("run", "--rm", "--network=none", "--entrypoint=cat", "farpath/lab"),
        f"/opt/farpath/build/{part}/manifest.json",
    )
    outside = (PROJECT / "build" / part / "manifest.json").read_text()
    assert json.loads(inside) == json.loads(outside)


def test_an_image_that_is_current_is_not_built_again() -> None:
    before = inspect("farpath/lab")["Id"]
    done = container("build", "lab")
    assert (done.returncode, done.stderr) == (0, "")
    assert inspect("farpath/lab")["Id"] == before


def test_compose_takes_the_file_and_each_service_has_its_image() -> None:
    config = container("compose", "config")
    assert config.returncode == 0, config.stderr
    for service in ("lab", "notebook"):
        assert f"image: farpath/{service}\n" in config.stdout
