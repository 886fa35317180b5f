"""Plots that compare runs by lines: distributions, and utility against alpha."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as File

from matplotlib.axes import Axes

from . import plots
from .plots import FAINT, INK, PATHS, RULE
from .results import Finished
from .scenario import ADAPTIVE, STOCK
from .score import RELIABILITY, SAVINGS

_SIZE = (plots.WIDTH, 2.9)
# Fewer values of alpha are no curve.
LEAST_ALPHAS = 3


def _steps(axes: Axes, values: Sequence[float], colour: str, name: str, dashed: bool) -> None:
    """The share of values at or below each of them."""
    ordered = sorted(values)
    shares = [(i + 1) / len(ordered) * 100 for i in range(len(ordered))]
    style = (0, (4, 2)) if dashed else "-"
    axes.step(
        [ordered[0], *ordered], [0, *shares], where="post", color=colour, linewidth=1.5,
        linestyle=style, label=name,
    )  # fmt: skip


def _frame(axes: Axes, label: str) -> None:
    axes.set_ylim(0, 100)
    axes.set_xlim(left=0)
    axes.set_xlabel(label)
    axes.set_ylabel("% at or below")
    axes.grid(color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    if axes.lines:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=9)


def _look(index: int) -> tuple[str, bool]:
    return PATHS[index % len(PATHS)], index >= len(PATHS)


def in_load(series: plots.Series, end_s: float) -> list[float]:
    """Over all subflows, of each bin that begins before the load's end."""
    bins = zip(series.edges_s, zip(*series.mbps.values(), strict=True), strict=False)
    return [sum(values) for start_s, values in bins if start_s < end_s]


def throughput(runs: Sequence[Finished], folder: File) -> str:
    """How what all subflows had acknowledged was distributed until the last chunk was complete:
    ours stays for its verdict, which comes after the deadline."""

    def paint(grid: Sequence[Axes]) -> None:
        for index, done in enumerate(runs):
            if done.series is None:
                continue
            series = plots.read_series(folder / done.series)
            total = in_load(series, plots.last_completion_s(done))
            if total:
                colour, dashed = _look(index)
                _steps(grid[0], total, colour, done.cell.protocol_title, dashed)
        _frame(grid[0], "Mbit/s acknowledged over all subflows, each half second of the load")

    return plots.draw(_SIZE, 1, "Distribution of throughput", paint)


def completion(runs: Sequence[Finished]) -> str:
    """How the times that chunks took were distributed."""
    deadline = runs[0].cell.deadline_ms

    def paint(grid: Sequence[Axes]) -> None:
        for index, done in enumerate(runs):
            times = [ms / 1000 for ms in done.score.completion_ms if ms is not None]
            if times:
                colour, dashed = _look(index)
                _steps(grid[0], times, colour, done.cell.protocol_title, dashed)
        if deadline is not None:
            grid[0].axvline(deadline / 1000, color=INK, linewidth=1.2, dashes=(4, 2))
            grid[0].set_xlim(0, deadline / 1000 * 3)
        _frame(grid[0], "seconds from release to the last byte read, to three deadlines")

    return plots.draw(_SIZE, 1, "Distribution of completion times", paint)


def has_alphas(runs: Sequence[Finished]) -> bool:
    return len(_by_alpha(runs)) >= LEAST_ALPHAS


def _by_alpha(runs: Sequence[Finished]) -> list[tuple[float, Finished]]:
    fixed = [(done.cell.alpha, done) for done in runs if done.cell.protocol == "threshold"]
    return sorted((float(a), done) for a, done in fixed if isinstance(a, (int, float)))


def utility(runs: Sequence[Finished]) -> str:
    """Both utilities, and what they are made of, against alpha; what has none as a line."""
    points = _by_alpha(runs)
    alphas = [alpha for alpha, _ in points]
    stock = next((done for done in runs if done.cell.protocol == STOCK), None)
    adaptive = next((done for done in runs if done.cell.alpha == ADAPTIVE), None)

    def paint(grid: Sequence[Axes]) -> None:
        axes = grid[0]
        for colour, weights, name in (
            (PATHS[0], RELIABILITY, "reliability first"),
            (PATHS[1], SAVINGS, "savings first"),
        ):
            values = [done.score.utility(weights) * 100 for _, done in points]
            axes.plot(alphas, values, color=colour, marker="o", markersize=4, label=name)
            for done, width, dashes in ((stock, 1, (4, 2)), (adaptive, 1.6, (1, 1))):
                if done is not None:
                    level = done.score.utility(weights) * 100
                    axes.axhline(level, color=colour, linewidth=width, dashes=dashes)
        for colour, name, part in (
            (PATHS[2], "missed", [d.score.missed / len(d.score.completion_ms) for _, d in points]),
            (PATHS[3], "costly share", [d.score.costly_share for _, d in points]),
        ):
            values = [100 * value for value in part]
            axes.plot(alphas, values, color=colour, linewidth=1, linestyle=":", label=name)
        axes.set_ylim(0, 100)
        axes.set_xlabel("α of the published rule; dashed: stock MPTCP, dotted: mpdpa, adaptive")
        axes.set_ylabel("%")
        axes.tick_params(labelcolor=FAINT)
        axes.grid(color=RULE, linewidth=0.6)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=9)

    return plots.draw(_SIZE, 1, "Utility against alpha", paint)
