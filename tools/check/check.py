#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs every test of the project and prints one KTAP report.

Inside the build environment, after "make guest unit". Closes with
"N passed, N failed, N skipped"; the exit status is 0 only if none failed, each
suite ended well and at least one test ran.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import results

BUILT = os.environ.get("MPDPA_BUILT", "out")
OUT = Path(BUILT) / "check"
# Suites end if this is killed, too.
WITH_PARENT = ("setpriv", "--pdeathsig", "TERM", "--")
STOP_SECONDS = 20
RESULT = re.compile(r"^(\s*)(ok|not ok) \d+(?: -)? ?(.*)$")
# not those that quote what a failed case printed
COMMENT = re.compile(r"^\s*# (?![| ])(.+)$")
WHY_MOST = 300


# What a target may skip, by patterns of whole names, and why; any other skip is a failure.
MAY_SKIP = {
    "check": {
        r"allocations_fail # SKIP needs a kernel with FAILSLAB": "stock kernels have no fault injection",
        r"userspace\.tests\.test_tap::test_program\[test_socket\]": "needs a kernel that lets it select schedulers",
        r"\S+: .* # SKIP (on both sides|fails with both)": "the kernel's own tests, with its default scheduler as well",
    },
}


@dataclass
class Case:
    name: str
    status: str  # "ok", "not ok" or "skip"
    why: str = ""  # a line, where it failed

    def allow(self, may_skip: Iterable[str]) -> None:
        """Unless the skip is one of these it is a failure."""
        if self.status == "skip" and not any(re.fullmatch(name, self.name) for name in may_skip):
            self.status = "not ok"
            self.why = "skipped: see MAY_SKIP in tools/check/check.py"


@dataclass
class Outcome:
    name: str
    cases: list[Case] = field(default_factory=list)
    exit_status: int = 0
    seconds: float = 0.0
    log: str = ""

    @property
    def bad(self) -> list[str]:
        """What failed, and why: cases, or else the suite itself."""
        cases = [": ".join(filter(None, (case.name, case.why))) for case in self.cases if case.status == "not ok"]
        if cases or (self.cases and self.exit_status == 0):
            return cases
        return [f"ended with {self.exit_status} after {len(self.cases)} cases"]

    @property
    def failed(self) -> bool:
        return bool(self.bad)


@dataclass(frozen=True)
class Suite:
    name: str
    command: list[str]
    kind: str  # "ktap" or "pytest"
    environment: dict[str, str] = field(default_factory=dict)


def pytest_suite(name: str, path: str) -> Suite:
    report = OUT / f"{name.replace(' ', '-')}.xml"
    command = ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", path, "--junitxml", str(report)]
    return Suite(name, command, "pytest", {"PYTHONPATH": "tools"})


def guest_suite(name: str, tests: list[str], clock: str = "virtual", runner: str = "run.sh", memory: int = 1024,
                variables: tuple[str, ...] = (), timeout: int = 1500, kernel_args: str = "") -> Suite:  # fmt: skip
    folder = OUT / name.replace(": ", "-").replace(", ", "-")
    command = ["tools/vm/guest", "run", "--clock", clock, "--timeout", str(timeout), "--memory", str(memory)]
    command += ["--overlay", f"{BUILT}/guest", "--overlay", f"{BUILT}/selftests", "--kernel-args", kernel_args]
    command += ["--results", str(folder), "--log", f"{folder}.log"]
    command += ["--", "env", *variables, f"/opt/mpdpa/selftests/{runner}", *tests]
    return Suite(name, command, "ktap")


def ktap_cases(log: str) -> list[Case]:
    """The innermost results: a line that closes a group repeats what is in it. The comments before one say why."""
    cases: list[Case] = []
    depth = -1
    comments: list[str] = []
    for line in log.splitlines():
        match = RESULT.match(line)
        if not match:
            comments += COMMENT.findall(line)
            continue
        indent, verdict, name = len(match[1]), match[2], match[3]
        said, comments = comments, []
        if indent < depth:
            depth = indent
            continue
        depth = indent
        case = Case(name, "skip" if "# SKIP" in name else verdict)
        if case.status == "not ok":
            case.why = short("; ".join(comment.removeprefix(f"{name}: ") for comment in said))
        cases.append(case)
    return cases


def short(why: str) -> str:
    return why if len(why) <= WHY_MOST else why[: WHY_MOST - 3] + "..."


def pytest_cases(report: Path) -> list[Case]:
    cases = []
    for case in ET.parse(report).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        bad = kinds & {"failure", "error"}
        status = "not ok" if bad else "skip" if "skipped" in kinds else "ok"
        messages = [child.get("message", "").partition("\n")[0] for child in case if child.tag in bad]
        cases.append(Case(f"{case.get('classname')}::{case.get('name')}", status, short("; ".join(messages))))
    return cases


class Stopped(Exception):
    """Nothing more is run, and what ran says nothing."""


