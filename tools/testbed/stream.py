"""The bytes that are sent: pseudo-random, different at every place that could be mixed up."""

from __future__ import annotations

import hashlib
import random

# A prime, so that a shift by any round number of bytes changes the content.
_PERIOD_BYTES = 1_048_573


class Source:
    """An endless stream that hands out pieces without copying."""

    def __init__(self, seed: int) -> None:
        once = random.Random(seed).randbytes(_PERIOD_BYTES)
        self._data = memoryview(once + once)

    def piece(self, offset: int, most: int) -> memoryview:
        at = offset % _PERIOD_BYTES
        return self._data[at : at + min(most, _PERIOD_BYTES)]

    def digest(self, length: int) -> str:
        """What the first ``length`` bytes hash to."""
        state, at = hashlib.sha256(), 0
        while at < length:
            block = self.piece(at, length - at)
            state.update(block)
            at += len(block)
        return state.hexdigest()
