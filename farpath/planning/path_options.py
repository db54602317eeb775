"""Inputs: paths from files and from the command line, with where each value is from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from farpath.base.errors import BadInputError
from farpath.planning import quantities
from farpath.planning.end_host_sysctls import OWN_SETTINGS as OWN_SETTINGS
from farpath.planning.end_host_sysctls import check_setting
from farpath.planning.path_files import OPTIONAL_FIELDS, SETTING_TEXT, named_paths, path_by_name
from farpath.planning.stack_catalog import LARGEST_BUFFER_BYTES
from farpath.spec.background import PART_RANGE, RATE_BPS_RANGE, Background
from farpath.spec.path import BUFFER_BYTES_RANGE, ETHERNET_HEADER_BYTES, WINDOW_BYTES_RANGE, Path

if TYPE_CHECKING:
    pass

DEFAULT_PATH = "cern"
#: What a path may be given on the command line beside its RTT and other traffic, by the
#: option's name: the field, and what reads its text.
FIELDS: Mapping[str, tuple[str, Callable[[str], float]]] = {
    "rate": ("rate_bps", quantities.parse_rate_bps),
    "buffer": ("buffer_bytes", quantities.parse_bytes),
    "loss": ("loss", quantities.parse_fraction),
    "mtu": ("mtu_bytes", quantities.parse_mtu),
    "window": ("window_bytes", quantities.parse_window),
    "jitter": ("jitter_ms", quantities.parse_jitter_ms),
    "reorder": ("reorder", partial(quantities.parse_fraction, name="REORDER")),
    "duplicate": ("duplicate", partial(quantities.parse_fraction, name="DUPLICATE")),
}
#: What a path gets whose RTT is no named path's.
DEFAULT_RATE_BPS = 450_000_000
DEFAULT_MTU_BYTES = 1500
DEFAULT_LOSS = 0.0
#: Sources and their mean turns in s where a path without other traffic is given some.
DEFAULT_SOURCES = 4
DEFAULT_TURN_S = 20.0
#: How other traffic of a constant bit rate begins.
CONSTANT = "cbr:"
#: A buffer of fewer frames would drop a slow start's ordinary bursts.
LEAST_BUFFER_FRAMES = 100
LEAST_WINDOW_BYTES = 16_777_216


def _base_path(name: str | None, rtt_ms: float | None) -> tuple[Path, str] | None:
    """The named path meant, and why that one; None for an RTT that is no path's."""
    if name is not None:
        path = path_by_name(name)
        if rtt_ms is not None and rtt_ms != path.rtt_ms:
            raise BadInputError(
                f"RTT is {rtt_ms:g} ms but path {name} has {path.rtt_ms:g} ms: give one of them, "
                f"or RTT with RATE, BUFFER and LOSS for a path of your own"
            )
        return path, "as named"
    if rtt_ms is None:
        return path_by_name(DEFAULT_PATH), "the default"
    for other in named_paths():
        path = path_by_name(other)
        if path.rtt_ms == rtt_ms:
            return path, f"its RTT is {rtt_ms:g} ms"
    return None


def sysctl_for(window_bytes: int, like: Mapping[str, str]) -> dict[str, str]:
    """A path's settings with maxima that hold ``window_bytes``."""
    settings = dict(like)
    for name in ("net.core.rmem_max", "net.core.wmem_max"):
        settings[name] = str(max(int(settings[name]), window_bytes))
    # The kernel charges headers too: twice the window, as for cern.
    wanted = min(2 * window_bytes, LARGEST_BUFFER_BYTES)
    for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
        low, start, high = settings[name].split()
        settings[name] = f"{low} {start} {max(int(high), wanted)}"
    return settings


def _own_path(rtt_ms: float, given: dict[str, Any]) -> Path:
    """A path of the user's RTT, everything not ``given`` by stated defaults."""
    rate_bps = given.get("rate_bps", DEFAULT_RATE_BPS)
    mtu_bytes = given.get("mtu_bytes", DEFAULT_MTU_BYTES)
    bdp_bytes = rate_bps * rtt_ms / 8e3
    least = LEAST_BUFFER_FRAMES * (mtu_bytes + ETHERNET_HEADER_BYTES)
    one_bdp = min(max(round(bdp_bytes), least), BUFFER_BYTES_RANGE[1])
    buffer_bytes = given.get("buffer_bytes", one_bdp)
    ideal = max(round(2 * bdp_bytes) + buffer_bytes, LEAST_WINDOW_BYTES)
    window_bytes = given.get("window_bytes", min(ideal, WINDOW_BYTES_RANGE[1]))
    origins = {
        "rtt_ms": "given; no named path has this RTT",
        "rate_bps": "default: 450 Mbit/s, within the 400-700 Mbit/s of path cern",
        "buffer_bytes": f"default: one bandwidth-delay product, at least {LEAST_BUFFER_FRAMES} "
        f"frames and at most 1 GiB",
        "loss": "default: no random loss",
        "mtu_bytes": "default: Ethernet's 1500 bytes",
        "window_bytes": "default: twice the bandwidth-delay product and the buffer, at least "
        "16 MiB"
        + ("; cut to the lab's 512 MiB, which limits the flow" if ideal > window_bytes else ""),
        "sysctl": "default: those of path cern, maxima raised where the window needs it",
    }
    return Path(
        name="custom",
        title=f"custom path, RTT {rtt_ms:g} ms",
        rtt_ms=rtt_ms,
        rate_bps=rate_bps,
        buffer_bytes=buffer_bytes,
        loss=given.get("loss", DEFAULT_LOSS),
        mtu_bytes=mtu_bytes,
        window_bytes=window_bytes,
        sysctl=sysctl_for(window_bytes, path_by_name(DEFAULT_PATH).sysctl),
        sources={**origins, **dict.fromkeys(given, "given")},
        **{name: given[name] for name in OPTIONAL_FIELDS if name in given},
    )


