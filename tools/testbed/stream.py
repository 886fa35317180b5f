"""The bytes that are sent: pseudo-random, different at every place that could be mixed up."""

from __future__ import annotations

import random

# A prime, so that a shift by any round number of bytes changes the content.
_PERIOD_BYTES = 1_048_573


class Source:
    """An endless stream that hands out pieces without copying."""

    def __init__(self, seed: int) -> None:
        once = random.Random(seed).randbytes(_PERIOD_BYTES)
        self._twice = once + once

    def piece(self, offset: int, most: int) -> memoryview:
        at = offset % _PERIOD_BYTES
        return memoryview(self._twice)[at : at + min(most, _PERIOD_BYTES)]

    def difference(self, offset: int, data: memoryview) -> int | None:
        """Where in the stream ``data``, read at an offset and no longer than the period, first
        differs from it."""
        # compares without copying; a hash of every byte costs a guest more than to deliver it
        if self._twice.startswith(data, offset % _PERIOD_BYTES):
            return None
        pairs = zip(data, self.piece(offset, len(data)), strict=True)
        return next(offset + i for i, (one, other) in enumerate(pairs) if one != other)
