#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Puts into README.md what is measured or kept elsewhere, or checks that it is there.

write: the table of out/demo/results.json and the example program.
check: the example is the file's; the table has the columns of this program. Its figures are those
of the last time.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

README = Path("README.md")
RESULTS = Path("out/demo/results.json")
REFERENCE = Path("tools/testbed/reference.toml")
EXAMPLE = Path("userspace/examples/deadline.c")
TABLE = re.compile(r"(<!-- demo table: make readme -->\n)(.*?)(<!-- end of demo table -->)", re.S)
CODE = re.compile(r"(## Set a deadline\n\n```c\n)(.*?)(^```$)", re.S | re.M)
HEADINGS = ["", "met", "missed", "costly share", "oracle", "savings efficiency", "overhead", "seconds a chunk", "source 0: costly share"]


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f} %"


def row(run: dict) -> list[str]:
    times = [ms / 1000 for ms in run["completion_ms"] if ms is not None]
    savings = run["savings_efficiency"] if run["protocol"] not in ("tcp", "mptcp") else None
    return [
        run["protocol_title"],
        f"{run['chunks'] - run['missed']} of {run['chunks']}",
        str(run["missed"]),
        percent(run["costly_share"]),
        percent(run["oracle_costly_share"]),
        "–" if savings is None else f"{savings:.2f}",
        percent(run["overhead"]),
        f"{min(times):.1f} – {max(times):.1f}" if times else "–",
        published(run),
    ]


def published(run: dict) -> str:
    """What source 0 reports of the same cell."""
    for figure in tomllib.loads(REFERENCE.read_text())["figure"]:
        same = all(figure.get(key) == run[key] for key in ("scenario", "protocol", "alpha"))
        if same and run["deadline_ms"] in figure["deadline_ms"]:
            missed = f", {figure['missed']} missed" if "missed" in figure else ""
            return f"{figure['costly_share'] * 100:.0f} %{missed}"
    return "–"


def lines(rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


HEAD = lines([HEADINGS, ["---"] * len(HEADINGS)])


def table() -> str:
    results = json.loads(RESULTS.read_text())
    host = results["host"]
    text = HEAD + lines([row(run) for run in results["runs"]])
    return f"{text}\nKernel {host['kernel']}, {host['clock']} clock, seed {results['runs'][0]['seed']}: `make demo`.\n\n"


def within(place: re.Pattern[str], text: str) -> str | None:
    """What is in a place of the README that is there once; None if it is not."""
    found = place.findall(text)
    return found[0][1] if len(found) == 1 else None


def put(place: re.Pattern[str], content: str, text: str) -> str:
    if within(place, text) is None:
        raise SystemExit(f"readme: {README}: expected one place like {place.pattern!r}")
    return place.sub(lambda m: m[1] + content + m[3], text)


def check(text: str) -> int:
    """Prints KTAP; how many failed."""
    cases = {
        "the README's example is userspace/examples/deadline.c": within(CODE, text) == EXAMPLE.read_text(),
        "the README's table has the demo's columns": (within(TABLE, text) or "").startswith(HEAD),
    }
    print(f"1..{len(cases)}")
    for number, (name, good) in enumerate(cases.items(), 1):
        print(f"{'ok' if good else 'not ok'} {number} {name}")
    return list(cases.values()).count(False)


def main() -> int:
    if sys.argv[1:] == ["write"]:
        text = put(CODE, EXAMPLE.read_text(), README.read_text())
        README.write_text(put(TABLE, table(), text))
        return 0
    if sys.argv[1:] == ["check"]:
        return 1 if check(README.read_text()) else 0
    print("usage: readme.py write|check", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