class Running:
    """Suites, each in a group of its own; ``stop`` ends all of them, with what they started."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # protects the other two
        self.groups: set[int] = set()
        self.stopped = False

    def run(self, suite: Suite) -> tuple[int, str]:
        """The exit status, and what it said."""
        with self.lock:
            if self.stopped:
                raise Stopped
            process = subprocess.Popen(
                [*WITH_PARENT, *suite.command],
                env={**os.environ, **suite.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self.groups.add(process.pid)
        log, _ = process.communicate()
        with self.lock:
            self.groups.discard(process.pid)
            if self.stopped:
                raise Stopped
        return process.returncode, log

    def stop(self) -> None:
        """Asks first: a guest's runner, say, has its guest to end."""
        with self.lock:
            self.stopped = True
            groups = set(self.groups)
        for group in groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)
        end = time.monotonic() + STOP_SECONDS
        while time.monotonic() < end and any(map(is_there, groups)):
            time.sleep(0.05)
        for group in filter(is_there, groups):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


def group_of(process: Path) -> int | None:
    """Of one that runs. Who died and is not asked for by a parent does not."""
    try:
        state, _parent, group = (process / "stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return None
    return None if state in "ZX" else int(group)


def is_there(group: int) -> bool:
    return any(group_of(process) == group for process in Path("/proc").glob("[0-9]*"))


RUNNING = Running()


def run(suite: Suite, may_skip: Iterable[str]) -> Outcome:
    outcome = Outcome(suite.name)
    started = time.monotonic()
    outcome.exit_status, outcome.log = RUNNING.run(suite)
    outcome.seconds = time.monotonic() - started
    if suite.kind == "pytest":
        report = Path(suite.command[-1])
        outcome.cases = pytest_cases(report) if report.exists() else []
    else:
        outcome.cases = ktap_cases(outcome.log)
    for case in outcome.cases:
        case.allow(may_skip)
    return outcome


class Report:
    """KTAP on stdout, a suite at a time, in the order in which they end."""

    def __init__(self, suites: int) -> None:
        self.lock = threading.Lock()
        self.number = 0
        print(f"KTAP version 1\n1..{suites}", flush=True)

    def add(self, outcome: Outcome) -> None:
        with self.lock:
            self.number += 1
            lines = [f"    # {outcome.name}: {outcome.seconds:.0f} s", f"    1..{len(outcome.cases)}"]
            for i, case in enumerate(outcome.cases, 1):
                verdict = "not ok" if case.status == "not ok" else "ok"
                skip = " # SKIP" if case.status == "skip" and "# SKIP" not in case.name else ""
                lines.append(f"    {verdict} {i} {case.name}{skip}")
            lines.append(f"{'not ok' if outcome.failed else 'ok'} {self.number} {outcome.name}")
            print("\n".join(lines), flush=True)
            if outcome.failed:
                tail = outcome.log.splitlines()[-120:]
                print("\n".join(f"# {line}" for line in tail), flush=True)


def suites() -> list[Suite]:
    """The longest first, so that both cores are done at about the same time."""
    return [
        guest_suite("kernel: deadlines", ["deadline", "crowd", "stuck", "turns"]),
        # "make lint" goes all the way
        Suite("lint", ["tools/check/lint.sh"], "ktap", {"ANALYSE_NODES": "40000"}),
        guest_suite("kernel: schedulers", ["guard", "default", "schedulers"]),
        guest_suite("kernel: faults on paths", ["fault_path"], variables=("QUICK=1",)),
        guest_suite("kernel: faults in life cycles", ["fault_life"], variables=("QUICK=1",)),
        Suite("kernel: upstream tests", ["tools/check/upstream.py", "--quick", "--jobs", "1"], "ktap"),
        Suite("command and library in the guest", ["make", "--no-print-directory", "check-userspace-guest"], "ktap"),
        pytest_suite("testbed", "tools/testbed/tests"),
        guest_suite("kernel: sockets", ["attach", "sockopt", "netlink", "sysctl"]),
        guest_suite("kernel: security", ["security"]),
        guest_suite("kernel: overflow and quotas", ["overflow", "quota", "cross"]),
        Suite("many connections", ["make", "--no-print-directory", "check-scale"], "ktap"),
        pytest_suite("simulator", "tools/sim/tests"),
        guest_suite("kernel: loading", ["load"]),
        guest_suite("kernel: soak", ["soak"]),
        guest_suite("kernel: cost of a decision", ["decision_cost"]),
        # with two processors, and so by the machine's clock: calls meet each other
        guest_suite("kernel: random calls", ["fuzz"], "fast", variables=("FUZZ_SECONDS=60",)),
        # the machine's clock: a suspension stops the virtual one, its alarm too
        guest_suite("kernel: suspension", ["suspend"], "fast", variables=("SUSPEND=1",)),
        pytest_suite("guest runner", "tools/vm/test_vm.py"),
        pytest_suite("user space", "userspace/tests"),
        Suite("demo on the machine's own kernel", ["tools/check/native_demo.sh"], "ktap"),
        Suite("decision arithmetic, fuzzed", ["tools/check/fuzz_decision.sh", "60"], "ktap"),
        Suite("decision arithmetic", ["out/test/decision_test"], "ktap"),
        Suite("netlink spec", ["tools/check/spec_ktap.sh"], "ktap"),
        Suite("README", ["python3", "tools/check/readme.py", "check"], "ktap"),
        pytest_suite("checks", "tools/check/test_check.py"),
    ]


# Each report of KASAN, not the first alone. And four levels of page tables: while the kernel looks
# at its processor it does not know that it has five, and an interrupt just then is "wild" to KASAN.
WATCHED_KERNEL_ARGS = "kasan_multi_shot no5lvl"


def debug_suites() -> list[Suite]:
    """On a kernel that watches itself: its log and its leaks count as cases."""

    def group(clock: str, *tests: str) -> Suite:
        load = ("TEST_TIMEOUT=1200", "QUICK=2", "SUSPEND=1", "SOAK_CONNECTIONS=40", "SOAK_BATCH=5", "SOAK_SECONDS=20")
        return guest_suite("debug: " + ", ".join(tests), list(tests), clock, "watched.sh", 3072, load,
                           kernel_args=WATCHED_KERNEL_ARGS)  # fmt: skip

    return [
        group("virtual", "deadline", "crowd", "stuck", "turns", "overflow", "quota", "cross"),
        # where no time is measured: with two processors, and so with races
        group("fast", "attach", "sockopt", "netlink", "sysctl"),
        group("fast", "guard", "schedulers", "load"),
        group("virtual", "fault_path"),
        group("virtual", "fault_life"),
        group("fast", "suspend", "security", "soak"),
    ]


def soak_suites() -> list[Suite]:
    """An hour of virtual time, and ten thousand connections."""
    load = ("SOAK_SECONDS=3600", "SOAK_CONNECTIONS=10000", "TEST_TIMEOUT=10000")
    return [guest_suite("soak", ["soak"], variables=load, timeout=5400)]


FUZZ_CALLS = 1_000_000


def fuzz_calls() -> int:
    return int(os.environ.get("FUZZ_CALLS", FUZZ_CALLS))


def fuzz_suites() -> list[Suite]:
    """So many random calls; on the machine's clock: with two processors, calls meet each other."""
    calls, seed = fuzz_calls(), os.environ.get("FUZZ_SEED", "1")
    load = (f"FUZZ_CALLS={calls}", f"FUZZ_SEED={seed}", "FUZZ_SECONDS=0", "TEST_TIMEOUT=3400")
    return [guest_suite("random calls", ["fuzz"], "fast", variables=load, timeout=3500)]


def program_suites() -> list[Suite]:
    """What may differ between kernels: the verifier takes every program, and what is stuck is sent again."""
    return [
        guest_suite("all programs", ["attach", "schedulers"]),
        guest_suite("a path goes silent", ["stuck"], variables=("QUICK=2",)),
    ]


@dataclass(frozen=True)
class Target:
    suites: Callable[[], list[Suite]]
    at_once: int


TARGETS = {
    "check": Target(suites, 2),
    "check-debug": Target(debug_suites, 2),
    # beside those of another kernel
    "check-programs": Target(program_suites, 1),
    "soak": Target(soak_suites, 1),
    "fuzz": Target(fuzz_suites, 1),
}


def is_whole(target: str, only: str) -> bool:
    """Is the run what the target's name stands for, to be recorded under it?"""
    # it is a part of "check"
    if only or target == "check-programs":
        return False
    return target != "fuzz" or fuzz_calls() >= FUZZ_CALLS


def terminate(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", default="", help="suites whose name contains TEXT")
    parser.add_argument("--target", choices=TARGETS, default="check", help="what is run (default: check)")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, terminate)
    signal.signal(signal.SIGTERM, terminate)
    OUT.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    target = TARGETS[options.target]
    chosen = [suite for suite in target.suites() if options.only in suite.name]
    report = Report(len(chosen))

    may_skip = MAY_SKIP.get(options.target, {})

    def run_and_tell(suite: Suite) -> Outcome:
        outcome = run(suite, may_skip)
        report.add(outcome)
        return outcome

    with ThreadPoolExecutor(target.at_once) as pool:
        try:
            outcomes = list(pool.map(run_and_tell, chosen))
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            RUNNING.stop()
            print("check: interrupted", file=sys.stderr)
            return 130
    statuses = [case.status for outcome in outcomes for case in outcome.cases]
    failed = sum(len(outcome.bad) for outcome in outcomes)
    # again, for who sees no more than the end
    for outcome in outcomes:
        for name in outcome.bad:
            print(f"# not ok: {outcome.name}: {name}")
    print(f"{statuses.count('ok')} passed, {failed} failed, {statuses.count('skip')} skipped")
    if is_whole(options.target, options.only):
        results.add(options.target, statuses.count("ok"), failed, statuses.count("skip"), time.monotonic() - started)
    return 1 if failed or not statuses.count("ok") else 0


if __name__ == "__main__":
    sys.exit(main())
