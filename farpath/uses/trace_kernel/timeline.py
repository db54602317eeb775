"""Timeline: events as JSON of the Trace Event Format, which Perfetto's viewer opens.

Its description: "Trace Event Format", docs.google.com/document/d/
1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from farpath.spec.schedule import Flow
from farpath.uses.trace_kernel.tracepoints import Event

NS_PER_US = 1000
#: The number of the first kind of events; a thread with a process's own number is its main one.
FIRST_THREAD = 1001
#: Events of which numbers are drawn as curves, for each connection.
CURVES: Mapping[str, Sequence[str]] = {
    "tcp_probe": ("snd_cwnd", "ssthresh", "srtt", "snd_wnd"),
}
#: tcp_probe prints this for a threshold that is not set (TCP_INFINITE_SSTHRESH).
INFINITE = 0x7FFFFFFF


def as_json(
    events: Iterable[Event],
    titles: Sequence[str],
    epoch_ns: int,
    flows: Sequence[Flow],
    about: Mapping[str, Any],
) -> str:
    """Return the text of a file for trace viewers, an event on each line.

    A site is a process there, and each kind of event a thread. ``titles``: of the sites.
    ``epoch_ns``: the schedule's start by the sites' clocks, which is 0 there. ``flows``: of the
    run, after which curves are named. ``about``: the file's own description.
    """
    head = json.dumps({"displayTimeUnit": "ns", "otherData": about}).removesuffix("}")
    rows = ",\n".join(json.dumps(row) for row in _rows(list(events), titles, epoch_ns, flows))
    return f'{head}, "traceEvents": [\n{rows}\n]}}\n'


def _rows(
    events: Sequence[Event], titles: Sequence[str], epoch_ns: int, flows: Sequence[Flow]
) -> Iterator[dict[str, Any]]:
    for site, title in enumerate(titles):
        yield _about("process_name", site, 0, {"name": title})
        yield _about("process_sort_index", site, 0, {"sort_index": site})
    kinds = sorted({(event.system, event.name) for event in events})
    threads = {kind: FIRST_THREAD + number for number, kind in enumerate(kinds)}
    for site, system, name in sorted({(each.site, each.system, each.name) for each in events}):
        thread = threads[system, name]
        yield _about("thread_name", site, thread, {"name": f"{system}:{name}"})
    ports = {str(flow.port): flow.name for flow in flows}
    for event in events:
        at_us = (event.at_ns - epoch_ns) / NS_PER_US
        place = {"ts": at_us, "pid": event.site + 1}
        fields = event.fields
        yield {
            "name": event.name,
            "cat": event.system,
            "ph": "i",
            "s": "t",
            **place,
            "tid": threads[event.system, event.name],
            "args": {
                "context": event.context,
                "program": f"{event.command}-{event.process}",
                **(fields or {"text": event.text}),
            },
        }
        if event.name in CURVES:
            of = _connection(fields, ports)
            for name in CURVES[event.name]:
                if isinstance(value := fields.get(name), int) and value != INFINITE:
                    yield {"name": of, "ph": "C", **place, "args": {name: value}}


def _about(kind: str, site: int, thread: int, words: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": site + 1, "tid": thread, "args": words}


def _connection(fields: Mapping[str, str | int], ports: Mapping[str, str]) -> str:
    """Return a flow's name and the sender's port, as iperf3 has two connections; else both ends."""
    source, target = str(fields.get("src", "")), str(fields.get("dest", ""))
    own, other = source.rpartition(":")[2], target.rpartition(":")[2]
    for port, far in ((other, own), (own, other)):
        if port in ports:
            return f"{ports[port]} port {far}"
    return f"{source} {target}"
