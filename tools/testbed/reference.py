"""Published figures to show beside ours; data in reference.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path as File

from .cellspec import Cell
from .fields import Fields
from .scenariofile import MS_RANGE

_SHARES = ("costly_share", "overhead")
FILE = File(__file__).resolve().parent / "reference.toml"


@dataclass(frozen=True)
class Figure:
    """None where the origin does not say; ``about`` names the shares that are the middle of a
    published range, ``why`` tells why ours differs, if it does."""

    scenario: str
    protocol: str
    also: tuple[str, ...]
    alpha: float | None
    deadline_ms: tuple[int, ...]
    costly_share: float | None
    missed: int | None
    chunk_seconds: float | None
    overhead: float | None
    about: tuple[str, ...]
    why: str | None


@dataclass(frozen=True)
class Reference:
    origin: str
    short: str
    setup: str
    figures: tuple[Figure, ...]

    def beside(self, cell: Cell) -> Figure | None:
        for figure in self.figures:
            same = (figure.scenario, figure.alpha) == (cell.scenario.name, cell.alpha)
            known = cell.protocol in (figure.protocol, *figure.also)
            if same and known and cell.deadline_ms in figure.deadline_ms:
                return figure
        return None


def load(file: File = FILE) -> Reference:
    top = Fields(tomllib.loads(file.read_text()), str(file))
    reasons = top.table("why")
    whys = {name: reasons.text(name) for name in reasons.names()}
    reference = Reference(
        top.text("origin"),
        top.text("short"),
        top.text("setup"),
        tuple(_figure(row, whys) for row in top.tables("figure")),
    )
    top.finish("origin, short, setup, why, figure")
    return reference


def _figure(row: Fields, whys: dict[str, str]) -> Figure:
    why = row.choice("why", tuple(whys), None)
    figure = Figure(
        scenario=row.text("scenario"),
        protocol=row.text("protocol"),
        also=row.items("also", "a list of protocols", lambda v: isinstance(v, str), ()),
        alpha=row.number("alpha", 0.1, 4, None),
        deadline_ms=row.integers("deadline_ms", *MS_RANGE),
        costly_share=row.number("costly_share", 0, 1, None),
        missed=row.integer("missed", 0, 1_000_000, None),
        chunk_seconds=row.number("chunk_seconds", 0, 86_400, None),
        overhead=row.number("overhead", 0, 1, None),
        about=row.items("about", f"a list of {' and '.join(_SHARES)}", _SHARES.__contains__, ()),
        why=None if why is None else whys[why],
    )
    row.finish("scenario, protocol, also, alpha, deadline_ms, costly_share, missed, ...")
    return figure
