"""The registry of rules, by the id of the claim that each decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

RuleT = TypeVar("RuleT")


class Registry(dict[str, RuleT]):
    """Rules of one type, which functions join by a decorator.

    ``experiments`` names the experiment of each claim that has an experiment of its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self.experiments: dict[str, str] = {}

    def decides(self, identity: str, experiment: str | None = None) -> Callable[[RuleT], RuleT]:
        """Register the decorated function as the rule of claim ``identity``."""

        def register(rule: RuleT) -> RuleT:
            self[identity] = rule
            if experiment is not None:
                self.experiments[identity] = experiment
            return rule

        return register
