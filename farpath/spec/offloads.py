"""Offloads: work of a TCP that an end host leaves to its card, as ethtool's features."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

TSO, GSO, GRO, CHECKSUM = "tso", "gso", "gro", "checksum"
#: The features of each offload, as ``ethtool -k`` prints them, by their names for ``ethtool -K``.
#: The first of several stands for all of them, and is on if one is. TSO: the card splits what TCP
#: hands over; GSO: the kernel does, just before the card; GRO: the kernel joins what arrives;
#: checksum: the card sums what it sends and checks what it receives.
FEATURES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    TSO: {"tso": ("tcp-segmentation-offload", "tx-tcp-segmentation", "tx-tcp6-segmentation")},
    GSO: {"gso": ("generic-segmentation-offload",)},
    GRO: {"gro": ("generic-receive-offload",)},
    CHECKSUM: {"tx": ("tx-checksumming",), "rx": ("rx-checksumming",)},
}
OFFLOADS = tuple(FEATURES)
#: Those that are off on every port of a path: with any of them, netem and tbf see packets of up to
#: 64 KB instead of the path's. What a path's ports do with checksums costs nothing and stays.
SEGMENTATION = (TSO, GSO, GRO)
#: How many segments TCP may hand over at once: one, or as many as Linux allows (GSO_MAX_SEGS in
#: include/linux/netdevice.h).
ONE_SEGMENT, MOST_SEGMENTS = 1, 65_535


@dataclass(frozen=True)
class Feature:
    """A feature of a port in its wanted state: its name for ``ethtool -K``, and those printed."""

    short: str
    printed: tuple[str, ...]
    on: bool


def wanted_features(offloads: Collection[str] | None) -> tuple[Feature, ...]:
    """Return the features of a port that are set, in their wanted state.

    ``offloads``: those of an end host's port; None for a port of the path, and for end hosts of
    whose cards a plan says nothing.

    >>> wanted_features(None)[0]
    Feature(short='tso', printed=('tcp-segmentation-offload',), on=False)
    """
    chosen = SEGMENTATION if offloads is None else OFFLOADS
    return tuple(
        Feature(
            short, printed if name in (offloads or ()) else printed[:1], name in (offloads or ())
        )
        for name in chosen
        for short, printed in FEATURES[name].items()
    )


def segments_at_once(offloads: Collection[str] | None) -> int:
    """Return how many segments TCP may hand to a port at once.

    >>> segments_at_once(None), segments_at_once(("gro",)), segments_at_once(("gso",))
    (1, 1, 65535)
    """
    return MOST_SEGMENTS if {TSO, GSO} & set(offloads or ()) else ONE_SEGMENT


def joins_segments(offloads: Collection[str] | None) -> bool:
    """Whether a host may join segments that arrive.

    >>> joins_segments(None), joins_segments((GRO, CHECKSUM))
    (False, True)
    """
    return GRO in (offloads or ())
