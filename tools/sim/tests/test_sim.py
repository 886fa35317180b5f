"""The simulator against what must hold whatever the rule."""

from __future__ import annotations

import subprocess

import pytest
from sim import links
from sim.simulate import PROGRAM, Setting, run
from testbed import scenariofile
from testbed.errors import UsageError
from testbed.scenario import Scenario

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
    scenario = links.scenario(
        "fast",
        [{"rate_bps": rate, "delay_ms": 50} for rate in (cheap_bps, costly_bps)],
        {"chunks": 20, "chunk_bytes": 2_000_000, "period_ms": 1_000},
        1_000,
    )
    out = run(PROGRAM, scenario, 1_000, Setting())
    assert out.oracle_costly_share == 0
    assert out.missed == 0
    # what the first chunk puts there while nobody knows: 1 / 16 of it, and fragments
    assert out.costly_share < 0.04


@pytest.mark.parametrize(("cheap", "costly"), [((14_600_000, 21), (7_200_000, 100)), ((14_900_000, 11), (8_400_000, 81))])
def test_a_long_round_trip_does_not_make_a_chunk_late(cheap: tuple[int, int], costly: tuple[int, int]) -> None:
    """The last bytes wait for the path that is sooner, though another has room, and may be used."""
    scenario = links.scenario(
        "long",
        [{"rate_bps": rate, "delay_ms": delay, "queue_ms": 200} for rate, delay in (cheap, costly)],
        {"chunks": 4, "chunk_bytes": 35_000_000, "period_ms": 20_000},
        18_600,
        {"congestion": "bbr", "buffer_bytes": 4_000_000},
    )
    out = run(PROGRAM, scenario, 18_600, Setting())
    assert out.oracle_costly_share > 0.03
    assert out.missed == 0


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


def changed(
    path: int = 1, load: dict[str, object] | None = None, connection: dict[str, object] | None = None, **keys: object
) -> Scenario:
    """Two links that are alike, but for some keys of one, the load, or the connection."""
    rows: list[dict[str, object]] = [{"rate_bps": 8_000_000, "delay_ms": 20} for _ in range(2)]
    rows[path].update(keys)
    chunk = {"chunks": 1, "chunk_bytes": 5_000_000, "period_ms": 10_000}
    return links.scenario("two", rows, {**chunk, **(load or {})}, 10_000, connection)


def test_a_path_works_within_its_windows() -> None:
    scenario = changed(0, up_ms=[[0, 1000], [2000, 60_000]])
    whole, gap = (run(PROGRAM, each, 10_000, Setting()) for each in (changed(), scenario))
    assert (whole.costly_share, whole.missed) == (0, 0)
    # what the cheap path cannot carry in a second
    assert 0.1 < gap.first_sent_share < 0.3
    assert gap.missed == 0
    cut = run(PROGRAM, changed(0, up_ms=[[0, 1000]]), 10_000, Setting())
    second = 1_000_000 * 1420 / 1514
    assert 1 - cut.first_sent_share == pytest.approx(second / 5_000_000, abs=0.03)
    assert cut.missed == 0


def test_packets_are_lost_at_the_rate_that_is_told() -> None:
    out = run(PROGRAM, changed(1, loss_percent=5.0), 10_000, STOCK)
    assert None not in out.completion_ms
    assert out.costly_share / out.first_sent_share - 1 == pytest.approx(0.05, abs=0.02)
    clean, lossy = (run(PROGRAM, each, 10_000, Setting()) for each in (changed(), changed(0, loss_percent=5.0)))
    assert clean.completion_ms[0] < lossy.completion_ms[0]


def test_refuses_paths_that_pause_under_the_kernels_scheduler() -> None:
    with pytest.raises(UsageError, match=r"path\[1\]\.up_ms: the simulator expects .* stock"):
        run(PROGRAM, changed(up_ms=[[0, 1000]]), 10_000, STOCK)


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        (changed(loss_percent=1.0, rate_bps=40_000_000), "path[1].loss_percent: the simulator expects a link of"),
        (changed(up_ms=[[500, 1000]]), "path[1].up_ms: the simulator expects all subflows from the start"),
        (changed(connection={"congestion": "cubic"}), "connection.congestion: the simulator expects bbr"),
        (changed(load={"kind": "requests", "response_bytes": 1}), "load.kind: the simulator expects chunks"),
    ],
)
def test_refuses_what_it_does_not_model(scenario: Scenario, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(PROGRAM, scenario, 10_000, Setting())
    assert str(caught.value).startswith(f"two.toml: {said}")
