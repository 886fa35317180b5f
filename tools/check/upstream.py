#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own MPTCP selftests, unmodified, with the default scheduler and with mpdpa.

Prints both columns as KTAP. A case that ends differently is run three times more on both
sides, each time with another seed, and fails if mpdpa passes it less often or breaks it more
often, the first time included: in virtual time that can be repeated. One that fails with both
fails nothing, but does not count as passed; a test of which nothing passes, or that breaks off
though nothing failed, has compared nothing, and fails. Each test that sends data fails if the
module decided nothing in it.
"""

from __future__ import annotations

import argparse
import re
import shutil
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
# sends no data, so that there is nothing to decide
SILENT = {"pm_netlink.sh"}
# runs side by side: the sums of the lists are about equal
WHOLE = [[*QUICK, "userspace_pm.sh", "simult_flows.sh", CONNECT], ["mptcp_join.sh"]]
RERUNS = 3
# the test itself, beside its cases
EXIT = "exit status"


@dataclass
class Decisions:
    """Of a test's namespaces with data on MPTCP connections, how many decided something."""

    total: int = 0
    sending: int = 0
    idle: list[str] = field(default_factory=list)


@dataclass
class Column:
    """What one scheduler made of some tests: verdicts by test and case."""

    verdicts: dict[str, str] = field(default_factory=dict)
    decisions: dict[str, Decisions] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


def verdicts_of(test: str, log: str, status: int) -> dict[str, str]:
    """Cases from the test's TAP; the test itself is one more, by its exit status."""
    found = {f"{test}: {EXIT}": {0: "ok", 4: "skip"}.get(status, "not ok")}
    for line in log.splitlines():
        match = RESULT.match(line)
        if match:
            verdict = "skip" if match[3] else match[1]
            name = f"{test}: {match[2]}"
            found[name] = "not ok" if "not ok" in (verdict, found.get(name)) else verdict
    return found


def decisions_of(path: Path) -> Decisions:
    """Of lines NAMESPACE DECISIONS CONNECTIONS SEGMENTS, as upstream/ip writes them."""
    found = Decisions()
    for line in path.read_text().splitlines() if path.exists() else ():
        name, *numbers = line.split()
        decisions, connections, segments = map(int, numbers)
        found.total += decisions
        if connections > 0 and segments > 0:
            found.sending += 1
            if not decisions:
                found.idle.append(name)
    return found


def run(scheduler: str, tests: list[str], seed: int, name: str) -> Column:
    results = OUT / f"{scheduler}-{name}-{seed}"
    # what an earlier run left is no result of this one
    shutil.rmtree(results, ignore_errors=True)
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
        column.decisions[test] = decisions_of(results / f"{i}.decisions")
        if not status.exists():
            column.verdicts[f"{test}: {EXIT}"] = "not ok"
            continue
        text = log.read_text(errors="replace")
        column.verdicts.update(verdicts_of(test, text, int(status.read_text())))
    for name, what in ("bad", "the kernel's log has"), ("broken", "the column is not what it should be"):
        found = results / name
        if found.exists() and found.read_text():
            column.complaints.append(f"{what}: {found.read_text()}")
    return column


def merged(columns: Iterable[Column]) -> Column:
    whole = Column()
    for column in columns:
        whole.verdicts.update(column.verdicts)
        whole.decisions.update(column.decisions)
        whole.complaints += column.complaints
    return whole


def differing(columns: dict[str, Column]) -> list[str]:
    """Cases that do not end the same; one that only one side has counts as well."""
    names = {name for column in columns.values() for name in column.verdicts}
    default, ours = (columns[side].verdicts for side in COLUMNS)
    return sorted(name for name in names if default.get(name) != ours.get(name))


def rerun(names: list[str]) -> tuple[dict[str, dict[str, list[str]]], list[str]]:
    """How each case ended on each side, RERUNS times more; and what there was to complain of."""
    tests = sorted({name.split(": ", 1)[0] for name in names})
    again: dict[str, dict[str, list[str]]] = {name: {side: [] for side in COLUMNS} for name in names}
    complaints = []
    for seed in range(2, 2 + RERUNS):
        for side in COLUMNS:
            column = run(side, tests, seed, "again")
            complaints += [f"{side}, seed {seed}: {text}" for text in column.complaints]
            for name in names:
                again[name][side].append(column.verdicts.get(name, "absent"))
    return again, complaints


