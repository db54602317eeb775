"""Processes that tests start to interrupt them."""

from __future__ import annotations

from collections.abc import Sequence


def interruptible(command: Sequence[str]) -> list[str]:
    """A command as at a prompt, where Ctrl-C (SIGINT) ends it.

    A shell without job control starts what is in its background with SIGINT ignored, and so do
    nohup's callers, cron and many CI systems; a test run may be one of these, and its children
    would inherit that (env(1), signal(7)).
    """
    return ["env", "--default-signal=INT", *command]
