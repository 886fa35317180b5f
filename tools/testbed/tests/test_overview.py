"""The table over a whole bench: a row per deadline, a column per protocol, the mean of seeds."""

from __future__ import annotations

from testbed import document, overview, reference, scenariofile
from testbed.cellspec import Cell
from testbed.results import Finished
from testbed.scenario import ADAPTIVE, Alpha
from testbed.score import score
from testbed.table import groups

from .made_up import counts, raw


def finished(
    protocol: str, alpha: Alpha, seed: int, costly: int, late: bool = True, wire: int = 64
) -> Finished:
    """60 MB, of which so many megabytes over the costly path, and one chunk of six late or none;
    with headers so many megabytes."""
    made = raw()
    made["paths"] = {
        "P": counts((60 - costly) * 10**6, (wire - 1) * 10**6),
        "C": counts(costly * 10**6, 1_000_000),
    }
    if not late:
        made["completion_ns"] = [8 * 10**9] * 6
    cell = Cell(scenariofile.find("bulk-sym"), protocol, 10_000, alpha, seed)
    return Finished(cell, score(cell, made), None)


def test_several_seeds_are_one_entry() -> None:
    published = reference.load()
    runs = [
        finished("threshold", 1.0, 1, 6),
        finished("threshold", 1.0, 2, 12, late=False),
        finished("threshold", 1.0, 3, 30),
        finished("mpdpa", ADAPTIVE, 1, 15, late=False),
    ]
    table = overview.of(list(groups(runs, published)), published)
    [row] = table.rows
    assert row[0] == "bulk-sym, 10 s"
    entry = dict(zip(table.headings, row, strict=True))
    assert entry["mpdpa, rule of MP-DPA, α 1"] == "26.7 %, 2 of 18 late (mean of 3 seeds)"
    assert entry["mpdpa, α adaptive"] == "25.0 %"


def test_only_who_has_several_seeds_tells_them() -> None:
    runs = [finished("threshold", 1.0, seed, 6) for seed in (1, 2)] + [
        finished("mpdpa", ADAPTIVE, 1, 15)
    ]
    [group] = groups(runs, reference.load())
    assert [line.own[0] for line in group.lines] == [
        "mpdpa, rule of MP-DPA, α 1, seed 1",
        "mpdpa, rule of MP-DPA, α 1, seed 2",
        "mpdpa, α adaptive",
    ]


def test_the_middle_of_a_published_range_says_so() -> None:
    published = reference.load()
    runs = [finished("threshold", alpha, 1, 6) for alpha in (1.0, 0.8)]
    [group] = groups(runs, published)
    assert [line.published for line in group.lines] == [
        "0, 25 %, ≈ 12 %, –",
        "0, ≈ 32 %, ≈ 12 %, –",
    ]
    [row] = overview.of([group], published).rows
    assert (row[2], row[4]) == ("25 %", "≈ 32 %")


def test_ours_is_beside_stock_of_the_same_seed() -> None:
    """Overheads of 5 % and 10 %, and of 10 % and 5 %."""
    runs = [
        finished("mptcp", None, 1, 30, wire=63),
        finished("mptcp", None, 2, 30, late=False, wire=66),
        finished("mpdpa", ADAPTIVE, 1, 15, wire=66),
        finished("mpdpa", ADAPTIVE, 2, 15, wire=63),
        finished("mpdpa", ADAPTIVE, 3, 15),
    ]
    lines = document._judged(list(groups(runs, reference.load()))).splitlines()
    head, _, *rows = [line.strip("| ").split(" | ") for line in lines[2:]]
    assert head[-2:] == ["overhead beyond stock, points", "stock's avoidable"]
    assert [row[-2:] for row in rows] == [["+5.0", "1"], ["-5.0", "0"], ["–", "–"]]
