"""From a run's counters to the figures that are compared; the definitions are the scenarios'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import oracle
from .cellspec import Cell
from .checks import first_sent
from .errors import MeasurementError
from .scenario import REQUESTS, Scenario

MS = 10**6
# Weights of missed chunks, costly share and overhead.
RELIABILITY = (0.60, 0.25, 0.15)
SAVINGS = (0.10, 0.80, 0.10)


@dataclass(frozen=True)
class PathScore:
    name: str
    cost: int
    rate_bps: int | None
    trace: str | None
    payload_bytes: int
    first_sent_bytes: int
    wire_bytes: int
    resent_bytes: int
    activations: int
    queue_drops: int


@dataclass(frozen=True)
class Score:
    """Everything that a run says by itself; what needs stock MPTCP beside it comes later.

    Of requests there is no oracle: it knows when they can be delivered, and a run when they were
    answered.
    """

    completion_ms: tuple[float | None, ...]
    missed: int
    missed_kernel: int | None
    missed_own: int | None
    avoidable_missed: int | None
    delivered_bytes: int
    paths: tuple[PathScore, ...]
    costly_share: float
    costly_activations: int
    oracle_costly_share: float | None
    overhead: float
    busy_ns: int | None

    @property
    def excess(self) -> float | None:
        oracle = self.oracle_costly_share
        return None if oracle is None else self.costly_share - oracle

    @property
    def busy_ns_per_byte(self) -> float | None:
        """What both hosts and all links between them cost the processors; None: not counted."""
        return None if self.busy_ns is None else self.busy_ns / self.delivered_bytes

    def savings_efficiency(self, stock: Score) -> float | None:
        """Of what stock MPTCP's costly share could fall by, how much of it did."""
        if self.oracle_costly_share is None:
            return None
        possible = stock.costly_share - self.oracle_costly_share
        if possible <= 0:
            return None
        return (stock.costly_share - self.costly_share) / possible

    def utility(self, weights: tuple[float, float, float]) -> float:
        missed = self.missed / len(self.completion_ms)
        parts = (missed, self.costly_share, self.overhead)
        pairs = zip(weights, parts, strict=True)
        return sum(weight * (1 - min(1.0, max(0.0, part))) for weight, part in pairs)


def score(cell: Cell, raw: dict[str, Any], known: Scenario | None = None) -> Score:
    """``raw`` is what the cell measured; ``known`` has the oracle's links, if not the cell's."""
    met = [_met(ns, cell.deadline_ms) for ns in raw["completion_ns"]]
    avoidable, least_share = _beside_oracle(cell, known or cell.scenario, met)
    paths = tuple(_path(cell, name, counts) for name, counts in raw["paths"].items())
    costly = cell.scenario.costly
    delivered = raw["delivered_bytes"]
    if not delivered:
        raise MeasurementError(f"{cell.label}: nothing was delivered")
    kernel = raw["kernel_chunks"]
    return Score(
        completion_ms=tuple(_ms(ns) for ns in raw["completion_ns"]),
        missed=met.count(False),
        missed_kernel=None if kernel is None else kernel["missed"],
        missed_own=raw.get("own_missed"),
        avoidable_missed=avoidable,
        delivered_bytes=delivered,
        paths=paths,
        costly_share=sum(p.payload_bytes for p in paths if p.name in costly) / delivered,
        costly_activations=sum(p.activations for p in paths if p.name in costly),
        oracle_costly_share=least_share,
        overhead=sum(p.wire_bytes for p in paths) / delivered - 1,
        busy_ns=raw.get("busy_ns"),
    )


def _beside_oracle(cell: Cell, known: Scenario, met: list[bool]) -> tuple[int | None, float | None]:
    """Misses that full speed would have avoided, and the least costly share."""
    if cell.scenario.load.kind == REQUESTS:
        return None, None
    verdict = oracle.of(known, cell.deadline_ms)
    pairs = zip(met, verdict.meetable, strict=True)
    return sum(could and not did for did, could in pairs), verdict.costly_share


def _met(completion_ns: int | None, deadline_ms: int | None) -> bool:
    if completion_ns is None:
        return False
    return deadline_ms is None or completion_ns <= deadline_ms * MS


def _ms(ns: int | None) -> float | None:
    return None if ns is None else round(ns / MS, 3)


def _path(cell: Cell, name: str, counts: dict[str, int]) -> PathScore:
    path = next(p for p in cell.scenario.paths if p.name == name)
    fresh = first_sent(counts)
    return PathScore(
        name=name,
        cost=path.cost,
        rate_bps=path.rate_bps,
        trace=path.trace,
        payload_bytes=counts["sent_bytes"],
        first_sent_bytes=fresh,
        wire_bytes=counts["wire_bytes"],
        resent_bytes=counts["sent_bytes"] - fresh,
        activations=counts["activations"],
        queue_drops=counts["drops"],
    )
