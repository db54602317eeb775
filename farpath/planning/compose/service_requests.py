"""Requests of a compose file's services."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, on_one_line
from farpath.planning.compose.model import (
    REFUSED,
    WITHOUT_MEANING,
    FileUse,
    Health,
    LongVolume,
    ServiceModel,
)
from farpath.planning.compose.variables import Interpolation, parse_variables
from farpath.planning.deployment import MACHINE, ServiceRequest, VolumeRequest
from farpath.planning.file_models import checked, in_part, mapping_of
from farpath.planning.volumes import Volumes
from farpath.planning.yaml_text import nearest, read_text, shown
from farpath.spec.services import (
    ALWAYS,
    CONDITIONS,
    HEALTHY,
    NAME,
    NO_RESTART,
    ON_FAILURE,
    Condition,
    Healthcheck,
)

#: What names of hosts may be; those of services are compose-spec's, and begin as Compose's do.
HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
#: Endings of files that are images, and the beginning of a path that is one whatever its ending.
IMAGE_FILES = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".oci")
OCI = "oci:"
#: A reference to an image of an engine: registry, name, tag and digest.
_REFERENCE = re.compile(
    r"(?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[0-9a-f]{32,128})?"
)
_RESTARTS = {"no": NO_RESTART, "always": ALWAYS, "unless-stopped": ALWAYS}
_ON_FAILURE = re.compile(r"on-failure(?::([0-9]{1,9}))?")
#: Why a key has no effect, where one might count on it.
_WHY = {"ports": ": nothing outside the lab reaches its hosts"}
#: Below which directory a service sees secrets and configs (compose-spec).
FILES_BELOW = {"secrets": "/run/secrets", "configs": "/"}
_SHELL = ("/bin/sh", "-c")


@dataclass
class Surroundings:
    """What services of a file have in common.

    ``folder``: the file's. ``interpolation``: of its texts. ``volumes``: of all services.
    ``networks``: names that the file has. ``files``: of its secrets and configs, by these words and
    their names. ``warnings``: further ones. ``without_meaning``: services
    by the key that has none here.
    """

    folder: FilePath
    interpolation: Interpolation
    volumes: Volumes
    networks: tuple[str, ...]
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    without_meaning: dict[str, list[str]] = field(default_factory=dict)

    def has_no_meaning(self, key: str, service: str) -> None:
        """Note a key that has no meaning here."""
        self.without_meaning.setdefault(key, []).append(service)

    def all_warnings(self) -> tuple[str, ...]:
        """Return all warnings, each once; those of a key in one line."""
        unset = [
            f"variable {name} is not set, and an empty text stands in its place"
            for name in self.interpolation.missing
        ]
        keys = [
            f"{key} has no effect here ({', '.join(services)}){_WHY.get(key, '')}"
            for key, services in self.without_meaning.items()
        ]
        return tuple(dict.fromkeys([*unset, *self.warnings, *self.volumes.warnings, *keys]))


@dataclass(frozen=True)
class Keys:
    """The keys of a service in a format of files.

    ``read``: those that are read. ``refused``: those that would change the result, with remedies.
    ``without_meaning``: those that have no effect here.
    """

    read: Collection[str]
    refused: Mapping[str, str]
    without_meaning: Collection[str]

    def is_read(self, key: str, value: object, service: str, around: Surroundings) -> bool:
        """Whether a key may be read; one without meaning is noted.

        Raises BadInputError for a key that is refused and given.
        """
        if key in self.refused and value not in (None, False, [], {}):
            raise BadInputError(
                option=key,
                given=shown(value),
                problem="the lab does not have it",
                remedy=self.refused[key],
            )
        if key in self.without_meaning:
            around.has_no_meaning(key, service)
        return key not in (*self.refused, *self.without_meaning)

    def require(self, key: str, remedy: str) -> None:
        """Raise BadInputError for a key that is not among these."""
        known = [*self.read, *self.refused, *self.without_meaning]
        if key not in known:
            raise BadInputError(
                option=on_one_line(key),
                problem=f"there is no such key{nearest(key, known)}",
                remedy=remedy,
            )


def require_name(name: str) -> None:
    """Raise BadInputError for what is no service's name."""
    if not NAME.fullmatch(name) or name == "localhost":
        raise BadInputError(
            option="services",
            given=on_one_line(name),
            problem="that is no service's name",
            remedy="it has a letter or digit, then also points, _ and -; localhost is taken",
        )


