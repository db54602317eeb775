"""Records whose runs cannot be made again are refused in one line, before a lab starts."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.request import RunRequest
from farpath.runs.again import repetition, requested
from tests.support.lesson_runs import write_lesson_run
from tests.support.program_records import write_programs
from tests.support.refusals import refused

REQUEST = RunRequest(rtt="20ms", rate="20Mbit", time="5s")


def test_a_record_of_programs_names_the_command_that_repeats_it(tmp_path: FilePath) -> None:
    write_programs(tmp_path / "programs")
    with pytest.raises(BadInputError, match="repeat it with 'farpath exec'"):
        repetition(tmp_path / "programs")


def test_a_run_in_real_time_is_never_the_same(tmp_path: FilePath) -> None:
    write_lesson_run(tmp_path / "wall", REQUEST.changed(clock="wall").plan())
    with pytest.raises(BadInputError, match="takes real time"):
        repetition(tmp_path / "wall")
    with pytest.raises(BadInputError, match="takes real time"):
        requested(REQUEST.changed(lab="host"))


def test_a_kernel_that_no_build_has_is_asked_for(tmp_path: FilePath) -> None:
    write_lesson_run(tmp_path / "other", REQUEST.plan())
    with pytest.raises(BadInputError, match="is in no build of this machine: name it with"):
        repetition(tmp_path / "other")


def test_only_options_of_mechanisms_are_added_to_a_run() -> None:
    with refused("rtt"):
        requested(REQUEST).with_options({"rtt": "30ms"})
    with refused("capture", "nowhere"):
        requested(REQUEST).with_options({"capture": "nowhere"})
