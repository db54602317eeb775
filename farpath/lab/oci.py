"""Images on disk: the one image for the lab at a place, and what it runs.

A place is an OCI image layout, a directory or a tar of one (OCI image-spec 1.1,
image-layout.md), which ``docker buildx build --output type=oci`` and ``docker save`` from
Docker 25 on write; a tar of an older ``docker save`` (Moby's image-spec 1.2: manifest.json,
which names a configuration and layers); or a directory that is a root itself.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.errors import BadInputError

#: What the lab's end hosts run, as OCI writes it: operating system, architecture.
PLATFORM = ("linux", "amd64")
#: Media types of OCI image-spec 1.1, media-types.md.
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
#: The annotation that names an image in a layout (image-spec, annotations.md).
REFERENCE = "org.opencontainers.image.ref.name"
#: Indexes may hold indexes; what Docker writes is two deep.
DEEPEST_INDEX = 4
#: The spec asks registries to take manifests up to 4 MiB; nothing here is larger.
LARGEST_JSON_BYTES = 4 << 20
#: The file that each way of keeping images has, and directories that every root has.
OCI_FILE = "index.json"
DOCKER_FILE = "manifest.json"
ROOT_DIRECTORIES = ("bin", "usr")
#: How files of gzip, xz, bzip2 and zstd begin.
COMPRESSED = (b"\x1f\x8b", b"\xfd7zX", b"BZh", b"\x28\xb5\x2f\xfd")
#: Ways of keeping an image, as images/own-image calls them.
OCI, DOCKER, DIRECTORY = "oci", "docker", "directory"
REMEDY = (
    "make one with: docker build --platform linux/amd64 --tag mine . && "
    "docker save --output mine.tar mine"
)
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Image:
    """An image that the lab can unpack: how it is kept, what it is, how it starts.

    ``descriptor``: that of its manifest in an OCI layout, else its digest at most; the
    digest of a directory is known once it is copied.
    """

    kind: str
    descriptor: Mapping[str, Any]
    command: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    directory: str = "/"

    @property
    def manifest_text(self) -> str:
        """What stands beside the unpacked image: all that decides what runs."""
        data = {
            "digest": self.descriptor["digest"],
            "architecture": "/".join(PLATFORM),
            "command": self.command,
            "environment": self.environment,
            "directory": self.directory,
        }
        return json.dumps(data, sort_keys=True)

    @property
    def script_arguments(self) -> list[str]:
        """What images/own-image wants to know after the image's place."""
        if self.kind == DIRECTORY:
            return []
        return [self.manifest_text, *([self._index_text] if self.kind == OCI else [])]

    @property
    def _index_text(self) -> str:
        """An index.json of this image alone, under the name that the script looks for."""
        named = {**self.descriptor, "annotations": {REFERENCE: "farpath"}}
        return json.dumps({"schemaVersion": 2, "manifests": [named]})


def _read(place: FilePath, name: str) -> bytes:
    """A file of a layout, at most as long as JSON may be."""
    if place.is_dir():
        with (place / name).open("rb") as stream:
            return stream.read(LARGEST_JSON_BYTES)
    with tarfile.open(place, "r:") as tar:
        members = {member.name.removeprefix("./"): member for member in tar}
        content = tar.extractfile(members[name])
        if content is None:
            raise KeyError(name)
        return content.read(LARGEST_JSON_BYTES)


def _blob(place: FilePath, descriptor: Mapping[str, Any]) -> Any:
    """The JSON that a descriptor points to, if it is what the digest says."""
    digest = _DIGEST.fullmatch(descriptor["digest"])
    if not digest:
        raise BadInputError(f"{place}: '{descriptor['digest']}' is no sha256 digest: {REMEDY}")
    text = _read(place, f"blobs/sha256/{digest[1]}")
    if hashlib.sha256(text).hexdigest() != digest[1]:
        raise BadInputError(f"{place}: blob {digest[1][:12]}... is damaged: make the image again")
    return json.loads(text)


def _manifests(
    place: FilePath, index: Mapping[str, Any], depth: int = 0
) -> Iterator[Mapping[str, Any]]:
    """Descriptors of what an index holds beside other indexes; each once."""
    if depth > DEEPEST_INDEX:
        raise BadInputError(f"{place}: its indexes are more than {DEEPEST_INDEX} deep: {REMEDY}")
    for descriptor in index["manifests"]:
        if descriptor["mediaType"] == INDEX:
            yield from _manifests(place, _blob(place, descriptor), depth + 1)
        else:
            yield descriptor


def _platform(data: Mapping[str, Any]) -> tuple[str, str]:
    return str(data.get("os")), str(data.get("architecture"))


def _choose(place: FilePath) -> Mapping[str, Any]:
    """The descriptor of the layout's one image for the lab's platform.

    A multi-platform index names each image's platform, and may do so for images that
    the layout does not hold; BuildKit's attestations are for 'unknown/unknown'.
    """
    found: dict[str, Mapping[str, Any]] = {}
    others = set()
    for descriptor in _manifests(place, json.loads(_read(place, "index.json"))):
        platform = descriptor.get("platform")
        if platform is None or _platform(platform) == PLATFORM:
            found[descriptor["digest"]] = descriptor
        elif platform.get("os") != "unknown":
            others.add("/".join(_platform(platform)))
    if not found:
        got = f"an image for {', '.join(sorted(others))}" if others else "no image"
        raise BadInputError(f"{place} holds {got}, the lab runs {'/'.join(PLATFORM)}: {REMEDY}")
    if len(found) > 1:
        raise BadInputError(f"{place} holds {len(found)} images: give a layout with one")
    return next(iter(found.values()))