def read_service(name: str, data: object, around: Surroundings) -> ServiceModel:
    """Return a service's mapping as a model; raise BadInputError for keys that are refused."""
    keys = Keys(tuple(ServiceModel.model_fields), REFUSED, WITHOUT_MEANING)
    own: dict[str, Any] = {}
    for key, value in mapping_of(data, "services").items():
        if key.startswith("x-"):
            continue
        if keys.is_read(key, value, name, around):
            with in_part(key):
                interpolated = around.interpolation.of(value)
            if interpolated is not None:
                own[key] = interpolated
    for key in own:
        keys.require(key, "leave it out, or begin it with x-")
    return checked(ServiceModel, own)


def service_request(
    name: str, model: ServiceModel, there: Mapping[str, ServiceModel], around: Surroundings
) -> ServiceRequest:
    """Return what a service asks for; raise BadInputError.

    ``there``: all services that run, by name.
    """
    if max(model.deploy.replicas, model.scale) != 1 or not model.deploy.replicas:
        raise BadInputError(
            option="scale" if model.scale != 1 else "deploy",
            problem=f"it has {model.scale if model.scale != 1 else model.deploy.replicas} replicas",
            remedy="write each replica as a service, with YAML's anchors: <<: *db",
        )
    _warn(name, model, around)
    command = model.command
    if command is None and model.entrypoint is not None:
        # An entrypoint of the file leaves the image's command out (compose-spec, entrypoint)
        command = ()
    image = image_of(model.image, around.folder)
    if image == MACHINE and not (*(model.entrypoint or ()), *(command or ())):
        raise BadInputError(
            option="command",
            problem=f"with image: {MACHINE} this machine's own programs run, and none is named",
            remedy="give a command",
        )
    is_machine = image == MACHINE
    if not is_machine and model.working_dir and not model.working_dir.startswith("/"):
        raise BadInputError(
            option="working_dir",
            given=on_one_line(model.working_dir),
            remedy="give an absolute path",
        )
    return ServiceRequest(
        name=name,
        image=image,
        names=_names(name, model, around),
        command=command,
        entrypoint=model.entrypoint,
        environment=_environment(model, around),
        user=user_of(model.user),
        working_dir=model.working_dir,
        volumes=tuple(_volumes(name, model, around)),
        waits_for=tuple(_conditions(name, model, there, around)),
        health=_healthcheck(name, model.healthcheck, around),
        restart=restart_of(name, model.restart, around.warnings),
        stop_signal=_signal(model.stop_signal),
        grace_s=10.0 if model.stop_grace_period is None else model.stop_grace_period,
    )


def _warn(name: str, model: ServiceModel, around: Surroundings) -> None:
    """Note what changes nothing here."""
    if model.ports:
        around.has_no_meaning("ports", name)
    for key in sorted(model.deploy.model_fields_set - {"replicas"}):
        around.has_no_meaning(f"deploy.{key}", name)
    for network in model.networks.values():
        for key in sorted(network.model_fields_set - {"aliases"}):
            around.has_no_meaning(f"networks.{key}", name)


def image_of(text: str, folder: FilePath) -> str:
    """Return an image as a deployment names it: a file's absolute path, or as it is.

    Raises BadInputError for what is neither a file nor an image's name.
    """
    if text == MACHINE:
        return text
    path = text.removeprefix(OCI)
    if text.startswith((OCI, "./", "../", "/")) or text.endswith(IMAGE_FILES):
        if not path or not os.path.exists(folder / path):
            raise BadInputError(
                option="image",
                given=on_one_line(text),
                problem="there is no such file",
                remedy="give a tar or a directory of an image, relative to the file",
            )
        return os.path.abspath(folder / path)
    if not _REFERENCE.fullmatch(text):
        raise BadInputError(
            option="image",
            given=on_one_line(text),
            problem="that is no image's name",
            remedy=f"give one such as postgres:16, a tar such as ./mine.tar, or {MACHINE}",
        )
    return text


def user_of(text: str | None) -> str | None:
    """Return a user; raise BadInputError for a text that names none."""
    if text is not None and not re.fullmatch(r"[\w.-]{1,64}(:[\w.-]{1,64})?", text, re.ASCII):
        raise BadInputError(
            option="user",
            given=on_one_line(text),
            remedy="give a name or a number, as in 1000:1000",
        )
    return text


