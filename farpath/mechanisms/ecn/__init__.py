"""Parser of ECN's text, and the rules of ``farpath.spec.ecn`` in a plan."""

from __future__ import annotations

from farpath.base.errors import BadInputError
from farpath.spec.ecn import MODES, OFF, SYSCTL, needs_ecn
from farpath.spec.plan import Plan

#: What ECN=l4s would need.
L4S = "l4s"


def parse_ecn(text: str) -> str:
    """Return a mode of ECN; raises BadInputError for any other text.

    >>> parse_ecn("accecn")
    'accecn'
    """
    if text == L4S:
        raise BadInputError(
            "ECN is 'l4s': no stack of this kernel sends ECT(1), since mainline has no TCP Prague; "
            "take STACK=dctcp with QUEUE=dualpi2:any_ect, or ECN=accecn with a module of your own"
        )
    if text not in MODES:
        raise BadInputError(f"ECN is '{text}': it must be one of {', '.join(MODES)}")
    return text


def check_ecn(plan: Plan) -> None:
    """Raise BadInputError for ECN that contradicts a sysctl, or that a stack cannot do without."""
    if not plan.ecn:
        return
    given, wanted = plan.path.sysctl.get(SYSCTL), MODES[plan.ecn].tcp_ecn
    if given is not None and given != wanted:
        raise BadInputError(
            f"ECN is '{plan.ecn}' and SYSCTL has {SYSCTL}={given}: leave one of them out"
        )
    needing = [stack.label for stack in plan.stacks if needs_ecn(stack.sysctl)]
    if plan.ecn == OFF and needing:
        raise BadInputError(
            f"ECN is '{OFF}' and STACK has {needing[0]}, which needs it and runs Reno without: "
            "leave one of them out"
        )
