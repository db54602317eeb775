"""The ways a command can end badly, each with its exit status.

A message says what was wrong, what was got, what is allowed and what to do
next, on one line. ``detail`` holds what belongs below it: a console's tail.
"""


class FarpathError(Exception):
    """A failure that farpath understands; printed without a traceback."""

    exit_status = 1

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback: the same as the command line."""
        return [f"farpath: {self.message}", *(f"  | {line}" for line in self.detail.splitlines())]


class BadInputError(FarpathError):
    """The user asked for something that is not offered."""

    exit_status = 2


class MachineLacksError(FarpathError):
    """This machine lacks something; the message names it and the remedy."""

    exit_status = 3


class LabFailedError(FarpathError):
    """The lab did not come to its end; ``detail`` is its console's tail."""

    exit_status = 4


class CheckFailedError(FarpathError):
    """A read-back or a result differs from what was asked for."""

    exit_status = 5


class StoppedError(FarpathError):
    """The run was stopped by who began it; nothing half made is left."""
