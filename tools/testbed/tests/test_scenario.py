"""Scenario files: what ships is good, and every mistake is one line that names it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from testbed import cellspec, rates, scenario, scenariofile
from testbed.campaign import Choice, cells_of
from testbed.cli import main
from testbed.errors import UsageError

GOOD = """
name = "two"
[load]
chunks = 2
chunk_bytes = 1000
period_ms = 100
[plan]
deadline_ms = [100]
[[path]]
name = "P"
cost = 1
rate_bps = 8000000
delay_ms = 50
[[path]]
name = "C"
cost = 5
rate_bps = 1000000
delay_ms = 10.5
"""

CROWD = GOOD.replace("chunks = 2", 'kind = "crowd"\nchunks = 2')


def parse(text: str) -> scenario.Scenario:
    return scenariofile.parse(tomllib.loads(text), Path("x.toml"))


def test_defaults() -> None:
    two = parse(GOOD)
    assert (two.connection.congestion, two.connection.ip, two.connection.start) == ("bbr", 4, "P")
    assert two.connection.buffer_bytes == 2_000_000
    preferred, costly = two.paths
    assert (two.preferred, two.is_costly(costly), two.is_costly(preferred)) == (
        preferred,
        True,
        False,
    )
    # 100 ms at the link's rate, but at least 30 packets.
    assert [path.queue_bytes for path in two.paths] == [100_000, 30 * 1514]


def test_whole_numbers_are_alphas_like_others() -> None:
    two = parse(GOOD.replace("deadline_ms = [100]", "deadline_ms = [100]\nalpha = [2, 0.5]"))
    assert two.plan.alpha == (2.0, 0.5)
    cells = cells_of(two, Choice(protocols=("mptcp", "mp-dpa")))
    assert [repr(cell.alpha) for cell in cells] == ["None", "2.0", "0.5"]


def test_shipped_scenarios() -> None:
    assert {"bulk-sym", "bulk-asym", "bulk-validate"} <= set(scenariofile.names())
    sym = scenariofile.find("bulk-sym")
    assert (sym.load.chunks, sym.load.chunk_bytes, sym.load.period_ms) == (6, 10**7, 10_000)
    assert [path.rate_bps for path in sym.paths] == [8_000_000, 8_000_000]
    assert sym.plan.limit_deadline_ms == (7_000, 6_000, 5_000)
    asym = scenariofile.find("bulk-asym")
    assert [path.rate_bps for path in asym.paths] == [4_000_000, 12_000_000]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("cost = 5", "cost = 5\ncolour = 1", "path[1].colour: expected a known key"),
        ("chunks = 2", "chunks = 2\nsize = 1", "load.size: expected a known key"),
        ('name = "two"', 'name = "two"\nnote = ""', "note: expected a known key"),
        ("chunks = 2", 'chunks = "2"', "load.chunks: expected a whole number from 1"),
        ("chunks = 2", "chunks = true", "load.chunks: expected a whole number from 1"),
        ("chunks = 2", "chunks = 0", "load.chunks: expected a whole number from 1"),
        ("chunks = 2\n", "", "load.chunks: expected a whole number from 1 to 1000000, but"),
        ("rate_bps = 8000000", "rate_bps = 8", "path[0].rate_bps: expected a whole number from"),
        ("rate_bps = 8000000", "rate_bps = -1", "path[0].rate_bps: expected a whole number"),
        ("rate_bps = 8000000\n", "", "path[0].rate_bps: expected exactly one of rate_bps, tr"),
        ("rate_bps = 8000000", "trace = 'nowhere'", "path[0].trace: expected the name of"),
        ("delay_ms = 50", "delay_ms = -1", "path[0].delay_ms: expected a number from 0"),
        ("delay_ms = 50", "delay_ms = 50\nloss_percent = 100", "path[0].loss_percent: expected a"),
        ("delay_ms = 50", "delay_ms = 50\nup_ms = [[5, 5]]", "path[0].up_ms: expected at most 16"),
        ("delay_ms = 50", "delay_ms = 50\nup_ms = [[0, 9], [5, 20]]", "path[0].up_ms: expected"),
        (
            "delay_ms = 50",
            "delay_ms = 50\nup_ms = [[5, 9]]",
            "path[0].up_ms: expected a path that wo",
        ),
        (
            "delay_ms = 10.5",
            "delay_ms = 10.5\nup_ms = [[200, 300]]",
            "path[1].up_ms: expected a path that comes up within the load's 200 ms, got ((200",
        ),
        (
            GOOD,
            CROWD.replace("delay_ms = 10.5", "delay_ms = 10.5\nup_ms = [[0, 9]]"),
            "path[1].up_ms: expected paths that always work",
        ),
        ("rate_bps = 8000000", "drive = { place = 'sea' }", "path[0].drive.place: expected one of"),
        ('name = "two"', 'name = "two\\u0000"', "name: expected a letter or digit and up to 63"),
        ('name = "two"', 'name = "../two"', "name: expected a letter or digit and up to 63"),
        ('name = "C"', 'name = "P"', "path.name: expected names that differ, got 'P'"),
        ('name = "C"', 'name = "C 2"', "path[1].name: expected a letter and up to 10"),
        ("deadline_ms = [100]", "deadline_ms = 100", "plan.deadline_ms: expected a list"),
        ("chunks = 2", "chunks = 2\ntogether = 2", "load.together: expected a known key"),
        ("chunks = 2", 'kind = "crowd"\nchunks = 2\ntogether = 0', "load.together: expected a"),
        ("deadline_ms = [100]", "deadline_ms = [0]", "plan.deadline_ms: expected a list"),
        ("[plan]", "[plan]\nalpha = [9]", "plan.alpha: expected a list of numbers from 0.1"),
        ("[plan]", "[connection]\nip = 5\n[plan]", "connection.ip: expected one of 4, 6, got"),
        ("[plan]", "[connection]\nstart = 'X'\n[plan]", "connection.start: expected one of P"),
    ],
)
def test_mistakes(old: str, new: str, expected: str) -> None:
    assert old in GOOD
    with pytest.raises(UsageError) as caught:
        parse(GOOD.replace(old, new, 1))
    message = str(caught.value)
    assert expected in message
    assert "\n" not in message


def test_mistakes_name_the_file_and_end_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(GOOD.replace("cost = 5", "cost = 0"))
    assert main(["run", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"testbed: {file}: path[1].cost: expected a whole number")
    assert said.count("\n") == 1
    file.write_text("name = ")
    assert main(["run", str(file)]) == 2
    assert f"{file}: file: expected TOML" in capsys.readouterr().err
    assert main(["run", "no-such"]) == 2
    assert "no-such: scenario: expected one of" in capsys.readouterr().err


def test_trace(tmp_path: Path) -> None:
    (tmp_path / "t.down").write_text("0\n50\n99\n250\n250\n400\n")
    (tmp_path / "s.toml").write_text(GOOD.replace("rate_bps = 8000000", 'trace = "t.down"', 1))
    path = scenariofile.load(tmp_path / "s.toml").paths[0]
    assert (path.trace, path.rates.step_ms, path.rates.period_ms) == ("t.down", 1, 400)
    # A chance is spread over the millisecond before it.
    busy = {ms: bps for ms, bps in enumerate(path.rates.bps) if bps}
    once = 1514 * 8 * 1000
    assert busy == {0: once, 49: once, 98: once, 249: 2 * once, 399: once}
    assert path.rates.bytes_until(400) == pytest.approx(6 * 1514)
    assert path.rates.bytes_between(350, 500) == pytest.approx(4 * 1514)
    assert path.rates.peak_bps == 3 * once // 100
    assert path.queue_bytes == 30 * 1514
    (tmp_path / "t.down").write_text("5\n4\n")
    with pytest.raises(UsageError, match=r"t\.down: line 2: expected a time in ms"):
        scenariofile.load(tmp_path / "s.toml")
    (tmp_path / "t.down").write_text("0\n")
    with pytest.raises(UsageError, match=r"t\.down: trace: expected at least one time"):
        scenariofile.load(tmp_path / "s.toml")


def test_triangle() -> None:
    wave = rates.triangle(4_000_000, 14_000_000, 30_000)
    assert len(wave.bps) == 300
    assert (min(wave.bps), max(wave.bps)) == (4_033_333, 13_966_667)
    assert wave.bytes_until(30_000) == pytest.approx(9e6 / 8 * 30, rel=1e-6)
    # 100 ms at the mean rate.
    assert scenariofile.find("stream-triangle").paths[0].queue_bytes == 112_500


def test_traces_keep_what_they_carry(tmp_path: Path) -> None:
    wave = rates.triangle(4_000_000, 14_000_000, 30_000)
    file = tmp_path / "wave.down"
    file.write_text(rates.to_trace(wave))
    read = rates.from_trace(file)
    for ms in range(100, read.period_ms, 100):
        assert abs(read.bytes_until(ms) - wave.bytes_until(ms)) <= 1514


def test_up_times() -> None:
    rows = "up_ms = [[0, 100], [200, 300]]\n"
    path = parse(GOOD.replace("delay_ms = 50", rows + "delay_ms = 50", 1)).paths[0]
    assert (path.up_ms, path.varies, path.rate_bps) == (((0, 100), (200, 300)), True, 8_000_000)


def test_cells_of_a_plan() -> None:
    cells = cells_of(scenariofile.find("bulk-sym"), Choice(deadlines_ms=(10_000,)))
    assert [cell.label for cell in cells] == [
        "bulk-sym-tcp-d10000-s1",
        "bulk-sym-mptcp-d10000-s1",
        "bulk-sym-threshold-d10000-a1-s1",
        "bulk-sym-mpdpa-d10000-adaptive-s1",
    ]
    for cell in cells:
        assert cellspec.from_json(cellspec.to_json(cell)) == cell
    assert [cell.scheduler for cell in cells] == [None, "default", "mpdpa", "mpdpa"]
