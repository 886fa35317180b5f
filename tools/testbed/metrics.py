"""Figures of a run beyond those that every experiment has; each becomes a key of results.json.

A function that takes a run and returns a number, decorated with ``metric``, is all it takes.
"""

from __future__ import annotations

from collections.abc import Callable

from .cellspec import Cell
from .score import RELIABILITY, SAVINGS, Score

Metric = Callable[[Cell, Score], float | None]
METRICS: dict[str, Metric] = {}


def metric(function: Metric) -> Metric:
    """Adds it under its name; None where it does not apply."""
    METRICS[function.__name__] = function
    return function


@metric
def utility_reliability(_cell: Cell, score: Score) -> float:
    return score.utility(RELIABILITY)


@metric
def utility_savings(_cell: Cell, score: Score) -> float:
    return score.utility(SAVINGS)


@metric
def mean_chunk_ms(_cell: Cell, score: Score) -> float | None:
    """How long a chunk took, of those that were complete."""
    times = [ms for ms in score.completion_ms if ms is not None]
    return sum(times) / len(times) if times else None


@metric
def price_per_megabyte(_cell: Cell, score: Score) -> float:
    """What was put on each path times its cost, by what was delivered."""
    price = sum(path.cost * path.payload_bytes for path in score.paths)
    return price / score.delivered_bytes


@metric
def busy_ns_per_byte(_cell: Cell, score: Score) -> float | None:
    return score.busy_ns_per_byte
