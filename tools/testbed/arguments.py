"""What a word of a command line may be; the limits are those of a scenario's file."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from .scenario import ADAPTIVE, Alpha
from .scenariofile import ALPHA_RANGE, MS_RANGE, SEED_RANGE


def whole(low: int, high: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        short = text.isdecimal() and len(text) <= len(str(high))
        if not short or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(
                f"expected a whole number from {low} to {high}, got {text!r}"
            )
        return int(text)

    return number


ms, seed = whole(*MS_RANGE), whole(*SEED_RANGE)


def alpha(text: str) -> Alpha:
    if text == ADAPTIVE:
        return text
    low, high = ALPHA_RANGE
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not low <= number <= high:
        raise argparse.ArgumentTypeError(
            f"expected a number from {low:g} to {high:g} or {ADAPTIVE}, got {text!r}"
        )
    return number
