"""Stacks: what a flow can run. Here, the congestion controls of mainline Linux."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from farpath.errors import BadInputError


@dataclass(frozen=True)
class Stack:
    """One congestion control by the kernel's name for it."""

    name: str
    title: str
    year: int
    source: str


_ALL = (
    Stack("reno", "Reno", 1990, "RFC 5681; net/ipv4/tcp_cong.c"),
    Stack("highspeed", "HSTCP", 2003, "RFC 3649; net/ipv4/tcp_highspeed.c"),
    Stack("htcp", "H-TCP", 2004, "Leith and Shorten, PFLDnet 2004; net/ipv4/tcp_htcp.c"),
    Stack("scalable", "Scalable", 2003, "Kelly, CCR 33(2) 2003; net/ipv4/tcp_scalable.c"),
    Stack("bic", "BIC", 2004, "Xu, Harfoush, Rhee, INFOCOM 2004; net/ipv4/tcp_bic.c"),
    Stack("cubic", "CUBIC", 2008, "RFC 9438; net/ipv4/tcp_cubic.c"),
    Stack("bbr", "BBR", 2016, "Cardwell et al., ACM Queue 14(5) 2016; net/ipv4/tcp_bbr.c"),
    Stack("westwood", "Westwood+", 2001, "Casetti et al., MobiCom 2001; net/ipv4/tcp_westwood.c"),
    Stack("hybla", "Hybla", 2004, "Caini, Firrincieli, IJSCN 2004; net/ipv4/tcp_hybla.c"),
    Stack("vegas", "Vegas", 1994, "Brakmo, Peterson, SIGCOMM 1994; net/ipv4/tcp_vegas.c"),
    Stack("nv", "NV", 2015, "Brakmo, TCP-NV 2015; net/ipv4/tcp_nv.c"),
    Stack("lp", "TCP-LP", 2003, "Kuzmanovic, Knightly, INFOCOM 2003; net/ipv4/tcp_lp.c"),
    Stack("veno", "Veno", 2003, "Fu, Liew, JSAC 21(2) 2003; net/ipv4/tcp_veno.c"),
    Stack("yeah", "YeAH", 2007, "Baiocchi et al., PFLDnet 2007; net/ipv4/tcp_yeah.c"),
    Stack("illinois", "Illinois", 2006, "Liu, Basar, Srikant, 2006; net/ipv4/tcp_illinois.c"),
    Stack("dctcp", "DCTCP", 2010, "RFC 8257; net/ipv4/tcp_dctcp.c"),
    Stack("cdg", "CDG", 2011, "Hayes, Armitage, Networking 2011; net/ipv4/tcp_cdg.c"),
)
STACKS = {stack.name: stack for stack in _ALL}


def stack_by_name(name: str) -> Stack:
    """The stack of that name; BadInputError with the list if there is none."""
    if name in STACKS:
        return STACKS[name]
    close = difflib.get_close_matches(name.lower(), STACKS, n=1, cutoff=0.5)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise BadInputError(f"STACK is '{name}'{hint}: it must be one of {', '.join(STACKS)}")
