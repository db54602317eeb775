"""struct tcp_info: which kernels tell enough."""

from __future__ import annotations

import pytest

from farpath.tools import tcp_info as tcpinfo
from tests.support.sock_diag import FIRST


def test_a_kernel_that_tells_too_little_is_refused() -> None:
    with pytest.raises(ValueError, match="struct tcp_info has 104 bytes"):
        tcpinfo.Rows().add(0, FIRST, 1, 1, bytes(104))
