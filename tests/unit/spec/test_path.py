"""A path: values that no path can have."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from farpath.planning import path_files
from farpath.spec.path import OPTION_OF_FIELD, Path
from tests.support.refusals import refused


@given(
    field=st.sampled_from(path_files.NUMERIC_FIELDS),
    value=st.one_of(st.just(float("nan")), st.just(float("inf")), st.floats(max_value=-1e-9)),
)
def test_no_path_has_a_negative_infinite_or_undefined_value(field: str, value: float) -> None:
    good = Path("x", "x", 10.0, 10**8, 10**6, 0.0, 1500, 10**6)
    changed: dict[str, Any] = {field: value}
    with refused(OPTION_OF_FIELD.get(field, field)):
        dataclasses.replace(good, **changed)
