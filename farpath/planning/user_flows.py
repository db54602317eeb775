"""Parser of the text of FLOWS: flows named by hosts, with their stacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.planning.stack_texts import parse_stacks
from farpath.spec.hosts import Pair
from farpath.spec.schedule import MOST_FLOWS

_FLOWS = re.compile(r"([^:>]*)>([^:>]*):(.+)")
EXAMPLE = "h1>h2:cubic h3>h2:bbr"


@dataclass(frozen=True)
class UserFlow:
    """A flow between two hosts, by their names. ``stack``: its text, as in STACK."""

    sender: str
    receiver: str
    stack: str

    @property
    def pair(self) -> Pair:
        """Its hosts."""
        return self.sender, self.receiver


def parse_flows(text: str | None, hosts: Sequence[str]) -> tuple[UserFlow, ...]:
    """Parse flows separated by blanks; ``h1>h2:2xcubic+bbr`` has three between two hosts.

    ``hosts``: those of the network. Raises BadInputError for any other text.
    """
    if text is None:
        raise BadInputError(
            option="flows",
            problem="it is missing, and `topology` is a file",
            remedy=(
                f"name flows by hosts, as in `flows`='{hosts[0]}>{hosts[1]}:cubic'; the "
                f"hosts are {', '.join(hosts)}"
            ),
        )
    flows: list[UserFlow] = []
    for word in text.split():
        match = _FLOWS.fullmatch(word)
        if match is None:
            raise BadInputError(
                option="flows",
                given=word,
                remedy=(
                    "give sender>receiver:stack for each pair of hosts, separated by "
                    f"blanks, as in '{EXAMPLE}'"
                ),
            )
        for host in (match[1], match[2]):
            if host not in hosts:
                raise BadInputError(
                    option="flows",
                    given=word,
                    problem=f"there is no host '{host}'",
                    remedy=f"the hosts are {', '.join(hosts)}",
                )
        if match[1] == match[2]:
            raise BadInputError(
                option="flows", given=word, remedy="a flow leads from one host to another"
            )
        stacks = parse_stacks(match[3], "flows")
        flows += [UserFlow(match[1], match[2], stack) for stack in stacks]
    if not 1 <= len(flows) <= MOST_FLOWS:
        raise BadInputError(
            option="flows",
            given=text,
            problem=f"it has {len(flows)} flows",
            remedy=f"give 1 to {MOST_FLOWS}, as in '{EXAMPLE}'",
        )
    return tuple(flows)
