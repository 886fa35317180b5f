"""What the command line makes of its options."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from testbed import bench, campaign, cellspec, guestrun, options, scenariofile
from testbed.cellspec import Cell
from testbed.cli import main
from testbed.errors import MeasurementError, UsageError
from testbed.guestrun import FAST, NATIVE, VIRTUAL

from .made_up import plan, raw


@pytest.fixture(autouse=True)
def no_guest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here comes so far as to start one."""

    def refuse(*_: object) -> None:
        raise AssertionError("a run was started")

    monkeypatch.setattr(guestrun.Runner, "__init__", refuse)


def parsed(*words: str) -> argparse.Namespace:
    top = argparse.ArgumentParser()
    options.add_commands(top.add_subparsers(dest="what"))
    return top.parse_args(words)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("", VIRTUAL),
        ("--clock virtual", VIRTUAL),
        ("--clock wall", FAST),
        ("--clock wall --vm fast", FAST),
        ("--clock wall --vm no", NATIVE),
        ("--vm fast", FAST),
        ("--vm no", NATIVE),
    ],
)
def test_clock(words: str, kind: str) -> None:
    assert options._where(parsed("demo", *words.split())) == kind


@pytest.mark.parametrize(
    ("clock", "kind"), [("wall", VIRTUAL), ("virtual", FAST), ("virtual", NATIVE)]
)
def test_clocks_that_a_machine_does_not_have(clock: str, kind: str) -> None:
    chosen = parsed("demo", "--clock", clock, "--vm", kind)
    with pytest.raises(UsageError, match=f"--clock {clock}: option: expected another --vm"):
        options._where(chosen)


def test_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert options._jobs(parsed("demo", "--vm", "virtual")) == 7
    assert options._jobs(parsed("demo", "--vm", "virtual", "--jobs", "3")) == 3
    assert options._jobs(parsed("demo", "--vm", "no")) == 1


