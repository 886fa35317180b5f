"""The pairwise set is one, and capacities that were measured are what a run is judged by."""

from __future__ import annotations

from itertools import combinations, product

from testbed import oracle, robust
from testbed.frames import payload_share


def test_every_pair_of_conditions_meets() -> None:
    chosen = robust.conditions()
    assert len(chosen) <= 12
    assert len({condition.name for condition in chosen}) == len(chosen)
    factors = {
        "congestion": robust.CONGESTION,
        "delay_ms": robust.DELAY_MS,
        "loss_percent": robust.LOSS_PERCENT,
        "buffer_bytes": robust.BUFFER_BYTES,
    }
    for one, other in combinations(factors, 2):
        met = {(getattr(each, one), getattr(each, other)) for each in chosen}
        assert met == set(product(factors[one], factors[other]))


def test_slack_is_over_what_the_paths_carried() -> None:
    condition = robust.conditions()[0]
    carried = 500_000.0
    for slack, cell in zip(robust.SLACK, robust.together(condition, carried), strict=True):
        assert cell.deadline_ms is not None
        load = cell.scenario.load
        assert abs(2 * carried * cell.deadline_ms / 1000 - load.chunk_bytes * (1 + slack)) < 1000
        as_measured = robust.judged(cell, carried)
        verdict = oracle.judge(oracle.links_of(as_measured.scenario), load, cell.deadline_ms)
        assert all(verdict.meetable)
        cheap = carried * cell.deadline_ms / 1000 / load.chunk_bytes
        assert abs(verdict.costly_share - (1 - cheap)) < 0.001


def test_capacity_counts_headers_once() -> None:
    cell = robust.together(robust.conditions()[0], 600_000.0)[0]
    path = robust.judged(cell, 600_000.0).scenario.paths[0]
    assert abs(path.rates.mean_bps * payload_share(4, multipath=True) / 8 - 600_000) < 1


def test_random_losses_are_averaged() -> None:
    lossy, clean = (
        next(each for each in robust.conditions() if bool(each.loss_percent) is wanted)
        for wanted in (True, False)
    )
    assert len({cell.seed for cell in robust.alone(lossy)}) == 3
    assert len(robust.together(lossy, 500_000.0)) == 3 * len(robust.SLACK)
    assert len(robust.alone(clean)) == 1
