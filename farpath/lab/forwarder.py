"""Forwarder: copies output of a guest's programs to streams of this process, as it appears."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path as FilePath
from typing import IO

#: Real seconds between two looks for new output.
LOOK_S = 0.02
#: Most bytes that are copied at once.
_PART_BYTES = 1 << 20


class Forwarder:
    """Copies the output in files of the shared directory to streams, as it appears."""

    def __init__(self, streams: dict[FilePath, IO[bytes]]) -> None:
        self._streams = streams
        self._at = dict.fromkeys(streams, 0)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Forwarder:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._ended.wait(LOOK_S):
            self.forward()
        self.forward()

    def forward(self) -> None:
        """Copy new output."""
        with self._lock:
            self._copy()

    def _copy(self) -> None:
        for file, stream in self._streams.items():
            if not file.exists():
                continue
            with file.open("rb") as output:
                output.seek(self._at[file])
                while data := output.read(_PART_BYTES):
                    self._at[file] += len(data)
                    # The reader may have seen enough, as head
                    with suppress(BrokenPipeError):
                        stream.write(data)
                        stream.flush()
