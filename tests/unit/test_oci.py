"""OCI images: the right one of a layout is found, and what the lab cannot run is refused."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path as FilePath

import pytest

from farpath.errors import BadInputError
from farpath.lab import oci

from .layouts import AMD64, ARM64, RUN, UNKNOWN, Layout


@pytest.fixture
def layout(tmp_path: FilePath) -> Layout:
    return Layout(tmp_path / "mine")


def test_an_image_is_found_among_other_platforms_and_attestations(layout: Layout) -> None:
    wanted = layout.image(RUN)
    missing = {"mediaType": oci.MANIFEST, "digest": "sha256:" + "1" * 64, "size": 9}
    inner = {
        "manifests": [
            {**missing, "platform": ARM64},
            {**layout.image({}, UNKNOWN), "platform": UNKNOWN},
            {**wanted, "platform": AMD64},
        ]
    }
    place = layout.index(layout.blob(inner, oci.INDEX), {**wanted, "platform": AMD64})
    assert oci.read_image(place).descriptor == wanted
    assert oci.read_image(place).directory == "/"


@pytest.mark.parametrize("prefix", ["", "./"])
def test_a_tar_of_a_layout_is_read_like_the_layout(layout: Layout, prefix: str) -> None:
    place = layout.index(layout.image(RUN))
    tar = place.with_suffix(".tar")
    with tarfile.open(tar, "w") as writer:
        for file in ("oci-layout", "index.json", "blobs"):
            writer.add(place / file, arcname=f"{prefix}{file}")
    assert oci.read_image(tar) == oci.read_image(place)


def _two(layout: Layout) -> None:
    layout.index(layout.image({"Entrypoint": ["/a"]}), layout.image({"Entrypoint": ["/b"]}))


def _deep(layout: Layout) -> None:
    descriptor = layout.image(RUN)
    for _ in range(oci.DEEPEST_INDEX + 2):
        descriptor = layout.blob({"manifests": [descriptor]}, oci.INDEX)
    layout.index(descriptor)


def _damaged(layout: Layout) -> None:
    image = layout.image(RUN)
    layout.index(image)
    (layout.place / "blobs" / "sha256" / image["digest"].partition(":")[2]).write_text("{}")


def _lacking(layout: Layout) -> None:
    image = layout.image(RUN)
    layout.index(image)
    (layout.place / "blobs" / "sha256" / image["digest"].partition(":")[2]).unlink()


def _escaping(layout: Layout) -> None:
    layout.index({"mediaType": oci.MANIFEST, "digest": "sha256:../../../etc/passwd", "size": 1})


DOCKER = "application/vnd.docker.distribution.manifest.v2+json"
SHELL = ["/bin/sh", "-c", "/run"]
BAD_IMAGES: dict[str, tuple[Callable[[Layout], object], str]] = {
    "no index": (lambda _: None, "No such file or directory: .*index.json"),
    "an index that is no JSON": (
        lambda made: (made.place / "index.json").write_text("{"),
        "JSONDecodeError",
    ),
    "an index of another shape": (
        lambda made: (made.place / "index.json").write_text("[]"),
        "TypeError",
    ),
    "nothing in it": (lambda made: made.index(), "holds no image"),
    "no entry point": (lambda made: made.index(made.image({})), "has no entry point"),
    "a shell's text": (
        lambda made: made.index(made.image({"Entrypoint": SHELL})),
        "a shell's text",
    ),
    "an entry point that is no list": (
        lambda made: made.index(made.image({"Entrypoint": "/run"})),
        "Entrypoint of its configuration is no list",
    ),
    "another architecture": (
        lambda made: made.index(made.image(RUN, ARM64)),
        "is for linux/arm64, the lab runs linux/amd64",
    ),
    "another architecture by its index": (
        lambda made: made.index({**made.image({}, ARM64), "platform": ARM64}),
        "holds an image for linux/arm64",
    ),
    "Docker's own types": (
        lambda made: made.index(made.image(RUN, kind=DOCKER)),
        "vnd.docker.distribution",
    ),
    "two images": (_two, "holds 2 images"),
    "an index too deep": (_deep, "more than 4 deep"),
    "a damaged blob": (_damaged, "is damaged"),
    "a blob that is not there": (_lacking, "No such file or directory"),
    "a digest that is a path": (_escaping, "is no sha256 digest"),
}


@pytest.mark.parametrize("what", BAD_IMAGES)
def test_an_image_that_the_lab_cannot_run_is_refused(layout: Layout, what: str) -> None:
    spoil, complaint = BAD_IMAGES[what]
    spoil(layout)
    with pytest.raises(BadInputError, match=complaint) as caught:
        oci.read_image(layout.place)
    assert caught.value.message.startswith(str(layout.place))
    assert "\n" not in caught.value.message


def test_a_file_that_is_no_tar_is_refused(tmp_path: FilePath) -> None:
    (tmp_path / "mine.tar").write_text("nothing of the kind")
    with pytest.raises(BadInputError, match="neither an OCI layout directory nor a tar"):
        oci.read_image(tmp_path / "mine.tar")
