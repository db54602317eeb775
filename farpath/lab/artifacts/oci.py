"""OCI images on disk: finds the image for the lab's platform and reads its configuration.

An image is one of these: an OCI image layout, as a directory or a tar (OCI image-spec 1.1,
image-layout.md), which ``docker buildx build --output type=oci`` and ``docker save`` write since
Docker 25; a tar of an older ``docker save`` (Moby's image-spec 1.2: manifest.json, which names
a configuration and layers); or a directory that is a root file system.
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
from farpath.base.files import read_regular
from farpath.base.validation import validated
from farpath.lab.artifacts.oci_schema import (
    Config,
    Descriptor,
    Index,
    Manifest,
    OciPlatform,
    Run,
    Saved,
)

T = TypeVar("T")

#: OciPlatform of the lab's end hosts in OCI's terms: operating system, architecture.
PLATFORM = ("linux", "amd64")
#: Media types of OCI image-spec 1.1, media-types.md.
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
#: The annotation that names an image in a layout (image-spec, annotations.md).
REFERENCE = "org.opencontainers.image.ref.name"
#: Deepest nesting of indexes; those that Docker writes are two deep.
DEEPEST_INDEX = 4
#: Largest JSON file; the specification asks registries to accept manifests up to 4 MiB.
LARGEST_JSON_BYTES = 4 << 20
#: Longest argument of a program (MAX_ARG_STRLEN in include/uapi/linux/binfmts.h):
#: images/own-image takes an image's description as one argument.
LONGEST_ARGUMENT_BYTES = (32 * 4096) - 1
#: Files by which the formats are recognised, and directories that every root has.
OCI_FILE = "index.json"
DOCKER_FILE = "manifest.json"
#: Suffix of a tar, which is no part of an image's name.
TAR = ".tar"
ROOT_DIRECTORIES = ("bin", "usr")
#: First bytes of gzip, xz, bzip2 and zstd files.
COMPRESSED = (b"\x1f\x8b", b"\xfd7zX", b"BZh", b"\x28\xb5\x2f\xfd")
#: Formats of images, as images/own-image names them.
OCI, DOCKER, DIRECTORY = "oci", "docker", "directory"
REMEDY = (
    "make one with: docker build --platform linux/amd64 --tag mine . && "
    "docker save --output mine.tar mine"
)
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Image:
    """An image that the lab can unpack.

    ``kind``: its format, ``OCI``, ``DOCKER`` or ``DIRECTORY``. ``descriptor``: the descriptor of
    its manifest in an OCI layout, of a docker save its digest alone, and empty for a directory,
    whose digest is known after copying. ``command``, ``environment`` (NAME=value), ``directory``
    and ``user``: how its program starts. ``entrypoint``: the words with which ``command`` begins,
    whatever further ones a user gives.
    """

    kind: str
    descriptor: Mapping[str, Any]
    command: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    directory: str = "/"
    entrypoint: tuple[str, ...] = ()
    user: str = ""

    @property
    def manifest_text(self) -> str:
        """The manifest.json of the unpacked image: all that decides its programs."""
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
        """The arguments of images/own-image after the image's path."""
        if self.kind == DIRECTORY:
            return []
        return [self.manifest_text, *([self._index_text] if self.kind == OCI else [])]

    @property
    def _index_text(self) -> str:
        """An index.json with this image only, under the name that the script expects."""
        named = {**self.descriptor, "annotations": {REFERENCE: "farpath"}}
        return json.dumps({"schemaVersion": 2, "manifests": [named]})


def _read(path: FilePath, name: str) -> bytes:
    """Read a file of an image; BadInputError if it is missing, not regular, or too long."""
    return _file_of(path, name) if path.is_dir() else _member_of(path, name)


def _file_of(path: FilePath, name: str) -> bytes:
    try:
        return read_regular(path / name, LARGEST_JSON_BYTES)
    except OSError as error:
        raise BadInputError(
            problem=f"{path} is no whole image ({error.strerror}: {name})", remedy=REMEDY
        ) from error


@contextmanager
def _opened(path: FilePath) -> Iterator[tuple[tarfile.TarFile, dict[str, tarfile.TarInfo]]]:
    """Open a tar and list its members by name; raises TarError for malformed headers."""
    with tarfile.open(path, "r:") as tar:
        try:
            members = {member.name.removeprefix("./"): member for member in tar}
        except (ValueError, OverflowError) as error:
            raise tarfile.ReadError(str(error)) from error
        yield tar, members


