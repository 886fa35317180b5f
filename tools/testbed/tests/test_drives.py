"""The made-up drives have the properties that are told of the recorded ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testbed import drives
from testbed.rates import Rates

SEEDS = (1, 2, 3, 17)


def seconds(rates: Rates) -> list[float]:
    """Mbit/s in each second."""
    return [bps / 1e6 for bps in rates.per_interval(1000)]


def pairs(place: str) -> Iterator[tuple[list[float], list[float]]]:
    for seed in SEEDS:
        made = [drives.rates(place, role, seed) for role in drives.ROLES]
        yield seconds(made[0]), seconds(made[1])


def sufficient(preferred: list[float]) -> float:
    """The share of the time in which the preferred path carries the load alone."""
    return sum(mbps >= drives.SUFFICIENT_BPS / 1e6 for mbps in preferred) / len(preferred)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_highway() -> None:
    for preferred, costly in pairs("highway"):
        assert len(preferred) == len(costly) == 480
        assert sufficient(preferred) == pytest.approx(0.38, abs=0.03)
        assert max(costly) == pytest.approx(45, abs=2)
        assert max(preferred) == pytest.approx(22, abs=1)
        assert 1.7 < mean(costly) / mean(preferred) < 2.3
        twice = mean([float(c >= 2 * p) for p, c in zip(preferred, costly, strict=True)])
        assert twice > 0.35
        # Both low for about a minute, in one piece.
        low = [p < 6 and c < 12 for p, c in zip(preferred, costly, strict=True)]
        assert max(sum(low[i : i + 60]) for i in range(len(low) - 60)) >= 48


def test_rural() -> None:
    for preferred, costly in pairs("rural"):
        assert len(preferred) == len(costly) == 780
        assert sufficient(preferred) == pytest.approx(0.22, abs=0.03)
        assert sorted(preferred)[len(preferred) // 2] < 5
        assert mean(costly) == pytest.approx(20, abs=1.5)
        for values in (preferred, costly):
            assert sum(mbps < 0.1 for mbps in values) > 10


def test_city() -> None:
    for preferred, costly in pairs("city"):
        assert len(preferred) == len(costly) == 600
        assert sufficient(preferred) == pytest.approx(0.78, abs=0.03)
        for values in (preferred, costly):
            assert min(values) < 3
            assert 45 < max(values) <= 50
        assert mean([float(20 <= p <= 30) for p in preferred]) > 0.4
        ahead = mean([float(p > c) for p, c in zip(preferred, costly, strict=True)])
        assert 0.3 < ahead < 0.7


def test_a_seed_is_one_drive() -> None:
    once = drives.rates("city", drives.COSTLY, 5)
    drives.rates.cache_clear()
    assert drives.rates("city", drives.COSTLY, 5) == once
    assert drives.rates("city", drives.COSTLY, 6) != once
