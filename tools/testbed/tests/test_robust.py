"""The pairwise set is one, and capacities that were measured are what a run is judged by."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest

from testbed import campaign, oracle, results, robust
from testbed.campaign import Experiment
from testbed.cellspec import Cell
from testbed.cli import main
from testbed.errors import MeasurementError
from testbed.frames import payload_share
from testbed.guestrun import Machine, Measured
from testbed.results import Finished, Host

from .made_up import counts, finished, raw


def test_every_pair_of_conditions_meets() -> None:
    chosen = robust.conditions()
    assert len(chosen) <= 12
    assert len({condition.name for condition in chosen}) == len(chosen)
    factors = {
        "congestion": robust.CONGESTION,
        "delay_ms": robust.DELAY_MS,
        "loss_percent": robust.LOSS_PERCENT,
        "buffer_bytes": robust.BUFFER_BYTES,
    }
    for one, other in combinations(factors, 2):
        met = {(getattr(each, one), getattr(each, other)) for each in chosen}
        assert met == set(product(factors[one], factors[other]))


def test_slack_is_over_what_the_paths_carried() -> None:
    condition = robust.conditions()[0]
    carried = 500_000.0
    for slack, cell in zip(robust.SLACK, robust.together(condition, carried), strict=True):
        assert cell.deadline_ms is not None
        load = cell.scenario.load
        assert abs(2 * carried * cell.deadline_ms / 1000 - load.chunk_bytes * (1 + slack)) < 1000
        as_measured = robust.known(cell.scenario, carried)
        verdict = oracle.judge(oracle.links_of(as_measured), load, cell.deadline_ms)
        assert all(verdict.meetable)
        cheap = carried * cell.deadline_ms / 1000 / load.chunk_bytes
        assert abs(verdict.costly_share - (1 - cheap)) < 0.001


def test_capacity_counts_headers_once() -> None:
    cell = robust.together(robust.conditions()[0], 600_000.0)[0]
    path = robust.known(cell.scenario, 600_000.0).paths[0]
    assert abs(path.rates.mean_bps * payload_share(4, multipath=True) / 8 - 600_000) < 1


def test_random_losses_are_averaged() -> None:
    lossy, clean = (
        next(each for each in robust.conditions() if bool(each.loss_percent) is wanted)
        for wanted in (True, False)
    )
    assert len({cell.seed for cell in robust.alone(lossy)}) == 3
    assert len(robust.together(lossy, 500_000.0)) == 3 * len(robust.SLACK)
    assert len(robust.alone(clean)) == 1


def test_capacity_is_measured_without_a_deadline() -> None:
    for condition in robust.conditions():
        assert all(cell.deadline_ms is None for cell in robust.alone(condition))


def _measured(cell: Cell, took_ms: float) -> Measured:
    """A chunk over the paths in equal parts; all of it on one if there is no other."""
    load = cell.scenario.load
    each = load.chunk_bytes // len(cell.scenario.paths)
    made = raw() | {
        "completion_ns": [round(took_ms * 10**6)],
        "delivered_bytes": load.chunk_bytes,
        "paths": {path.name: counts(each, each) for path in cell.scenario.paths},
        "seconds": 9,
    }
    return Measured(made, Path("none.csv"), Host("7.2.1", "virtual", "tcg", 1), 9)


def test_runs_are_told_as_they_were_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And judged by what the paths carried: of that the oracle's links are."""

    def run_all(_: object, cells: list[Cell], *__: object) -> dict[Cell, Measured]:
        # alone half a chunk takes 4 s, so that together they need as long for the whole
        took_ms = {1: 4000, 2: 4500}
        return {cell: _measured(cell, took_ms[len(cell.scenario.paths)]) for cell in cells}

    monkeypatch.setenv("MPDPA_IMAGES", "none")
    monkeypatch.setattr(campaign, "_run_all", run_all)
    monkeypatch.setattr(campaign, "_keep_series", lambda _, measured: dict.fromkeys(measured, ""))
    experiment = robust.run(Machine(), 1, tmp_path, "testbed robust", quick=True)
    runs = experiment.content["runs"]
    assert len(runs) == len(experiment.finished) > 0
    for done, run in zip(experiment.finished, runs, strict=True):
        assert [path["rate_bps"] for path in run["paths"]] == [8_000_000, 8_000_000]
        assert all(path.delay_ms for path in done.cell.scenario.paths)
        carried = payload_share(4, multipath=True) / 8
        assert [round(bps * carried, -3) for bps in run["capacity_bps"].values()] == [625_000] * 2
        assert list(run["capacity_bps"]) == ["P", "C"]
        # 4.4 s with the smaller slack, and 5.6 s
        late = done.cell.deadline_ms == 4400
        assert (run["missed"], run["avoidable_missed"]) == (late, late)
    alone = results.read(tmp_path / robust.ALONE)
    assert {run["capacity_bps"] for run in alone["runs"]} == {None}


def test_what_fails_leaves_no_older_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MeasurementError("not here")

    for name in (results.NAME, "report.html"):
        (tmp_path / name).write_text("older")
    monkeypatch.setattr(campaign, "run", fail)
    with pytest.raises(MeasurementError, match="not here"):
        robust.run(Machine(), 1, tmp_path, "testbed robust", quick=True)
    assert list(tmp_path.iterdir()) == []


def _of_one_condition() -> list[Finished]:
    condition = robust.conditions()[0]
    tight, easy = robust.together(condition, 500_000.0)
    (full,) = robust.at_full_speed(condition, 500_000.0)
    return [
        finished(tight, 6000.0, avoidable=1, share=0.3),
        finished(easy, 6500.0, avoidable=0, share=0.45),
        finished(full, 5600.0, avoidable=0, share=0.5),
    ]


def test_what_was_not_reached_is_told_beside_full_speed() -> None:
    runs = _of_one_condition()
    tight, easy, _ = (done.cell for done in runs)
    missed, dear = robust.verdict(Experiment(Path(), {}, runs))
    assert missed.startswith(tight.label)
    assert "took 6.00 s" in missed
    assert missed.endswith("5.60 s")
    assert dear == f"{easy.label}: excess 5.0 points"


def test_the_table_has_a_row_for_each_slack(tmp_path: Path) -> None:
    (tmp_path / robust.ALONE).mkdir()
    with pytest.raises(MeasurementError, match="not measured yet: no"):
        results.read(tmp_path)
    host = Host("7.2.1", "virtual", "tcg", 1)
    content = results.document("v1", host, "testbed robust", _of_one_condition())
    results.write(tmp_path / results.NAME, content)
    written = tmp_path / "results.md"
    assert main(["document", str(tmp_path), "--to", str(written)]) == 0
    text = written.read_text()
    assert f"## {tmp_path.name}\n\nKernel 7.2.1, virtual clock, tcg, `testbed robust` at v1" in text
    tight, easy = (line.split(" | ") for line in text.splitlines() if " 0.256 MB buffers |" in line)
    assert tight[1:] == [
        "10%", "5.50 s", "1 of 1 late, 500 ms at most", "-10.0", "1 of 1 late, 100 ms at most |",
    ]  # fmt: skip
    assert easy[1:] == ["40%", "7.00 s", "0 of 1 late", "5.0", "0 of 1 late |"]
