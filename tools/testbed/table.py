"""The figures of an experiment as a table for people, beside published ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from .reference import Figure, Reference
from .results import Finished, stock_beside
from .scenario import STOCK, TCP
from .score import Score

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 152
NONE = "–"
HEADINGS = (
    "protocol", "met", "missed", "avoid-\nable", "costly\nshare", "oracle", "excess\npoints",
    "savings\neffic.", "over-\nhead", "activ-\nations", "chunk\nmean s", "chunk\nmax s",
)  # fmt: skip
REFERENCE_HEADING = "missed, share, overhead, time"


@dataclass(frozen=True)
class Line:
    """One run as texts, in the order of the headings."""

    done: Finished
    own: tuple[str, ...]
    published: str


@dataclass(frozen=True)
class Group:
    """Runs that compare: one scenario and one deadline."""

    runs: tuple[Finished, ...]
    lines: tuple[Line, ...]

    @property
    def title(self) -> str:
        return title_of(self.runs[0])

    @property
    def has_published(self) -> bool:
        return any(line.published for line in self.lines)


def title_of(done: Finished) -> str:
    cell = done.cell
    due = "no deadline" if cell.deadline_ms is None else f"deadline {cell.deadline_ms / 1000:g} s"
    return f"{cell.scenario.name}, {due}"


def percent(share: float | None, digits: int = 1) -> str:
    return NONE if share is None else f"{share * 100:.{digits}f} %"


def published_percent(figure: Figure, share: str) -> str:
    return ("≈ " if share in figure.about else "") + percent(getattr(figure, share), 0)


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown; each line has its end."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def counted(count: int | None) -> str:
    return NONE if count is None else str(count)


def signed_points(share: float | None) -> str:
    return NONE if share is None else f"{share * 100:+.1f}"


def groups(runs: list[Finished], reference: Reference) -> Iterator[Group]:
    def key(done: Finished) -> tuple[str, int | None]:
        return done.cell.scenario.name, done.cell.deadline_ms

    for _, members in groupby(runs, key):
        several = tuple(members)
        yield Group(several, tuple(_line(done, runs, reference) for done in several))


def _line(done: Finished, runs: list[Finished], reference: Reference) -> Line:
    cell, score = done.cell, done.score
    stock = stock_beside(done, runs)
    # Without the costly path, or beside itself, saving is no achievement.
    comparable = stock is not None and cell.protocol not in (TCP, STOCK)
    efficiency = score.savings_efficiency(stock.score) if stock and comparable else None
    times = [ms / 1000 for ms in score.completion_ms if ms is not None]
    same = (other.cell.seed for other in runs if other.cell.protocol_title == cell.protocol_title)
    seeds = len(set(same)) > 1
    own = (
        cell.protocol_title + (f", seed {cell.seed}" if seeds else ""),
        str(len(score.completion_ms) - score.missed),
        str(score.missed),
        counted(score.avoidable_missed),
        percent(score.costly_share),
        percent(score.oracle_costly_share),
        signed_points(score.excess),
        percent(efficiency, 0),
        percent(score.overhead),
        str(score.costly_activations),
        f"{sum(times) / len(times):.2f}" if times else NONE,
        f"{max(times):.2f}" if times else NONE,
    )
    return Line(done, own, _published(reference.beside(cell)))


def _verdicts(score: Score) -> str:
    if score.missed_own is not None:
        return f"by its own count {score.missed_own}"
    return f"kernel says {score.missed_kernel}"


def one_line(done: Finished) -> str:
    """A run for those who run many."""
    score = done.score
    times = [ms / 1000 for ms in score.completion_ms if ms is not None]
    words = [
        f"{done.cell.label}:",
        f"missed {score.missed} of {len(score.completion_ms)}",
        f"(avoidable {counted(score.avoidable_missed)}, {_verdicts(score)}),",
        f"costly {percent(score.costly_share)}, oracle {percent(score.oracle_costly_share)},",
        f"excess {signed_points(score.excess)}, overhead {percent(score.overhead)},",
        f"activations {score.costly_activations},",
        f"chunk mean {sum(times) / len(times):.2f} max {max(times):.2f} s" if times else "-",
    ]
    return " ".join(words)


def _published(figure: Figure | None) -> str:
    """What is known of it, in the order of the heading."""
    if figure is None:
        return ""
    seconds = figure.chunk_seconds
    return ", ".join((
        NONE if figure.missed is None else str(figure.missed),
        published_percent(figure, "costly_share"),
        published_percent(figure, "overhead"),
        NONE if seconds is None else f"{seconds:.1f} s",
    ))  # fmt: skip


def _show_busy(console: Console, group: Group) -> None:
    """Below the table, because few runs count it."""
    counted = [
        f"{done.cell.protocol_title} {done.score.busy_ns_per_byte:.1f}"
        for done in group.runs
        if done.score.busy_ns_per_byte is not None
    ]
    if counted:
        console.print(f"processors' ns per byte: {', '.join(counted)}\n")


def show(runs: list[Finished], reference: Reference) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if Console().is_terminal else WIDTH, highlight=False)
    layout = _wide if console.width >= WIDTH else _narrow
    published = False
    for group in groups(runs, reference):
        table = Table(title=group.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        table.pad_edge, table.collapse_padding = False, True
        layout(table, group, reference.short)
        console.print(table)
        _show_busy(console, group)
        published = published or group.has_published
    if published:
        console.print(f"{reference.short}: {reference.origin}", style="dim")


def _texts(line: Line) -> list[str]:
    own = list(line.own)
    own[2] = f"[red]{own[2]}[/]" if line.done.score.missed else own[2]
    return own


def _wide(table: Table, group: Group, short: str) -> None:
    """A row per run."""
    for index, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if index else "left", no_wrap=True)
    if group.has_published:
        table.add_column(f"{short}:\n{REFERENCE_HEADING}", style="dim", no_wrap=True)
    for line in group.lines:
        table.add_row(*_texts(line), *([line.published] if group.has_published else []))


def _narrow(table: Table, group: Group, short: str) -> None:
    """A column per run, for terminals that are not wide enough."""
    columns = [_texts(line) for line in group.lines]
    table.add_column(HEADINGS[0])
    for column in columns:
        table.add_column(column[0], justify="right")
    for index, heading in enumerate(HEADINGS[1:], 1):
        name = heading.replace("-\n", "").replace("\n", " ")
        table.add_row(name, *(column[index] for column in columns))
    if group.has_published:
        table.add_row(f"{short}: {REFERENCE_HEADING}", *(line.published for line in group.lines))
