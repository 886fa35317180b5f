"""Under which conditions the scheduler keeps its word: congestion control, delay, loss, buffers.

A pairwise set: any two values of two conditions meet in one combination at least. What a path can
carry is measured first, cold and alone, under the same conditions; a chunk's deadline leaves some
slack over what both paths carry so, and the oracle knows links of that rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path as File

from . import campaign, rates
from .campaign import Experiment
from .cellspec import Cell
from .frames import payload_share
from .guestrun import Machine
from .scenario import ADAPTIVE, MPDPA, Connection, Load, Path, Plan, Scenario
from .scenariofile import queue_bytes
from .score import Score

CONGESTION = ("bbr", "cubic")
DELAY_MS = (10, 50, 150)
LOSS_PERCENT = (0.0, 0.1, 1.0)
BUFFER_BYTES = (256_000, 2_000_000, 64_000_000)
SLACK = (0.1, 0.4)
# What is to be reached: no avoidable miss, and so much above the oracle at most.
MOST_EXCESS = 0.02

_RATE_BPS = 8_000_000
_CHUNKS = 3
_CHUNK_BYTES = 5_000_000
# So long a chunk may take, alone on the slowest path, or twice that.
_PATIENCE_MS = 120_000


@dataclass(frozen=True)
class Condition:
    congestion: str
    delay_ms: int
    loss_percent: float
    buffer_bytes: int

    @property
    def name(self) -> str:
        return (
            f"{self.congestion}-{self.delay_ms}ms-loss{self.loss_percent:g}-"
            f"{self.buffer_bytes // 1000}KB"
        )

    @property
    def title(self) -> str:
        return (
            f"{self.congestion}, {self.delay_ms} ms one way, {self.loss_percent:g} % loss, "
            f"{self.buffer_bytes / 1e6:g} MB buffers; rates are what a path carried alone"
        )


def conditions() -> list[Condition]:
    """The orthogonal array L9 (Taguchi): nine rows hold every pair of four factors of three levels.

    One factor has two levels here; the kernel's default stands for two of three.
    """
    chosen = []
    for a, b in product(range(3), repeat=2):
        congestion = CONGESTION[min((a + 2 * b) % 3, 1)]
        loss = LOSS_PERCENT[(a + b) % 3]
        chosen.append(Condition(congestion, DELAY_MS[a], loss, BUFFER_BYTES[b]))
    return chosen


def _path(condition: Condition, name: str, cost: int) -> Path:
    shape = rates.constant(_RATE_BPS)
    return Path(
        name=name,
        cost=cost,
        rates=shape,
        trace=None,
        delay_ms=condition.delay_ms,
        queue_bytes=queue_bytes(shape),
        loss_percent=condition.loss_percent,
    )


def _scenario(condition: Condition, paths: tuple[Path, ...], load: Load) -> Scenario:
    connection = Connection(paths[0].name, condition.congestion, condition.buffer_bytes, 4)
    names = "".join(path.name for path in paths)
    plan = Plan((), (), (), (), (1,))
    return Scenario(
        f"robust-{condition.name}-{names}", condition.title, connection, load, paths, plan
    )


def alone(condition: Condition) -> list[Cell]:
    """One chunk on each path, with nothing beside it."""
    load = Load(1, _CHUNK_BYTES, _PATIENCE_MS)
    paths = (_path(condition, "P", 1), _path(condition, "C", 10))
    return [Cell(_scenario(condition, (path,), load), "mptcp", None, None, 1) for path in paths]


def capacity(done: Score) -> float:
    """Payload bytes a second."""
    (ms,) = done.completion_ms
    assert ms is not None
    return _CHUNK_BYTES * 1000 / ms


def together(condition: Condition, carried: list[float]) -> list[Cell]:
    """Both paths, with deadlines that leave some slack over what they carried alone."""
    cells = []
    for slack in SLACK:
        deadline_ms = round(_CHUNK_BYTES * 1000 * (1 + slack) / sum(carried))
        load = Load(_CHUNKS, _CHUNK_BYTES, deadline_ms + deadline_ms // 5)
        paths = (_path(condition, "P", 1), _path(condition, "C", 10))
        scenario = _scenario(condition, paths, load)
        cells.append(Cell(scenario, MPDPA, deadline_ms, ADAPTIVE, 1))
    return cells


def judged(cell: Cell, carried: list[float]) -> Cell:
    """With links that carry what was measured, at once: the delay is in the measure."""
    share = payload_share(cell.scenario.connection.ip, multipath=True)
    links = tuple(
        replace(path, rates=rates.constant(round(rate * 8 / share)), delay_ms=0, loss_percent=0.0)
        for path, rate in zip(cell.scenario.paths, carried, strict=True)
    )
    return replace(cell, scenario=replace(cell.scenario, paths=links))


def run(machine: Machine, jobs: int, out: File, command: str, *, quick: bool) -> Experiment:
    """The capacities go to out/alone."""
    chosen = conditions()[:2] if quick else conditions()
    cold = [cell for condition in chosen for cell in alone(condition)]
    shown = campaign.run(cold, machine, jobs, out / "alone", command)
    scores = iter(shown.finished)
    cells, carried = [], {}
    for condition in chosen:
        pair = [capacity(next(scores).score) for _ in range(2)]
        for cell in together(condition, pair):
            cells.append(cell)
            carried[cell] = pair
    return campaign.run(
        cells, machine, jobs, out, command, judge=lambda cell: judged(cell, carried[cell])
    )


def verdict(experiment: Experiment) -> list[str]:
    """What was not reached, a line each."""
    lines = []
    for done in experiment.finished:
        score, name = done.score, f"{done.cell.scenario.name}, {done.cell.deadline_ms} ms"
        if score.avoidable_missed:
            lines.append(f"{name}: {score.avoidable_missed} avoidable misses")
        if score.excess > MOST_EXCESS:
            lines.append(f"{name}: excess {score.excess * 100:.1f} points")
    return lines
