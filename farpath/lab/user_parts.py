"""What a user brings to a run, built for its lab: stacks and images of end hosts."""

from __future__ import annotations

from functools import partial

from farpath.lab import host
from farpath.lab.artifacts.host_images import host_images
from farpath.lab.artifacts.user_stacks import own_stack
from farpath.spec.host_image import HostImage
from farpath.spec.plan import Plan
from farpath.spec.settings import HOST
from farpath.spec.stack import Stack


class BuiltParts:
    """Builds what a request names of the user's own, for the kernel of a lab.

    Raises BadInputError for what cannot be built, and MachineLacksError for what building
    needs.
    """

    def __init__(self, lab: str) -> None:
        on_host = partial(own_stack, kernel=host.kernel_to_build_for)
        self._build = on_host if lab == HOST else own_stack

    def stack(self, text: str) -> Stack | None:
        """The user's stack that a text means, built; None if it names another."""
        return self._build(text)

    def images(self, text: str, plan: Plan) -> dict[str, HostImage]:
        """The images, built, that a text means for the end hosts of a plan."""
        return host_images(text, plan)
