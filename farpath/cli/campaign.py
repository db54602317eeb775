"""Commands of campaigns: `farpath campaign` and `farpath reference`."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.base.errors import BadInputError, LabFailedError
from farpath.base.experiment_modules import default_experiment
from farpath.cli.shared_options import RESULTS, checked_cores
from farpath.runs.experiment import WHOLE

if TYPE_CHECKING:
    from farpath.runs.job import CampaignJob

LOG = logging.getLogger(__name__)
DEFAULT_EXPERIMENT = default_experiment()

ExperimentName = Annotated[str, typer.Option(metavar="NAME", help="A folder of experiments/.")]
SetName = Annotated[
    str | None,
    typer.Option(
        "--set", metavar="NAME", help="Set of runs: whole, quick or cpu (default: whole)."
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Make the quick set, as --set=quick.")]
Cpu = Annotated[
    bool, typer.Option("--cpu", help="Make the runs that count CPU, as --set=cpu; no report.")
]
ExperimentsDir = Annotated[
    FilePath | None,
    typer.Option(metavar="DIR", help="Folder of the experiments (default: farpath's)."),
]
Region = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Length of a region in all runs (default: the experiment's)."
    ),
]
Only = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Mechanisms of the experiment: base,queue (default: all)."),
]
PathNames = Annotated[
    str | None,
    typer.Option(
        "--path", metavar="NAMES", help="Runs on these paths only: near,far (default: all)."
    ),
]
Out = Annotated[
    FilePath | None,
    typer.Option(metavar="DIR", help="Directory of the records (default: results/<experiment>)."),
]


def _job(
    experiment: str,
    which: str | None,
    quick: bool,
    cpu: bool,
    experiments: FilePath | None,
    out: FilePath | None,
    region: str | None,
    only: str | None,
    paths: str | None = None,
) -> CampaignJob:
    from farpath.base.project import EXPERIMENTS
    from farpath.runs.experiment import ExperimentPart, load_experiment
    from farpath.runs.job import CampaignJob

    flags = [name for name, is_set in (("quick", quick), ("cpu", cpu)) if is_set]
    if len(flags) + (which is not None) > 1:
        raise BadInputError(
            problem="`set`, `quick` and `cpu` each choose the runs", remedy="give one of them"
        )
    set_name = flags[0] if flags else which or WHOLE
    folder = experiments or EXPERIMENTS
    names = (() if text is None else tuple(text.split(",")) for text in (only, paths))
    part = ExperimentPart(region or "", *names)
    loaded = load_experiment(experiment, folder, part=part)
    loaded.runs(set_name)
    return CampaignJob(loaded, set_name, out or RESULTS / loaded.name, experiments=folder)


def _check_qemu(job: CampaignJob) -> None:
    if not job.on_host:
        raise BadInputError(
            problem=f"`qemu` is for runs of the host lab, and set {job.which} has runs of "
            "the virtual lab",
            remedy="leave it out",
        )


def campaign(
    context: typer.Context,
    experiment: ExperimentName = DEFAULT_EXPERIMENT,
    which: SetName = None,
    quick: Quick = False,
    cpu: Cpu = False,
    qemu: Annotated[
        bool,
        typer.Option("--qemu", help="Make each run of the host lab in its own QEMU machine."),
    ] = False,
    cores: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            callback=checked_cores,
            help="Number of runs at once, with --index cores (default: all cores).",
        ),
    ] = None,
    region: Region = None,
    only: Only = None,
    paths: PathNames = None,
    out: Out = None,
    report: Annotated[
        FilePath | None,
        typer.Option(
            metavar="DIR",
            help="Directory of tables and figures (default: results/paper[-quick]; for another "
            "experiment, report[-<set>] below its records).",
        ),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Make no report.")] = False,
    list_runs: Annotated[
        bool, typer.Option("--list", help="List the runs and their records; make none.")
    ] = False,
    index: Annotated[
        int | None,
        typer.Option(metavar="N", help="Make this run only; its number in --list, from 0."),
    ] = None,
    gather: Annotated[
        FilePath | None,
        typer.Option(metavar="DIR", help="Link the records that count into this directory."),
    ] = None,
    experiments: ExperimentsDir = None,
) -> None:
    """Make all runs of an experiment, then its tables, figures, claims and page.

    Runs that have a record are not repeated. Options after -- go to Snakemake, which makes the
    runs on a cluster: farpath campaign --cores=40 -- --executor slurm.
    """
    from farpath.base.files import require_directory
    from farpath.lab.machine import available_cores

    job = _job(experiment, which, quick, cpu, experiments, out, region, only, paths)
    require_directory(job.out)
    if report is not None:
        require_directory(report, "report")
    if context.args and not context.args[0].startswith("-"):
        raise BadInputError(
            problem=f"'{context.args[0]}' is no option of campaign",
            remedy="give options of Snakemake after --",
        )
    if qemu:
        _check_qemu(job)
    if list_runs:
        _list(job)
    elif index is not None:
        _make_one(job, index, cores or available_cores())
    elif gather is not None:
        from farpath.runs.status import gather as link

        print(f"{link(job.states(), gather)} records of {len(job.runs)} in {gather}")
    else:
        job = dataclasses.replace(job, options=tuple(context.args), cores=cores or job.cores)
        _conduct(job, qemu, None if no_report else report or _default_report_dir(job))


def _conduct(job: CampaignJob, qemu: bool, report_dir: FilePath | None) -> None:
    """Make the runs that are missing, then the report of all that have records."""
    from farpath.report.html.run_page import save_pictures
    from farpath.report.records_report import check_report
    from farpath.runs.analyses import require_packages, results_module
    from farpath.runs.campaign import make_campaign
    from farpath.runs.cluster import make_on_cluster

    parts = () if report_dir is None else _report_parts(job)
    if report_dir is not None and (results := results_module(job.experiment.name, job.experiments)):
        require_packages(results)
    if report_dir is not None and parts == job.parts:
        check_report(report_dir)
    failure = None
    try:
        if job.options and not job.on_host:
            make_on_cluster(job)
        else:
            make_campaign(job, save_pictures, qemu)
    except LabFailedError as error:
        failure = error
    if report_dir is not None and parts and any(state.record for state in job.states()):
        LOG.info(f"campaign: writing {', '.join(parts)} of the records to {report_dir}")
        _write_report(job, report_dir)
    if failure is not None:
        raise failure
    print(f"records     {job.out}")
    for part in parts:
        print(f"{part:<11} {FilePath(report_dir or '') / part}")


def _report_parts(job: CampaignJob) -> tuple[str, ...]:
    """Return the parts of a job's report, each a file or a directory."""
    from farpath.report import measures_report, run_summaries
    from farpath.runs.analyses import has_measures, results_module

    if results := results_module(job.experiment.name, job.experiments):
        return run_summaries.parts(results)
    if all(has_measures(name, job.experiments) for name in job.experiment.parts):
        return measures_report.PARTS
    return () if job.on_host else job.parts


