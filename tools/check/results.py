#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What was run on which kernel with what result: Documentation/testing.md.

    results.py render       puts the table into the document

Each run leaves one JSON record in out/results. A record of the same target and
kernel takes the place of the one before it; rows of the document for which
there is no record stay.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path("out/results")
DOCUMENT = Path("Documentation/testing.md")
BEGIN, END = "<!-- recorded: make testing -->", "<!-- end of what was recorded -->"
HEAD = "| target | kernel | revision | day | passed | failed | skipped | minutes |\n|---|---|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Record:
    """One run of a target; passed, failed and skipped count cases."""

    target: str
    kernel: str
    revision: str
    day: str
    passed: int
    failed: int
    skipped: int
    seconds: float

    def row(self) -> str:
        cells = (
            f"`make {self.target}`", self.kernel, self.revision, self.day,
            self.passed, self.failed, self.skipped, f"{self.seconds / 60:.1f}",
        )  # fmt: skip
        return "| " + " | ".join(map(str, cells)) + " |"


def add(target: str, passed: int, failed: int, skipped: int, seconds: float) -> None:
    """Records a run on the kernel that the build environment names."""
    record = Record(
        target=target,
        kernel=os.environ.get("KREL", "unknown"),
        revision=os.environ.get("MPDPA_REVISION", "unknown"),
        day=datetime.now(UTC).strftime("%Y-%m-%d"),
        passed=passed,
        failed=failed,
        skipped=skipped,
        seconds=round(seconds, 1),
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9.+-]+", "-", f"{record.target}-{record.kernel}")
    (RESULTS / f"{name}.json").write_text(json.dumps(asdict(record)) + "\n")


def key(row: str) -> tuple[str, str]:
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    return cells[0], cells[1]


def table(before: str, records: list[Record]) -> str:
    """The table with the records in it; rows of others as they were."""
    rows = {key(line): line for line in before.splitlines() if line.startswith("| `make ")}
    rows |= {key(record.row()): record.row() for record in records}
    return "\n".join([HEAD, *(rows[name] for name in sorted(rows))])


def read_records() -> list[Record]:
    return [Record(**json.loads(path.read_text())) for path in sorted(RESULTS.glob("*.json"))]


def render() -> int:
    text = DOCUMENT.read_text()
    head, begin, rest = text.partition(BEGIN)
    before, end, tail = rest.partition(END)
    if not begin or not end:
        print(f"results: {DOCUMENT} lacks the line {END if begin else BEGIN}", file=sys.stderr)
        return 1
    DOCUMENT.write_text(f"{head}{BEGIN}\n\n{table(before, read_records())}\n\n{END}{tail}")
    return 0


def main(arguments: list[str]) -> int:
    if arguments == ["render"]:
        return render()
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
