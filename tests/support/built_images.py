"""A lab's built parts, of a kernel with one module of its own, as far as identities read them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path as FilePath

from farpath.base.c_source import file_code
from farpath.lab.artifacts import sources
from farpath.lab.artifacts.images import Images
from tests.support.data import captured

#: Lines of a kernel's configuration, of which some describe the compiler.
CONFIG = captured("kernel/config.txt")


def built_images(tmp_path: FilePath) -> Images:
    """Make the parts in a directory."""
    for name in ("kernel", "lab", "sender", "stacks"):
        (tmp_path / name).mkdir()
    (tmp_path / "kernel" / "config").write_text(CONFIG)
    write_module(tmp_path / "stacks", "int htcp;", "bytes of gcc 12")
    return Images(
        kernel=tmp_path / "kernel",
        lab=tmp_path / "lab",
        sender=tmp_path / "sender",
        stacks=tmp_path / "stacks",
        own=tmp_path / "own",
        manifests={
            "kernel": {"source_hash": "s", "cflags": "-O2", "linux_hash": "bytes of gcc 12"},
            "lab": {"own_hash": "l", "packages": {"openvswitch-switch": "3.5", "perl-base": "5"}},
            "sender": {
                "own_hash": "e",
                "udtperf_hash": "u",
                "transfer_hash": "t",
                "packages_hash": "e",
                "packages": {"iperf3": "3.18", "libpam0g": "1.7"},
            },
        },
    )


def write_module(place: FilePath, source: str, module: str) -> None:
    """Write a stack's module, beside devices that are built from the project's sources."""
    (place / "tcp_htcp_2004.c").write_text(source)
    files = [place / "tcp_htcp_2004.c", *sources.DEVICES.glob("*.c")]
    modules = {
        file.stem: {
            "source_hash": hashlib.sha256(file_code(file)).hexdigest(),
            "module_hash": hashlib.sha256(module.encode()).hexdigest(),
        }
        for file in files
    }
    (place / "manifest.json").write_text(json.dumps({"modules": modules}))


def changed(images: Images, part: str, **values: object) -> Images:
    """Change fields of a part's manifest."""
    manifests = {**images.manifests, part: {**images.manifests[part], **values}}
    return dataclasses.replace(images, manifests=manifests)
