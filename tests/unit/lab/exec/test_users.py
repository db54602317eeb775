"""Who programs are: the accounts of the roots on which they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.exec.users import User, current_user, named_user
from tests.support.refusals import refused


def root_with(directory: Path, number: int) -> Path:
    etc = directory / "etc"
    etc.mkdir(parents=True)
    (etc / "passwd").write_text(
        f"root:x:0:0:root:/root:/bin/sh\nbroken\ndb:x:{number}:104:Database:/var/lib/db:/bin/sh\n"
    )
    (etc / "group").write_text("db:x:104:\nssl:x:103:www,db\nwww:x:33:\n")
    return directory


def test_a_user_has_ids_groups_and_home_of_the_root_s_account(tmp_path: Path) -> None:
    root = root_with(tmp_path, 101)
    assert named_user("db", {"sender": root, "receiver": root}) == User(
        101, 104, (103,), ("HOME=/var/lib/db", "USER=db", "LOGNAME=db")
    )


def test_this_machine_s_accounts_count_without_a_root() -> None:
    assert named_user("root", {"sender": None}).user == 0
    assert current_user(as_root=True) == User(0, 0)


def test_an_unknown_user_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    root = root_with(tmp_path, 101)
    with refused("user", "postgres"):
        named_user("postgres", {"sender": root})
    with pytest.raises(BadInputError, match="this machine has no such account"):
        named_user("no-such-user", {"sender": None})


def test_a_user_with_two_numbers_is_refused(tmp_path: Path) -> None:
    roots = {"sender": root_with(tmp_path / "a", 101), "receiver": root_with(tmp_path / "b", 102)}
    with pytest.raises(BadInputError, match="101 on host sender, 102 on host receiver"):
        named_user("db", roots)


def test_a_link_in_an_image_leads_to_none_of_this_machine_s_accounts(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").symlink_to("/../../../../etc/passwd")
    with pytest.raises(BadInputError, match="it has none"):
        named_user("root", {"sender": tmp_path})
