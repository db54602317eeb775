"""Compose files: what of them is read, refused and warned of, by fields of requests and errors."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.deployment import MOST_SERVICES, Deployment, ServiceRequest, VolumeRequest
from farpath.planning.deployment_files import read_deployment
from farpath.planning.service_plan import service_plan
from farpath.spec.mptcp import Mptcp, mptcp_of
from farpath.spec.services import COMPLETED, HEALTHY, STARTED, Condition, Healthcheck

ETCD = """
x-etcd: &etcd
  image: quay.io/coreos/etcd:v3.5.12
  restart: unless-stopped
  environment: &cluster
    ETCD_INITIAL_CLUSTER: etcd1=http://etcd1:2380,etcd2=http://etcd2:2380,etcd3=http://etcd3:2380
    ETCD_INITIAL_CLUSTER_TOKEN: ${TOKEN:-lab}
  healthcheck:
    test: ["CMD", "etcdctl", "endpoint", "health"]
    interval: 2s
    timeout: 1s
    retries: 20
services:
  etcd1:
    <<: *etcd
    command: etcd --name etcd1 --data-dir /etcd-data
    volumes: [etcd1-data:/etcd-data]
    ports: ["2379:2379"]
  etcd2:
    <<: *etcd
    command: [etcd, --name, etcd2]
    environment: {<<: *cluster, ETCD_ELECTION_TIMEOUT: 5000}
  etcd3: {<<: *etcd, command: [etcd, --name, etcd3], labels: {tier: third}}
  client:
    image: quay.io/coreos/etcd:v3.5.12
    command: /bin/sh -c 'etcdctl put key $$HOME && etcdctl get key'
    depends_on:
      etcd1: {condition: service_healthy}
      etcd2: {condition: service_healthy}
      etcd3: {condition: service_healthy, restart: true}
volumes:
  etcd1-data:
x-farpath:
  timeout: 2min
  date: 2026-01-01
  stack: bbr
  seed: 7
  sites: {eu: [etcd1, client], us: [etcd2], asia: [etcd3]}
  links:
    - {sites: [eu, us], rtt: 80ms, rate: 100Mbit}
    - {sites: [us, asia], rtt: 150ms, rate: "100Mbit,20s:10Mbit"}
  faults:
    - {partition: [eu, us], at: 10s, for: 5s}
    - {kill: etcd2, at: 30s}
"""
POSTGRES = """
name: My Replica
services:
  primary:
    image: postgres:16
    container_name: pg-primary
    user: postgres
    environment:
      POSTGRES_PASSWORD: ${PASSWORD:?give it}
      POSTGRES_INITDB_ARGS:
    env_file: [./pg.env]
    volumes:
      - ./init:/docker-entrypoint-initdb.d:ro
      - data:/var/lib/postgresql/data
    healthcheck: {test: pg_isready -U postgres, interval: 1s, start_period: 1m30s}
    stop_signal: SIGINT
    stop_grace_period: 1m
  replica:
    image: postgres:16
    hostname: standby
    networks: {back: {aliases: [pg-replica]}}
    depends_on: {primary: {condition: service_healthy}}
    entrypoint: [/bin/bash, -c]
    command: ["pg_basebackup -h primary && exec postgres"]
    restart: on-failure
    tmpfs: /run
  client:
    image: postgres:16
    working_dir: /tmp
    command: psql -h standby -c 'select 1'
    depends_on: [primary, replica]
