"""Under which conditions the scheduler keeps its word: congestion control, delay, loss, buffers.

A pairwise set: any two values of two conditions meet in one combination at least. What a path can
carry is measured first, cold and alone, under the same conditions, with the bytes that it gets of
a chunk at full speed: half. Where packets are lost at random that is the mean of some runs. A chunk
on a new connection has a deadline that leaves some slack over what both paths carry so, and the
oracle knows links of that rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby, product
from pathlib import Path as File
from statistics import fmean
from typing import Any

from . import campaign, rates
from .campaign import Experiment
from .cellspec import Cell
from .frames import payload_share
from .guestrun import Machine
from .scenario import ADAPTIVE, MPDPA, STOCK, Connection, Load, Path, Plan, Scenario
from .scenariofile import steady
from .score import Score
from .table import markdown

CONGESTION = ("bbr", "cubic")
DELAY_MS = (10, 50, 150)
LOSS_PERCENT = (0.0, 0.1, 1.0)
BUFFER_BYTES = (256_000, 2_000_000, 64_000_000)
SLACK = (0.1, 0.4)
# What is to be reached: no avoidable miss, and so much above the oracle at most.
MOST_EXCESS = 0.02

# Where the capacities are measured, in the folder of the rest.
ALONE = "alone"

_RATE_BPS = 8_000_000
_CHUNK_BYTES = 5_000_000
_SEEDS_OF_LOSS = (1, 2, 3)
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
            f"{self.buffer_bytes / 1e6:g} MB buffers; the oracle has what a path carried alone"
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
    return steady(name, cost, _RATE_BPS, condition.delay_ms, condition.loss_percent)


def _scenario(condition: Condition, paths: tuple[Path, ...], load: Load) -> Scenario:
    connection = Connection(paths[0].name, condition.congestion, condition.buffer_bytes, 4)
    names = "".join(path.name for path in paths)
    plan = Plan((), (), (), (), (1,))
    return Scenario(
        f"robust-{condition.name}-{names}", condition.title, connection, load, paths, plan
    )


def _seeds(condition: Condition) -> tuple[int, ...]:
    return _SEEDS_OF_LOSS if condition.loss_percent else (1,)


def alone(condition: Condition) -> list[Cell]:
    """Half a chunk on a path, with nothing beside it; both paths are alike."""
    load = Load(1, _CHUNK_BYTES // 2, _PATIENCE_MS)
    scenario = _scenario(condition, (_path(condition, "P", 1),), load)
    return [Cell(scenario, STOCK, None, None, seed) for seed in _seeds(condition)]


def capacity(runs: list[Score]) -> float:
    """Payload bytes a second."""
    took_ms = [ms for run in runs for ms in run.completion_ms if ms is not None]
    return _CHUNK_BYTES // 2 * 1000 / fmean(took_ms)


def _both(condition: Condition, carried: float, slack: float) -> Scenario:
    """A chunk over both paths, with some slack over what one carried alone, twice."""
    deadline_ms = round(_CHUNK_BYTES * 1000 * (1 + slack) / (2 * carried))
    paths = (_path(condition, "P", 1), _path(condition, "C", 10))
    return _scenario(condition, paths, Load(1, _CHUNK_BYTES, deadline_ms))


def together(condition: Condition, carried: float) -> list[Cell]:
    """With each slack, as the scheduler does it."""
    return [
        Cell(scenario, MPDPA, scenario.load.period_ms, ADAPTIVE, seed)
        for scenario in (_both(condition, carried, slack) for slack in SLACK)
        for seed in _seeds(condition)
    ]


def at_full_speed(condition: Condition, carried: float) -> list[Cell]:
    """As the kernel's scheduler does it, which keeps nothing back: what both paths can."""
    scenario = _both(condition, carried, SLACK[0])
    due_ms = scenario.load.period_ms
    return [Cell(scenario, STOCK, due_ms, None, seed) for seed in _seeds(condition)]


