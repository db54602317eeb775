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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, TypeVar

from farpath.base.documents import parse_json
from farpath.base.errors import BadInputError
from farpath.lab.artifacts import oci_schema
from farpath.lab.artifacts.oci_schema import (
    Config,
    Descriptor,
    Index,
    Manifest,
    Platform,
    Run,
    Saved,
)

T = TypeVar("T")

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
#: What one argument of a program may take (MAX_ARG_STRLEN in include/uapi/linux/binfmts.h):
#: images/own-image is given an image's description in one.
LONGEST_ARGUMENT_BYTES = (32 * 4096) - 1
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
    """A file of a layout; BadInputError for one that is not there, no file, or too long."""
    content = _file_of(place, name) if place.is_dir() else _member_of(place, name)
    if len(content) > LARGEST_JSON_BYTES:
        raise BadInputError(
            f"{place}: its {name} is longer than {LARGEST_JSON_BYTES >> 20} MiB: {REMEDY}"
        )
    return content


def _file_of(place: FilePath, name: str) -> bytes:
    try:
        with (place / name).open("rb") as stream:
            return stream.read(LARGEST_JSON_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInputError(f"{place} is no whole image ({reason}: {name}): {REMEDY}") from error


@contextmanager
def _opened(place: FilePath) -> Iterator[tuple[tarfile.TarFile, dict[str, tarfile.TarInfo]]]:
    """A tar and its members by name; TarError for one whose headers are not as they must be."""
    with tarfile.open(place, "r:") as tar:
        try:
            members = {member.name.removeprefix("./"): member for member in tar}
        except (ValueError, OverflowError) as error:
            raise tarfile.ReadError(str(error)) from error
        yield tar, members


def _member_of(place: FilePath, name: str) -> bytes:
    with _opened(place) as (tar, members):
        if name not in members:
            raise BadInputError(f"{place} is no whole image (no '{name}'): {REMEDY}")
        # A link could lead round in a circle, and none of these is one
        content = tar.extractfile(members[name]) if members[name].isreg() else None
        if content is None:
            raise BadInputError(f"{place} is no whole image ('{name}' is no file): {REMEDY}")
        return content.read(LARGEST_JSON_BYTES + 1)


def _document(place: FilePath, name: str, text: bytes, kind: type[T]) -> T:
    """A JSON text of an image as its class; BadInputError that begins with the image."""
    try:
        return oci_schema.checked(kind, parse_json(text, name), name)
    except BadInputError as error:
        raise BadInputError(f"{place} is no whole image ({error.message}): {REMEDY}") from error


def _blob(place: FilePath, descriptor: Descriptor, kind: type[T]) -> T:
    """The JSON that a descriptor points to, if it is what the digest says."""
    digest = _DIGEST.fullmatch(descriptor.digest)
    if not digest:
        raise BadInputError(f"{place}: '{descriptor.digest}' is no sha256 digest: {REMEDY}")
    text = _read(place, f"blobs/sha256/{digest[1]}")
    if hashlib.sha256(text).hexdigest() != digest[1]:
        raise BadInputError(f"{place}: blob {digest[1][:12]}... is damaged: make the image again")
    return _document(place, f"blob {digest[1][:12]}...", text, kind)


def _manifests(place: FilePath, index: Index, depth: int = 0) -> Iterator[Descriptor]:
    """Descriptors of what an index holds beside other indexes; each once."""
    if depth > DEEPEST_INDEX:
        raise BadInputError(f"{place}: its indexes are more than {DEEPEST_INDEX} deep: {REMEDY}")
    for descriptor in index.manifests:
        if descriptor.media_type == INDEX:
            yield from _manifests(place, _blob(place, descriptor, Index), depth + 1)
        else:
            yield descriptor


def _platform(data: Platform) -> tuple[str, str]:
    return data.os, data.architecture


def _choose(place: FilePath) -> Descriptor:
    """The descriptor of the layout's one image for the lab's platform.

    A multi-platform index names each image's platform, and may do so for images that
    the layout does not hold; BuildKit's attestations are for 'unknown/unknown'.
    """
    found: dict[str, Descriptor] = {}
    others = set()
    index = _document(place, OCI_FILE, _read(place, OCI_FILE), Index)
    for descriptor in _manifests(place, index):
        platform = descriptor.platform
        if platform is None or _platform(platform) == PLATFORM:
            found[descriptor.digest] = descriptor
        elif platform.os != "unknown":
            others.add("/".join(_platform(platform)))
    if not found:
        got = f"an image for {', '.join(sorted(others))}" if others else "no image"
        raise BadInputError(f"{place} holds {got}, the lab runs {'/'.join(PLATFORM)}: {REMEDY}")
    if len(found) > 1:
        raise BadInputError(f"{place} holds {len(found)} images: give a layout with one")
    return next(iter(found.values()))


def _texts(place: FilePath, values: Any, key: str) -> tuple[str, ...]:
    values = values or []
    if not isinstance(values, list) or any(
        not isinstance(value, str) or "\0" in value for value in values
    ):
        raise BadInputError(f"{place}: {key} of its configuration is no list of texts: {REMEDY}")
    return tuple(values)


def _foreign_type(manifest: Manifest, media_type: str) -> str:
    """A type that is Docker's own, empty if none is: umoci reads OCI's types alone."""
    types = [media_type, *(layer.media_type for layer in manifest.layers)]
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


def _configured(place: FilePath, kind: str, descriptor: Mapping[str, Any], config: Config) -> Image:
    """The image of a configuration; Docker's and OCI's agree in what counts here."""
    if _platform(config) != PLATFORM:
        got = "/".join(_platform(config))
        raise BadInputError(f"{place} is for {got}, the lab runs {'/'.join(PLATFORM)}: {REMEDY}")
    run = config.config or Run()
    image = Image(
        kind,
        descriptor,
        _texts(place, run.entrypoint, "Entrypoint") + _texts(place, run.cmd, "Cmd"),
        _texts(place, run.env, "Env"),
        run.working_dir or "/",
    )
    longest = max(len(text.encode()) for text in image.script_arguments)
    if longest > LONGEST_ARGUMENT_BYTES:
        raise BadInputError(
            f"{place}: Entrypoint, Cmd and Env of its configuration take {longest:,} bytes, more "
            f"than a program can be given ({LONGEST_ARGUMENT_BYTES:,}): shorten them"
        )
    return image


def _oci_image(place: FilePath) -> Image:
    descriptor = _choose(place)
    manifest = _blob(place, descriptor, Manifest)
    foreign = _foreign_type(manifest, descriptor.media_type)
    if foreign and _is_docker_tar(place):
        return _docker_image(place)
    if foreign:
        raise BadInputError(f"{place} is not of OCI's types but has '{foreign}': {REMEDY}")
    config = _blob(place, manifest.config, Config)
    named = descriptor.model_dump(by_alias=True, include={"media_type", "digest", "size"})
    return _configured(place, OCI, named, config)


def _docker_image(place: FilePath) -> Image:
    """The image of an older docker save; its digest is Docker's image ID."""
    listed = _document(place, DOCKER_FILE, _read(place, DOCKER_FILE), list[Saved])
    if len(listed) != 1:
        raise BadInputError(f"{place} holds {len(listed)} images: save one alone")
    text = _read(place, listed[0].config)
    digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
    config = _document(place, listed[0].config, text, Config)
    return _configured(place, DOCKER, {"digest": digest}, config)


def _names(place: FilePath) -> set[str]:
    """What a place holds at its top."""
    if place.is_dir():
        return {file.name for file in place.iterdir()}
    with _opened(place) as (_tar, members):
        return {name.partition("/")[0] for name in members}


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
        raise BadInputError(f"{place} is no whole image (no '{OCI_FILE}'): {REMEDY}")
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
    except OSError as error:
        wrong = f"{error.strerror}: {error.filename}"
        raise BadInputError(f"{place} is no whole image ({wrong}): {REMEDY}") from error
