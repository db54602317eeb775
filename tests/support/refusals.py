"""What is refused, by the fields of its error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from farpath.base.errors import BadInputError


@contextmanager
def refused(option: str, given: object = None) -> Iterator[None]:
    """Assert that an error of one line is about an option, and about this value if one is given."""
    with pytest.raises(BadInputError) as caught:
        yield
    assert caught.value.option == option
    assert given is None or caught.value.given == given
    assert "\n" not in caught.value.message
