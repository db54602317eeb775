"""Registry: rules by the id of the claim that each decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

RuleT = TypeVar("RuleT")


class Registry(dict[str, RuleT]):
    """Rules of one kind, which functions enter by a decorator.

    ``experiments``: for claims that an experiment of their own decides, its name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.experiments: dict[str, str] = {}

    def decides(self, identity: str, experiment: str | None = None) -> Callable[[RuleT], RuleT]:
        """Enter the function below as the rule of that claim."""

        def enter(rule: RuleT) -> RuleT:
            self[identity] = rule
            if experiment is not None:
                self.experiments[identity] = experiment
            return rule

        return enter
