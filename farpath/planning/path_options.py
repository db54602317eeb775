"""Options of a path: resolves them to a path with the source of each value in ``sources``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.path_variants import CHANGED, varied
from farpath.base.units import Quantity
from farpath.mechanisms import quantities
from farpath.mechanisms.changes.rate_traces import is_trace, read_trace
from farpath.mechanisms.changes.timeline_text import (
    ChangesText,
    rate_changes,
    rtt_changes,
    split_changes,
)
from farpath.mechanisms.mechanism import PathSoFar
from farpath.mechanisms.quantities import LEAST_BUFFER_FRAMES, default_buffer_bytes
from farpath.mechanisms.registry import mechanisms
from farpath.planning.end_host_sysctls import check_setting
from farpath.planning.path_files import SYSCTL_TEXT, path_by_name, rtts_ms
from farpath.programs.udtperf.program import LARGEST_BUFFER_BYTES
from farpath.spec.deliveries import mean_rate_bps
from farpath.spec.path import BUFFER_BYTES_RANGE, ETHERNET_HEADER_BYTES, WINDOW_BYTES_RANGE, Path

DEFAULT_PATH = "cern"
#: Field and kind of each option that sets one number of a path, by the option's name. RTT and
#: options of mechanisms are not among them.
FIELDS: Mapping[str, tuple[str, Quantity[int] | Quantity[float]]] = {
    "rate": ("rate_bps", quantities.RATE_BPS),
    "buffer": ("buffer_bytes", quantities.SIZE_BYTES),
    "loss": ("loss", quantities.FRACTION),
    "mtu": ("mtu_bytes", quantities.MTU_BYTES),
    "window": ("window_bytes", quantities.WINDOW_BYTES),
}
#: Options that may be given as a multiple of the bandwidth-delay product or as a time at the
#: bottleneck's rate, and their ranges in bytes.
AMOUNTS: Mapping[str, tuple[int, int]] = {
    "buffer": BUFFER_BYTES_RANGE,
    "window": WINDOW_BYTES_RANGE,
}
#: Paths that stand for a kind of network and not for one. An RTT alone does not choose them.
KINDS = ("datacentre", "dsl", "geo-satellite", "leo", "lte", "lte-trace", "wifi-trace")
#: The name of a path that an RTT makes.
CUSTOM = "custom"
#: Defaults of a path that an RTT makes.
DEFAULT_RATE_BPS = 450_000_000
DEFAULT_MTU_BYTES = 1500
DEFAULT_LOSS = 0.0
LEAST_WINDOW_BYTES = 16_777_216
#: Buffers of hosts that are tuned for far paths, in bytes; ``sysctl_for`` raises the maxima. Linux
#: itself has 4096 131072 6291456 and 4096 16384 4194304 (tcp_init in net/ipv4/tcp.c).
TUNED_SYSCTL = {
    "net.core.rmem_max": "33554432",
    "net.core.wmem_max": "33554432",
    "net.core.rmem_default": "65536",
    "net.core.wmem_default": "65536",
    "net.ipv4.tcp_rmem": "4096 87380 33554432",
    "net.ipv4.tcp_wmem": "4096 65536 33554432",
    "net.ipv4.tcp_mem": "33554432 33554432 33554432",
}
#: The source of a value that comes from a named path, and what it says of the path's choice.
_SOURCE = "path {name} ({reason}): {source}"
_SOURCE_TEXT = re.compile(r"path \S+ \((?P<reason>[^)]+)\): ")
_GIVEN = "given"


def _base_path(
    base: str | Path | None, rtt_ms: float | None, by_rtt: bool
) -> tuple[Path | None, str]:
    """Return the path that a name or the RTT chooses, None if there is none, and the reason.

    ``base``: a name, or a path that is none of topologies/paths. ``by_rtt``: whether the RTT
    chooses a named path.
    """
    if base is not None:
        path = path_by_name(base) if isinstance(base, str) else base
        if rtt_ms is not None and rtt_ms != path.rtt_ms:
            raise BadInputError(
                option="rtt",
                given=f"{rtt_ms:g} ms",
                problem=f"path {path.name} has {path.rtt_ms:g} ms",
                remedy=(
                    "give one of them, or `rtt` with `rate`, `buffer` and `loss` for your own path"
                ),
            )
        return path, "as named"
    if rtt_ms is None:
        return path_by_name(DEFAULT_PATH), "the default"
    named = [name for name in _paths_of_rtt(rtt_ms) if name not in KINDS]
    if by_rtt and named:
        return path_by_name(named[0]), f"the only thing said of the path is its RTT, {rtt_ms:g} ms"
    return None, ""


def _paths_of_rtt(rtt_ms: float) -> list[str]:
    """Return the names of the paths that have an RTT."""
    return [name for name, path_rtt_ms in rtts_ms().items() if path_rtt_ms == rtt_ms]


def choice_text(path: Path) -> str:
    """Return why options led to a path and to no other, for people; empty if it was named.

    It is the reason why a named path was taken, or names the paths that have a custom path's RTT.

    >>> choice_text(resolve_path(rtt="164ms", rate="100Mbit"))
    'path cern has this RTT too: --path=cern'
    """
    source = path.sources.get("rtt_ms", "")
    if match := _SOURCE_TEXT.match(source):
        return "" if match["reason"] == "as named" else match["reason"]
    return source.partition(f"{_GIVEN}; ")[2] if source.startswith(_GIVEN) else ""


def _given_rtt(rtt_ms: float) -> str:
    """Return the source of the RTT of a custom path, which names the paths that have it too."""
    names = _paths_of_rtt(rtt_ms)
    if not names:
        return _GIVEN
    known = f"path {names[0]} has" if len(names) == 1 else f"paths {', '.join(names)} have"
    return f"{_GIVEN}; {known} this RTT too: --path={names[0]}"


def sysctl_for(window_bytes: int, sysctl: Mapping[str, str]) -> dict[str, str]:
    """Raise the maxima of rmem and wmem in a path's sysctls so that they allow a window."""
    raised = dict(sysctl)
    for name in ("net.core.rmem_max", "net.core.wmem_max"):
        raised[name] = str(max(int(raised[name]), window_bytes))
    # The kernel also charges headers to a socket's buffer; twice the window holds both, as in
    # path cern.
    buffer_bytes = min(2 * window_bytes, LARGEST_BUFFER_BYTES)
    for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
        least, default, most = raised[name].split()
        raised[name] = f"{least} {default} {max(int(most), buffer_bytes)}"
    return raised


