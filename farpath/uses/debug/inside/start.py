"""Start: the script that gdb runs first. It attaches to a run's guests and brings them to a stop.

``farpath_config``, a name that gdb's Python has before, is a file of JSON by
``farpath.uses.debug.session``. What comes next is written to its ``answer``: that the stop was
reached or not, and what the user wants then.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path as FilePath
from typing import Any

#: The project, from which gdb's Python takes units and errors, and this package.
sys.path.insert(0, str(FilePath(__file__).resolve().parents[4]))

import gdb

from farpath.uses.debug.inside import stopping
from farpath.uses.debug.inside.gdb_commands import (
    Session,
    add_commands,
    detach_all,
    where,
)
from farpath.uses.debug.inside.inferiors import attach


def _reach(session: Session, stop: dict[str, Any], found: dict[str, int] | None) -> bool:
    """Bring the run to its stop; else leave word why it is not there, and return False."""
    try:
        session.stop_at(stop, stopping.Found(**found) if found else None)
    except stopping.NotReached:
        session.leave("over")
    except stopping.Ahead as ahead:
        event = {"site": ahead.found.site, "ns": ahead.found.ns}
        session.leave("again", stop=stop, found=event)
    except gdb.GdbError as error:
        session.leave("refused", problem=str(error))
    else:
        return True
    return False


def _play_script(session: Session, lines: list[str]) -> None:
    """Run a script's lines; those behind a line that makes the run again are for the next gdb."""
    for number, line in enumerate(lines, 1):
        session.rest = lines[number:]
        if line.strip() and not line.lstrip().startswith("#"):
            gdb.execute(line)


def main() -> None:
    """Attach, stop, and hand over to the user or to a script."""
    config = json.loads(FilePath(str(globals()["farpath_config"])).read_text())
    try:
        sites = attach(config)
    except gdb.error as error:
        FilePath(config["answer"]).write_text(
            json.dumps({"then": "not-attached", "problem": str(error)})
        )
        gdb.execute("quit 1")
    session = Session(config, sites)
    add_commands(session)
    if not _reach(session, config["stop"], config["found"]):
        return
    session.tell("stopped")
    if config["script"] is None and not config["json"]:
        print("sites, sock flow1, scoreboard, queue, timers, packets 20, back 100ms, step packet,")
        print("run to 12.5s, run to end; Ctrl-D ends and leaves nothing. All of gdb works too.")
        where(session, "")
        return
    if config["script"] is not None:
        where(session, "")
        _play_script(session, config["script"])
    if config["json"]:
        session.tell("stopped", state=session.state())
    detach_all(sites)
    gdb.execute("quit")


main()
