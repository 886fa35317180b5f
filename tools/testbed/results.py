"""results.json: one object per experiment; the same runs give the same bytes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path as File
from typing import Any

from .cellspec import Cell
from .errors import MeasurementError
from .fields import read_json
from .metrics import METRICS
from .scenario import STOCK, Scenario
from .score import Score

SCHEMA = 1
# Of a host that ran without a guest.
NATIVE_ACCEL = "native"
# in the folder of an experiment
NAME = "results.json"
_DIGITS = 6


@dataclass(frozen=True)
class Host:
    """On what it ran."""

    kernel: str
    clock: str
    accel: str
    cpus: int


@dataclass(frozen=True)
class Finished:
    """A cell that was run and scored; ``series`` is relative to results.json, ``known`` has the
    oracle's links, if they are not the cell's."""

    cell: Cell
    score: Score
    series: str | None
    known: Scenario | None = None

    @property
    def capacity_bps(self) -> dict[str, int | None] | None:
        """Of the oracle's links; None: they are those that were run."""
        return self.known and {path.name: path.rate_bps for path in self.known.paths}


def document(version: str, host: Host, command: str, runs: list[Finished]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "project_version": version,
        "command": command,
        "host": asdict(host),
        "runs": [_run(done, stock_beside(done, runs)) for done in runs],
    }


def stock_beside(done: Finished, runs: list[Finished]) -> Finished | None:
    """The run of stock MPTCP that differs in nothing else."""
    for other in runs:
        same = (other.cell.scenario, other.cell.deadline_ms, other.cell.seed) == (
            done.cell.scenario,
            done.cell.deadline_ms,
            done.cell.seed,
        )
        if same and other.cell.protocol == STOCK:
            return other
    return None


def _run(done: Finished, stock: Finished | None) -> dict[str, Any]:
    cell, score = done.cell, done.score
    scenario = cell.scenario
    efficiency = score.savings_efficiency(stock.score) if stock else None
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "protocol": cell.protocol,
        "protocol_title": cell.protocol_title,
        "scheduler": cell.scheduler,
        "alpha": cell.alpha,
        "seed": cell.seed,
        "settings": dict(cell.settings),
        "load": scenario.load.kind,
        "congestion": scenario.connection.congestion,
        "ip": scenario.connection.ip,
        "deadline_ms": cell.deadline_ms,
        "period_ms": scenario.load.period_ms,
        "chunk_bytes": scenario.load.chunk_bytes,
        "chunks": scenario.load.chunks,
        "missed": score.missed,
        "missed_kernel": score.missed_kernel,
        "missed_own": score.missed_own,
        "avoidable_missed": score.avoidable_missed,
        "completion_ms": list(score.completion_ms),
        "delivered_bytes": score.delivered_bytes,
        "paths": [asdict(path) for path in score.paths],
        "capacity_bps": done.capacity_bps,
        "costly_share": _rounded(score.costly_share),
        "oracle_costly_share": _rounded(score.oracle_costly_share),
        "excess": _rounded(score.excess),
        "savings_efficiency": _rounded(efficiency),
        "overhead": _rounded(score.overhead),
        **{name: _rounded(each(cell, score)) for name, each in METRICS.items()},
        "series": done.series,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def read(folder: File) -> dict[str, Any]:
    """What a command left there, to its end."""
    file = folder / NAME
    if not file.exists():
        raise MeasurementError(f"{folder}: not measured yet: no {NAME}")
    content: dict[str, Any] = read_json(file, "figures that testbed wrote")
    return content


def write(file: File, content: dict[str, Any]) -> None:
    """Atomically: a reader sees the old file or the whole new one."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    beside = file.with_name(file.name + ".new")
    beside.write_text(text)
    beside.replace(file)
