"""Builds in the cache, as the scripts of images/ make them, and their manifests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from farpath.base.project import PROJECT
from tests.support.processes import await_true, completed, interruptible, is_living

LIB = PROJECT / "images" / "lib"
#: A script with a cached build, which the shell commands in FILL end.
SCRIPT = """
set -euo pipefail
PART=example
. "$1/common.sh"
check() { :; }
fill() {
    printf 'kind\\texample\\npackages\\npackages\\tbash\\t5.2\\n' |
        write_manifest "$part/manifest.json"
    eval "$FILL"
}
cached_build "$CACHE/example/key" check fill
"""


def begin(cache: Path, fill: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        interruptible(["bash", "-c", SCRIPT, "bash", str(LIB)]),
        env={**os.environ, "FARPATH_CACHE": str(cache), "FILL": fill},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # An interrupt from a terminal goes to all that is in the foreground
        start_new_session=True,
    )


def build(cache: Path, fill: str = ":") -> tuple[int, str, str]:
    script = begin(cache, fill)
    out, output = script.communicate(timeout=60)
    return script.returncode, out, output


def names(cache: Path) -> set[str]:
    return {file.name for file in (cache / "example").iterdir()}


def test_a_build_is_made_once_and_only_its_place_is_printed(tmp_path: Path) -> None:
    status, out, messages = build(tmp_path, 'echo to no one; echo done >"$part/file"')
    assert (status, out) == (0, f"{tmp_path}/example/key\n")
    assert f"example: made {tmp_path}/example/key (" in messages
    assert (tmp_path / "example/key/file").read_text() == "done\n"
    assert (tmp_path / "example/key").stat().st_mode & 0o777 == 0o755
    assert build(tmp_path, "exit 1") == (0, out, "")
    assert names(tmp_path) == {"key", "lock"}


def test_a_failed_build_leaves_nothing_and_ends_the_script(tmp_path: Path) -> None:
    closed = 'mkdir "$part/closed"; touch "$part/closed/file"; chmod 500 "$part/closed"'
    status, out, _ = build(tmp_path, f"{closed}; false; echo went on >&2")
    assert (status, out) == (1, "")
    assert names(tmp_path) == {"lock"}
    assert build(tmp_path, "die 3 'no network'") == (3, "", "example: no network\n")
    assert names(tmp_path) == {"lock"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_build_leaves_nothing_and_no_process(
    tmp_path: Path, number: signal.Signals
) -> None:
    begun = tmp_path / "begun"
    # By a builtin: bash forgets a Ctrl-C that comes to it alone while another program, as mv, ends
    fill = f'sleep 60 & child=$!; echo "$child" >{begun}; wait "$child"'
    script = begin(tmp_path, fill)
    await_true(lambda: begun.exists() and begun.read_text() != "")
    script.send_signal(number)
    script.communicate(timeout=30)
    assert script.returncode != 0
    assert names(tmp_path) == {"lock"}
    # It has been told to end; by itself it would a minute after its start
    await_true(lambda: not is_living(int(begun.read_text())), 20.0)


def test_of_two_at_once_one_builds_and_the_other_waits(tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    os.mkfifo(go)
    first = begin(tmp_path, f"echo >{begun}; read -r _ <{go}")
    await_true(begun.exists)
    second = begin(tmp_path, "die 3 'it is built twice'")
    assert second.stderr is not None
    assert "another build holds" in second.stderr.readline()
    go.write_text("go\n")
    outs = [script.communicate(timeout=60)[0] for script in (first, second)]
    assert outs == [f"{tmp_path}/example/key\n"] * 2
    assert names(tmp_path) == {"key", "lock"}


def test_a_manifest_is_written_and_read_by_names(tmp_path: Path) -> None:
    build(tmp_path)
    manifest = tmp_path / "example/key/manifest.json"
    expected = {"kind": "example", "packages": {"bash": "5.2"}}
    assert manifest.read_text() == json.dumps(expected, indent=2) + "\n"
    assert read(manifest, "packages", "bash").stdout == "5.2\n"


def read(manifest: Path, *words: str) -> subprocess.CompletedProcess[str]:
    script = 'PART=example; . "$1/common.sh"; read_manifest "${@:2}"'
    return completed(["bash", "-c", script, "bash", str(LIB), str(manifest), *words])


@pytest.mark.parametrize(
    ("text", "problem"), [("{}", "has no 'linux_hash'"), ('{"linux_hash": ', "is no JSON")]
)
def test_a_manifest_without_what_is_asked_is_refused(
    tmp_path: Path, text: str, problem: str
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(text)
    done = read(manifest, "linux_hash")
    assert (done.returncode, done.stdout) == (3, "")
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