@pytest.mark.parametrize(
    ("size", "folder"),
    [([], "bench-alpha"), (["--full"], "bench-alpha"), (["--quick"], "bench-alpha-quick")],
)
def test_quick_campaigns_are_beside_whole_ones(
    size: list[str], folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[Path] = []

    def prepare(*given: Any) -> list[None]:
        prepared.append(given[3])
        return []

    monkeypatch.setattr(options, "OUT", tmp_path)
    monkeypatch.setattr(bench, "prepare", prepare)
    assert main(["bench", "alpha", *size, "--plan-only"]) == 0
    assert prepared == [tmp_path / folder]


@pytest.mark.parametrize("words", [("cell", "bulk-sym"), ("bench", "static", "--plan-only")])
def test_two_runs_in_one_folder(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "results.json"
    kept.write_text("{}")
    with campaign.alone_in(tmp_path):
        assert main([*words, "--vm", "no", "--out", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert told == f"testbed: {tmp_path}: --out: expected a folder that no other run writes to\n"
    assert kept.read_text() == "{}"


def test_results_go_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.touch()
    assert main(["cell", "bulk-sym", "--vm", "no", "--out", str(file)]) == 2
    assert capsys.readouterr().err == f"testbed: {file}: --out: expected a folder (File exists)\n"


def test_replay_refuses_paths_that_come_and_go(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(options.scenariofile.FOLDER / "examples/drive-by.toml")]) == 2
    said = capsys.readouterr().err
    assert said.endswith("drive-by.toml: path[0].up_ms: expected paths that always work\n")


REPEATED = [
    "demo",
    "demo --kernel 7.3 --vm fast",
    "demo --kernel 7.2",
    "run bulk-sym bulk-asym --protocol mptcp --protocol first --deadline 900 --alpha 0.8 --seed 2 "
    "--protocols more.toml --overlay out/guest --overlay 'a b' --set net.mptcp.enabled=1 "
    "--chunk-bytes 3 --traces recorded --limits --kernel 6.12 --vm fast",
    "cell bulk-sym --protocol mpdpa --deadline 900 --alpha adaptive --seed 3 --chunks 2 --ip 6",
    "bench traces --overlay a --traces recorded --kernel debug",
    "bench static --protocols more.toml --quick",
    "robust --protocols more.toml --quick --vm no",
    "lot --seed 3 --count 7 --paths 3 --changing --quick",
]


@pytest.mark.parametrize("words", REPEATED)
def test_the_command_that_is_told_repeats_the_runs(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KERNEL", raising=False)
    chosen = parsed(*shlex.split(words))
    chosen.vm = options._where(chosen)
    assert options._command(chosen) == f"testbed {words}"


def test_the_command_that_is_told_names_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it was named."""
    chosen = parsed("demo", "--vm", "virtual")
    monkeypatch.setenv("KERNEL", "7.3")
    assert options._command(chosen) == "testbed demo --kernel 7.3"
    assert options._command(parsed("demo", "--vm", "no")) == "testbed demo --vm no"


def asked_for(words: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Cell], str]:
    """The cells that a command would run, and what it would tell of itself."""
    asked: list[tuple[list[Cell], str]] = []

    def run(cells: list[Cell], *given: Any, **_more: object) -> None:
        asked.append((cells, given[3]))
        raise MeasurementError("not here")

    monkeypatch.setattr(campaign, "run", run)
    monkeypatch.setattr(campaign, "overlays", lambda *_: ())
    assert main(words.split()) == 1
    return asked[0]


@pytest.mark.parametrize(
    ("words", "alpha"),
    [
        ("--protocol mptcp --alpha 0.5", None),
        ("--protocol mptcp", None),
        ("--protocol first --alpha 0.5", None),
        ("--protocol threshold --alpha 2", 2.0),
        ("--protocol mp-dpa", 1.0),
        ("--protocol mpdpa --alpha 0.5", 0.5),
        ("--protocol mpdpa", "adaptive"),
    ],
)
def test_alpha_of_a_cell(
    words: str, alpha: float | str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cell,), command = asked_for(f"cell bulk-sym {words}", monkeypatch)
    assert (cell.alpha, type(cell.alpha)) == (alpha, type(alpha))
    assert command.startswith("testbed cell bulk-sym --protocol ")


@pytest.mark.parametrize("what", ["cell", "run"])
@pytest.mark.parametrize("protocol", ["threshold", "mp-dpa"])
def test_a_rule_without_an_adaptive_form(
    what: str, protocol: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([what, "bulk-sym", "--protocol", protocol, "--alpha", "adaptive"]) == 2
    expected = f"testbed: {protocol}: alpha: expected numbers alone, got 'adaptive'\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("trace city --out {file}", 2, "{file}: --out: expected a folder (File exists)"),
        ("document --to {none}/x", 2, "{none}/x: --to: expected a place for a file (No such fil"),
        ("replay bulk-sym --out {file}", 2, "{file}: --out: expected a folder (File exists)"),
        ("measure {none}/cells/a/spec.json", 2, "{none}: expected the folder of a campaign"),
        ("measure {campaign}/cells/a/spec.json", 2, "{campaign}/cells/a/spec.json: file: expect"),
        ("list --traces {none}", 2, "{none}: --traces: expected"),
    ],
)
def test_places_that_are_not_there(
    words: str, status: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    places = {name: tmp_path / name for name in ("file", "none", "campaign")}
    places["file"].touch()
    places["campaign"].mkdir()
    for folder in (places["campaign"], tmp_path):
        (folder / bench.PLAN).write_text(plan({"a": guestrun.NOTHING}))
    given = words.format(**places).split()
    if given[0] == "document":
        monkeypatch.setattr(bench, "collect", lambda folder: None)
        monkeypatch.setattr(options.document, "section", lambda *_: "")
        given.append(str(tmp_path))
    assert main(given) == status
    told = capsys.readouterr().err
    assert told.startswith(f"testbed: {said.format(**places)}")
    assert told.count("\n") == 1


def test_a_job_in_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cells/a"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert main(["measure", "spec.json"]) == 2
    assert capsys.readouterr().err.startswith(f"testbed: {tmp_path}: expected the folder of a ca")


def test_what_the_machine_refuses_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(options, "_list", refuse)
    assert main(["list"]) == 1
    assert capsys.readouterr().err == "testbed: [Errno 28] No space left on device\n"


def test_oracle_tells_how_tight_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """The cheap link's share is 1420/1514 of 3.8 Mbit/s for 6.45 s: 2.87 of 5 MB."""
    assert main(["oracle", "bulk-validate", "--deadline", "6500"]) == 0
    assert capsys.readouterr().out == (
        "bulk-validate, deadline 6.5 s: 1 of 1 can be met, with 42.5 % on costly paths; of these "
        "late: 0 with 99 %, 0 with 98 %, 1 with 95 %, 1 with 90 % of the links' capacity\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("crowd", "crowd.toml: load.kind: expected chunks"),
        ("no-such", "no-such: scenario: expected one of "),
        ("bulk-sym --deadline 0", "expected a whole number from 1 to 86400000, got '0'"),
    ],
)
def test_oracle_of_what_it_cannot_judge(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(["oracle", *words.split()])
    except SystemExit as end:
        status = int(end.code or 0)
    assert status == 2
    assert said in capsys.readouterr().err


def test_protocols_are_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "more.toml"
    file.write_bytes(b"\xff\xfe")
    assert main(["demo", "--protocols", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"testbed: {file}: file: expected a readable text file (")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("run bulk-sym --chunks 99999999999", "1 to 1000000"),
        ("run bulk-sym --chunk-bytes 1099511627777", "1 to 1099511627776"),
        ("cell bulk-sym --period 86400001", "1 to 86400000"),
        ("cell bulk-sym --deadline 100000000000000000", "1 to 86400000"),
        ("cell bulk-sym --seed 2147483649", "0 to 2147483648"),
        ("trace city --seed -5", "0 to 2147483648"),
        ("lot --count 0", "1 to 100000"),
        ("demo --jobs " + "9" * 5000, "1 to 1000"),
    ],
)
def test_numbers_have_limits(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words.split())
    assert end.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert f": expected a whole number from {expected}, got '{words.split()[-1]}'" in said


def test_numbers_within_their_limits() -> None:
    words = "run bulk-sym --chunks 1000000 --period 86400000 --seed 0 --seed 1"
    chosen = parsed(*words.split())
    assert (chosen.chunks, chosen.period, chosen.seed) == (1_000_000, 86_400_000, [0, 1])


CELL = Cell(scenariofile.find("bulk-sym"), "mptcp", None, None, 1)
NO_JSON = '{"scenario": '
PLAN = json.loads(plan({"a": guestrun.NOTHING}))
DRAWN = {
    "project_version": "v",
    "command": "testbed lot",
    "host": {"kernel": "7.2", "clock": "virtual", "accel": "tcg"},
}


@pytest.mark.parametrize(
    ("words", "file", "text", "expected"),
    [
        ("execute {0} --out {1}/o", "spec.json", NO_JSON, "one cell of a campaign (Expecting "),
        ("execute {0} --out {1}/o", "spec.json", "{}", "one cell of a campaign (no key 'scenario'"),
        ("execute {0} --out {1}/o", "spec.json", "[]", "one cell of a campaign ("),
        ("execute {0} --out {1}/o", "spec.json", "[" * 100_000, "one cell of a campaign ("),
        ("execute {0} --out {1}/o", "none/spec.json", None, "one cell of a campaign (No such file"),
        ("flood {0} --out {1}/o", "spec.json", NO_JSON, "one cell of a campaign (Expecting "),
        ("measure {0}", "cells/a/spec.json", NO_JSON, "one cell of a campaign (Expecting "),
        ("measure {0}", "cells/a/spec.json", '{"scenario": {}}', "one cell of a campaign (no key "),
        ("collect {1}", "plan.json", "", "the plan of a campaign (Expecting value"),
        ("collect {1}", "plan.json", "{}", "command: expected a text, but the key is missing"),
        ("collect {1}", "plan.json", json.dumps(PLAN | {"cells": {"a": "b"}}), "cells.a: expected"),
        (
            "collect {1}",
            "plan.json",
            json.dumps(PLAN | {"cells": {}}),
            "runs[0].measured: expected",
        ),
        ("collect {1}", "cells/a/spec.json", "{}", "one cell of a campaign (no key 'scenario')"),
        ("collect {1}", "cells/a/host.json", "{}", "on what a cell ran (no key 'project_version')"),
        ("collect {1}", "cells/a/raw.json", "{}", "what a cell left (no key "),
        ("collect {1}", "cells/a/raw.json", NO_JSON, "what a cell left (Expecting "),
        ("document {1} --to {1}/t", "cells/a/raw.json", "", "what a cell left (Expecting value"),
    ],
)
def test_damaged_files_of_a_campaign(
    words: str, file: str, text: str | None, expected: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    host = {"kernel": "k", "clock": "virtual", "accel": "tcg", "cpus": 1}
    texts = {
        "plan.json": json.dumps(PLAN), "build/nothing.json": "{}", "cells/a/series.csv": "",
        "cells/a/spec.json": cellspec.to_json(CELL),
        "cells/a/host.json": json.dumps(host | {"project_version": "v"}),
        "cells/a/raw.json": json.dumps(raw()),
    }  # fmt: skip
    for name, content in (texts | {file: text}).items():
        if content is not None:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
    assert main(words.format(tmp_path / file, tmp_path).split()) == 2
    said = capsys.readouterr().err
    where = f"{tmp_path / file}: "
    assert said.startswith(
        (f"testbed: {where}file: expected {expected}", f"testbed: {where}{expected}")
    )
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", '"x"', "{", "null", "{}", '{"command": "testbed"}', '{"command": "testbed lot"}',
        json.dumps(DRAWN | {"runs": []}), json.dumps(DRAWN | {"runs": [{}]}), "\xff",
    ],
)  # fmt: skip
def test_damaged_results(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "results.json"
    file.write_text(text, encoding="latin-1")
    assert main(["document", str(tmp_path), "--to", str(tmp_path / "to")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"testbed: {file}: file: expected figures that testbed wrote (")
    assert said.count("\n") == 1
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("words", ["--help", "bench --help"])
def test_help_needs_no_packages(words: str) -> None:
    """As outside the build environment."""
    packages = ("scipy", "numpy", "rich", "matplotlib")
    blocked = f"import sys\nsys.modules.update(dict.fromkeys({packages}))\n"
    run = f"from testbed.cli import main\nsys.exit(main({words.split()!r}))\n"
    done = subprocess.run([sys.executable, "-c", blocked + run], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: testbed ")


def test_what_a_command_needs_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("testbed.cli.find_spec", lambda _: None)
    assert main(["list"]) == 2
    told = "scipy: package: expected the build environment (tools/vm/buildenv run -- ...)"
    assert capsys.readouterr().err == f"testbed: {told}\n"
