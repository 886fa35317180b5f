"""Networks that nobody chose: what the rule costs there may fall, and not rise."""

from __future__ import annotations

from statistics import fmean

from sim import lot


def test_networks_by_lot() -> None:
    found = list(lot.outcomes(list(lot.draw(1, 100))))
    missed = sum(out.avoidable_missed for out in found)
    assert missed <= 0.05 * sum(len(out.completion_ms) for out in found)
    # 0.045 while all went twice of which a packet was late
    assert fmean(out.excess for out in found) <= 0.034


def test_networks_of_three_links() -> None:
    found = list(lot.outcomes(list(lot.draw(2, 60, 3))))
    missed = sum(out.avoidable_missed for out in found)
    assert missed <= 0.1 * sum(len(out.completion_ms) for out in found)
    # 0.047 while all went twice of which a packet was late
    assert fmean(out.excess for out in found) <= 0.032


def test_networks_that_change() -> None:
    found = list(lot.outcomes(list(lot.draw(1, 60, changing=True))))
    missed = sum(out.avoidable_missed for out in found)
    assert missed <= 0.15 * sum(len(out.completion_ms) for out in found)
    assert fmean(out.excess for out in found) <= 0.09
