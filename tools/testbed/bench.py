"""Campaigns: the cells of a bench as files for the Snakemake workflow, and their collection.

A bench's folder has ``plan.json``, ``cells/LABEL/spec.json``, ``build/NEED.json`` (what of the
built files a cell depends on) and ``build/report.json`` (what the figures and pages follow from
once all cells are measured). A file is written only if its content changes, so that the
workflow runs again what changed and nothing else.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path as File
from types import ModuleType
from typing import Any

from . import campaign, cellspec, protocols, realtraces, reference, results, scenariofile
from .campaign import Experiment
from .cellspec import Cell
from .errors import MeasurementError, UsageError
from .fields import Fields
from .guestrun import (
    BUILT,
    GUEST_MACHINE,
    GUEST_MODULES,
    LINKS,
    MODULE,
    NOTHING,
    OWN_PROGRAMS,
    PACKAGE,
    WITH_PARENT,
    Machine,
    Runner,
    memory_options,
    needed,
)
from .results import Finished, Host
from .scenario import Alpha, Scenario
from .score import score

FILE = PACKAGE / "benches.toml"
SNAKEFILE = PACKAGE / "Snakefile"
PLAN = "plan.json"
QUICK, NORMAL, FULL = "quick", "normal", "full"
ALL, FIRST, PUBLISHED = "all", "first", "published"


@dataclass(frozen=True)
class Run:
    """One line of a bench."""

    protocol: str
    alpha: tuple[Alpha, ...]
    deadlines: str
    scenarios: tuple[str, ...]  # none: all
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Bench:
    name: str
    scenarios: tuple[str, ...]
    recorded: bool
    limits: bool
    deadline_ms: tuple[int, ...]
    runs: tuple[Run, ...]
    quick_scenarios: tuple[str, ...]
    quick_seconds: int
    quick_alpha: tuple[Alpha, ...]


@dataclass(frozen=True)
class Choice:
    """What of a bench is run."""

    size: str
    traces: File | None = None  # recorded ones
    protocols: tuple[str, ...] = ()  # none: all


def benches() -> dict[str, Bench]:
    top = Fields(tomllib.loads(FILE.read_text()), str(FILE))
    return {name: _bench(name, top.table(name)) for name in top.names()}


def _texts(table: Fields, key: str, default: Any = ()) -> tuple[str, ...]:
    return table.items(key, "a list of texts", lambda v: isinstance(v, str), default)


def _bench(name: str, table: Fields) -> Bench:
    quick = table.table("quick")
    bench = Bench(
        name=name,
        scenarios=_texts(table, "scenarios"),
        recorded=table.flag("recorded", False),
        limits=table.flag("limits", False),
        deadline_ms=table.integers("deadline_ms", 1, 86_400_000, ()),
        runs=tuple(_run(row) for row in table.tables("runs")),
        quick_scenarios=_texts(quick, "scenarios"),
        quick_seconds=quick.integer("seconds", 1, 3600),
        quick_alpha=protocols.alphas_in(quick),
    )
    quick.finish("scenarios, seconds, alpha")
    table.finish("scenarios, recorded, limits, deadline_ms, runs, quick")
    return bench


def _run(row: Fields) -> Run:
    run = Run(
        row.text("protocol"),
        protocols.alphas_in(row),
        row.choice("deadlines", (ALL, FIRST, PUBLISHED), ALL),
        _texts(row, "scenarios"),
        row.integers("seeds", 0, 1 << 31, (1,)),
    )
    row.finish("protocol, alpha, deadlines, scenarios, seeds")
    return run


def cells_of(bench: Bench, choice: Choice) -> list[Cell]:
    """All cells to be scored, those that compare next to each other."""
    size = choice.size
    runs = _runs(bench, choice.protocols)
    cells: dict[str, Cell] = {}
    for scenario in _scenarios(bench, size, choice.traces):
        for deadline in _deadlines(bench, scenario, size):
            for run in runs:
                seeds = run.seeds[:1] if size == QUICK else run.seeds
                for alpha, seed in product(_alphas_of(bench, run, size), seeds):
                    cell = Cell(scenario, run.protocol, deadline, alpha, seed)
                    if _wanted(bench, run, cell, size):
                        cells[cell.label] = cell
    return list(cells.values())


def _runs(bench: Bench, chosen: tuple[str, ...]) -> list[Run]:
    there = [run.protocol for run in bench.runs]
    for name in chosen:
        if name not in there:
            names = ", ".join(dict.fromkeys(there))
            raise UsageError(f"{name}: --protocol: expected one of the bench's: {names}")
    return [run for run in bench.runs if not chosen or run.protocol in chosen]


def _scenarios(bench: Bench, size: str, traces: File | None) -> list[Scenario]:
    if traces and (size == QUICK or not bench.recorded):
        raise UsageError(f"{traces}: --traces: expected a campaign with recorded traces, not quick")
    if size == QUICK:
        short = [scenariofile.find(name) for name in bench.quick_scenarios]
        return [_shortened(scenario, bench.quick_seconds) for scenario in short]
    recorded = realtraces.scenarios(traces) if bench.recorded and traces else []
    return [scenariofile.find(name) for name in bench.scenarios] + recorded


def _shortened(scenario: Scenario, seconds: int) -> Scenario:
    load = scenario.load
    chunks = max(1, min(load.chunks, seconds * 1000 // load.period_ms))
    return replace(scenario, load=replace(load, chunks=chunks))


def _deadlines(bench: Bench, scenario: Scenario, size: str) -> tuple[int, ...]:
    plan = scenario.plan
    chosen = bench.deadline_ms or plan.deadline_ms
    if size == QUICK:
        return chosen[:1]
    return chosen + (plan.limit_deadline_ms if bench.limits else ())


def _alphas_of(bench: Bench, run: Run, size: str) -> tuple[Alpha, ...]:
    chosen = protocols.find(run.protocol).alphas(run.alpha)
    if size == QUICK:
        chosen = tuple(value for value in chosen if value in bench.quick_alpha) or chosen[:1]
    return chosen


def _wanted(bench: Bench, run: Run, cell: Cell, size: str) -> bool:
    if run.scenarios and cell.scenario.name not in run.scenarios:
        return False
    first = _deadlines(bench, cell.scenario, size)[0]
    if run.deadlines == ALL or size == FULL or cell.deadline_ms == first:
        return True
    return run.deadlines == PUBLISHED and reference.load().beside(cell) is not None


def prepare(name: str, choice: Choice, machine: Machine, out: File, command: str) -> list[Cell]:
    """Writes what the workflow reads; ``command`` is what repeats it."""
    machine = replace(machine, kernel=machine.series)
    cells = cells_of(benches()[name], choice)
    campaign.overlays(list(machine.overlays), cells, machine.kind)
    measured = {cell.label: cell for cell in map(campaign.measured_as, cells)}
    longest_first = sorted(measured.values(), key=lambda cell: -cell.expected_seconds)
    for cell in longest_first:
        write_if_new(out / "cells" / cell.label / "spec.json", cellspec.to_json(cell))
    ground = _ground(machine)
    for need in (NOTHING, LINKS, MODULE):
        memory = {" ".join(memory_options(c)) for c in longest_first if needed(c) == need}
        causes = {**ground, "memory": sorted(memory), "files": _ingredients(need, machine)}
        write_if_new(out / "build" / f"{need}.json", json.dumps(causes))
    write_if_new(out / "build" / "report.json", json.dumps(_digests(_sources())))
    plan = {
        "command": command,
        "machine": {
            "kind": machine.kind,
            "kernel": machine.kernel,
            "overlays": [str(folder) for folder in machine.overlays],
        },
        "cells": {cell.label: needed(cell) for cell in longest_first},
        "runs": [
            {"measured": campaign.measured_as(cell).label, "deadline_ms": cell.deadline_ms}
            for cell in cells
        ],
    }
    write_if_new(out / PLAN, json.dumps(plan, indent=1) + "\n")
    return list(measured.values())


def write_if_new(file: File, text: str) -> None:
    if not file.exists() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def _ingredients(need: str, machine: Machine) -> dict[str, str]:
    """Digests of the files that a cell's figures follow from."""
    files = [PACKAGE / f"{name}.py" for name in GUEST_MODULES]
    if machine.overlays:
        files += (file for folder in machine.overlays for file in _within(folder))
    elif need == MODULE:
        files += _within(BUILT)
    elif need == LINKS:
        files += sorted(file for name in OWN_PROGRAMS for file in BUILT.rglob(name))
    return _digests(files)


