"""/proc: the work of cores and threads."""

from __future__ import annotations

from benchmarks.lab import proc


def _stat(user: int, idle: int, softirq: int) -> str:
    """/proc/stat of two cores, the first of which did nothing."""
    columns = f"{user} 0 0 {idle} 5 0 {softirq} 7 0 0"
    return f"cpu  {columns}\ncpu0 0 0 0 {idle} 0 0 0 0 0 0\ncpu1 {columns}\nintr 1\n"


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
