#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own MPTCP selftests, unmodified, with the default scheduler and with mpdpa.

Prints both columns as KTAP. A case that ends differently is run three times more on both
sides, each time with another seed, and fails if mpdpa passes it less often. The mpdpa
column fails as a whole if the module decided nothing in it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import results

OUT = Path("out/check/upstream")
COLUMNS = ("default", "mpdpa")
RESULT = re.compile(r"^(ok|not ok) \d+ (?:- )?(.*?)(?: # (SKIP)?.*)?$")

# what the tests draw at random is given, so that both columns have the same
CONNECT = "mptcp_connect.sh -d 10 -l 0.02% -r 0 -e tso -f 1500000"
QUICK = ["pm_netlink.sh", "mptcp_sockopt.sh", "diag.sh"]
# runs side by side: the sums of the lists are about equal
WHOLE = [[*QUICK, "userspace_pm.sh", "simult_flows.sh", CONNECT], ["mptcp_join.sh"]]
RERUNS = 3


@dataclass
class Column:
    """What one scheduler made of some tests: verdicts by test and case."""

    verdicts: dict[str, str] = field(default_factory=dict)
    decisions: int = 0
    complaints: list[str] = field(default_factory=list)


def verdicts_of(test: str, log: str, status: int) -> dict[str, str]:
    """Cases from the test's TAP; the test itself is one more, by its exit status."""
    found = {f"{test}: exit status": {0: "ok", 4: "skip"}.get(status, "not ok")}
    for line in log.splitlines():
        match = RESULT.match(line)
        if match:
            verdict = "skip" if match[3] else match[1]
            name = f"{test}: {match[2]}"
            found[name] = "not ok" if "not ok" in (verdict, found.get(name)) else verdict
    return found


def run(scheduler: str, tests: list[str], seed: int, name: str) -> Column:
    results = OUT / f"{scheduler}-{name}-{seed}"
    command = ["tools/vm/guest", "run", "--clock", "virtual", "--seed", str(seed)]
    command += ["--timeout", "1500", "--quiet", "--overlay", "out/guest"]
    command += ["--overlay", "out/upstream", "--results", str(results)]
    command += ["--", "/opt/upstream/column.sh", scheduler, str(seed), *tests]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    column = Column()
    if done.returncode:
        column.complaints.append(f"the guest ended with {done.returncode}: {done.stderr.strip()}")
    for i, test in enumerate(tests):
        log, status = results / f"{i}.log", results / f"{i}.status"
        if not status.exists():
            column.verdicts[f"{test}: exit status"] = "not ok"
            continue
        text = log.read_text(errors="replace")
        column.verdicts.update(verdicts_of(test, text, int(status.read_text())))
    decisions = results / "decisions"
    if decisions.exists():
        column.decisions = sum(map(int, decisions.read_text().split()))
    bad = results / "bad"
    if bad.exists() and bad.read_text():
        column.complaints.append(f"the kernel's log has: {bad.read_text()}")
    return column


def merged(columns: Iterable[Column]) -> Column:
    whole = Column()
    for column in columns:
        whole.verdicts.update(column.verdicts)
        whole.decisions += column.decisions
        whole.complaints += column.complaints
    return whole


def differing(columns: dict[str, Column]) -> list[str]:
    """Cases that do not end the same; one that only one side has counts as well."""
    names = {name for column in columns.values() for name in column.verdicts}
    default, ours = (columns[side].verdicts for side in COLUMNS)
    return sorted(name for name in names if default.get(name) != ours.get(name))


def rerun(names: list[str]) -> dict[str, dict[str, int]]:
    """How often each case passed on each side, of RERUNS times."""
    tests = sorted({name.split(": ", 1)[0] for name in names})
    passed = {name: dict.fromkeys(COLUMNS, 0) for name in names}
    for seed in range(2, 2 + RERUNS):
        for side in COLUMNS:
            column = run(side, tests, seed, "again")
            for name in names:
                passed[name][side] += column.verdicts.get(name) == "ok"
    return passed


def report(columns: dict[str, Column], again: dict[str, dict[str, int]]) -> tuple[int, int, int]:
    """Prints all cases; returns how many passed, failed and were skipped."""
    names = list(dict.fromkeys(n for c in columns.values() for n in c.verdicts))
    print(f"KTAP version 1\n1..{len(names) + 2}")
    failed = skipped = 0
    for number, name in enumerate(names, 1):
        default, ours = (columns[side].verdicts.get(name, "absent") for side in COLUMNS)
        counts = again.get(name)
        good = default == ours or (counts is not None and counts["mpdpa"] >= counts["default"])
        note = f"default {default}, mpdpa {ours}"
        if counts:
            note += f"; of {RERUNS} more: {counts['default']} and {counts['mpdpa']}"
        skip = " # SKIP on both sides" if default == ours == "skip" else ""
        print(f"# {note}\n{'ok' if good else 'not ok'} {number} {name}{skip}")
        failed += not good
        skipped += bool(skip)
    decisions = columns["mpdpa"].decisions
    print(f"# {decisions} decisions\n{'ok' if decisions else 'not ok'} {len(names) + 1} mpdpa decided")
    complaints = [text for column in columns.values() for text in column.complaints]
    print("".join(f"# {line}\n" for text in complaints for line in text.splitlines()), end="")
    print(f"{'not ok' if complaints else 'ok'} {len(names) + 2} guests and their logs")
    failed += (not decisions) + bool(complaints)
    verdicts = [column.verdicts.values() for column in columns.values()]
    print("# passed:", ", ".join(f"{side} {list(v).count('ok')}" for side, v in zip(COLUMNS, verdicts, strict=True)))
    return len(names) + 2 - failed - skipped, failed, skipped


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the fast subset that make check runs")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="guests at a time")
    parser.add_argument("--test", action="append", metavar="TEST", help="only this one; may be repeated")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    groups = [options.test] if options.test else [QUICK] if options.quick else WHOLE
    jobs = [(side, group, str(i)) for i, group in reversed(list(enumerate(groups))) for side in COLUMNS]
    with ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(lambda job: (job[0], run(job[0], job[1], 1, job[2])), jobs))
    columns = {side: merged(column for at, column in done if at == side) for side in COLUMNS}
    names = differing(columns)
    passed, failed, skipped = report(columns, rerun(names) if names else {})
    if groups is WHOLE:
        results.add("check-upstream", passed, failed, skipped, time.monotonic() - started)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
