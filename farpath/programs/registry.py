"""Registry of programs: every folder of ``farpath/programs``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from farpath import programs as package
from farpath.base.errors import BadInputError
from farpath.base.folders import modules_of
from farpath.programs.program import Program
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.stack import Stack


def programs() -> Mapping[str, Program]:
    """Return all programs in the order of their ranks, by ``Stack.program``."""
    return _programs(tuple(package.__path__))


@cache
def _programs(_places: tuple[str, ...]) -> Mapping[str, Program]:
    found: list[Program] = [module.PROGRAM for module in modules_of(package.__name__, "program")]
    return {program.name: program for program in sorted(found, key=lambda one: one.rank)}


def program_of(stack: Stack) -> Program:
    """Return the program of a stack; raises BadInputError for one that is not known."""
    known = programs()
    if stack.program not in known:
        raise BadInputError(
            option="stack",
            given=stack.label,
            problem=f"it is run by '{stack.program}', which is none of {', '.join(known)}",
            remedy="use the farpath that knows it",
        )
    return known[stack.program]


def program_of_flow(flow: Flow, plan: Plan) -> Program:
    """Return the program of a flow of a plan."""
    return program_of(plan.stack_of(flow))
