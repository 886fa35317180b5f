"""Made-up drives: pairs of links that change the way they do for a car on its way.

Each link follows a random walk that is drawn back to its mean, slow and fast movement mixed. Its
values are then replaced, by rank, with those of a given distribution: whatever the seed, the
share of time below any rate is the one that the place's table says.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from .rates import STEP_MS, Rates

# What carries 2 MB a second, headers included.
SUFFICIENT_BPS = 17_100_000
PREFERRED, COSTLY = "preferred", "costly"
ROLES = (PREFERRED, COSTLY)


@dataclass(frozen=True)
class Place:
    """``preferred`` and ``costly`` are pairs of a share of the time and the Mbit/s that the link
    stays below for that long; between them straight lines. ``both_low_s`` is a time in which
    neither carries much, ``alike`` how much the two move together."""

    seconds: int
    preferred: tuple[tuple[float, float], ...]
    costly: tuple[tuple[float, float], ...]
    slow_s: float
    alike: float
    both_low_s: float


_ENOUGH = SUFFICIENT_BPS / 1e6
PLACES = {
    "highway": Place(
        seconds=480,
        preferred=((0, 0), (0.12, 2), (0.3, 8), (0.59, _ENOUGH), (0.92, 21), (1, 22)),
        costly=((0, 0.5), (0.12, 5), (0.3, 16), (0.6, 30), (0.92, 41), (1, 45)),
        slow_s=20,
        alike=0.5,
        both_low_s=55,
    ),
    "rural": Place(
        seconds=780,
        preferred=((0, 0), (0.1, 0), (0.5, 3), (0.69, 8), (0.74, _ENOUGH), (0.93, 25), (1, 30)),
        costly=((0, 0), (0.06, 0), (0.18, 12), (0.5, 21), (0.9, 33), (1, 40)),
        slow_s=22,
        alike=0.0,
        both_low_s=0,
    ),
    "city": Place(
        seconds=600,
        preferred=((0, 0), (0.05, 5), (0.21, _ENOUGH), (0.35, 22), (0.65, 27), (0.9, 36), (1, 50)),
        costly=((0, 0), (0.1, 3), (0.5, 18), (0.9, 38), (1, 50)),
        slow_s=12,
        alike=0.0,
        both_low_s=0,
    ),
}
_FAST_S = 0.6
_FAST_SHARE = 0.12
# More than any walk of that length strays.
_FAR = 12.0


@cache
def rates(place: str, role: str, seed: int) -> Rates:
    """One link of a pair; both of a place and seed belong together."""
    where = PLACES[place]
    chance = random.Random(f"{place} {seed}")
    steps = where.seconds * 1000 // STEP_MS
    common, own, other = (_walk(chance, steps, where.slow_s) for _ in range(3))
    low_at = chance.randrange(steps // 4, steps * 3 // 4)
    low = range(low_at, low_at + round(where.both_low_s * 1000 / STEP_MS))
    walk = own if role == PREFERRED else other
    pull, free = math.sqrt(where.alike), math.sqrt(1 - where.alike)
    level = [pull * a + free * b for a, b in zip(common, walk, strict=True)]
    for step in low:
        level[step] -= _FAR
    table = where.preferred if role == PREFERRED else where.costly
    return Rates(STEP_MS, tuple(round(mbps * 1e6) for mbps in _by_rank(level, table)))


def _walk(chance: random.Random, steps: int, slow_s: float) -> list[float]:
    slow = _drawn_back(chance, steps, slow_s)
    fast = _drawn_back(chance, steps, _FAST_S)
    weights = math.sqrt(1 - _FAST_SHARE), math.sqrt(_FAST_SHARE)
    return [weights[0] * a + weights[1] * b for a, b in zip(slow, fast, strict=True)]


def _drawn_back(chance: random.Random, steps: int, seconds: float) -> list[float]:
    """Of mean 0 and variance 1; forgets what was after that many seconds."""
    keep = math.exp(-STEP_MS / 1000 / seconds)
    stir = math.sqrt(1 - keep * keep)
    values = [chance.gauss(0, 1)]
    while len(values) < steps:
        values.append(keep * values[-1] + stir * chance.gauss(0, 1))
    return values


def _by_rank(level: Sequence[float], table: Sequence[tuple[float, float]]) -> list[float]:
    order = sorted(range(len(level)), key=level.__getitem__)
    values = [0.0] * len(level)
    for rank, step in enumerate(order):
        values[step] = _line(table, (rank + 0.5) / len(order))
    return values


def _line(table: Sequence[tuple[float, float]], share: float) -> float:
    for (x0, y0), (x1, y1) in pairwise(table):
        if share <= x1:
            return y0 + (y1 - y0) * (share - x0) / (x1 - x0)
    return table[-1][1]
