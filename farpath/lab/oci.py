"""OCI images on disk: the one image for the lab in a layout, and what it runs.

A layout is a directory or a tar of one (OCI image-spec 1.1, image-layout.md): what
``docker buildx build --output type=oci`` and ``docker save`` from Docker 25 on write.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
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
REMEDY = "build it with: docker buildx build --platform linux/amd64 --output type=oci,dest=mine.tar"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Image:
    """An image that the lab can run: its manifest's descriptor and how it starts."""

    descriptor: Mapping[str, Any]
    command: tuple[str, ...]
    environment: tuple[str, ...]
    directory: str

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
        return json.dumps(data, indent=1)

    def index_text(self, name: str) -> str:
        """An index.json of this image alone, under a name."""
        named = {**self.descriptor, "annotations": {REFERENCE: name}}
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


def _check_manifest(place: FilePath, manifest: Mapping[str, Any], media_type: str) -> None:
    """Docker's older media types say the same, but umoci does not read them."""
    types = [media_type, *(layer["mediaType"] for layer in manifest["layers"])]
    for got in types:
        if got != MANIFEST and not got.startswith(LAYER):
            raise BadInputError(f"{place} is not of OCI's types but has '{got}': {REMEDY}")


def _check_command(place: FilePath, command: Sequence[str]) -> None:
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


def _image(place: FilePath) -> Image:
    descriptor = _choose(place)
    manifest = _blob(place, descriptor)
    _check_manifest(place, manifest, descriptor["mediaType"])
    config = _blob(place, manifest["config"])
    if _platform(config) != PLATFORM:
        got = "/".join(_platform(config))
        raise BadInputError(f"{place} is for {got}, the lab runs {'/'.join(PLATFORM)}: {REMEDY}")
    run = config.get("config") or {}
    command = _texts(place, run, "Entrypoint") + _texts(place, run, "Cmd")
    _check_command(place, command)
    return Image(
        {key: descriptor[key] for key in ("mediaType", "digest", "size")},
        command,
        _texts(place, run, "Env"),
        str(run.get("WorkingDir") or "/"),
    )


def read_image(place: FilePath) -> Image:
    """The image in a layout directory or a tar of one.

    Raises :class:`BadInputError` for what is no layout, and for an image that the
    lab cannot run: of another platform, without an entry point, of other types.
    """
    try:
        return _image(place)
    except tarfile.TarError as error:
        raise BadInputError(
            f"{place} is neither an OCI layout directory nor a tar of one: {REMEDY}"
        ) from error
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        wrong = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError):
            wrong = f"{error.strerror}: {error.filename}"
        elif isinstance(error, KeyError):
            wrong = f"no {error}"
        raise BadInputError(f"{place} is no whole OCI image layout ({wrong}): {REMEDY}") from error