def _ground(machine: Machine) -> dict[str, str]:
    """On what all cells run. An image that is not there yet is another one."""
    if machine.kernel is None:
        return {"kind": machine.kind, "kernel": platform.release()}
    guests = _guest_module()
    arguments = " ".join((guests.CPU, *guests.KERNEL_ARGUMENTS, *guests.VIRTUAL_ARGUMENTS))
    try:
        image = guests.find_image(machine.kernel).info.read_text()
    except (guests.ImageMissing, KeyError, OSError):
        image = ""
    try:
        emulator = guests.version()
    except (OSError, subprocess.SubprocessError):
        emulator = ""
    return {
        "kind": machine.kind,
        "kernel": machine.kernel,
        "arguments": arguments,
        "image": image,
        "qemu": emulator,
    }


def _within(folder: File) -> list[File]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _digests(files: Iterable[File]) -> dict[str, str]:
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _sources() -> list[File]:
    """Of this package: whatever scores runs, tells of them, or is told beside them."""
    return sorted(file for file in PACKAGE.iterdir() if file.suffix in (".py", ".toml", ".css"))


def _guest_module() -> ModuleType:
    """The part of tools/vm that starts a kernel."""
    spec = importlib.util.spec_from_file_location(GUEST_MACHINE.stem, GUEST_MACHINE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def workflow(out: File, jobs: int) -> tuple[list[str], dict[str, str]]:
    """Snakemake's command and environment."""
    if shutil.which("snakemake") is None:
        raise UsageError("snakemake: package: expected the build environment")
    command = [
        "snakemake", "--snakefile", str(SNAKEFILE), "--cores", str(jobs), "--scheduler", "greedy",
        "--rerun-triggers", "mtime", "input", "--rerun-incomplete", "--nolock",
        "--config", f"folder={out}", "--directory", str(out), "--quiet", "all",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "HOME": str(out.resolve())}
    return command, environment


def run_workflow(out: File, jobs: int) -> None:
    """Runs what is missing or out of date; it stops with us."""
    command, environment = workflow(out, jobs)
    command = [*WITH_PARENT, "KILL", "--", *command]
    with subprocess.Popen(command, env=environment, start_new_session=True) as process:
        try:
            status = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGINT)
            process.wait()
            raise
    if status:
        raise MeasurementError(f"bench: a run failed, see above (logs: {out / 'cells'})")


