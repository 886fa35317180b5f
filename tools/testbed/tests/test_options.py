"""What the command line makes of its options."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from testbed import bench, campaign, options
from testbed.cli import main
from testbed.errors import UsageError
from testbed.guestrun import FAST, NATIVE, VIRTUAL, Machine


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

    def prepare(_name: str, _size: str, _traces: None, _machine: Machine, out: Path) -> list[None]:
        prepared.append(out)
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
