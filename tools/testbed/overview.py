"""One table over a whole experiment: who put how much on costly paths, and missed how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .reference import Figure, Reference
from .results import Finished
from .table import Group, percent

_NONE = "–"
# With more of them, as in a sweep, protocols are rows and scenarios columns.
_MOST_COLUMNS = 15


@dataclass(frozen=True)
class Overview:
    """``rows`` have a text per heading. The published columns, or rows, come from elsewhere."""

    headings: tuple[str, ...]
    published: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    turned: bool = False

    def turn(self) -> Overview:
        """With rows for columns."""
        lines = tuple(zip(self.headings, *self.rows, strict=True))
        return Overview(lines[0], self.published, lines[1:], not self.turned)

    @property
    def kinds(self) -> list[list[str]]:
        """Of all texts but each line's first, the headings' line ahead: whose they are."""
        names = ["published" if theirs else "own" for theirs in self.published]
        if not self.turned:
            return [names[1:]] * (len(self.rows) + 1)
        return [[name] * (len(self.headings) - 1) for name in ("own", *names[1:])]


def of(parts: Sequence[Group], reference: Reference) -> Overview:
    """A row per scenario and deadline; beside each protocol what was published for it."""
    titles = list(dict.fromkeys(d.cell.protocol_title for part in parts for d in part.runs))
    known = {title for part in parts for d in part.runs for title in [d.cell.protocol_title]
             if reference.beside(d.cell)}  # fmt: skip
    headings, published = ["scenario, deadline"], [False]
    for title in titles:
        headings.append(title)
        published.append(False)
        if title in known:
            headings.append(reference.short)
            published.append(True)
    headings.append("oracle")
    published.append(False)
    rows = tuple(_row(part, titles, known, reference) for part in parts)
    whole = Overview(tuple(headings), tuple(published), rows)
    return whole.turn() if len(headings) > _MOST_COLUMNS else whole


def _row(part: Group, titles: list[str], known: set[str], reference: Reference) -> tuple[str, ...]:
    seed = part.runs[0].cell.seed
    by_title = {d.cell.protocol_title: d for d in part.runs if d.cell.seed == seed}
    texts = [part.title.replace("deadline ", "")]
    for title in titles:
        done = by_title.get(title)
        texts.append(_own(done))
        if title in known:
            texts.append(_theirs(reference.beside(done.cell)) if done else _NONE)
    texts.append(percent(part.runs[0].score.oracle_costly_share))
    return tuple(texts)


def _own(done: Finished | None) -> str:
    if done is None:
        return _NONE
    score = done.score
    missed = f", {score.missed} of {len(score.completion_ms)} late" if score.missed else ""
    own = f" ({score.missed_own} by its own count)" if score.missed_own is not None else ""
    return f"{percent(score.costly_share)}{missed}{own}"


def _theirs(figure: Figure | None) -> str:
    if figure is None:
        return _NONE
    missed = f", {figure.missed} late" if figure.missed else ""
    return f"{percent(figure.costly_share, 0)}{missed}"


def markdown(overview: Overview) -> str:
    rows = [overview.headings, ("---",) * len(overview.headings), *overview.rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
