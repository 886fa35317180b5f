"""The simulator against what must hold whatever the rule."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sim.simulate import Setting, run
from testbed import scenariofile

PROGRAM = Path("out/sim/sim")
STOCK = Setting(stock=True)


@pytest.mark.parametrize(("name", "share"), [("bulk-sym", 0.5), ("bulk-asym", 0.75), ("bulk-validate", 3.0 / 6.8)])
def test_stock_shares_by_rate(name: str, share: float) -> None:
    scenario = scenariofile.find(name)
    out = run(PROGRAM, scenario, 10_000, STOCK)
    assert abs(out.first_sent_share - share) < 0.015
    assert out.missed == 0


@pytest.mark.parametrize("name", ["bulk-sym", "bulk-asym"])
@pytest.mark.parametrize("deadline_ms", [10_000, 7_500])
def test_deficit_pays_less_than_the_threshold_and_than_stock(name: str, deadline_ms: int) -> None:
    scenario = scenariofile.find(name)
    stock, threshold, deficit = (
        run(PROGRAM, scenario, deadline_ms, setting)
        for setting in (STOCK, Setting(policy="threshold", alpha_milli=1000), Setting())
    )
    assert deficit.oracle_costly_share < deficit.costly_share < min(threshold.costly_share, stock.costly_share)
    assert deficit.activations < threshold.activations


@pytest.mark.parametrize(("cheap_bps", "costly_bps"), [(24_000_000, 40_000_000), (40_000_000, 40_000_000)])
def test_a_cheap_path_that_is_fast_enough_becomes_known(cheap_bps: int, costly_bps: int) -> None:
    """Windows for a whole chunk leave decisions little to see: most of it is on its way at once."""
    rows = [
        {"name": name, "cost": cost, "rate_bps": rate, "delay_ms": 50}
        for name, cost, rate in (("P", 1, cheap_bps), ("C", 10, costly_bps))
    ]
    scenario = scenariofile.parse(
        {
            "name": "fast",
            "title": "A stream that the cheap link carries by itself",
            "load": {"chunks": 20, "chunk_bytes": 2_000_000, "period_ms": 1_000},
            "plan": {"deadline_ms": [1_000]},
            "path": rows,
        },
        Path("fast.toml"),
    )
    out = run(PROGRAM, scenario, 1_000, Setting())
    assert out.oracle_costly_share == 0
    assert out.missed == 0
    # what the first chunk puts there while nobody knows: 1 / 16 of it, and fragments
    assert out.costly_share < 0.04


def test_nothing_is_lost_and_the_same_seed_repeats() -> None:
    scenario = scenariofile.find("stream-triangle")
    first, second = (run(PROGRAM, scenario, 1000, Setting()) for _ in range(2))
    assert first == second
    assert None not in first.completion_ms
    assert list(first.completion_ms) == sorted(first.completion_ms)


def test_refuses_what_it_does_not_understand() -> None:
    done = subprocess.run([PROGRAM], input="run fast", capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "sim: stdin: expected run END_NS SNDBUF STOCK POLICY ALPHA SEED\n"
