"""Scenarios of a few links, for the simulator and its tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from testbed import scenariofile
from testbed.lot import COSTS
from testbed.scenario import Scenario


def scenario(
    name: str,
    paths: Iterable[Mapping[str, object]],
    load: Mapping[str, object],
    deadline_ms: int,
    connection: Mapping[str, object] | None = None,
) -> Scenario:
    """Links from the cheapest to the dearest; of each what is not its name and cost."""
    rows: list[dict[str, Any]] = [
        {"name": f"P{cost}", "cost": cost, **path} for cost, path in zip(COSTS, paths, strict=False)
    ]
    data: dict[str, Any] = {
        "name": name,
        "title": "Links of a test",
        "load": dict(load),
        "plan": {"deadline_ms": [deadline_ms]},
        "path": rows,
    }
    if connection is not None:
        data["connection"] = dict(connection)
    return scenariofile.parse(data, Path(f"{name}.toml"))
