"""Program builds: builds the programs of a plan that no image has, once for their sources."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.base.project import IMAGES
from farpath.lab.artifacts.images import Images
from farpath.lab.artifacts.scripts import build_artifact, errors_named, linked, print_to_stderr
from farpath.programs.registry import program_of
from farpath.spec.stack import Stack


def build_programs(stacks: Iterable[Stack], images: Images) -> None:
    """Build what stacks run by their programs' ``build_script``, and link it to ``images``.

    What is there is used. Raises MachineLacksError if a tool for building is missing.
    """
    for name, stack in sorted({stack.name: stack for stack in stacks}.items()):
        program = program_of(stack)
        if program.build_script:
            with errors_named("stack"):
                directory = build_artifact(
                    IMAGES.parent / program.build_script,
                    program.build_argument(stack),
                    tell=print_to_stderr,
                )
            linked(directory, images.build(stack).parent, name)
