"""JupyterLab in its container: on this machine only, with its token, and it works."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

import pytest

from experiments.seven_regions.selection import OWN as OWN_PLACES
from farpath.base.project import PROJECT
from tests.containers.conftest import container, docker, inspect
from tests.support.campaigns import LABELS, write_seven_regions
from tests.support.processes import await_true, completed

OWN = OWN_PLACES["make campaign SET=quick"]
START_LIMIT_S = 180.0
TOKEN = "a-token-of-this-test"


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Notebook:
    """A JupyterLab that answers."""

    name: str
    port: int

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page, after redirections."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=20) as page:
                return page.status, page.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, ""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    assert container("build", "notebook").returncode == 0
    port = free_port()
    results = tmp_path_factory.mktemp("notebook") / "results"
    results.mkdir()
    results.chmod(0o777)
    for label in LABELS.values():
        write_seven_regions(results / OWN / f"cern-{label}", label)
    environment = {
        **os.environ,
        "NOTEBOOK_PORT": str(port),
        "JUPYTER_TOKEN": TOKEN,
        "FARPATH_RESULTS": str(results),
    }
    project = ["--project-name", f"farpath-test-{port}"]
    compose = [str(PROJECT / "images" / "container"), "compose", *project]
    subprocess.run([*compose, "up", "--no-build", "-d", "notebook"], env=environment, check=True)
    try:
        name = completed(
            [*compose, "ps", "-q", "notebook"], env=environment, check=True
        ).stdout.strip()
        deadline = time.monotonic() + START_LIMIT_S
        while inspect(name)["State"]["Health"]["Status"] != "healthy":
            assert time.monotonic() < deadline, docker("logs", name)
            time.sleep(1)
        yield Notebook(name, port)
    finally:
        subprocess.run([*compose, "down", "--volumes"], env=environment, check=False)


def test_it_asks_for_its_token(notebook: Notebook) -> None:
    assert notebook.get("/api/contents")[0] == 403
    assert notebook.get(f"/api/contents?token={TOKEN}")[0] == 200


def test_without_a_token_given_it_draws_one_and_root_may_start_it() -> None:
    rights = ("--user=0:0", "--cap-drop=ALL", "--network=none")
    options = ("--detach", *rights, "--tmpfs=/tmp:exec,mode=1777")
    name = docker("run", *options, "--entrypoint=sh", "farpath/notebook", "-c", "notebook 2>&1")
    try:
        await_true(lambda: "token=" in docker("logs", name), START_LIMIT_S)
        token = docker("logs", name).partition("token=")[2].split()[0]
    finally:
        docker("rm", "--force", name)
    assert len(token) >= 32


def test_it_listens_on_this_machine_only_and_without_rights(notebook: Notebook) -> None:
    inspected = inspect(notebook.name)
    (ports,) = inspected["NetworkSettings"]["Ports"].values()
    assert {port["HostIp"] for port in ports} == {"127.0.0.1"}
    assert inspected["HostConfig"]["CapDrop"] == ["ALL"]
    assert inspected["HostConfig"]["ReadonlyRootfs"]
    assert inspected["Config"]["User"].split(":")[0] not in ("", "0")


def executed(notebook: Notebook, name: str) -> str:
    """A notebook with what its cells put out, as text; the file stays as it is."""
    return docker(
        *("exec", "--workdir=/farpath/notebooks", notebook.name),
        *("jupyter", "nbconvert", "--to=markdown", "--execute", "--stdout", f"{name}.ipynb"),
    )


def test_its_notebooks_show_the_records_in_results(notebook: Notebook) -> None:
    text = executed(notebook, "01-seven-regions")
    assert f"Your own records, of 'make campaign SET=quick': {len(LABELS)} runs" in text


def test_its_explorer_runs_the_lab(notebook: Notebook) -> None:
    text = executed(notebook, "05-explore")
    assert "ran in " in text
    assert "../results/cern-htcp_2004-5s-2004-seed1-virtual-" in text


def test_its_lessons_run_the_lab(notebook: Notebook) -> None:
    assert "![png](01-slow-start_files" in executed(notebook, "lessons/01-slow-start")
    assert docker("exec", notebook.name, "ls", "/farpath/results/lessons").startswith("20ms-")


def test_it_holds_what_notebooks_link_to_and_the_shipped_records(notebook: Notebook) -> None:
    for folder in ("/farpath/docs", "/farpath/experiments", "/opt/farpath/experiments"):
        assert docker("exec", notebook.name, "ls", folder)


def test_a_browser_opens_it_with_the_first_lesson(notebook: Notebook, tmp_path: FilePath) -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium here")
    page = completed(
        [
            *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *(f"--user-data-dir={tmp_path}", "--virtual-time-budget=30000"),
            f"http://127.0.0.1:{notebook.port}/?token={TOKEN}",
        ],
        timeout=180,
    ).stdout
    assert "jp-LauncherBody" in page or "jp-Notebook" in page
    assert "Start here" in page
