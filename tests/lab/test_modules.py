"""The modules: in the kernel's style, built for any kernel, loaded and unloaded at will."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
from pathlib import Path as FilePath

import pytest

from farpath.base.c_source import file_code
from farpath.base.documents import read_json
from farpath.base.project import BUILD, PROJECT
from farpath.lab import guest_code, uml
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.artifacts.sources import source_identity
from farpath.programs.catalog import catalogue
from farpath.programs.iperf3.program import OURS
from tests.support.processes import completed

from .conftest import together

SOURCES = PROJECT / "images" / "kernel" / "stacks"
DEVICES = PROJECT / "images" / "kernel" / "devices"
NAMES = [name for name, entry in catalogue().items() if entry.kind == OURS and not entry.variant_of]
#: A guest that loads and unloads what the plan names, and measures nothing.
RELOADING = """
import json, sys
from pathlib import Path
from farpath.guest import system
from farpath.tools import congestion_control, sysctl
from farpath.tools.commands import run
from farpath.spec.plan import Plan
from farpath.spec.protocol import event_line

share = Path(sys.argv[1])
try:
    system.mount_all()
    plan = Plan.from_dict(json.loads((share / "plan.json").read_text()))
    (share / "raw").mkdir()
    for _ in range(3):
        congestion_control.load(plan.stacks, share / "modules-0")
        for stack in plan.stacks:
            run("rmmod", stack.module)
        left = set(sysctl.read_setting(congestion_control.AVAILABLE).split())
        assert not left & {stack.congestion for stack in plan.stacks}, left
    messages = run("dmesg", "--level", "err,warn")
    (share / "readback-0.json").write_text(json.dumps({"messages": messages}))
    print(event_line("done"), flush=True)
except Exception as error:
    print(event_line("failed", what=str(error), traceback=""), flush=True)
system.power_off()
"""


@pytest.fixture
def images() -> Images:
    return find_images()


def test_modules_are_known_by_the_code_of_their_sources_by_whichever_compiler(
    images: Images,
) -> None:
    modules = read_json(BUILD / "stacks" / "manifest.json")["modules"]
    for name, module in modules.items():
        (source,) = (*SOURCES.glob(f"{name}.c"), *DEVICES.glob(f"{name}.c"))
        assert module["source_hash"] == hashlib.sha256(file_code(source)).hexdigest(), name
    plan = together([NAMES[0]], 5.0)
    before = source_identity(plan, images)
    stacks = {
        name: {**module, "module_hash": "another compiler's"} for name, module in modules.items()
    }
    manifests = {**images.manifests, "stacks": {**images.manifests["stacks"], "modules": stacks}}
    assert source_identity(plan, dataclasses.replace(images, manifests=manifests)) == before


def test_every_module_unloads_and_loads_again_without_a_word_of_the_kernel(
    images: Images, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {**guest_code.guest_files(), "farpath/guest/__main__.py": RELOADING.encode()}
    monkeypatch.setattr(guest_code, "guest_files", lambda: files)
    plan = together(NAMES, 2.0, one_guest=True)
    with uml.play(plan, images, tmp_path / "log", lambda _event: None) as raw:
        complaints = [
            line
            for line in raw.readback["messages"].splitlines()
            if "tcp" in line.lower() and "out-of-tree" not in line
        ]
    assert complaints == []


def test_the_sources_keep_the_kernels_style(images: Images, tmp_path: FilePath) -> None:
    makefile = (images.kernel / "tree" / "Makefile").read_text()
    tree = makefile.rpartition("include ")[2].strip().removesuffix("/Makefile")
    files = sorted(str(file) for folder in (SOURCES, DEVICES) for file in folder.glob("*.[ch]"))
    # Names such as struct Qdisc are the kernel's own, which it looks for in a tree under git only,
    # and leaves a list of them where it runs
    options = ("--no-tree", "--strict", "--terse", "--ignore=CAMELCASE")
    done = completed(
        ["perl", f"{tree}/scripts/checkpatch.pl", *options, "-f", *files], cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout


def test_make_modules_builds_them_out_of_tree_again_and_again_without_a_warning(
    images: Images, tmp_path: FilePath
) -> None:
    copy = tmp_path / "stacks"
    shutil.copytree(SOURCES, copy)
    for _ in range(2):
        done = completed(
            ["make", "-C", str(copy), "modules", f"KDIR={images.kernel / 'tree'}", "W=1"]
        )
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stdout + done.stderr
    built = sorted(file.stem for file in copy.glob("*.ko"))
    assert built == sorted(f"tcp_{name}" for name in NAMES)
