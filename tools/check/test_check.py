# SPDX-License-Identifier: GPL-2.0-only
"""What the checks themselves must not let pass."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import check
import readme
import upstream

TOP = Path(__file__).resolve().parents[2]
EXAMPLE = "int main(void)\n{\n}\n"
README = f"""# Title

<!-- demo table: make readme -->
{readme.HEAD}| ours | 6 of 6 |

<!-- end of demo table -->

## Set a deadline

```c
{EXAMPLE}```

The end.
"""


@pytest.fixture(autouse=True)
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deadline.c").write_text(EXAMPLE)
    monkeypatch.setattr(readme, "EXAMPLE", tmp_path / "deadline.c")


def test_a_readme_as_it_should_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert readme.check(README) == 0
    assert [line[:4] for line in capsys.readouterr().out.splitlines()] == ["1..2", "ok 1", "ok 2"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("main(void)", "main()"),
        ("## Set a deadline", "## Deadlines"),
        ("```c\n", ""),
        ("}\n```", "}\n"),
        ("<!-- demo table: make readme -->\n", ""),
        ("<!-- end of demo table -->", ""),
        ("costly share | oracle", "oracle"),
    ],
)
def test_a_readme_that_lacks_something(old: str, new: str) -> None:
    assert old in README
    assert readme.check(README.replace(old, new)) == 1


def test_nothing_is_written_where_there_is_no_place() -> None:
    assert readme.put(readme.CODE, "new\n", README) == README.replace(EXAMPLE, "new\n")
    with pytest.raises(SystemExit, match="expected one place like"):
        readme.put(readme.CODE, "new\n", README.replace("## Set a deadline", "## Deadlines"))


def test_what_an_earlier_run_left_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest that ends without a word leaves no results."""

    def fail(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 124, "", "stopped")

    monkeypatch.setattr(upstream, "OUT", tmp_path)
    monkeypatch.setattr(subprocess, "run", fail)
    old = tmp_path / "mpdpa-0-1"
    old.mkdir()
    for name, text in (("0.status", "0"), ("0.log", "ok 1 - sends\n"), ("0.decisions", "ns 9 1 9\n")):
        (old / name).write_text(text)
    column = upstream.run("mpdpa", ["diag.sh"], 1, "0")
    assert column.verdicts == {"diag.sh: exit status": "not ok"}
    assert column.decisions["diag.sh"].total == 0
    assert column.complaints == ["the guest ended with 124: stopped"]