def _member_of(path: FilePath, name: str) -> bytes:
    with _opened(path) as (tar, members):
        if name not in members:
            raise BadInputError(problem=f"{path} is no whole image (no '{name}')", remedy=REMEDY)
        # Links are refused, since they could form a circle; valid images have none here.
        content = tar.extractfile(members[name]) if members[name].isreg() else None
        if content is None:
            raise BadInputError(
                problem=f"{path} is no whole image ('{name}' is no file)", remedy=REMEDY
            )
        text = content.read(LARGEST_JSON_BYTES + 1)
    if len(text) > LARGEST_JSON_BYTES:
        raise BadInputError(
            problem=f"{path}: its {name} is longer than {LARGEST_JSON_BYTES >> 20} MiB",
            remedy=REMEDY,
        )
    return text


def _document(path: FilePath, name: str, text: bytes, model: type[T]) -> T:
    """Validate a JSON text of an image; the BadInputError begins with the image's path."""
    try:
        return validated(model, parse_json(text, name), name)
    except BadInputError as error:
        raise BadInputError(
            problem=f"{path} is no whole image ({error.message})", remedy=REMEDY
        ) from error


def _blob(path: FilePath, descriptor: Descriptor, model: type[T]) -> T:
    """Read the JSON blob of a descriptor; BadInputError if it does not match the digest."""
    digest = _DIGEST.fullmatch(descriptor.digest)
    if not digest:
        raise BadInputError(
            problem=f"{path}: '{descriptor.digest}' is no sha256 digest", remedy=REMEDY
        )
    text = _read(path, f"blobs/sha256/{digest[1]}")
    if hashlib.sha256(text).hexdigest() != digest[1]:
        raise BadInputError(
            problem=f"{path}: blob {digest[1][:12]}... is damaged", remedy="make the image again"
        )
    return _document(path, f"blob {digest[1][:12]}...", text, model)


def _manifests(path: FilePath, index: Index, depth: int = 0) -> Iterator[Descriptor]:
    """Yield the descriptors of manifests in an index and in its nested indexes."""
    if depth > DEEPEST_INDEX:
        raise BadInputError(
            problem=f"{path}: its indexes are more than {DEEPEST_INDEX} deep", remedy=REMEDY
        )
    for descriptor in index.manifests:
        if descriptor.media_type == INDEX:
            yield from _manifests(path, _blob(path, descriptor, Index), depth + 1)
        else:
            yield descriptor


def _platform(data: OciPlatform) -> tuple[str, str]:
    return data.os, data.architecture


def _choose(path: FilePath) -> Descriptor:
    """Return the descriptor of a layout's only image for the lab's platform.

    A multi-platform index names each image's platform, even of images that the layout does not
    hold. BuildKit's attestations have the platform 'unknown/unknown'.
    """
    candidates: dict[str, Descriptor] = {}
    others = set()
    index = _document(path, OCI_FILE, _read(path, OCI_FILE), Index)
    for descriptor in _manifests(path, index):
        platform = descriptor.platform
        if platform is None or _platform(platform) == PLATFORM:
            candidates[descriptor.digest] = descriptor
        elif platform.os != "unknown":
            others.add("/".join(_platform(platform)))
    if not candidates:
        got = f"an image for {', '.join(sorted(others))}" if others else "no image"
        raise BadInputError(
            problem=f"{path} holds {got}, the lab runs {'/'.join(PLATFORM)}", remedy=REMEDY
        )
    if len(candidates) > 1:
        raise BadInputError(
            problem=f"{path} holds {len(candidates)} images", remedy="give a layout with one"
        )
    return next(iter(candidates.values()))


def _texts(path: FilePath, values: Any, key: str) -> tuple[str, ...]:
    values = values or []
    if not isinstance(values, list) or any(
        not isinstance(value, str) or "\0" in value for value in values
    ):
        raise BadInputError(
            problem=f"{path}: {key} of its configuration is no list of texts", remedy=REMEDY
        )
    return tuple(values)


def _foreign_type(manifest: Manifest, media_type: str) -> str:
    """Return a media type that is not OCI's, empty if there is none; umoci reads only OCI's."""
    types = [media_type, *(layer.media_type for layer in manifest.layers)]
    return next((got for got in types if got != MANIFEST and not got.startswith(LAYER)), "")


def check_command(path: FilePath, image: Image) -> None:
    """Raise BadInputError if an image has no program as its entry point, as a stack needs."""
    command = image.command
    if not command:
        raise BadInputError(
            problem=f"{path} has no entry point",
            remedy='name its program, in a Dockerfile with ENTRYPOINT ["/program"]',
        )
    if len(command) == 3 and command[1] == "-c":
        raise BadInputError(
            problem=f"{path}: its entry point is a shell command ('{command[2]}'), which "
            "takes no options",
            remedy='write it as a list, ENTRYPOINT ["/program"]',
        )


