"""Containers of the images: what they see of this machine, and as whom they run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from builds import PREFIX, build, commit
from engine import in_project, needed_compose, problem_of_engine
from messages import (
    LONGEST_QUOTE,
    PROJECT,
    Refused,
    answer_of,
    become,
    do,
    output_of,
    say,
    variable,
)

#: Options whose folder is made on this machine, if it is in a container's own /tmp.
OUTPUTS = ("--out", "--report")
#: Python's own replaces it, when make setup makes .venv.
COMMAND = """\
#!/bin/sh
# farpath in a container of the image lab; completion in a shell would start one for each key
[ -z "${_FARPATH_COMPLETE:-}" ] || exit 0
exec "$(dirname "$0")/../../images/container" farpath "$@"
"""


def run(*arguments: str) -> NoReturn:
    """A run as ``make experiment`` asks for it, with records in OUT; raises Refused."""
    named_out = variable("OUT") or "results"
    on_host = variable("LAB") == "host"
    _refuse_tmp(named_out)
    compose = needed_compose()
    build("lab")
    _leave_command()
    out = os.path.realpath(named_out)
    _make_folder(out, f"OUT={named_out} cannot be made: give a directory that can be written")
    if on_host:
        _need_privileged()
    else:
        _choose_user(out)
    options = [f"--volume={out}:{out}", f"--label=farpath.out={out}", "-e", "FARPATH_CALLER"]
    options += [
        f"--volume={os.path.realpath(file)}:{os.path.abspath(file)}:ro" for file in _files()
    ]
    for name in variable("FARPATH_VARIABLES").split():
        if variable(name):
            options += ["-e", name]
    # What 'make modules' has built of farpath's own stacks for this machine's kernel
    stacks = PROJECT / "build/host-stacks"
    if on_host and stacks.is_dir():
        options.append(f"--volume={stacks}:/opt/farpath/build/host-stacks:ro")
    _start(compose, options, "host-lab" if on_host else "lab", arguments)


def farpath(*arguments: str) -> NoReturn:
    """The command line, which sees this folder and what its arguments name; raises Refused."""
    here = os.getcwd()
    if here == "/":
        raise Refused(2, "a container has a / of its own: call farpath from another folder")
    _refuse_tmp(here, *arguments)
    compose = needed_compose()
    build("lab")
    for output in _outputs(arguments):
        if output.startswith("/tmp/"):
            _make_folder(output, f"{output} cannot be made")
    _choose_user(".")
    places = [f"{here}:{here}", f"{PROJECT}/experiments:/opt/farpath/experiments:ro"]
    places += [f"{place}:{place}" for place in sorted(_places(arguments, here))]
    _start(compose, [f"--volume={place}" for place in places], "lab", arguments)


def notebook() -> NoReturn:
    """JupyterLab, until Ctrl-C; raises Refused."""
    compose = needed_compose()
    build("notebook")
    results = PROJECT / "results"
    results.mkdir(exist_ok=True)
    _choose_user(str(results))
    become(in_project(compose, "up", "--no-build", "notebook"))


def clean() -> None:
    """Remove farpath's containers, running or not, and their networks."""
    if problem := problem_of_engine():
        say(f"nothing to remove: {problem}")
        return
    listed = output_of("docker", "ps", "--all", "--quiet", "--filter", "label=farpath.service")
    containers = listed.split()
    if containers:
        do("docker", "rm", "--force", "--volumes", *containers, stdout=subprocess.DEVNULL)
    output_of(*in_project(needed_compose(), "down", "--remove-orphans"))
    say(f"removed {len(containers)} container(s)")


