"""Steady links get to be known, however little of them the chunks use."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim import links
from sim.simulate import Setting, run

PROGRAM = Path("out/sim/sim")


@pytest.mark.parametrize(
    ("cheap", "costly", "chunk_bytes", "period_ms", "most"),
    [
        # the cheap link brings its first part of a chunk in less time than a sample takes
        ((2_100_000, 20), (1_900_000, 20), 53_147, 250, 0.03),
        # it brings all of a chunk at once, and is never seen to be busy
        ((6_900_000, 20), (15_500_000, 20), 125_616, 500, 0.05),
        # and has 11 ms to spare
        ((16_800_000, 5), (29_600_000, 5), 460_296, 250, 0.1),
    ],
)
def test_a_cheap_link_that_does_is_believed(
    cheap: tuple[int, int],
    costly: tuple[int, int],
    chunk_bytes: int,
    period_ms: int,
    most: float,
) -> None:
    """What it could not show for want of bytes does not make it doubtful: that cost 0.4 or more."""
    deadline_ms = 250
    scenario = links.scenario(
        "known",
        [{"rate_bps": rate, "delay_ms": delay} for rate, delay in (cheap, costly)],
        {"chunks": 20_000 // period_ms, "chunk_bytes": chunk_bytes, "period_ms": period_ms},
        deadline_ms,
        {"congestion": "bbr", "buffer_bytes": 8_000_000},
    )
    outcome = run(PROGRAM, scenario, deadline_ms, Setting(seed=1))
    assert outcome.oracle_costly_share == 0
    assert outcome.costly_share <= most
    assert outcome.missed == 0


def test_a_long_link_is_not_overfilled() -> None:
    """BBR that never leaves its start fills the queue of 100 ms with each chunk, and loses some."""
    deadline_ms = 500
    scenario = links.scenario(
        "long",
        [{"rate_bps": 7_000_000, "delay_ms": 100}, {"rate_bps": 6_700_000, "delay_ms": 5}],
        {"chunks": 40, "chunk_bytes": 245_228, "period_ms": deadline_ms},
        deadline_ms,
        {"congestion": "bbr", "buffer_bytes": 8_000_000},
    )
    outcome = run(PROGRAM, scenario, deadline_ms, Setting(seed=1))
    # all of them at first, while the link is not known; without a pace it was 23, and 0.43
    assert outcome.avoidable_missed <= 8
    assert outcome.costly_share <= 0.25