def _configured(path: FilePath, kind: str, descriptor: Mapping[str, Any], config: Config) -> Image:
    """Build the image from its configuration; Docker's and OCI's are the same as far as needed."""
    if _platform(config) != PLATFORM:
        got = "/".join(_platform(config))
        raise BadInputError(
            problem=f"{path} is for {got}, the lab runs {'/'.join(PLATFORM)}", remedy=REMEDY
        )
    run = config.config or Run()
    image = Image(
        kind,
        descriptor,
        _texts(path, run.entrypoint, "Entrypoint") + _texts(path, run.cmd, "Cmd"),
        _texts(path, run.env, "Env"),
        run.working_dir or "/",
        _texts(path, run.entrypoint, "Entrypoint"),
        run.user or "",
    )
    longest = max(len(text.encode()) for text in image.script_arguments)
    if longest > LONGEST_ARGUMENT_BYTES:
        raise BadInputError(
            problem=f"{path}: Entrypoint, Cmd and Env of its configuration take "
            f"{longest:,} bytes, more than a program can be given "
            f"({LONGEST_ARGUMENT_BYTES:,})",
            remedy="shorten them",
        )
    return image


def _oci_image(path: FilePath) -> Image:
    descriptor = _choose(path)
    manifest = _blob(path, descriptor, Manifest)
    foreign = _foreign_type(manifest, descriptor.media_type)
    if foreign and _is_docker_tar(path):
        return _docker_image(path)
    if foreign:
        raise BadInputError(problem=f"{path} is not of OCI's types but has '{foreign}': {REMEDY}")
    config = _blob(path, manifest.config, Config)
    named = descriptor.model_dump(by_alias=True, include={"media_type", "digest", "size"})
    return _configured(path, OCI, named, config)


def _docker_image(path: FilePath) -> Image:
    """Return the image of an older docker save; its digest is Docker's image ID."""
    listed = _document(path, DOCKER_FILE, _read(path, DOCKER_FILE), list[Saved])
    if len(listed) != 1:
        raise BadInputError(problem=f"{path} holds {len(listed)} images", remedy="save one alone")
    text = _read(path, listed[0].config)
    digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
    config = _document(path, listed[0].config, text, Config)
    return _configured(path, DOCKER, {"digest": digest}, config)


def _names(path: FilePath) -> set[str]:
    """Return the names at the top level of a directory or tar."""
    if path.is_dir():
        return {file.name for file in path.iterdir()}
    with _opened(path) as (_tar, members):
        return {name.partition("/")[0] for name in members}


def _is_docker_tar(path: FilePath) -> bool:
    """Whether a file is (also) a tar in the format of older Dockers, the one skopeo reads."""
    return not path.is_dir() and DOCKER_FILE in _names(path)


def _image(path: FilePath) -> Image:
    names = _names(path)
    if OCI_FILE in names:
        return _oci_image(path)
    if _is_docker_tar(path):
        return _docker_image(path)
    if "oci-layout" in names:
        raise BadInputError(problem=f"{path} is no whole image (no '{OCI_FILE}')", remedy=REMEDY)
    if DOCKER_FILE in names:
        raise BadInputError(
            problem=f"{path} is what docker save wrote, unpacked", remedy="give the tar itself"
        )
    if not path.is_dir():
        raise BadInputError(
            problem=f"{path} is a tar with neither {OCI_FILE} (of an OCI image layout) "
            f"nor {DOCKER_FILE} (of docker save)",
            remedy=REMEDY,
        )
    if names.isdisjoint(ROOT_DIRECTORIES):
        raise BadInputError(
            problem=f"{path} is a directory with neither {OCI_FILE} (of an OCI image "
            f"layout) nor {' or '.join(ROOT_DIRECTORIES)} (of a root)",
            remedy=REMEDY,
        )
    return Image(DIRECTORY, {})


def read_image(path: FilePath) -> Image:
    """Read the image at a path: an OCI layout, a tar of docker save, or a root directory.

    Raises BadInputError for anything else, and for an image that the lab cannot unpack because
    of its platform or media types.
    """
    try:
        return _image(path)
    except tarfile.TarError as error:
        problem = "is neither a directory nor a whole tar"
        with path.open("rb") as stream:
            compressed = stream.read(4).startswith(COMPRESSED)
        if compressed:
            problem = "is compressed: give the plain tar"
        raise BadInputError(problem=f"{path} {problem}", remedy=REMEDY) from error
    except OSError as error:
        reason = f"{error.strerror}: {error.filename}"
        raise BadInputError(
            problem=f"{path} is no whole image ({reason})", remedy=REMEDY
        ) from error
