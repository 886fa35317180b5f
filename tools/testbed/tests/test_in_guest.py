"""What only a kernel can show. Needs the build environment and what `make guest` builds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from testbed import cellspec, guestrun, scenariofile
from testbed.cellspec import Cell

from .test_documentation import block

EXAMPLES = scenariofile.FOLDER / "examples"
HERE = Path(__file__).resolve().parent
SECONDS = 400


def command(*words: str | Path) -> str:
    """The command's output; it must end well."""
    done = subprocess.run(
        [sys.executable, "-m", "testbed", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(guestrun.PACKAGE.parent)},
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def measured(text: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """What a cell of our scheduler says of a scenario, and its only run in the results."""
    (folder / "scenario.toml").write_text(text)
    out = folder / "out"
    said = command("cell", folder / "scenario.toml", "--protocol", "mpdpa", "--out", out)
    return said, json.loads((out / "results.json").read_text())["runs"][0]


BURSTS = """
name = "bursts"
[load]
chunks = 8
chunk_bytes = 1000
period_ms = 1000
[plan]
deadline_ms = [1000]
[[path]]
name = "wave"
cost = 1
triangle = { low_bps = 1_000_000, high_bps = 20_000_000, period_ms = 3_000 }
delay_ms = 20
[[path]]
name = "bursts"
cost = 2
trace = "bursts.down"
delay_ms = 50
[[path]]
name = "drive"
cost = 3
drive = { place = "rural", role = "costly", seed = 2 }
delay_ms = 0
"""


def test_what_arrives_follows_the_trace(tmp_path: Path) -> None:
    """Single packets, bursts of 15 in a millisecond, and a hole of 1.2 s; twice over."""
    quiet = [*range(5, 1500, 40)]
    bursts = [ms for ms in range(1500, 2800, 25) for _ in range(15)]
    lines = [*quiet, *bursts, 4000]
    (tmp_path / "bursts.down").write_text("".join(f"{ms}\n" for ms in lines))
    (tmp_path / "bursts.toml").write_text(BURSTS)
    said = command("replay", tmp_path / "bursts.toml", "--out", tmp_path / "out")
    assert [line.split(":")[0] for line in said.splitlines()] == ["wave", "bursts", "drive"]
    assert said.count("follows its rates") == 3
    packets = int(said.splitlines()[1].split("rates: ")[1].split()[0])
    assert packets == pytest.approx(2 * len(lines), abs=2)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    words = ("run", "stream-triangle", "--protocol", "mptcp", "--chunks", "3")
    for name in ("a", "b"):
        command(*words, "--out", tmp_path / name)
    first, second = ((tmp_path / name / "results.json").read_bytes() for name in ("a", "b"))
    assert first == second
    run = json.loads(first)["runs"][0]
    assert run["delivered_bytes"] == 3_000_000
    assert sum(path["first_sent_bytes"] for path in run["paths"]) == 3_000_000
    series = [next((tmp_path / name / "series").glob("*.csv")) for name in ("a", "b")]
    assert series[0].read_bytes() == series[1].read_bytes()


@pytest.mark.parametrize(
    ("example", "protocol", "expected"),
    [
        ("requests", "mptcp", "missed 0 of 10"),
        ("iperf3", "mptcp", "missed 0 of 1"),
        ("drive-by", "mpdpa", "missed 0 of 1"),
    ],
)
def test_examples(example: str, protocol: str, expected: str, tmp_path: Path) -> None:
    words = ("cell", EXAMPLES / f"{example}.toml", "--protocol", protocol, "--out", tmp_path)
    said = command(*words)
    assert expected in said
    assert re.search(r"^clock: \d+ s in \d+ s of the wall clock, [\d.]+ x$", said, re.MULTILINE)
    run = json.loads((tmp_path / "results.json").read_text())["runs"][0]
    # Both paths that could were used; the run has checked its own figures.
    assert sum(path["payload_bytes"] > 100_000 for path in run["paths"]) >= 2
    if example == "iperf3":
        told = next((tmp_path / "series").glob("*.txt")).read_text()
        assert json.loads(told)["end"]["sum_sent"]["bytes"] == 4 << 20


FAST = """
name = "fast"
title = "A stream that the cheap link carries by itself"
[load]
chunks = 20
chunk_bytes = 2_000_000
period_ms = 1000
[plan]
deadline_ms = [1000]
[[path]]
name = "cheap"
cost = 1
rate_bps = 40_000_000
delay_ms = 50
[[path]]
name = "costly"
cost = 10
rate_bps = 40_000_000
delay_ms = 50
"""


def test_a_fast_cheap_path_becomes_known(tmp_path: Path) -> None:
    """Though a chunk is all on its way before decisions see much of it."""
    said, run = measured(FAST, tmp_path)
    assert "missed 0 of 20" in said
    assert run["oracle_costly_share"] == 0
    assert run["costly_share"] < 0.04


def test_a_crowd_does_not_crush_itself(tmp_path: Path) -> None:
    """Connections side by side make each other's round trips longer, and lose packets."""
    text = (scenariofile.FOLDER / "crowd.toml").read_text()
    for old, new in (
        ("chunks = 1000", "chunks = 160"),
        ("together = 20", "together = 4"),
        ("period_ms = 140", "period_ms = 233"),
        ("rate_bps = 100_000_000", "rate_bps = 12_000_000"),
    ):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "crowd.toml").write_text(text)
    said = command("cell", tmp_path / "crowd.toml", "--out", tmp_path / "out")
    assert "missed 0 of 160" in said
    run = json.loads((tmp_path / "out/results.json").read_text())["runs"][0]
    assert run["delivered_bytes"] == 16_000_000
    assert sum(path["first_sent_bytes"] for path in run["paths"]) == 16_000_000
    # Stock MPTCP has 0.36 here. Rescue that takes each queue for a failure had 2.5 and more.
    assert run["overhead"] < 0.8
    assert run["busy_ns_per_byte"] > 0


def test_the_machines_own_clock(tmp_path: Path) -> None:
    words = ("cell", "bulk-sym", "--clock", "wall", "--protocol", "mpdpa", "--chunks", "1")
    size = ("--chunk-bytes", "1000000")
    began = time.monotonic()
    said = command(*words, *size, "--deadline", "10000", "--out", tmp_path)
    took = time.monotonic() - began
    assert "missed 0 of 1" in said
    told = json.loads((tmp_path / "results.json").read_text())
    assert (told["host"]["clock"], told["runs"][0]["delivered_bytes"]) == ("wall", 1_000_000)
    # No faster than the link, nor than this machine's clock.
    assert 1.0 < told["runs"][0]["completion_ms"][0] / 1000 < took


BEHIND = """
name = "behind"
[connection]
buffer_bytes = 256_000
[load]
chunks = 6
chunk_bytes = 300_000
period_ms = 500
[plan]
deadline_ms = [500]
[[path]]
name = "slow"
cost = 1
rate_bps = 1_000_000
delay_ms = 10
[[path]]
name = "dear"
cost = 2
rate_bps = 1_000_000
delay_ms = 10
"""


def test_a_sender_that_is_behind_goes_on(tmp_path: Path) -> None:
    """It begins with later chunks when their time is over."""
    said, run = measured(BEHIND, tmp_path)
    assert "missed 6 of 6 (avoidable 0, kernel says 6)" in said
    assert run["delivered_bytes"] == 6 * 300_000
    assert run["completion_ms"][-1] > 2 * run["deadline_ms"]


def test_a_path_that_carries_nothing_is_named(tmp_path: Path) -> None:
    text = (EXAMPLES / "requests.toml").read_text().replace("loss_percent = 0.5", "")
    text = text.replace("delay_ms = 35", "delay_ms = 35\nloss_percent = 99.9")
    (tmp_path / "dead.toml").write_text(text)
    words = [sys.executable, "-m", "testbed", "cell", str(tmp_path / "dead.toml")]
    done = subprocess.run(
        [*words, "--protocol", "mptcp", "--out", str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": str(guestrun.PACKAGE.parent)},
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 1
    key = f"testbed: {tmp_path / 'dead.toml'}: path[1] (lte): "
    assert done.stderr.startswith(f"{key}expected a subflow within 30 s")
    assert done.stderr.count("\n") == 1


def script(place: Path, overlay: Path, name: str, *words: str) -> str:
    """What a script of tests/guest says in a guest with this package; it must end well."""
    shutil.copy(HERE / "guest" / name, overlay / name)
    links = guestrun.make_links(place / "links")
    done = subprocess.run(
        [guestrun.GUEST_TOOL, "run", "--quiet", "--overlay", overlay, "--overlay", links,
         "--log", place / "log", "--timeout", str(SECONDS), "--",
         "env", "PYTHONPATH=/opt/mpdpa/tools", "python3", f"/{name}", *words],
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    said = (place / "log").read_text()
    assert done.returncode == 0, said + done.stderr
    return said


def test_work_is_counted_and_idle_time_is_not(tmp_path: Path) -> None:
    said = script(tmp_path, guestrun.make_overlay(tmp_path / "overlay"), "work.py")
    words = said.split()
    worked = int(words[words.index("worked") + 1])
    counted = int(words[words.index("counted") + 1])
    assert worked <= counted < 1.1 * worked


def test_an_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    overlay = guestrun.make_overlay(tmp_path / "overlay")
    cell = Cell(scenariofile.find("stream-triangle"), "mptcp", None, None, 1)
    (overlay / "spec.json").write_text(cellspec.to_json(cell))
    iperf3 = Cell(scenariofile.find(str(EXAMPLES / "iperf3.toml")), "mptcp", None, None, 1)
    (overlay / "command.json").write_text(cellspec.to_json(iperf3))
    said = script(tmp_path, overlay, "interrupt.py", "/spec.json", "/command.json")
    for name in ("SIGINT", "SIGTERM", "SIGKILL", "command"):
        assert f"{name}: clean" in said, said


def test_the_scheduler_of_the_documentation(tmp_path: Path) -> None:
    place = tmp_path / "overlay/usr/local/lib/mpdpa"
    place.mkdir(parents=True)
    (tmp_path / "ready.bpf.c").write_text(block("c", "ready_send"))
    top, out = guestrun.REPOSITORY, guestrun.REPOSITORY / "out"
    places = [out / "bpf", top / "bpf", top / "kernel", top / "kernel/uapi"]
    subprocess.run(
        ["clang", "--target=bpf", "-mcpu=v3", "-O2", "-g", "-fms-extensions",
         "-Wno-microsoft-anon-tag", "-D__TARGET_ARCH_x86", *(f"-I{folder}" for folder in places),
         "-c", tmp_path / "ready.bpf.c", "-o", place / "ready.bpf.o"],
        check=True,
    )  # fmt: skip
    (tmp_path / "more.toml").write_text(block("toml", "[ready]"))
    (tmp_path / "my.toml").write_text(block("toml", "three-paths"))
    said = command(
        "cell", tmp_path / "my.toml", "--protocol", "ready", "--protocols", tmp_path / "more.toml",
        "--overlay", guestrun.BUILT, "--overlay", tmp_path / "overlay", "--out", tmp_path / "out",
    )  # fmt: skip
    assert said.startswith("three-paths-ready-d1000-s1: ")
    run = json.loads((tmp_path / "out/results.json").read_text())["runs"][0]
    assert (run["scheduler"], run["delivered_bytes"]) == ("ready", 2_500_000)
    first = run["paths"][0]
    assert first["payload_bytes"] > 1_000_000