def judged(default: str, ours: str, again: dict[str, list[str]] | None) -> tuple[str, str]:
    """What is made of a case, "ok", "not ok", "both" or "skip", and why."""
    if default == ours:
        return {"ok": "ok", "skip": "skip"}.get(ours, "both"), ""
    if again is None:
        return "not ok", ""
    runs = {side: [first, *again[side]] for side, first in zip(COLUMNS, (default, ours), strict=True)}
    passed = {side: runs[side].count("ok") for side in COLUMNS}
    bad = {side: sum(verdict not in ("ok", "skip") for verdict in runs[side]) for side in COLUMNS}
    worse = passed["mpdpa"] < passed["default"] or bad["mpdpa"] > bad["default"]
    return "not ok" if worse else "ok", f"; of {1 + RERUNS} runs {passed['default']} and {passed['mpdpa']} passed"


def compares(test: str, verdicts: dict[str, str]) -> bool:
    """Of a test that did not pass: something did, and what did not is told of by itself."""
    cases = {verdict for name, verdict in verdicts.items() if name.startswith(f"{test}: ") and name != f"{test}: {EXIT}"}
    return {"ok", "not ok"} <= cases


@dataclass
class Report:
    """Prints results as they come and counts them."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("ok", "not ok", "skip", "both"), 0))

    def add(self, verdict: str, name: str, *notes: str) -> None:
        self.counts[verdict] += 1
        number = sum(self.counts.values())
        end = {"skip": " # SKIP on both sides", "both": " # SKIP fails with both"}.get(verdict, "")
        lines = [f"# {line}" for note in notes for line in note.splitlines()]
        lines.append(f"{'not ok' if verdict == 'not ok' else 'ok'} {number} {name}{end}")
        print("\n".join(lines), flush=True)


def report(columns: dict[str, Column], again: dict[str, dict[str, list[str]]], complaints: Iterable[str] = ()) -> dict[str, int]:
    """Prints all cases; returns how many ended how. ``complaints`` are those of the runs after the first."""
    names = list(dict.fromkeys(n for c in columns.values() for n in c.verdicts))
    decisions = columns["mpdpa"].decisions
    print(f"KTAP version 1\n1..{len(names) + len(decisions) + 1}")
    out = Report()
    for name in names:
        default, ours = (columns[side].verdicts.get(name, "absent") for side in COLUMNS)
        verdict, why = judged(default, ours, again.get(name))
        test, what = name.split(": ", 1)
        if verdict in ("both", "skip") and what == EXIT and not compares(test, columns["default"].verdicts):
            verdict, why = "not ok", "; the test compared nothing"
        out.add(verdict, name, f"default {default}, mpdpa {ours}{why}")
    for test, found in decisions.items():
        note = f"{found.total} decisions, in {found.sending - len(found.idle)} of {found.sending} namespaces that sent"
        idle = f"none in: {' '.join(found.idle)}" if found.idle else ""
        good = found.total or (test in SILENT and not found.sending)
        out.add("ok" if good else "not ok", f"{test}: mpdpa decided", note, idle)
    heard = [text for column in columns.values() for text in column.complaints] + list(complaints)
    out.add("not ok" if heard else "ok", "guests and their logs", *heard)
    verdicts = [column.verdicts.values() for column in columns.values()]
    print("# passed:", ", ".join(f"{side} {list(v).count('ok')}" for side, v in zip(COLUMNS, verdicts, strict=True)))
    counts = out.counts
    print(f"# {counts['ok']} passed, {counts['not ok']} failed, {counts['skip']} skipped on both sides, "
          f"{counts['both']} fail with both")  # fmt: skip
    return counts


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
    counts = report(columns, *(rerun(names) if names else ({}, [])))
    if groups is WHOLE:
        # what fails with both says as little about mpdpa as what was not run
        unknown = counts["skip"] + counts["both"]
        results.add("check-upstream", counts["ok"], counts["not ok"], unknown, time.monotonic() - started)
    return 1 if counts["not ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
