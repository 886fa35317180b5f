"""The published rule, step by step, with a switch that only notes what it is told."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from testbed import scenariofile
from testbed.cellspec import Cell
from testbed.rule import INTERVAL_NS, Rule

MS = 10**6
BYTES_PER_MS = 1000  # 8 Mbit/s


@dataclass
class Noted:
    """Stands in for the endpoints."""

    said: list[bool] = field(default_factory=list)

    def set(self, backup: bool) -> None:
        self.said.append(backup)

    def close(self) -> None:
        return None


def drive(alpha: float, bytes_per_ms: int, deadline_ms: int = 10_000) -> tuple[Rule, Noted]:
    """The socket takes bytes at a constant rate until the first chunk has been taken."""
    noted = Noted()
    cell = Cell(scenariofile.find("bulk-sym"), "mp-dpa", deadline_ms, alpha, 1)
    rule = Rule(cell, 0, noted)  # type: ignore[arg-type]
    size = cell.scenario.load.chunk_bytes
    offset, now_ns = 0, 0
    while offset < size:
        rule.look(offset, now_ns)
        now_ns += INTERVAL_NS
        after = min(size, offset + bytes_per_ms)
        rule.took(offset, after, now_ns)
        offset = after
    return rule, noted


def test_costly_paths_start_off_and_stay_off_if_there_is_time() -> None:
    rule, noted = drive(1.0, bytes_per_ms=1_100)
    assert (noted.said, rule.on, rule.missed) == ([], False, 0)


def test_they_are_turned_on_if_there_is_not() -> None:
    rule, noted = drive(1.0, bytes_per_ms=950)
    # 9.5 MB by the deadline are too few as soon as the rate is known; nothing changes after.
    assert noted.said == [False]
    assert (rule.on, rule.switched_on, rule.missed) == (True, 1, 1)


@pytest.mark.parametrize(("alpha", "on"), [(0.8, True), (1.0, False), (1.2, False)])
def test_alpha_shortens_the_time_there_is(alpha: float, on: bool) -> None:
    # 10 MB take 9.1 s: enough for 10 s and too slow for 8.
    rule, _ = drive(alpha, bytes_per_ms=1_100)
    assert rule.on is on


def test_a_whole_number_is_an_alpha() -> None:
    # 10 MB take 13.3 s: too slow for 10 s, not for twice that.
    rule, _ = drive(2, bytes_per_ms=750)
    assert rule.on is False


def look_on(seed: int, skip: bool) -> tuple[list[int], int]:
    """When a chunk's costly paths are switched, and how often the rule is looked at, where the
    socket takes bytes now and then, in whole milliseconds, and sometimes nothing for long."""
    draw = random.Random(seed)
    noted = Noted()
    cell = Cell(scenariofile.find("bulk-sym"), "mp-dpa", 10_000, draw.choice((0.8, 1.0)), 1)
    rule = Rule(cell, 0, noted)  # type: ignore[arg-type]
    switched, looks, offset, now_ns = [], 0, 0, 0
    while offset < 9_000_000 and now_ns < 12_000 * MS:
        pause_ms = draw.choice((1, 3, 8, 8, 15, 40, 400))
        next_ns, end_ns = now_ns, now_ns + pause_ms * MS
        while now_ns < end_ns:
            if now_ns == next_ns or not skip:
                before = len(noted.said)
                rule.look(offset, now_ns)
                next_ns, looks = rule.next_ns(offset, now_ns), looks + 1
                switched += [now_ns] * (len(noted.said) - before)
            now_ns += INTERVAL_NS
        after = offset + draw.randrange(2_000 * min(pause_ms, 40))
        rule.took(offset, after, now_ns)
        offset = after
    return switched, looks


@pytest.mark.parametrize("seed", range(20))
def test_looks_that_would_find_nothing_new_can_be_left_out(seed: int) -> None:
    switched, looks = look_on(seed, skip=False)
    fewer = look_on(seed, skip=True)
    assert fewer[0] == switched
    assert switched and fewer[1] < looks / 4


def test_it_is_looked_at_anew_for_each_chunk() -> None:
    noted = Noted()
    cell = Cell(scenariofile.find("bulk-sym"), "mp-dpa", 10_000, 1.0, 1)
    rule = Rule(cell, 0, noted)  # type: ignore[arg-type]
    size = cell.scenario.load.chunk_bytes
    rule.took(0, 500_000, 400 * MS)
    rule.look(500_000, 400 * MS)  # 1.25 MB/s: 12 MB in the time there is
    assert rule.on is False
    rule.look(500_000, 2_400 * MS)  # 9.5 MB are left, and nothing was taken in 2 s
    assert rule.on is True
    rule.took(500_000, size, 8_000 * MS)
    rule.took(size, size + 2_000_000, 10_100 * MS)
    rule.look(size + 2_000_000, 10_100 * MS)  # the next chunk's time has only begun
    assert rule.on is False
    assert (noted.said, rule.missed) == ([False, True], 0)
