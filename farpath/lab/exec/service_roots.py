"""Service roots: the file system, the command and the account of each service of a deployment."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.project import BUILD
from farpath.lab.artifacts import oci
from farpath.lab.artifacts.host_images import unpack_image
from farpath.lab.exec.engine_images import engine_image
from farpath.lab.exec.roots import USUAL_VARIABLES, check_program
from farpath.lab.exec.users import User, current_user, named_user
from farpath.planning.deployment import MACHINE, Deployment, ServiceRequest, VolumeRequest
from farpath.planning.service_plan import host_of
from farpath.spec.host_image import HostImage
from farpath.spec.programs import Place
from farpath.spec.protocol import IMAGES_DIR, MACHINE_ROOT
from farpath.spec.services import Service, Volume


@dataclass(frozen=True)
class FoundServices:
    """The services of a deployment, ready for the lab.

    ``images``: users' images, by the host that uses them. ``directories``: those of this machine
    that services read, in the order of volumes' numbers.
    """

    services: tuple[Service, ...]
    images: dict[str, HostImage]
    directories: tuple[FilePath, ...]


@dataclass(frozen=True)
class _Root:
    place: Place
    files: FilePath | None
    image: oci.Image | None = None
    host_image: HostImage | None = None


def found_services(deployment: Deployment, build: FilePath = BUILD) -> FoundServices:
    """Find the roots of all services, and check their programs, accounts and volumes.

    Raises BadInputError, and MachineLacksError if a tool for unpacking or the engine is missing.
    """
    unpacked: dict[str, tuple[oci.Image, HostImage]] = {}
    directories: list[FilePath] = []
    services, images = [], {}
    for number, request in enumerate(deployment.services):
        root = _root(deployment, request, build, unpacked)
        user = _user(request, root)
        variables = {**_variables(user.variables), **request.environment}
        environment = _variables(root.place.environment) | variables
        place = dataclasses.replace(
            root.place, environment=tuple(f"{name}={text}" for name, text in environment.items())
        )
        host = host_of(number)
        if root.host_image:
            images[host] = root.host_image
        services.append(
            Service(
                request.name,
                host,
                _command(request, root),
                place,
                request.names,
                user.user,
                user.group,
                user.groups,
                request.waits_for,
                request.health,
                tuple(_volume(request, one, directories) for one in request.volumes),
                request.restart,
                request.stop_signal,
                request.grace_s,
            )
        )
    return FoundServices(tuple(services), images, tuple(directories))


def _variables(texts: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


def machine_environment() -> tuple[str, ...]:
    """Return the variables of this machine's programs: as in a container, but its search path."""
    usual = {**USUAL_VARIABLES, "PATH": os.environ.get("PATH", USUAL_VARIABLES["PATH"])}
    return tuple(f"{name}={value}" for name, value in usual.items())


def _root(
    deployment: Deployment,
    request: ServiceRequest,
    build: FilePath,
    unpacked: dict[str, tuple[oci.Image, HostImage]],
) -> _Root:
    """Return the root of a service; an image is unpacked once."""
    if request.image == MACHINE:
        directory = os.path.abspath(deployment.directory)
        inside = os.path.join(directory, request.working_dir or "")
        return _Root(Place(MACHINE_ROOT, machine_environment(), os.path.normpath(inside)), None)
    if request.image not in unpacked:
        is_file = request.image.startswith("/")
        path = FilePath(request.image) if is_file else engine_image(request.image, request.name)
        unpacked[request.image] = oci.read_image(path), unpack_image(str(path), build)
    image, host_image = unpacked[request.image]
    place = image_place(host_image, request.working_dir or "")
    return _Root(place, build / "own" / host_image.build / "rootfs", image, host_image)


def image_place(image: HostImage, working_dir: str = "") -> Place:
    """Return where programs of an unpacked image run; ``working_dir``: from the image's own on."""
    directory = os.path.join("/", image.directory, working_dir)
    return Place(f"{IMAGES_DIR}/{image.build}", image.environment, directory)


def _command(request: ServiceRequest, root: _Root) -> tuple[str, ...]:
    """Return the words with which a service starts.

    A file's entrypoint takes the place of the image's, and of its command too (compose-spec).
    """
    image = root.image
    entrypoint = image.entrypoint if image else ()
    command = image.command[len(entrypoint) :] if image else ()
    if request.entrypoint is not None:
        entrypoint, command = request.entrypoint, ()
    if request.command is not None:
        command = request.command
    words = (*entrypoint, *command)
    if not words:
        raise BadInputError(
            problem=f"service {request.name} has no command, and its image neither",
            remedy="give it one, as in command: ['./server', '--port', '80']",
        )
    if image is None:
        try:
            check_program(words[0], FilePath(root.place.directory))
        except BadInputError as error:
            raise BadInputError(
                problem=f"service {request.name}: {error.problem or error.message}",
                remedy=error.remedy,
            ) from error
    return words


def _user(request: ServiceRequest, root: _Root) -> User:
    """Return the account of a service: that of the file, of the image, or this process's."""
    text = request.user or (root.image.user if root.image else "")
    if not text:
        return User(0, 0) if root.image else current_user(as_root=False)
    name, _, group = text.partition(":")
    if name.isdecimal() and (not group or group.isdecimal()):
        return User(int(name), int(group or 0))
    try:
        found = named_user(name, {request.name: root.files})
    except BadInputError as error:
        raise BadInputError(
            problem=f"service {request.name} has user {name}: {error.problem}", remedy=error.remedy
        ) from error
    if group.isdecimal():
        return dataclasses.replace(found, group=int(group))
    if group:
        raise BadInputError(
            problem=f"service {request.name} has user {text}, which names a group",
            remedy="give its number",
        )
    return found


def _volume(request: ServiceRequest, asked: VolumeRequest, directories: list[FilePath]) -> Volume:
    """Return a volume, and add its directory to those that services read."""
    if "/" not in asked.source:
        return Volume(asked.target, name=asked.source)
    source = FilePath(asked.source)
    if not source.exists():
        raise BadInputError(
            problem=f"service {request.name} has volume {asked.source}, which is not there",
            remedy="make it, or leave the volume out",
        )
    is_file = not source.is_dir()
    directory = source.parent if is_file else source
    if directory not in directories:
        directories.append(directory)
    number = directories.index(directory)
    return Volume(asked.target, number, source.name if is_file else "")
