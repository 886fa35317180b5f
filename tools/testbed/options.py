"""The commands of the host's side: which scenarios to run, where, and what to write."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path as File
from typing import Any

from . import campaign, reference, report, scenario, table
from .campaign import Choice, Experiment
from .cellspec import Cell
from .errors import UsageError
from .guestrun import FAST, NATIVE, REPOSITORY, VIRTUAL, Machine
from .scenario import ADAPTIVE, ALPHA_RANGE, Alpha, Scenario

DEMO_SCENARIO = "bulk-sym"
DEMO_DEADLINE_MS = 10_000
OUT = REPOSITORY / "out"


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    demo = commands.add_parser("demo", help="the comparison to begin with: about two minutes")
    _add_machine(demo)
    run = commands.add_parser("run", help="run scenarios")
    run.add_argument("scenarios", nargs="+", metavar="SCENARIO", help="a name or a .toml file")
    _add_choice(run)
    _add_change(run)
    _add_machine(run)
    commands.add_parser("list", help="list the scenarios")


def _add_choice(run: argparse.ArgumentParser) -> None:
    what = run.add_argument_group("what to run instead of the scenario's plan (may be repeated)")
    what.add_argument(
        "--protocol", action="append", default=[], help="tcp, mptcp or the name of a scheduler"
    )
    what.add_argument("--deadline", action="append", type=_positive, default=[], metavar="MS")
    what.add_argument("--limits", action="store_true", help="the plan's limits, too")
    what.add_argument("--alpha", action="append", type=_alpha, default=[], metavar="ALPHA")
    what.add_argument("--seed", action="append", type=int, default=[], metavar="N")


def _add_change(run: argparse.ArgumentParser) -> None:
    change = run.add_argument_group("changes of the scenario")
    change.add_argument("--chunks", type=_positive, metavar="N")
    change.add_argument("--chunk-bytes", type=_positive, metavar="N")
    change.add_argument("--period", type=_positive, metavar="MS")
    change.add_argument("--congestion", metavar="NAME")
    change.add_argument("--ip", type=int, choices=(4, 6))


def _add_machine(command: argparse.ArgumentParser) -> None:
    where = command.add_argument_group("where to run")
    where.add_argument(
        "--vm",
        choices=(VIRTUAL, FAST, NATIVE),
        default=VIRTUAL,
        help="guest in repeatable virtual time, guest by the host's clock, or this kernel",
    )
    where.add_argument("--kernel", metavar="SERIES", help="of the guest")
    where.add_argument(
        "--overlay", action="append", type=File, default=[], metavar="DIR",
        help="laid over the guest's root (default: out/guest, if it was built)",
    )  # fmt: skip
    where.add_argument("--jobs", type=_positive, default=2, help="guests at once (default: 2)")
    where.add_argument("--out", type=File, metavar="DIR", help="default: out/SCENARIO or out/demo")


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return number


def _alpha(text: str) -> Alpha:
    if text == ADAPTIVE:
        return text
    low, high = ALPHA_RANGE
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not low <= number <= high:
        raise argparse.ArgumentTypeError(
            f"expected a number from {low:g} to {high:g} or {ADAPTIVE}, got {text!r}"
        )
    return number


def execute(options: argparse.Namespace) -> int:
    if options.what == "list":
        for name in scenario.names():
            print(f"{name:16} {scenario.find(name).title}")
        return 0
    if options.what == "demo":
        chosen = scenario.find(DEMO_SCENARIO)
        cells = campaign.cells_of(chosen, Choice(deadlines_ms=(DEMO_DEADLINE_MS,)))
        _run(options, cells, "demo", "testbed demo")
        return 0
    scenarios = [_changed(scenario.find(word), options) for word in options.scenarios]
    choice = Choice(
        tuple(options.protocol), tuple(options.deadline), options.limits, tuple(options.alpha),
        tuple(options.seed),
    )  # fmt: skip
    cells = [cell for each in scenarios for cell in campaign.cells_of(each, choice)]
    name = scenarios[0].name if len(scenarios) == 1 else "run"
    _run(options, cells, name, _command(options))
    return 0


def _changed(plain: Scenario, options: argparse.Namespace) -> Scenario:
    load = {
        "chunks": options.chunks,
        "chunk_bytes": options.chunk_bytes,
        "period_ms": options.period,
    }
    connection = {"congestion": options.congestion, "ip": options.ip}
    return replace(
        plain,
        load=replace(plain.load, **_given(load)),
        connection=replace(plain.connection, **_given(connection)),
    )


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _command(options: argparse.Namespace) -> str:
    """The command that repeats the runs, wherever their results went."""
    words = ["testbed", "run", *options.scenarios]
    for name in ("protocol", "deadline", "alpha", "seed"):
        for value in getattr(options, name):
            words += [f"--{name}", str(value)]
    for name in ("chunks", "chunk_bytes", "period", "congestion", "ip", "kernel"):
        value = getattr(options, name)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    words += ["--limits"] if options.limits else []
    words += ["--vm", options.vm] if options.vm != VIRTUAL else []
    return shlex.join(words)


def _run(options: argparse.Namespace, cells: list[Cell], name: str, command: str) -> Experiment:
    labels = [cell.label for cell in cells]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"{label}: scenario: expected each run once")
    kind = options.vm
    machine = Machine(kind, options.kernel, campaign.overlays(options.overlay, cells, kind))
    jobs = 1 if kind == NATIVE else options.jobs
    out = options.out or OUT / name
    experiment = campaign.run(cells, machine, jobs, out, command)
    published = reference.load()
    page = report.write(experiment, published)
    table.show(experiment.finished, published)
    print(f"figures: {out / 'results.json'}\nreport:  {page}")
    return experiment