def known(scenario: Scenario, carried: float) -> Scenario:
    """With links that carry what was measured, at once: the delay is in the measure."""
    share = payload_share(scenario.connection.ip, multipath=True)
    shape = rates.constant(round(carried * 8 / share))
    links = (replace(path, rates=shape, delay_ms=0, loss_percent=0.0) for path in scenario.paths)
    return replace(scenario, paths=tuple(links))


def run(machine: Machine, jobs: int, out: File, command: str, *, quick: bool) -> Experiment:
    """The capacities go to a folder in it."""
    campaign.clear(out)
    chosen = conditions()[:2] if quick else conditions()
    cold = {condition: alone(condition) for condition in chosen}
    all_cold = [cell for cells in cold.values() for cell in cells]
    measured = campaign.run(all_cold, machine, jobs, out / ALONE, command).finished
    scores = {done.cell: done.score for done in measured}
    carried: dict[Cell, float] = {}
    for condition, alone_cells in cold.items():
        rate = capacity([scores[cell] for cell in alone_cells])
        cells = together(condition, rate) + at_full_speed(condition, rate)
        carried |= dict.fromkeys(cells, rate)
    return campaign.run(
        list(carried), machine, jobs, out, command,
        known=lambda cell: known(cell.scenario, carried[cell]),
    )  # fmt: skip


def verdict(experiment: Experiment) -> list[str]:
    """What was not reached, a line each."""
    lines = []
    full_speed = {
        (done.cell.scenario.title, done.cell.seed): done.score.completion_ms[0]
        for done in experiment.finished
        if done.cell.protocol != MPDPA
    }
    for done in experiment.finished:
        cell, score = done.cell, done.score
        if cell.protocol != MPDPA:
            continue
        if score.avoidable_missed:
            lines.append(
                f"{cell.label}: took {_seconds(score.completion_ms[0])}; stock MPTCP, which keeps "
                f"nothing back: {_seconds(full_speed[cell.scenario.title, cell.seed])}"
            )
        if score.excess is not None and score.excess > MOST_EXCESS:
            lines.append(f"{cell.label}: excess {score.excess * 100:.1f} points")
    return lines


def table(content: dict[str, Any]) -> str:
    """results.json as Markdown: a row for each condition and slack, over all seeds."""
    head = ("condition", "slack", "deadline", "mpdpa", "excess, points", "MPTCP, default scheduler")
    rows = []
    titles = dict.fromkeys(run["title"] for run in content["runs"])
    for title in titles:
        runs = [run for run in content["runs"] if run["title"] == title]
        ours = sorted(
            (run for run in runs if run["protocol"] == MPDPA), key=lambda run: run["deadline_ms"]
        )
        stock = [run for run in runs if run["protocol"] != MPDPA]
        each = groupby(ours, key=lambda run: run["deadline_ms"])
        for slack, (due_ms, group) in zip(SLACK, each, strict=True):
            some = list(group)
            excess = [run["excess"] * 100 for run in some if run["excess"] is not None]
            rows.append(
                (
                    title.split(";")[0], f"{slack:.0%}", f"{due_ms / 1000:.2f} s",
                    _lateness(some, due_ms), _mean_and_most(excess), _lateness(stock, due_ms),
                )
            )  # fmt: skip
    return markdown(head, rows)


def _lateness(runs: list[dict[str, Any]], due_ms: int) -> str:
    """How many chunks of so many came late, and the last of them by how much."""
    took = [ms for run in runs for ms in run["completion_ms"]]
    late = [ms for ms in took if ms is None or ms > due_ms]
    if not late:
        return f"0 of {len(took)} late"
    arrived = [ms - due_ms for ms in late if ms is not None]
    most = f"{max(arrived):.0f} ms at most" if len(arrived) == len(late) else "one for ever"
    return f"{len(late)} of {len(took)} late, {most}"


def _mean_and_most(points: list[float]) -> str:
    if not points:
        return "–"
    # no minus before what is rounded to 0
    mean, most = (round(value, 1) + 0.0 for value in (fmean(points), max(points)))
    return f"{mean:.1f}" + (f", {most:.1f} at most" if len(points) > 1 else "")


def _seconds(ms: float | None) -> str:
    return "for ever" if ms is None else f"{ms / 1000:.2f} s"
