"""The files for CI that users copy are what GitHub and GitLab take."""

from __future__ import annotations

import subprocess
import sys

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


@pytest.mark.parametrize("name", FILES)
def test_it_has_the_form_that_its_service_asks_for(name: str) -> None:
    schema, *more = FILES[name]
    command = [sys.executable, "-m", "check_jsonschema", f"--builtin-schema={schema}", *more]
    done = subprocess.run([*command, str(PLACE / name)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", [name for name in FILES if "programs" not in name])
def test_it_names_stacks_that_there_are_and_keeps_the_report(name: str) -> None:
    text = (PLACE / name).read_text()
    assert yaml.safe_load(text)
    (line,) = [line for line in text.splitlines() if line.strip().startswith("STACKS:")]
    assert set(line.partition(":")[2].strip().split(",")) <= set(catalogue())
    assert "results/regress/report" in text or "--out=" in text
