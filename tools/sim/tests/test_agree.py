"""
The simulator beside the kernel: every static cell that Documentation/results.md tells of. BBR
begins its cycles at random, on the kernel too, so the simulator's share is the mean of some seeds, and
where it differs much so is the kernel's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest
from sim.simulate import PROGRAM, Setting, run_each
from testbed import protocols, scenariofile

MEASURED = Path("Documentation/results.md")
# how far a share in the simulator may be from that on the kernel
APART = 0.03
SEEDS = range(1, 9)
RULES = {
    protocols.find("mptcp").title: Setting(stock=True),
    f"{protocols.find('mpdpa').title}, α adaptive": Setting(),
    f"{protocols.find('threshold').title}, α 1": Setting(policy="threshold", alpha_milli=1000),
    f"{protocols.find('threshold').title}, α 0.8": Setting(policy="threshold", alpha_milli=800),
}


def row(line: str) -> list[str]:
    return [entry.strip() for entry in line.strip("|\n ").split("|")]


def cells() -> Iterator[tuple[str, float, str, float]]:
    """Scenario, deadline in ms, column and costly share of each entry."""
    text = MEASURED.read_text().partition("## bench-static\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    columns = row(lines[0])
    for line in lines[2:]:
        entries = row(line)
        if len(entries) != len(columns):
            break
        name, _, deadline = entries[0].rpartition(", ")
        for column, entry in zip(columns, entries, strict=True):
            share = re.match(r"([0-9.]+) %", entry)
            if column in RULES and share:
                yield name, float(deadline.removesuffix(" s")) * 1000, column, float(share[1]) / 100


CELLS = list(cells())


def test_the_document_has_every_static_cell() -> None:
    static = {name for name, _, _, _ in CELLS}
    planned = {
        (name, deadline)
        for name in static
        for plan in [scenariofile.find(name).plan]
        for deadline in (*plan.deadline_ms, *plan.limit_deadline_ms)
    }
    assert {column for _, _, column, _ in CELLS} == set(RULES)
    assert planned == {(name, deadline) for name, deadline, _, _ in CELLS}
    assert len(static) == 4


@pytest.mark.parametrize(("name", "deadline_ms", "column", "share"), CELLS)
def test_agrees_with_the_kernel(name: str, deadline_ms: float, column: str, share: float) -> None:
    scenario = scenariofile.find(name)
    runs = run_each(PROGRAM, scenario, deadline_ms, RULES[column], SEEDS)
    assert abs(mean(out.costly_share for out in runs) - share) <= APART
