"""Suites of the kernel's selftests: which scripts they have, and what a script says."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.selftests import Selftest, find_scripts

MAKEFILE = (
    "TEST_PROGS := \\\n\tdiag.sh \\\n\tconnect.sh \\\n# end\n\nTEST_GEN_FILES := mptcp_diag\n"
)


def suite(folder: FilePath, *built: str) -> FilePath:
    """A folder net/mptcp with two scripts, of whose programs some are built."""
    place = folder / "net" / "mptcp"
    place.mkdir(parents=True)
    (place / "Makefile").write_text(MAKEFILE)
    for name in ("diag.sh", "connect.sh", *built):
        (place / name).touch()
    return place


def test_the_scripts_are_those_of_the_makefile_in_its_order(tmp_path: FilePath) -> None:
    place = suite(tmp_path, "mptcp_diag")
    assert find_scripts(place) == ("diag.sh", "connect.sh")
    assert find_scripts(place, ["connect", "diag.sh"]) == ("diag.sh", "connect.sh")


def test_a_suite_that_is_not_built_or_is_none_is_refused_with_the_remedy(
    tmp_path: FilePath,
) -> None:
    with pytest.raises(BadInputError, match="mptcp_diag") as found:
        find_scripts(suite(tmp_path))
    assert found.value.remedy == f"run make -C {tmp_path} TARGETS=net/mptcp"
    with pytest.raises(BadInputError, match="no Makefile"):
        find_scripts(tmp_path)
    (tmp_path / "net" / "mptcp" / "mptcp_diag").touch()
    with pytest.raises(BadInputError, match=r"diag\.sh, connect\.sh"):
        find_scripts(tmp_path / "net" / "mptcp", ["join"])


def test_single_tests_are_counted_by_what_the_script_says() -> None:
    said = "TAP version 13\n1..3\nok 1 - a\nnot ok 2 - b # time=1ms\n# ok 3 - c # SKIP no nft\n"
    found = Selftest("diag.sh", 1, said, 2.0)
    assert (found.tests, found.skipped_tests) == (3, 1)
    assert found.failures == ("not ok - b # time=1ms",)
