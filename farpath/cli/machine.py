"""``farpath preflight`` and ``clean``: what a machine needs for a lab, and what runs left on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from farpath.cli.shared_options import RESULTS, RecordsDir
from farpath.planning.request import DEFAULT_STACK
from farpath.spec.settings import HOST

if TYPE_CHECKING:
    from farpath.lab.preflight import Check


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(preflight)
    app.command()(clean)


def preflight(
    lab: Annotated[str, typer.Option(help="virtual or host.")] = "virtual",
    stack: Annotated[str, typer.Option(help="Stacks that the flows would run.")] = DEFAULT_STACK,
) -> None:
    """Check whether this machine can run a lab: one line for each requirement, with its remedy."""
    from farpath.lab import preflight as lab_preflight
    from farpath.planning.request import check_lab

    check_lab(lab)
    checks = _host_checks(stack) if lab == HOST else _virtual_checks(stack)
    print(lab_preflight.table(checks))
    lab_preflight.require(checks, lab)


def _virtual_checks(stack: str) -> list[Check]:
    from farpath.lab import preflight as lab_preflight
    from farpath.lab.artifacts.user_stacks import is_user_stack
    from farpath.planning.stack_texts import parse_stacks
    from farpath.programs.catalog import resolve_stack

    for text in parse_stacks(stack):
        # A user's own stack is not resolved: it is compiled for the lab's kernel, which may be
        # missing.
        if not is_user_stack(text):
            resolve_stack(text)
    return lab_preflight.virtual_checks()


def _host_checks(stack: str) -> list[Check]:
    from farpath.lab import host
    from farpath.lab import preflight as lab_preflight
    from farpath.lab.user_parts import BuiltParts
    from farpath.planning.stack_texts import parse_stacks
    from farpath.programs.catalog import resolve_stack

    parts = BuiltParts(HOST)
    stacks = [parts.stack(text) or resolve_stack(text) for text in parse_stacks(stack)]
    return [*host.checks_of_stacks(stacks), *lab_preflight.further_checks()]


def clean(
    out: RecordsDir = RESULTS,
) -> None:
    """Remove files of killed runs, and restore the kernel's settings that they changed."""
    from farpath.lab.cleanup import clean as clean_all

    messages = clean_all(out)
    for message in messages:
        print(message)
    if not messages:
        print("nothing is left of killed runs")
