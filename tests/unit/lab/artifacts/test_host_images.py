"""Users' images at end hosts: which host gets which, and what cannot start is refused."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.artifacts import elf, host_images, oci, scripts
from farpath.lab.artifacts.host_images import places_by_host, programs_by_host, resolved
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.spec.host_image import HostImage
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions
from farpath.spec.stack import IMAGE, Stack
from tests.support.oci_layouts import AMD64, docker_tar

PROGRAMS = {"sender": {"iperf3"}, "receiver": {"iperf3"}, "pinger": {"ping"}}


def plan_of(stack: str, *user_stacks: Stack) -> Plan:
    schedule = seven_regions(stack, 10.0)
    return make_plan(path_by_name("cern"), schedule, 1, "virtual", user_stacks=user_stacks)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("./mine.tar", {"sender": "./mine.tar", "receiver": "./mine.tar"}),
        ("receiver=a.tar", {"receiver": "a.tar"}),
        ("receiver=./a.tar,sender=./b", {"sender": "./b", "receiver": "./a.tar"}),
        ("./a,receiver=./b", {"sender": "./a", "receiver": "./b"}),
        ("pinger=/c,./a", {"sender": "./a", "receiver": "./a", "pinger": "/c"}),
        ("./a=b.tar", {"sender": "./a=b.tar", "receiver": "./a=b.tar"}),
        ("receiver=./a=b", {"receiver": "./a=b"}),
    ],
)
def test_a_text_names_an_image_for_all_that_send_or_receive_or_for_one_host(
    text: str, places: dict[str, str]
) -> None:
    assert places_by_host(text, PROGRAMS) == places


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "give an image, ./mine.tar"),
        (",", "give an image"),
        ("./a,./b", "give an image"),
        ("receiver=", "give an image"),
        ("receiver=./a,receiver=./b", "each once"),
        ("recevier=./a", "no host 'recevier'; allowed are sender, receiver, pinger"),
        ("all=./a", "no host 'all'"),
        ("a=b.tar", "begin a path with ./ if it has a '='"),
        ("./a,sender=./b,receiver=./b", "no host would start a program from ./a; leave it out"),
    ],
)
def test_a_text_that_is_malformed_or_of_no_use_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint) as caught:
        places_by_host(text, PROGRAMS)
    assert caught.value.message.startswith(f"sender_image is '{text}': ")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(("stack", "program"), [("htcp", "iperf3"), ("udt", "udtperf")])
def test_a_host_runs_the_programs_of_its_flows_and_the_pinger_ping(
    stack: str, program: str
) -> None:
    assert programs_by_host(plan_of(stack)) == {
        "sender": {program},
        "receiver": {program},
        "pinger": {"ping"},
    }


@pytest.mark.parametrize("text", ["./mine", "receiver=./mine"])
def test_an_image_beside_a_stack_that_brings_its_own_is_refused(text: str) -> None:
    plan = plan_of("own", Stack("own", "own", IMAGE, build="0" * 16, command=("/run",)))
    with pytest.raises(BadInputError, match=r"oci:.* brings its own"):
        places_by_host(text, programs_by_host(plan))


@pytest.fixture
def root(tmp_path: FilePath) -> FilePath:
    """A root with links of every kind; what they mean outside it is another thing."""
    place = tmp_path / "root"
    (place / "usr" / "bin").mkdir(parents=True)
    (place / "bin").symlink_to("usr/bin")
    (place / "usr" / "bin" / "real").write_text("x")
    (place / "usr" / "bin" / "relative").symlink_to("../bin/real")
    (place / "usr" / "bin" / "absolute").symlink_to("/bin/real")
    (place / "usr" / "bin" / "climbing").symlink_to("../../../../../usr/bin/real")
    (place / "usr" / "bin" / "outside").symlink_to("/etc/passwd")
    (place / "usr" / "bin" / "loop").symlink_to("loop")
    return place


@pytest.mark.parametrize("name", ["real", "relative", "absolute", "climbing"])
def test_a_name_in_a_root_is_followed_as_programs_there_see_it(root: FilePath, name: str) -> None:
    assert resolved(root, f"/bin/{name}") == root / "usr" / "bin" / "real"


@pytest.mark.parametrize("name", ["outside", "loop", "none", "real/below"])
def test_a_name_that_leads_nowhere_in_a_root_is_nothing(root: FilePath, name: str) -> None:
    assert resolved(root, f"/bin/{name}") is None


def program(machine: int = elf.X86_64, interpreter: bytes = b"") -> bytes:
    """An ELF file with at most one program header."""
    header = struct.pack("<16sHHIQQQIHHHHHH", elf.MAGIC + bytes([2, 1, 1]), 3, machine, 1, 0, 64,
                         0, 0, 64, 56, 1 if interpreter else 0, 64, 0, 0)  # fmt: skip
    size = len(interpreter)
    segment = struct.pack("<2I6Q", elf.PT_INTERP, 4, 120, 0, 0, size, size, 1)
    return header + (segment + interpreter if interpreter else b"")


STATIC = program()
ARM64 = 183


@pytest.fixture
def cache(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> FilePath:
    """A cache of this test's own, for what the script makes."""
    monkeypatch.setenv("FARPATH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def image(tmp_path: FilePath) -> Callable[..., FilePath]:
    """A root directory with the given files, all of them programs."""

    def make(**files: bytes) -> FilePath:
        place = tmp_path / "mine"
        (place / "usr" / "bin").mkdir(parents=True)
        (place / "bin").symlink_to("usr/bin")
        for name, content in files.items():
            (place / "usr" / "bin" / name).write_bytes(content)
            (place / "usr" / "bin" / name).chmod(0o755)
        return place

    return make


def images_of(place: FilePath, tmp_path: FilePath, stack: str = "htcp") -> dict[str, HostImage]:
    return host_images.host_images(str(place), plan_of(stack), tmp_path / "build")


@pytest.mark.usefixtures("cache")
def test_a_directory_is_an_image_of_its_name_and_content(
    image: Callable[..., FilePath], tmp_path: FilePath
) -> None:
    place = image(iperf3=STATIC)
    images = images_of(place, tmp_path)
    assert list(images) == ["sender", "receiver"]
    made = images["sender"]
    assert (made.name, made.environment, made.directory) == ("mine", (), "/")
    built = tmp_path / "build" / "own" / made.build
    assert json.loads((built / "manifest.json").read_text())["digest"] == made.digest
    assert (built / "rootfs" / "bin" / "iperf3").read_bytes() == STATIC


@pytest.mark.usefixtures("cache")
def test_a_copied_directory_is_plain_files_readable_by_all(
    image: Callable[..., FilePath], tmp_path: FilePath
) -> None:
    place = image(iperf3=STATIC)
    (place / "usr" / "bin" / "iperf3").chmod(0o4711)
    (place / "proc" / "1").mkdir(parents=True)
    (place / "root").mkdir(mode=0o700)
    made = images_of(place, tmp_path)["sender"]
    copied = tmp_path / "build" / "own" / made.build / "rootfs"
    assert (copied / "usr" / "bin" / "iperf3").stat().st_mode & 0o7777 == 0o755
    assert (copied / "root").stat().st_mode & 0o7777 == 0o755
    assert list((copied / "proc").iterdir()) == []
    assert (copied / "bin").is_symlink()


@pytest.mark.usefixtures("cache")
def test_equal_directories_are_one_image_and_an_edit_makes_another(
    image: Callable[..., FilePath], tmp_path: FilePath
) -> None:
    place = image(iperf3=STATIC)
    before = images_of(place, tmp_path)["sender"]
    copied = tmp_path / "elsewhere" / "mine"
    shutil.copytree(place, copied, symlinks=True)
    (copied / "usr" / "bin" / "iperf3").touch()
    assert images_of(copied, tmp_path)["sender"] == before
    (place / "usr" / "bin" / "iperf3").write_bytes(STATIC + b"another")
    after = images_of(place, tmp_path)["sender"]
    assert (after.name, after.digest == before.digest, after.build == before.build) == (
        "mine",
        False,
        False,
    )


BAD_PROGRAMS = {
    "no iperf3": ({}, "/mine has no iperf3 in its PATH .*, which the sender runs: install it"),
    "iperf3 for another processor": ({"iperf3": program(ARM64)}, "for another processor"),
    "iperf3 without its loader": (
        {"iperf3": program(interpreter=b"/lib64/ld.so\0")},
        "needs /lib64/ld.so, which is not there",
    ),
    "iperf3 cut short": (
        {"iperf3": program(interpreter=b"/lib64/ld.so\0")[:70]},
        "is cut short",
    ),
    "a script without its shell": ({"iperf3": b"#! /bin/sh -e\n"}, "needs /bin/sh"),
    "a text": ({"iperf3": b"hello"}, "is no program"),
    "nothing": ({"iperf3": b""}, "is no program"),
}


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("what", BAD_PROGRAMS)
def test_an_image_whose_program_cannot_start_is_refused_before_any_boot(
    image: Callable[..., FilePath], tmp_path: FilePath, what: str
) -> None:
    files, complaint = BAD_PROGRAMS[what]
    with pytest.raises(BadInputError, match=complaint) as caught:
        images_of(image(**files), tmp_path)
    assert caught.value.message.startswith("sender_image: ")
    assert "\n" not in caught.value.message


@pytest.mark.usefixtures("cache")
def test_a_program_that_none_may_execute_is_not_there(
    image: Callable[..., FilePath], tmp_path: FilePath
) -> None:
    place = image(iperf3=STATIC)
    (place / "usr" / "bin" / "iperf3").chmod(0o644)
    with pytest.raises(BadInputError, match="has no iperf3 in its PATH"):
        images_of(place, tmp_path)


@pytest.mark.usefixtures("cache")
def test_udt_asks_for_udtperf(image: Callable[..., FilePath], tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match=r"has no udtperf .*: copy it"):
        images_of(image(iperf3=STATIC), tmp_path, "udt")


def test_a_place_that_is_not_there_is_refused_with_what_docker_can_do(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match=r"none' is no directory or file: .*docker save"):
        images_of(tmp_path / "none", tmp_path)


def test_an_image_that_cannot_be_read_is_said_of_the_variable(
    tmp_path: FilePath, cache: FilePath
) -> None:
    file = docker_tar(tmp_path / "mine.tar", {**AMD64, "config": {}})
    file.write_bytes(file.read_bytes()[:700])
    with pytest.raises(BadInputError, match=r"^sender_image: .*mine.tar is neither"):
        images_of(file, tmp_path)
    assert not cache.exists()


@pytest.mark.parametrize("offset", [1 << 63, (1 << 64) - 1, 1 << 40])
def test_an_elf_file_whose_tables_lie_outside_it_is_cut_short(offset: int) -> None:
    content = bytearray(program(interpreter=b"/lib/ld.so"))
    struct.pack_into("<2Q", content, 32, offset, offset)
    struct.pack_into("<3H", content, 58, 64, 1, 0)
    with pytest.raises(elf.ElfError):
        elf.interpreter(bytes(content))
    with pytest.raises(elf.ElfError):
        elf.section(bytes(content), b".modinfo")


def test_an_image_with_a_hole_of_many_gigabytes_is_refused_with_its_size(
    image: Callable[..., FilePath], cache: FilePath
) -> None:
    place = image(iperf3=STATIC)
    with (place / "usr" / "bin" / "hole").open("wb") as file:
        file.truncate(40_000_000_000)
    with pytest.raises(BadInputError, match=r"holds 40\.0 GB, .*bin/hole with 40\.0 GB.* 10 GB"):
        host_images.host_images(str(place), plan_of("htcp"))
    assert not cache.exists()


def test_reading_an_image_of_a_gigabyte_is_said(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripts, "LARGE_IMAGE_BYTES", 100)
    monkeypatch.setattr(scripts, "build_artifact", lambda *_rest, **_options: FilePath("/made"))
    file = docker_tar(tmp_path / "mine.tar", AMD64)
    lines: list[str] = []
    scripts.unpacked(file, oci.Image(oci.DIRECTORY, {}), lines.append)
    assert len(lines) == 1
    assert f"GB of {file}" in lines[0]
