"""The build script of the lab's kernel: a tree's twin becomes what the tree is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from farpath.base.project import PROJECT
from tests.support.processes import completed

SCRIPT = PROJECT / "images" / "kernel" / "build"
FILES = {"Makefile": "VERSION = 7", "net/a.c": "int a;", "net/b.c": "int b;", "arch/x.dts": "x"}


def call(directory: Path, *words: str, **variables: str) -> str:
    """What a function of the script prints."""
    done = completed(
        ["bash", "-c", '. "$1"; "${@:2}"', "bash", SCRIPT, *words],
        env={**os.environ, "FARPATH_CACHE": str(directory / "cache"), **variables},
        check=True,
    )
    return done.stdout


def write_tree(directory: Path) -> Path:
    for name, text in FILES.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (directory / "net" / "link").symlink_to("a.c")
    return directory


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "twin")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree")


def followed(tmp_path: Path, tree: Path, twin: Path) -> list[str]:
    """The names that differ; afterwards the twin has the tree's files of these names."""
    names = tmp_path / "names"
    names.write_text(call(tmp_path, "changed_files", str(tree), str(twin)))
    call(tmp_path, "follow_tree", str(tree), str(twin), str(names))
    return names.read_text().split("\0")[:-1]


def test_equal_trees_share_every_file(tmp_path: Path, tree: Path, twin: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in twin.rglob("*.c")}
    assert followed(tmp_path, tree, twin) == []
    assert {file: file.stat().st_mtime_ns for file in twin.rglob("*.c")} == before


def test_changed_new_and_removed_files_are_followed_and_no_other(
    tmp_path: Path, tree: Path, twin: Path
) -> None:
    original = tmp_path / "original.c"
    original.hardlink_to(twin / "net" / "a.c")
    os.utime(twin / "net" / "a.c", (0, 0))
    (tree / "net" / "a.c").write_text("int c;")
    (tree / "net" / "b.c").unlink()
    (tree / "new dir").mkdir()
    (tree / "new dir" / "back\\slash.c").write_text("int d;")
    (tree / "net" / "link").unlink()
    (tree / "net" / "link").symlink_to("../Makefile")
    (tree / "arch" / "x.dts").write_text("nothing opens it")
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("a branch")
    names = followed(tmp_path, tree, twin)
    assert names == ["net/a.c", "net/b.c", "net/link", "new dir/back\\slash.c"]
    assert followed(tmp_path, tree, twin) == []
    # What is newer than every object is compiled; the cache's own source stays as it is
    assert (twin / "net" / "a.c").stat().st_mtime > tree.parent.stat().st_mtime - 3600
    assert original.read_text() == "int a;"
    assert not (twin / "net" / "b.c").exists()
    assert str((twin / "net" / "link").readlink()) == "../Makefile"


def test_a_file_in_the_place_of_a_directory_is_followed_and_the_reverse(
    tmp_path: Path, tree: Path, twin: Path
) -> None:
    for name in ("net/a.c", "net/b.c", "net/link"):
        (tree / name).unlink()
    (tree / "net").rmdir()
    (tree / "net").write_text("a file")
    (tree / "Makefile").unlink()
    (tree / "Makefile").mkdir()
    (tree / "Makefile" / "part").write_text("VERSION = 8")
    followed(tmp_path, tree, twin)
    assert followed(tmp_path, tree, twin) == []
    assert (twin / "net").read_text() == "a file"
    assert (twin / "Makefile" / "part").read_text() == "VERSION = 8"


def test_objects_get_the_twins_paths_and_keep_their_times(tmp_path: Path) -> None:
    objects = tmp_path / "objects"
    objects.mkdir()
    command, other = objects / ".a.o.cmd", objects / ".config"
    command.write_text("gcc -I/cache/source/7.2.1~bpo+1/include a.c")
    other.write_text("CONFIG_A=y")
    for file in (command, other):
        os.utime(file, ns=(10**18, 10**18 + 1))
    call(tmp_path, "rename_in_objects", str(objects), "/cache/source/7.2.1~bpo+1", "/twin")
    assert command.read_text() == "gcc -I/twin/include a.c"
    assert [file.stat().st_mtime_ns for file in (command, other)] == [10**18 + 1] * 2
    assert sorted(objects.iterdir()) == [command, other]


def test_objects_of_other_settings_have_a_place_of_their_own(tmp_path: Path) -> None:
    places = [
        call(tmp_path, "objects_of", "debian-7.2.12", KERNEL_CFLAGS=flags)
        for flags in ("-O2", "-O2", "-O3")
    ]
    assert places[0] == places[1] != places[2]
    assert all(Path(place).name.startswith("debian-7.2.12-") for place in places)


def test_a_source_that_is_older_than_an_option_goes_without_and_a_later_one_has_its_new_name(
    tmp_path: Path,
) -> None:
    objects, source = tmp_path / "objects", tmp_path / "source"
    texts = {"old": "config PROC_SYSCTL", "new": "menuconfig NET_SCH_DUALPI2\nconfig SYSCTL"}
    configs = {}
    for age, text in texts.items():
        for directory in (objects, source / age):
            directory.mkdir(parents=True, exist_ok=True)
        (source / age / "Kconfig").write_text(f"{text}\n")
        setting = f"source={source / age} objects_dir={objects} origin=it; write_config"
        call(tmp_path, "eval", setting)
        configs[age] = (objects / "lab.config").read_text().splitlines()
    own = (SCRIPT.parent / "lab.config").read_text().splitlines()
    assert configs["old"] == [line for line in own if line != "CONFIG_NET_SCH_DUALPI2=y"]
    assert configs["new"] == [
        "CONFIG_SYSCTL=y" if line == "CONFIG_PROC_SYSCTL=y" else line for line in own
    ]


def test_a_kernel_with_tracepoints_has_its_own_objects_and_further_options(tmp_path: Path) -> None:
    wanted = {"KERNEL_TRACEPOINTS": "1"}
    plain, traced = (
        call(tmp_path, "objects_of", "debian-7.2.12", **variables) for variables in ({}, wanted)
    )
    assert plain != traced
    (tmp_path / "Kconfig").write_text("config PROC_SYSCTL\nconfig NET_SCH_DUALPI2\n")
    call(tmp_path, "eval", f"source={tmp_path} objects_dir={tmp_path}; write_config", **wanted)
    config = (tmp_path / "lab.config").read_text().splitlines()
    own = (SCRIPT.parent / "lab.config").read_text().splitlines()
    further = (SCRIPT.parent / "tracepoints" / "config").read_text().splitlines()
    assert config == [*own, *further]
    assert "CONFIG_ENABLE_DEFAULT_TRACERS=y" in further


def test_a_kernel_for_one_side_is_refused_by_what_builds_the_labs_own(tmp_path: Path) -> None:
    done = completed(
        [SCRIPT], env={**os.environ, "FARPATH_CACHE": str(tmp_path), "KERNEL_SRC": "sender=7.3"}
    )
    assert done.returncode == 2
    assert "'make experiment' alone takes" in done.stderr
