"""The report of an experiment's records: tables in every form, claims, figures and pages."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.files import write_text
from farpath.base.project import REPORT_MARK, SITE_MARK
from farpath.metrics.record_set import load_record_set
from farpath.metrics.results import ResultSet, cpu_measurement_note, load_results, mixed
from farpath.metrics.studies import studies_in
from farpath.report.report import Report, table_files
from farpath.report.site.build import build_site
from farpath.report.site.view import view_for
from farpath.runs.claims import ClaimVerdict, as_text, count_states, judge_all
from farpath.runs.claims.chance import verdict_dicts
from farpath.runs.experiment import CPU
from farpath.runs.job import PARTS, CampaignJob
from farpath.runs.status import gather

#: The parts that hold links to the records that the report is made of.
GATHERED_PARTS = ("records", "cpu-records")


def claims_text(campaign: ResultSet, verdicts: tuple[ClaimVerdict, ...]) -> str:
    """Return the verdicts on the claims after notes on the runs that they are about."""
    notes = (*_differences(campaign), cpu_measurement_note(campaign.cpu_runs))
    return "\n".join([*filter(None, notes), as_text(verdicts)]) + "\n"


def claims_data(campaign: ResultSet, verdicts: tuple[ClaimVerdict, ...]) -> dict[str, Any]:
    """Return the verdicts and the notes as plain values for JSON."""
    return {
        "counts": count_states(verdicts),
        "mixed": list(mixed(campaign)),
        "differences": _differences(campaign),
        "cpu": cpu_measurement_note(campaign.cpu_runs),
        "claims": verdict_dicts(verdicts),
    }


def _differences(campaign: ResultSet) -> list[str]:
    """Return a sentence for each intended difference between runs and those of their studies."""
    of_studies = (study.differences(campaign.runs) for study in studies_in(campaign))
    return [sentence for sentences in of_studies for sentence in sentences]


def check_report(report: FilePath) -> None:
    """Raise BadInputError if the directory holds parts that farpath did not make.

    farpath would replace them.
    """
    if (report / REPORT_MARK).is_file() or (report / "page" / SITE_MARK).is_file():
        return
    parts = [name for name in (*GATHERED_PARTS, *PARTS) if os.path.lexists(report / name)]
    if parts:
        raise BadInputError(
            problem=f"{report} holds {', '.join(parts)}, which farpath has not made and "
            "would replace",
            remedy="give `report` another directory",
        )


def write_records_report(job: CampaignJob, report: FilePath) -> None:
    """Write the parts of the report on all records of a job that count, in place of earlier ones.

    Raises as ``check_report``.
    """
    check_report(report)
    write_text(report / REPORT_MARK, "Made by farpath, which replaces its parts.\n")
    for part in job.parts:
        shutil.rmtree(report / part, ignore_errors=True)
    records = report / GATHERED_PARTS[0]
    gather(job.states(), records)
    cpu_records = _gathered_cpu(job, report / GATHERED_PARTS[1])
    held_out = job.experiment.held_out if job.is_study else ()
    view = view_for(load_record_set(records, None, cpu_records), held_out)
    texts = table_files(view.tables())
    texts |= dict(_claims(records, cpu_records)) if job.is_study else {}
    Report(texts, "", None).write(report)
    for _file in view.write_figures(report / "figures"):
        pass
    build_site(records, report / "page", lambda *_step: None, cpu_records, held_out)


def _gathered_cpu(job: CampaignJob, folder: FilePath) -> FilePath | None:
    """Link the records in which CPU is counted, if the experiment has any."""
    if not job.is_study or CPU not in job.experiment.sets:
        return None
    states = dataclasses.replace(job, which=CPU).states()
    return folder if any(state.record for state in states) and gather(states, folder) else None


def _claims(records: FilePath, cpu_records: FilePath | None) -> Iterator[tuple[str, str]]:
    campaign, _problems = load_results(records, cpu_records)
    verdicts = judge_all(campaign)
    yield "claims/claims.txt", claims_text(campaign, verdicts)
    yield "claims/claims.json", json.dumps(claims_data(campaign, verdicts)) + "\n"
