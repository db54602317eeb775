"""User parts: builds users' stacks and end-host images for a lab, and reads their topologies."""

from __future__ import annotations

from farpath.lab.artifacts.host_images import host_images
from farpath.lab.artifacts.user_topologies import user_network
from farpath.lab.platforms import LAB_PLATFORMS
from farpath.planning.request import check_lab
from farpath.spec.host_image import HostImage
from farpath.spec.plan import Plan
from farpath.spec.stack import Stack
from farpath.spec.user_network import UserNetwork


class BuiltParts:
    """Builds the user's stacks and images that a request names, for the kernel of a lab.

    Its methods raise BadInputError for a part that cannot be built, and MachineLacksError if a tool
    for building is missing.
    """

    def __init__(self, lab: str) -> None:
        check_lab(lab)
        self._build = LAB_PLATFORMS[lab].build_stack

    def stack(self, text: str) -> Stack | None:
        """Build the user's stack that a text names; None if it names another stack."""
        return self._build(text)

    def images(self, text: str, plan: Plan) -> dict[str, HostImage]:
        """Unpack the images that a text names, and return them by the plan's end hosts."""
        return host_images(text, plan)

    def network(self, text: str) -> UserNetwork | None:
        """Read the network that a text names by the user's file; None if it names another."""
        return user_network(text)
