"""Compose: files of services in Compose's format, read into deployments.

``farpath.planning.deployment_files`` reads the file. Services, their environment, volumes,
health checks and the order in which they start are compose-spec's, and ``x-farpath`` at the top of
the file has what that has not:

    x-farpath:
      sites:
        eu: [db, web]
        us: [client]
      links:
        - {sites: [eu, us], rtt: 80ms, rate: 100Mbit, buffer: 1xBDP, there: {loss: 0.1%}}
      faults:
        - {partition: [eu, us], at: 12s, for: 5s}
      main: client
      timeout: 2min
      seed: 1
      date: 2026-01-01
      stack: bbr

All of it may be left out. Without ``sites`` all services are at one; ``main`` is the service whose
end ends the run, by default the only one for which no other waits. ``planning.site_links`` has the
keys of links, ``planning.faults`` those of faults.
"""

from farpath.planning.compose.reader import compose_deployment as compose_deployment