def restart_of(name: str, text: str | None, warnings: list[str]) -> str:
    """Return when a service starts again; raise BadInputError."""
    if text is None or text == "false":
        # YAML 1.1 has no for false
        return NO_RESTART
    if text in _RESTARTS:
        return _RESTARTS[text]
    limited = _ON_FAILURE.fullmatch(text)
    if not limited:
        known = (*_RESTARTS, ON_FAILURE)
        raise BadInputError(
            option="restart",
            given=on_one_line(text),
            problem=f"there is no such policy{nearest(text, known)}",
            remedy=f"it must be one of {', '.join(known)}",
        )
    if limited[1]:
        warnings.append(f"service {name}: its restarts have no limit here, restart: {text}")
    return ON_FAILURE


def _names(name: str, model: ServiceModel, around: Surroundings) -> tuple[str, ...]:
    """Return the names of a service's host: what it calls itself first."""
    for network in model.networks:
        if network not in around.networks and network != "default":
            raise BadInputError(
                option="networks",
                given=on_one_line(network),
                problem=f"there is no such network{nearest(network, around.networks)}",
                remedy="name it under networks at the file's end",
            )
    own = [("container_name", model.container_name)] if model.container_name else []
    aliases = [alias for network in model.networks.values() for alias in network.aliases]
    return host_names(name, model.hostname, [*own, *(("networks", alias) for alias in aliases)])


