"""Validation of parsed JSON and TOML by type hints, with pydantic.

pydantic is slow to import, so a module that every command imports should import this one in the
function that validates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from farpath.base.errors import BadInputError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Model = TypeVar("Model")
#: Numbers of documents that are above zero, or not below it.
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
#: A SHA-256.
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
#: Fields that a module adds to a document: by name their type and default.
Declared = Mapping[str, tuple[Any, Any]]


class Part(BaseModel):
    """A part of a document whose types are strict; further fields are allowed."""

    model_config = ConfigDict(strict=True, extra="allow")


def validated(model: type[Model], data: object, name: str = "", every_field: bool = False) -> Model:
    """Return parsed JSON or TOML as an instance of a model of pydantic's or a dataclass.

    Types are strict: the text "1" is no number. Raises BadInputError with the problem of the first
    invalid field, or of every one. ``name``: the document's name, which begins the message:
    ``index.json: manifests.0.digest: field required``.
    """
    try:
        # Validate as JSON: strict validation of Python objects would demand tuples and instances.
        adapter: TypeAdapter[Model] = _adapter(cast(Any, model))
        return adapter.validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        problems = [_problem(details) for details in error.errors()]
        message = "; ".join(problems if every_field else problems[:1])
        raise BadInputError(file=str(name), problem=message) from error


def _problem(details: ErrorDetails) -> str:
    field = ".".join(str(part) for part in details["loc"])
    text = details["msg"].removeprefix("Value error, ")
    problem = text[:1].lower() + text[1:]
    return f"{field}: {problem}" if field else problem


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)
