#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Puts into README.md what is measured or kept elsewhere, or checks that it is there.

write: the table of out/demo/results.json and the example program.
check: the example is the file's; the table has been written by this program.
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
TABLE = re.compile(r"(<!-- demo table: make readme -->\n).*?(<!-- end of demo table -->)", re.S)
CODE = re.compile(r"(## Set a deadline\n\n```c\n).*?(```)", re.S)
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


def table() -> str:
    results = json.loads(RESULTS.read_text())
    rows = [HEADINGS, ["---"] * len(HEADINGS), *map(row, results["runs"])]
    host = results["host"]
    text = "".join(f"| {' | '.join(cells)} |\n" for cells in rows)
    return f"{text}\nKernel {host['kernel']}, {host['clock']} clock, seed {results['runs'][0]['seed']}: `make demo`.\n\n"


def with_example(text: str) -> str:
    code = EXAMPLE.read_text()
    return CODE.sub(lambda m: m[1] + code + m[2], text)


def main() -> int:
    if sys.argv[1:] == ["write"]:
        text = with_example(README.read_text())
        README.write_text(TABLE.sub(lambda m: m[1] + table() + m[2], text))
        return 0
    if sys.argv[1:] == ["check"]:
        text = README.read_text()
        good = text == with_example(text)
        print(f"{'ok' if good else 'not ok'} 1 the README's example is userspace/examples/deadline.c")
        return 0 if good else 1
    print("usage: readme.py write|check", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