def custom_path(rtt_ms: float, values: dict[str, Any]) -> Path:
    """Make a path of the user's RTT and values; stated defaults fill the other fields.

    ``values``: of fields. Its sysctls and sources are further ones.
    """
    given = [name for name in values if name not in ("name", "title", "sysctl", "sources")]
    rate_bps = values.get("rate_bps", DEFAULT_RATE_BPS)
    mtu_bytes = values.get("mtu_bytes", DEFAULT_MTU_BYTES)
    usual_bytes = default_buffer_bytes(rate_bps, rtt_ms, mtu_bytes)
    buffer_bytes = values.get("buffer_bytes", usual_bytes)
    ideal_bytes = max(
        round(2 * _most_bdp_bytes(rate_bps, rtt_ms, values)) + buffer_bytes, LEAST_WINDOW_BYTES
    )
    window_bytes = values.get("window_bytes", min(ideal_bytes, WINDOW_BYTES_RANGE[1]))
    default_sources = {
        "rtt_ms": _given_rtt(rtt_ms),
        "rate_bps": "default: 450 Mbit/s",
        "buffer_bytes": f"default: one bandwidth-delay product, at least {LEAST_BUFFER_FRAMES} "
        f"frames and at most 1 GiB",
        "loss": "default: no random loss",
        "mtu_bytes": "default: Ethernet's 1500 bytes",
        "window_bytes": "default: twice the bandwidth-delay product and the buffer, at least "
        "16 MiB"
        + (
            "; cut to the lab's 512 MiB, which limits the flow"
            if ideal_bytes > window_bytes
            else ""
        ),
        "sysctl": "default: hosts tuned for far paths, TCP buffers of 32 MiB, or more where "
        "the window needs it; Linux's own have at most 6 MiB",
    }
    usual: dict[str, Any] = {
        "name": CUSTOM,
        "title": f"custom path, RTT {rtt_ms:g} ms",
        "rtt_ms": rtt_ms,
        "rate_bps": rate_bps,
        "buffer_bytes": buffer_bytes,
        "loss": DEFAULT_LOSS,
        "mtu_bytes": mtu_bytes,
        "window_bytes": window_bytes,
    }
    further = {
        "sysctl": sysctl_for(window_bytes, TUNED_SYSCTL) | values.get("sysctl", {}),
        "sources": default_sources | dict.fromkeys(given, _GIVEN) | values.get("sources", {}),
    }
    return Path(**usual | values | further)


