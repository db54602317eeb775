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
    """Carries this guest's part of faults out at their moments, and notes what was read back."""

    def __init__(self, run: ServiceRun, links: service_links.SiteLinks) -> None:
        self.run = run
        self.links = links
        self.notes: list[dict[str, Any]] = []

    def plan(self) -> None:
        """Put all faults that this guest has a part in on the agenda of the run."""
        for number, fault in enumerate(self.run.services.faults, start=1):
            self.notes.append({})
            note = self.notes[-1]
            if not self._has(fault):
                continue
            self.run.agenda.add(self.run.at(fault.at_s), partial(self._begin, number, fault, note))

    def _has(self, fault: Fault) -> bool:
        if fault.kind in spec.OF_SERVICES:
            return any(name in self.run.hosts for name in fault.of)
        return self.links.has(fault)

    def _tell(self, number: int, fault: Fault, t_s: float, *, begins: bool) -> None:
        """Tell of a fault, if no other guest does."""
        is_service = fault.kind in spec.OF_SERVICES
        if fault.of[0] in self.run.hosts if is_service else self.links.tells(fault):
            self.run.tell("fault", number=number, kind=fault.kind, begins=begins, t_s=t_s)

    def _begin(self, number: int, fault: Fault, note: dict[str, Any]) -> None:
        act = partial(self.links.begin, number, fault)
        if fault.kind in spec.OF_SERVICES:
            act = partial(self._on_services, fault, begins=True)
        found = act()
        note |= {"began_s": self.run.t_s(), "found": found}
        self._tell(number, fault, note["began_s"], begins=True)
        if fault.lasts_s is not None and fault.kind not in spec.MOMENTARY:
            end_ns = self.run.at(fault.at_s + fault.lasts_s)
            self.run.agenda.add(end_ns, partial(self._end, number, fault, note))

    def _end(self, number: int, fault: Fault, note: dict[str, Any]) -> None:
        if fault.kind in spec.OF_SERVICES:
            found = self._on_services(fault, begins=False)
        else:
            found = self.links.end(number, fault)
        note |= {"ended_s": self.run.t_s(), "found_after": found}
        self._tell(number, fault, note["ended_s"], begins=False)

    def _on_services(self, fault: Fault, *, begins: bool) -> dict[str, Any]:
        """Do to services what a fault does; return what was read back, by service."""
        own = [name for name in fault.of if name in self.run.hosts]
        return {name: self._on_service(fault, name, begins) for name in own}

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