def _start(
    compose: list[str], options: list[str], service: str, arguments: tuple[str, ...]
) -> NoReturn:
    """Become a container of a service, with a terminal if this process has one."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        options = [*options, "-T"]
    options += ["--workdir", os.getcwd(), "-e", f"FARPATH_GIT_COMMIT={commit()}"]
    become(in_project(compose, "run", "--rm", "--no-deps", *options, service, *arguments))


def _choose_user(folder: str) -> None:
    """Export FARPATH_USER, as whom a container runs that writes to a folder.

    That is the caller, so that records are his. Root may write anywhere and its containers, which
    have no capability, may not: they run as the folder's owner. Where the engine has no root
    (rootless Docker) its root is the caller.
    """
    if variable("FARPATH_USER"):
        return
    owner = (os.getuid(), os.getgid())
    if "rootless" in output_of("docker", "info", "--format", "{{json .SecurityOptions}}"):
        owner = (0, 0)
    elif os.getuid() == 0:
        status = os.stat(folder)
        owner = (status.st_uid, status.st_gid)
    os.environ["FARPATH_USER"] = "{}:{}".format(*owner)


def _need_privileged() -> None:
    """An engine in a container or on a hardened machine may not have all rights to give."""
    options = ["--rm", "--privileged", "--network=host", "--user=0:0", "--entrypoint=true"]
    status, said = answer_of("docker", "run", *options, f"{PREFIX}/lab")
    if status:
        error = next((line for line in said.splitlines() if "error" in line.lower()), "")
        cause = re.sub(r".*: ([^:]*: [^:]*): unknown$", r"\1", error)[:LONGEST_QUOTE]
        raise Refused(
            3,
            "LAB=host needs a privileged container, which the engine cannot start here"
            f" ({cause}): use LAB=virtual, or another machine",
        )


def _files() -> Iterator[str]:
    """The files there are that STACK, TOPOLOGY, RATE and SENDER_IMAGE name.

    Each is mounted at its own place, so that paths mean the same inside and outside.
    """
    named = [image.rpartition("=")[2] for image in variable("SENDER_IMAGE").split(",")]
    kind, _, image = variable("STACK").partition(":")
    if kind == "oci":
        named.append(image.partition(":")[0])
    # What follows -- are arguments of the file
    topology = variable("TOPOLOGY").partition(" -- ")[0]
    if re.search(r"\.py(:|$)", topology):
        named.append(topology.rpartition(".py")[0] + ".py")
    kind, _, trace = variable("RATE").partition(":")
    if kind == "trace":
        named.append(trace)
    yield from (file for file in named if file and os.path.exists(file))


def _value(argument: str) -> str:
    """What an argument names: the value of ``--option=value``."""
    return argument.partition("=")[2] if re.match("--[^=]*=", argument) else argument


def _refuse_tmp(*arguments: str) -> None:
    """Refuse /tmp itself: a container has one of its own."""
    if any(_value(each) and os.path.realpath(_value(each)) == "/tmp" for each in arguments):
        raise Refused(2, "a container has a /tmp of its own: name a folder in /tmp or elsewhere")


def _outputs(arguments: tuple[str, ...]) -> Iterator[str]:
    """The folders that --out and --report name."""
    for before, argument in zip(("", *arguments), arguments):
        if argument.partition("=")[0] in OUTPUTS:
            yield _value(argument)
        elif before in OUTPUTS:
            yield argument


def _make_folder(folder: str, problem: str) -> None:
    """Make a folder here, which would be gone with the container if it were made there."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        raise Refused(2, problem) from None


def _places(arguments: tuple[str, ...], here: str) -> set[str]:
    """The folders outside of this one that arguments name, or in which these would be made.

    Of /tmp it is the file alone that is named.
    """
    places = set()
    for named in map(_value, arguments):
        if "/" not in named:
            continue
        path = Path(os.path.abspath(named))
        folder = next(each for each in (path, *path.parents) if each.is_dir())
        if folder == Path("/tmp"):
            if path.exists():
                places.add(str(path))
        elif folder != Path("/") and Path(here) not in (folder, *folder.parents):
            places.add(str(folder))
    return places


def _leave_command() -> None:
    file = PROJECT / ".venv/bin/farpath"
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(COMMAND, encoding="utf-8")
    file.chmod(0o755)
