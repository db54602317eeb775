"""Image: what a user's own end hosts start from, as a plan holds it. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Where end hosts look for programs, unless an image sets PATH itself: the PATH that
#: Docker gives to what it builds (DefaultPathEnv in Moby).
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class HostImage:
    """A user's image at an end host, in the place of farpath's own.

    ``name``: that of its directory or tar, for people. ``digest``: what is in it, as
    ``sha256:...``. ``build``: which build of it the lab starts. ``environment``
    (NAME=value) and ``directory``: those of its programs.
    """

    name: str
    digest: str
    build: str
    environment: tuple[str, ...] = ()
    directory: str = "/"

    @property
    def variables(self) -> dict[str, str]:
        """The environment by name."""
        return dict(text.partition("=")[::2] for text in self.environment)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> HostImage:
        """The inverse of :func:`dataclasses.asdict`, also after a way through JSON."""
        return cls(**{**data, "environment": tuple(data.get("environment", ()))})
