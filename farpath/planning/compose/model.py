"""Compose's mappings as models, and the keys of a service that are refused or have no meaning here.

Source: compose-spec, 05-services.md and schema/compose-spec.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from farpath.planning.file_models import (
    Keyed,
    Seconds,
    Switch,
    Text,
    TextOrTexts,
    Texts,
    Variables,
    Whole,
    Words,
)
from farpath.spec.services import STARTED

_OWN_ROOT = "a service has its own files, and no more of this machine than its volumes"
_KERNEL = "all services share the lab's kernel"
_ADDRESSES = "the lab gives addresses, and services find each other by name"
_ADDRESS_KEYS = ("ipv4_address", "ipv6_address", "link_local_ips", "mac_address")
_INSTEAD = "farpath reads one file"
#: Keys of a service that would change what happens, and why they cannot be had.
REFUSED: Mapping[str, str] = {
    "build": "farpath builds no images: build it, and name it with image",
    "extends": f"{_INSTEAD}: write the service out, or use YAML's anchors",
    "privileged": "services have no rights over the lab",
    "cap_add": "services have no rights over the lab",
    "device_cgroup_rules": _KERNEL,
    "devices": _OWN_ROOT,
    "gpus": _OWN_ROOT,
    "credential_spec": _OWN_ROOT,
    "use_api_socket": "there is no engine in the lab",
    "network_mode": "each service is a host of its own",
    "pid": "each service is a host of its own",
    "ipc": "each service is a host of its own",
    "uts": "each service is a host of its own",
    "mac_address": _ADDRESSES,
    "extra_hosts": _ADDRESSES,
    "dns": "nothing outside the lab answers; services find each other by name",
    "dns_search": "nothing outside the lab answers; services find each other by name",
    "links": "services find each other by name: give the other one an alias in networks",
    "external_links": "nothing outside the lab answers",
    "volumes_from": "name the volumes in both services",
    "group_add": "give user with its group, as in 1000:1000",
    "sysctls": "x-farpath: stack sets the congestion control of all hosts",
    "pre_start": "there are no hooks here; write them into the command",
    "post_start": "there are no hooks here; write them into the command",
    "pre_stop": "there are no hooks here; write them into the command",
    "provider": "farpath runs services alone",
    "models": "farpath runs services alone",
}
#: Keys of a service that change nothing that a program could see in virtual time, or nothing that
#: there is in the lab; each is said once.
WITHOUT_MEANING = (
    *("annotations", "attach", "blkio_config", "cap_drop", "cgroup", "cgroup_parent", "cpu_count"),
    *("cpu_percent", "cpu_period", "cpu_quota", "cpu_rt_period", "cpu_rt_runtime", "cpu_shares"),
    *("cpus", "cpuset", "develop", "dns_opt", "domainname", "init", "isolation", "label_file"),
    *("labels", "logging", "mem_limit", "mem_reservation", "mem_swappiness", "memswap_limit"),
    *("oom_kill_disable", "oom_score_adj", "pids_limit", "platform", "pull_policy"),
    *("pull_refresh_after", "read_only", "runtime", "security_opt", "shm_size", "stdin_open"),
    *("storage_opt", "tty", "ulimits", "userns_mode"),
)


def _dependencies(value: object) -> object:
    """Return the short form of ``depends_on``, a list of names, in its long form."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(name, str) for name in value):
        raise ValueError("it must be a list of services, or a mapping")
    return {name: {} for name in value}


def _networks(value: object) -> object:
    """Return a list of networks as a mapping; a network without a value has no aliases."""
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return {name: {} for name in value}
    if isinstance(value, dict):
        networks = {name: {} if own is None else own for name, own in value.items()}
        for own in networks.values():
            if isinstance(own, dict) and (given := set(own) & set(_ADDRESS_KEYS)):
                raise ValueError(f"{min(given)} cannot be chosen: {_ADDRESSES}")
        return networks
    raise ValueError("it must be a list of networks, or a mapping")


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("it must be a list")
    return value


def _env_files(value: object) -> object:
    """Return files of variables in their long form."""
    files = value if isinstance(value, list) else [value]
    return [each if isinstance(each, dict) else {"path": each} for each in files]


class Dependency(Keyed):
    """What has to hold of another service."""

    condition: Text = STARTED
    required: Switch = True
    restart: Switch = False


class Network(Keyed):
    """A service in a network. Networks separate no services here; names alone count."""

    aliases: Texts = ()
    interface_name: Text | None = None
    priority: Any = None
    gw_priority: Any = None
    driver_opts: Any = None


class EnvFile(Keyed):
    """A file of variables."""

    path: Text
    required: Switch = True
    format: Text | None = None


class Health(Keyed):
    """A health check; ``test``: a text for a shell, or a list that begins with its kind."""

    test: TextOrTexts | None = None
    disable: Switch = False
    interval: Seconds | None = None
    timeout: Seconds | None = None
    retries: Whole | None = None
    start_period: Seconds | None = None
    start_interval: Seconds | None = None


class VolumeOptions(Keyed):
    """Options of one type of a volume in the long form."""

    create_host_path: Switch = True
    subpath: Text | None = None
    nocopy: Switch = False
    propagation: Any = None
    selinux: Any = None
    recursive: Any = None
    labels: Any = None
    size: Any = None
    mode: Any = None


class LongVolume(Keyed):
    """A volume in the long form."""

    type: Text
    target: Text
    source: Text | None = None
    read_only: Switch = False
    consistency: Any = None
    bind: VolumeOptions = VolumeOptions()
    volume: VolumeOptions = VolumeOptions()
    tmpfs: VolumeOptions = VolumeOptions()


class FileUse(Keyed):
    """A secret or a config of a service in the long form; owner and mode are the file's."""

    source: Text
    target: Text | None = None
    uid: Any = None
    gid: Any = None
    mode: Any = None


class Deploy(Keyed):
    """How a platform deploys a service; one replica alone is possible here."""

    replicas: Whole = 1
    mode: Text | None = None
    endpoint_mode: Any = None
    labels: Any = None
    rollback_config: Any = None
    update_config: Any = None
    resources: Any = None
    restart_policy: Any = None
    placement: Any = None


AnyList = Annotated[list[Any], BeforeValidator(_list)]
Dependencies = Annotated[dict[str, Dependency], BeforeValidator(_dependencies)]
Networks = Annotated[dict[str, Network], BeforeValidator(_networks)]


class ServiceModel(Keyed):
    """A service, without the keys of ``REFUSED`` and ``WITHOUT_MEANING``."""

    image: Text
    command: Words | None = None
    entrypoint: Words | None = None
    environment: Variables = Field(default_factory=dict)
    env_file: Annotated[list[EnvFile], BeforeValidator(_env_files)] = Field(default_factory=list)
    volumes: AnyList = Field(default_factory=list)
    tmpfs: TextOrTexts = ()
    secrets: AnyList = Field(default_factory=list)
    configs: AnyList = Field(default_factory=list)
    working_dir: Text | None = None
    user: Text | None = None
    depends_on: Dependencies = Field(default_factory=dict)
    healthcheck: Health | None = None
    hostname: Text | None = None
    container_name: Text | None = None
    networks: Networks = Field(default_factory=dict)
    expose: Any = None
    ports: AnyList = Field(default_factory=list)
    restart: Text | None = None
    stop_signal: Text | None = None
    stop_grace_period: Seconds | None = None
    profiles: Texts = ()
    deploy: Deploy = Deploy()
    scale: Whole = 1
