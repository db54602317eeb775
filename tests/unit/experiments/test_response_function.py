"""The response function: what is predicted."""

from __future__ import annotations

from experiments.response_function import analysis as response
from tests.support.paths import THOUSAND_PACKETS


def test_a_stack_without_a_published_rule_has_no_prediction() -> None:
    assert response.predicted_window("fast", THOUSAND_PACKETS, 1e-3, delayed=False) is None
    assert response.predicted_window("reno_2004", THOUSAND_PACKETS, 0.0, delayed=False) is None
    each, second = (
        response.predicted_window("reno_2004", THOUSAND_PACKETS, 1e-3, delayed)
        for delayed in (False, True)
    )
    assert each is not None
    assert second is not None
    assert each > second
