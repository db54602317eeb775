"""Experiments: what a file may say, which runs it means, and in which order."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.ablation.analysis import ABLATION
from experiments.seven_regions.published import PUBLISHED_PATH
from experiments.seven_regions.selection import EXPERIMENT as PAPER
from farpath.base.errors import BadInputError
from farpath.planning.path_files import load_path, named_paths
from farpath.record.identity import plan_identity
from farpath.runs.experiment import (
    FILE,
    QUICK,
    SETS,
    ExperimentPart,
    WantedRun,
    experiment_names,
    load_experiment,
)
from tests.support.refusals import refused

GOOD = """\
title = "A test"
[[runs]]
path = ["cern", "ufl"]
stack = ["reno_2004", "udt"]
seed = [1, 2]
region = "10s"
era = "2004"
[runs.quick]
seed = 1
region = "5s"
[runs.minutes]
udt = 8
others = 2
"""


def write(folder: FilePath, text: str) -> FilePath:
    (folder / "mine").mkdir(exist_ok=True)
    (folder / "mine" / FILE).write_text(text)
    return folder


def test_the_paper_is_nine_stacks_on_three_paths_with_three_seeds() -> None:
    paper = load_experiment("seven-regions")
    runs = paper.runs()
    cells = {(run.plan.path.name, run.plan.stacks[0].label, run.plan.seed) for run in runs}
    assert len(runs) == len(cells) == 81
    assert {run.plan.schedule.duration_s for run in runs} == {960.0}
    assert {run.plan.era.name for run in runs} == {"2004"}
    assert set(paper.sets) == set(SETS)


def test_its_quick_set_is_one_seed_on_the_path_of_the_tables() -> None:
    quick = load_experiment("seven-regions").runs("quick")
    assert len(quick) == 9
    assert {(run.plan.path.name, run.plan.seed) for run in quick} == {(PUBLISHED_PATH, 1)}
    assert {run.plan.schedule.region_s for run in quick} == {30.0}


def test_its_cpu_set_is_of_the_host_lab_on_a_path_as_long_as_that_of_the_tables() -> None:
    runs = load_experiment("seven-regions").runs("cpu")
    assert len({run.plan.stacks[0].label for run in runs}) == len(runs) == 9
    assert {(run.plan.settings.lab, run.plan.settings.clock) for run in runs} == {("host", "wall")}
    assert {run.plan.era.name for run in runs} == {"2004"}
    assert all("host lab" in run.label for run in runs)
    (path,) = {run.plan.path.name: run.plan.path for run in runs}.values()
    assert path.rtt_ms == load_path(named_paths()[PUBLISHED_PATH]).rtt_ms
    assert path.background is None


def test_a_set_of_another_lab_has_the_first_clock_of_that_lab(tmp_path: FilePath) -> None:
    text = GOOD.replace("[runs.quick]", 'clock = "cpu"\n[runs.cpu]\nlab = "host"\n[runs.quick]')
    mine = load_experiment("mine", write(tmp_path, text))
    assert {run.plan.settings.clock for run in mine.runs()} == {"cpu"}
    run = mine.runs("cpu")[0]
    assert (run.plan.settings.lab, run.plan.settings.clock) == ("host", "wall")
    assert "--lab=host" in run.command


def test_the_longest_runs_come_first(tmp_path: FilePath) -> None:
    runs = load_experiment("mine", write(tmp_path, GOOD)).runs()
    assert [run.plan.stacks[0].label for run in runs] == ["udt"] * 4 + ["reno_2004"] * 4
    assert runs[0].expected_s == 8 * 60


def test_a_run_has_the_command_that_makes_it(tmp_path: FilePath) -> None:
    run = load_experiment("mine", write(tmp_path, GOOD)).runs("quick")[0]
    assert run.command == (
        *("farpath", "run", "--path=cern", "--stack=udt", "--era=2004", "--region=5s"),
    )


def test_a_set_differs_only_where_it_says_so(tmp_path: FilePath) -> None:
    mine = load_experiment("mine", write(tmp_path, GOOD))
    whole, quick = ([(run.plan.path.name, run.plan.seed) for run in mine.runs(s)] for s in SETS[:2])
    assert set(quick) == {(path, seed) for path, seed in whole if seed == 1}
    assert mine.runs("quick")[0].expected_s == mine.runs()[0].expected_s / 2


def test_an_experiment_may_bring_paths_of_its_own(tmp_path: FilePath) -> None:
    folder = write(tmp_path, GOOD.replace('"cern"', '"short"'))
    (folder / "mine" / "paths").mkdir()
    own = folder / "mine" / "paths" / "short.toml"
    own.write_text(named_paths()["caltech"].read_text().replace('"caltech"', '"short"'))
    runs = load_experiment("mine", folder).runs("quick")
    assert {run.plan.path.name for run in runs} == {"short", "ufl"}
    index, run = next((n, run) for n, run in enumerate(runs) if run.plan.path.name == "short")
    assert run.plan.path.rtt_ms == 13.6
    assert run.command == (
        *("farpath", "campaign", "--experiment=mine", f"--experiments={folder}"),
        *("--set=quick", f"--index={index}"),
    )


def test_all_tables_have_the_options_of_the_file_but_where_they_have_their_own(
    tmp_path: FilePath,
) -> None:
    write(
        tmp_path,
        'title = "A test"\n[options]\nstack = "cubic"\nregion = "5s"\n'
        '[[runs]]\nrtt = "20ms"\n[[runs]]\nrtt = "30ms"\nstack = ["reno", "bbr"]\n',
    )
    runs = load_experiment("mine", tmp_path).runs()
    assert {(run.request.rtt, run.request.stack, run.request.region) for run in runs} == {
        ("20ms", "cubic", "5s"), ("30ms", "reno", "5s"), ("30ms", "bbr", "5s"),
    }  # fmt: skip


def test_a_set_that_is_not_there_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="no set 'cpu': allowed are whole, quick"):
        load_experiment("mine", write(tmp_path, GOOD)).runs("cpu")


@pytest.mark.parametrize("name", ["nothing", "../mine", "mine/", "", "."])
def test_only_names_of_folders_are_experiments(tmp_path: FilePath, name: str) -> None:
    write(tmp_path, GOOD)
    assert experiment_names(tmp_path) == ("mine",)
    with pytest.raises(BadInputError, match=r"experiment is .*must be one of mine"):
        load_experiment(name, tmp_path)


@pytest.mark.parametrize(
    ("valid", "wrong", "complaint"),
    [
        ('title = "A test"', "", "title: field required"),
        (
            "seed = [1, 2]",
            "seed = [1.5]",
            "runs.0.seed.0: 1.5 is neither a text nor a whole number",
        ),
        ("seed = [1, 2]", "seed = [0]", "seed is '0'"),
        ("seed = [1, 2]", "seed = [1, 1]", "runs.0.seed: holds nothing, or something twice"),
        ("seed = [1, 2]", "seed = []", "holds nothing"),
        ('path = ["cern", "ufl"]', 'path = ["cren"]', "did you mean cern"),
        ('path = ["cern", "ufl"]', 'path = ["../cern"]', "path is '../cern'"),
        ('stack = ["reno_2004", "udt"]', 'stack = ["newreno", "udt"]', "newreno"),
        ('region = "10s"', 'region = "1s"', "1s"),
        ('era = "2004"', 'era = "1904"', "1904"),
        ('era = "2004"', 'era = "2004"\nclock = "sun"', "must be one of virtual, cpu, wall"),
        ('era = "2004"', 'era = "2004"\nlab = "moon"', "must be one of virtual, host"),
        ('era = "2004"', 'era = "2004"\nlab = "host"\nclock = "cpu"', "must be one of wall"),
        ('era = "2004"', 'era = "2004"\nspeed = 1', "speed: unknown field; the fields are"),
        ("[runs.quick]", "[runs.quick]\nspeed = 1", "runs.0.quick: speed: unknown field"),
        ('region = "5s"', 'region = "1s"', "runs.0.quick: .*1s"),
        ('title = "A test"', 'title = "A test"\nheld_out = ["fast"]', "held_out: fast is no stack"),
        ('title = "A test"', 'title = "A test"\nof = ["other"]', "no runs beside them"),
        (
            'title = "A test"',
            'title = "A test"\nspeed = 1',
            "speed: extra inputs are not permitted",
        ),
        ("udt = 8", "udt = 0", "runs.0.minutes.udt: input should be greater than 0"),
        ("udt = 8", "udt = true", "runs.0.minutes.udt: input should be a valid number"),
        (
            'title = "A test"',
            'title = "A test"\nheld_out = [["fast"]]',
            "held_out.0: input should be a valid str",
        ),
        ("udt = 8", "cubic = 8", "minutes.cubic: is no stack of these runs"),
        ("udt = 8", "udt = nan", "runs.0.minutes.udt: input should be"),
        ("[runs.minutes]", "[runs.minutes", "is not TOML"),
        ("[[runs]]", "[runs]", "runs: input should be a valid array"),
        ("[runs.quick]", "quick = [3]\n[runs.cpu]", "runs.0.quick: is no table"),
        ("seed = [1, 2]", "seed = 2004-10-30", "holds the date"),
        ('title = "A test"', 'title = ""', "title: string should have at least 1 character"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_the_fault(
    tmp_path: FilePath, valid: str, wrong: str, complaint: str
) -> None:
    assert valid in GOOD
    with pytest.raises(BadInputError, match=complaint) as caught:
        load_experiment("mine", write(tmp_path, GOOD.replace(valid, wrong)))
    assert str(tmp_path / "mine" / FILE) in caught.value.message
    assert "\n" not in caught.value.message


DROPS = """\
title = "Losses"
[[runs]]
path = "caltech"
stack = "reno_2004"
drop = ["every:1000", "every:10000"]
schedule = "together"
acks = "each"
region = "10s"
[[runs]]
path = "cern"
stack = "htcp_2004+reno_2004"
schedule = "together"
region = "20s"
quick = {region = "5s"}
minutes = 3
"""


def test_each_value_of_each_word_is_run_with_each_of_the_others(tmp_path: FilePath) -> None:
    runs = load_experiment("mine", write(tmp_path, DROPS)).runs()
    assert [run.label for run in runs] == [
        "cern htcp_2004+reno_2004 seed 1",
        "caltech reno_2004 seed 1, drop every:1000",
        "caltech reno_2004 seed 1, drop every:10000",
    ]
    assert [len(run.plan.schedule.flows) for run in runs] == [2, 1, 1]
    assert [run.plan.settings.delayed_ack for run in runs] == [True, False, False]
    assert "--drop=every:1000" in runs[1].command


def test_a_table_without_a_set_is_not_in_it(tmp_path: FilePath) -> None:
    quick = load_experiment("mine", write(tmp_path, DROPS)).runs("quick")
    assert [run.plan.path.name for run in quick] == ["cern"]
    assert quick[0].expected_s == 3 * 60 / 4


def test_an_experiment_may_be_made_of_others(tmp_path: FilePath) -> None:
    folder = write(tmp_path, DROPS)
    for name, text in (("other", GOOD), ("both", 'title = "All"\nof = ["mine", "other"]\n')):
        (folder / name).mkdir()
        (folder / name / FILE).write_text(text)
    both = load_experiment("both", folder)
    assert both.parts == ("mine", "other")
    assert len(both.runs()) == 3 + 8
    assert {run.experiment for run in both.runs("quick")} == {"mine", "other"}
    expected = [run.expected_s for run in both.runs()]
    assert expected == sorted(expected, reverse=True)


def test_experiments_that_are_made_of_each_other_are_refused(tmp_path: FilePath) -> None:
    folder = write(tmp_path, 'title = "All"\nof = ["other"]\n')
    (folder / "other").mkdir()
    (folder / "other" / FILE).write_text('title = "All"\nof = ["third"]\n')
    (folder / "third").mkdir()
    (folder / "third" / FILE).write_text('title = "All"\nof = ["mine"]\n')
    with pytest.raises(BadInputError, match="third is made of mine, and that of third"):
        load_experiment("mine", folder)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('title = "Nothing"', "runs: say in tables"),
        ('title = "Three"\nruns = [3]', "runs.0: is no table; write .*runs"),
        ('title = "Itself"\nof = ["mine"]', "of: mine is made of mine"),
        ('title = "One"\nof = "other"', "of: input should be a valid array"),
    ],
)
def test_a_file_without_runs_of_its_own_or_of_others_is_refused(
    tmp_path: FilePath, text: str, complaint: str
) -> None:
    with pytest.raises(BadInputError, match=complaint):
        load_experiment("mine", write(tmp_path, text))


def test_a_second_table_is_named_by_its_number(tmp_path: FilePath) -> None:
    text = DROPS.replace('quick = {region = "5s"}', 'quick = {region = "1s"}')
    with pytest.raises(BadInputError, match=r"runs\.1\.quick: region"):
        load_experiment("mine", write(tmp_path, text))


def test_an_experiment_of_one_that_is_not_there_is_refused(tmp_path: FilePath) -> None:
    folder = write(tmp_path, 'title = "All"\nof = ["nothing"]\n')
    with pytest.raises(BadInputError, match="experiment is 'nothing'"):
        load_experiment("mine", folder)


MECHANISMS = """\
title = "A test"
[[runs]]
path = "cern"
stack = ["reno_2004", "fast:alpha=200"]
seed = [1, 2]
region = "10s"
era = "2004:txqueuelen=1000,cpu=none"
quick = {seed = 1, region = "5s"}
[[runs.mechanisms]]
name = "base"
title = "as it is"
[[runs.mechanisms]]
name = "queue"
title = "short"
options = {era = "2004:txqueuelen=100"}
only.reno_2004 = {era = "2004:txqueuelen=2000"}
[[runs.mechanisms]]
name = "steps"
title = "in steps"
only.fast = {stack = "fast:alpha=-1,mi_once=1"}
[[runs.mechanisms]]
name = "all"
title = "together"
options = {window = "25MB"}
together = ["queue", "steps"]
"""


def options_of(run: WantedRun) -> tuple[str, str | None, str | None]:
    return run.request.stack, run.request.era, run.request.window


def test_a_mechanism_changes_words_of_all_runs_or_of_those_of_one_stack(
    tmp_path: FilePath,
) -> None:
    mine = load_experiment("mine", write(tmp_path, MECHANISMS))
    assert mine.mechanisms == {
        "base": "as it is", "queue": "short", "steps": "in steps", "all": "together",
    }  # fmt: skip
    by_mechanism = {
        name: {options_of(run) for run in mine.runs() if name in run.mechanisms}
        for name in mine.mechanisms
    }
    usual, short = "2004:txqueuelen=1000,cpu=none", "2004:txqueuelen=100,cpu=none"
    long = "2004:txqueuelen=2000,cpu=none"
    steps = "fast:alpha=-1,mi_once=1"
    assert by_mechanism == {
        "base": {("reno_2004", usual, None), ("fast:alpha=200", usual, None)},
        "queue": {("reno_2004", long, None), ("fast:alpha=200", short, None)},
        "steps": {("reno_2004", usual, None), (steps, usual, None)},
        "all": {("reno_2004", long, "25MB"), (steps, short, "25MB")},
    }


LADDER = """
title = "Steps"
[[runs]]
path = "cern"
stack = "reno_2004"
ladder = ["queue", "window", "seconds"]
[[runs.mechanisms]]
name = "queue"
title = "long queue"
options = {buffer = "9MB"}
[[runs.mechanisms]]
name = "window"
title = "wide window"
options = {window = "25MB"}
[[runs.mechanisms]]
name = "seconds"
title = "often sampled"
options = {sample = "500ms"}
"""


def test_a_ladder_adds_all_up_to_a_step_all_and_all_but_one(tmp_path: FilePath) -> None:
    mine = load_experiment("mine", write(tmp_path, LADDER))

    def steps(run: WantedRun) -> list[bool]:
        path, sample = run.plan.path, run.plan.settings.sample_interval_s
        return [path.buffer_bytes == 9_000_000, path.window_bytes == 25_000_000, sample < 1]

    taken = {name: steps(run) for run in mine.runs() for name in run.mechanisms}
    assert taken == {
        "queue": [True, False, False],
        "window": [False, True, False],
        "seconds": [False, False, True],
        "to-window": [True, True, False],
        "tuned": [True, True, True],
        "without-queue": [False, True, True],
        "without-window": [True, False, True],
        "without-seconds": [True, True, False],
    }
    assert mine.mechanisms["to-window"] == "all up to: wide window"


def test_a_ladder_of_a_mechanism_that_is_not_there_is_refused(tmp_path: FilePath) -> None:
    wrong = LADDER.replace('ladder = ["queue"', 'ladder = ["cable"')
    with pytest.raises(BadInputError, match="ladder: cable is none of queue, window, seconds"):
        load_experiment("mine", write(tmp_path, wrong))


def test_a_run_of_several_mechanisms_is_made_once(tmp_path: FilePath) -> None:
    mine = load_experiment("mine", write(tmp_path, MECHANISMS))
    # Two seeds of seven different runs, of which Reno's at the base is also that of the steps
    assert len(mine.runs()) == 2 * 7
    shared = [run for run in mine.runs() if run.mechanisms == ("base", "steps")]
    assert {run.request.stack for run in shared} == {"reno_2004"}
    assert shared[0].label == "cern reno_2004 seed 1, base, steps"
    assert len(mine.runs("quick")) == 7


def test_a_part_of_an_experiment_has_some_mechanisms_and_another_region(
    tmp_path: FilePath,
) -> None:
    part = ExperimentPart("7s", ("base", "steps"))
    mine = load_experiment("mine", write(tmp_path, MECHANISMS), part=part)
    assert list(mine.mechanisms) == ["base", "steps"]
    assert {run.plan.schedule.region_s for set_ in SETS[:2] for run in mine.runs(set_)} == {7.0}
    assert len(mine.runs()) == 2 * 3
    assert part.options() == ("--region=7s", "--only=base,steps")
    assert ExperimentPart().options() == ()


def test_any_experiment_can_be_made_with_another_region(tmp_path: FilePath) -> None:
    mine = load_experiment("mine", write(tmp_path, GOOD), part=ExperimentPart("20s"))
    assert {run.plan.schedule.region_s for run in mine.runs()} == {20.0}


def test_a_campaign_can_be_made_path_by_path() -> None:
    parts = [
        load_experiment(PAPER, part=ExperimentPart(paths=paths))
        for paths in (("cern",), ("caltech", "ufl"))
    ]
    plans = [{plan_identity(run.plan) for run in part.runs()} for part in parts]
    assert plans[0].isdisjoint(plans[1])
    whole = load_experiment(PAPER)
    assert plans[0] | plans[1] == {plan_identity(run.plan) for run in whole.runs()}
    assert parts[0].part.options() == ("--path=cern",)
    with pytest.raises(BadInputError, match=r"no set 'quick' on caltech, ufl: allowed are whole"):
        parts[1].runs(QUICK)


def test_a_path_that_an_experiment_has_no_runs_on_is_refused() -> None:
    for name, paths in ((PAPER, "caltech, ufl, cern"), ("companion", "datatag")):
        with pytest.raises(BadInputError, match=rf"^path is 'zern': {name} has .*{paths}"):
            load_experiment(name, part=ExperimentPart(paths=("zern",)))
    with pytest.raises(BadInputError, match=r"^path is 'zern'"):
        load_experiment(PAPER, part=ExperimentPart(paths=("cern", "zern")))


def test_a_wrong_length_is_no_fault_of_the_file(tmp_path: FilePath) -> None:
    with refused("region", "1"):
        load_experiment("mine", write(tmp_path, GOOD), part=ExperimentPart("1"))


@pytest.mark.parametrize(
    ("text", "only", "complaint"),
    [
        (MECHANISMS, "nothing", "^only is 'nothing': it must be one of base, queue, steps, all"),
        (GOOD, "base", "^only is 'base': mine has no mechanisms"),
    ],
)
def test_a_mechanism_that_is_not_there_is_refused(
    tmp_path: FilePath, text: str, only: str, complaint: str
) -> None:
    with pytest.raises(BadInputError, match=complaint):
        load_experiment("mine", write(tmp_path, text), part=ExperimentPart(only=(only,)))


@pytest.mark.parametrize(
    ("valid", "wrong", "complaint"),
    [
        ('name = "steps"', 'name = "queue"', "mechanisms: a name is there twice"),
        ('name = "steps"', 'name = "Steps!"', "runs.0.mechanisms.2.name"),
        ("only.fast", "only.udt", "mechanisms.2.only: udt is no stack of these runs"),
        ('"queue", "steps"]', '"queue", "stops"]', "mechanisms.3.together: stops is none of"),
        ('{window = "25MB"}', '{seed = "2"}', "seed: a mechanism may change path"),
        ('{window = "25MB"}', '{stack = "reno"}', "stack: give the parameters of a stack in"),
        ('{window = "25MB"}', '{window = "25"}', "window is"),
        ('"fast:alpha=-1,mi_once=1"', '"bbr:x=1"', "stack: a mechanism may change the words of"),
    ],
)
def test_a_wrong_mechanism_is_refused_in_one_line(
    tmp_path: FilePath, valid: str, wrong: str, complaint: str
) -> None:
    assert valid in MECHANISMS
    with pytest.raises(BadInputError, match=complaint) as caught:
        load_experiment("mine", write(tmp_path, MECHANISMS.replace(valid, wrong)))
    assert "\n" not in caught.value.message


def test_the_ablation_says_every_value_of_every_mechanism() -> None:
    ablation = load_experiment(ABLATION)
    for run in ablation.runs():
        era = run.request.era or ""
        assert all(f"{word}=" in era for word in ("txqueuelen", "ring", "cpu", "recovery")), (
            run.label
        )
        assert run.request.window is not None
        background = run.plan.path.background
        sources = {"quiet": None, "sources": 64, "all": None}
        expected = {sources.get(name, 4) for name in run.mechanisms}
        assert {background and background.sources} == expected
        if run.plan.stacks[0].name == "fast":
            assert {"alpha", "period_rtts", "mi_once"} <= set(run.plan.stacks[0].parameters)
        if run.plan.stacks[0].name == "hstcp_lp":
            assert {"tick_ms", "range_reset"} <= set(run.plan.stacks[0].parameters)
    cells = {
        name: sum(name in run.mechanisms for run in ablation.runs()) for name in ablation.mechanisms
    }
    assert set(cells.values()) == {27}
    # The two mechanisms of a single stack share 24 of their 27 with the base
    assert len(ablation.runs()) == 11 * 27 - 2 * 24
