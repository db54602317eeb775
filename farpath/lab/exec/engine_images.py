"""Engine images: images of this machine's container engine, saved once by their id."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.files import make_directory
from farpath.base.project import cache_directory
from farpath.tools.commands import note

#: Engines by their command, in the order in which they are looked for.
ENGINES = ("docker", "podman")
_ID = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def engine_image(name: str, service: str) -> FilePath:
    """Return a tar of a local engine's image; nothing is pulled.

    Raises BadInputError if the engine has no such image, and MachineLacksError without an engine or
    if it cannot save the image.
    """
    engine = next(filter(None, map(shutil.which, ENGINES)), None)
    if engine is None:
        raise MachineLacksError(
            f"service {service} has image {name}, and neither {' nor '.join(ENGINES)} is in PATH: "
            "save the image elsewhere with docker save --output mine.tar and give image: ./mine.tar"
        )
    command = [engine, "image", "inspect", "--format", "{{.Id}}", "--", name]
    note(command)
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    match = _ID.fullmatch(found.stdout.strip())
    if found.returncode or not match:
        said = " ".join(found.stderr.split()) or "it has no such image"
        raise BadInputError(
            problem=f"service {service} has image {name}, and {FilePath(engine).name} says: {said}",
            remedy=f"pull it before, as with docker pull {name}, or give image: ./mine.tar",
        )
    saved = cache_directory() / "engine" / f"{match[1]}.tar"
    if not saved.is_file():
        make_directory(saved.parent)
        # Of this process alone: another that saves the same image makes the same file
        partial = saved.with_suffix(f".{os.getpid()}.part")
        save = [engine, "image", "save", "--output", str(partial), "--", name]
        note(save)
        done = subprocess.run(save, capture_output=True, text=True, check=False)
        if done.returncode:
            partial.unlink(missing_ok=True)
            said = " ".join(done.stderr.split()) or f"status {done.returncode}"
            raise MachineLacksError(f"{FilePath(engine).name} cannot save image {name}: {said}")
        partial.rename(saved)
    return saved
