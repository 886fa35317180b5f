"""Which of two links a connection began on does not matter: what each costs does."""

from __future__ import annotations

from typing import Any

import pytest
from sim import links
from sim.simulate import PROGRAM, Outcome, Setting, run

CHEAP = {"rate_bps": 1_000_000, "delay_ms": 8, "cost": 1}
COSTLY = {"rate_bps": 22_700_000, "delay_ms": 20, "cost": 10}


def over(rows: list[dict[str, Any]]) -> Outcome:
    load = {"chunks": 150, "chunk_bytes": 7_600, "period_ms": 114}
    scenario = links.scenario("order", rows, load, 130, {"congestion": "bbr", "buffer_bytes": 2_000_000})
    return run(PROGRAM, scenario, 130, Setting(seed=1))


@pytest.mark.parametrize("rows", [[CHEAP, COSTLY], [COSTLY, CHEAP]], ids=["cheap first", "costly first"])
def test_what_costs_less_is_first(rows: list[dict[str, Any]]) -> None:
    """Both have nothing to send, as a rule: the first listed got 85 of 100 bytes where it was the other."""
    outcome = over(rows)
    assert outcome.avoidable_missed == 0
    assert outcome.costly_share <= 0.05
