# SPDX-License-Identifier: GPL-2.0
"""Cases, their KTAP, and a kernel log that must not complain."""

from __future__ import annotations

import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

Case = Callable[[], None]

COMPLAINTS = re.compile("|".join(Path(__file__).with_name("complaints").read_text().splitlines()))

cases: list[Case] = []


class Skip(Exception):
    """Raised by a case that cannot be tried; its text says why."""


def case(function: Case) -> Case:
    """Decorator: the function is a case, in the order in which they are written."""
    cases.append(function)
    return function


def note(text: str) -> None:
    print(f"# {text}", flush=True)


def same(what: str, value: Any, expected: Any) -> None:
    assert value == expected, f"{what} is {value!r}, expected {expected!r}"


def between(what: str, value: float, low: float, high: float) -> None:
    assert low <= value <= high, f"{what} is {value}, expected {low} .. {high}"


def kernel_log(mark: str) -> list[str]:
    """What the kernel said after the mark; all that is left if that has scrolled out."""
    text = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout
    return text.rpartition(mark)[2].splitlines()


def run_case(number: int, function: Case) -> bool:
    name = function.__name__.replace("_", " ")
    mark = f"case {number} of {sys.argv[0]}: {name}"
    Path("/dev/kmsg").write_text(mark + "\n")
    try:
        function()
        bad = [line for line in kernel_log(mark) if COMPLAINTS.search(line)]
        assert not bad, "the kernel complains: " + bad[0]
    except Skip as why:
        print(f"ok {number} {name} # SKIP {why}", flush=True)
        return True
    except Exception:
        print(f"not ok {number} {name}")
        for line in traceback.format_exc().splitlines():
            note(line)
        return False
    print(f"ok {number} {name}", flush=True)
    return True


def main() -> None:
    """Runs every case, or those whose names hold one of the arguments."""
    chosen = [c for c in cases if len(sys.argv) < 2 or any(a in c.__name__ for a in sys.argv[1:])]
    print(f"KTAP version 1\n1..{len(chosen)}", flush=True)
    results = [run_case(number, function) for number, function in enumerate(chosen, 1)]
    sys.stdout.flush()
    raise SystemExit(not all(results))