def _write_report(job: CampaignJob, report_dir: FilePath) -> None:
    """Write the report, and print it if it is of measures or of summaries in one file."""
    from farpath.report import measures_report, run_summaries
    from farpath.report.records_report import write_records_report
    from farpath.runs.analyses import results_module
    from farpath.runs.status import recorded_runs

    if results := results_module(job.experiment.name, job.experiments):
        # Also those mechanisms that an earlier call made
        whole = job.of_all_mechanisms()
        of_runs = results.of_runs(whole.experiment, recorded_runs(whole.states()))
        run_summaries.write_report(results, of_runs, report_dir)
        print(run_summaries.report_text(results, of_runs))
    elif _report_parts(job) == measures_report.PARTS:
        recorded = [state for state in job.states() if state.record is not None]
        report = measures_report.report_of(recorded, job.experiments, job.experiment.parts)
        measures_report.write_report(report, report_dir)
        print(measures_report.report_text(report))
    else:
        write_records_report(job, report_dir)


def _default_report_dir(job: CampaignJob) -> FilePath:
    """Return the report's directory: that which the experiment names, else below the records."""
    part = job.experiment.part
    set_name = "" if job.which == WHOLE else job.which
    which = "".join(f"-{word}" for word in (set_name, part.region, *part.paths) if word)
    if job.experiment.report:
        return RESULTS / f"{job.experiment.report}{which}"
    return job.out / f"report{which}"


def _list(job: CampaignJob) -> None:
    from farpath.runs.job import ignored_record_notes

    LOG.info(f"campaign: looking for the records of {len(job.runs)} runs, each of which is checked")
    states = job.local_states()
    for number, state in enumerate(states):
        status = state.record or (f"to be made: {state.problem}" if state.problem else "to be made")
        print(f"{number:>4}  {state.run.label:<34} {status}")
    print(f"{sum(state.record is not None for state in states)} of {len(states)} runs made")
    for line in ignored_record_notes(job.out, states):
        print(line)


def _make_one(job: CampaignJob, index: int, cores: int) -> None:
    """Make one run on so many cores, as jobs of Snakemake and Kubernetes do."""
    from farpath.base.files import make_directory
    from farpath.report.html.run_page import save_pictures
    from farpath.runs.campaign import make_shown
    from farpath.runs.job import check_space
    from farpath.runs.run_set import PlannedRun

    runs = job.runs
    if not 0 <= index < len(runs):
        raise BadInputError(
            option="index", given=index, remedy=f"it must be from 0 to {len(runs) - 1}"
        )
    state = job.local_states(runs[index : index + 1])[0]
    if state.record is not None:
        print(state.record)
        return
    if state.problem:
        raise BadInputError(problem=state.problem, remedy="move it away, or run 'farpath campaign'")
    make_directory(job.out)
    check_space(job.out, 1)
    unit = "s" if state.run.on_host else "virtual s"
    run = PlannedRun(state.run.label, state.run.plan, request=state.run.request.typed)
    print(make_shown(run, job.out, cores, unit=unit, finish=save_pictures).directory)


def reference(
    experiment: ExperimentName = DEFAULT_EXPERIMENT,
    which: SetName = None,
    quick: Quick = False,
    cpu: Cpu = False,
    region: Region = None,
    out: Out = None,
    experiments: ExperimentsDir = None,
) -> None:
    """Copy an experiment's records, without raw output and pages, into its folder."""
    from farpath.runs.reference import publish

    job = _job(experiment, which, quick, cpu, experiments, out, region, None)
    for line in publish(job):
        print(line)


def add_to(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    snakemake_options = {"allow_extra_args": True, "ignore_unknown_options": False}
    app.command(context_settings=snakemake_options)(campaign)
    app.command()(reference)
