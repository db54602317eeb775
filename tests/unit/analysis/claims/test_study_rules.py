"""Claims that measures of studies decide."""

from __future__ import annotations

from farpath.analysis.claims import FAILS, HOLDS, UNDECIDED, judge_all
from farpath.analysis.results import ResultSet
from farpath.analysis.studies import loss_utilisation, recovery, response, window_cap
from farpath.analysis.studies.measure import Measure
from tests.support.study_measures import measure, recoveries


def state_of(claim: str, measures: list[Measure]) -> str:
    """What the companion experiments say of a claim."""
    verdicts = judge_all(ResultSet((), measures=tuple(measures)))
    return next(verdict.state for verdict in verdicts if verdict.id == claim)


def test_without_measures_companion_claims_are_undecided_and_name_their_experiment() -> None:
    verdicts = {verdict.id: verdict for verdict in judge_all(ResultSet(()))}
    for claim in ("C21", "C22", "C23", "C24", "C27", "C28"):
        assert verdicts[claim].state == UNDECIDED
        assert "needs the experiment" in verdicts[claim].why


def test_twenty_minutes_for_reno_and_seconds_for_the_others_is_what_the_panel_said() -> None:
    assert state_of("C22", recoveries()) == HOLDS
    assert state_of("C22", recoveries(reno_s=300)) == FAILS
    assert state_of("C22", recoveries()[1:]) == UNDECIDED


def test_the_formula_holds_if_no_path_is_further_than_a_tenth_from_it() -> None:
    def both(acks: str, value: float) -> Measure:
        about = {"path": "p", "stack": "reno_2004", "acks": acks, "mtu": "1500"}
        return measure(recovery.EXPERIMENT, recovery.TIME, value, theory=100.0, about=about)

    assert state_of("C23", [both("each", 105), both("delayed", 95)]) == HOLDS
    assert state_of("C23", [both("each", 105), both("delayed", 80)]) == FAILS
    assert state_of("C23", [both("each", 105)]) == UNDECIDED


def test_jumbo_frames_are_held_against_the_same_path_without() -> None:
    def one(path: str, mtu: str, value: float) -> Measure:
        about = {"path": path, "stack": "reno_2004", "acks": "each", "mtu": mtu, "drop": "at:1s"}
        return measure(recovery.EXPERIMENT, recovery.TIME, value, about=about)

    pair = [one("a", "1500", 600), one("a-jumbo", "9000", 100)]
    assert state_of("C28", pair) == HOLDS
    assert state_of("C28", [pair[0], one("a-jumbo", "9000", 200)]) == FAILS
    assert state_of("C28", pair[1:]) == UNDECIDED


def test_a_lan_and_a_wan_are_held_against_what_a_loss_of_1e_4_leaves_of_them() -> None:
    def one(path: str, value: float) -> Measure:
        about = {"path": path, "drop": "random:1e-4"}
        return measure(
            loss_utilisation.EXPERIMENT, loss_utilisation.UTILISATION, value, about=about
        )

    assert state_of("C24", [one("lan", 0.99), one("wan", 0.012)]) == HOLDS
    assert state_of("C24", [one("lan", 0.99), one("wan", 0.12)]) == FAILS
    assert state_of("C24", [one("lan", 0.99)]) == UNDECIDED


def test_one_packet_sent_again_is_too_many_for_a_capped_window() -> None:
    def both(again: float) -> list[Measure]:
        about = {"ip": "4", "seconds": "30"}
        return [
            measure(window_cap.EXPERIMENT, window_cap.RETRANSMITTED, again, about=about),
            measure(window_cap.EXPERIMENT, window_cap.UTILISATION, 0.99, about=about),
        ]

    assert state_of("C27", both(0)) == HOLDS
    assert state_of("C27", both(1)) == FAILS


def test_only_windows_that_losses_hold_are_judged_by_the_response_function() -> None:
    def one(stack: str, value: float, limit: str) -> Measure:
        about = {"stack": stack, "limit": limit, "drop": "random:1e-3"}
        return measure(response.EXPERIMENT, response.WINDOW, value, theory=100.0, about=about)

    good = [one("reno_2004", 110, "loss"), one("ltcp", 95, "loss")]
    assert state_of("C21", [*good, one("bic_2004", 20, "path")]) == HOLDS
    assert state_of("C21", [*good, one("bic_2004", 20, "loss")]) == FAILS
