"""The files for CI, the project's and those for users, are what GitHub and GitLab take."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest
import yaml

from farpath.base.project import PROJECT
from farpath.programs.catalog import catalogue

PLACE = PROJECT / "examples" / "ci"
FILES = {
    "github-actions.yml": ("vendor.github-workflows",),
    "github-nightly.yml": ("vendor.github-workflows",),
    "github-programs.yml": ("vendor.github-workflows",),
    "gitlab-ci.yml": ("vendor.gitlab-ci", "--data-transform=gitlab-ci"),
    "gitlab-programs.yml": ("vendor.gitlab-ci", "--data-transform=gitlab-ci"),
}

WORKFLOWS = PROJECT / ".github" / "workflows"
OF_GITHUB = [PROJECT / "action.yml", *WORKFLOWS.glob("*.yml"), *PLACE.glob("github-*.yml")]


def steps(document: Any) -> Iterator[dict[str, Any]]:
    """The steps of a workflow's jobs, or of an action."""
    for job in document.get("jobs", {"": document.get("runs")}).values():
        yield from job["steps"]


@pytest.mark.parametrize("file", OF_GITHUB, ids=lambda file: str(file.relative_to(PROJECT)))
def test_lines_for_a_shell_pass_shellcheck_and_have_no_expression_of_github_s(
    file: FilePath,
) -> None:
    scripts = [step["run"] for step in steps(yaml.safe_load(file.read_text())) if "run" in step]
    assert [script for script in scripts if "${{" in script] == []
    shellcheck = FilePath(sys.executable).with_name("shellcheck")
    for script in scripts:
        # Runners start the shell with -e
        lines = f"set -e\n{script}"
        done = subprocess.run(
            [shellcheck, "-s", "bash", "-"], input=lines, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


def test_a_release_uses_github_s_own_actions_alone_each_at_one_version() -> None:
    release = yaml.safe_load((WORKFLOWS / "release.yml").read_text())
    used = [step["uses"] for step in steps(release) if "uses" in step]
    assert len(used) > 2
    assert [one for one in used if not re.fullmatch(r"actions/[\w-]+@v\d+\.\d+\.\d+", one)] == []


@pytest.mark.parametrize("form", sorted(set(FILES.values())), ids=lambda form: form[0])
def test_they_have_the_form_that_their_service_asks_for(form: tuple[str, ...]) -> None:
    schema, *more = form
    command = [sys.executable, "-m", "check_jsonschema", f"--builtin-schema={schema}", *more]
    files = [str(PLACE / name) for name, of_file in FILES.items() if of_file == form]
    done = subprocess.run([*command, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", [name for name in FILES if "programs" not in name])
def test_it_names_stacks_that_there_are_and_keeps_the_report(name: str) -> None:
    text = (PLACE / name).read_text()
    assert yaml.safe_load(text)
    (line,) = [line for line in text.splitlines() if line.strip().startswith("STACKS:")]
    assert set(line.partition(":")[2].strip().split(",")) <= set(catalogue())
    assert "results/regress/report" in text or "--out=" in text
