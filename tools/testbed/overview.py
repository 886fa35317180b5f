"""One table over a whole experiment: who put how much on costly paths, and missed how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from .reference import Figure, Reference
from .score import Score
from .table import Group, percent, published_percent

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
    texts = [part.title.replace("deadline ", "")]
    for title in titles:
        seeds = [done for done in part.runs if done.cell.protocol_title == title]
        texts.append(_own([done.score for done in seeds]))
        if title in known:
            texts.append(_theirs(reference.beside(seeds[0].cell)) if seeds else _NONE)
    texts.append(percent(part.runs[0].score.oracle_costly_share))
    return tuple(texts)


def _own(seeds: Sequence[Score]) -> str:
    """Of several runs the mean share, and all their chunks."""
    if not seeds:
        return _NONE
    late = sum(score.missed for score in seeds)
    chunks = sum(len(score.completion_ms) for score in seeds)
    missed = f", {late} of {chunks} late" if late else ""
    counted = [score.missed_own for score in seeds if score.missed_own is not None]
    own = f" ({sum(counted)} by its own count)" if counted else ""
    several = f" (mean of {len(seeds)} seeds)" if len(seeds) > 1 else ""
    return f"{percent(mean(score.costly_share for score in seeds))}{missed}{own}{several}"


def _theirs(figure: Figure | None) -> str:
    if figure is None:
        return _NONE
    missed = f", {figure.missed} late" if figure.missed else ""
    return f"{published_percent(figure, 'costly_share')}{missed}"
