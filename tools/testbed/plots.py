"""Plots as inline SVG. Colours are names of the page's style, so that it can be light or dark."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path as File

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from .results import Finished

# Stand-ins for the style's colours; _svg puts the names in their place.
INK, FAINT, RULE = "#111111", "#777777", "#dddddd"
GOOD, BAD, MARK, PAPER = "#00aa00", "#cc0000", "#8800aa", "#fefefe"
PATHS = ("#1f77b4", "#ff7f0e", "#e7298a", "#66a61e", "#7570b3", "#a6761d", "#17becf", "#bcbd22")
_STYLE = {
    INK: "--ink",
    FAINT: "--faint",
    RULE: "--rule",
    GOOD: "--good",
    BAD: "--bad",
    MARK: "--mark",
    PAPER: "--paper",
    **{c: f"--path-{i}" for i, c in enumerate(PATHS)},
}
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "testbed",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": FAINT,
    "axes.edgecolor": RULE,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 1,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
}
WIDTH = 9.6
_BIN_SAMPLES = 5
_MOST_MARKS = 40


@dataclass(frozen=True)
class Series:
    """What each subflow's peer had of it over time, in Mbit/s, averaged over some samples; what was
    sent on two counts for both."""

    edges_s: list[float]
    mbps: dict[str, list[float]]


def read_series(file: File) -> Series:
    with file.open(newline="") as stream:
        table = csv.DictReader(stream)
        keys, rows = table.fieldnames or (), list(table)
    ending = "_goodput_bps"
    names = [key.removesuffix(ending) for key in keys if key.endswith(ending)]
    edges = [0.0]
    mbps: dict[str, list[float]] = {name: [] for name in names}
    for at in range(0, len(rows), _BIN_SAMPLES):
        part = rows[at : at + _BIN_SAMPLES]
        edges.append(float(part[-1]["t_ms"]) / 1000)
        for name in names:
            mean = sum(float(row[name + ending]) for row in part) / len(part)
            mbps[name].append(mean / 1e6)
    return Series(edges, mbps)


def _svg(canvas: Canvas, label: str) -> str:
    text = io.StringIO()
    canvas.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(canvas)
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for colour, name in _STYLE.items():
        svg = svg.replace(colour, f"var({name})")
    svg = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', "", svg, count=1)
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def draw(
    size: tuple[float, float], rows: int, label: str, paint: Callable[[Sequence[Axes]], None]
) -> str:
    with plt.rc_context(_SETTINGS):
        canvas, grid = plt.subplots(
            rows, 1, figsize=size, sharex=True, squeeze=False, layout="constrained"
        )
        paint([line[0] for line in grid])
        return _svg(canvas, label)


def throughput(runs: Sequence[Finished], folder: File) -> str:
    """Small multiples: what each subflow had acknowledged over time, stacked; deadlines marked."""
    shown = [done for done in runs if done.series]
    series = [read_series(folder / done.series) for done in shown if done.series]
    totals = (sum(at) for each in series for at in zip(*each.mbps.values(), strict=True))
    top = max(totals, default=1.0) * 1.05
    end = max(*(each.edges_s[-1] for each in series), *(_last_mark(done) for done in shown))

    def paint(grid: Sequence[Axes]) -> None:
        for axes, done, each in zip(grid, shown, series, strict=True):
            _stack(axes, done, each)
            _mark_chunks(axes, done, top)
            axes.set_ylim(0, top * 1.22)
            axes.set_xlim(0, end)
            axes.set_title(done.cell.protocol_title, loc="left", fontweight="bold", fontsize=11)
            axes.set_ylabel("Mbit/s")
        grid[-1].set_xlabel("seconds after the start")

    height = 1.62 * len(shown) + 0.6
    return draw((WIDTH, height), len(shown), "Payload acknowledged per subflow over time", paint)


def _stack(axes: Axes, done: Finished, series: Series) -> None:
    colours = colours_of(done)
    floor = [0.0] * (len(series.edges_s) - 1)
    for name, values in series.mbps.items():
        if not values:
            continue
        top = [low + value for low, value in zip(floor, values, strict=True)]
        axes.stairs(
            top, series.edges_s, baseline=floor, fill=True, color=colours[name], linewidth=0
        )
        floor = top
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)


def marks_each(done: Finished) -> bool:
    """Whether each chunk has its mark; of more only those are shown that were late."""
    return done.cell.scenario.load.chunks <= _MOST_MARKS


def _mark_chunks(axes: Axes, done: Finished, top: float) -> None:
    """A line at each deadline, and above it when the chunk really was complete."""
    load, deadline = done.cell.scenario.load, done.cell.deadline_ms
    each = marks_each(done)
    for chunk, ms in enumerate(done.score.completion_ms):
        release = load.release_ms(chunk) / 1000
        if deadline is not None and each:
            axes.axvline(release + deadline / 1000, color=FAINT, linewidth=0.8, dashes=(3, 2))
        if ms is None:
            continue
        good = deadline is None or ms <= deadline
        if each or not good:
            axes.plot(
                [release + ms / 1000],
                [top * 1.12],
                marker="v" if good else "X" if each else "|",
                markersize=6,
                color=GOOD if good else BAD,
                clip_on=False,
                linestyle="none",
            )


def _last_mark(done: Finished) -> float:
    """The last deadline or completion, in seconds."""
    load, deadline = done.cell.scenario.load, done.cell.deadline_ms or 0
    times = enumerate(done.score.completion_ms)
    return max(load.release_ms(k) + max(ms or 0, deadline) for k, ms in times) / 1000


def last_completion_s(done: Finished) -> float:
    """What comes later is no load; infinity if a chunk never was complete."""
    load = done.cell.scenario.load
    times = enumerate(done.score.completion_ms)
    return max(inf if ms is None else load.release_ms(k) + ms for k, ms in times) / 1000


def colours_of(done: Finished) -> dict[str, str]:
    names = [path.name for path in done.cell.scenario.paths]
    return {name: PATHS[i % len(PATHS)] for i, name in enumerate(names)}


def completion(runs: Sequence[Finished]) -> str:
    """Per run a line of dots: how long each chunk took, against the deadline."""
    deadline = runs[0].cell.deadline_ms

    def paint(grid: Sequence[Axes]) -> None:
        axes = grid[0]
        for row, done in enumerate(runs):
            for ms in done.score.completion_ms:
                if ms is not None:
                    good = deadline is None or ms <= deadline
                    axes.plot(
                        [ms / 1000],
                        [row],
                        marker="o",
                        markersize=9,
                        alpha=0.65,
                        markeredgewidth=0,
                        color=GOOD if good else BAD,
                    )
        if deadline is not None:
            axes.axvline(deadline / 1000, color=INK, linewidth=1.2, dashes=(4, 2))
            _label(axes, "deadline", deadline / 1000, -0.72)
        _name_rows(axes, runs)
        axes.set_xlim(left=0)
        axes.set_xlabel("seconds from release to the last byte read")

    size = (WIDTH, 0.42 * len(runs) + 1.1)
    return draw(size, 1, "Completion time of each chunk", paint)


def _label(axes: Axes, text: str, x: float, y: float) -> None:
    """To the right of a point."""
    axes.annotate(
        text, (x, y), xytext=(9, 0), textcoords="offset points", va="center", color=INK, fontsize=9
    )


def _name_rows(axes: Axes, runs: Sequence[Finished]) -> None:
    axes.set_yticks(range(len(runs)), [done.cell.protocol_title for done in runs])
    axes.tick_params(axis="y", labelcolor=INK)
    axes.set_ylim(len(runs) - 0.5, -0.9)
    axes.grid(axis="x", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def shares(runs: Sequence[Finished], published: Sequence[float | None]) -> str:
    """Bars of the costly share, with the oracle as a line and published figures as diamonds."""
    oracle = runs[0].score.oracle_costly_share

    def paint(grid: Sequence[Axes]) -> None:
        axes = grid[0]
        shown = _percentages(
            axes, runs, [done.score.costly_share for done in runs], published, PATHS[1]
        )
        if oracle is not None:
            least = oracle * 100
            axes.axvline(least, color=INK, linewidth=1.2, dashes=(4, 2))
            _label(axes, f"oracle {least:.1f} %", least, -0.72)
            shown.append(least)
        axes.set_xlim(0, max([*shown, 10]) * 1.15)
        axes.set_xlabel("payload put on costly paths, % of the payload delivered")

    return draw(_bars_size(runs), 1, "Share of the payload on costly paths", paint)


def misses(runs: Sequence[Finished]) -> str:
    """Bars of the chunks that came late; in front, those that full speed would have met."""

    def paint(grid: Sequence[Axes]) -> None:
        axes = grid[0]
        late = [done.score.missed for done in runs]
        _bars(axes, runs, late, FAINT)
        _bars(axes, runs, [done.score.avoidable_missed or 0 for done in runs], BAD)
        for row, done in enumerate(runs):
            score = done.score
            known = score.missed > 0 and score.avoidable_missed is not None
            text = f"{score.missed}" + (f", avoidable {score.avoidable_missed}" if known else "")
            _label(axes, text, score.missed, row)
        axes.set_xlim(0, max([*late, 1]) * 1.25)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel(f"chunks missed, of {len(runs[0].score.completion_ms)}")

    return draw(_bars_size(runs), 1, "Missed chunks", paint)


def overhead(runs: Sequence[Finished], published: Sequence[float | None]) -> str:
    """Bars of what was sent beyond the payload, with published figures as diamonds."""

    def paint(grid: Sequence[Axes]) -> None:
        axes = grid[0]
        shown = _percentages(
            axes, runs, [done.score.overhead for done in runs], published, PATHS[0]
        )
        axes.set_xlim(0, max([*shown, 10]) * 1.15)
        axes.set_xlabel("bytes on the wire beyond the payload, % of the payload delivered")

    return draw(_bars_size(runs), 1, "Overhead", paint)


def _bars_size(runs: Sequence[Finished]) -> tuple[float, float]:
    return WIDTH, 0.42 * len(runs) + 1.1


def _bars(axes: Axes, runs: Sequence[Finished], values: Sequence[float], colour: str) -> None:
    axes.barh(range(len(runs)), values, height=0.55, color=colour)
    _name_rows(axes, runs)


def _percentages(
    axes: Axes,
    runs: Sequence[Finished],
    shares: Sequence[float],
    published: Sequence[float | None],
    colour: str,
) -> list[float]:
    """Bars in percent, each with its value, and diamonds: the values of all of them."""
    values = [share * 100 for share in shares]
    _bars(axes, runs, values, colour)
    for row, value in enumerate(values):
        _label(axes, f"{value:.1f} %", value, row)
    return [*values, *_diamonds(axes, published)]


def _diamonds(axes: Axes, published: Sequence[float | None]) -> list[float]:
    """What was published, in percent, where anything was."""
    known = [(row, share * 100) for row, share in enumerate(published) if share is not None]
    for row, value in known:
        axes.plot(
            [value],
            [row],
            marker="D",
            markersize=7,
            color=MARK,
            markerfacecolor=PAPER,
            markeredgewidth=1.6,
        )
    return [value for _, value in known]
