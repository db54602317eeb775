"""Service run: starts services as they wait for each other, checks their health, ends them."""

from __future__ import annotations

import heapq
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path as FilePath
from typing import Any

from farpath.guest import system
from farpath.guest.network import Network
from farpath.guest.program_groups import ProgramGroups
from farpath.guest.program_hosts import Program
from farpath.guest.program_observers import (
    SendEvent,
    last_words,
    status_of,
)
from farpath.guest.service_hosts import ServiceHost, mount_volumes
from farpath.guest.site_control import SiteControl
from farpath.guest.timer import Timer
from farpath.guest.traffic import TrafficError
from farpath.spec import services as spec
from farpath.spec.programs import TIMED_OUT
from farpath.spec.protocol import (
    OUTPUT_DIR,
)
from farpath.spec.services import COMPLETED, HEALTHY, Service, Services

#: What a service has to do with another that will never be as it waits for.
_NEVER = {HEALTHY: "to be healthy", COMPLETED: "to end with status 0"}


@dataclass
class State:
    """What a service does: its program while it runs, its status behind that, and its health.

    ``starts``: how often it was started. ``failures``: of its health check in a row. ``again_s``:
    None, or how long after its end it starts again whatever its policy. ``said``: its last words
    when it had ended or was unhealthy. Of a service of another guest there is no program here.
    """

    service: Service
    program: Program | None = None
    is_running: bool = False
    said: str = ""
    status: int | None = None
    starts: int = 0
    started_ns: int = 0
    ended_ns: int = 0
    is_healthy: bool = False
    is_unhealthy: bool = False
    failures: int = 0
    again_s: float | None = None
    check: Program | None = None

    @property
    def has_ended(self) -> bool:
        """Whether it has run and does not run now."""
        return self.starts > 0 and not self.is_running

    @property
    def told(self) -> dict[str, Any]:
        """What other guests are told of it, by its fields here."""
        return {name: getattr(self, name) for name in _TOLD}


#: Fields of a state that other guests are told.
_TOLD = (
    *("is_running", "said", "status", "starts"),
    *("is_healthy", "is_unhealthy", "failures", "again_s"),
)


class Agenda:
    """What to do when, by the monotonic clock in ns; of one moment what was added first."""

    def __init__(self) -> None:
        self._numbers = count()
        self._due: list[tuple[int, int, Callable[[], None]]] = []

    def add(self, at_ns: int, act: Callable[[], None]) -> None:
        """Add something to do."""
        heapq.heappush(self._due, (at_ns, next(self._numbers), act))

    @property
    def next_ns(self) -> int:
        """The next moment."""
        return self._due[0][0]

    def act(self, now_ns: int) -> None:
        """Do all that is due."""
        while self._due and self._due[0][0] <= now_ns:
            heapq.heappop(self._due)[2]()


