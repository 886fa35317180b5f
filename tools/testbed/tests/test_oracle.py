"""The oracle against figures worked out by hand, and against trying everything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed import oracle, rates, scenariofile
from testbed.oracle import Link
from testbed.rates import Rates
from testbed.scenario import CROWD, Load

# A round share, with which the figures below were computed by hand.
SHARE = 0.943


def links(preferred_bps: int, costly_bps: int, share: float = SHARE) -> list[Link]:
    return [
        Link(rates.constant(preferred_bps), 50, False, share),
        Link(rates.constant(costly_bps), 50, True, share),
    ]


SIX = Load(6, 10_000_000, 10_000)
ONE = Load(1, 5_000_000, 10_000)


@pytest.mark.parametrize(
    ("pair", "load", "deadline_ms", "percent"),
    [
        (links(8_000_000, 8_000_000), SIX, 10_000, 6.2),
        (links(8_000_000, 8_000_000), SIX, 7_500, 29.7),
        (links(8_000_000, 8_000_000), SIX, 6_000, 43.9),
        (links(4_000_000, 12_000_000), SIX, 10_000, 53.1),
        (links(4_000_000, 12_000_000), SIX, 7_500, 64.9),
        (links(3_800_000, 3_000_000), ONE, 10_000, 10.9),
        (links(3_800_000, 3_000_000), ONE, 9_000, 19.8),
        (links(3_800_000, 3_000_000), ONE, 8_000, 28.8),
    ],
)
def test_by_hand(pair: list[Link], load: Load, deadline_ms: int, percent: float) -> None:
    verdict = oracle.judge(pair, load, deadline_ms)
    assert verdict.costly_share * 100 == pytest.approx(percent, abs=0.051)
    assert all(verdict.meetable)


def test_full_speed_by_hand() -> None:
    done = oracle.full_speed(links(8_000_000, 8_000_000, 1.0), SIX)
    assert done == pytest.approx([5050 + 10_000 * k for k in range(6)], abs=0.01)


def test_late_with_less_capacity() -> None:
    """10 MB of payload over 16 Mbit/s and 50 ms take 5.4 s, over 99 % of that 5.45 s."""
    scenario = scenariofile.find("bulk-sym")
    ends = oracle.full_speed(oracle.links_of(scenario), scenario.load)
    assert oracle.late_with(scenario, 6_000, 0.99) == 0
    assert oracle.late_with(scenario, round(ends[0]) + 1, 0.99) == scenario.load.chunks
    # what cannot be met at all is not counted
    assert oracle.late_with(scenario, round(ends[0]) - 1, 0.5) == 0


def test_nothing_meetable_leaves_the_rest_of_the_run() -> None:
    # 10 MB take 5.3 s at both links' full speed. Until 60 s P carries 0.943 * 59.95 MB of 60.
    verdict = oracle.judge(links(8_000_000, 8_000_000), SIX, 5_000)
    assert verdict.meetable == (False,) * 6
    assert verdict.costly_share == pytest.approx(1 - 0.943 * 59.95 / 60, abs=1e-4)


def test_no_deadline_needs_nothing_costly() -> None:
    verdict = oracle.judge(links(8_000_000, 8_000_000, 1.0), Load(2, 1_000_000, 10_000), None)
    assert (verdict.costly_bytes, verdict.meetable) == (0.0, (False, False))


def test_overload_runs_until_full_speed_is_done() -> None:
    pair = links(800_000, 800_000, 1.0)
    verdict = oracle.judge(pair, Load(3, 1_000_000, 1_000), 1_000)
    assert verdict.meetable == (False,) * 3
    assert verdict.full_speed_ms[-1] == pytest.approx(15_050, abs=0.01)
    assert verdict.costly_share == pytest.approx(0.5, abs=1e-6)


def test_late_chunk_stays_ahead_of_the_next() -> None:
    # The first second carries nothing: chunk 0 is late, chunk 1 can be met only behind it.
    holes = Rates(1000, (0, 8_000_000, 8_000_000, 8_000_000))
    pair = [Link(holes, 0, False, 1.0), Link(holes, 0, True, 1.0)]
    verdict = oracle.judge(pair, Load(2, 1_000_000, 1_000), 1_000)
    assert verdict.full_speed_ms == pytest.approx((1500, 2000), abs=0.01)
    assert verdict.meetable == (False, True)
    assert verdict.costly_bytes == pytest.approx(1_000_000, rel=1e-6)


def test_delay_counts_per_path() -> None:
    slow = Link(rates.constant(8_000_000), 500, False, 1.0)
    near = Link(rates.constant(8_000_000), 10, True, 1.0)
    verdict = oracle.judge([slow, near], Load(1, 1_000_000, 1_000), 1_000)
    assert verdict.costly_bytes == pytest.approx(500_000, rel=1e-6)
    assert verdict.full_speed_ms[0] == pytest.approx(755, abs=0.01)


def test_two_costly_paths_take_the_place_of_one() -> None:
    pair = links(8_000_000, 4_000_000, 1.0)
    three = [*pair, pair[1]]
    one = oracle.judge(links(8_000_000, 8_000_000, 1.0), SIX, 7_500)
    assert oracle.judge(three, SIX, 7_500).costly_bytes == pytest.approx(one.costly_bytes)


def test_static_scenarios_are_all_meetable_in_time() -> None:
    for name in ("bulk-validate", "bulk-sym", "bulk-asym"):
        each = scenariofile.find(name)
        for deadline_ms in each.plan.deadline_ms:
            verdict = oracle.judge(oracle.links_of(each), each.load, deadline_ms)
            assert all(verdict.meetable), (name, deadline_ms)
            assert 0 <= verdict.costly_share < 1


def test_traces_by_hand() -> None:
    # P: 1 MB in the first second, none in the second, and so on; C: 0.5 MB always. No delays.
    preferred = Link(Rates(500, (16_000_000, 0, 0, 0)), 0, False, 1.0)
    costly = Link(rates.constant(4_000_000), 0, True, 1.0)
    load = Load(4, 500_000, 1_000)
    # Chunks 0 and 2 fit into P alone; 1 and 3 find nothing there within their second.
    verdict = oracle.judge([preferred, costly], load, 1_000)
    assert verdict.meetable == (True,) * 4
    assert verdict.costly_bytes == pytest.approx(1_000_000, rel=1e-6)
    # With a second more, P's next round carries chunk 1 beside chunk 2, and 3 in the round after.
    verdict = oracle.judge([preferred, costly], load, 2_000)
    assert verdict.costly_bytes == pytest.approx(0, abs=1)


def test_no_capacity_while_a_path_is_down() -> None:
    windows = ((0.0, 1_000.0), (3_000.0, 9_000.0))
    part = Link(rates.constant(8_000_000), 0, False, 1.0, windows)
    always = Link(rates.constant(8_000_000), 0, True, 1.0)
    verdict = oracle.judge([part, always], Load(3, 1_000_000, 1_000), 1_000)
    assert verdict.costly_bytes == pytest.approx(2_000_000, rel=1e-6)


# --- against trying everything --------------------------------------------------------------
# Time goes by ticks, of which a link's rate lasts two: chunks come and are due within such a slot.

TICK_MS = 500
UNIT = 1000
SLOTS = 6


@dataclass(frozen=True)
class Small:
    """A link that carries whole units in each tick of a slot; the slots come again and again."""

    capacity: tuple[int, ...]
    delay: int
    costly: bool

    def left_at(self, tick: int) -> int:
        """How much leaves it within a tick."""
        return self.capacity[tick // 2 % SLOTS] if tick >= 0 else 0

    @property
    def link(self) -> Link:
        slots = tuple(c * UNIT * 8 * 1000 // TICK_MS for c in self.capacity)
        return Link(Rates(2 * TICK_MS, slots), self.delay * TICK_MS, self.costly, 1.0)


@dataclass(frozen=True)
class Case:
    """Chunks of ``size`` units, ``together`` of them every ``period`` ticks."""

    links: tuple[Small, ...]
    chunks: int
    size: int
    period: int
    together: int
    deadline: int

    @property
    def load(self) -> Load:
        return Load(
            self.chunks, self.size * UNIT, self.period * TICK_MS, kind=CROWD, together=self.together
        )

    def release(self, chunk: int) -> int:
        return chunk // self.together * self.period

    def due(self, chunk: int) -> int:
        return self.release(chunk) + self.deadline

    def full_speed(self) -> list[Fraction]:
        """When each chunk is complete, in ticks, if what arrives is always of the first that is
        not: exact, from one tick to the next."""
        ends: list[Fraction] = []
        now, left = Fraction(0), Fraction(self.size)
        while len(ends) < self.chunks:
            tick, release = math.floor(now), self.release(len(ends))
            arriving = sum(
                link.left_at(tick - link.delay)
                for link in self.links
                if tick - link.delay >= release
            )
            until = min(Fraction(tick + 1), now + left / arriving) if arriving else tick + 1
            left -= arriving * (until - now)
            now = Fraction(until)
            if not left:
                ends.append(now)
                left = Fraction(self.size)
        return ends


def _least_by_trying(case: Case, meetable: list[bool], end: int) -> float:
    """The least costly units, if all have arrived at the end: of what a link hands over in each
    tick, any number may be of any chunk that was there when it left."""

    @cache
    def best(tick: int, index: int, left: tuple[int, ...]) -> float:
        if not any(left):
            return 0
        if index == len(case.links):
            return math.inf if _late(tick + 1, left) else best(tick + 1, 0, left)
        if tick == end:
            return math.inf
        link = case.links[index]
        sent = tick - link.delay
        there = tuple(x if case.release(k) <= sent else 0 for k, x in enumerate(left))
        least = math.inf
        for split in _splits(there, link.left_at(sent)):
            after = tuple(x - y for x, y in zip(left, split, strict=True))
            least = min(least, best(tick, index + 1, after) + link.costly * sum(split))
        return least

    def _late(now: int, left: tuple[int, ...]) -> bool:
        """Whether a chunk that can be met is due and it, or one ahead of it, is not there."""
        due = (k for k in range(case.chunks) if meetable[k] and case.due(k) <= now)
        return any(any(left[: k + 1]) for k in due)

    return best(0, 0, (case.size,) * case.chunks)


def _splits(most: tuple[int, ...], capacity: int) -> list[tuple[int, ...]]:
    ranges = [range(min(x, capacity) + 1) for x in most]
    return [split for split in product(*ranges) if sum(split) <= capacity]


SMALL = st.builds(
    Small,
    st.tuples(*[st.integers(0, 2)] * (SLOTS - 1), st.just(2)),  # what is left always gets done
    st.integers(0, 3),
    st.booleans(),
)
CASES = st.builds(
    Case,
    links=st.lists(SMALL, min_size=2, max_size=4).map(tuple),
    chunks=st.integers(1, 4),
    size=st.integers(1, 4),
    period=st.integers(1, 4),
    together=st.integers(1, 2),
    deadline=st.integers(1, 7),
)


@settings(max_examples=150, deadline=None)
@given(case=CASES)
def test_against_brute_force(case: Case) -> None:
    verdict = oracle.judge([small.link for small in case.links], case.load, case.deadline * TICK_MS)
    ends = case.full_speed()
    assert verdict.full_speed_ms == pytest.approx([float(at) * TICK_MS for at in ends], abs=1e-3)
    meetable = [at <= case.due(k) for k, at in enumerate(ends)]
    assert list(verdict.meetable) == meetable
    end = max(case.release(case.chunks - 1) + max(case.period, case.deadline), ends[-1])
    # Only ticks are tried: the run's end may lie between two of them.
    most, least = (
        _least_by_trying(case, meetable, at) * UNIT for at in (math.floor(end), math.ceil(end))
    )
    assert least - 1 <= verdict.costly_bytes <= most + 1
