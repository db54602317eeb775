"""Tables of a search for a path model: its trials, and the best one beside the published values."""

from __future__ import annotations

from farpath.analysis.published import published
from farpath.campaign.path_search import Search, best_trial, is_varied, read_trials
from farpath.report.tables.regions import Grid


def trials_grid(search: Search) -> Grid:
    """All trials by their cost, the least first, with what was varied."""
    varied = [name for name, allowed in search.ranges.items() if is_varied(allowed)]
    rows = sorted(enumerate(read_trials(search), start=1), key=lambda row: float(row[1]["cost"]))
    return Grid(
        title=f"Models of path {search.path}, by cost",
        header=("trial", "cost", *varied),
        rows=tuple(
            (
                str(number),
                f"{trial['cost']:.3f}",
                *(f"{trial['model'][name]:.4g}" for name in varied),
            )
            for number, trial in rows
        ),
        note=f"Runs of {search.region_s:g} s regions, seed {search.seed}, stacks "
        f"{', '.join(search.stacks)}; kept out: {', '.join(search.held_out)}.",
    )


def best_grid(search: Search) -> Grid:
    """What the stacks of the best trial measured, beside the published where it is printed."""
    shown = {
        "mean_mbps": "mean Mbit/s", "std_mbps": "s Mbit/s", "stability": "S",
        "fairness_min": "F min", "rtt_std_ms": "SD(RTT) ms",
    }  # fmt: skip
    best = best_trial(search)
    rows = []
    for stack, figures in best["runs"].items():
        printed = published(stack, search.path)
        rows.append(
            (
                stack,
                *(
                    f"{figures[name]:g}" + (f" ({getattr(printed, name):g})" if printed else "")
                    for name in shown
                ),
            )
        )
    return Grid(
        title=f"Best model of path {search.path}: measured (published)",
        header=("stack", *shown.values()),
        rows=tuple(rows),
    )
