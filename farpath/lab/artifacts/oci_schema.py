"""OCI schema: the JSON fields of images that the lab reads (OCI image-spec 1.1, Moby's 1.2)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", populate_by_name=True)


class OciPlatform(_Part):
    """Operating system and architecture of an image."""

    os: str = "None"
    architecture: str = "None"


class Descriptor(_Part):
    """Reference to a blob of an image: media type, digest, size in bytes, and platform."""

    media_type: str = Field(alias="mediaType")
    digest: str
    size: int
    platform: OciPlatform | None = None


class Index(_Part):
    """An index.json, or an index within one."""

    manifests: list[Descriptor]


class Layer(_Part):
    """A layer of a manifest."""

    media_type: str = Field(alias="mediaType")


class Manifest(_Part):
    """An image's manifest."""

    config: Descriptor
    layers: list[Layer]


class Run(_Part):
    """Settings with which a container of an image starts."""

    entrypoint: Any = Field(None, alias="Entrypoint")
    cmd: Any = Field(None, alias="Cmd")
    env: Any = Field(None, alias="Env")
    working_dir: str | None = Field(None, alias="WorkingDir")
    user: str | None = Field(None, alias="User")


class Config(OciPlatform):
    """An image's configuration."""

    config: Run | None = None


class Saved(_Part):
    """An entry of the manifest.json of docker save."""

    config: str = Field(alias="Config")
