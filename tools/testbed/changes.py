"""Links that change, by lot: slower for a while, gone for a while, in waves, or like a saw."""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import fmean

from .rates import Rates

STEP_MS = 10
LASTS_MS = 30_000
STEP, SWING, GAP, WAVE, SAW = "step", "swing", "gap", "wave", "saw"
KINDS = (STEP, SWING, GAP, WAVE, SAW)
PERIOD_MS = (400, 20_000)
GONE_MS = (200, 5000)
# what is left of the rate at its lowest, unless the link is gone
LOW = (0.03, 0.6)


@dataclass(frozen=True)
class Change:
    """Of one link, over and over; once where the period is as long as the run.

    A saw goes up from ``low`` and falls at once; a wave comes down as it went up.
    """

    link: int
    kind: str
    period_ms: int
    from_ms: int  # the lowest rate begins then, of each period
    low_ms: int  # and lasts so long
    low: float

    def rates(self, bps: int) -> Rates:
        """What a link carries that would carry ``bps``."""
        return Rates(STEP_MS, tuple(round(bps * share) for share in self._shares))

    @property
    def mean(self) -> float:
        """Of that."""
        return fmean(self._shares)

    @property
    def _shares(self) -> list[float]:
        times = range(0, self.period_ms, STEP_MS)
        return [self._share((ms - self.from_ms) % self.period_ms) for ms in times]

    def _share(self, ms: int) -> float:
        if ms < self.low_ms:
            return self.low
        if self.kind not in (WAVE, SAW):
            return 1.0
        height = (ms - self.low_ms) / (self.period_ms - self.low_ms)
        if self.kind == WAVE:
            height = 1 - abs(2 * height - 1)
        return self.low + (1 - self.low) * height

    def __str__(self) -> str:
        return (
            f"link {self.link + 1} in a {self.kind} to {self.low:.2f} of that, from"
            f" {self.from_ms / 1000:g} s for {self.low_ms / 1000:g} of each"
            f" {self.period_ms / 1000:g} s"
        )


def draw(lot: random.Random, links: int) -> Change:
    """One more."""
    kind = lot.choice(KINDS)
    low = 0.0 if kind == GAP else _between(lot, *LOW)
    low_ms = 0
    if kind == STEP:
        period_ms = LASTS_MS
        low_ms = _steps(lot.uniform(0.2, 0.8) * period_ms)
    elif kind == GAP:
        low_ms = _steps(_between(lot, *GONE_MS))
        period_ms = lot.choice((LASTS_MS, _steps(_between(lot, 2 * low_ms, LASTS_MS))))
    else:
        period_ms = _steps(_between(lot, *PERIOD_MS))
        if kind == SWING:
            low_ms = _steps(lot.uniform(0.2, 0.8) * period_ms)
    from_ms = _steps(lot.uniform(0, period_ms))
    return Change(lot.randrange(links), kind, period_ms, from_ms, low_ms, low)


def _between(lot: random.Random, least: float, most: float) -> float:
    """As often in each part that is so many times as large as the one before."""
    return least * (most / least) ** lot.random()


def _steps(ms: float) -> int:
    return round(ms / STEP_MS) * STEP_MS
