"""Changes of Linux that congestion controls meet: what a compiler's line means, and its remedy.

What ``images/kernel/compat/linux_compat.h`` maps needs no remedy. These are the others: fields and
functions of patched kernels, and files that a module's own project makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_BBR_TREE = (
    "Google's kernel of BBRv2 and BBRv3 has it, Linux does not: give its tree as kernel, or take "
    "farpath's bbr3"
)


@dataclass(frozen=True)
class Change:
    """A difference between the kernel that a module was written for and this one.

    ``pattern``: of a line of the compiler or of modpost. ``advice``: sentence on the cause and the
    remedy, with groups of the pattern as in ``re.Match.expand``.
    """

    pattern: re.Pattern[str]
    advice: str


def _change(pattern: str, advice: str) -> Change:
    return Change(re.compile(pattern), advice)


#: The first that fits a line explains it. Quotes are those of gcc in the C locale.
CHANGES = (
    _change(
        r"struct rate_sample' has no member named '(lost|tx_in_flight|is_ece|is_acking_tlp\w*)'",
        rf"rate_sample->\1: {_BBR_TREE}",
    ),
    _change(
        r"tcp_congestion_ops' has no member named '(skb_marked_lost)'",
        rf"\1 of tcp_congestion_ops: {_BBR_TREE}",
    ),
    _change(
        r"tcp_cc_info' has no member named '(\w+)'"
        r"|'(TCP_CONG_WANTS_CE_EVENTS|BBR2_\w+|TCP_ECN_LOW|CA_EVENT_TLP_RECOVERY)' undeclared",
        rf"\1\2: {_BBR_TREE}",
    ),
    _change(
        r"struct (tcp_sock|sock|inet_connection_sock|tcp_congestion_ops)' "
        r"has no member named '(\w+)'",
        r"a patched kernel has \2 in struct \1, Linux has not: give its tree as kernel, or keep "
        r"\2 in the module's own inet_csk_ca()",
    ),
    _change(
        r"initialization of '[^']*const struct rate_sample \*\)'.*from incompatible pointer",
        "cong_control has (struct sock *, u32 ack, int flag, const struct rate_sample *) since "
        "Linux 6.10",
    ),
    _change(
        r"initialization of '[^']*const struct ack_sample \*\)' from incompatible pointer",
        "pkts_acked has (struct sock *, const struct ack_sample *) since Linux 4.7",
    ),
    _change(
        r"initialization of 'void \(\*\)\(struct sock \*, u32,  u32\)'.* from incompatible pointer",
        "cong_avoid has (struct sock *, u32 ack, u32 acked) since Linux 3.16",
    ),
    _change(
        r"sizeof\(struct (\w+)\) > ICSK_CA_PRIV_SIZE",
        r"struct \1 is larger than the ICSK_CA_PRIV_SIZE bytes that Linux has for a connection: "
        r"make it smaller, or give the tree of a kernel that has more",
    ),
    _change(
        r"implicit declaration of function 'div64_64'",
        "div64_64 is div64_u64 since Linux 2.6.26",
    ),
    _change(
        r"(?:static declaration of|conflicting types for) '(\w+)'",
        r"Linux has a function \1 of its own: give yours another name",
    ),
    _change(
        r"implicit declaration of function '(setup_timer|init_timer)'",
        r"\1 is timer_setup since Linux 4.15, whose function gets the timer",
    ),
    _change(
        r"implicit declaration of function '(getnstimeofday|do_gettimeofday|current_kernel_time)'",
        r"\1 is ktime_get_real_ts64 since Linux 5.0",
    ),
    _change(
        r"fatal error: ([A-Z]\w*/)(\S+): No such file",
        r"directories of Linux have small letters: is \1\2 meant so?",
    ),
    _change(
        r"fatal error: (\S+): No such file",
        r"\1 is neither beside the module nor in this kernel: copy it there, or let its project "
        r"make it",
    ),
    _change(
        r"\"(\w+)\" \[\S+\] undefined",
        r"this kernel gives modules no \1; if another source beside it has it, make both one "
        r"module in a Kbuild: tcp_mine-y := first.o second.o",
    ),
    _change(
        r"missing MODULE_LICENSE",
        'add MODULE_LICENSE("GPL"), without which TCP\'s functions are shut',
    ),
)
_MISSING = "it was taken for empty; copy it there, or let its project make it"
#: Where in the user's files a line of the compiler is.
_PLACE = re.compile(r"(?P<place>[^\s:/][^\s:]*:\d+):")


def missing_header(name: str) -> str:
    """Return what is said of a header that a module includes and that is nowhere."""
    return f"  {name} is neither beside the module nor in this kernel: {_MISSING}"


def explained(lines: Iterable[str]) -> Iterator[str]:
    """Yield each line of a compiler, and after it the change of Linux that it is about, once."""
    given: set[str] = set()
    for line in lines:
        yield line
        advice = advice_on(line)
        if advice and advice not in given:
            given.add(advice)
            place = _PLACE.match(line)
            yield f"  {place['place'] + ': ' if place else ''}{advice}"


def advice_on(line: str) -> str:
    """Return the change of Linux that a line of a compiler is about; empty if none is known.

    >>> advice_on("tcp_a.c:5:1: error: 'struct rate_sample' has no member named 'lost'")[:20]
    'rate_sample->lost: G'
    """
    for change in CHANGES:
        if match := change.pattern.search(line):
            return match.expand(change.advice)
    return ""
