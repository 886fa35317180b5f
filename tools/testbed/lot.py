"""Networks that nobody chose: rates, delays, chunks and deadlines, drawn by lot.

Links are steady, or one of them changes.
The simulator tries hundreds of them (``sim.lot``); here some run in the kernel, beside its own
scheduler. Most of what there is to find is found at their edges. The oracle's links are fluid and
need no start; what it meets with nothing to spare no scheduler does.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from statistics import fmean
from typing import Any

from . import changes
from .cellspec import Cell
from .changes import Change
from .scenario import ADAPTIVE, MPDPA, STOCK, Connection, Load, Path, Plan, Scenario
from .scenariofile import queue_bytes, steady
from .table import markdown, percent

COSTS = (1, 10, 30)
DELAYS_MS = (5, 20, 50, 100)
PERIODS_MS = (40, 100, 250, 500, 1000, 2000)
# of the period: the time that a chunk has, but four ways of the longest link and 50 ms at least
DEADLINES = (0.5, 1, 1, 2)
# of what all links carry in that time, or in a period: a chunk
LEAST_LOAD, MOST_LOAD = 0.2, 0.85
LASTS_MS = 20_000
LEAST_CHUNKS = 20
# Networks, unless the command line says otherwise; of the short form, which cuts chunks, too.
COUNT, QUICK_COUNT, QUICK_CHUNKS = 12, 2, 4
MOST = 100_000
BUFFER_BYTES = 8_000_000
# What the networks have in turn.
CONGESTION = ("bbr", "cubic")


@dataclass(frozen=True)
class Network:
    """One that was drawn."""

    rates_bps: tuple[int, ...]
    delays_ms: tuple[int, ...]
    period_ms: int
    deadline_ms: int
    chunk_bytes: int
    change: Change | None = None

    @property
    def chunks(self) -> int:
        lasts_ms = changes.LASTS_MS if self.change else LASTS_MS
        return max(LEAST_CHUNKS, lasts_ms // self.period_ms)

    def _path(self, link: int) -> Path:
        path = steady(f"P{COSTS[link]}", COSTS[link], self.rates_bps[link], self.delays_ms[link])
        if self.change is None or self.change.link != link:
            return path
        shape = self.change.rates(self.rates_bps[link])
        return replace(path, rates=shape, queue_bytes=queue_bytes(shape))

    def scenario(
        self, name: str = "lot", congestion: str = CONGESTION[0], chunks: int | None = None
    ) -> Scenario:
        """It as the testbed has them; ``chunks``: another number of them."""
        paths = tuple(self._path(link) for link in range(len(self.rates_bps)))
        return Scenario(
            name,
            f"{self}, {congestion}",
            Connection(paths[0].name, congestion, BUFFER_BYTES, 4),
            Load(chunks or self.chunks, self.chunk_bytes, self.period_ms),
            paths,
            Plan((self.deadline_ms,), (), (), (), (1,)),
        )

    def __str__(self) -> str:
        links = (
            f"{rate / 1e6:.1f} Mbit/s {delay} ms"
            for rate, delay in zip(self.rates_bps, self.delays_ms, strict=True)
        )
        chunks = f"{self.chunk_bytes} bytes each {self.period_ms} ms within {self.deadline_ms} ms"
        changing = f"; {self.change}" if self.change else ""
        return f"{', '.join(links)}: {chunks}{changing}"


def draw(seed: int, count: int, paths: int = 2, *, changing: bool = False) -> Iterator[Network]:
    """As many networks of so many links; the same ones for the same seed."""
    lot, changed = random.Random(seed), random.Random(f"{seed} changes")
    for _ in range(count):
        mbps = [10 ** lot.uniform(-0.2, 1.7) for _ in range(paths)]
        delays_ms = [lot.choice(DELAYS_MS) for _ in range(paths)]
        period_ms = lot.choice(PERIODS_MS)
        deadline_ms = max(int(lot.choice(DEADLINES) * period_ms), 4 * max(delays_ms) + 50)
        change = changes.draw(changed, paths) if changing else None
        mean_mbps = sum(mbps)
        if change is not None:
            mean_mbps -= mbps[change.link] * (1 - change.mean)
        carried = mean_mbps * 1e6 / 8 * min(period_ms, deadline_ms) / 1000
        yield Network(
            tuple(int(rate * 1e6) for rate in mbps),
            tuple(delays_ms),
            period_ms,
            deadline_ms,
            max(2000, int(carried * lot.uniform(LEAST_LOAD, MOST_LOAD))),
            change,
        )


def cells(networks: Iterable[Network], chunks: int | None = None) -> list[Cell]:
    """Of each network ours and the kernel's scheduler, by the same deadline."""
    congestion = cycle(CONGESTION)
    return [
        Cell(scenario, protocol, scenario.plan.deadline_ms[0], alpha, 1)
        for scenario in (
            network.scenario(f"lot-{i}", next(congestion), chunks)
            for i, network in enumerate(networks, 1)
        )
        for protocol, alpha in ((MPDPA, ADAPTIVE), (STOCK, None))
    ]


def table(content: dict[str, Any]) -> str:
    """results.json as Markdown: a sentence, and a row for each network."""
    head = (
        "network", "chunks", "mpdpa: late", "which the oracle meets", "costly share", "oracle",
        "MPTCP, default scheduler: late", "costly share",
    )  # fmt: skip
    rows = [
        (
            run["title"], len(run["completion_ms"]), run["missed"], run["avoidable_missed"],
            percent(run["costly_share"]), percent(run["oracle_costly_share"]),
            beside["missed"], percent(beside["costly_share"]),
        )
        for run, beside in zip(*_sides(content), strict=True)
    ]  # fmt: skip
    return f"{summary(content)}\n\n{markdown(head, rows)}"


def summary(content: dict[str, Any]) -> str:
    """results.json as a sentence."""
    ours, stock = _sides(content)
    chunks = sum(len(run["completion_ms"]) for run in ours)
    counted = f"{len(ours)} network{'s' if len(ours) != 1 else ''}, {chunks} chunks"
    return (
        f"{counted}. mpdpa: {_total(ours, 'missed')} late, of which "
        f"{_total(ours, 'avoidable_missed')} that the oracle meets; {_beyond(ours)} beyond its "
        f"costly share. MPTCP, default scheduler: {_total(stock, 'missed')}, of which "
        f"{_total(stock, 'avoidable_missed')}; {_beyond(stock)}."
    )


def _sides(content: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Our runs and stock MPTCP's, of the same networks in the same order."""
    ours = [run for run in content["runs"] if run["protocol"] == MPDPA]
    return ours, [run for run in content["runs"] if run["protocol"] != MPDPA]


def _total(runs: list[dict[str, Any]], key: str) -> int:
    return sum(run[key] for run in runs)


def _beyond(runs: list[dict[str, Any]]) -> str:
    return f"{fmean(run['excess'] for run in runs) * 100:.1f} points"
