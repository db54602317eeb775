"""Users' images at end hosts: each way of keeping one gives the samples of farpath's own."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, LabFailedError
from farpath.base.project import BUILD
from farpath.lab import provenance
from farpath.lab import run as running
from farpath.lab.artifacts.host_images import host_images
from farpath.lab.artifacts.images import find_images
from farpath.lab.artifacts.user_stacks import user_stack
from farpath.spec.plan import Plan
from tests.support.paths import SHORT
from tests.support.processes import completed

from .conftest import RunPlan, single_flow

SENDER = BUILD / "sender" / "rootfs"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
LOADER = "usr/lib64/ld-linux-x86-64.so.2"
#: What the C library loads by itself when a thread of iperf3's is cancelled.
LOADED_LATER = "libgcc_s.so.1"
DURATION_S = 2.0

Images = Callable[[Plan, str], Plan]


def needed(program: str) -> list[str]:
    """The libraries that a program of the sender image loads at its start."""
    paths = [SENDER / LOADER, SENDER / LIBRARIES, SENDER / program]
    loader, libraries, binary = map(str, paths)
    command = [loader, "--library-path", libraries, "--list", binary]
    done = completed(command, check=True)
    return re.findall(r"^\s+([^/\s]+) => ", done.stdout, re.MULTILINE)


@pytest.fixture
def root(tmp_path: FilePath) -> FilePath:
    """A root with iperf3 of the sender image and what that loads, nothing else."""
    root_dir = tmp_path / "roots" / "tiny"
    for directory in ("etc", "usr/bin", "usr/lib64", LIBRARIES):
        (root_dir / directory).mkdir(parents=True)
    for link in ("bin", "lib", "lib64"):
        (root_dir / link).symlink_to(f"usr/{link}")
    libraries = [f"{LIBRARIES}/{name}" for name in [*needed("usr/bin/iperf3"), LOADED_LATER]]
    for name in ("usr/bin/iperf3", LOADER, "etc/ld.so.cache", *libraries):
        shutil.copy2(SENDER / name, root_dir / name)
    return root_dir


@pytest.fixture
def layout(root: FilePath, tmp_path: FilePath) -> FilePath:
    """The root as an OCI image layout, made by umoci."""
    directory = tmp_path / "layouts" / "tiny"
    directory.parent.mkdir()
    image = f"{directory}:latest"
    for command in (
        ["init", "--layout", str(directory)],
        ["new", "--image", image],
        ["insert", "--rootless", "--image", image, str(root), "/"],
        ["config", "--image", image, "--config.env", "TINY=yes"],
    ):
        subprocess.run(["umoci", *command], check=True)
    return directory


def docker(*arguments: str | FilePath, text: bytes = b"") -> str:
    done = subprocess.run(["docker", *arguments], input=text, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture
def engine(tmp_path: FilePath) -> Iterator[str]:
    """A name for images of this test's own in Docker's engine."""
    try:
        docker("version", "--format", "{{.Server.Version}}")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no Docker engine answers")
    name = f"farpath-test-{tmp_path.name.lower().replace('_', '-')}"
    yield name
    subprocess.run(["docker", "image", "rm", name], capture_output=True, check=False)


@pytest.fixture
def saved(engine: str, root: FilePath, tmp_path: FilePath) -> FilePath:
    """The root as an image that Docker's engine built and saved."""
    (root / "Dockerfile").write_text("FROM scratch\nCOPY . /\nENV TINY=yes\n")
    file = tmp_path / "tiny.tar"
    subprocess.run(
        ["docker", "build", "--quiet", "--tag", engine, root],
        env={**os.environ, "DOCKER_BUILDKIT": "0"},
        check=True,
    )
    (root / "Dockerfile").unlink()
    docker("save", "--output", file, engine)
    return file


@pytest.fixture
def own(build: FilePath) -> Images:
    """A plan with the images that a text means, built in a cache of this test's own."""

    def given(plan: Plan, text: str) -> Plan:
        return dataclasses.replace(plan, images=host_images(text, plan, build))

    return given


@pytest.fixture
def plan() -> Plan:
    path = dataclasses.replace(SHORT, loss=0.0)
    return single_flow("htcp", DURATION_S, path, flows=2)


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Plan], str]:
    """The fingerprint that a plan has with farpath's own image, run once."""
    fingerprints: dict[str, str] = {}

    def fingerprint(plan: Plan) -> str:
        text = plan.to_json()
        if text not in fingerprints:
            out = tmp_path_factory.mktemp("default")
            outcome = running.run(plan, out, force=True, watch=lambda _event: None)
            data = json.loads((outcome.directory / "record.json").read_text())
            fingerprints[text] = data["fingerprint"]
        return fingerprints[text]

    return fingerprint


