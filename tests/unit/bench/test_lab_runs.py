"""The benchmark's arithmetic and its text: values by hand, nothing is timed."""

from __future__ import annotations

import json

import pytest

from farpath.bench import figure, lab_runs, proc, render, scale
from farpath.bench.figure import Cost, Figure, Goal
from farpath.planning.request import RunRequest
from farpath.record.record import Samples
from farpath.spec.plan import Plan
from farpath.tools.tc import QueueSample

RATE_BPS = 8_000


def _queue(*samples: tuple[float, int, int]) -> list[QueueSample]:
    """Samples of time, packets waiting and bytes sent so far."""
    return [
        QueueSample(t_s, backlog_bytes=1514 * waiting, backlog_packets=waiting, drops=0,
                    bytes=sent, packets=0)
        for t_s, waiting, sent in samples
    ]  # fmt: skip


def _stat(user: int, idle: int, softirq: int) -> str:
    """/proc/stat of two cores, the first of which did nothing."""
    columns = f"{user} 0 0 {idle} 5 0 {softirq} 7 0 0"
    return f"cpu  {columns}\ncpu0 0 0 0 {idle} 0 0 0 0 0 0\ncpu1 {columns}\nintr 1\n"


def test_speed_comes_from_the_difference_and_so_not_from_the_start() -> None:
    start_s = 1.5
    short = Cost(100 * 1448, start_s + 0.1)
    long = Cost(1100 * 1448, start_s + 1.1)
    assert figure.packets_per_cpu_s(short, long) == pytest.approx(1000)


@pytest.mark.parametrize("long", [Cost(2e6, 1.0), Cost(2e6, 0.5), Cost(1e6, 2.0)])
def test_no_speed_where_the_longer_run_cost_or_carried_no_more(long: Cost) -> None:
    assert figure.packets_per_cpu_s(Cost(1e6, 1.0), long) is None


def test_extrapolation_leaves_the_start_as_it_is() -> None:
    assert figure.extrapolated(3.0, 3.0, 1.0, 100.0) == 3.0
    assert figure.extrapolated(3.0, 1.0, 1.0, 100.0) == 201.0
    assert figure.extrapolated(3.0, 1.0, 7.0, 7.0) == 3.0


def test_rate_error_counts_the_longest_backlog_alone() -> None:
    queue = _queue((0, 0, 0), (1, 3, 10), (2, 0, 900), (3, 4, 1000), (4, 4, 2001), (5, 1, 3002))
    assert [sample.t_s for sample in figure.longest_backlog(queue)] == [3, 4, 5]
    assert figure.rate_error_percent(queue, RATE_BPS) == pytest.approx(0.1)


def test_rate_error_is_unknown_without_two_samples_of_a_backlog() -> None:
    assert figure.rate_error_percent([], RATE_BPS) is None
    assert figure.rate_error_percent(_queue((0, 0, 0), (1, 5, 9), (2, 0, 99)), RATE_BPS) is None


def test_work_of_a_core_is_its_own_and_neither_idle_nor_stolen() -> None:
    assert proc.core_worked_s(_stat(user=100, idle=999, softirq=50), 1, ticks_per_s=100) == 1.5
    assert proc.core_worked_s(_stat(user=100, idle=999, softirq=50), 0, ticks_per_s=100) == 0


def test_a_threads_name_may_hold_blanks_and_brackets() -> None:
    fields = " ".join(str(number) for number in range(4, 53))
    thread = proc.thread_of(7, f"9 (a) b (c) S {fields}", "2500000000 12 3\n")
    assert thread == proc.Thread(7, "a) b (c", 39, 2.5)


def test_foreign_work_is_that_of_others_on_the_core() -> None:
    thread = proc.Thread
    before = {1: thread(1, "iperf3", 0, 1.0), 2: thread(2, "hog", 0, 5.0)}
    after = {
        1: thread(1, "iperf3", 0, 9.0),
        2: thread(2, "hog", 0, 6.0),
        3: thread(3, "new", 0, 0.5),
        4: thread(4, "elsewhere", 1, 7.0),
        5: thread(5, "ksoftirqd/0", 0, 8.0),
        6: thread(1, "iperf3's second thread", 0, 3.0),
    }
    assert proc.foreign_s(before, after, core=0, own={1}) == 1.5


def test_a_goal_is_reached_on_its_side_and_at_its_number() -> None:
    assert Goal(90, at_most=True).reached_by(90)
    assert not Goal(90, at_most=True).reached_by(90.1)
    assert Goal(150, at_most=False).reached_by(150)
    assert not Goal(150, at_most=False).reached_by(149)


def test_delivered_bytes_hold_the_short_last_interval(samples: Samples, plan: Plan) -> None:
    first = 10 * 50_000_000 + 30 * 25_000_000 + 7_000_000
    second = 30 * 25_000_000 + 1_000_000
    assert lab_runs.delivered_bytes(samples.flows, plan) == pytest.approx(first + second)


