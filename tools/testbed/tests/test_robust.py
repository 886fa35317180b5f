"""The pairwise set is one, and capacities that were measured are what a run is judged by."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest

from testbed import campaign, oracle, results, robust
from testbed.campaign import Experiment
from testbed.cli import main
from testbed.errors import MeasurementError
from testbed.frames import payload_share
from testbed.guestrun import Machine
from testbed.results import Finished, Host

from .made_up import finished


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
        as_measured = robust.judged(cell, carried)
        verdict = oracle.judge(oracle.links_of(as_measured.scenario), load, cell.deadline_ms)
        assert all(verdict.meetable)
        cheap = carried * cell.deadline_ms / 1000 / load.chunk_bytes
        assert abs(verdict.costly_share - (1 - cheap)) < 0.001


def test_capacity_counts_headers_once() -> None:
    cell = robust.together(robust.conditions()[0], 600_000.0)[0]
    path = robust.judged(cell, 600_000.0).scenario.paths[0]
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
