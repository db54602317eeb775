"""Lists all that a release's wheels hold, as CycloneDX (SBOM): sbom.py ENGINE LAB RESULT.

ENGINE and LAB are the wheels of farpath and of its lab. RESULT is a file of JSON: the Debian
packages of each part of the lab, the packages that kernel and udtperf are built from, the lab's
modules, and the Python packages that farpath needs, in the versions of images/python. Equal wheels
have equal lists.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import Message
from email.parser import Parser
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LAB_PACKAGE = "farpath_lab"
#: The parts of packages.tsv, and what each is.
PARTS = {
    "kernel": (ComponentType.OPERATING_SYSTEM, "Linux as a program (User Mode Linux)"),
    "udtperf": (ComponentType.APPLICATION, "sender and receiver of UDT, with libudt linked in"),
    "lab": (ComponentType.OPERATING_SYSTEM, "root file system of the lab"),
    "sender": (ComponentType.OPERATING_SYSTEM, "root file system of end hosts"),
}
#: The files that files.tsv has of the modules.
_MODULE = re.compile(r"parts/stacks/[^/]+/(\w+)\.ko")
_LOCKED = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


def sbom(engine: Path, lab: Path) -> str:
    """Return the list of a release's wheels."""
    with ZipFile(engine) as wheel:
        about_engine = _metadata(wheel)
    with ZipFile(lab) as wheel:
        about_lab, built_at = _metadata(wheel), wheel.infolist()[0].date_time
        parts = [*_parts(wheel), _modules(wheel)]
        locked = _locked(wheel)
    farpath = _wheel_component(engine, about_engine, ComponentType.APPLICATION)
    farpath_lab = _wheel_component(lab, about_lab, ComponentType.LIBRARY)
    farpath_lab.components.update(parts)
    bom = Bom(
        components=[farpath_lab, *locked.values()],
        metadata=BomMetaData(component=farpath, timestamp=datetime(*built_at, tzinfo=UTC)),
        serial_number=uuid.uuid5(uuid.NAMESPACE_OID, f"{_sha256(engine)} {_sha256(lab)}"),
    )
    direct = [locked[name] for name in _requirements(about_engine)]
    bom.register_dependency(farpath, [farpath_lab, *direct])
    bom.register_dependency(farpath_lab, parts)
    return str(JsonV1Dot6(bom).output_as_string(indent=1))


def _metadata(wheel: ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode())


def _requirements(metadata: Message) -> Iterator[str]:
    """Yield the names of the packages that a wheel needs without any extra."""
    for text in metadata.get_all("Requires-Dist", []):
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield canonicalize_name(requirement.name)


def _sha256(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def _wheel_component(file: Path, metadata: Message, kind: ComponentType) -> Component:
    name, version = canonicalize_name(metadata["Name"]), metadata["Version"]
    return Component(
        name=name,
        version=version,
        type=kind,
        bom_ref=name,
        description=metadata["Summary"],
        purl=PackageURL("pypi", name=name, version=version),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=_sha256(file))],
        licenses=[LicenseExpression(metadata["License-Expression"])],
    )


def _parts(lab: ZipFile) -> Iterator[Component]:
    """Yield the parts of packages.tsv, each with its Debian packages."""
    described = json.loads(lab.read(f"{LAB_PACKAGE}/lab.json"))
    text = lab.read(f"{LAB_PACKAGE}/packages.tsv").decode()
    rows = [line.split("\t") for line in text.splitlines()]
    for part, (kind, description) in PARTS.items():
        yield Component(
            name=part,
            version=described["release" if part == "kernel" else "version"],
            type=kind,
            bom_ref=part,
            description=description,
            components=[_debian(described["suite"], *row) for row in rows if row[0] == part],
        )


def _debian(
    suite: str,
    part: str,
    package: str,
    version: str,
    architecture: str,
    source: str,
    of_source: str,
) -> Component:
    """Return a Debian package; its purl's ``upstream`` is the source that it was built from."""
    of = {"arch": architecture, "distro": suite, "upstream": f"{source}@{of_source}"}
    return Component(
        name=package,
        version=version,
        bom_ref=f"{part}/{package}",
        purl=PackageURL("deb", "debian", package, version, of),
    )


def _modules(lab: ZipFile) -> Component:
    """Return the kernel modules of farpath, as files with the SHA-256 of files.tsv."""
    version = json.loads(lab.read(f"{LAB_PACKAGE}/lab.json"))["version"]
    licences = [DisjunctiveLicense(id="GPL-2.0-only")]
    modules = Component(
        name="modules",
        version=version,
        bom_ref="modules",
        description="farpath's own stacks and devices, as modules of the kernel",
    )
    for line in lab.read(f"{LAB_PACKAGE}/files.tsv").decode().splitlines():
        _, digest, name = line.split("\t")
        if found := _MODULE.fullmatch(name):
            modules.components.add(
                Component(
                    name=found[1],
                    version=version,
                    type=ComponentType.FILE,
                    bom_ref=f"modules/{found[1]}",
                    hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
                    licenses=licences,
                )
            )
    return modules


def _locked(lab: ZipFile) -> dict[str, Component]:
    """Return the Python packages of a run, in the versions with which farpath is tested."""
    text = lab.read(f"{LAB_PACKAGE}/images/python/base.txt").decode()
    return {
        canonicalize_name(name): Component(
            name=canonicalize_name(name),
            version=version,
            bom_ref=f"python/{canonicalize_name(name)}",
            purl=PackageURL("pypi", name=canonicalize_name(name), version=version),
        )
        for name, version in _LOCKED.findall(text)
    }


if __name__ == "__main__":
    *wheels, result = map(Path, sys.argv[1:])
    result.write_text(sbom(*wheels) + "\n")