def host_names(
    name: str, hostname: str | None, further: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """Return the names of a service's host: what it calls itself first.

    ``further``: names that others know, each with the key in which it stands. Raises BadInputError.
    """
    own = [("hostname", hostname)] if hostname else []
    for key, each in [*own, *further]:
        if not HOST_NAME.fullmatch(each) or each == "localhost":
            raise BadInputError(
                option=key, given=on_one_line(each), problem="that is no name of a host"
            )
    return tuple(dict.fromkeys([*(each for _, each in own), name, *(each for _, each in further)]))


def _environment(model: ServiceModel, around: Surroundings) -> dict[str, str]:
    """Return a service's variables: those of its files, then its own."""
    outside = around.interpolation.values
    asked: dict[str, str | None] = {}
    for entry in model.env_file:
        path = around.folder / entry.path
        if entry.format not in (None, "raw"):
            raise BadInputError(
                option="env_file", given=on_one_line(entry.format), remedy="its format may be raw"
            )
        if not entry.required and not os.path.lexists(path):
            continue
        with in_part("env_file"):
            text = read_text(path)
            with in_part(entry.path):
                asked |= parse_variables(text, outside, raw=entry.format == "raw")
    asked |= model.environment
    # What has no value is passed on from outside, if it is there
    given = {name: outside.get(name) if value is None else value for name, value in asked.items()}
    return {name: value for name, value in given.items() if value is not None}


def _volumes(name: str, model: ServiceModel, around: Surroundings) -> list[VolumeRequest]:
    found: list[VolumeRequest | None] = []
    for entry in model.volumes:
        if not isinstance(entry, dict):
            text = shown(entry)
            found.append(around.volumes.short(name, str(text)))
            continue
        with in_part("volumes"):
            found.append(_long_volume(name, checked(LongVolume, entry), around))
    for key in FILES_BELOW:
        with in_part(key):
            found += [_file(name, key, entry, around) for entry in getattr(model, key)]
    # Behind a colon stand options of the file system
    found += [around.volumes.own(name, text.partition(":")[0]) for text in model.tmpfs]
    requests = [each for each in found if each]
    targets = [each.target for each in requests]
    for number, target in enumerate(targets):
        if target in targets[:number]:
            raise BadInputError(
                option="volumes", given=on_one_line(target), problem="two volumes are there"
            )
    return requests


def _file(name: str, key: str, entry: object, around: Surroundings) -> VolumeRequest:
    """Return a secret or a config, whose file a service reads (compose-spec, ``secrets``)."""
    use = checked(FileUse, entry if isinstance(entry, dict) else {"source": entry})
    files = around.files.get(key, {})
    if use.source not in files:
        raise BadInputError(
            option="source",
            given=on_one_line(use.source),
            problem=f"no file at the top has this name{nearest(use.source, files)}",
            remedy=f"write it there, as in {key}: {{password: {{file: ./password.txt}}}}",
        )
    target = os.path.join(FILES_BELOW[key], use.target or use.source)
    return around.volumes.place(name, files[use.source], target, True, may_lack=False)


def _long_volume(name: str, model: LongVolume, around: Surroundings) -> VolumeRequest | None:
    if model.volume.subpath:
        raise BadInputError(
            option="subpath", problem="the lab does not have it", remedy="name a volume of its own"
        )
    if model.type == "tmpfs":
        return around.volumes.own(name, model.target)
    if model.type == "volume":
        if model.source is None:
            return None
        return around.volumes.named(model.source, model.target)
    if model.type == "bind" and model.source:
        return around.volumes.place(
            name, model.source, model.target, model.read_only, model.bind.create_host_path
        )
    raise BadInputError(
        option="type",
        given=on_one_line(model.type),
        problem="the lab does not have it, or it lacks its source",
        remedy="give bind with a source, volume or tmpfs",
    )


def _conditions(
    name: str, model: ServiceModel, there: Mapping[str, ServiceModel], around: Surroundings
) -> list[Condition]:
    conditions = []
    for other, dependency in model.depends_on.items():
        if dependency.condition not in CONDITIONS:
            raise BadInputError(
                option="depends_on",
                problem=f"{on_one_line(other)}: condition is '{on_one_line(dependency.condition)}'"
                + nearest(dependency.condition, CONDITIONS),
                remedy=f"it must be one of {', '.join(CONDITIONS)}",
            )
        if other in there:
            health = there[other].healthcheck
            if dependency.condition == HEALTHY and (not health or is_disabled(health)):
                raise BadInputError(
                    option="depends_on",
                    problem=f"it waits until {other} is healthy, and that has no healthcheck",
                    remedy="give it one in the file, as those of images are not read",
                )
            conditions.append(Condition(other, dependency.condition))
        elif dependency.required:
            raise BadInputError(
                option="depends_on",
                given=on_one_line(other),
                problem=f"there is no such service, or it has a profile{nearest(other, there)}",
                remedy=f"the services are {', '.join(there)}",
            )
        else:
            around.warnings.append(
                f"service {name}: it waits for {on_one_line(other)}, which is not there"
            )
    return conditions


def _healthcheck(name: str, model: Health | None, around: Surroundings) -> Healthcheck | None:
    """Return a health check; None for none."""
    if model is None or is_disabled(model):
        return None
    if model.test is None:
        raise BadInputError(
            option="healthcheck",
            problem="it has no test",
            remedy="give the image's own here too, as in test: [CMD, pg_isready]",
        )
    if model.start_interval is not None:
        around.has_no_meaning("healthcheck.start_interval", name)
    usual = Healthcheck(health_command(model.test))
    return Healthcheck(
        usual.command,
        # Docker's engine takes 0 for its defaults
        model.interval or usual.interval_s,
        model.timeout or usual.timeout_s,
        model.retries or usual.retries,
        model.start_period or usual.start_period_s,
    )


def is_disabled(model: Health) -> bool:
    """Whether a health check says that there is none."""
    return model.disable or model.test in (("NONE",), ())


def health_command(test: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command of a health check's test; raise BadInputError.

    >>> health_command(("CMD-SHELL", "curl -f http://db || exit 1"))
    ('/bin/sh', '-c', 'curl -f http://db || exit 1')
    """
    first, *rest = test
    if len(test) == 1 and first not in ("CMD", "CMD-SHELL", "NONE"):
        return (*_SHELL, first)
    if first == "CMD" and rest:
        return tuple(rest)
    if first == "CMD-SHELL" and len(rest) == 1:
        return (*_SHELL, *rest)
    raise BadInputError(
        option="healthcheck",
        problem=f"its test begins with '{on_one_line(first)}' and has {len(rest)} words behind it",
        remedy="write it as in [CMD, curl, http://db] or [CMD-SHELL, 'curl http://db']",
    )


def _signal(text: str | None) -> int:
    """Return the number of a signal, by its name or number; SIGTERM without one.

    >>> [_signal(text) for text in (None, "SIGINT", "QUIT", "9", "SIGRTMIN+3")]
    [15, 2, 3, 9, 37]
    """
    word = (text or "SIGTERM").upper().removeprefix("SIG")
    if word.isascii() and word.isdigit() and 1 <= int(word[:4]) <= 64:
        return int(word)
    base, plus, offset = word.partition("+")
    if f"SIG{base}" in signal.Signals.__members__ and (not plus or base == "RTMIN"):
        further = int(offset) if re.fullmatch("[0-9]{1,2}", offset) else 0
        number = signal.Signals[f"SIG{base}"] + further
        if number <= 64 and bool(plus) == bool(offset):
            return number
    raise BadInputError(
        option="stop_signal", given=on_one_line(word), remedy="give a signal such as SIGTERM"
    )
