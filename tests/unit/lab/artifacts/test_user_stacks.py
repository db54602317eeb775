"""A user's own stack: what a text, a module and an image mean, judged before any boot."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.lab.artifacts import scripts, user_stacks
from farpath.programs.catalog import fitted
from farpath.spec.stack import IMAGE, IPERF3, UDTPERF, Stack
from tests.support.oci_layouts import RUN, Layout
from tests.support.paths import LONG

#: What the image script needs until it finds that umoci is not there.
TOOLS = ("bash", "cut", "dirname", "flock", "mkdir", "printf", "readlink", "sha256sum")
MODULE = """
#define INFO(n, text) static const char info##n[] \\
    __attribute__((section(".modinfo"), used, aligned(1))) = text
INFO(1, "license=GPL");
INFO(2, "parm=gain:a text with parmtype=wrong:int");
INFO(3, "parmtype=gain:int");
INFO(4, "parmtype=fast:bool");
INFO(5, "parmtype=word:charp");
"""


@pytest.fixture
def layout(tmp_path: FilePath) -> Layout:
    return Layout(tmp_path / "mine")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath) -> Callable[[str], None]:
    """Put a script of the given text in place of those that build."""

    def put(text: str) -> None:
        file = tmp_path / "build-it"
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        monkeypatch.setattr(user_stacks, "MODULES_SCRIPT", file)
        monkeypatch.setattr(user_stacks, "CONGESTION_SCRIPT", file)
        monkeypatch.setattr(scripts, "IMAGE_SCRIPT", file)

    return put


@pytest.fixture
def module(tmp_path: FilePath, script: Callable[[str], None]) -> FilePath:
    """A module's source whose build is a file with a section of module parameters."""
    place = tmp_path / "cache" / "0123456789abcdef"
    place.mkdir(parents=True)
    source = tmp_path / "tcp_mine.c"
    source.write_text(MODULE)
    built = str(place / "tcp_mine.ko")
    subprocess.run(["gcc", "-c", "-x", "c", "-o", built, str(source)], check=True)
    script(f"echo made it >&2; echo {place}")
    return source


@pytest.mark.parametrize(
    "text", ["htcp", "fast:alpha=200", "fast:alpha=1/2", "nothing", "", "oci", "tcp_mine"]
)
def test_a_text_without_a_path_an_ending_or_oci_is_left_to_the_catalogue(text: str) -> None:
    assert user_stacks.user_stack(text) is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("./tcp_none.c", "that is no file"),
        ("tcp_none.c", "that is no file"),
        ("./none.cpp", "that is no file; give a source, <name>.cpp"),
        ("oci:", "no such directory or file"),
        ("oci:./none", "no such directory or file"),
        ("./tcp_none.c:alpha", "alpha needs a value"),
        ("./tcp_none.c:a=1,a=2", "a is given twice"),
    ],
)
def test_what_is_not_there_or_malformed_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        user_stacks.user_stack(text)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("mine.c", "is called tcp_<name>.c"),
        ("tcp_.c", "is called tcp_<name>.c"),
        ("tcp_MINE.c", "is called tcp_<name>.c"),
        ("tcp_sixteen_letters_.c", "is called tcp_<name>.c"),
        ("tcp_a b.c", "is called tcp_<name>.c"),
        ("tcp_reno.c", "its own stack 'reno'; rename yours"),
        ("tcp_hstcp.c", "its own stack 'hstcp'; rename yours"),
        ("Mine.cpp", "is called <name>.cpp"),
        ("udt.cpp", "its own stack 'udt'; rename yours"),
    ],
)
def test_a_modules_file_has_a_name_that_the_kernel_takes_and_the_catalogue_lacks(
    tmp_path: FilePath, name: str, complaint: str
) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(BadInputError, match=complaint):
        user_stacks.user_stack(str(tmp_path / name))


