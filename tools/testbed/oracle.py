"""What perfect knowledge of the link rates could do: the least bytes on costly paths.

Everything here is fluid and in order: bytes of a chunk may leave from its release on, arrive one
way's delay later, and no chunk is complete before those ahead of it. Times are ms after t0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from .errors import MeasurementError
from .frames import payload_share
from .rates import Rates
from .scenario import Load, Scenario

# Link rates are whole bits and times fractions of a millisecond: closer means equal.
_EPSILON_MS = 1e-6
_EPSILON_BYTES = 1e-3


Windows = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Link:
    """A path as the oracle sees it; ``share`` is what of the link's bytes is payload."""

    rates: Rates
    delay_ms: float
    costly: bool
    share: float
    up_ms: Windows = ()

    def carries(self, from_ms: float, to_ms: float) -> float:
        if not self.up_ms:
            return self.rates.bytes_between(from_ms, to_ms) * self.share
        parts = ((max(from_ms, start), min(to_ms, end)) for start, end in self.up_ms)
        whole = sum(self.rates.bytes_between(start, end) for start, end in parts if start < end)
        return whole * self.share


@dataclass(frozen=True)
class Verdict:
    """Completion times at full speed, which chunks that meets, and the least costly bytes."""

    full_speed_ms: tuple[float, ...]
    meetable: tuple[bool, ...]
    costly_bytes: float
    costly_share: float


def links_of(scenario: Scenario) -> list[Link]:
    share = payload_share(scenario.connection.ip, multipath=True)
    return [
        Link(p.rates, p.delay_ms, scenario.is_costly(p), share, p.up_ms) for p in scenario.paths
    ]


@lru_cache(maxsize=256)
def of(scenario: Scenario, deadline_ms: float | None) -> Verdict:
    """The oracle for a scenario: one for all its runs."""
    return judge(links_of(scenario), scenario.load, deadline_ms)


def judge(links: list[Link], load: Load, deadline_ms: float | None) -> Verdict:
    """The oracle for chunks due ``deadline_ms`` after their release, or never."""
    full = full_speed(links, load)
    due = _due(load, deadline_ms or 0)
    meetable = _in_time(full, due) if deadline_ms is not None else (False,) * load.chunks
    last_release = load.release_ms(load.chunks - 1)
    end_of_run = max(last_release + max(load.period_ms, deadline_ms or 0), full[-1])
    latest = _latest(due, meetable, end_of_run)
    costly = _least_costly(links, load, latest)
    return Verdict(tuple(full), meetable, costly, costly / load.total_bytes)


def late_with(scenario: Scenario, deadline_ms: float, capacity: float) -> int:
    """The chunks that are meetable, but not by links of which only this share is used.

    No scheduler avoids missing these over a transport that leaves the rest unused.
    """
    met = of(scenario, deadline_ms).meetable
    links = [replace(link, share=link.share * capacity) for link in links_of(scenario)]
    load = scenario.load
    still = _in_time(full_speed(links, load), _due(load, deadline_ms))
    return sum(m and not s for m, s in zip(met, still, strict=True))


def _due(load: Load, deadline_ms: float) -> list[float]:
    return [float(load.release_ms(k) + deadline_ms) for k in range(load.chunks)]


def _in_time(ends: list[float], due: list[float]) -> tuple[bool, ...]:
    return tuple(at <= end + _EPSILON_MS for at, end in zip(ends, due, strict=True))


def full_speed(links: list[Link], load: Load) -> list[float]:
    """When each chunk is complete if every path sends whenever there is something to send."""
    ends: list[float] = []
    before = 0.0
    for chunk in range(load.chunks):
        release = load.release_ms(chunk)
        starts = [max(release, before - link.delay_ms) for link in links]
        before = max(before, _first_time(links, starts, load.chunk_bytes))
        ends.append(before)
    return ends


def _first_time(links: list[Link], starts: list[float], size: float) -> float:
    """When ``size`` bytes have arrived of what the links send from their starts on."""

    def arrived(at: float) -> float:
        pairs = zip(links, starts, strict=True)
        return sum(link.carries(start, at - link.delay_ms) for link, start in pairs)

    low = min(starts)
    step = 1000.0
    while arrived(low + step) < size:
        step *= 2
        if step > 1e12:
            raise MeasurementError("oracle: these links never carry the load")
    high = low + step
    while high - low > _EPSILON_MS / 4:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if arrived(middle) >= size else (middle, high)
    return high


def _latest(due: list[float], meetable: tuple[bool, ...], end_of_run: float) -> list[float]:
    """Until when each chunk must have arrived: it is ahead of all meetable ones after it."""
    latest = [end_of_run] * len(due)
    bound = end_of_run
    for chunk in reversed(range(len(due))):
        if meetable[chunk]:
            bound = min(bound, due[chunk])
        latest[chunk] = bound
    return latest


def _least_costly(links: list[Link], load: Load, latest: list[float]) -> float:
    """A transport problem: bytes of chunk k on link i in slot s, within capacity.

    Slots end wherever a chunk is released or becomes too late for a link. Within one slot it
    does not matter when a byte is sent, so rate changes need no slots of their own.
    """
    columns: list[tuple[int, int]] = []  # (row of the capacity, chunk)
    capacities: list[float] = []
    costs: list[float] = []
    for link in links:
        releases = [float(load.release_ms(k)) for k in range(load.chunks)]
        lasts = [at - link.delay_ms for at in latest]
        cuts = sorted({*releases, *(at for at in lasts if at > 0)})
        for start, end in pairwise(cuts):
            amount = link.carries(start, end)
            if amount <= 0:
                continue
            row = len(capacities)
            capacities.append(amount)
            for chunk in range(load.chunks):
                if releases[chunk] <= start and end <= lasts[chunk] + _EPSILON_MS:
                    columns.append((row, chunk))
                    costs.append(1.0 if link.costly else 0.0)
    return _solve(columns, capacities, costs, load)


def _solve(
    columns: list[tuple[int, int]], capacities: list[float], costs: list[float], load: Load
) -> float:
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    count = len(columns)
    if not count:
        raise MeasurementError("oracle: no path can carry anything in time")
    rows, chunks = (np.array(part) for part in zip(*columns, strict=True))
    ones, index = np.ones(count), np.arange(count)
    within = coo_matrix((ones, (rows, index)), shape=(len(capacities), count))
    whole = coo_matrix((ones, (chunks, index)), shape=(load.chunks, count))
    # In units of a chunk the numbers stay near 1. The allowance is for rounding alone: at the
    # limit a chunk takes exactly what there is.
    unit = load.chunk_bytes
    room = (np.array(capacities) + _EPSILON_BYTES) / unit
    done = linprog(
        costs, A_ub=within, b_ub=room, A_eq=whole, b_eq=np.ones(load.chunks), method="highs"
    )
    if done.status != 0:
        raise MeasurementError(f"oracle: {done.message}")
    least = float(done.fun) * unit
    return 0.0 if least < len(capacities) * _EPSILON_BYTES * 2 else least
