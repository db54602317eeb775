"""Figure of the first plan of a process."""

from benchmarks.lab.first_plan import first_plan_figures


def test_the_first_plan_of_a_process_takes_time_and_has_a_goal() -> None:
    (figure,) = first_plan_figures().values()
    assert figure.value is not None
    assert figure.value > 0
    assert figure.goal is not None
