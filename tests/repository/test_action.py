"""The step for GitHub Actions takes the wheels of a release, whose SHA-256 it compares."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path as FilePath
from threading import Thread

import pytest
import yaml

from farpath.base.project import PROJECT

RELEASES = "owner/farpath/releases"
WHEELS = ("farpath-1.2.0-py3-none-any.whl", "farpath_lab-1.2.0-py3-none-any.whl")


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *_: object) -> None:
        """Leave it out."""


@pytest.fixture
def pages(tmp_path: FilePath) -> Iterator[tuple[FilePath, str]]:
    """The directory of a server's pages, and its address."""
    root = tmp_path / "pages"
    root.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield root, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def publish(page: FilePath, contents: dict[str, bytes]) -> None:
    """Write a release's files, with a list of them, onto a page."""
    page.mkdir(parents=True)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    for name, content in contents.items():
        (page / name).write_bytes(content)
    lines = [f"{digest}  {name}\n" for name, digest in sums.items()]
    (page / "SHA256SUMS").write_text("".join(lines))


def take(server: str, version: str, runner: FilePath) -> subprocess.CompletedProcess[str]:
    """Run the action's step that takes the wheels, as a runner does."""
    steps = yaml.safe_load((PROJECT / "action.yml").read_text())["runs"]["steps"]
    (step,) = [step for step in steps if step.get("id") == "wheels"]
    runner.mkdir()
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env={
            "PATH": os.environ["PATH"],
            "RELEASES": f"{server}/{RELEASES}",
            "VERSION": version,
            "RUNNER_TEMP": str(runner),
            "GITHUB_OUTPUT": str(runner / "output"),
        },
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("version", "page"), [("1.2.0", "download/v1.2.0"), ("", "latest/download")]
)
def test_the_wheels_of_a_version_or_of_the_newest_release_are_taken(
    pages: tuple[FilePath, str], tmp_path: FilePath, version: str, page: str
) -> None:
    root, server = pages
    contents = {**{name: name.encode() for name in WHEELS}, "farpath-1.2.0.cdx.json": b"{}"}
    publish(root / RELEASES / page, contents)
    runner = tmp_path / "runner"
    done = take(server, version, runner)
    assert done.returncode == 0, done.stderr
    (line,) = (runner / "output").read_text().splitlines()
    directory = FilePath(line.removeprefix("directory="))
    assert {file.name: file.read_bytes() for file in directory.glob("*.whl")} == {
        name: contents[name] for name in WHEELS
    }


def test_a_wheel_that_is_not_the_release_s_ends_the_step(
    pages: tuple[FilePath, str], tmp_path: FilePath
) -> None:
    root, server = pages
    page = root / RELEASES / "latest/download"
    publish(page, dict.fromkeys(WHEELS, b"wheel"))
    (page / WHEELS[1]).write_bytes(b"another")
    done = take(server, "", tmp_path / "runner")
    assert done.returncode != 0
    assert f"{WHEELS[1]}: FAILED" in done.stdout
    assert not (tmp_path / "runner" / "output").exists()


@pytest.mark.parametrize("name", ["../outside.whl", "farpath.txt"])
def test_a_list_that_names_no_wheel_of_its_page_is_refused(
    pages: tuple[FilePath, str], tmp_path: FilePath, name: str
) -> None:
    root, server = pages
    page = root / RELEASES / "download/v1.2.0"
    page.mkdir(parents=True)
    (page / "SHA256SUMS").write_text(f"{'0' * 64}  {name}\n")
    done = take(server, "1.2.0", tmp_path / "runner")
    assert done.returncode == 1
    assert "SHA256SUMS names no wheels: give their place as 'wheels'" in done.stdout
