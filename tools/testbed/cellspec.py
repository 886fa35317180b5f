"""A cell: one run of one scenario with everything that varies fixed. It travels as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path as File
from typing import Any

from . import protocols, rates
from .fields import reading
from .protocols import Protocol, Settings
from .scenario import ADAPTIVE, Alpha, Connection, Load, Path, Plan, Scenario


@dataclass(frozen=True)
class Cell:
    """``settings`` are sysctls of the sender's namespace beside those of the protocol."""

    scenario: Scenario
    protocol: str
    deadline_ms: int | None
    alpha: Alpha
    seed: int
    settings: Settings = ()
    kind: Protocol = field(default=None, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.kind is None:
            object.__setattr__(self, "kind", protocols.find(self.protocol))

    @property
    def multipath(self) -> bool:
        return self.kind.scheduler is not None

    @property
    def scheduler(self) -> str | None:
        """Value of net.mptcp.scheduler."""
        return self.kind.scheduler

    @property
    def sysctls(self) -> Settings:
        return self.kind.settings(self.alpha) + self.settings

    @property
    def tells_deadlines(self) -> bool:
        return self.kind.deadlines and self.deadline_ms is not None

    @property
    def used_paths(self) -> tuple[Path, ...]:
        """TCP has the preferred path alone, or that of the start if it works from then on."""
        return self.scenario.paths if self.multipath else (self.start,)

    @property
    def start(self) -> Path:
        if not self.multipath and not self.scenario.preferred.up_ms:
            return self.scenario.preferred
        return next(p for p in self.scenario.paths if p.name == self.scenario.connection.start)

    @property
    def label(self) -> str:
        """A name for files: scenario, protocol, and what else tells it from its neighbours."""
        words = [self.scenario.name, self.protocol]
        if self.deadline_ms is not None:
            words.append(f"d{self.deadline_ms}")
        if self.alpha is not None:
            words.append("adaptive" if self.alpha == ADAPTIVE else f"a{self.alpha:g}")
        words += [f"{name.rpartition('.')[2]}={value}" for name, value in self.settings]
        return "-".join([*words, f"s{self.seed}"]).replace("/", "_").replace(" ", "_")

    @property
    def protocol_title(self) -> str:
        words = [self.kind.title]
        if self.alpha is not None:
            words.append(f"α {self.alpha if self.alpha == ADAPTIVE else format(self.alpha, 'g')}")
        words += [f"{name.rpartition('.')[2]}={value}" for name, value in self.settings]
        return ", ".join(words)

    @cached_property
    def expected_seconds(self) -> float:
        """Of traffic, roughly: until the last chunk is due, or the path has carried all."""
        load = self.scenario.load
        due = load.release_ms(load.chunks - 1) + max(self.deadline_ms or 0, load.period_ms)
        slowest = load.total_bytes / 0.94
        step = end = 1000.0 * load.chunks
        while sum(p.rates.bytes_until(end) for p in self.used_paths) < slowest and end < 1e8:
            end += step
        return max(due, end) / 1000


def to_json(cell: Cell) -> str:
    data = asdict(cell)
    # The same cell has the same specification, wherever it was read.
    del data["scenario"]["file"]
    for row, path in zip(data["scenario"]["paths"], cell.scenario.paths, strict=True):
        row["rates"] = {"step_ms": path.rates.step_ms, "packed": path.rates.packed()}
    return json.dumps(data, indent=1) + "\n"


def read(file: File) -> Cell:
    with reading(file, "one cell of a campaign"):
        return from_json(file.read_text())


def from_json(text: str) -> Cell:
    data: dict[str, Any] = json.loads(text)
    scenario = data.pop("scenario")
    paths = tuple(_path(row) for row in scenario["paths"])
    plan = Plan(**{key: tuple(value) for key, value in scenario["plan"].items()})
    connection = Connection(**scenario["connection"])
    whole = Scenario(
        scenario["name"], scenario["title"], connection, Load(**scenario["load"]), paths, plan
    )
    kind = {
        key: tuple(tuple(item) if isinstance(item, list) else item for item in value)
        if isinstance(value, list)
        else value
        for key, value in data.pop("kind").items()
    }
    settings = tuple((name, value) for name, value in data.pop("settings"))
    return Cell(scenario=whole, settings=settings, kind=Protocol(**kind), **data)


def _path(row: dict[str, Any]) -> Path:
    shape = row.pop("rates")
    windows = tuple((start, end) for start, end in row.pop("up_ms"))
    return Path(rates=rates.unpacked(shape["step_ms"], shape["packed"]), up_ms=windows, **row)