def test_what_a_repeated_run_complains_of_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdicts of a guest whose kernel complained are worth nothing."""

    def rerun(side: str, _tests: list[str], seed: int, _name: str) -> upstream.Column:
        complaints = ["the kernel's log has: BUG"] if (side, seed) == ("mpdpa", 3) else []
        return upstream.Column({"diag.sh: listens": "ok"}, complaints=complaints)

    monkeypatch.setattr(upstream, "run", rerun)
    sides = {side: upstream.Column({"diag.sh: listens": verdict}) for side, verdict in zip(
        upstream.COLUMNS, ("not ok", "ok"), strict=True)}  # fmt: skip
    again, complaints = upstream.rerun(upstream.differing(sides))
    assert again["diag.sh: listens"] == {side: ["ok"] * upstream.RERUNS for side in upstream.COLUMNS}
    assert upstream.report(sides, again, complaints)["not ok"] == 1
    assert "# mpdpa, seed 3: the kernel's log has: BUG\nnot ok 2 guests and" in capsys.readouterr().out
    assert upstream.report(sides, again)["not ok"] == 0


@pytest.mark.parametrize(
    ("first", "default", "ours", "verdict"),
    [
        (("ok", "not ok"), "+++", "+++", "not ok"),
        (("ok", "not ok"), "++-", "+++", "ok"),
        (("ok", "not ok"), "---", "---", "not ok"),
        (("ok", "absent"), "+++", "+++", "not ok"),
        (("ok", "skip"), "+++", "+++", "not ok"),
        (("not ok", "ok"), "+++", "+++", "ok"),
        (("not ok", "ok"), "+++", "++-", "ok"),
        (("not ok", "ok"), "+++", "+--", "not ok"),
        (("not ok", "ok"), "---", "---", "ok"),
        (("skip", "not ok"), "+++", "+++", "not ok"),
    ],
)
def test_the_first_of_four_runs_counts(first: tuple[str, str], default: str, ours: str, verdict: str) -> None:
    again = {side: ["ok" if each == "+" else "not ok" for each in runs]
             for side, runs in zip(upstream.COLUMNS, (default, ours), strict=True)}  # fmt: skip
    assert upstream.judged(*first, again)[0] == verdict


@pytest.mark.parametrize(
    ("log", "status", "ends"),
    [
        ("", 1, "not ok"),
        ("Bail out!\n", 1, "not ok"),
        ("not ok 1 - sends\nnot ok 2 - closes\n", 1, "not ok"),
        # it broke off
        ("ok 1 - sends\n", 1, "not ok"),
        ("ok 1 - sends # SKIP\n", 4, "not ok"),
        ("ok 1 - sends\nnot ok 2 - closes\n", 1, "both"),
    ],
)
def test_a_test_that_fails_as_a_whole_compares_nothing(log: str, status: int, ends: str, capsys: pytest.CaptureFixture[str]) -> None:
    columns = {side: upstream.Column(upstream.verdicts_of("diag.sh", log, status)) for side in upstream.COLUMNS}
    # another test's cases do not count
    for column in columns.values():
        column.verdicts |= {"diag.sh -6: sends": "ok", "diag.sh -6: closes": "not ok"}
    upstream.report(columns, {})
    said = capsys.readouterr().out
    assert ("\nok 1 diag.sh: exit status # SKIP fails with both\n" in said) == (ends == "both")
    assert ("\nnot ok 1 diag.sh: exit status\n" in said) == (ends == "not ok")


@pytest.mark.parametrize(
    ("target", "only", "calls", "whole"),
    [
        ("fuzz", "", None, True),
        ("fuzz", "", "2000000", True),
        ("fuzz", "", "1000", False),
        ("soak", "", "1000", True),
        ("check", "kernel", None, False),
        ("check-programs", "", None, False),
    ],
)
def test_a_part_is_not_recorded_as_the_whole(
    target: str, only: str, calls: str | None, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FUZZ_CALLS", raising=False)
    if calls:
        monkeypatch.setenv("FUZZ_CALLS", calls)
    assert check.is_whole(target, only) is whole


def test_what_failed_is_named() -> None:
    good, bad = check.Case("sends", "ok"), check.Case("closes", "not ok")
    assert check.Outcome("sockets", [good]).bad == []
    assert check.Outcome("sockets", [good, bad], 1).bad == ["closes"]
    assert check.Outcome("sockets", [good], 1).bad == ["ended with 1 after 1 cases"]
    assert check.Outcome("sockets").failed


KTAP_OF_TWO = """    KTAP version 1
    # sends: 3 bytes of 4
    # sends: no end
    # |     what it printed
    not ok 1 sends
    # 17 calls
    ok 2 closes
not ok 1 sockets"""


def test_why_it_failed_is_told(tmp_path: Path) -> None:
    cases = check.ktap_cases(KTAP_OF_TWO)
    assert check.Outcome("sockets", cases, 1).bad == ["sends: 3 bytes of 4; no end"]
    assert cases[1].why == ""
    assert len(check.ktap_cases(f"# {'x' * 1000}\nnot ok 1 long")[0].why) == check.WHY_MOST
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuite><testcase classname="a" name="b"><failure message="assert 3 == 4&#10;more">all</failure></testcase>'
        '<testcase classname="a" name="c"/></testsuite>'
    )
    failed, passed = check.pytest_cases(report)
    assert (failed.name, failed.why) == ("a::b", "assert 3 == 4")
    assert (passed.status, passed.why) == ("ok", "")


NO_FAULTS = "allocations_fail # SKIP needs a kernel with FAILSLAB"


@pytest.mark.parametrize(
    ("target", "name", "fine"),
    [
        ("check", NO_FAULTS, True),
        ("check", "allocations_fail # SKIP no time", False),
        ("check", f"more_{NO_FAULTS}", False),
        ("check-debug", NO_FAULTS, False),
        ("soak", NO_FAULTS, False),
        ("check", "sleeps # SKIP no alarm", False),
        ("check", "diag.sh: listens # SKIP on both sides", True),
        ("check", "diag.sh: listens # SKIP on both sides of it", False),
        ("check-programs", "diag.sh: listens # SKIP fails with both", False),
    ],
)
def test_each_target_has_its_own_skips(target: str, name: str, fine: bool) -> None:
    suite = check.Suite("one", ["printf", "%s\n", f"ok 1 {name}"], "ktap")
    outcome = check.run(suite, check.MAY_SKIP.get(target, {}))
    assert [case.status for case in outcome.cases] == ["skip" if fine else "not ok"]
    assert outcome.failed != fine
    assert fine or "MAY_SKIP" in outcome.bad[0]


def selftests_of(pattern: str, file: str) -> set[str]:
    """Of a list in a file of the selftests, without their endings."""
    text = (TOP / "selftests" / file).read_text().replace("\\\n", " ")
    return {name.removesuffix(".sh") for words in re.findall(pattern, text, re.MULTILINE) for name in words.split()}


def test_each_selftest_is_in_every_list() -> None:
    named = selftests_of(r"^TEST_PROGS := (.*)", "Makefile")
    assert "turns" in named
    assert selftests_of(r'^tests="([^"]*)"', "run.sh") == named - {"fuzz"}
    assert selftests_of(r"^\| ([a-z_]+) \|(?! what it shows)", "README.md") == named | {"decision_cost"}
    of_guests = [suite.command for suite in check.suites() if "tools/vm/guest" in suite.command]
    assert {word for command in of_guests for word in command} >= named | {"decision_cost"}
    watched = {word for suite in check.debug_suites() for word in suite.command}
    assert watched >= named - {"default", "fuzz"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_suites_end_with_the_check(number: int, tmp_path: Path) -> None:
    """And what they started; it is told in a line."""
    program = f"""
