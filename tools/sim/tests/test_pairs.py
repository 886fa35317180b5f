"""Networks that nobody tuned for: steady links of any rate, delay and queue, and what may be asked of them."""

from __future__ import annotations

import math
import random

from sim import links
from sim.simulate import PROGRAM, Setting, run
from testbed.scenario import Scenario

NETWORKS, CHUNKS = 120, 4
# Less than this over what all links carry at once is not asked for.
LEAST_SLACK, MOST_SLACK = 1.1, 2.5


def between(rng: random.Random, least: float, most: float) -> float:
    """As likely in one octave as in another."""
    return math.exp(rng.uniform(math.log(least), math.log(most)))


def network(rng: random.Random, name: str) -> Scenario:
    """Two or three links, and a deadline that the cheapest one alone would miss."""
    while True:
        paths = [
            {
                "rate_bps": int(between(rng, 1.5e6, 40e6)),
                "delay_ms": round(between(rng, 5, 120)),
                "queue_ms": round(between(rng, 60, 400)),
            }
            for _ in range(rng.choice([2, 2, 2, 3]))
        ]
        rates = [path["rate_bps"] for path in paths]
        seconds = between(rng, 1, 15)
        chunk_bytes = int(sum(rates) / 8 * seconds)
        deadline = min(seconds * rng.uniform(LEAST_SLACK, MOST_SLACK), 0.97 * chunk_bytes * 8 / rates[0])
        period = deadline * rng.uniform(1, 1.3)
        if deadline >= seconds * LEAST_SLACK:
            break
    return links.scenario(
        name,
        paths,
        {"chunks": CHUNKS, "chunk_bytes": chunk_bytes, "period_ms": int(period * 1000)},
        int(deadline * 1000),
        {"congestion": "bbr", "buffer_bytes": 4_000_000},
    )


def test_chunks_are_in_time_on_any_steady_links() -> None:
    """The first chunk may be late for slow start, which fluid links do not have; the others hardly ever."""
    rng = random.Random(7)
    avoidable = stock_avoidable = late = 0
    for number in range(NETWORKS):
        scenario = network(rng, f"network{number}")
        (deadline_ms,) = scenario.plan.deadline_ms
        ours, stock = (run(PROGRAM, scenario, deadline_ms, Setting(stock=each)) for each in (False, True))
        avoidable += ours.avoidable_missed
        stock_avoidable += stock.avoidable_missed
        for chunk in range(1, CHUNKS):
            at = ours.completion_ms[chunk]
            late += at is None or at > scenario.load.release_ms(chunk) + deadline_ms
    print(f"late after the first: {late} of {NETWORKS * (CHUNKS - 1)}; avoidable: {avoidable}, stock {stock_avoidable}")
    assert late <= 0.03 * NETWORKS * (CHUNKS - 1)
    assert avoidable < 0.3 * stock_avoidable
