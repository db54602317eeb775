"""farpath: real transport stacks over emulated long fat paths, in virtual time.

``run``, ``sweep``, ``load``, ``compare`` and their errors are the Python interface
(docs/reference/python.md). They are imported when they are first used, so that ``import farpath``
costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farpath.api import (
        BadInputError,
        CheckFailedError,
        ComparisonResult,
        FarpathError,
        LabFailedError,
        MachineLacksError,
        RunResult,
        SweepResult,
        compare,
        load,
        run,
        sweep,
    )

__version__ = "0.1.0"
__all__ = [
    "BadInputError",
    "CheckFailedError",
    "ComparisonResult",
    "FarpathError",
    "LabFailedError",
    "MachineLacksError",
    "RunResult",
    "SweepResult",
    "__version__",
    "compare",
    "load",
    "run",
    "sweep",
]


if not TYPE_CHECKING:  # type checkers know the names above, and no others

    def __getattr__(name: str) -> Any:
        """Return a part of the Python interface, which is imported at its first use."""
        if name.startswith("_") or name not in __all__:
            raise AttributeError(f"module 'farpath' has no attribute '{name}'")
        from importlib import import_module

        return getattr(import_module("farpath.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
