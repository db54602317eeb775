"""Record schema: validates a record.json before its values are used.

Fields that a reader uses are declared with their types, here and in ``recorded.py`` of mechanisms
and programs: ``PARTS`` of a record, and entries of its ``READBACK`` and of that ``AFTER`` the
traffic. Further fields are allowed.
In the plan they are not: it is compared field by field with the plan's own classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from pydantic import Field, create_model

import farpath.mechanisms
import farpath.programs
from farpath.base.errors import BadInputError
from farpath.base.folders import modules_of
from farpath.base.validation import Count, Hash, NotNegative, Part, Positive, validated
from farpath.mechanisms.era.mechanism import era_names
from farpath.planning.rules import check_plan
from farpath.programs.registry import program_of
from farpath.record.identity import FIRST_RESULTS_VERSION
from farpath.spec.plan import Plan
from farpath.spec.programs import Programs
from farpath.spec.wire import from_wire, with_python_names

#: The only record format in which plans hold no stacks.
FIRST_FORMAT = 1
#: Fields of a plan that go to programs and may hold any text.
_PROGRAM_FIELDS = frozenset({"command", "environment", "directory"})


#: Exceptions of computing with inconsistent values.
_MEANINGLESS = (
    ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError,
)  # fmt: skip


class _Kernel(Part):
    release: str = ""
    config_hash: str | None = None
    compiler: str = ""


class _Kernels(Part):
    sender: _Kernel
    receiver: _Kernel


class _Packages(Part):
    packages_hash: str | None = None


class _Provenance(Part):
    kernel: _Kernel = _Kernel()
    kernels: _Kernels | None = None
    lab: _Packages = _Packages()
    sender: _Packages = _Packages()
    stacks: dict[str, dict[str, Any]] = Field(default_factory=dict)
    images: dict[str, Any] = Field(default_factory=dict)
    images_sha256: str = ""
    code_sha256: str = ""
    results_version: int = FIRST_RESULTS_VERSION
    source_sha256: str = ""
    cpu_model: str = ""
    instruction_ns: int | None = None


class _Before(Part):
    parameters: dict[str, dict[str, str]] = Field(default_factory=dict)


class _Cpu(Part):
    senders_s: NotNegative
    mhz: Positive


class _Table(Part):
    fingerprint: Hash


def _further(of: str) -> dict[str, Any]:
    """Return what ``recorded.py`` of mechanisms and programs declares of a part of a record."""
    packages = (farpath.mechanisms.__name__, farpath.programs.__name__)
    modules = [module for package in packages for module in modules_of(package, "recorded", True)]
    return {name: kind for module in modules for name, kind in getattr(module, of, {}).items()}


@cache
def part_names() -> tuple[str, ...]:
    """Return the names of all parts that mechanisms and programs may add to a record."""
    return tuple(_further("PARTS"))


_After = create_model("_After", __base__=Part, **_further("AFTER"))


class _RunReadback(Part):
    before: _Before = _Before()
    after: _After = _After()
    cpu: _Cpu | None = None


_Readback = create_model("_Readback", __base__=_RunReadback, **_further("READBACK"))


class _RunDescription(Part):
    """A record.json without the parts of mechanisms."""

    plan: Plan
    provenance: _Provenance
    readback: _Readback
    warnings: list[str]
    fingerprint: Hash
    queues: _Table | None = None
    request: dict[str, str] | None = None


#: A complete record.json.
_Description = create_model("_Description", __base__=_RunDescription, **_further("PARTS"))


class _ServerEnding(Part):
    label: str
    status: int
    t_s: NotNegative | None


class _ProgramReadback(Part):
    before: _Before = _Before()
    after: _After = _After()


_ReadbackOfPrograms = create_model(
    "_ReadbackOfPrograms", __base__=_ProgramReadback, **_further("READBACK")
)


class _OwnDescription(Part):
    """An exec.json without the parts of mechanisms."""

    plan: Plan
    programs: Programs
    status: int
    took_s: NotNegative
    servers: list[_ServerEnding] = Field(default_factory=list)
    killed_for_memory: Count = 0
    preset: str = ""
    provenance: _Provenance
    readback: _ReadbackOfPrograms
    warnings: list[str]
    fingerprint: Hash


#: A complete exec.json.
_ProgramDescription = create_model(
    "_ProgramDescription", __base__=_OwnDescription, **_further("PARTS")
)


@contextmanager
def _plan_errors() -> Iterator[None]:
    """Translate errors of a plan whose values have their types and are inconsistent.

    Planning makes consistent plans only; a record's plan may lack any part of a mechanism.
    """
    try:
        yield
    except _MEANINGLESS as error:
        what = f"{type(error).__name__}: {error}"
        raise BadInputError(
            problem=f"plan has a part that is missing or means nothing ({what})"
        ) from error


def _with_python_names(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description whose plan and programs have the names that their classes have."""
    kinds = {"plan": Plan, "programs": Programs}
    renamed = {key: with_python_names(kinds[key], data[key]) for key in kinds if key in data}
    return {**data, **renamed}


def check_program_description(data: Mapping[str, Any]) -> None:
    """Raise BadInputError that names the first invalid field of an exec.json."""
    validated(_ProgramDescription, _with_python_names(data))
    with _plan_errors():
        check_plan(Plan.from_dict(data["plan"]))
        from_wire(Programs, data["programs"])


def check_description(data: Mapping[str, Any]) -> None:
    """Raise BadInputError that names the first invalid field of a record.json."""
    description = validated(_Description, _with_python_names(data))
    plan = description.plan
    plan_data = data["plan"]
    if unknown := next(_unknown(plan_data, plan.as_dict(), "plan"), ""):
        raise BadInputError(problem=f"{unknown} is not a field of a record")
    if data["format_version"] > FIRST_FORMAT and not plan.stacks:
        raise BadInputError(
            problem="plan.stacks is empty", remedy="it must hold the stack of each flow"
        )
    with _plan_errors():
        check_plan(Plan.from_dict(plan_data))
    counted_as = {stack.label: program_of(stack).counted_as for stack in plan.stacks}
    for flow in plan.schedule.all_flows:
        entry = counted_as.get(flow.stack)
        if entry and flow.name not in data["readback"].get(entry, {}):
            raise BadInputError(
                problem=f"readback.{entry} has no {flow.name}, which must be counted there"
            )
    if plan.era.name not in era_names():
        raise BadInputError(
            problem=f"plan.era.name is '{plan.era.name}'",
            remedy=f"it must be one of {', '.join(era_names())}",
        )
    for where, text in _texts(plan_data, "plan"):
        if not text.isprintable():
            raise BadInputError(
                problem=f"{where} is {text!r}", remedy="it must hold printable characters only"
            )


def _unknown(data: object, model: object, where: str) -> Iterator[str]:
    """Yield the names of fields in ``data`` that ``model`` does not have."""
    if isinstance(data, dict) and isinstance(model, dict):
        for name, value in data.items():
            if name not in model:
                yield f"{where}.{name}"
            else:
                yield from _unknown(value, model[name], f"{where}.{name}")
    elif isinstance(data, list) and isinstance(model, list | tuple):
        for index, (element, model_element) in enumerate(zip(data, model, strict=True)):
            yield from _unknown(element, model_element, f"{where}.{index}")


def _texts(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a plan that people read, names of fields included, with its location."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for name, element in value.items():
            yield f"a name in {where}", name
            if name not in _PROGRAM_FIELDS:
                yield from _texts(element, f"{where}.{name}")
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _texts(element, f"{where}.{index}")
