"""Host image: a user's root file system for an end host, as plain data of a plan."""

from __future__ import annotations

from dataclasses import dataclass

#: PATH of the programs at end hosts, unless an image sets it: Docker's default
#: (DefaultPathEnv in Moby).
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class HostImage:
    """A user's image that an end host uses instead of farpath's.

    ``name``: name of its directory or tar, for people. ``digest``: hash of its contents, as
    ``sha256:...``. ``build``: name of the build that the lab uses. ``environment`` (NAME=value)
    and ``directory``: environment and working directory of its programs.
    """

    name: str
    digest: str
    build: str
    environment: tuple[str, ...] = ()
    directory: str = "/"

    @property
    def variables(self) -> dict[str, str]:
        """The environment as a mapping from name to value."""
        return dict(text.partition("=")[::2] for text in self.environment)