@pytest.mark.parametrize(
    ("file", "registered", "name"),
    [
        ("tcp_mine.c", "mine", "mine"),
        ("tcp_mine.c", "reno", "mine"),
        ("tcp_cubic.c", "cubic", "own_cubic"),
        ("tcp_cubic.c", "faster", "faster"),
        ("brutal.c", "brutal", "brutal"),
        ("bbr_2018.c", "bbr", "bbr_2018"),
        ("Mine.c", "cubic", "own_cubic"),
        ("tcp_MINE.c", "leo-cubic", "leo_cubic"),
        ("Kbuild", "mine", "mine"),
        ("", "mine", "mine"),
    ],
)
def test_a_module_has_its_files_name_or_its_own_or_another_if_farpath_has_both(
    tmp_path: FilePath, script: Callable[[str], None], file: str, registered: str, name: str
) -> None:
    source = tmp_path / (file if file.endswith(".c") else "ops.c")
    source.write_text(
        f'static struct tcp_congestion_ops mine = {{\n\t.name = "{registered}",\n}};\n'
    )
    (tmp_path / "Kbuild").write_text("")
    place = tmp_path / "0123456789abcdef"
    place.mkdir()
    built = ["gcc", "-c", "-x", "c", "-o", str(place / f"tcp_{name}.ko"), "-"]
    subprocess.run(built, input=MODULE, text=True, check=True)
    script(f"echo {place}")
    stack = user_stacks.user_stack(f"{tmp_path}/{file}", tmp_path / "build")
    assert stack is not None
    assert (stack.name, stack.module, stack.congestion) == (name, f"tcp_{name}", name)


def test_a_modules_parameters_are_read_from_what_was_built(
    module: FilePath, tmp_path: FilePath
) -> None:
    built = tmp_path / "cache" / "0123456789abcdef" / "tcp_mine.ko"
    assert user_stacks.module_parameters(built) == {"gain": "int", "fast": "bool", "word": "charp"}


def test_a_module_is_a_stack_of_the_name_and_the_parameters_given(
    module: FilePath, tmp_path: FilePath
) -> None:
    stack = user_stacks.user_stack(f"{module}:gain=-007,fast=1", tmp_path / "build")
    assert stack == Stack(
        "mine:fast=1,gain=-7",
        "mine",
        IPERF3,
        congestion="mine",
        module="tcp_mine",
        parameters={"fast": "1", "gain": "-7"},
        build="0123456789abcdef",
    )
    link = tmp_path / "build" / "own" / stack.build
    assert link.readlink() == tmp_path / "cache" / stack.build


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("gian=3", r"no parameter 'gian' \(did you mean gain\?\); it has gain, fast"),
        ("gain=x", r"gain of mine is 'x'; it must be -2147483648 to 2147483647"),
        ("gain=2147483648", "it must be -2147483648 to 2147483647"),
        ("fast=2", "it must be 0 or 1"),
        ("word=3", "word of mine is of type charp"),
    ],
)
def test_a_parameter_that_the_module_lacks_or_cannot_hold_is_refused(
    module: FilePath, tmp_path: FilePath, given: str, complaint: str
) -> None:
    with pytest.raises(BadInputError, match=complaint):
        user_stacks.user_stack(f"{module}:{given}", tmp_path / "build")


@pytest.fixture
def congestion(tmp_path: FilePath, script: Callable[[str], None]) -> FilePath:
    """A source whose build is said to be in a directory."""
    source = tmp_path / "mine.cpp"
    source.write_text("")
    script(f"mkdir -p {tmp_path}/cache/0123456789abcdef; echo {tmp_path}/cache/0123456789abcdef")
    return source


def test_a_congestion_control_for_udt_runs_in_udtperf_with_its_parameters_and_udts(
    congestion: FilePath, tmp_path: FilePath
) -> None:
    stack = user_stacks.user_stack(f"{congestion}:fc=0300,gain=0.5", tmp_path / "build")
    assert stack == Stack(
        "mine:gain=0.5,fc=300",
        "mine",
        UDTPERF,
        parameters={"gain": "0.5", "fc": "300"},
        build="0123456789abcdef",
    )
    assert stack.own_congestion == "0123456789abcdef/mine.so"
    complete = fitted(stack, LONG)
    assert "congestion" not in complete.parameters
    assert complete.parameters["mss"] == str(LONG.mtu_bytes)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("congestion=udt4", "'congestion' cannot be a parameter of mine"),
        ("clock=live", "'clock' cannot be a parameter of mine"),
        ("Gain=3", "'Gain' cannot be a parameter of mine"),
        ("gain=$(x)", "a value has at most 64 letters"),
        ("fc=1", "fc of mine is '1'; it must be 32 to 1000000"),
    ],
)
def test_a_parameter_that_udtperf_cannot_pass_on_is_refused(
    congestion: FilePath, tmp_path: FilePath, given: str, complaint: str
) -> None:
    with pytest.raises(BadInputError, match=re.escape(complaint)):
        user_stacks.user_stack(f"{congestion}:{given}", tmp_path / "build")


