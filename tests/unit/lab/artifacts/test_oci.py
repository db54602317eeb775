"""OCI images: the right one of a layout is found, and what the lab cannot run is refused."""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.artifacts import oci
from tests.support.oci_layouts import AMD64, ARM64, RUN, UNKNOWN, Layout, docker_tar


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
    "no index": (lambda _: None, "is no whole image .no 'index.json'."),
    "an index that is no JSON": (
        lambda made: (made.place / "index.json").write_text("{"),
        r"index\.json: is not JSON",
    ),
    "an index of another shape": (
        lambda made: (made.place / "index.json").write_text("[]"),
        r"index\.json: input should be an object",
    ),
    "nothing in it": (lambda made: made.index(), "holds no image"),
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


def _bottomless(layout: Layout) -> None:
    (layout.place / "index.json").write_text("[" * 100_000)


def _its_own_link(layout: Layout) -> None:
    (layout.place / "index.json").unlink(missing_ok=True)
    (layout.place / "index.json").symlink_to("index.json")


def _long(layout: Layout) -> None:
    layout.index(layout.image({**RUN, "Env": [f"A{n}={'b' * 1000}" for n in range(200)]}))


BAD_IMAGES |= {
    "an index without a bottom": (_bottomless, "nested"),
    "an index that is a link to itself": (_its_own_link, "Too many levels of symbolic links"),
    "an environment too long to be given": (_long, "more than a program can be given"),
    "a descriptor of another shape": (lambda made: made.index({"digest": 3}), "mediaType"),
    "an environment that is a number": (
        lambda made: made.index(made.image({"Env": 7})),
        "Env of its configuration is no list",
    ),
}


@pytest.mark.parametrize("what", BAD_IMAGES)
def test_an_image_that_the_lab_cannot_run_is_refused(layout: Layout, what: str) -> None:
    spoil, complaint = BAD_IMAGES[what]
    spoil(layout)
    with pytest.raises(BadInputError, match=complaint) as caught:
        oci.read_image(layout.place)
    assert caught.value.message.startswith(str(layout.place))
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("config", "complaint"),
    [({}, "has no entry point"), ({"Entrypoint": SHELL}, "a shell command")],
    ids=["none", "a shell's text"],
)
def test_an_image_without_an_entry_point_is_read_but_is_no_program(
    layout: Layout, config: dict[str, Any], complaint: str
) -> None:
    place = layout.index(layout.image(config))
    image = oci.read_image(place)
    with pytest.raises(BadInputError, match=complaint):
        oci.check_command(place, image)


def test_an_older_docker_save_is_read_and_named_by_dockers_image_id(tmp_path: FilePath) -> None:
    config = {**AMD64, "config": {"Env": ["PATH=/opt"], "Cmd": ["sh"], "WorkingDir": "/srv"}}
    image = oci.read_image(docker_tar(tmp_path / "mine.tar", config))
    digest = hashlib.sha256(json.dumps(config).encode()).hexdigest()
    assert image == oci.Image(
        oci.DOCKER, {"digest": f"sha256:{digest}"}, ("sh",), ("PATH=/opt",), "/srv"
    )


def test_a_docker_save_with_both_forms_is_read_as_the_older_if_its_types_are_dockers(
    layout: Layout, tmp_path: FilePath
) -> None:
    place = layout.index(layout.image(RUN, kind=DOCKER))
    tar = docker_tar(tmp_path / "mine.tar", {**AMD64, "config": RUN})
    with tarfile.open(tar, "a") as writer:
        for name in ("oci-layout", "index.json", "blobs"):
            writer.add(place / name, arcname=name)
    assert oci.read_image(tar).kind == oci.DOCKER


@pytest.mark.parametrize(
    ("configs", "complaint"),
    [
        ([], "holds 0 images"),
        ([AMD64, AMD64], "holds 2 images: save one alone"),
        ([{**ARM64, "config": {}}], "is for linux/arm64, the lab runs linux/amd64"),
        ([{"config": {}}], "is for None/None"),
    ],
    ids=["none", "two", "another architecture", "no architecture"],
)
def test_an_older_docker_save_that_the_lab_cannot_run_is_refused(
    tmp_path: FilePath, configs: list[dict[str, Any]], complaint: str
) -> None:
    with pytest.raises(BadInputError, match=complaint):
        oci.read_image(docker_tar(tmp_path / "mine.tar", *configs))


def test_a_root_directory_is_an_image_without_a_command(tmp_path: FilePath) -> None:
    (tmp_path / "bin").mkdir()
    assert oci.read_image(tmp_path) == oci.Image(oci.DIRECTORY, {})


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        ([], "is a directory with neither index.json .* nor bin or usr"),
        (["bin", "manifest.json"], "unpacked: give the tar itself"),
    ],
    ids=["empty", "an unpacked docker save"],
)
def test_a_directory_that_is_no_image_is_refused(
    tmp_path: FilePath, names: list[str], complaint: str
) -> None:
    for name in names:
        (tmp_path / name).write_text("")
    with pytest.raises(BadInputError, match=complaint):
        oci.read_image(tmp_path)


def _text(file: FilePath) -> None:
    file.write_text("nothing of the kind")


def _no_bytes(file: FilePath) -> None:
    file.write_bytes(b"")


def _no_members(file: FilePath) -> None:
    tarfile.open(file, "w").close()


def _cut(file: FilePath) -> None:
    docker_tar(file, {**AMD64, "config": {"Env": ["A=" + "b" * 4096]}})
    file.write_bytes(file.read_bytes()[:1024])


def _compressed(file: FilePath) -> None:
    docker_tar(file, AMD64)
    file.write_bytes(gzip.compress(file.read_bytes()))


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (_text, "neither a directory nor a whole tar"),
        (_no_bytes, "neither a directory nor a whole tar"),
        (_no_members, "is a tar with neither index.json"),
        (_cut, "neither a directory nor a whole tar"),
        (_compressed, "is compressed: give the plain tar"),
    ],
)
def test_a_file_that_is_no_images_tar_is_refused(
    tmp_path: FilePath, make: Callable[[FilePath], None], complaint: str
) -> None:
    make(tmp_path / "mine.tar")
    with pytest.raises(BadInputError, match=complaint) as caught:
        oci.read_image(tmp_path / "mine.tar")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE])
def test_an_index_in_a_tar_that_is_no_file_is_refused(tmp_path: FilePath, kind: bytes) -> None:
    member = tarfile.TarInfo("index.json")
    member.type, member.linkname = kind, "index.json"
    with tarfile.open(tmp_path / "mine.tar", "w") as tar:
        tar.addfile(member)
    with pytest.raises(BadInputError, match=r"'index\.json' is no file"):
        oci.read_image(tmp_path / "mine.tar")


def test_a_fault_of_farpaths_own_is_not_said_to_be_the_images(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise TypeError("ours")

    place = layout.index(layout.image(RUN))
    monkeypatch.setattr(oci, "_configured", fail)
    with pytest.raises(TypeError, match="ours"):
        oci.read_image(place)
