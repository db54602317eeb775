"""The Makefile's variables are text: nothing in a value is run, and every letter arrives."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT
from tests.support.processes import completed

#: A target that shows what the recipes of others are made of.
PROBE = """
probe:
	@env -0
	printf '%s\\0' $(sides) $(call chosen,FORCE,--force) $(call chosen,JSON,--json) \\
		KDIR=$(call quote,$(KDIR))
probe-below:
	@$(MAKE) -f Makefile -f probe.mk probe
"""
_LISTS = re.compile(r"^(?:RUN|OTHER)_VARIABLES := (.*)$", re.MULTILINE)
VARIABLES = " ".join(_LISTS.findall((PROJECT / "Makefile").read_text())).split()


@pytest.fixture
def project(tmp_path: FilePath) -> FilePath:
    """A copy of the Makefile, whose farpath prints its arguments."""
    shutil.copy(PROJECT / "Makefile", tmp_path)
    (tmp_path / "probe.mk").write_text(PROBE)
    program = tmp_path / ".venv" / "bin" / "farpath"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\n")
    program.chmod(0o755)
    (tmp_path / ".venv" / "farpath-installed").touch()
    return tmp_path


def make(project: FilePath, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in VARIABLES and not name.startswith(("MAKE", "MFLAGS"))
    }
    return completed(
        ["make", "-f", "Makefile", "-f", "probe.mk", *words],
        cwd=project,
        env={**inherited, **environment},
    )


def printed(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\0")[:-1]


@pytest.mark.parametrize(
    "form", ["$(shell touch ran)", "$$(touch ran)", "`touch ran`", "2$0ms'; $"]
)
@pytest.mark.parametrize("target", ["probe", "probe-below"])
def test_every_variable_arrives_as_it_was_typed_and_runs_nothing(
    project: FilePath, form: str, target: str
) -> None:
    values = {name: f"{name.lower()}{form}" for name in VARIABLES}
    values["KERNEL_SRC"] = f"sender={form}"
    words = [f"{name}={value}" for name, value in values.items()]
    assert len(VARIABLES) > 40
    for given, environment in ((words, {}), ([], values)):
        shown = printed(make(project, *given, target, **environment))
        assert {f"{name}={value}" for name, value in values.items()} <= set(shown)
        assert f"--kernel={values['KERNEL_SRC']}" in shown
        assert {"--force", "--json", f"KDIR={values['KDIR']}"} <= set(shown)
    assert not (project / "ran").exists()


def test_a_value_that_is_added_to_another_arrives_too(project: FilePath) -> None:
    shown = printed(make(project, "STACK=reno", "STACK+=$(shell touch ran)", "probe"))
    assert "STACK=reno $(shell touch ran)" in shown
    assert printed(make(project, "OUT=$(touch a).png", "draw")) == ["draw", "--out=$(touch a).png"]
    assert not (project / "ran").exists()


@pytest.mark.parametrize("operator", [":=", "::="])
def test_a_value_that_make_runs_by_itself_is_refused(project: FilePath, operator: str) -> None:
    done = make(project, f"RTT{operator}20ms", "draw")
    assert (done.returncode, done.stdout) == (2, "")
    assert "RTT:=... and RTT::=... let make run what they hold: give RTT=... instead" in done.stderr


@pytest.mark.parametrize(
    "target",
    ["experiment", "setup", "wheel", "release", "notebook", "modules", "draw", "containers"],
)
@pytest.mark.parametrize("flag", ["-n", "-q", "-t"])
def test_make_that_only_shows_or_asks_runs_nothing(
    project: FilePath, target: str, flag: str
) -> None:
    ran = project / "ran"
    wheels = ("wheel/make", "wheel/release")
    programs = ("container", "host-packages", *wheels, "notebook/here", "kernel/build")
    for program in (".venv/bin/farpath", *(f"images/{name}" for name in programs)):
        file = project / program
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\ntouch '{ran}'\necho process\n")
        file.chmod(0o755)
    modules = project / "images" / "kernel" / "stacks" / "Makefile"
    modules.parent.mkdir(parents=True, exist_ok=True)
    modules.write_text(f"modules:\n\ttouch '{ran}'\n")
    done = make(project, flag, "RTT=164ms", target)
    assert done.returncode in ((0, 1) if flag == "-q" else (0,)), done.stderr
    assert not ran.exists()
    assert not (project / "build").exists()


@pytest.mark.parametrize("tree", ["/nowhere", "/tmp; touch ran", "$(shell touch ran)", "/tmp/a b"])
def test_a_build_tree_that_a_shell_would_run_is_refused(project: FilePath, tree: str) -> None:
    done = make(project, f"KDIR={tree}", "modules")
    assert done.returncode == 2
    assert done.stderr.startswith(f"KDIR is '{tree}': give a kernel's build tree")
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    ("target", "now"),
    [
        ("paper-quick", "SET=quick"),
        ("companion", "EXPERIMENT=companion"),
        ("ablation-quick", "EXPERIMENT=ablation SET=quick"),
        ("cpu-figures", "SET=cpu QEMU=1"),
    ],
)
def test_a_target_of_before_says_how_it_is_written_now(
    project: FilePath, target: str, now: str
) -> None:
    done = make(project, target)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == f"make {target} is now: make campaign {now}"
