"""Campaigns: the cells of a bench as files for the Snakemake workflow, and their collection.

A bench's folder has ``plan.json``, ``cells/LABEL/spec.json``, ``build/NEED.json`` (what of the
built files a cell depends on) and ``build/report.json`` (what the figures and pages follow from
once all cells are measured). A file is written only if its content changes, so that the
workflow runs again what changed and nothing else; with the first that does, old results go.
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
from .fields import Fields, read_json, reading
from .guestrun import (
    BUILT,
    GUEST_MACHINE,
    GUEST_MODULES,
    KINDS,
    LINKS,
    MODULE,
    NOTHING,
    OWN_PROGRAMS,
    PACKAGE,
    WITH_PARENT,
    Machine,
    Runner,
    job_memory_mb,
    memory_options,
    needed,
)
from .results import Finished, Host
from .scenario import Alpha, Scenario
from .scenariofile import MS_RANGE, SEED_RANGE
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
        deadline_ms=table.integers("deadline_ms", *MS_RANGE, ()),
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
        row.integers("seeds", *SEED_RANGE, (1,)),
    )
    row.finish("protocol, alpha, deadlines, scenarios, seeds")
    return run


@dataclass(frozen=True)
class Plan:
    """What a campaign's folder says is to be run: cells by their labels, with what each needs,
    and what is scored, with its deadline."""

    command: str
    machine: Machine
    cells: dict[str, str]
    runs: tuple[tuple[str, int | None], ...]


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
    texts = {_spec(out, cell.label): cellspec.to_json(cell) for cell in longest_first}
    ground = _ground(machine)
    for need in (NOTHING, LINKS, MODULE):
        memory = {" ".join(memory_options(c)) for c in longest_first if needed(c) == need}
        causes = {**ground, "memory": sorted(memory), "files": _ingredients(need, machine)}
        texts[_causes(out, need)] = json.dumps(causes)
    texts[_causes(out, "report")] = json.dumps(_digests(_sources()))
    plan = {
        "command": command,
        "machine": {
            "kind": machine.kind,
            "kernel": machine.kernel,
            "overlays": [str(folder) for folder in machine.overlays],
        },
        "cells": {cell.label: needed(cell) for cell in longest_first},
        "memory_mb": {cell.label: job_memory_mb(cell) for cell in longest_first},
        "runs": [
            {"measured": campaign.measured_as(cell).label, "deadline_ms": cell.deadline_ms}
            for cell in cells
        ],
    }
    texts[out / PLAN] = json.dumps(plan, indent=1) + "\n"
    write_new(out, texts)
    return list(measured.values())


def _spec(out: File, label: str) -> File:
    return out / "cells" / label / "spec.json"


def _causes(out: File, of: str) -> File:
    return out / "build" / f"{of}.json"


def write_new(out: File, texts: dict[File, str]) -> None:
    """Those that differ. Results are not of what is there then, whether it is ever measured."""
    new = {file: text for file, text in texts.items() if _differs(file, text.encode())}
    if new:
        campaign.remove_results(out)
    for file, text in new.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def _differs(file: File, content: bytes) -> bool:
    try:
        return file.read_bytes() != content
    except FileNotFoundError:
        return True


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


def _plan(out: File) -> Plan:
    file = out / PLAN
    if not has_plan(out):
        raise UsageError(f"{out}: expected the folder of a campaign, with {file.name}")
    top = Fields(read_json(file, "the plan of a campaign"), str(file))
    command = top.text("command")
    where = top.table("machine")
    machine = Machine(
        where.choice("kind", KINDS),
        where.text("kernel", None),
        tuple(map(File, _texts(where, "overlays"))),
    )
    where.finish("kind, kernel, overlays")
    labels = top.table("cells")
    cells = {name: labels.choice(name, (NOTHING, LINKS, MODULE)) for name in labels.names()}
    runs = []
    for row in top.tables("runs"):
        label = row.text("measured")
        if label not in cells:
            raise row.fail("measured", "one of the cells", label)
        runs.append((label, row.integer("deadline_ms", *MS_RANGE, None)))
        row.finish("measured, deadline_ms")
    top.table("memory_mb")  # for the workflow alone
    top.finish("command, machine, cells, memory_mb, runs")
    return Plan(command, machine, cells, tuple(runs))


def measure(spec: File) -> None:
    """One job of the workflow: runs the cell of a file and leaves what it measured beside it."""
    folder = spec.resolve().parent
    top = folder.parent.parent
    plan = _plan(top)
    cell = cellspec.read(spec)
    demand_as_planned(top, needed(cell), plan.machine)
    causes = (spec, _causes(top, needed(cell)))
    planned = [file.read_bytes() for file in causes]
    with tempfile.TemporaryDirectory(prefix="testbed-") as scratch:
        runner = Runner(plan.machine, File(scratch), folder)
        try:
            measured = runner.run(cell, lambda _: None)
        except BaseException:
            runner.stop()
            raise
        campaign.keep_series(measured, folder / "series.csv")
    demand_as_planned(top, needed(cell), plan.machine)
    # Also not planned anew meanwhile: what is there now may then be as planned.
    for file, text in zip(causes, planned, strict=True):
        if _differs(file, text):
            raise _changed(file, top)
    ran = asdict(measured.host) | {"project_version": campaign.version()}
    (folder / "host.json").write_text(json.dumps(ran) + "\n")
    (folder / "raw.json").write_text(json.dumps(measured.raw, indent=1) + "\n")
    count = done(top, plan.cells)
    print(f"[{count}/{len(plan.cells)}] {cell.label}: {measured.speed}", flush=True)


def demand_as_planned(out: File, need: str, machine: Machine) -> None:
    """What was built since belongs to another campaign: figures of two would be mixed."""
    file, there = _causes(out, need), _ingredients(need, machine)
    with reading(file, "what cells of a campaign follow from"):
        planned = json.loads(file.read_text())["files"]
        names = sorted(planned.keys() | there.keys())
    for name in names:
        if there.get(name) != planned.get(name):
            raise _changed(name, out)


def _changed(file: File | str, out: File) -> MeasurementError:
    return MeasurementError(
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
    causes = (_spec(out, label), _causes(out, build))
    return raw.stat().st_mtime_ns >= max(file.stat().st_mtime_ns for file in causes)


def effort(out: File) -> str:
    """What the guests of a campaign took: the machine may have had other things to do, too."""
    plan = _plan(out)
    told = (out / "cells" / label / f"{label}.json" for label in plan.cells)
    used = [_cpu_seconds(file) for file in told if file.exists()]
    return f"{len(used)} guests took {sum(used) / 60:.1f} minutes of processor time"


def _cpu_seconds(file: File) -> float:
    with reading(file, "what a guest took"):
        return float(json.loads(file.read_text())["cpu_seconds"])


def collect(out: File) -> Experiment:
    """results.json and series/ from what the jobs left."""
    plan = _plan(out)
    missing = [label for label, build in plan.cells.items() if not _is_done(out, label, build)]
    if missing:
        raise MeasurementError(
            f"{out}: not measured yet, or before the last change: {len(missing)} of "
            f"{len(plan.cells)} cells, the first {missing[0]}"
        )
    (out / "series").mkdir(exist_ok=True)
    finished, hosts, versions = [], [], []
    for label, deadline_ms in plan.runs:
        folder = out / "cells" / label
        cell = replace(cellspec.read(_spec(out, label)), deadline_ms=deadline_ms)
        name = f"series/{label}.csv"
        shutil.copyfile(folder / "series.csv", out / name)
        with reading(folder / "host.json", "on what a cell ran"):
            ran = json.loads((folder / "host.json").read_text())
            versions.append(str(ran.pop("project_version")))
            hosts.append(Host(**ran))
        with reading(folder / "raw.json", "what a cell left"):
            scored = score(cell, json.loads((folder / "raw.json").read_text()))
        finished.append(Finished(cell, scored, name))
    if len(set(hosts)) > 1:
        raise MeasurementError(f"{out}: runs of different hosts or kernels: {set(hosts)}")
    version = ", ".join(dict.fromkeys(versions))
    content = results.document(version, hosts[0], plan.command, finished)
    results.write(out / results.NAME, content)
    return Experiment(out, content, finished)
