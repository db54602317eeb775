"""OCI image layouts and tars for tests, as Docker's tools write them."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path as FilePath
from typing import Any

from farpath.lab.artifacts import oci

AMD64 = {"os": "linux", "architecture": "amd64"}
ARM64 = {"os": "linux", "architecture": "arm64"}
RUN = {"Entrypoint": ["/run"]}
UNKNOWN = {"os": "unknown", "architecture": "unknown"}


class Layout:
    """An OCI image layout in the making, as Docker's tools write it."""

    def __init__(self, place: FilePath) -> None:
        self.place = place
        (place / "blobs" / "sha256").mkdir(parents=True)
        (place / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')

    def blob(self, data: object, media_type: str) -> dict[str, Any]:
        """Store JSON; returns its descriptor."""
        text = json.dumps(data).encode()
        digest = hashlib.sha256(text).hexdigest()
        (self.place / "blobs" / "sha256" / digest).write_bytes(text)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(text)}

    def image(
        self, config: dict[str, Any], platform: dict[str, str] = AMD64, kind: str = oci.MANIFEST
    ) -> dict[str, Any]:
        """Store an image with one layer that is never looked at."""
        layer = {"mediaType": f"{oci.LAYER}+gzip", "digest": "sha256:" + "0" * 64, "size": 1}
        stored = self.blob({**platform, "config": config}, "application/vnd.oci.image.config.v1")
        return self.blob({"schemaVersion": 2, "config": stored, "layers": [layer]}, kind)

    def index(self, *manifests: dict[str, Any]) -> FilePath:
        """Write the layout's index; returns the layout's place."""
        text = json.dumps({"schemaVersion": 2, "manifests": manifests})
        (self.place / "index.json").write_text(text)
        return self.place


def add_to_tar(tar: tarfile.TarFile, name: str, text: str) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(text.encode())
    tar.addfile(member, io.BytesIO(text.encode()))


def docker_tar(file: FilePath, *configs: dict[str, Any]) -> FilePath:
    """A tar as Docker before version 25 saves images, without their layers."""
    entries = []
    with tarfile.open(file, "w") as tar:
        for number, config in enumerate(configs):
            add_to_tar(tar, f"{number}.json", json.dumps(config))
            entries.append({"Config": f"{number}.json", "Layers": [f"{number}/layer.tar"]})
        add_to_tar(tar, "manifest.json", json.dumps(entries))
    return file