def _most_bdp_bytes(rate_bps: int, rtt_ms: float, values: Mapping[str, Any]) -> float:
    """Return the bandwidth-delay product of the highest rate and the longest RTT in bytes."""
    rates, rtts = values.get("rate_changes"), values.get("rtt_changes")
    highest_bps = max(rate_bps, *rates.rate_bps) if rates else rate_bps
    longest_ms = max(rtt_ms, *rtts.rtt_ms) if rtts else rtt_ms
    return highest_bps * longest_ms / 8e3


def parse_sysctl(text: str) -> dict[str, str]:
    """Parse sysctls of network namespaces, separated by commas, by name.

    Raises BadInputError for any other text, a repeated sysctl, and what ``check_setting`` refuses.

    >>> parse_sysctl("net.ipv4.tcp_sack=0, net.ipv4.tcp_dsack=0")
    {'net.ipv4.tcp_sack': '0', 'net.ipv4.tcp_dsack': '0'}
    """
    sysctl: dict[str, str] = {}
    for part in text.split(","):
        match = SYSCTL_TEXT.fullmatch(part.strip())
        if not match:
            raise BadInputError(
                option="sysctl",
                given=text,
                remedy=(
                    "give sysctls of the network, separated by commas, as in net.ipv4.tcp_sack=0"
                ),
            )
        name = match[1]
        check_setting(name)
        if name in sysctl:
            raise BadInputError(
                option="sysctl", problem=f"{name} is there twice", remedy="give it once"
            )
        sysctl[name] = match[2]
    return sysctl


def _buffer(
    values: Mapping[str, Any], packets: int | None, mtu_bytes: int, base: Path | None
) -> dict[str, int]:
    """Return the fields of a buffer that counts packets, or that no longer does.

    ``values``: the fields that are given. ``packets``: the given length. ``base``: the path that
    the values change.
    """
    usual = base.buffer_packets if base else 0
    if packets is None and "buffer_bytes" in values:
        return {"buffer_packets": 0} if usual else {}
    packets = usual if packets is None else packets
    frame_bytes = mtu_bytes + ETHERNET_HEADER_BYTES
    return {"buffer_packets": packets, "buffer_bytes": packets * frame_bytes} if packets else {}


def _changes(rates: ChangesText | None, rtts: ChangesText | None) -> dict[str, Any]:
    """Return the fields of the changes that are given."""
    fields = {"rate_changes": rate_changes(rates), "rtt_changes": rtt_changes(rtts)}
    return {field: changes for field, changes in fields.items() if changes}


def _of_mechanisms(path: PathSoFar, texts: Mapping[str, str]) -> tuple[dict[str, Any], set[str]]:
    """Return the fields that mechanisms give a path, and which of them options give.

    ``texts``: all options that are given.
    """
    values: dict[str, Any] = {}
    given: set[str] = set()
    for mechanism in mechanisms():
        own = {name: texts[name] for name in mechanism.options if name in texts}
        if mechanism.apply_path and (own or path.base):
            fields = mechanism.apply_path(path, own)
            values |= fields
            given |= fields.keys() if own else set()
    return values, given