def _texts(place: FilePath, config: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = config.get(key) or []
    if not isinstance(values, list) or any(
        not isinstance(value, str) or "\0" in value for value in values
    ):
        raise BadInputError(f"{place}: {key} of its configuration is no list of texts: {REMEDY}")
    return tuple(values)


def _foreign_type(manifest: Mapping[str, Any], media_type: str) -> str:
    """A type that is Docker's own, empty if none is: umoci reads OCI's types alone."""
    types = [media_type, *(layer["mediaType"] for layer in manifest["layers"])]
    return next((got for got in types if got != MANIFEST and not got.startswith(LAYER)), "")


def check_command(place: FilePath, image: Image) -> None:
    """Raise BadInputError for an image that is no program's, which a stack's must be."""
    command = image.command
    if not command:
        raise BadInputError(
            f"{place} has no entry point: name its program, in a Dockerfile with "
            'ENTRYPOINT ["/program"]'
        )
    if len(command) == 3 and command[1] == "-c":
        raise BadInputError(
            f"{place}: its entry point is a shell's text ('{command[2]}'), which no option would "
            'reach: write it as a list, ENTRYPOINT ["/program"]'
        )


def _configured(
    place: FilePath, kind: str, descriptor: Mapping[str, Any], config: Mapping[str, Any]
) -> Image:
    """The image of a configuration; Docker's and OCI's agree in what counts here."""
    if _platform(config) != PLATFORM:
        got = "/".join(_platform(config))
        raise BadInputError(f"{place} is for {got}, the lab runs {'/'.join(PLATFORM)}: {REMEDY}")
    run = config.get("config") or {}
    return Image(
        kind,
        descriptor,
        _texts(place, run, "Entrypoint") + _texts(place, run, "Cmd"),
        _texts(place, run, "Env"),
        str(run.get("WorkingDir") or "/"),
    )


def _oci_image(place: FilePath) -> Image:
    descriptor = _choose(place)
    manifest = _blob(place, descriptor)
    foreign = _foreign_type(manifest, descriptor["mediaType"])
    if foreign and _is_docker_tar(place):
        return _docker_image(place)
    if foreign:
        raise BadInputError(f"{place} is not of OCI's types but has '{foreign}': {REMEDY}")
    config = _blob(place, manifest["config"])
    named = {key: descriptor[key] for key in ("mediaType", "digest", "size")}
    return _configured(place, OCI, named, config)


def _docker_image(place: FilePath) -> Image:
    """The image of an older docker save; its digest is Docker's image ID."""
    listed = json.loads(_read(place, DOCKER_FILE))
    if len(listed) != 1:
        raise BadInputError(f"{place} holds {len(listed)} images: save one alone")
    text = _read(place, listed[0]["Config"])
    digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
    return _configured(place, DOCKER, {"digest": digest}, json.loads(text))


def _names(place: FilePath) -> set[str]:
    """What a place holds at its top."""
    if place.is_dir():
        return {file.name for file in place.iterdir()}
    with tarfile.open(place, "r:") as tar:
        return {member.name.removeprefix("./").partition("/")[0] for member in tar}


def _is_docker_tar(place: FilePath) -> bool:
    """Whether a place is (also) a tar as older Dockers write it; skopeo reads no other."""
    return not place.is_dir() and DOCKER_FILE in _names(place)


def _image(place: FilePath) -> Image:
    names = _names(place)
    if OCI_FILE in names:
        return _oci_image(place)
    if _is_docker_tar(place):
        return _docker_image(place)
    if "oci-layout" in names:
        raise KeyError(OCI_FILE)
    if DOCKER_FILE in names:
        raise BadInputError(f"{place} is what docker save wrote, unpacked: give the tar itself")
    if not place.is_dir():
        raise BadInputError(
            f"{place} is a tar with neither {OCI_FILE} (of an OCI image layout) nor {DOCKER_FILE} "
            f"(of docker save): {REMEDY}"
        )
    if names.isdisjoint(ROOT_DIRECTORIES):
        raise BadInputError(
            f"{place} is a directory with neither {OCI_FILE} (of an OCI image layout) nor "
            f"{' or '.join(ROOT_DIRECTORIES)} (of a root): {REMEDY}"
        )
    return Image(DIRECTORY, {})


def read_image(place: FilePath) -> Image:
    """The image at a place: a layout, a tar of docker save, a root directory.

    Raises :class:`BadInputError` for what is none of these, and for an image that the
    lab cannot unpack: of another platform, of other types.
    """
    try:
        return _image(place)
    except tarfile.TarError as error:
        what = "is neither a directory nor a whole tar"
        with place.open("rb") as stream:
            compressed = stream.read(4).startswith(COMPRESSED)
        if compressed:
            what = "is compressed: give the plain tar"
        raise BadInputError(f"{place} {what}; {REMEDY}") from error
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        wrong = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError):
            wrong = f"{error.strerror}: {error.filename}"
        elif isinstance(error, KeyError):
            wrong = f"no {error}"
        raise BadInputError(f"{place} is no whole image ({wrong}): {REMEDY}") from error
