"""How often the same services are the same run: a compose file, run again and again.

``python -m benchmarks.repeats examples/compose/etcd/compose.yml 200`` runs it 200 times and prints
how many runs have which fingerprint; the status is 1 if there is more than one.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path as FilePath

from farpath.lab.artifacts.user_topologies import user_network
from farpath.lab.exec.service_roots import found_services
from farpath.lab.exec.service_run import run_services
from farpath.planning.deployment_files import read_deployment
from farpath.runs.service_runs import up_run

#: Time between two samples of queues, as ``farpath up`` has it.
SAMPLE = "100ms"


def fingerprints(file: FilePath, count: int) -> Counter[str]:
    """Run the services of a file; return how many runs have each fingerprint."""
    deployment = read_deployment(file, None, (), no_faults=False, network_of=user_network)
    run = up_run(deployment, found_services(deployment), sample=SAMPLE)
    found: Counter[str] = Counter()
    for number in range(1, count + 1):
        with tempfile.TemporaryDirectory() as out:
            found[run_services(run, FilePath(out), {}).fingerprint] += 1
        sys.stderr.write(f"{number} of {count} runs, {len(found)} different\n")
    return found


def main() -> int:
    """Repeat the run of the file that the command line names."""
    found = fingerprints(FilePath(sys.argv[1]), int(sys.argv[2]))
    for fingerprint, count in found.most_common():
        sys.stdout.write(f"{count:6,}  {fingerprint}\n")
    return int(len(found) > 1)


if __name__ == "__main__":
    sys.exit(main())
