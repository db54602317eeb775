"""The Docker engine and compose of this machine, and whether a run is theirs or a process."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess

from messages import PROJECT, Refused, answer_of, last_line, output_of, say, variable

OLDEST_COMPOSE = (1, 29)
#: An engine that is silent for so long does not answer.
PATIENCE_S = 20


class NoEngine(Exception):
    """No engine with compose can be used: problem and remedy."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}: {remedy}")
        self.problem = problem


def found_compose() -> list[str]:
    """The command of compose, where an engine answers too; raises NoEngine."""
    if not shutil.which("docker"):
        raise NoEngine("there is no docker command here", "install Docker")
    try:
        status, said = answer_of(
            "docker", "version", "--format={{.Server.Version}}", seconds=PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        raise _silent(f"nothing within {PATIENCE_S} s") from None
    if status and "permission denied" in said:
        user = user_name()
        raise NoEngine(
            f"the Docker engine refuses user {user}",
            "have the user added to the group docker"
            f" (usermod -aG docker {user}, then log in again)",
        )
    if status:
        raise _silent(last_line(said))
    return _compose()


def problem_of_engine() -> str:
    """Why no engine can be used; empty if one can."""
    try:
        found_compose()
    except NoEngine as lack:
        return lack.problem
    return ""


def _silent(said: str) -> NoEngine:
    return NoEngine(
        f"no Docker engine answers ({said})",
        "start it (systemctl start docker), or check DOCKER_HOST",
    )


def _compose() -> list[str]:
    if output_of("docker", "compose", "version"):
        return ["docker", "compose"]
    oldest = ".".join(map(str, OLDEST_COMPOSE))
    remedy = f"install Docker's compose plugin (v2) or docker-compose {oldest}"
    version = shutil.which("docker-compose") and output_of("docker-compose", "version", "--short")
    if not version:
        raise NoEngine("the Docker engine answers, but there is no compose", remedy)
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST_COMPOSE:
        raise NoEngine(f"docker-compose is {version}, older than {oldest}", remedy)
    return ["docker-compose"]


def needed_compose() -> list[str]:
    """The command of compose; raises Refused where there is no engine for it."""
    try:
        return found_compose()
    except NoEngine as lack:
        raise Refused(3, f"{lack}; or use LAB_RUNTIME=process") from None


def in_project(compose: list[str], *words: str) -> list[str]:
    """A command of compose with the project's file."""
    os.environ["COMPOSE_PROJECT_NAME"] = "farpath"
    places = ["--file", f"{PROJECT}/docker-compose.yml", "--project-directory", str(PROJECT)]
    return [*compose, *places, "--profile", "host-lab", *words]


def user_name() -> str:
    """The caller's name, or the number of a caller who has none."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def need_of_tools() -> str:
    """Why a run needs compilers, of which a container has none; empty if it does not."""
    stack = variable("STACK")
    if variable("KERNEL_SRC"):
        return "KERNEL_SRC is built with this machine's tools"
    if stack.startswith("oci:"):
        return ""
    if "quic_" in stack:
        return f"STACK={stack} is made with this machine's tools"
    if "/" in stack or re.search(r"\.(c|cpp)(:|$)", stack):
        return f"STACK={stack} is compiled with this machine's tools"
    return ""


def runtime() -> None:
    """Print how ``make experiment`` runs the lab here, docker or process; raises Refused."""
    asked = variable("LAB_RUNTIME")
    need = need_of_tools()
    if asked == "docker":
        if need:
            raise Refused(2, f"{need}: use LAB_RUNTIME=process")
        needed_compose()
        say("the lab runs in a container, as LAB_RUNTIME says")
    elif asked == "process":
        if variable("LAB") == "host":
            say(
                "LAB=host as a process needs Mininet, Open vSwitch and root here;"
                " LAB_RUNTIME=docker brings them"
            )
        say("the lab runs as a process, as LAB_RUNTIME says")
    elif asked:
        raise Refused(2, f"LAB_RUNTIME is '{asked}': it must be docker or process")
    elif problem := need or problem_of_engine():
        say(f"the lab runs as a process: {problem}")
        asked = "process"
    else:
        say(
            "the lab runs in a container: a Docker engine answers"
            " (LAB_RUNTIME=process for a plain process)"
        )
        asked = "docker"
    print(asked)
