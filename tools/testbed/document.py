"""Writes Documentation/results.md from what campaigns left: nobody types a figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path as File
from typing import Any

from . import lot, overview, results, robust
from .campaign import Experiment
from .errors import UsageError
from .fields import reading
from .reference import Figure, Reference
from .results import Finished, stock_beside
from .scenario import ADAPTIVE, MPDPA, STOCK
from .table import HEADINGS, NONE, Group, counted, groups, markdown, percent, signed_points

# Points of costly share from which on a difference is explained.
APART = 5.0
_RULE = "mp-dpa"
# Of the table's columns, those from "missed" to "activations".
_JUDGED = slice(2, 10)
_BESIDE_STOCK = ("overhead beyond stock, points", "stock's avoidable")

_SECTION = re.compile(r"^## (\S+)$", re.MULTILINE)

_HEAD = """# Measured

Written by `testbed document {folders}`; every figure is from the `results.json` of those
campaigns. {short}: {origin}. There: {setup}. Each entry is the share of the payload put on costly
paths, and how many chunks came late if any did; the column behind a protocol is what was
published for it.
"""


def write(made: dict[str, str], reference: Reference, file: File) -> None:
    """Sections by the names of their folders; what the file has of others stays as it is."""
    sections = _sections_of(file) | made
    head = _HEAD.format(
        folders=" ".join(f"out/{name}" for name in sections),
        short=reference.short,
        origin=reference.origin,
        setup=reference.setup,
    )
    texts = [text.rstrip("\n") + "\n" for text in (head, *sections.values())]
    try:
        file.write_text("\n".join(texts))
    except OSError as error:
        raise UsageError(f"{file}: --to: expected a place for a file ({error.strerror})") from None


def _sections_of(file: File) -> dict[str, str]:
    """Of what was written before, if there is any."""
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError):
        return {}
    _, *parts = _SECTION.split(text)
    return {name: f"## {name}{rest}" for name, rest in zip(parts[::2], parts[1::2], strict=True)}


def section(name: str, experiment: Experiment, reference: Reference) -> str:
    """Of a whole campaign, beside what was published."""
    runs = experiment.finished
    parts = list(groups(runs, reference))
    shares = overview.of(parts, reference)
    table = markdown(shares.headings, shares.rows)
    return (
        f"{_opening(name, experiment.content)}{table}\n"
        f"{_judged(parts)}\n{_stock(runs, reference)}\n{_differences(runs, reference)}"
    )


def drawn_section(folder: File) -> str | None:
    """Of networks that nobody published anything for; None: these are no such ones."""
    content = results.read(folder)
    with reading(folder / results.NAME, "figures that testbed wrote"):
        command = content["command"].split()[1]
        if command not in _DRAWN:
            return None
        about, table = _DRAWN[command]
        return f"{_opening(folder.name, content)}{about}\n\n{table(content)}"


_DRAWN: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "robust": (
        "A chunk of a new connection over two paths alike, with so much slack over what one "
        "carried\nalone, cold, twice; late chunks are late by that, and the oracle's links are of "
        "that rate.",
        robust.table,
    ),
    "lot": (
        "Networks, the preferred link first, and chunks, all drawn by lot.",
        lot.table,
    ),
}


def _opening(name: str, content: dict[str, Any]) -> str:
    host = content["host"]
    return (
        f"## {name}\n\nKernel {host['kernel']}, {host['clock']} clock, {host['accel']}, "
        f"`{content['command']}` at {content['project_version']}.\n\n"
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
    rows = _compared(runs, reference, STOCK)
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
        f"by more than {APART:g} points."
    ]
    for why in dict.fromkeys(figure.why for _, figure, _ in far):
        lines += ["", why or "Not explained:", ""]
        lines += [_far(done, points) for done, figure, points in far if figure.why == why]
    return "\n".join(lines) + "\n"


def _far(done: Finished, points: float) -> str:
    cell, score = done.cell, done.score
    return (
        f"* {cell.scenario.name}, {(cell.deadline_ms or 0) / 1000:g} s, α {cell.alpha}: "
        f"{percent(score.costly_share)}, {points:+.1f} points. Late by its own count "
        f"{score.missed_own}, by the receiver's {score.missed} of {len(score.completion_ms)}."
    )


def _judged(parts: Sequence[Group]) -> str:
    """Our own protocol, with nothing set by hand, against the optimum and stock MPTCP."""
    rows = [
        (
            group.title.replace("deadline ", ""),
            *line.own[_JUDGED],
            *_beside_stock(line.done, stock_beside(line.done, list(group.runs))),
        )
        for group in parts
        for line in group.lines
        if (line.done.cell.protocol, line.done.cell.alpha) == (MPDPA, ADAPTIVE)
    ]
    if not rows:
        return ""
    names = [text.replace("-\n", "").replace("\n", " ") for text in HEADINGS[_JUDGED]]
    head = ("scenario, deadline", *names, *_BESIDE_STOCK)
    return "mpdpa, α adaptive:\n\n" + markdown(head, rows)


def _beside_stock(done: Finished, stock: Finished | None) -> tuple[str, str]:
    if stock is None:
        return NONE, NONE
    beyond = done.score.overhead - stock.score.overhead
    return signed_points(beyond), counted(stock.score.avoidable_missed)
