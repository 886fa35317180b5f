"""Writes Documentation/results.md from what campaigns left: nobody types a figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as File

from . import overview
from .campaign import Experiment
from .reference import Figure, Reference
from .results import Finished
from .table import groups, percent

# Points of costly share from which on a difference is explained.
APART = 5.0
_STOCK, _RULE = "mptcp", "mp-dpa"

_HEAD = """# Measured

Written by `testbed document {folders}`; every figure is from the `results.json` of those
campaigns. {short}: {origin}. There: {setup}. Each entry is the share of the payload put on costly
paths, and how many chunks came late if any did; the column behind a protocol is what was
published for it.
"""


def write(experiments: Sequence[tuple[File, Experiment]], reference: Reference, file: File) -> None:
    head = _HEAD.format(
        folders=" ".join(f"out/{folder.name}" for folder, _ in experiments),
        short=reference.short,
        origin=reference.origin,
        setup=reference.setup,
    )
    parts = [head, *(_section(folder, each, reference) for folder, each in experiments)]
    file.write_text("\n".join(parts))


def _section(folder: File, experiment: Experiment, reference: Reference) -> str:
    host = experiment.content["host"]
    runs = experiment.finished
    table = overview.markdown(overview.of(list(groups(runs, reference)), reference))
    return (
        f"## {folder.name}\n\nKernel {host['kernel']}, {host['clock']} clock, "
        f"{host['accel']}, `{experiment.content['command']}`.\n\n{table}\n"
        f"{_stock(runs, reference)}\n{_differences(runs, reference)}"
    )


def _compared(
    runs: Sequence[Finished], reference: Reference, protocol: str
) -> list[tuple[Finished, Figure, float]]:
    """Runs with a published share, and how many points ours lies above it."""
    found = []
    for done in runs:
        figure = reference.beside(done.cell)
        if done.cell.protocol == protocol and figure and figure.costly_share is not None:
            points = (done.score.costly_share - figure.costly_share) * 100
            found.append((done, figure, points))
    return found


def _stock(runs: Sequence[Finished], reference: Reference) -> str:
    rows = _compared(runs, reference, _STOCK)
    if not rows:
        return ""
    first: dict[str, tuple[float, float]] = {}
    for done, figure, points in rows:
        first.setdefault(done.cell.scenario.name, (figure.costly_share or 0.0, points))
    texts = [
        f"{name} {percent(share + points / 100)} ({points:+.1f} points)"
        for name, (share, points) in first.items()
    ]
    return f"Stock MPTCP beside what was published for it: {', '.join(texts)}.\n"


def _differences(runs: Sequence[Finished], reference: Reference) -> str:
    rows = _compared(runs, reference, _RULE)
    if not rows:
        return ""
    far = [row for row in rows if abs(row[2]) > APART]
    lines = [
        f"Of {len(rows)} cells of the published rule, run as it was run there, {len(far)} differ "
        f"by more than {APART:g} points:\n"
    ]
    for done, figure, points in far:
        cell = done.cell
        lines.append(
            f"* {cell.scenario.name}, {(cell.deadline_ms or 0) / 1000:g} s, α {cell.alpha}: "
            f"{percent(done.score.costly_share)}, {points:+.1f} points. "
            f"{figure.why or 'Not explained.'}"
        )
    return "\n".join(lines) + "\n"
