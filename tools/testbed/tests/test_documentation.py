"""The examples of Documentation/testbed.md do what the page says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from testbed import metrics, oracle, protocols, results, scenario, scenariofile
from testbed.cellspec import Cell
from testbed.results import Finished, Host
from testbed.score import score

from .made_up import raw

DOCUMENTATION = Path(__file__).resolve().parents[3] / "Documentation"
PAGE = DOCUMENTATION / "testbed.md"


def block(language: str, holding: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return next(text for text in found if holding in text)


def test_results_has_what_it_says() -> None:
    """A section for each campaign that the page says it is written from, and no other."""
    text = (DOCUMENTATION / "results.md").read_text()
    (command,) = re.findall(r"Written by `testbed document ([^`]*)`", text)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [
        Path(folder).name for folder in command.split()
    ]


def test_scenario() -> None:
    text = block("toml", "three-paths")
    three = scenariofile.parse(tomllib.loads(text), Path("my.toml"))
    assert [path.name for path in three.paths] == ["dsl", "lte", "sat"]
    verdict = oracle.judge(oracle.links_of(three), three.load, 1_000)
    assert 0 < verdict.costly_share < 1
    assert verdict.meetable == (True,) * 5


def test_examples_are_scenarios() -> None:
    kinds = {file.stem: scenariofile.load(file) for file in scenariofile.FOLDER.glob("*/*.toml")}
    loads = {name: each.load.kind for name, each in kinds.items()}
    assert loads == {
        "requests": scenario.REQUESTS,
        "iperf3": scenario.COMMAND,
        "drive-by": scenario.CHUNKS,
    }


def test_protocol(tmp_path: Path) -> None:
    file = tmp_path / "more.toml"
    file.write_text(block("toml", "[ready]"))
    try:
        protocols.add(file)
        ready = protocols.find("ready")
        assert (ready.scheduler, ready.object) == ("ready", "ready.bpf.o")
        assert Cell(scenariofile.find("bulk-sym"), "ready", None, None, 1).multipath
    finally:
        protocols.known.cache_clear()


def test_metric() -> None:
    names = {"metric": metrics.metric, "Cell": Cell, "Score": metrics.Score}
    try:
        exec("from __future__ import annotations\n" + block("python", "@metric"), names)
        cell = Cell(scenariofile.find("bulk-sym"), "mpdpa", 7_500, 1.0, 1)
        runs = [Finished(cell, score(cell, raw()), None)]
        document = results.document("v", Host("k", "virtual", "tcg", 1), "c", runs)
        assert document["runs"][0]["late_by_ms"] == 2500.0
    finally:
        metrics.METRICS.pop("late_by_ms", None)
