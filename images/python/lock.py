"""Writes the locks beside this file: what each group of pyproject.toml takes, with hashes.

uv finds one version of each package for all groups, every Python that farpath supports,
and Linux on x86-64. A lock has the hashes of the archives that these can use and no
more, and names no index: pip and uv ask those of the machine.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.utils import parse_wheel_filename

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
OLDEST_PYTHON = (3, 11)
#: Pythons whose environment a marker is looked at in.
PYTHONS = [f"3.{minor}" for minor in range(11, 20)]
#: What installs, in every environment; setuptools builds the packages without a wheel.
INSTALLER = "installer"
INSTALLER_PACKAGES = ("setuptools", "uv")
BASE = "base"
#: Groups of pyproject.toml that have a lock; what is in none, dev holds.
EXTRAS = ("statistics", "dev", "release", "paper", "notebook")
HEADER = """\
# {contents}
# Written by 'make lock', not by hand; images/python/install installs it.
"""
Package = dict[str, Any]


def resolved(*requirements: str, constraints: Path | None = None) -> list[Package]:
    """What uv finds for files of requirements and extras of the project."""
    with tempfile.TemporaryDirectory() as directory:
        lock = Path(directory, "pylock.toml")
        command = [
            *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"),
            *("--fork-strategy=fewest", f"--python-version={PYTHONS[0]}", "--no-header"),
            *("--format=pylock.toml", f"--output-file={lock}", *requirements),
            *([f"--constraints={constraints}"] if constraints else []),
        ]
        subprocess.run(command, check=True, cwd=PROJECT, stdout=subprocess.DEVNULL)
        packages: list[Package] = tomllib.loads(lock.read_text())["packages"]
        return packages


def is_usable(wheel: str) -> bool:
    """Whether a wheel, by its name, fits a supported Python on Linux on x86-64."""
    return any(
        _is_of_system(tag.platform) and _is_of_python(tag.interpreter, tag.abi)
        for tag in parse_wheel_filename(wheel)[3]
    )


def _is_of_system(platform: str) -> bool:
    return platform == "any" or (platform.startswith("manylinux") and platform.endswith("x86_64"))


def _is_of_python(interpreter: str, abi: str) -> bool:
    if interpreter.startswith("py"):
        return interpreter != "py2"
    if not interpreter.startswith("cp3") or abi.endswith("t"):
        return False
    return abi == "abi3" or (3, int(interpreter[3:])) >= OLDEST_PYTHON


def archives(package: Package) -> list[str]:
    """Hashes of a package's usable wheels; of its source where it has none."""
    wheels = [wheel for wheel in package.get("wheels", []) if is_usable(_name(wheel))]
    return sorted(file["hashes"]["sha256"] for file in wheels or [package["sdist"]])


def _name(archive: Package) -> str:
    return str(archive.get("name") or archive["url"].rpartition("/")[2])


def line(package: Package) -> str:
    """A package as a requirement, its marker only if some Python has no use for it."""
    marker = package.get("marker", "")
    needed = not marker or all(Marker(marker).evaluate(_environment(each)) for each in PYTHONS)
    first = f"{package['name']}=={package['version']}" + ("" if needed else f" ; {marker}")
    return " \\\n".join([first, *(f"    --hash=sha256:{value}" for value in archives(package))])


def _environment(python: str) -> dict[str, str]:
    return {
        "implementation_name": "cpython",
        "platform_machine": "x86_64",
        "sys_platform": "linux",
        "python_version": python,
        "python_full_version": f"{python}.0",
    }


def write(group: str, contents: str, packages: Iterable[Package]) -> None:
    """A group's lock."""
    lines = [line(package) for package in packages]
    (HERE / f"{group}.txt").write_text(HEADER.format(contents=contents) + "\n".join(lines) + "\n")


def main() -> None:
    """Resolve all groups together, then write each without what base has."""
    with tempfile.TemporaryDirectory() as directory:
        pins = Path(directory, "pins.txt")
        # All but the lab, which is no package of others
        extras = [f"--extra={extra}" for extra in EXTRAS]
        tools = Path(directory, "tools.txt")
        tools.write_text("\n".join(INSTALLER_PACKAGES))
        everything = resolved(*extras, "pyproject.toml", str(tools))
        pins.write_text("\n".join(f"{one['name']}=={one['version']}" for one in everything))
        base = resolved("pyproject.toml", constraints=pins)
        installer = resolved(str(tools), constraints=pins)
        write(INSTALLER, "What installs the other locks", installer)
        write(BASE, "What farpath run needs", base)
        there = {package["name"] for package in [*base, *installer]}
        for extra in EXTRAS:
            packages = resolved(f"--extra={extra}", "pyproject.toml", constraints=pins)
            beside = [package for package in packages if package["name"] not in there]
            write(extra, f"What the group {extra} of pyproject.toml needs beside base", beside)


if __name__ == "__main__":
    main()
