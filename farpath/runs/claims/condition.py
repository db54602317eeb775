"""The comparisons that decide a claim."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Condition:
    """One comparison that a claim asks for: ``value`` ``relation`` ``limit``.

    ``quantity`` names the value. ``limit_name`` names the limit if that was measured too.
    ``tell_apart``: whether the seeds have to tell the value from the limit by their interval, as
    for two neighbours in a ranking, and not just agree.
    """

    quantity: str
    value: float
    relation: str
    limit: float
    unit: str = ""
    limit_name: str = ""
    tell_apart: bool = False

    @property
    def defined(self) -> bool:
        """Whether both sides are finite numbers."""
        return math.isfinite(self.value) and math.isfinite(self.limit)

    @property
    def holds(self) -> bool:
        """Whether the comparison is true; False if a side is not a finite number."""
        return self.defined and _RELATIONS[self.relation](self.value, self.limit)

    @property
    def margin(self) -> float:
        """The amount by which it holds (above 0) or is missed (below 0), in its unit."""
        difference = self.limit - self.value
        return difference if self.relation.startswith("<") else -difference

    def __str__(self) -> str:
        """Format as ``S of HTCP 0.28 < Reno's 0.66``, with ``not <`` if it is missed."""
        if not self.defined:
            return f"{self.quantity} is not defined"
        unit = f" {self.unit}" if self.unit else ""
        limit = f"{self.limit_name} {self.limit:.4g}".strip()
        relation = self.relation if self.holds else f"not {self.relation}"
        return f"{self.quantity} {self.value:.4g} {relation} {limit}{unit}"


def within(
    quantity: str, value: float, low: float, high: float, unit: str = ""
) -> tuple[Condition, ...]:
    """Return the two conditions that a value lies in a range."""
    return Condition(quantity, value, ">=", low, unit), Condition(quantity, value, "<=", high, unit)
