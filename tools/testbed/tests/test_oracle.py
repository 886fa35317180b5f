"""The oracle against figures worked out by hand, and against trying everything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed import oracle, rates, scenariofile
from testbed.oracle import Link
from testbed.rates import Rates
from testbed.scenario import Load

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
# One byte of a chunk is one unit, a slot of the brute force is one second, delays are 0 or 1.


@dataclass(frozen=True)
class Small:
    """A link of whole units per second, with a delay in seconds."""

    capacity: tuple[int, ...]
    delay: int
    costly: bool


def _slow_optimum(links: list[Small], size: int, latest: tuple[float, ...]) -> int | None:
    """The least costly units, by trying every split of every slot among the chunks."""
    slots = len(links[0].capacity)

    @cache
    def best(slot: int, link: int, left: tuple[int, ...]) -> int | None:
        if not any(left):
            return 0
        if slot == slots:
            return None
        after = (slot, link + 1) if link + 1 < len(links) else (slot + 1, 0)
        this = links[link]
        results = []
        for split in _splits(_open(slot, left, this.delay), this.capacity[slot]):
            rest = best(*after, tuple(x - y for x, y in zip(left, split, strict=True)))
            if rest is not None:
                results.append(rest + (sum(split) if this.costly else 0))
        return min(results, default=None)

    def _open(slot: int, left: tuple[int, ...], delay: int) -> tuple[int, ...]:
        """What of each chunk may be sent in a slot: released, and there in time."""
        return tuple(
            x if k <= slot and slot + 1 + delay <= latest[k] else 0 for k, x in enumerate(left)
        )

    return best(0, 0, (size,) * len(latest))


def _splits(most: tuple[int, ...], capacity: int) -> list[tuple[int, ...]]:
    ranges = [range(min(x, capacity) + 1) for x in most]
    return [split for split in product(*ranges) if sum(split) <= capacity]


SLOTS = 6
SMALL = st.builds(
    Small,
    st.tuples(*[st.integers(0, 3)] * (SLOTS - 1), st.just(3)),  # what is left always gets done
    st.integers(0, 1),
    st.booleans(),
)


@settings(max_examples=80, deadline=None)
@given(
    small=st.lists(SMALL, min_size=2, max_size=4),
    size=st.integers(1, 3),
    chunks=st.integers(1, 3),
    deadline=st.integers(1, 3),
)
def test_against_brute_force(small: list[Small], size: int, chunks: int, deadline: int) -> None:
    unit = 1000
    links = [
        Link(Rates(1000, tuple(c * 8 * unit for c in s.capacity)), s.delay * 1000, s.costly, 1.0)
        for s in small
    ]
    load = Load(chunks, size * unit, 1000)
    verdict = oracle.judge(links, load, deadline * 1000)
    due = [float(k + deadline) for k in range(chunks)]
    # The run's end is put at the end of a slot: the brute force knows no others.
    end = max(chunks - 1 + max(1, deadline), math.ceil(verdict.full_speed_ms[-1] / 1000 - 1e-6))
    latest = oracle._latest(due, verdict.meetable, end)
    rounds = [
        Small(tuple(s.capacity[slot % SLOTS] for slot in range(end + 1)), s.delay, s.costly)
        for s in small
    ]
    slow = _slow_optimum(rounds, size, tuple(latest))
    assert slow is not None
    least = oracle._least_costly(links, load, [at * 1000 for at in latest])
    assert least == pytest.approx(slow * unit, abs=1)