def parse_background(text: str) -> float | Background:
    """Other traffic: the part of a rate that it takes, or traffic of a constant bit rate.

    >>> parse_background("25%")
    0.25
    """
    if text.startswith(CONSTANT):
        rate_bps = quantities.parse_rate_bps(text.removeprefix(CONSTANT), "BACKGROUND: cbr")
        return Background.constant(rate_bps)
    return quantities.parse_background(text)


def _background(path: Path, rate_bps: int, part: float | Background | None) -> Background | None:
    """A path's other traffic at a rate: as large a part of it, or the part or rate wanted."""
    if isinstance(part, Background):
        if part.rate_bps > PART_RANGE[1] * rate_bps:
            raise BadInputError(
                f"BACKGROUND is {CONSTANT}{part.rate_bps}, {part.rate_bps / rate_bps:.0%} of the "
                f"rate of {rate_bps} bit/s: it must be at most {PART_RANGE[1]:.0%}"
            )
        return part
    like = path.background or Background(
        DEFAULT_SOURCES, RATE_BPS_RANGE[0], DEFAULT_TURN_S, DEFAULT_TURN_S
    )
    if part is None:
        if path.background is None or rate_bps == path.rate_bps:
            return path.background
        part = path.background.mean_rate_bps / path.rate_bps
    return Background.taking(part, rate_bps, like.sources, like.on_s, like.off_s)


def _given_background(
    path: Path, rate_bps: int, part: float | Background | None
) -> Background | None:
    """As :func:`_background`; BadInputError for a part so small that no source can send it."""
    found = _background(path, rate_bps, part)
    if part and found is None:
        raise BadInputError(
            f"BACKGROUND is {part:g} of the rate of {rate_bps} bit/s: a source sends at least "
            f"{RATE_BPS_RANGE[0]} bit/s; give a larger part, or none"
        )
    return found


def parse_sysctl(text: str) -> dict[str, str]:
    """Settings of network namespaces, by name.

    >>> parse_sysctl("net.ipv4.tcp_sack=0, net.ipv4.tcp_dsack=0")
    {'net.ipv4.tcp_sack': '0', 'net.ipv4.tcp_dsack': '0'}
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        setting = SETTING_TEXT.fullmatch(part.strip())
        if not setting:
            raise BadInputError(
                f"SYSCTL is '{text}': give settings of the network apart by commas, as in "
                "net.ipv4.tcp_sack=0"
            )
        name = setting[1]
        check_setting(name)
        if name in found:
            raise BadInputError(f"SYSCTL has {name} twice: give it once")
        found[name] = setting[2]
    return found


def resolve_path(
    name: str | None = None,
    rtt: str | None = None,
    background: str | None = None,
    sysctl: str | None = None,
    **texts: str | None,
) -> Path:
    """The path that the command line's texts mean; its ``sources`` say where each value is from.

    ``texts``: by the names of :data:`FIELDS`. ``sysctl``: settings of sender and receiver
    beside the path's own, as in ``net.ipv4.tcp_sack=0``, apart by commas.

    A name or a named path's RTT takes that path, another RTT stated defaults,
    neither the default path; the other texts override. Other traffic stays as large
    a part of the rate as it was unless it is given. A named path with any value
    changed is called ``<name>-changed``: published numbers are not its.
    Raises :class:`BadInputError`.
    """
    rtt_ms = None if rtt is None else quantities.parse_rtt_ms(rtt)
    given: dict[str, Any] = {}
    for word, text in texts.items():
        field, parse = FIELDS[word]
        if text is not None:
            given[field] = parse(text)
    part = None if background is None else parse_background(background)
    settings = {} if sysctl is None else parse_sysctl(sysctl)
    base = _base_path(name, rtt_ms)
    if base is None:
        assert rtt_ms is not None
        path = _own_path(rtt_ms, given)
        return dataclasses.replace(
            path,
            background=_given_background(path, path.rate_bps, part),
            sysctl={**path.sysctl, **settings},
            sources=path.sources if part is None else {**path.sources, "background": "given"},
        )
    path, why = base
    sources = {
        field: f"path {path.name} ({why}): {source}" for field, source in path.sources.items()
    }
    sources |= dict.fromkeys(given, "given")
    given["background"] = _given_background(path, given.get("rate_bps", path.rate_bps), part)
    if part is not None:
        sources["background"] = "given"
    elif given["background"] != path.background:
        sources["background"] += "; in proportion to RATE"
    if settings:
        given["sysctl"] = {**path.sysctl, **settings}
    changed = {key: value for key, value in given.items() if value != getattr(path, key)}
    if changed:
        path = dataclasses.replace(
            path, name=f"{path.name}-changed", title=f"{path.title}, changed", **changed
        )
    return dataclasses.replace(path, sources=sources)
