"""What a link can carry over time: piecewise constant rates that repeat."""

from __future__ import annotations

import base64
import zlib
from array import array
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from .errors import UsageError
from .frames import FRAME_BYTES

STEP_MS = 100
TRACE_STEP_MS = 1
LOWEST_BPS = 10_000
HIGHEST_BPS = 10_000_000_000


@dataclass(frozen=True)
class Rates:
    """Link rates in bit/s, one per step; after the last step it starts over.

    Rates count whole frames, Ethernet header included, as the kernel's shapers do.
    """

    step_ms: int
    bps: tuple[int, ...]

    @cached_property
    def constant_bps(self) -> int | None:
        return self.bps[0] if len(set(self.bps)) == 1 else None

    @cached_property
    def sums(self) -> tuple[int, ...]:
        """Of the rates up to each step; times the step's length they are bits."""
        return tuple(accumulate(self.bps, initial=0))

    @cached_property
    def peak_bps(self) -> int:
        """The highest over 100 ms: a trace has much higher ones in single milliseconds."""
        return max(self.per_interval(STEP_MS))

    @cached_property
    def least_bps(self) -> int:
        return min(self.per_interval(STEP_MS))

    @property
    def mean_bps(self) -> int:
        return round(self.sums[-1] / len(self.bps))

    @property
    def period_ms(self) -> int:
        return self.step_ms * len(self.bps)

    def per_interval(self, interval_ms: int) -> list[int]:
        """Mean rates of one round, in intervals of at least a step."""
        width = max(1, interval_ms // self.step_ms)
        if len(self.bps) < width:
            return [self.mean_bps]
        ends = range(width, len(self.bps) + 1, width)
        return [round((self.sums[end] - self.sums[end - width]) / width) for end in ends]

    def bytes_until(self, ms: float) -> float:
        """Link bytes that pass from the start until then."""
        if ms <= 0:
            return 0.0
        steps, rest_ms = divmod(ms, self.step_ms)
        rounds, step = divmod(int(steps), len(self.bps))
        whole = rounds * self.sums[-1] + self.sums[step]
        return (whole * self.step_ms + self.bps[step] * rest_ms) / 8000

    def bytes_between(self, from_ms: float, to_ms: float) -> float:
        return max(0.0, self.bytes_until(to_ms) - self.bytes_until(from_ms))

    def packed(self) -> str:
        """All rates as a short text."""
        return base64.b64encode(zlib.compress(array("Q", self.bps).tobytes(), 9)).decode()


def unpacked(step_ms: int, text: str) -> Rates:
    values = array("Q")
    try:
        values.frombytes(zlib.decompress(base64.b64decode(text)))
    except zlib.error as error:
        raise ValueError(str(error)) from None
    return Rates(step_ms, tuple(values))


def constant(bps: int) -> Rates:
    return Rates(STEP_MS, (bps,))


def triangle(low_bps: int, high_bps: int, period_ms: int) -> Rates:
    """Rises from low to high during half a period and falls back during the other half."""
    count = max(2, period_ms // STEP_MS)
    phases = ((i + 0.5) / count for i in range(count))
    heights = (1 - abs(2 * phase - 1) for phase in phases)
    return Rates(STEP_MS, tuple(round(low_bps + (high_bps - low_bps) * h) for h in heights))


def from_trace(path: Path) -> Rates:
    """Reads a mahimahi trace: per line the time in ms of one chance to send a full packet.

    A chance at t ms is spread over the millisecond before it, those at 0 over the first. The
    trace repeats after its last time.
    """
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
        if last > 86_400_000:
            raise UsageError(f"{path}: line {number}: expected at most a day, got {last} ms")
        index = max(0, last - 1)
        counts.extend([0] * (index + 1 - len(counts)))
        counts[index] += 1
    if last == 0:
        raise UsageError(f"{path}: trace: expected at least one time above 0 ms")
    return Rates(TRACE_STEP_MS, tuple(n * FRAME_BYTES * 8000 for n in counts))


def to_trace(rates: Rates) -> str:
    """One round as a mahimahi trace: a line whenever another full packet could pass."""
    lines, sent = [], 0
    for ms in range(1, rates.period_ms + 1):
        chances = int(rates.bytes_until(ms) / FRAME_BYTES)
        lines += [f"{ms}\n"] * (chances - sent)
        sent = chances
    return "".join(lines)