def _measured(wall_s: float, cpu_s: float) -> lab_runs.Measured:
    """A quick run that started for 2 s and sent a tenth of what a full one would."""
    sent = lab_runs.lossless_path().rate_bps // 8 * 96
    queue = _queue((0, 0, 0), (40, 0, sent))
    return lab_runs.Measured(Cost(1.0, cpu_s), wall_s, 1.0, 2.0, 100 << 20, queue, 164.0005)


def test_a_quick_run_is_extrapolated_and_says_so() -> None:
    found = lab_runs.full_run_figures(_measured(wall_s=10.0, cpu_s=5.0), region_s=5.0)
    wall, cpu = found["full_run_wall"], found["full_run_cpu"]
    assert wall.value == pytest.approx(2 + 80)
    assert cpu.value == pytest.approx(41)
    assert wall.estimated
    assert "extrapolated" in wall.how


def test_a_full_run_is_taken_as_it_is() -> None:
    found = lab_runs.full_run_figures(_measured(wall_s=130.0, cpu_s=85.0), region_s=120.0)
    assert (found["full_run_wall"].value, found["full_run_wall"].reached) == (130.0, False)
    assert (found["full_run_cpu"].value, found["full_run_cpu"].reached) == (85.0, True)
    assert not found["full_run_wall"].estimated


def test_base_rtt_error_is_in_microseconds() -> None:
    error = lab_runs.run_figures(_measured(1.0, 1.0))["base_rtt_error"]
    assert error.value == pytest.approx(0.5)
    assert error.reached


def _report(*figures: Figure) -> str:
    found = {
        "quick": True,
        "machine": {"cpu_model": "a CPU", "cores": 2, "kernel": "6.1", "load_before": 0.5},
        "figures": {str(number): each.as_dict() for number, each in enumerate(figures)},
    }
    return render(json.loads(json.dumps(found)))


def test_the_report_sets_measured_beside_goal() -> None:
    text = _report(
        Figure("speed", 300_000.0, "packets/s", Goal(450_000, False), "one flow"),
        Figure("time", 61.25, "s", Goal(90, True), "a guess", estimated=True),
    )
    speed, time = (line for line in text.splitlines() if line.startswith(("speed", "time")))
    assert " ".join(speed.split()) == "speed 300 kpackets/s at least 450 kpackets/s NOT reached"
    assert " ".join(time.split()) == "time about 61.2 s at most 90 s reached"
    assert "    one flow" in text.splitlines()


def test_a_figure_that_cannot_be_had_says_what_to_do() -> None:
    text = _report(Figure("ns-3", None, "times", Goal(150, False), "apt-get install libns3-dev"))
    assert "reached" not in text
    assert "apt-get install libns3-dev" in text


def test_the_report_fits_a_hundred_columns() -> None:
    text = _report(Figure("f" * 33, 123.0, "packets/s", Goal(1e6, False), "word " * 100))
    assert max(len(line) for line in text.splitlines()) <= 100


def test_udts_speed_counts_the_schedule_without_the_start() -> None:
    run = _measured(wall_s=42.0, cpu_s=1.0)  # 2 s of start, then 80 virtual seconds
    speed = lab_runs.udt_figures(run, region_s=10.0)["udt_speed"]
    assert speed.value == pytest.approx(2.0)
    assert speed.reached


def _row() -> scale.ScaleRow:
    """Ten virtual seconds in 20 real ones after a start of 2, at 1 Gbit/s and 1500 bytes."""
    asked = RunRequest(stack="reno", schedule="together", rate="1Gbit", rtt="20ms", region="10s")
    plan = asked.plan()
    run = lab_runs.Measured(Cost(1448e6, 10.0), 22.0, 1.0, 2.0, 200 << 20, [])
    return scale.row(scale.words(asked), plan, run)


def test_a_run_at_scale_counts_packets_time_and_memory() -> None:
    row = _row()
    assert row.speed == pytest.approx(0.5)
    assert row.packets_per_cpu_s == pytest.approx(1e5)
    assert row.estimate_over_measured == pytest.approx((512 + 64) / 200)


def test_requests_at_scale_are_runs_of_ten_to_thirty_seconds() -> None:
    for asked in scale.RUNS:
        plan = asked.plan()
        assert 10 <= plan.schedule.duration_s <= 30


def test_what_no_machine_can_run_is_refused_with_its_range() -> None:
    beyond = [asked for asked in scale.LARGER if asked.rate == "100Gbit"]
    (told,) = [scale.refusal(asked) for asked in beyond]
    assert told is not None
    assert "10000000000 bit/s" in told


def test_the_report_has_runs_at_scale_and_what_larger_requests_are_told() -> None:
    found = {
        "quick": False,
        "machine": {"cpu_model": "a CPU", "cores": 2, "kernel": "6.1", "load_before": 0.5},
        "figures": {},
        "scale": {
            "runs": [_row().as_dict()],
            "larger": {"RATE=100Gbit": "too fast " * 20, "RTT=5s": None},
        },
    }
    lines = render(json.loads(json.dumps(found))).splitlines()
    assert "0.5 x 10 s 100 k 210 Mbytes 604 Mbytes 2.88 x" in [" ".join(x.split()) for x in lines]
    assert "    not refused: it starts on this machine" in lines
    assert max(map(len, lines)) <= 100