def has_plan(out: File) -> bool:
    """Is it a campaign's folder?"""
    return (out / PLAN).exists()


def _plan(out: File) -> dict[str, Any]:
    """What a campaign's folder says is to be run."""
    file = out / PLAN
    if not has_plan(out):
        raise UsageError(f"{out}: expected the folder of a campaign, with {file.name}")
    return json.loads(file.read_text())


def measure(spec: File) -> None:
    """One job of the workflow: runs the cell of a file and leaves what it measured beside it."""
    folder = spec.resolve().parent
    top = folder.parent.parent
    plan = _plan(top)
    try:
        cell = cellspec.from_json(spec.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"{spec}: file: expected one cell of a campaign ({error})") from None
    where = plan["machine"]
    machine = Machine(where["kind"], where["kernel"], tuple(map(File, where["overlays"])))
    demand_as_planned(top, needed(cell), machine)
    with tempfile.TemporaryDirectory(prefix="testbed-") as scratch:
        runner = Runner(machine, File(scratch), folder)
        try:
            measured = runner.run(cell, lambda _: None)
        except BaseException:
            runner.stop()
            raise
        campaign.keep_series(measured, folder / "series.csv")
    demand_as_planned(top, needed(cell), machine)
    ran = asdict(measured.host) | {"project_version": campaign.version()}
    (folder / "host.json").write_text(json.dumps(ran) + "\n")
    (folder / "raw.json").write_text(json.dumps(measured.raw, indent=1) + "\n")
    count = done(top, plan["cells"])
    print(f"[{count}/{len(plan['cells'])}] {cell.label}: {measured.speed}", flush=True)


def demand_as_planned(out: File, need: str, machine: Machine) -> None:
    """What was built since belongs to another campaign: figures of two would be mixed."""
    planned = json.loads((out / "build" / f"{need}.json").read_text())["files"]
    there = _ingredients(need, machine)
    for file in sorted(there.keys() | planned.keys()):
        if there.get(file) != planned.get(file):
            raise MeasurementError(
                f"{file}: file: expected it as it was when {out} was planned; "
                "start the bench again, which measures with what is built now"
            )


def done(out: File, cells: dict[str, str]) -> int:
    """How many runs count."""
    return sum(_is_done(out, label, build) for label, build in cells.items())


def _is_done(out: File, label: str, build: str) -> bool:
    """Is the run newer than what it follows from? Those before a change do not count."""
    raw = out / "cells" / label / "raw.json"
    if not raw.exists():
        return False
    causes = (raw.with_name("spec.json"), out / "build" / f"{build}.json")
    return raw.stat().st_mtime_ns >= max(file.stat().st_mtime_ns for file in causes)


def effort(out: File) -> str:
    """What the guests of a campaign took: the machine may have had other things to do, too."""
    plan = _plan(out)
    told = (out / "cells" / label / f"{label}.json" for label in plan["cells"])
    used = [json.loads(file.read_text())["cpu_seconds"] for file in told if file.exists()]
    return f"{len(used)} guests took {sum(used) / 60:.1f} minutes of processor time"


def collect(out: File) -> Experiment:
    """results.json and series/ from what the jobs left."""
    plan = _plan(out)
    missing = [label for label, build in plan["cells"].items() if not _is_done(out, label, build)]
    if missing:
        raise MeasurementError(
            f"{out}: not measured yet, or before the last change: {len(missing)} of "
            f"{len(plan['cells'])} cells, the first {missing[0]}"
        )
    (out / "series").mkdir(exist_ok=True)
    finished, hosts, versions = [], [], []
    for row in plan["runs"]:
        folder = out / "cells" / row["measured"]
        cell = replace(
            cellspec.from_json((folder / "spec.json").read_text()), deadline_ms=row["deadline_ms"]
        )
        raw = json.loads((folder / "raw.json").read_text())
        name = f"series/{row['measured']}.csv"
        shutil.copyfile(folder / "series.csv", out / name)
        ran = json.loads((folder / "host.json").read_text())
        versions.append(ran.pop("project_version"))
        hosts.append(Host(**ran))
        finished.append(Finished(cell, score(cell, raw), name))
    if len(set(hosts)) > 1:
        raise MeasurementError(f"{out}: runs of different hosts or kernels: {set(hosts)}")
    version = ", ".join(dict.fromkeys(versions))
    content = results.document(version, hosts[0], plan["command"], finished)
    results.write(out / results.NAME, content)
    return Experiment(out, content, finished)
