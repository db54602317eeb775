"""Service faults: carries faults out at their moments, and notes what was read back."""

from __future__ import annotations

import signal
from functools import partial
from typing import Any

from farpath.guest import service_links
from farpath.guest.service_run import ServiceRun
from farpath.spec import services as spec
from farpath.spec.services import Fault


class FaultRun:
    """Carries faults out at their moments, and notes what was read back."""

    def __init__(self, run: ServiceRun, links: service_links.SiteLinks) -> None:
        self.run = run
        self.links = links
        self.notes: list[dict[str, Any]] = []

    def plan(self) -> None:
        """Put all faults on the agenda of the run."""
        for number, fault in enumerate(self.run.services.faults, start=1):
            self.notes.append({})
            note = self.notes[-1]
            self.run.agenda.add(self.run.at(fault.at_s), partial(self._begin, number, fault, note))

    def _begin(self, number: int, fault: Fault, note: dict[str, Any]) -> None:
        act = partial(self.links.begin, number, fault)
        if fault.kind in spec.OF_SERVICES:
            act = partial(self._on_services, fault, begins=True)
        found = act()
        note |= {"began_s": self.run.t_s(), "found": found}
        self.run.tell("fault", number=number, kind=fault.kind, begins=True, t_s=note["began_s"])
        if fault.lasts_s is not None and fault.kind not in spec.MOMENTARY:
            end_ns = self.run.at(fault.at_s + fault.lasts_s)
            self.run.agenda.add(end_ns, partial(self._end, number, fault, note))

    def _end(self, number: int, fault: Fault, note: dict[str, Any]) -> None:
        if fault.kind in spec.OF_SERVICES:
            found = self._on_services(fault, begins=False)
        else:
            found = self.links.end(number, fault)
        note |= {"ended_s": self.run.t_s(), "found_after": found}
        self.run.tell("fault", number=number, kind=fault.kind, begins=False, t_s=note["ended_s"])

    def _on_services(self, fault: Fault, *, begins: bool) -> dict[str, Any]:
        """Do to services what a fault does; return what was read back, by service."""
        return {name: self._on_service(fault, name, begins) for name in fault.of}

    def _on_service(self, fault: Fault, name: str, begins: bool) -> dict[str, Any]:
        run, host = self.run, self.run.hosts[name]
        before = run.running(name)
        if fault.kind == spec.FULL_DISK:
            return {"free_bytes": host.fill_disk() if begins else host.free_disk()}
        if fault.kind == spec.CLOCK_STEP:
            return {"ahead_s": host.step_clock(fault.value if begins else 0.0)}
        if fault.kind == spec.STOP:
            run.signal(name, signal.SIGSTOP if begins else signal.SIGCONT)
        elif fault.kind == spec.KILL:
            run.kill(name)
        else:
            run.restart(name)
        return {"processes": before}

    def finish(self) -> list[dict[str, Any]]:
        """Return what was noted of each fault, with the packets that partitions dropped."""
        for number, (fault, note) in enumerate(
            zip(self.run.services.faults, self.notes, strict=True), start=1
        ):
            if note and fault.kind in (spec.PARTITION, spec.LINK_DOWN):
                note["dropped_packets"] = self.links.dropped_by(number)
        return self.notes