networks: {back: {driver: bridge}}
volumes: {data: {}}
"""
WEB = """
services:
  web:
    image: machine
    command: python3 -m http.server 8080
    depends_on: {migrate: {condition: service_completed_successfully}, db: {}}
  db: {image: machine, command: sleep inf, logging: {driver: none}, tty: true}
  migrate: {image: machine, command: "true", depends_on: [db], profiles: []}
  debug: {image: machine, command: sh, profiles: [debug]}
  client: {image: machine, command: curl http://web:8080/, depends_on: [web]}
"""


def read(
    folder: Path,
    text: str,
    environment: Mapping[str, str] | None = None,
    faults: tuple[str, ...] = (),
    seed: int | None = None,
) -> Deployment:
    file = folder / "compose.yml"
    file.write_text(textwrap.dedent(text))
    return read_deployment(file, seed, faults, environment or {})


def service(
    folder: Path, text: str, environment: Mapping[str, str] | None = None
) -> ServiceRequest:
    """The service of a file with one, of which these are the further keys."""
    lines = textwrap.indent(textwrap.dedent(text), "    ")
    deployment = read(folder, f"services:\n  one:\n    image: a\n{lines}", environment)
    return deployment.services[0]


def error_of(folder: Path, text: str) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read(folder, text)
    assert "\n" not in caught.value.message
    assert caught.value.message.startswith(str(folder / "compose.yml"))
    return caught.value


def test_a_cluster_of_etcd_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, ETCD)
    one, two, _, client = found.services
    assert one.command == ("etcd", "--name", "etcd1", "--data-dir", "/etcd-data")
    assert one.volumes == (VolumeRequest("etcd1-data", "/etcd-data"),)
    assert one.health == Healthcheck(("etcdctl", "endpoint", "health"), 2.0, 1.0, 20)
    assert one.restart == "always"
    assert two.environment["ETCD_INITIAL_CLUSTER_TOKEN"] == "lab"
    assert two.environment["ETCD_ELECTION_TIMEOUT"] == "5000"
    assert client.command == ("/bin/sh", "-c", "etcdctl put key $HOME && etcdctl get key")
    assert client.waits_for == tuple(Condition(f"etcd{number}", HEALTHY) for number in (1, 2, 3))
    assert found.sites == {"eu": ("etcd1", "client"), "us": ("etcd2",), "asia": ("etcd3",)}
    assert (found.main, found.seed, found.timeout_s) == ("client", 7, 120.0)
    assert (found.date_s, found.stack) == (1767225600, "bbr")
    assert [fault.kind for fault in found.faults] == ["partition", "rate", "kill"]
    assert [word.split()[0] for word in found.warnings] == ["labels", "ports"]


def test_a_database_with_a_replica_is_read(tmp_path: Path) -> None:
    (tmp_path / "init").mkdir()
    (tmp_path / "pg.env").write_text("PGDATA=/var/lib/postgresql/data # here\nA='$B'\n")
    (tmp_path / ".env").write_text("PASSWORD=secret\n")
    found = read(tmp_path, POSTGRES)
    primary, replica, client = found.services
    assert found.name == "my-replica"
    assert primary.environment == {
        "PGDATA": "/var/lib/postgresql/data",
        "A": "$B",
        "POSTGRES_PASSWORD": "secret",
    }
    assert primary.names == ("primary", "pg-primary")
    assert primary.volumes == (
        VolumeRequest(str(tmp_path / "init"), "/docker-entrypoint-initdb.d"),
        VolumeRequest("data", "/var/lib/postgresql/data"),
    )
    assert primary.health == Healthcheck(
        ("/bin/sh", "-c", "pg_isready -U postgres"), 1.0, start_period_s=90.0
    )
    assert (primary.user, primary.stop_signal, primary.grace_s) == ("postgres", 2, 60.0)
    assert replica.names == ("standby", "replica", "pg-replica")
    assert replica.entrypoint == ("/bin/bash", "-c")
    assert replica.restart == "on-failure"
    (run,) = replica.volumes
    assert run.target == "/run"
    assert "/" not in run.source
    assert client.working_dir == "/tmp"
    assert client.waits_for == (Condition("primary", STARTED), Condition("replica", STARTED))
    assert not found.warnings


def test_services_with_a_profile_are_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, WEB)
    assert [one.name for one in found.services] == ["web", "db", "migrate", "client"]
    assert found.services[0].waits_for == (Condition("migrate", COMPLETED), Condition("db"))
    assert found.sites == {"site": ("web", "db", "migrate", "client")}
    assert any("debug" in warning for warning in found.warnings)
    assert any(warning.startswith("logging") and "db" in warning for warning in found.warnings)


def test_the_example_of_the_project_is_read() -> None:
    from farpath.base.project import PROJECT

    found = read_deployment(PROJECT / "examples" / "compose" / "etcd" / "compose.yml")
    assert found.main == "client"


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("command: a 'b c' d", "command", ("a", "b c", "d")),
        ("command: [a, 1, true]", "command", ("a", "1", "true")),
        ("command:", "command", None),
        ("command: ''", "command", ()),
        ("entrypoint: /run.sh", "command", ()),
        ("entrypoint: []", "entrypoint", ()),
        ("environment: [A=1, B=, C, D=a=b]", "environment", {"A": "1", "B": "", "D": "a=b"}),
        ("environment: {A: 1.10, B: true, C: }", "environment", {"A": "1.1", "B": "true"}),
        ("environment: {A: no}", "environment", {"A": "no"}),
        ("healthcheck: {test: [NONE]}", "health", None),
        ("healthcheck: {test: x, disable: true}", "health", None),
        ("healthcheck: {test: [CMD, x], retries: '5'}", "health", Healthcheck(("x",), retries=5)),
        ("restart: 'no'", "restart", "no"),
        ("restart: no", "restart", "no"),
        ("restart: on-failure:3", "restart", "on-failure"),
        ("stop_signal: SIGRTMIN+3", "stop_signal", 37),
        ("stop_signal: 9", "stop_signal", 9),
        ("user: 1000:1000", "user", "1000:1000"),
        ("volumes: [/data]", "volumes", ()),
        ("stop_grace_period: 1m30s", "grace_s", 90.0),
        ("networks: [default]", "names", ("one",)),
        ("deploy: {replicas: 1, resources: {limits: {cpus: '0.5'}}}", "restart", "no"),
        ("x-mine: {a: b}", "restart", "no"),
        ("image: registry.example.com:5000/a/b_c:1.2@sha256:" + "a" * 64, "name", "one"),
    ],
)
def test_a_key_means_what_it_means_to_compose(
    tmp_path: Path, text: str, field: str, value: object
) -> None:
    if text.startswith("image"):
        found = read(tmp_path, f"services: {{one: {{{text}}}}}").services[0]
    else:
        found = service(tmp_path, text)
    assert getattr(found, field) == value


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("build: .", "build"),
        ("privileged: true", "privileged"),
        ("cap_add: [NET_ADMIN]", "cap_add"),
        ("devices: [/dev/a]", "devices"),
        ("network_mode: host", "network_mode"),
        ("pid: host", "pid"),
        ("extends: {service: a}", "extends"),
        ("links: [b]", "links"),
        ("secrets: [a]", "source"),
        ("configs: [a]", "source"),
        ("secrets: [{target: a}]", "source"),
        ("extra_hosts: ['a:1.2.3.4']", "extra_hosts"),
        ("sysctls: {a: 1}", "sysctls"),
        ("dns: 8.8.8.8", "dns"),
        ("volumes_from: [a]", "volumes_from"),
        ("comand: x", "comand"),
        ('command: "a \'b"', "command"),
        ("command: {a: b}", "command"),
        ("environment: ['=a']", "environment"),
        ("environment: {A: [b]}", "environment"),
        ("env_file: absent.env", ""),
        ("healthcheck: {test: [RUN, a]}", "healthcheck"),
        ("healthcheck: {interval: 1s}", "healthcheck"),
        ("healthcheck: {test: a, interval: 1 s}", "healthcheck"),
        ("healthcheck: {test: a, intervall: 1s}", "healthcheck"),
        ("stop_grace_period: 10", "stop_grace_period"),
        ("stop_signal: SIGNAL", "stop_signal"),
        ("restart: sometimes", "restart"),
        ("user: 'a b'", "user"),
        ("working_dir: tmp", "working_dir"),
        ("hostname: a b", "hostname"),
        ("hostname: localhost", "hostname"),
        ("container_name: -a", "container_name"),
        ("networks: [front]", "networks"),
        ("networks: {default: {ipv4_address: 10.0.0.1}}", "networks"),
        ("depends_on: [two]", "depends_on"),
        ("depends_on: {one: {condition: service_up}}", "depends_on"),
        ("volumes: [data:/data]", "volumes"),
        ("volumes: ['./a:data']", "volumes"),
        ("volumes: ['./a:/']", "volumes"),
        ("volumes: ['./a:/a:rx']", "volumes"),
        ("volumes: ['/dev/null:/a']", "volumes"),
        ("volumes: ['./a:/a', './b:/a']", "volumes"),
        (
            "volumes: [{type: bind, target: /a, source: ./c, bind: {create_host_path: false}}]",
            "volumes",
        ),
        ("volumes: [{type: image, target: /a, source: b}]", "type"),
        ("deploy: {replicas: 3}", "deploy"),
        ("scale: 2", "scale"),
        ("image: -rm", "image"),
        ("image: ./absent.tar", "image"),
        ("command: '${A'", ""),
        ("command: '${A:?is needed}'", ""),
    ],
)
def test_what_the_lab_does_not_have_is_refused_by_service_and_key(
    tmp_path: Path, text: str, option: str
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    own = text if text.startswith("image") else f"image: a\n    {text}"
    error = error_of(tmp_path, f"services:\n  one:\n    {own}\n")
    assert error.option == option
    assert "service one" in error.message
    assert text.partition(":")[0] in error.message


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("", ""),
        ("- a", ""),
        ("services: {}", "services"),
        ("services: [a]", "services"),
        ("services: {'a b': {image: a}}", "services"),
        ("services: {localhost: {image: a}}", "services"),
        ("services: {a: }", "image"),
        ("services: {a: b}", "services"),
        ("services: {a: {image: machine}}", "command"),
        ("services: {a: {image: a}}\nserivces: {}", "serivces"),
        ("services: {a: {image: a}}\ninclude: [b.yml]", "include"),
        ("services: {a: {image: a}}\nx-farpaht: {}", "x-farpaht"),
        ("services: {a: {image: a}}\nvolumes: {b: {external: true}}", "b"),
        ("services: {a: {image: a, profiles: [b]}}", "services"),
        ("services: {a: {image: a}, b: {image: b, hostname: a}}", "services"),
    ],
)
def test_what_is_no_compose_file_is_refused(tmp_path: Path, text: str, option: str) -> None:
    assert error_of(tmp_path, text).option == option


#: A service at each site, and one at both.
TWO_SITES = "{sites: {eu: [a, b], us: [b]}, links: [{sites: [eu, us], rtt: 1ms}]}"


@pytest.mark.parametrize(
    ("own", "option"),
    [
        ("{sed: 1}", "sed"),
        ("{seed: x}", "seed"),
        ("{timeout: 10}", "timeout"),
        ("{date: soon}", "date"),
        ("{main: c}", "main"),
        ("{sites: {eu: [a]}}", "sites"),
        ("{sites: {eu: [a, b, b]}}", "sites"),
        ("{mptcp: {a: signal}}", "mptcp"),
        (
            f"{TWO_SITES[:-1]}, mptcp: {{b: all}}}}",
            "mptcp",
        ),
        (
            f"{TWO_SITES[:-1]}, mptcp: {{a: signal}}}}",
            "mptcp",
        ),
        ("{mptcp: {scheduler: round robin}}", "mptcp"),
        ("{sites: {eu: [a, b, c]}}", "sites"),
        ("{sites: {EU: [a, b]}}", "sites"),
        ("{sites: {eu: [a], us: [b]}}", "links"),
        ("{sites: {eu: [a], us: [b]}, links: [{sites: [eu, uk], rtt: 1ms}]}", "sites"),
        ("{faults: [{kill: c, at: 1s}]}", "faults"),
        ("{faults: {kill: a}}", "faults"),
        ("[a]", ""),
    ],
)
def test_what_is_no_network_of_sites_is_refused(tmp_path: Path, own: str, option: str) -> None:
    text = "services: {a: {image: a}, b: {image: b, depends_on: [a]}}"
    error = error_of(tmp_path, f"{text}\nx-farpath: {own}")
    assert error.option == option
    assert "x-farpath" in error.message


def test_a_service_at_several_sites_has_a_link_to_each_and_opens_subflows(tmp_path: Path) -> None:
    text = "services: {a: {image: a}, b: {image: b, depends_on: [a]}}"
    (tmp_path / "compose.yml").write_text(f"{text}\nx-farpath: {TWO_SITES}")
    found = read_deployment(tmp_path / "compose.yml")
    plan = service_plan(found, 1 << 20)
    assert plan.user_network
    assert [step.end for step in plan.user_network.steps["h2"]] == ["s1", "s2"]
    assert found.mptcp.roles == {"b": "subflow"}
    assert mptcp_of(plan) == Mptcp({"h2": "subflow"})


def test_services_that_wait_for_each_other_are_named(tmp_path: Path) -> None:
    text = "services: {" + ", ".join(
        f"{one}: {{image: a, depends_on: [{other}]}}" for one, other in ("ab", "bc", "cb")
    )
    assert "b -> c -> b" in error_of(tmp_path, f"{text}}}").message


def test_the_services_that_may_be_the_main_one_are_named(tmp_path: Path) -> None:
    error = error_of(tmp_path, "services: {a: {image: a}, b: {image: a}, c: {image: a}}")
    assert error.option == "main"
    assert "a, b, c" in error.problem


def test_waiting_for_a_service_without_a_health_check_is_refused(tmp_path: Path) -> None:
    text = "services: {a: {image: a}, b: {image: a, depends_on: {a: {condition: service_healthy}}}}"
    assert error_of(tmp_path, text).option == "depends_on"


def test_a_service_that_need_not_be_there_is_not_waited_for(tmp_path: Path) -> None:
    one = service(tmp_path, "depends_on: {cache: {condition: service_started, required: false}}")
    assert one.waits_for == ()


def test_what_services_write_to_this_machine_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    text = "services: {a: {image: a, volumes: ['./there:/a', './absent:/b', '/there']}}"
    found = read(tmp_path, text)
    there, absent = found.services[0].volumes
    assert there.source == str(tmp_path / "there")
    assert "/" not in absent.source
    assert len(found.warnings) == 2


def test_secrets_and_configs_are_files_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "password.txt").write_text("secret")
    text = """
    services:
      a: {image: a, secrets: [key, {source: key, target: own}], configs: [{source: c, target: /c}]}
    secrets: {key: {file: password.txt}}
    configs: {c: {file: "./${A}.txt"}, other: {external: true}}
    """
    found = read(tmp_path, text, {"A": "password"})
    targets = ("/run/secrets/key", "/run/secrets/own", "/c")
    source = str(tmp_path / "password.txt")
    assert found.services[0].volumes == tuple(VolumeRequest(source, each) for each in targets)
    assert not found.warnings


def test_variables_come_from_outside_before_those_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nB=${A}2\n")
    text = "command: ['$A', '${B}', '${C}', '$$A']\nenvironment: [A, C]"
    assert service(tmp_path, text).command == ("1", "12", "", "$A")
    one = service(tmp_path, text, {"A": "0"})
    assert one.command == ("0", "02", "", "$A")
    assert one.environment == {"A": "0"}


def test_more_services_than_a_lab_has_are_refused_at_once(tmp_path: Path) -> None:
    services = "".join(f"  s{number}: {{image: a, command: x}}\n" for number in range(10_000))
    (tmp_path / "compose.yml").write_text(f"services:\n{services}")
    begin = time.monotonic()
    with pytest.raises(BadInputError) as caught:
        read_deployment(tmp_path / "compose.yml", environment={})
    assert time.monotonic() - begin < 2
    assert str(MOST_SERVICES) in caught.value.remedy


def test_a_seed_takes_the_place_of_the_files(tmp_path: Path) -> None:
    assert read(tmp_path, ETCD, seed=3).seed == 3


def test_faults_can_be_those_of_the_call_alone(tmp_path: Path) -> None:
    file = tmp_path / "compose.yml"
    file.write_text(ETCD)
    found = read_deployment(file, faults=["kill:etcd1,at=1s"], environment={}, no_faults=True)
    assert [fault.kind for fault in found.faults] == ["kill"]
    with pytest.raises(BadInputError) as caught:
        read_deployment(file, faults=["kill:etcd9,at=1s"], environment={})
    assert (caught.value.option, caught.value.file) == ("fault", "")
