"""Parser of CAPTURE: the places whose packets are captured, and how many bytes of each packet."""

from __future__ import annotations

from farpath.base.errors import BadInputError
from farpath.spec.capture import SNAP_BYTES_RANGE, Capture

EXAMPLE = "sender,bottleneck:128"


def parse_captures(text: str) -> tuple[Capture, ...]:
    """Parse places, separated by commas, each with its bytes of a packet after a colon if given.

    Raises BadInputError for anything else, and for a place that is named twice.

    >>> [str(capture) for capture in parse_captures("sender, bottleneck:96")]
    ['sender', 'bottleneck:96']
    """
    captures = tuple(_parse_capture(part.strip(), text) for part in text.split(","))
    places = [capture.place for capture in captures]
    for place in places:
        if places.count(place) > 1:
            raise BadInputError(f"CAPTURE is '{text}': {place} is there twice; name a place once")
    return captures


def _parse_capture(part: str, text: str) -> Capture:
    place, colon, size = part.partition(":")
    if not place:
        raise BadInputError(
            f"CAPTURE is '{text}': a comma must separate two places, as in {EXAMPLE}"
        )
    if not colon:
        return Capture(place)
    low, high = SNAP_BYTES_RANGE
    if not (size.isascii() and size.isdigit() and len(size) <= 5 and low <= int(size) <= high):
        raise BadInputError(
            f"CAPTURE is '{text}': after {place}: stands how many bytes of each packet are kept, "
            f"from {low} to {high:,}, as in {place}:128"
        )
    return Capture(place, int(size))
