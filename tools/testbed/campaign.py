"""An experiment: many cells, run side by side, scored, and written down as one result."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path as File
from typing import Any

from . import protocols, results
from .cellspec import Cell
from .errors import MeasurementError, UsageError
from .guestrun import NATIVE, REPOSITORY, Machine, Measured, Runner, demand_built
from .progress import Display, display
from .protocols import Settings
from .results import Finished
from .scenario import Alpha, Scenario
from .score import score


@dataclass(frozen=True)
class Choice:
    """What the command line wants instead of the scenario's plan; empty keeps the plan."""

    protocols: tuple[str, ...] = ()
    deadlines_ms: tuple[int, ...] = ()
    limits: bool = False
    alphas: tuple[Alpha, ...] = ()
    seeds: tuple[int, ...] = ()
    settings: Settings = ()


def cells_of(scenario: Scenario, choice: Choice) -> list[Cell]:
    plan = scenario.plan
    limits = plan.limit_deadline_ms if choice.limits else ()
    deadlines: tuple[int | None, ...] = choice.deadlines_ms or plan.deadline_ms + limits or (None,)
    cells = []
    for deadline in deadlines:
        for protocol in choice.protocols or plan.protocols:
            for alpha in protocols.find(protocol).alphas(choice.alphas or plan.alpha):
                for seed in choice.seeds or plan.seeds:
                    cells.append(Cell(scenario, protocol, deadline, alpha, seed, choice.settings))
    return cells


def measured_as(cell: Cell) -> Cell:
    """What is run for it: protocols that know no deadline run once for all deadlines."""
    return cell if cell.kind.deadlines or cell.kind.rule else replace(cell, deadline_ms=None)


def overlays(given: list[File], cells: list[Cell], kind: str) -> tuple[File, ...]:
    """Those that were named; without any, what was built must be there."""
    for folder in given:
        if not folder.is_dir():
            raise UsageError(f"{folder}: --overlay: expected a directory")
    if not given and kind != NATIVE:
        demand_built(cells)
    return tuple(given)


@dataclass(frozen=True)
class Experiment:
    """The outcome of all cells, in the order they were asked for; ``speeds`` by their labels."""

    folder: File
    content: dict[str, Any]
    finished: list[Finished]
    speeds: dict[str, str] = field(default_factory=dict)


def run(
    cells: list[Cell],
    machine: Machine,
    jobs: int,
    out: File,
    command: str,
    *,
    quiet: bool = False,
    known: Callable[[Cell], Scenario | None] = lambda _: None,
) -> Experiment:
    """Runs everything; the directory then holds results.json and series/.

    ``known`` says which links a cell's oracle has, if not those of its scenario.
    """
    wanted = list(dict.fromkeys(measured_as(cell) for cell in cells))
    with alone_in(out):
        remove_results(out)
        with tempfile.TemporaryDirectory(prefix="testbed-") as scratch:
            runner = Runner(machine, File(scratch), out / "log")
            measured = _run_all(runner, wanted, jobs, quiet)
            series = _keep_series(out, measured)
        finished = []
        speeds = {}
        for cell in cells:
            source = measured_as(cell)
            links = known(cell)
            scored = score(cell, measured[source].raw, links)
            finished.append(Finished(cell, scored, series[source], links))
            speeds[cell.label] = measured[source].speed
        host = measured[wanted[0]].host
        content = results.document(version(), host, command, finished)
        results.write(out / results.NAME, content)
        return Experiment(out, content, finished, speeds)


def replay(cell: Cell, machine: Machine, out: File) -> dict[str, dict[str, Any]]:
    """Measures how closely each path follows its rates; see the module of that name."""
    make_folder(out)
    with tempfile.TemporaryDirectory(prefix="testbed-") as scratch:
        runner = Runner(machine, File(scratch), out, "flood")
        paths: dict[str, dict[str, Any]] = runner.run(cell, lambda _: None).raw["paths"]
        return paths


@contextmanager
def alone_in(out: File) -> Iterator[None]:
    """The folder is made, and nobody else writes results there meanwhile."""
    make_folder(out)
    folder = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(folder, out)
        yield
    finally:
        os.close(folder)


def make_folder(out: File) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out}: --out: expected a folder ({error.strerror})") from None


def _lock(folder: int, out: File) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"{out}: --out: expected a folder that no other run writes to") from None


def clear(out: File) -> None:
    """Old results go, for who does something else first and may fail there."""
    with alone_in(out):
        remove_results(out)


def remove_results(out: File) -> None:
    """Old ones go first: what is there afterwards belongs together."""
    for name in ("series", "log"):
        shutil.rmtree(out / name, ignore_errors=True)
    for name in (results.NAME, "report.html"):
        (out / name).unlink(missing_ok=True)


def _run_all(runner: Runner, cells: list[Cell], jobs: int, quiet: bool) -> dict[Cell, Measured]:
    with display(len(cells), quiet) as shown, ThreadPoolExecutor(jobs) as pool:
        # The longest first, so that none of the processors ends up waiting for it.
        order = sorted(cells, key=lambda cell: -cell.expected_seconds)
        futures = {cell: pool.submit(_run_one, runner, cell, shown) for cell in order}
        try:
            wait(futures.values(), return_when=FIRST_EXCEPTION)
            failed = _first_error(futures)
            if failed:
                raise failed
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            runner.stop()
            raise
    return {cell: futures[cell].result() for cell in cells}


def _first_error(futures: dict[Cell, Future[Measured]]) -> BaseException | None:
    done = [future for future in futures.values() if future.done()]
    return next((future.exception() for future in done if future.exception()), None)


def _run_one(runner: Runner, cell: Cell, shown: Display) -> Measured:
    shown.started(cell.label, cell.expected_seconds)
    try:
        measured = runner.run(cell, lambda seconds: shown.advanced(cell.label, seconds))
    except MeasurementError:
        shown.ended(cell.label, "failed")
        raise
    shown.ended(cell.label, measured.speed)
    return measured


def _keep_series(out: File, measured: dict[Cell, Measured]) -> dict[Cell, str]:
    kept = {}
    (out / "series").mkdir()
    for cell, each in measured.items():
        name = f"series/{cell.label}.csv"
        keep_series(each, out / name)
        kept[cell] = name
    return kept


def keep_series(measured: Measured, file: File) -> None:
    """With what a command said, if the load was one."""
    shutil.copyfile(measured.series, file)
    said = measured.series.with_name("client.txt")
    if said.exists():
        shutil.copyfile(said, file.with_suffix(".txt"))


def version() -> str:
    """MPDPA_REVISION if set, else what git says."""
    given = os.environ.get("MPDPA_REVISION")
    if given:
        return given
    try:
        done = subprocess.run(
            ["git", "-C", str(REPOSITORY), "describe", "--tags", "--always", "--dirty"],
            capture_output=True, text=True,
        )  # fmt: skip
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
