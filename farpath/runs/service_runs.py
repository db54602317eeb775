"""Service runs: makes the run of a deployment, which the lab then runs."""

from __future__ import annotations

import dataclasses

from farpath.lab.exec.limits import limits
from farpath.lab.exec.service_roots import FoundServices
from farpath.lab.exec.service_run import UpRun
from farpath.planning.deployment import Deployment
from farpath.planning.faults import fault_text
from farpath.planning.program_plan import DEFAULT_DATE, parse_date_s
from farpath.planning.service_plan import probes_of, service_plan
from farpath.spec.services import Services

#: Memory for services and their files, and the largest file that one writes, besides packets.
DEFAULT_MEMORY_BYTES = DEFAULT_OUTPUT_BYTES = 1 << 30


def up_run(
    deployment: Deployment,
    found: FoundServices,
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
    output_bytes: int = DEFAULT_OUTPUT_BYTES,
    sample: str | None = None,
) -> UpRun:
    """Return the run of a deployment; raises BadInputError.

    ``found``: its services (``found_services``), which do not depend on seed and faults.
    ``output_bytes``: the largest file that a service may write, its output among them.
    """
    plan = dataclasses.replace(
        service_plan(deployment, memory_bytes, sample), images=dict(found.images)
    )
    services = Services(
        found.services,
        deployment.main,
        deployment.timeout_s,
        deployment.faults,
        parse_date_s(DEFAULT_DATE) if deployment.date_s is None else deployment.date_s,
        limits(output_bytes),
        memory_bytes,
        probes=probes_of(deployment),
    )
    request = {
        "file": deployment.name,
        "seed": deployment.seed,
        "faults": [fault_text(fault) for fault in deployment.faults],
    }
    return UpRun(deployment.name, plan, services, found.directories, request)
