"""Tables of a path-model search: its trials, and the best one with the published values."""

from __future__ import annotations

from benchmarks.path_models.search import Search, best_trial, is_varied, read_trials
from experiments.seven_regions.published import published
from farpath.report.table import Table


def trials_table(search: Search) -> Table:
    """Return all trials by their cost, the least first, with the values of varied parameters."""
    varied = [name for name, allowed in search.ranges.items() if is_varied(allowed)]
    rows = sorted(enumerate(read_trials(search), start=1), key=lambda row: float(row[1]["cost"]))
    return Table.of_texts(
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


def best_trial_table(search: Search) -> Table:
    """Return the best trial's measured values, with published ones where they are printed."""
    headings = {
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
                    for name in headings
                ),
            )
        )
    return Table.of_texts(
        title=f"Best model of path {search.path}: measured (published)",
        header=("stack", *headings.values()),
        rows=tuple(rows),
    )
