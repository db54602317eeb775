"""The making of a run from its request, for the command line and for Python."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError
from farpath.lab.run import Outcome
from farpath.lab.run import run as run_plan
from farpath.lab.user_parts import BuiltParts
from farpath.planning.request import RunRequest
from farpath.platforms import platform_of
from farpath.spec.labels import stacks_label
from farpath.spec.plan import Plan

if TYPE_CHECKING:
    from farpath.lab.artifacts.images import Images
    from farpath.lab.process import Watch

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadyRun:
    """A run that can be made: its plan and request, and the images of its lab.

    ``images``: None for the lab's own.
    """

    plan: Plan
    request: RunRequest
    images: Images | None = None

    @property
    def label(self) -> str:
        """The path and the stacks, as progress names the run."""
        return f"{self.plan.path.name} {stacks_label(self.plan.schedule)}"

    @property
    def time_unit(self) -> str:
        """The unit of the schedule's time, as progress names it."""
        return "s" if self.plan.settings.clock == "wall" else "virtual s"

    def make(self, out: FilePath, force: bool, watch: Watch) -> Outcome:
        """Make the run's record with its figure and page under ``out``, or find it there.

        ``force`` and ``watch``: as for ``farpath.lab.run.run``. A record that was made without
        figure and page gets them.
        """
        # Plotting libraries take half a second to load, so bad input is answered before that.
        from farpath.record.record import load_record
        from farpath.report.html.run_page import PAGE_FILE, save_pictures

        outcome = run_plan(
            *(self.plan, out, force, watch, self.images),
            finish=save_pictures,
            request=self.request.typed,
        )
        if not (outcome.directory / PAGE_FILE).exists():
            save_pictures(load_record(outcome.directory))
        return outcome


def ready_run(
    request: RunRequest, kernel: str | None = None, path_by_rtt: bool = False
) -> ReadyRun:
    """Plan a run and build its parts: the user's stacks and images, and its kernel.

    ``kernel``: a series of Debian's source, a Linux tree, or of one side (``receiver=7.3``); None
    for the lab's own. ``path_by_rtt``: as for ``RunRequest.plan``. Raises BadInputError for a
    request that is not allowed.
    """
    plan = request.plan(user_parts=BuiltParts(request.lab), path_by_rtt=path_by_rtt)
    return ReadyRun(plan, request, None if kernel is None else _images_with(kernel, plan))


def _images_with(kernel: str, plan: Plan) -> Images:
    """Build the kernel that the user names."""
    if not platform_of(plan).boots_kernel:
        raise BadInputError(
            problem="`kernel` is for `lab=virtual`", remedy="the host lab runs on this kernel"
        )
    from farpath.lab.artifacts.kernels import images_of, kernels_by_side
    from farpath.spec.sites import check_sides
    from topologies import lay_out

    if kernels_by_side(kernel):
        check_sides(lay_out(plan))
    return images_of(kernel, LOG.info)
