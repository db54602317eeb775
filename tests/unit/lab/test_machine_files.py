"""Machine files: digests that follow what programs can read of this machine."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

import pytest

from farpath.lab import machine_files
from farpath.lab.machine_files import digests, service_digests
from farpath.record.replaced import FILE_WORDS
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, Place, Programs
from farpath.spec.protocol import MACHINE_ROOT
from farpath.spec.services import Service, Services, Volume


@pytest.fixture
def tree(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> FilePath:
    """A machine in small: a package database, settings, a program with its library, a directory."""
    files = {
        "dpkg/status": "Package: curl",
        "etc/ld.so.cache": "libraries",
        "opt/tool/bin/tool": "#!/bin/sh",
        "opt/tool/lib/part.py": "pass",
        "work/input": "data",
        "work/results/exec-one/exec.json": "{}",
        "elsewhere/client.py": "pass",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "opt/tool/bin/tool").chmod(0o755)
    monkeypatch.setattr(machine_files, "PACKAGE_DATABASES", (str(tmp_path / "dpkg/status"),))
    monkeypatch.setattr(machine_files, "SETTINGS", str(tmp_path / "etc"))
    return tmp_path


def digests_of(tree: FilePath, root: str = MACHINE_ROOT, share: str = "") -> dict[str, str | None]:
    place = Place(root, (f"PATH={tree}/opt/tool/bin",), str(tree / "work"))
    programs = Programs(
        client=("tool", "../elsewhere/client.py"),
        servers=((f"{tree}/opt/tool/bin/tool", "x" * 5000),),
        places={CLIENT_HOST: place, SERVER_HOST: place},
        user=0,
        group=0,
        timeout_s=60.0,
        share=share,
    )
    return digests(programs, [tree / "work" / "results"])


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("dpkg/status", "packages"),
        ("etc/ld.so.cache", "settings"),
        ("opt/tool/bin/tool", "programs"),
        ("opt/tool/lib/part.py", "programs"),
        ("elsewhere/client.py", "programs"),
        ("work/input", "directory"),
        ("work/results/exec-one/exec.json", None),
    ],
)
def test_what_changes_changes_one_digest_and_records_change_none(
    tree: FilePath, name: str, part: str | None
) -> None:
    before = digests_of(tree)
    assert digests_of(tree) == before
    assert list(before) == list(FILE_WORDS)
    (tree / name).write_text("something that is longer")
    after = digests_of(tree)
    assert {each for each in after if after[each] != before[each]} == ({part} if part else set())


def test_a_new_name_changes_the_digest_and_so_does_another_time_of_change(tree: FilePath) -> None:
    found = [digests_of(tree)["directory"]]
    (tree / "work" / "link").symlink_to("nowhere")
    found.append(digests_of(tree)["directory"])
    os.utime(tree / "work" / "input", ns=(1, 1))
    found.append(digests_of(tree)["directory"])
    assert len(set(found)) == 3


def test_of_other_roots_programs_read_the_shared_directory_alone(tree: FilePath) -> None:
    assert digests_of(tree, root="sender") == {}
    shared = digests_of(tree, root="sender", share=str(tree / "work"))
    assert shared == {"directory": digests_of(tree)["directory"]}


def test_a_directory_of_many_files_has_no_digest(
    tree: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_files, "MOST_FILES", 1)
    for number in range(3):
        (tree / "work" / f"file{number}").touch()
    assert digests_of(tree)["directory"] is None
    assert digests_of(tree)["settings"]


def test_services_read_their_directories_their_programs_and_their_volumes(tree: FilePath) -> None:
    volumes = {"data": "data/rows", "one": "conf/one.ini", "beside": "conf/beside.ini"}
    for name in volumes.values():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text("before")
    place = Place(MACHINE_ROOT, (f"PATH={tree}/opt/tool/bin",), str(tree / "work"))
    elsewhere = Place("images/1", (), "/")
    mounted = (Volume("/data", 0), Volume("/etc/one.ini", 1, "one.ini"), Volume("/x", name="x"))
    services = Services(
        (
            Service("client", "h1", ("tool",), place, ("client",), 0, 0),
            Service("db", "h2", ("db",), elsewhere, ("db",), 0, 0, volumes=mounted),
        ),
        "client",
        60.0,
    )

    def found() -> dict[str, str | None]:
        return service_digests(services, (tree / "data", tree / "conf"), [tree / "work/results"])

    for name, part in {
        "opt/tool/lib/part.py": {"programs"},
        "work/input": {"directory"},
        "data/rows": {"directory"},
        "conf/one.ini": {"directory"},
        "conf/beside.ini": set(),
        "work/results/exec-one/exec.json": set(),
    }.items():
        before = found()
        assert list(before) == list(FILE_WORDS)
        (tree / name).write_text("something that is longer")
        after = found()
        assert {each for each in after if after[each] != before[each]} == part
