"""Site MPTCP: what MPTCP does with the links of services that stand at several sites.

``mptcp`` of a compose file is a mapping of such services to their roles, with the ``scheduler`` of
all hosts::

    mptcp: {client: fullmesh, server: signal, scheduler: default}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from farpath.base.errors import BadInputError, on_one_line
from farpath.planning.file_models import mapping_of
from farpath.planning.yaml_text import nearest, text_of
from farpath.spec.mptcp import DEFAULT_SCHEDULER, KEY, ROLES, SUBFLOW, Mptcp

#: The key of the scheduler among the services.
_SCHEDULER = "scheduler"


def read_mptcp(data: object, sites: Mapping[str, Sequence[str]]) -> Mptcp:
    """Return the MPTCP of a file; services at several sites open subflows unless it says otherwise.

    ``sites``: names of services, by site. Raises BadInputError for a service at one site, and for
    what is no role.
    """
    names = [name for members in sites.values() for name in members]
    several = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    roles = dict.fromkeys(several, SUBFLOW)
    given = {name: text_of(value) or "" for name, value in mapping_of(data, KEY).items()}
    scheduler = given.pop(_SCHEDULER, DEFAULT_SCHEDULER)
    if given and not several:
        raise BadInputError(
            option=KEY,
            given=on_one_line(next(iter(given))),
            problem="no service stands at several sites, so that none has a further link",
            remedy="name a service at several, as in sites: {wifi: [client], lte: [client]}",
        )
    for name, role in given.items():
        if name not in several:
            raise BadInputError(
                option=KEY,
                given=on_one_line(name),
                problem=f"no such service stands at several sites{nearest(name, several)}",
                remedy=f"give it to {', '.join(several)}",
            )
        if role not in ROLES:
            raise BadInputError(
                option=KEY,
                given=f"{on_one_line(name)}: {on_one_line(role)}",
                problem=f"there is no such role{nearest(role, ROLES)}",
                remedy=f"it must be one of {', '.join(ROLES)}",
            )
        roles[name] = role
    return Mptcp(roles, scheduler)