@pytest.mark.parametrize("kind", ["layout", "saved"])
def test_the_same_iperf3_from_a_users_image_gives_the_same_samples(
    run_plan: RunPlan,
    own: Images,
    plan: Plan,
    default: Callable[[Plan], str],
    request: pytest.FixtureRequest,
    kind: str,
) -> None:
    image_file = request.getfixturevalue(kind)
    with_image = own(plan, str(image_file))
    assert list(with_image.images) == ["sender", "receiver"]
    record = run_plan(with_image)
    assert record.fingerprint == default(plan)
    digests = {
        host: manifest["digest"] for host, manifest in record.data["provenance"]["images"].items()
    }
    assert digests == {host: image.digest for host, image in record.plan.images.items()}


def test_a_root_at_one_host_gives_the_same_samples(
    run_plan: RunPlan, own: Images, plan: Plan, default: Callable[[Plan], str], root: FilePath
) -> None:
    record = run_plan(own(plan, f"receiver={root}"))
    assert list(record.plan.images) == ["receiver"]
    assert record.fingerprint == default(plan)


def test_runs_of_two_images_have_two_places(
    own: Images, plan: Plan, root: FilePath, tmp_path: FilePath
) -> None:
    images = find_images(tmp_path / "build")
    names = {
        provenance.record_name(plan, images),
        provenance.record_name(own(plan, str(root)), images),
    }
    (root / "etc" / "hosts").write_text("")
    names.add(provenance.record_name(own(plan, str(root)), images))
    assert len(names) == 3


def test_a_docker_save_is_a_program_for_a_stack_too(
    engine: str, own: Images, root: FilePath, tmp_path: FilePath
) -> None:
    docker("import", "--change", 'ENTRYPOINT ["/run", "-v"]', "-", engine, text=tar_of(root))
    docker("save", "--output", tmp_path / "mine.tar", engine)
    stack = user_stack(f"oci:{tmp_path / 'mine.tar'}", tmp_path / "build")
    assert stack is not None
    assert stack.command == ("/run", "-v")
    rootfs = tmp_path / "build" / "own" / stack.build / "rootfs"
    assert (rootfs / "usr" / "bin" / "iperf3").is_file()


def tar_of(root: FilePath) -> bytes:
    command = ["tar", "--create", "--directory", str(root), "."]
    return subprocess.run(command, check=True, capture_output=True).stdout


def test_a_docker_save_with_a_damaged_layer_is_refused_and_leaves_nothing(
    own: Images, plan: Plan, saved: FilePath, tmp_path: FilePath
) -> None:
    with tarfile.open(saved) as tar:
        layer = max(tar, key=lambda member: member.size)
    with saved.open("r+b") as file:
        file.seek(layer.offset_data + layer.size // 2)
        file.write(b"damaged")
    with pytest.raises(BadInputError, match=r"^sender_image: skopeo cannot read .*tiny\.tar"):
        own(plan, str(saved))
    assert [file.name for file in (tmp_path / "cache" / "own").iterdir()] == ["lock"]


def test_an_image_without_iperf3_is_refused_before_any_boot(
    own: Images, plan: Plan, root: FilePath
) -> None:
    (root / "usr" / "bin" / "iperf3").unlink()
    with pytest.raises(BadInputError, match=r"^sender_image: .*tiny has no iperf3 in its PATH"):
        own(plan, str(root))


def test_a_program_that_cannot_start_ends_the_run_with_its_host_and_image(
    run_plan: RunPlan, own: Images, plan: Plan, root: FilePath
) -> None:
    (root / LIBRARIES / "libiperf.so.0").unlink()
    message = r"flow1-sender \(host sender, image tiny\) exited with 127: .*libiperf\.so\.0"
    with pytest.raises(LabFailedError, match=message):
        run_plan(own(plan, f"sender={root}"))


def test_an_images_environment_and_path_hold(
    run_plan: RunPlan, own: Images, plan: Plan, layout: FilePath, root: FilePath
) -> None:
    script = root.parent / "iperf3"
    shutil.copy2(SENDER / "usr" / "bin" / "dash", root.parent / "sh")
    script.write_text('#!/opt/sh\necho "TINY is $TINY, PATH is $PATH" >&2; exit 3\n')
    script.chmod(0o755)
    image = f"{layout}:latest"
    for file in (script, root.parent / "sh"):
        files = (str(file), f"/opt/{file.name}")
        subprocess.run(["umoci", "insert", "--rootless", "--image", image, *files], check=True)
    setting = ["--config.env", "PATH=/none:/opt"]
    subprocess.run(["umoci", "config", "--image", image, *setting], check=True)
    message = r"host receiver, image tiny\) exited with 3: TINY is yes, PATH is /none:/opt;"
    with pytest.raises(LabFailedError, match=message):
        run_plan(own(plan, str(layout)))
