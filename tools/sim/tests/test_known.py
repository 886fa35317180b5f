"""Steady links get to be known, however little of them the chunks use."""

from __future__ import annotations

import pytest
from sim.lot import Network
from sim.simulate import PROGRAM, Setting, run


@pytest.mark.parametrize(
    ("network", "most"),
    [
        # the cheap link brings its first part of a chunk in less time than a sample takes
        (Network((2_100_000, 1_900_000), (20, 20), 250, 250, 53_147), 0.03),
        # it brings all of a chunk at once, and is never seen to be busy
        (Network((6_900_000, 15_500_000), (20, 20), 500, 250, 125_616), 0.05),
        # and has 11 ms to spare
        (Network((16_800_000, 29_600_000), (5, 5), 250, 250, 460_296), 0.1),
        # it is busy for less than a sample takes, each time
        (Network((27_600_000, 29_700_000), (5, 5), 100, 100, 274_773), 0.1),
    ],
)
def test_a_cheap_link_that_does_is_believed(network: Network, most: float) -> None:
    """What it could not show for want of bytes does not make it doubtful: that cost 0.4 or more."""
    outcome = run(PROGRAM, network.scenario(), network.deadline_ms, Setting(seed=1))
    assert outcome.oracle_costly_share == 0
    assert outcome.costly_share <= most
    assert outcome.missed == 0


def test_a_costly_link_that_is_hardly_used_carries_the_shortfall() -> None:
    """It gets too little to ramp up, ever: whole fragments made 0.29 of what has to be 0.12."""
    network = Network((4_000_000, 8_000_000), (20, 20), 500, 450, 230_000)
    outcome = run(PROGRAM, network.scenario(), network.deadline_ms, Setting(seed=1))
    assert outcome.avoidable_missed == 0
    assert outcome.excess <= 0.08


def test_a_long_link_is_not_overfilled() -> None:
    """BBR that never leaves its start fills the queue of 100 ms with each chunk, and loses some."""
    network = Network((7_000_000, 6_700_000), (100, 5), 500, 500, 245_228)
    outcome = run(PROGRAM, network.scenario(), network.deadline_ms, Setting(seed=1))
    # all of them at first, while the link is not known; without a pace it was 23, and 0.43
    assert outcome.avoidable_missed <= 8
    assert outcome.costly_share <= 0.25
