"""Lab platforms: how each lab finds its images, plays a plan, and builds and checks stacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath

from farpath.lab import host, preflight, uml
from farpath.lab.artifacts import images
from farpath.lab.artifacts.images import Images
from farpath.lab.artifacts.user_stacks import is_user_stack, user_stack
from farpath.lab.preflight import Check
from farpath.lab.process import RawRun, Watch
from farpath.programs.catalog import resolve_stack
from farpath.spec.plan import Plan
from farpath.spec.settings import HOST, VIRTUAL
from farpath.spec.stack import Stack


@dataclass(frozen=True)
class LabPlatform:
    """The parts of a lab that differ from those of another.

    ``find_images``: returns the built images for a plan. ``play``: runs a plan (as
    ``farpath.lab.uml.play``). ``build_stack``: builds the user's stack that a text names, None if
    it names another. ``checks``: checks whether this machine can run texts of stacks.
    """

    find_images: Callable[[Plan], Images]
    play: Callable[[Plan, Images, FilePath, Watch], AbstractContextManager[RawRun]]
    build_stack: Callable[[str], Stack | None]
    checks: Callable[[Sequence[str]], list[Check]]


def _virtual_checks(texts: Sequence[str]) -> list[Check]:
    for text in texts:
        # A user's own stack is not resolved: it is compiled for the lab's kernel, which may be
        # missing.
        if not is_user_stack(text):
            resolve_stack(text)
    return preflight.virtual_checks()


_user_stack_on_host = partial(user_stack, kernel=host.kernel_to_build_for)


def _host_checks(texts: Sequence[str]) -> list[Check]:
    stacks = [_user_stack_on_host(text) or resolve_stack(text) for text in texts]
    return [*host.checks_of_stacks(stacks), *preflight.further_checks()]


#: By ``Settings.lab``.
LAB_PLATFORMS = {
    VIRTUAL: LabPlatform(lambda _plan: images.find_images(), uml.play, user_stack, _virtual_checks),
    HOST: LabPlatform(host.find_images, host.play, _user_stack_on_host, _host_checks),
}