class ServiceRun:
    """The services of a guest and their output, which the host reads as it appears.

    ``tell``: called with the name of an event and its values. ``control``: the links to other
    guests, None for one guest alone.
    """

    def __init__(
        self,
        services: Services,
        network: Network,
        share: FilePath,
        tell: SendEvent,
        control: SiteControl | None = None,
    ) -> None:
        self.services = services
        self.output = share / OUTPUT_DIR
        self.tell = tell
        self.control = control
        self.groups = ProgramGroups(services.memory_bytes)
        own = [one for one in services.services if network.has(one.host)]
        mount_volumes(share, services, own)
        self.states = {one.name: State(one) for one in services.services}
        self.hosts = {one.name: ServiceHost(one, services, network, self.groups) for one in own}
        #: The status of the run, from the end of its main service on.
        self.over: int | None = None
        self.agenda = Agenda()
        self.epoch_ns = 0
        self._timer = Timer()
        self._ends: dict[int, State] = {}
        self._checks: dict[int, State] = {}

    def t_s(self) -> float:
        """Return the virtual time since the epoch in s."""
        return round((time.monotonic_ns() - self.epoch_ns) / system.NS_PER_S, 9)

    def at(self, t_s: float) -> int:
        """Return the moment of a time since the epoch."""
        return self.epoch_ns + round(t_s * system.NS_PER_S)

    # Starting

    def _holds(self, state: State) -> bool:
        """Whether all that a service waits for is so; raises TrafficError if it never will be."""
        for condition in state.service.waits_for:
            other = self.states[condition.service]
            if condition.state == spec.STARTED:
                if not other.starts:
                    return False
                continue
            is_so = other.is_healthy if condition.state == HEALTHY else other.status == 0
            is_lost = other.is_unhealthy or (other.has_ended and not self._comes_again(other))
            if not is_so and is_lost:
                raise TrafficError(
                    f"{state.service.name} waits for {condition.service} "
                    f"{_NEVER[condition.state]}, and that {self._fate(other)}"
                )
            if not is_so:
                return False
        return True

    @staticmethod
    def _fate(state: State) -> str:
        if state.is_unhealthy and state.is_running:
            return f"is unhealthy after {state.failures} checks; it said: {state.said}"
        return f"ended with status {state.status}: {state.said}"

    @property
    def own(self) -> list[State]:
        """The states of this guest's services."""
        return [self.states[name] for name in self.hosts]

    def _tell_others(self, state: State) -> None:
        if self.control:
            self.control.tell({"service": state.service.name, **state.told})

    def _hear(self, descriptor: int) -> None:
        """Take what another guest tells."""
        assert self.control
        message = self.control.read(descriptor)
        if "over" in message:
            self.over = message["over"]
            return
        state = self.states[message.pop("service")]
        for name, value in message.items():
            setattr(state, name, value)

    def start_ready(self) -> None:
        """Start every service that was not started and for which all holds that it waits for."""
        is_new = True
        while is_new:
            ready = [one for one in self.own if not one.starts and self._holds(one)]
            for state in ready:
                self._start(state)
            is_new = bool(ready)

    def _start(self, state: State) -> None:
        service = state.service
        state.starts += 1
        state.again_s = None
        state.status = None
        state.is_healthy = state.is_unhealthy = False
        state.failures = 0
        label = f"service-{service.name}-{state.starts}"
        with (
            (self.output / f"{service.name}.out").open("ab") as stdout,
            (self.output / f"{service.name}.err").open("ab") as stderr,
        ):
            state.program = self.hosts[service.name].start(
                label, service.command, subprocess.DEVNULL, stdout, stderr
            )
        state.is_running = True
        state.started_ns = time.monotonic_ns()
        self._ends[os.pidfd_open(state.program.process.pid)] = state
        self.tell("service-started", service=service.name, t_s=self.t_s())
        self._tell_others(state)
        if service.health:
            self._plan_check(state, state.starts)

    # Health

    def _plan_check(self, state: State, start: int) -> None:
        assert state.service.health
        due_ns = time.monotonic_ns() + round(state.service.health.interval_s * system.NS_PER_S)
        self.agenda.add(due_ns, partial(self._check, state, start))

    def _check(self, state: State, start: int) -> None:
        """Start the health check of a service's start that still runs."""
        health = state.service.health
        if not health or state.program is None or state.starts != start:
            return
        name = state.service.name
        state.check = self.hosts[name].check(health.command)
        self._checks[os.pidfd_open(state.check.process.pid)] = state
        due_ns = time.monotonic_ns() + round(health.timeout_s * system.NS_PER_S)
        self.agenda.add(due_ns, partial(self._end_check, state, state.check))

    @staticmethod
    def _end_check(state: State, check: Program) -> None:
        """End a health check whose time is over."""
        if state.check is check:
            check.kill()

    def _checked(self, state: State) -> None:
        """Take the result of a health check."""
        health, check = state.service.health, state.check
        assert health
        assert check
        check.process.wait()
        check.kill()
        self.hosts[state.service.name].forget(check)
        state.check = None
        if state.program is None:
            return
        was_healthy = state.is_healthy
        if status_of(check) == 0:
            state.failures, state.is_healthy, state.is_unhealthy = 0, True, False
        else:
            age_ns = time.monotonic_ns() - state.started_ns
            if was_healthy or age_ns >= round(health.start_period_s * system.NS_PER_S):
                state.failures += 1
            state.is_unhealthy = state.failures >= health.retries
            state.is_healthy = was_healthy and not state.is_unhealthy
        if state.is_healthy != was_healthy or state.failures == health.retries:
            word = "service-healthy" if state.is_healthy else "service-unhealthy"
            state.said = last_words(self.output, state.service.name)
            self.tell(word, service=state.service.name, t_s=self.t_s())
            self._tell_others(state)
        self._plan_check(state, state.starts)

    # Ends

    def _comes_again(self, state: State) -> bool:
        """Whether a service that has ended starts again."""
        policy = state.service.restart
        is_failure = policy == spec.ON_FAILURE and state.status != 0
        return state.again_s is not None or policy == spec.ALWAYS or is_failure

    def _ended(self, state: State) -> None:
        """Take the end of a service."""
        program = state.program
        assert program
        program.process.wait()
        # What it leaves running ends with it, as with the first process of a container
        program.kill()
        state.status, state.program, state.is_running = status_of(program), None, False
        state.ended_ns = time.monotonic_ns()
        name = state.service.name
        state.said = last_words(self.output, name)
        comes_again = self._comes_again(state)
        self._tell_others(state)
        self.tell(
            "service-ended",
            service=name,
            status=state.status,
            said=state.said,
            t_s=self.t_s(),
            again=comes_again,
        )
        if name == self.services.main and state.again_s is None:
            self.over = state.status
            if self.control:
                self.control.tell({"over": self.over})
        elif comes_again:
            wait_s = spec.RESTART_S if state.again_s is None else state.again_s
            due_ns = time.monotonic_ns() + round(wait_s * system.NS_PER_S)
            self.agenda.add(due_ns, partial(self._start_again, state, state.starts))

    def _start_again(self, state: State, start: int) -> None:
        if state.program is None and state.starts == start:
            self._start(state)

    # Faults of services

    def signal(self, name: str, number: int) -> None:
        """Send a signal to all processes of a service that runs."""
        program = self.states[name].program
        if program:
            program.group.send(number, waiting=program.process.pid)

    def kill(self, name: str) -> None:
        """Kill a service, as kill -9 does to each of its processes."""
        program = self.states[name].program
        if program:
            program.group.kill()

    def restart(self, name: str) -> None:
        """Ask a service to end, and start it when it has."""
        state = self.states[name]
        state.again_s = 0.0
        if state.program is None:
            if state.starts:
                self._start(state)
            return
        self._tell_others(state)
        self.signal(name, state.service.stop_signal)
        due_ns = time.monotonic_ns() + round(state.service.grace_s * system.NS_PER_S)
        self.agenda.add(due_ns, partial(self._kill_start, state, state.starts))

    def _kill_start(self, state: State, start: int) -> None:
        if state.program and state.starts == start:
            state.program.group.kill()

    def running(self, name: str) -> int:
        """Return how many processes of a service there are now."""
        program = self.states[name].program
        return program.group.processes if program else 0

    # The run

    def run(self, epoch_ns: int) -> int:
        """Run the services from ``epoch_ns`` to the main one's end or the limit; return its status.

        Raises TrafficError for a service that can never start.
        """
        self.epoch_ns = epoch_ns
        end_ns = self.at(self.services.timeout_s)
        told = self.control.descriptors if self.control else []
        while True:
            self.start_ready()
            if self.over is not None:
                return self.over
            now_ns = time.monotonic_ns()
            if now_ns >= end_ns:
                return TIMED_OUT
            # Not by the time limit of select(), which may be late by a thousandth of it
            # (select_estimate_accuracy in fs/select.c)
            self._timer.start(max(min(self.agenda.next_ns, end_ns), now_ns + 1))
            waiting = [self._timer.descriptor, *self._ends, *self._checks, *told]
            found, _, _ = select.select(waiting, [], [])
            for descriptor in sorted(set(found) - {self._timer.descriptor}):
                if descriptor in told:
                    self._hear(descriptor)
                    continue
                if descriptor in self._ends:
                    self._ended(self._ends.pop(descriptor))
                elif descriptor in self._checks:
                    self._checked(self._checks.pop(descriptor))
                os.close(descriptor)
            self.agenda.act(time.monotonic_ns())

    def end(self) -> None:
        """Ask all services to end, each with its signal, and kill those that do not in time."""
        programs = []
        for state in reversed(self.states.values()):
            if state.check:
                state.check.kill()
            if state.program:
                program = state.program
                # One that a fault has stopped takes no signal but this
                program.group.send(signal.SIGCONT, waiting=program.process.pid)
                program.group.send(state.service.stop_signal, waiting=program.process.pid)
                due_s = time.monotonic() + state.service.grace_s
                programs.append((due_s, state, program))
        while any(not one.is_over and due_s > time.monotonic() for due_s, _, one in programs):
            time.sleep(0.05)
        for _, state, program in programs:
            program.kill()
            state.status = status_of(program)