import sys
sys.path.insert(0, {str(TOP / "tools/check")!r})
import check
check.TARGETS["check"] = check.Target(lambda: [check.Suite(
    str(i), ["sh", "-c", "trap 'exit 1' TERM; sleep 600 & echo $! >> children; echo $$ >> suites; wait; :"], "ktap"
) for i in range(3)], 2)
sys.argv = ["check.py"]
sys.exit(check.main())
"""

    def there(file: str) -> list[Path]:
        pids = (tmp_path / file).read_text().split() if (tmp_path / file).exists() else []
        return [process for pid in pids if check.group_of(process := Path("/proc") / pid)]

    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert within(lambda: len(there("suites")) == 2)
        process.send_signal(number)
        out, said = process.communicate(timeout=30)
    if number == signal.SIGKILL:
        # the suites themselves hear of it
        assert within(lambda: not there("suites"))
        for child in there("children"):
            os.kill(int(child.name), signal.SIGKILL)
        return
    assert not there("suites") + there("children")
    assert (process.returncode, said) == (130, "check: interrupted\n")
    assert out == "KTAP version 1\n1..3\n"


def within(come: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not come() and time.monotonic() < end:
        time.sleep(0.05)
    return come()


def test_a_test_that_may_be_skipped_is_there() -> None:
    """Names in the permission that no test has would permit nothing."""
    tests = TOP / "selftests"
    case, reason = NO_FAULTS.split(" # SKIP ")
    text = (tests / "fault_life.sh").read_text()
    assert f"{case}()" in text
    assert f'skip "{reason}"' in text


@pytest.mark.parametrize(
    ("folder", "target", "header"),
    [
        (".", "out/test/decision_test", "kernel/uapi/linux/mptcp_dpa_sock.h"),
        (".", "out/sim/sim", "kernel/uapi/linux/mptcp_dpa_sock.h"),
        ("selftests", "dpa_sock", "kernel/uapi/linux/mptcp_dpa_sock.h"),
        ("selftests", "fuzz", "kernel/uapi/linux/mptcp_dpa.h"),
        ("selftests", "bad_moment.bpf.o", "kernel/state.h"),
        ("selftests", "bad_moment.bpf.o", "kernel/uapi/linux/mptcp_dpa_sock.h"),
    ],
)
def test_what_is_compiled_follows_from_its_headers(folder: str, target: str, header: str) -> None:
    """As if the header were new; nothing is made."""
    if folder != ".":
        header, target = str(TOP / header), str(TOP / "out/selftests/opt/mpdpa/selftests" / target)
    done = subprocess.run(["make", "-C", str(TOP / folder), "-n", "-W", header, target], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"-o {target}" in done.stdout


@pytest.mark.parametrize(
    ("value", "low", "high", "failed"),
    [
        ("5", "1", "9", "no"),
        ("-1", "-1", "-1", "no"),
        ("0", "1", "9", "yes"),
        ("", "1", "9", "yes"),
        ("5", "", "9", "yes"),
        ("5", "1", "null", "yes"),
    ],
)
def test_limits_are_numbers(value: str, low: str, high: str, failed: str) -> None:
    """Of what a selftest expects: without one nothing would be asked for."""
    script = 'source selftests/lib.sh; exec 3>&1; expect_between it "$@"; echo "failed: $case_failed"'
    command = ["bash", "-c", script, "test.sh", value, low, high]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    assert done.stdout.endswith(f"failed: {failed}\n"), done.stdout + done.stderr
    assert not done.stderr
