"""Commands of campaigns: `farpath campaign` and `farpath reference`."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.base.errors import BadInputError
from farpath.planning.experiment import PAPER, WHOLE

if TYPE_CHECKING:
    from farpath.campaign.job import CampaignJob

RESULTS = FilePath("results")

ExperimentName = Annotated[str, typer.Option(help="A folder of experiments/.")]
SetName = Annotated[
    str | None, typer.Option("--set", help="whole, quick or cpu: which of its runs.")
]
Quick = Annotated[bool, typer.Option("--quick", help="The experiment's quick set of runs.")]
Cpu = Annotated[bool, typer.Option("--cpu", help="The runs that count CPU; no report.")]
Place = Annotated[FilePath | None, typer.Option(help="The experiments' folder, if not farpath's.")]
Out = Annotated[
    FilePath | None, typer.Option(help="Where records go (default: results/<experiment>).")
]


def _job(
    experiment: str,
    which: str | None,
    quick: bool,
    cpu: bool,
    experiments: FilePath | None,
    out: FilePath | None,
) -> CampaignJob:
    from farpath.base.project import EXPERIMENTS
    from farpath.campaign.job import CampaignJob
    from farpath.planning.experiment import load_experiment

    asked = [name for name, given in (("quick", quick), ("cpu", cpu)) if given]
    if len(asked) + (which is not None) > 1:
        raise BadInputError("--set, --quick and --cpu each choose the runs: give one of them")
    chosen = asked[0] if asked else which or WHOLE
    folder = experiments or EXPERIMENTS
    loaded = load_experiment(experiment, folder)
    loaded.runs(chosen)
    return CampaignJob(loaded, chosen, out or RESULTS / loaded.name, experiments=folder)


def _check_qemu(job: CampaignJob) -> None:
    if not job.on_host:
        raise BadInputError(
            f"--qemu is for runs of the host lab, and those of set {job.which} are of the virtual "
            "lab, which needs no machine of its own: leave it out"
        )


def campaign(
    context: typer.Context,
    experiment: ExperimentName = PAPER,
    which: SetName = None,
    quick: Quick = False,
    cpu: Cpu = False,
    qemu: Annotated[
        bool,
        typer.Option("--qemu", help="Runs of the host lab in a QEMU machine of their own."),
    ] = False,
    cores: Annotated[
        int | None, typer.Option(help="Runs at once (default: as many as cores).")
    ] = None,
    out: Out = None,
    report: Annotated[
        FilePath | None,
        typer.Option(
            help="Where tables and figures go (default: results/paper[-quick]; of another "
            "experiment report[-<set>] below its records)."
        ),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Runs only.")] = False,
    list_runs: Annotated[bool, typer.Option("--list", help="Say what is made, run nothing.")] = (
        False
    ),
    index: Annotated[
        int | None, typer.Option(help="Make this one run, counted from 0 as in --list.")
    ] = None,
    gather: Annotated[
        FilePath | None, typer.Option(help="Link the records that count in this directory.")
    ] = None,
    experiments: Place = None,
) -> None:
    """Make all runs of an experiment, then tables, figures, claims and page.

    Runs that have a record are not repeated. What follows -- goes to Snakemake:
    farpath campaign --cores=40 -- --executor slurm.
    """
    import dataclasses

    from farpath.analysis.studies.registry import ANALYSES
    from farpath.campaign.host_lab import run_on_host
    from farpath.campaign.snakemake import run_campaign
    from farpath.report.html.run_page import save_pictures

    job = _job(experiment, which, quick, cpu, experiments, out)
    if context.args and not context.args[0].startswith("-"):
        raise BadInputError(
            f"'{context.args[0]}' is no option of campaign: what goes to Snakemake follows --"
        )
    if qemu:
        _check_qemu(job)
    if list_runs:
        _list(job)
    elif index is not None:
        _make_one(job, index)
    elif gather is not None:
        from farpath.campaign.status import gather as link

        print(f"{link(job.states(), gather)} records of {len(job.runs)} in {gather}")
    else:
        if cores is not None and cores < 1:
            raise BadInputError(f"CORES is {cores}: it must be 1 or more")
        if job.on_host:
            run_on_host(job, qemu, save_pictures)
            print(f"records     {job.out}")
            return
        if set(job.experiment.parts) <= set(ANALYSES):
            _conduct_companion(job, tuple(context.args), cores, no_report, report)
            return
        wanted = report or _report_place(job)
        place = None if no_report else wanted
        job = dataclasses.replace(
            job, report=place, options=tuple(context.args), cores=cores or job.cores
        )
        run_campaign(job)
        print(f"records     {job.out}")
        for part in job.parts if place else ():
            print(f"{part:<11} {wanted / part}")


def _report_place(job: CampaignJob) -> FilePath:
    """Where the report goes: of the study beside its records, of others below them."""
    if job.experiment.name == PAPER:
        return RESULTS / ("paper" if job.which == WHOLE else f"paper-{job.which}")
    return job.out / ("report" if job.which == WHOLE else f"report-{job.which}")


def _conduct_companion(
    job: CampaignJob,
    options: tuple[str, ...],
    cores: int | None,
    no_report: bool,
    report: FilePath | None,
) -> None:
    """Make runs around the 2005 test; tables, figures and claims of those that succeed."""
    import dataclasses

    from farpath.campaign.job import print_status
    from farpath.campaign.snakemake import run_campaign
    from farpath.report.study import PARTS, report_of, report_text, write_report

    place = report or _report_place(job)
    job = dataclasses.replace(job, options=options, cores=cores or job.cores)
    try:
        run_campaign(job)
    finally:
        found = [state for state in job.states() if state.record is not None]
        if found and not no_report:
            print_status(f"making tables, figures and claims of the records in {place}")
            made = report_of(found, job.experiments)
            write_report(made, place)
            print(report_text(made))
    print(f"records     {job.out}")
    for part in () if no_report else PARTS:
        print(f"{part:<11} {place / part}")


def _list(job: CampaignJob) -> None:
    from farpath.campaign.job import ignored_record_notes

    found = job.local_states()
    for number, state in enumerate(found):
        place = state.record or (f"to be made: {state.problem}" if state.problem else "to be made")
        print(f"{number:>4}  {state.run.label:<34} {place}")
    print(f"{sum(state.record is not None for state in found)} of {len(found)} runs made")
    for line in ignored_record_notes(job.out, found):
        print(line)


def _make_one(job: CampaignJob, index: int) -> None:
    """One run, as a job of Snakemake or of Kubernetes makes it."""
    from farpath.base.files import user_errors
    from farpath.campaign.job import check_space
    from farpath.lab.progress import RunProgress
    from farpath.lab.run import run
    from farpath.report.html.run_page import save_pictures

    runs = job.runs
    if not 0 <= index < len(runs):
        raise BadInputError(f"INDEX is {index}: it must be from 0 to {len(runs) - 1}")
    state = job.local_states(runs[index : index + 1])[0]
    if state.record is not None:
        print(state.record)
        return
    if state.problem:
        raise BadInputError(f"{state.problem}: move it away, or run 'farpath campaign'")
    with user_errors(job.out):
        job.out.mkdir(parents=True, exist_ok=True)
        check_space(job.out, 1)
    kind = "s" if state.run.on_host else "virtual s"
    with RunProgress(state.run.label, state.run.plan.schedule.duration_s, kind) as progress:
        print(run(state.run.plan, job.out, False, progress.watch, finish=save_pictures).directory)


def reference(
    experiment: ExperimentName = PAPER,
    which: SetName = None,
    quick: Quick = False,
    cpu: Cpu = False,
    out: Out = None,
    experiments: Place = None,
) -> None:
    """Copy an experiment's records, without raw output and pages, into its folder."""
    from farpath.campaign.reference import publish

    job = _job(experiment, which, quick, cpu, experiments, out)
    for line in publish(job):
        print(line)


def add_to(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    more = {"allow_extra_args": True, "ignore_unknown_options": False}
    app.command(context_settings=more)(campaign)
    app.command()(reference)
