"""What a link can carry over time: piecewise constant rates that repeat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from .errors import UsageError
from .frames import FRAME_BYTES

STEP_MS = 100
LOWEST_BPS = 10_000
HIGHEST_BPS = 10_000_000_000


@dataclass(frozen=True)
class Rates:
    """Link rates in bit/s, one per step; after the last step it starts over.

    Rates count whole frames, Ethernet header included, as the kernel's shapers do.
    """

    step_ms: int
    bps: tuple[int, ...]

    @property
    def constant_bps(self) -> int | None:
        return self.bps[0] if len(set(self.bps)) == 1 else None

    @property
    def highest_bps(self) -> int:
        return max(self.bps)

    def at(self, step: int) -> int:
        return self.bps[step % len(self.bps)]

    @cached_property
    def _sums(self) -> tuple[int, ...]:
        return tuple(accumulate(self.bps, initial=0))

    def bytes_until(self, ms: float) -> float:
        """Link bytes that pass from the start until then."""
        if ms <= 0:
            return 0.0
        steps, rest_ms = divmod(ms, self.step_ms)
        rounds, step = divmod(int(steps), len(self.bps))
        whole = rounds * self._sums[-1] + self._sums[step]
        return (whole * self.step_ms + self.bps[step] * rest_ms) / 8000

    def bytes_between(self, from_ms: float, to_ms: float) -> float:
        return max(0.0, self.bytes_until(to_ms) - self.bytes_until(from_ms))

    def changes_between(self, from_ms: float, to_ms: float) -> list[float]:
        """Step boundaries within an interval, none for a constant rate."""
        if self.constant_bps is not None:
            return []
        first = int(from_ms // self.step_ms) + 1
        return [float(i * self.step_ms) for i in range(first, int(to_ms // self.step_ms) + 1)]


def constant(bps: int) -> Rates:
    return Rates(STEP_MS, (bps,))


def triangle(low_bps: int, high_bps: int, period_ms: int) -> Rates:
    """Rises from low to high during half a period and falls back during the other half."""
    count = max(2, period_ms // STEP_MS)
    phases = ((i + 0.5) / count for i in range(count))
    heights = (1 - abs(2 * phase - 1) for phase in phases)
    return Rates(STEP_MS, tuple(round(low_bps + (high_bps - low_bps) * h) for h in heights))


def from_trace(path: Path) -> Rates:
    """Reads a mahimahi trace: per line the time in ms of one chance to send a full packet."""
    try:
        lines = path.read_text().split()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: trace: expected a readable text file ({error})") from None
    counts: list[int] = []
    last = 0
    for number, line in enumerate(lines, 1):
        if not line.isdecimal() or int(line) < last:
            raise UsageError(
                f"{path}: line {number}: expected a time in ms not before the previous one, "
                f"got {line[:20]!r}"
            )
        last = int(line)
        counts.extend([0] * (last // STEP_MS + 1 - len(counts)))
        counts[last // STEP_MS] += 1
    # The last step is only partly covered.
    counts = counts[: last // STEP_MS]
    if not any(counts):
        raise UsageError(f"{path}: trace: expected at least {STEP_MS} ms with a packet in it")
    return Rates(STEP_MS, tuple(n * FRAME_BYTES * 8 * 1000 // STEP_MS for n in counts))