def resolve_path(
    name: str | Path | None = None,
    rtt: str | None = None,
    sysctl: str | None = None,
    by_rtt: bool = False,
    **options: str | None,
) -> Path:
    """Resolve the options of a path; its ``sources`` state where each value is from.

    ``name``: of a path, or a path that is none of topologies/paths. ``sysctl``: sysctls of sender
    and receiver in addition to the path's own. ``by_rtt``: whether the RTT
    chooses a named path, which is for callers who know that no other option says anything of the
    path. ``options``: those of ``FIELDS`` and of mechanisms on the path, by name; they override the
    path's values.

    A name chooses that path. An RTT makes a path from stated defaults, and neither chooses the
    default path. A named path with a changed value is called ``<name>-changed``, so
    that published numbers are not compared with it. A rate or an RTT that is given is without
    changes unless it has its own, and buffers are of the first ones. Raises BadInputError.
    """
    texts = {option: text for option, text in options.items() if text is not None}
    for mechanism in mechanisms():
        texts |= mechanism.stands_for(texts)
    values: dict[str, Any] = {}
    rate = texts.get("rate", "")
    rates = None if is_trace(rate) else split_changes(rate, "rate")
    if is_trace(rate):
        values["rate_trace"] = times_ms = read_trace(rate)
        texts["rate"] = str(mean_rate_bps(times_ms))
    rtts = split_changes(rtt or "", "rtt")
    if rates:
        texts["rate"] = rates.first
    if rtts:
        rtt, by_rtt = rtts.first, False
    rtt_ms = None if rtt is None else quantities.RTT_MS.parse(rtt, "rtt")
    packets = quantities.parse_buffer_packets(texts.get("buffer", ""))
    base, reason = _base_path(name, rtt_ms, by_rtt)
    path_rtt_ms = base.rtt_ms if base else rtt_ms or 0.0
    # The rate comes first, of which sizes may be
    for option, (field, quantity) in FIELDS.items():
        if option not in texts or (option == "buffer" and packets):
            continue
        rate_bps = values.get("rate_bps", base.rate_bps if base else DEFAULT_RATE_BPS)
        text = texts[option]
        if allowed := AMOUNTS.get(option):
            values[field] = quantities.parse_size(text, option, allowed, (rate_bps, path_rtt_ms))
        else:
            values[field] = quantity.parse(text, option)
    further_sysctl = {} if sysctl is None else parse_sysctl(sysctl)
    mtu_bytes = values.get("mtu_bytes", base.mtu_bytes if base else DEFAULT_MTU_BYTES)
    values |= _buffer(values, packets, mtu_bytes, base) | _changes(rates, rtts)
    rate_bps = values.get("rate_bps", base.rate_bps if base else DEFAULT_RATE_BPS)
    so_far = PathSoFar(base, rate_bps, path_rtt_ms, mtu_bytes)
    of_mechanisms, given = _of_mechanisms(so_far, texts)
    if base is None:
        return custom_path(path_rtt_ms, {**values, **of_mechanisms, "sysctl": further_sysctl})
    of_rate = {"rate_changes": None, "rate_trace": ()} if "rate" in texts else {}
    of_rtt = {"rtt_changes": None} if rtt is not None else {}
    ended = {
        field: none
        for field, none in {**of_rate, **of_rtt}.items()
        if field not in values and getattr(base, field)
    }
    sources = {
        field: _SOURCE.format(name=base.name, reason=reason, source=source)
        for field, source in base.sources.items()
        if field not in ended
    }
    sources |= dict.fromkeys([*values, *given], _GIVEN)
    for field, value in of_mechanisms.items():
        if field not in given and value != getattr(base, field):
            sources[field] += "; in proportion to RATE"
    values |= {**ended, **of_mechanisms, "sysctl": {**base.sysctl, **further_sysctl}}
    changed = {key: value for key, value in values.items() if value != getattr(base, key)}
    if changed:
        changed |= varied(base.name, base.title, [CHANGED])
    return dataclasses.replace(base, sources=sources, **changed)
