"""A cell: one run of one scenario with everything that varies fixed. It travels as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from .rates import Rates
from .scenario import ADAPTIVE, DEFAULT_SCHEDULER, Alpha, Connection, Load, Path, Plan, Scenario


@dataclass(frozen=True)
class Cell:
    """``protocol`` is tcp, mptcp (the default scheduler) or the name of a scheduler."""

    scenario: Scenario
    protocol: str
    deadline_ms: int | None
    alpha: Alpha
    seed: int

    @property
    def multipath(self) -> bool:
        return self.protocol != "tcp"

    @property
    def scheduler(self) -> str | None:
        """Value of net.mptcp.scheduler."""
        if not self.multipath:
            return None
        return DEFAULT_SCHEDULER if self.protocol == "mptcp" else self.protocol

    @property
    def used_paths(self) -> tuple[Path, ...]:
        """TCP has the preferred path alone."""
        return self.scenario.paths if self.multipath else (self.scenario.preferred,)

    @property
    def start(self) -> Path:
        if not self.multipath:
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
        return "-".join([*words, f"s{self.seed}"])

    @property
    def protocol_title(self) -> str:
        known = {
            "tcp": f"TCP on {self.scenario.preferred.name}",
            "mptcp": "MPTCP, default scheduler",
        }
        title = known.get(self.protocol, self.protocol)
        if self.alpha is None:
            return title
        return f"{title}, α {self.alpha if self.alpha == ADAPTIVE else format(self.alpha, 'g')}"

    @property
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
    return json.dumps(asdict(cell), indent=1) + "\n"


def from_json(text: str) -> Cell:
    data: dict[str, Any] = json.loads(text)
    scenario = data.pop("scenario")
    paths = tuple(_path(row) for row in scenario["paths"])
    plan = Plan(**{key: tuple(value) for key, value in scenario["plan"].items()})
    connection = Connection(**scenario["connection"])
    whole = Scenario(
        scenario["name"], scenario["title"], connection, Load(**scenario["load"]), paths, plan
    )
    return Cell(scenario=whole, **data)


def _path(row: dict[str, Any]) -> Path:
    shape = row.pop("rates")
    return Path(rates=Rates(shape["step_ms"], tuple(shape["bps"])), **row)
