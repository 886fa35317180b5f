"""What is asked for wrongly is a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
from sim import __main__ as sim
from sim import links, lot, simulate
from testbed import scenariofile


@pytest.mark.parametrize("main", [sim.main, lot.main])
def test_help(main: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("usage: python3 -m sim")


@pytest.mark.parametrize(("main", "words"), [(sim.main, "bulk-sym"), (lot.main, "--count 1")])
def test_the_program_is_not_built(
    main: Callable[[list[str]], int], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (sim, lot):
        monkeypatch.setattr(module, "PROGRAM", tmp_path / "sim")
    assert main(words.split()) == 2
    how = "tools/vm/buildenv run -- make out/sim/sim"
    assert capsys.readouterr().err == f"sim: {tmp_path / 'sim'}: file: expected it built, by: {how}\n"


def test_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert lot.main(["--count", "1"]) == 0
    assert capsys.readouterr().out.startswith("1 networks: ")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--count 0", "argument --count: expected a whole number from 1 to 100000, got '0'"),
        ("--paths 9", "argument --paths: expected a whole number from 2 to "),
        ("--worst -1", "argument --worst: expected a whole number from 0 to "),
        ("--alpha 9", "argument --alpha: expected a number from 0.1 to 4 or adaptive, got '9'"),
        ("--seed -5", "argument --seed: expected a whole number from 0 to "),
    ],
)
def test_what_networks_can_be_drawn(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        lot.main(words.split())
    assert end.value.code == 2
    assert expected in capsys.readouterr().err


def test_means_of_seeds(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    some = links.scenario(
        "some",
        [{"rate_bps": 4_000_000, "delay_ms": 20}] * 2,
        {"chunks": 12, "chunk_bytes": 600_000, "period_ms": 1000},
        900,
    )
    monkeypatch.setattr(scenariofile, "find", lambda _: some)
    shares = [simulate.run(lot.PROGRAM, some, 900, simulate.Setting(seed=seed)).costly_share for seed in (1, 2, 3)]
    assert len(set(shares)) > 1
    assert sim.main(["--seeds", "3", some.name]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "deficit" in line)
    assert f"costly {fmean(shares):6.1%} " in line


def test_no_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        sim.main(["--seeds", "0"])
    assert end.value.code == 2
    assert "argument --seeds: expected a whole number from 1 to 1000, got '0'" in capsys.readouterr().err


def test_alpha() -> None:
    networks = list(lot.draw(5, 2))

    def run(alpha_milli: int) -> list[simulate.Outcome]:
        setting = simulate.Setting(alpha_milli=alpha_milli)
        return [simulate.run(lot.PROGRAM, each.scenario(), each.deadline_ms, setting) for each in networks]

    assert run(0) != run(100)
    assert list(lot.outcomes(networks)) == list(lot.outcomes(networks, "adaptive")) == run(0)
    assert list(lot.outcomes(networks, 0.1)) == run(100)