@pytest.mark.parametrize(("status", "error"), [(2, BadInputError), (3, MachineLacksError)])
def test_a_build_that_fails_is_its_last_line_with_the_rest_below(
    tmp_path: FilePath,
    script: Callable[[str], None],
    status: int,
    error: type[BadInputError] | type[MachineLacksError],
) -> None:
    source = tmp_path / "tcp_mine.c"
    source.write_text("")
    script(f"echo 'tcp_mine.c:1: error' >&2; echo 'build-it: it fails' >&2; exit {status}")
    with pytest.raises(error) as caught:
        user_stacks.user_stack(str(source), tmp_path / "build")
    assert (caught.value.message, caught.value.detail) == (
        "stack: it fails",
        "tcp_mine.c:1: error",
    )
    assert not (tmp_path / "build").exists()


def test_an_image_is_a_stack_that_starts_as_its_configuration_says(
    layout: Layout, tmp_path: FilePath, script: Callable[[str], None]
) -> None:
    place = tmp_path / "cache" / "0123456789abcdef"
    script(f'mkdir -p {place}; printf "%s" "$3" >{place}/manifest.json; echo {place}')
    image = layout.image(
        {"Entrypoint": ["/run"], "Cmd": ["-v"], "Env": ["A=b=c"], "WorkingDir": "/srv"}
    )
    stack = user_stacks.user_stack(f"oci:{layout.index(image)}:rate=1e6,b=x", tmp_path / "build")
    assert stack == Stack(
        "mine:b=x,rate=1e6",
        "mine",
        IMAGE,
        parameters={"b": "x", "rate": "1e6"},
        build="0123456789abcdef",
        command=("/run", "-v"),
        environment=("A=b=c",),
        directory="/srv",
    )
    manifest = json.loads((place / "manifest.json").read_text())
    assert manifest["digest"] == image["digest"]
    assert manifest["command"] == ["/run", "-v"]
    assert manifest["architecture"] == "linux/amd64"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("port=1", "'port' cannot be a parameter of mine"),
        ("one_off=1", "'one_off' cannot be a parameter of mine"),
        ("--rate=1", "'--rate' cannot be a parameter of mine"),
        ("Rate=1", "'Rate' cannot be a parameter of mine"),
        ("rate=[red]", r"rate of mine is '\[red\]'"),
        ("rate=" + "9" * 65, "at most 64"),
    ],
)
def test_a_parameter_that_can_be_no_option_of_a_program_is_refused(
    layout: Layout, given: str, complaint: str
) -> None:
    place = layout.index(layout.image(RUN))
    with pytest.raises(BadInputError, match=complaint):
        user_stacks.user_stack(f"oci:{place}:{given}")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("Mine", "called like the stack"),
        ("a-b", "called like the stack"),
        ("cubic", "rename yours"),
    ],
)
def test_an_images_directory_has_a_name_that_can_be_a_stacks(
    tmp_path: FilePath, name: str, complaint: str
) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(BadInputError, match=complaint):
        user_stacks.user_stack(f"oci:{tmp_path / name}")


def test_a_machine_without_umoci_is_told_so(
    layout: Layout, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, tool
        (tools / tool).symlink_to(found)
    (tools / "env").symlink_to("/usr/bin/env")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("FARPATH_CACHE", str(tmp_path / "cache"))
    place = layout.index(layout.image(RUN))
    with pytest.raises(MachineLacksError, match=r"lacks umoci.*host-packages"):
        user_stacks.user_stack(f"oci:{place}", tmp_path / "build")


def test_a_project_that_cannot_be_written_is_named(module: FilePath, tmp_path: FilePath) -> None:
    (tmp_path / "build").write_text("a file")
    with pytest.raises(MachineLacksError, match="cannot be written"):
        user_stacks.user_stack(str(module), tmp_path / "build")


def test_what_is_wrong_with_an_image_is_said_of_the_stack(layout: Layout) -> None:
    with pytest.raises(BadInputError, match=f"^stack: {layout.place} is no whole image"):
        user_stacks.user_stack(f"oci:{layout.place}")
