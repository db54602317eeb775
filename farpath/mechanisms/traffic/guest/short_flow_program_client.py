"""Client of the short flows beside a user's programs: ends when these have ended.

It is that of runs (``short_flow_client``), but draws flows for as long as programs may run, and
ends with its stdin, which the guest closes when the user's client has ended.
"""

from __future__ import annotations

import select
import sys

from farpath.mechanisms.traffic.guest.short_flow_client import Client, main
from farpath.tools.short_flows import UNFINISHED


class ProgramClient(Client):
    """Starts flows at their times until stdin ends."""

    def run(self) -> None:
        """Run flows until stdin ends or their schedule does; those open then are aborted."""
        end = sys.stdin.fileno()
        self.poll.register(end, select.EPOLLIN)
        self._await_next()
        is_over = False
        while not is_over:
            for descriptor, _ in self.poll.poll():
                if descriptor == end:
                    is_over = True
                elif descriptor != self.timer.descriptor:
                    self._go_on(self.transfers[descriptor])
                elif not self._start_due():
                    is_over = True
        for transfer in list(self.transfers.values()):
            self._end(transfer, UNFINISHED)


if __name__ == "__main__":
    main(ProgramClient)
