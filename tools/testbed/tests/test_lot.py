"""Networks that are drawn are the same for the simulator and the kernel, and told whole."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from testbed import changes, lot, results, scenariofile
from testbed.changes import Change
from testbed.cli import main
from testbed.results import Host
from testbed.scenario import MPDPA

from .made_up import finished


def test_a_seed_draws_the_same_networks() -> None:
    assert list(lot.draw(3, 20)) == list(lot.draw(3, 20))
    assert list(lot.draw(3, 20)) != list(lot.draw(4, 20))
    assert list(lot.draw(3, 10)) == list(lot.draw(3, 20))[:10]


def test_one_link_of_each_changes() -> None:
    networks = list(lot.draw(3, 60, 3, changing=True))
    assert networks == list(lot.draw(3, 60, 3, changing=True))
    for network, steady in zip(networks, lot.draw(3, 60, 3), strict=True):
        changed = {"change": network.change, "chunk_bytes": network.chunk_bytes}
        assert network == replace(steady, **changed)
        varying = [i for i, path in enumerate(network.scenario().paths) if path.varies]
        assert network.change is not None
        assert varying == [network.change.link]
    assert {network.change.kind for network in networks if network.change} == set(changes.KINDS)


@pytest.mark.parametrize(
    ("change", "percent"),
    [
        (Change(0, changes.GAP, 50, 20, 20, 0.0), (100, 100, 0, 0, 100)),
        (Change(0, changes.SWING, 50, 40, 20, 0.2), (20, 100, 100, 100, 20)),
        (Change(0, changes.SAW, 50, 10, 0, 0.5), (90, 50, 60, 70, 80)),
        (Change(0, changes.WAVE, 40, 0, 0, 0.5), (50, 75, 100, 75)),
    ],
)
def test_what_a_changing_link_carries(change: Change, percent: tuple[int, ...]) -> None:
    assert change.rates(100_000).bps == tuple(share * 1000 for share in percent)
    assert change.mean == pytest.approx(fmean(percent) / 100)


def test_a_network_is_as_a_file_has_it() -> None:
    for network in lot.draw(1, 20, 3):
        drawn = network.scenario()
        rows = [
            {"name": path.name, "cost": path.cost, "rate_bps": rate, "delay_ms": path.delay_ms}
            for path, rate in zip(drawn.paths, network.rates_bps, strict=True)
        ]
        read = scenariofile.parse(
            {
                "name": drawn.name,
                "title": drawn.title,
                "connection": {"congestion": "bbr", "buffer_bytes": lot.BUFFER_BYTES},
                "load": {
                    "chunks": network.chunks,
                    "chunk_bytes": network.chunk_bytes,
                    "period_ms": network.period_ms,
                },
                "plan": {"deadline_ms": [network.deadline_ms]},
                "path": rows,
            },
            Path("lot.toml"),
        )
        assert replace(read, plan=drawn.plan) == drawn


def test_each_network_is_run_beside_the_default_scheduler() -> None:
    cells = lot.cells(lot.draw(1, 4), lot.QUICK_CHUNKS)
    assert len({cell.label for cell in cells}) == 8
    for ours, stock in zip(cells[::2], cells[1::2], strict=True):
        assert (ours.protocol, stock.protocol) == (MPDPA, "mptcp")
        assert ours.scenario == stock.scenario
        assert ours.deadline_ms == stock.deadline_ms == ours.scenario.plan.deadline_ms[0]
        assert ours.scenario.load.chunks == lot.QUICK_CHUNKS
    assert {cell.scenario.connection.congestion for cell in cells} == set(lot.CONGESTION)


def test_the_table_has_a_row_for_each_network(tmp_path: Path) -> None:
    cells = lot.cells(lot.draw(1, 2))
    runs = [
        finished(cells[0], 6000.0, avoidable=1, share=0.5),
        finished(cells[1], 6500.0, avoidable=1, share=0.8),
        finished(cells[2], 6000.0, avoidable=0, share=0.41),
        finished(cells[3], 6500.0, avoidable=1, share=0.6),
    ]
    content = results.document("v1", Host("7.2.1", "virtual", "tcg", 1), "testbed lot", runs)
    assert lot.summary(content) == (
        "2 networks, 2 chunks. mpdpa: 1 late, of which 1 that the oracle meets; 5.5 points beyond "
        "its costly share. MPTCP, default scheduler: 2, of which 2; 30.0 points."
    )
    results.write(tmp_path / results.NAME, content)
    written = tmp_path / "results.md"
    assert main(["document", str(tmp_path), "--to", str(written)]) == 0
    text = written.read_text()
    assert f"## {tmp_path.name}\n\nKernel 7.2.1, virtual clock, tcg, `testbed lot` at v1" in text
    rows = [line for line in text.splitlines() if "bytes each" in line]
    title = cells[0].scenario.title
    assert rows[0] == f"| {title} | 1 | 1 | 1 | 50.0 % | 40.0 % | 1 | 80.0 % |"
    assert len(rows) == 2


def test_sections_of_other_campaigns_stay(tmp_path: Path) -> None:
    """Who measures one of them anew has the others' results no more."""
    written = tmp_path / "results.md"
    for name, version in ("one", "v1"), ("two", "v1"), ("one", "v2"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        runs = [
            finished(cell, 6000.0, avoidable=0, share=0.5) for cell in lot.cells(lot.draw(1, 1))
        ]
        content = results.document(version, Host("7", "virtual", "tcg", 1), "testbed lot", runs)
        results.write(folder / results.NAME, content)
        assert main(["document", str(folder), "--to", str(written)]) == 0
    text = written.read_text()
    assert "Written by `testbed document out/one out/two`" in text
    assert text.count("# Measured") == 1
    assert [line for line in text.splitlines() if line.startswith(("## ", "Kernel"))] == [
        "## one", "Kernel 7, virtual clock, tcg, `testbed lot` at v2.",
        "## two", "Kernel 7, virtual clock, tcg, `testbed lot` at v1.",
    ]  # fmt: skip
    assert len(set(re.findall(r"\n+## ", text))) == 1
