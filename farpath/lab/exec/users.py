"""Program users: accounts of a user's programs in the lab, from the files of their roots."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.lab.artifacts.host_images import resolved


@dataclass(frozen=True)
class User:
    """The account of a program: ids of user, group and further groups, and its variables.

    ``variables``: NAME=value of its environment.
    """

    user: int
    group: int
    groups: tuple[int, ...] = ()
    variables: tuple[str, ...] = ()


def current_user(as_root: bool) -> User:
    """Return the user of this process, or root of the lab."""
    if as_root:
        return User(0, 0)
    return User(os.getuid(), os.getgid(), tuple(sorted(set(os.getgroups()) - {os.getgid()})))


def named_user(name: str, roots: Mapping[str, FilePath | None]) -> User:
    """Return a user by the accounts of the hosts' roots.

    ``roots``: by host; None for this machine's own files. Raises BadInputError if a root has no
    such account, or two roots have different ones.
    """
    found = {
        host: _of_machine(name) if root is None else _of_root(name, host, root)
        for host, root in roots.items()
    }
    first, *others = found.values()
    if any((one.user, one.group) != (first.user, first.group) for one in others):
        ids = ", ".join(f"{one.user} on host {host}" for host, one in found.items())
        raise BadInputError(
            option="user",
            given=name,
            problem=f"it has different numbers, {ids}",
            remedy="give an `image` for both hosts",
        )
    return first


def _of_machine(name: str) -> User:
    try:
        account = pwd.getpwnam(name)
    except KeyError:
        raise _unknown(name, "this machine", (one.pw_name for one in pwd.getpwall())) from None
    groups = set(os.getgrouplist(name, account.pw_gid)) - {account.pw_gid}
    return User(
        account.pw_uid, account.pw_gid, tuple(sorted(groups)), _variables(name, account.pw_dir)
    )


def _of_root(name: str, host: str, root: FilePath) -> User:
    accounts = {fields[0]: fields for fields in _rows(root, "/etc/passwd", 7)}
    if name not in accounts:
        raise _unknown(name, f"the root of host {host}", iter(accounts))
    _, _, user, group, _, home, _ = accounts[name]
    further = {
        int(fields[2]) for fields in _rows(root, "/etc/group", 4) if name in fields[3].split(",")
    }
    groups = tuple(sorted(further - {int(group)}))
    return User(int(user), int(group), groups, _variables(name, home))


def _rows(root: FilePath, name: str, fields: int) -> Iterator[list[str]]:
    """Yield the well-formed lines of an account file of a root (passwd(5), group(5))."""
    file = resolved(root, name)
    if file is None or not file.is_file():
        return
    text = file.read_text(encoding="utf-8", errors="replace")
    for line in text.splitlines():
        row = line.split(":")
        if len(row) == fields and row[2].isdecimal() and (fields == 4 or row[3].isdecimal()):
            yield row


def _variables(name: str, home: str) -> tuple[str, ...]:
    return (f"HOME={home or '/'}", f"USER={name}", f"LOGNAME={name}")


def _unknown(name: str, where: str, names: Iterator[str]) -> BadInputError:
    known = ", ".join(sorted(names)) or "none"
    return BadInputError(
        option="user", given=name, problem=f"{where} has no such account", remedy=f"it has {known}"
    )
