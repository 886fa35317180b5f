"""
python3 -m sim.lot: what the rule costs on networks that nobody chose, of steady links.

Rates, delays, chunks and deadlines are drawn by lot, so most of what there is to find is
found at their edges. The oracle's links are fluid and need no start; what it meets with
nothing to spare no scheduler does.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean

from rich.console import Console
from rich.progress import track
from testbed.scenario import Scenario

from . import links
from .simulate import PROGRAM, Outcome, Setting, run

DELAYS_MS = (5, 20, 50, 100)
PERIODS_MS = (40, 100, 250, 500, 1000, 2000)
# of the period: the time that a chunk has, but four ways of the longest link and 50 ms at least
DEADLINES = (0.5, 1, 1, 2)
# of what all links carry in that time, or in a period: a chunk
LEAST_LOAD, MOST_LOAD = 0.2, 0.85
LASTS_MS = 20_000
LEAST_CHUNKS = 20
WORKERS = 2


@dataclass(frozen=True)
class Network:
    """One that was drawn."""

    rates_bps: tuple[int, ...]
    delays_ms: tuple[int, ...]
    period_ms: int
    deadline_ms: int
    chunk_bytes: int

    def scenario(self) -> Scenario:
        """It as the testbed has them."""
        return links.scenario(
            "lot",
            [
                {"rate_bps": rate, "delay_ms": delay}
                for rate, delay in zip(self.rates_bps, self.delays_ms, strict=True)
            ],
            {
                "chunks": max(LEAST_CHUNKS, LASTS_MS // self.period_ms),
                "chunk_bytes": self.chunk_bytes,
                "period_ms": self.period_ms,
            },
            self.deadline_ms,
            {"congestion": "bbr", "buffer_bytes": 8_000_000},
        )

    def __str__(self) -> str:
        rates = (
            f"{rate / 1e6:.1f} Mbit/s {delay} ms"
            for rate, delay in zip(self.rates_bps, self.delays_ms, strict=True)
        )
        chunks = f"{self.chunk_bytes} bytes each {self.period_ms} ms within {self.deadline_ms} ms"
        return f"{', '.join(rates)}: {chunks}"


def draw(seed: int, count: int, paths: int = 2) -> Iterator[Network]:
    """As many networks of so many links; the same ones for the same seed."""
    lot = random.Random(seed)
    for _ in range(count):
        mbps = [10 ** lot.uniform(-0.2, 1.7) for _ in range(paths)]
        delays_ms = [lot.choice(DELAYS_MS) for _ in range(paths)]
        period_ms = lot.choice(PERIODS_MS)
        deadline_ms = max(int(lot.choice(DEADLINES) * period_ms), 4 * max(delays_ms) + 50)
        carried = sum(mbps) * 1e6 / 8 * min(period_ms, deadline_ms) / 1000
        yield Network(
            tuple(int(rate * 1e6) for rate in mbps),
            tuple(delays_ms),
            period_ms,
            deadline_ms,
            max(2000, int(carried * lot.uniform(LEAST_LOAD, MOST_LOAD))),
        )


def outcomes(networks: list[Network]) -> Iterator[Outcome]:
    """What the rule does on each, in their order."""

    def one(network: Network) -> Outcome:
        return run(PROGRAM, network.scenario(), network.deadline_ms, Setting(seed=1))

    with ThreadPoolExecutor(WORKERS) as workers:
        yield from workers.map(one, networks)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m sim.lot", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--count", type=int, default=400, help="networks (default: 400)")
    parser.add_argument("--paths", type=int, default=2, help="links of each (default: 2)")
    parser.add_argument("--worst", type=int, default=10, help="to be listed (default: 10)")
    asked = parser.parse_args()
    if asked.count < 1:
        parser.error(f"--count: {asked.count}: expected 1 or more")
    if not 2 <= asked.paths <= len(links.COSTS):
        parser.error(f"--paths: {asked.paths}: expected 2 .. {len(links.COSTS)}")
    if asked.worst < 0:
        parser.error(f"--worst: {asked.worst}: expected 0 or more")
    networks = list(draw(asked.seed, asked.count, asked.paths))
    each: Iterable[Outcome] = outcomes(networks)
    if sys.stderr.isatty():
        each = track(each, total=asked.count, console=Console(stderr=True), transient=True)
    found = list(each)
    chunks = sum(len(out.completion_ms) for out in found)
    print(
        f"{asked.count} networks: {fmean(out.excess for out in found) * 100:.2f} points beyond the"
        f" oracle, {sum(out.avoidable_missed for out in found)} of {chunks} chunks missed that it"
        " would meet"
    )
    worst = sorted(zip(found, networks, strict=True), key=lambda pair: -pair[0].excess)
    for out, network in worst[: asked.worst]:
        missed = f"missed {out.avoidable_missed} of {len(out.completion_ms)}"
        print(f"{out.excess * 100:5.1f} points, {missed}, {network}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
