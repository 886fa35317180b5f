"""Every column, from a transfer that was made up so that each is known beforehand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from testbed import checks, curves, dpa, plots, reference, results, scenariofile
from testbed.campaign import Experiment
from testbed.cellspec import Cell
from testbed.errors import MeasurementError
from testbed.metrics import METRICS
from testbed.report import write as write_report
from testbed.results import Finished, Host
from testbed.scenario import ADAPTIVE, REQUESTS, Alpha
from testbed.score import score
from testbed.table import one_line

from .made_up import counts, raw

SYM = scenariofile.find("bulk-sym")
HOST = Host("7.2.12", "virtual", "tcg", 1)


def cell(protocol: str = "mpdpa", alpha: float | None = 1.0) -> Cell:
    return Cell(SYM, protocol, 10_000, alpha, 1)


def test_every_column() -> None:
    done = score(cell(), raw())
    assert (done.missed, done.avoidable_missed, done.missed_kernel) == (1, 1, 0)
    assert (done.missed_own, done.delivered_bytes) == (None, 60_000_000)
    assert score(cell(), raw() | {"own_missed": 2}).missed_own == 2
    assert done.completion_ms == (8000.0,) * 4 + (10000.0, 10000.0)
    assert done.costly_share == pytest.approx(0.275)
    # 1420 of 1514 bytes are payload: P carries 0.9379 MB a second during 9.95 s.
    assert done.oracle_costly_share == pytest.approx(1 - 1420 / 1514 * 0.995, abs=1e-6)
    assert done.excess == pytest.approx(0.275 - done.oracle_costly_share)
    assert done.overhead == pytest.approx(0.10)
    preferred, costly = done.paths
    assert (preferred.first_sent_bytes, preferred.resent_bytes) == (45_000_000, 600_000)
    assert (preferred.payload_bytes, preferred.wire_bytes) == (45_600_000, 48_000_000)
    assert (preferred.activations, preferred.queue_drops, preferred.cost) == (3, 7, 1)
    assert [(path.rate_bps, path.trace) for path in done.paths] == [(8_000_000, None)] * 2
    assert (costly.first_sent_bytes, costly.resent_bytes) == (15_000_000, 1_500_000)
    assert (costly.payload_bytes, costly.wire_bytes) == (16_500_000, 18_000_000)
    assert (costly.activations, costly.queue_drops, costly.cost) == (3, 7, 10)
    late, share, over = 1 - 1 / 6, 1 - 0.275, 0.9
    assert done.utility((0.60, 0.25, 0.15)) == pytest.approx(
        0.6 * late + 0.25 * share + 0.15 * over
    )
    assert {name: each(cell(), done) for name, each in METRICS.items()} == pytest.approx({
        "utility_reliability": 0.6 * late + 0.25 * share + 0.15 * over,
        "utility_savings": 0.1 * late + 0.8 * share + 0.1 * over,
        "mean_chunk_ms": 52_000 / 6,
        "price_per_megabyte": (45.6 * 1 + 16.5 * 10) / 60,
        "busy_ns_per_byte": 4,
    })  # fmt: skip


def test_columns_of_paths_that_vary() -> None:
    drive = scenariofile.find("bulk-drive-city")
    counted = raw() | {"completion_ns": [10**9] * drive.load.chunks}
    done = score(Cell(drive, "mpdpa", 10_000, 1.0, 1), counted)
    traces = ["city-preferred-1", "city-costly-1"]
    assert [(path.rate_bps, path.trace) for path in done.paths] == [(None, x) for x in traces]


def test_efficiency_needs_stock_beside() -> None:
    ours = Finished(cell(), score(cell(), raw()), None)
    halves = raw()
    halves["paths"]["C"] = counts(30_000_000, 32_000_000)
    stock = Finished(cell("mptcp", None), score(cell("mptcp", None), halves), None)
    alone = results.document("v", HOST, "c", [ours])["runs"][0]
    assert alone["savings_efficiency"] is None
    beside = results.document("v", HOST, "c", [stock, ours])["runs"][1]
    oracle = ours.score.oracle_costly_share
    assert beside["savings_efficiency"] == pytest.approx((0.5 - 0.275) / (0.5 - oracle), abs=1e-6)


def test_unfinished_chunks_are_missed() -> None:
    part = raw()
    part["completion_ns"][5] = None
    done = score(cell(), part)
    assert (done.missed, done.completion_ms[5]) == (2, None)


def test_nothing_was_delivered() -> None:
    """By a command that sends nothing: there is no share of it."""
    with pytest.raises(MeasurementError, match="bulk-sym-mpdpa-d10000-a1-s1: nothing was deliv"):
        score(cell(), raw() | {"delivered_bytes": 0})


def test_requests_have_no_oracle(tmp_path: Path) -> None:
    """They are judged when they were answered, which it knows nothing of."""
    asked = replace(SYM, load=replace(SYM.load, kind=REQUESTS, response_bytes=1000))
    runs = []
    for protocol, alpha in (("mptcp", None), ("mpdpa", ADAPTIVE)):
        each = Cell(asked, protocol, 10_000, alpha, 1)
        runs.append(Finished(each, score(each, raw()), "series/x.csv"))
    done = runs[1].score
    assert (done.missed, done.avoidable_missed, done.oracle_costly_share) == (1, None, None)
    assert (done.excess, done.savings_efficiency(runs[0].score)) == (None, None)
    row = results.document("v", HOST, "c", runs)["runs"][1]
    missing = ("avoidable_missed", "oracle_costly_share", "excess", "savings_efficiency")
    assert [row[name] for name in missing] == [None] * 4
    assert "(avoidable –, kernel says 0), costly 27.5 %, oracle –, excess –," in one_line(runs[1])
    assert "avoidable" not in text_of_figure(report_of(runs, tmp_path), "Missed chunks")


def text_of_figure(page: str, label: str) -> str:
    return page.partition(f'aria-label="{label}"')[2].partition("</svg>")[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"altered_at": 7_000}, "the stream changed on its way, first at byte 7000"),
        ({"delivered_bytes": 59_999_999}, "59999999 of 60000000 bytes delivered"),
        ({"written_bytes": 1}, "bytes written differ"),
        ({"short_of_memory": 2}, "TCP ran short of memory"),
        ({"paths": {"P": counts(60_000_000, 61_000_000)}}, "paths ['P'] instead of"),
        (
            {"paths": {"P": counts(45_000_000, 46_000_000), "C": counts(15_000_001, 16_000_000)}},
            "bytes sent for the first time on all paths are 60000001",
        ),
        (
            {"paths": {"P": counts(45_000_000, 44_000_000), "C": counts(15_000_000, 16_000_000)}},
            "P: 44000000 bytes on the wire for 45000000",
        ),
    ],
)
def test_contradictions_fail(change: dict[str, Any], message: str) -> None:
    good = raw()
    checks.check(cell(), good)
    with pytest.raises(MeasurementError) as caught:
        checks.check(cell(), good | change)
    assert message in str(caught.value)


REQUIRED = """scenario protocol scheduler alpha seed congestion deadline_ms period_ms chunk_bytes
chunks missed missed_kernel avoidable_missed completion_ms delivered_bytes paths costly_share
oracle_costly_share excess savings_efficiency overhead utility_reliability utility_savings"""
REQUIRED_OF_PATHS = """name cost rate_bps trace payload_bytes first_sent_bytes wire_bytes
resent_bytes activations"""


def test_results_are_complete_and_repeatable(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        runs = [Finished(cell(), score(cell(), raw()), "series/x.csv")]
        files.append(tmp_path / name)
        results.write(files[-1], results.document("v1", HOST, "testbed run x", runs))
    assert files[0].read_bytes() == files[1].read_bytes()
    content = json.loads(files[0].read_text())
    assert (content["schema"], content["project_version"]) == (1, "v1")
    assert content["host"] == {"kernel": "7.2.12", "clock": "virtual", "accel": "tcg", "cpus": 1}
    run = content["runs"][0]
    assert set(REQUIRED.split()) <= set(run)
    assert set(REQUIRED_OF_PATHS.split()) <= set(run["paths"][0])
    assert run["busy_ns_per_byte"] == 4
    assert sum(path["first_sent_bytes"] for path in run["paths"]) == run["delivered_bytes"]
    assert not list(tmp_path.glob("*.new"))


def report_of(runs: list[Finished], folder: Path, until_ms: int = 5000) -> str:
    (folder / "series").mkdir()
    columns = ["goodput_bps", "est_bps", "queued_bytes", "backup"]
    header = ",".join(["t_ms", *(f"{p}_{c}" for p in "PC" for c in columns)])
    lines = [f"{t},8000000,0,0,0,{t * 10},0,0,1" for t in range(100, until_ms, 100)]
    (folder / "series/x.csv").write_text("\n".join([header, *lines]) + "\n")
    content = results.document("v<1>", HOST, "testbed demo", runs)
    return write_report(Experiment(folder, content, runs), reference.load()).read_text()


def test_every_picture_is_there(tmp_path: Path) -> None:
    """A sweep of alpha, with two deadlines and more chunks than dots can show."""
    load = replace(SYM.load, chunks=25, chunk_bytes=2_400_000, period_ms=2_000)
    many = replace(SYM, load=load)
    runs = []
    for deadline_ms in (4_000, 2_000):
        chosen: list[tuple[str, Alpha]] = [("mptcp", None), ("mpdpa", ADAPTIVE)]
        chosen += [("threshold", alpha) for alpha in (0.4, 0.8, 1.2, 1.6)]
        for late, (protocol, alpha) in enumerate(chosen):
            counted = raw()
            counted["completion_ns"] = [10**9] * (25 - late) + [10**10] * late
            each = Cell(many, protocol, deadline_ms, alpha, 1)
            runs.append(Finished(each, score(each, counted), "series/x.csv"))
    page = report_of(runs, tmp_path)
    pictures = (
        "Payload acknowledged per subflow over time", "Distribution of throughput",
        "Distribution of completion times", "Share of the payload on costly paths",
        "Missed chunks", "Overhead", "Utility against alpha",
    )  # fmt: skip
    assert {name: page.count(f'aria-label="{name}"') for name in pictures} == dict.fromkeys(
        pictures, 2
    )
    assert page.count("<svg") == 2 * len(pictures)
    assert "5, avoidable 5" in page


def test_a_run_shorter_than_a_sample_is_drawn(tmp_path: Path) -> None:
    runs = [Finished(cell(), score(cell(), raw()), "series/x.csv")]
    page = report_of(runs, tmp_path, until_ms=0)
    assert page.count("<svg") == 6


def test_report_stands_alone(tmp_path: Path) -> None:
    page = report_of([Finished(cell(), score(cell(), raw()), "series/x.csv")], tmp_path)
    assert page.count("<svg") == 6
    assert 'aria-label="Completion time of each chunk"' in page
    assert "v&lt;1&gt;" in page
    assert "src=" not in page
    assert "@import" not in page
    assert "url(http" not in page


def test_the_recipe_is_complete(tmp_path: Path) -> None:
    runs = [Finished(cell(), score(cell(), raw()), "series/x.csv")]
    page = report_of(runs, tmp_path)
    command = "env PYTHONPATH=tools python3 -m testbed demo"
    inside = "tools/vm/buildenv run --"
    assert f"<pre>{inside} make guest\n{inside} {command}</pre>" in page
    native = results.document("v", replace(HOST, accel="native"), "testbed demo --vm no", runs)
    page = write_report(Experiment(tmp_path, native, runs), reference.load()).read_text()
    assert f"<pre>make\n{command} --vm no</pre>" in page


@pytest.mark.parametrize(("seeds", "told"), [((2, 2), 0), ((2, 1), 1)])
def test_charts_of_one_seed_say_so(seeds: tuple[int, ...], told: int, tmp_path: Path) -> None:
    cells = [replace(cell(alpha=float(i)), seed=seed) for i, seed in enumerate(seeds, 1)]
    runs = [Finished(each, score(each, raw()), "series/x.csv") for each in cells]
    page = report_of(runs, tmp_path)
    assert page.count('<p class="lead">The charts show seed 2, the table all seeds.</p>') == told


def test_what_comes_after_the_last_chunk_is_no_load() -> None:
    series = plots.Series([0.0, 0.5, 1.0, 1.5], {"P": [8.0, 4.0, 0.0], "C": [1.0, 0.0, 0.0]})
    assert curves.in_load(series, 0.6) == [9.0, 4.0]
    assert curves.in_load(series, 1.0) == [9.0, 4.0]
    assert curves.in_load(plots.Series([0.0], {"P": []}), 1.0) == []
    counted = raw()
    done = Finished(cell(), score(cell(), counted), None)
    # the last of six, which are released every 10 s, took 10 s
    assert plots.last_completion_s(done) == pytest.approx(60.0)
    counted["completion_ns"][2] = None
    done = Finished(cell(), score(cell(), counted), None)
    assert curves.in_load(series, plots.last_completion_s(done)) == [9.0, 4.0, 0.0]


def test_every_kind_of_connection_is_told(tmp_path: Path) -> None:
    runs = []
    for congestion, size in (("bbr", 2_000_000), ("cubic", 2_000_000), ("bbr", 2_000_000)):
        connection = replace(SYM.connection, congestion=congestion, buffer_bytes=size)
        each = replace(cell(), scenario=replace(SYM, connection=connection))
        runs.append(Finished(each, score(each, raw()), "series/x.csv"))
    told = ", IPv4, 2 MB buffers, starts on P"
    page = report_of(runs, tmp_path)
    assert f"<dt>Connection</dt><dd>bbr{told}; cubic{told}</dd>" in page


def test_the_schedulers_view_is_read_by_size() -> None:
    """Rows may grow at their end: they are stepped through by the size the kernel names."""
    # a later kernel: a longer header, longer rows
    size = dpa._INFO_LAYOUT.size + 16
    head = dpa._INFO_LAYOUT.pack(size, 56, 2, 1, 0, 1000, *[0] * 10, 4, 2, 3, 99) + bytes(16)
    rows = b"".join(
        dpa._PATH_LAYOUT.pack(i + 1, i, 1 + 9 * i, i << 2, 1_000_000, 777, 700, 3, 0) + bytes(8)
        for i in range(2)
    )
    view = dpa.parse(head + rows)
    assert (view.chunks_met, view.chunks_missed, view.decisions) == (4, 2, 99)
    assert [path.held for path in view.paths.values()] == [False, True]
    assert view.paths[1] == dpa.PathView(1, 10, True, 8_000_000, 777, 3)
