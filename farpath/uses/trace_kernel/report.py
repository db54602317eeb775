"""Report: the files of a trace, and how many events of each kind it has at each site."""

from __future__ import annotations

from collections import Counter

from farpath.report.report import Report
from farpath.report.table import Table, as_wide_text
from farpath.uses.trace_kernel.measure import MOST_EVENTS, KernelTrace
from farpath.uses.trace_kernel.question import Question
from farpath.uses.trace_kernel.timeline import as_json
from farpath.uses.trace_kernel.tracepoints import as_text

Kind = tuple[str, str]


def report(trace: KernelTrace, question: Question, text_file: str, timeline_file: str) -> Report:
    """Return the files of a trace, and a table of its events."""
    counted = Counter((event.system, event.name, event.site) for event in trace.events)
    kinds = sorted({(system, name) for system, name, _site in counted})
    lines = [f"{trace.kernel}; {trace.verdict}", *_lost(trace)]
    if kinds:
        lines += ["", as_wide_text(_table(trace, counted, kinds))]
    else:
        lines.append(f"no event of {question.text} came in that time")
    about = {
        "made_by": "farpath trace-kernel",
        "kernel": trace.kernel,
        "fingerprint": trace.fingerprint,
        "as_recorded": trace.is_of_record if trace.expected else None,
        "lost": dict(zip(trace.titles, trace.lost, strict=True)),
    }
    timeline = as_json(trace.events, trace.titles, trace.epoch_ns, trace.flows, about)
    return Report(
        {
            text_file: as_text(trace.events, trace.titles, trace.epoch_ns),
            timeline_file: timeline,
        },
        "\n".join(lines),
        {**about, "events": _counts(trace, counted, kinds)},
    )


def _table(trace: KernelTrace, counted: Counter[tuple[str, str, int]], kinds: list[Kind]) -> Table:
    rows = [
        (
            f"{system}:{name}",
            *(f"{counted[system, name, site]:,}" for site in range(len(trace.titles))),
        )
        for system, name in kinds
    ]
    return Table.of_texts("Tracepoints passed", ("event", *trace.titles), rows)


def _lost(trace: KernelTrace) -> list[str]:
    return [
        f"{count:,} further events at the site of {title} are left out, which writes at most "
        f"{MOST_EVENTS:,}: give a shorter time with --from and --to, or fewer events"
        for title, count in zip(trace.titles, trace.lost, strict=True)
        if count
    ]


def _counts(
    trace: KernelTrace, counted: Counter[tuple[str, str, int]], kinds: list[Kind]
) -> dict[str, dict[str, int]]:
    """Return by event and site how often it was passed."""
    return {
        f"{system}:{name}": {
            title: counted[system, name, site] for site, title in enumerate(trace.titles)
        }
        for system, name in kinds
    }
