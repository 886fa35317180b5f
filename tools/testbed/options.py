"""The commands of the host's side: which scenarios to run, where, and what to write.

Packages that only the build environment has are imported by those who use them: --help needs none.
"""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import replace
from pathlib import Path as File
from typing import Any

from . import (
    arguments,
    bench,
    campaign,
    document,
    drives,
    lot,
    oracle,
    protocols,
    rates,
    realtraces,
    reference,
    robust,
    scenariofile,
    table,
)
from .arguments import whole
from .campaign import Choice, Experiment
from .cellspec import Cell
from .errors import MeasurementError, UsageError
from .guestrun import FAST, KINDS, NATIVE, REPOSITORY, USUAL_SERIES, VIRTUAL, Machine
from .scenario import CHUNKS, STOCK, Scenario
from .scenariofile import CHUNK_BYTES_RANGE, CHUNKS_RANGE

DEMO_SCENARIO = "bulk-sym"
DEMO_DEADLINE_MS = 10_000
OUT = REPOSITORY / "out"
MOST_JOBS = 1000
CAPACITIES = (0.99, 0.98, 0.95, 0.9)


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    demo = commands.add_parser("demo", help="the comparison to begin with: about two minutes")
    _add_machine(demo)
    run = commands.add_parser("run", help="run scenarios")
    run.add_argument("scenarios", nargs="+", metavar="SCENARIO", help="a name or a .toml file")
    _add_choice(run)
    _add_change(run)
    _add_machine(run)
    one = commands.add_parser("cell", help="run one cell; one line and a series")
    one.add_argument("scenario", metavar="SCENARIO", help="a name or a .toml file")
    _add_cell(one)
    _add_change(one)
    _add_machine(one)
    follow = commands.add_parser("replay", help="measure whether links follow their rates")
    follow.add_argument("scenario", metavar="SCENARIO", help="a name or a .toml file")
    _add_change(follow)
    _add_machine(follow)
    trace = commands.add_parser("trace", help="write a made-up drive as mahimahi traces")
    trace.add_argument("place", choices=tuple(drives.PLACES))
    trace.add_argument("--seed", type=arguments.seed, default=1, metavar="N")
    trace.add_argument("--out", type=File, default=File(), metavar="DIR")
    campaign_ = commands.add_parser("bench", help="a whole campaign, as a Snakemake workflow")
    campaign_.add_argument("name", choices=tuple(bench.benches()))
    size = campaign_.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const=bench.QUICK)
    size.add_argument("--full", dest="size", action="store_const", const=bench.FULL)
    campaign_.set_defaults(size=bench.NORMAL)
    campaign_.add_argument("--traces", type=File, metavar="DIR", help="recorded ones, too")
    campaign_.add_argument(
        "--protocol", action="append", default=[],
        help="of its protocols just this one (may be repeated)",
    )  # fmt: skip
    campaign_.add_argument(
        "--plan-only", action="store_true", help="write the plan; start the workflow yourself"
    )
    _add_machine(campaign_)
    hard = commands.add_parser("robust", help="a pairwise set of conditions, with slack")
    hard.add_argument("--quick", action="store_true", help="two of them")
    _add_machine(hard)
    drawn = commands.add_parser("lot", help="networks that are drawn by lot, beside stock MPTCP")
    _add_networks(drawn)
    _add_machine(drawn)
    job = commands.add_parser("measure", help="one job of a campaign")
    job.add_argument("spec", type=File, metavar="SPEC.json")
    end = commands.add_parser("collect", help="the last job of a campaign")
    end.add_argument("folder", type=File, metavar="DIR")
    text = commands.add_parser("document", help="write the documentation's tables of figures")
    text.add_argument("folders", nargs="+", type=File, metavar="DIR", help="of campaigns")
    text.add_argument(
        "--to", type=File, default=REPOSITORY / "Documentation/results.md", metavar="FILE",
        help="its sections of other campaigns stay (default: Documentation/results.md)",
    )  # fmt: skip
    best = commands.add_parser("oracle", help="what could be done, and how tight it is")
    best.add_argument("scenario", metavar="SCENARIO", help="a name or a .toml file")
    best.add_argument("--deadline", action="append", type=arguments.ms, default=[], metavar="MS")
    _add_change(best)
    listing = commands.add_parser("list", help="list the scenarios and protocols")
    listing.add_argument("--traces", type=File, metavar="DIR", help="those over these traces, too")


def _add_networks(drawn: argparse.ArgumentParser) -> None:
    drawn.add_argument("--seed", type=arguments.seed, default=1, metavar="N", help="default: 1")
    drawn.add_argument(
        "--count", type=whole(1, lot.MOST), metavar="N", help=f"default: {lot.COUNT}"
    )
    drawn.add_argument("--paths", type=int, choices=range(2, len(lot.COSTS) + 1), default=2)
    drawn.add_argument("--changing", action="store_true", help="one link of each changes")
    drawn.add_argument("--quick", action="store_true", help="a few, with a few chunks")


def _add_cell(one: argparse.ArgumentParser) -> None:
    what = one.add_argument_group("what to run of it")
    what.add_argument("--protocol", default="mpdpa", help="as listed, or a scheduler's name")
    what.add_argument(
        "--deadline", type=arguments.ms, metavar="MS", help="default: the plan's first"
    )
    what.add_argument("--alpha", type=arguments.alpha, help="default: the protocol's first")
    what.add_argument("--seed", type=arguments.seed, default=1, metavar="N")
    _add_settings(what)


def _add_settings(what: argparse._ArgumentGroup) -> None:
    what.add_argument(
        "--set", action="append", type=_setting, default=[], metavar="SYSCTL=VALUE",
        dest="settings", help="in the sender's namespace (may be repeated)",
    )  # fmt: skip


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.startswith("net.") and equals and value):
        raise argparse.ArgumentTypeError(f"expected net.NAME=VALUE, got {text!r}")
    return name, value


def _add_choice(run: argparse.ArgumentParser) -> None:
    what = run.add_argument_group("what to run instead of the scenario's plan (may be repeated)")
    what.add_argument(
        "--protocol", action="append", default=[], help="tcp, mptcp or the name of a scheduler"
    )
    what.add_argument("--deadline", action="append", type=arguments.ms, default=[], metavar="MS")
    what.add_argument("--limits", action="store_true", help="the plan's limits, too")
    what.add_argument("--alpha", action="append", type=arguments.alpha, default=[], metavar="ALPHA")
    what.add_argument("--seed", action="append", type=arguments.seed, default=[], metavar="N")
    _add_settings(what)


def _add_change(run: argparse.ArgumentParser) -> None:
    change = run.add_argument_group("changes of the scenario")
    change.add_argument("--chunks", type=whole(*CHUNKS_RANGE), metavar="N")
    change.add_argument("--chunk-bytes", type=whole(*CHUNK_BYTES_RANGE), metavar="N")
    change.add_argument("--period", type=arguments.ms, metavar="MS")
    change.add_argument("--congestion", metavar="NAME")
    change.add_argument("--ip", type=int, choices=(4, 6))
    change.add_argument(
        "--traces", type=File, metavar="DIR",
        help="recorded traces, for bulk-drive-real and stream-drive-real",
    )  # fmt: skip


def _add_machine(command: argparse.ArgumentParser) -> None:
    where = command.add_argument_group("where to run")
    where.add_argument(
        "--clock", choices=("virtual", "wall"),
        help="wall: the machine's own clock, in a guest or with --vm no (the same as --vm fast)",
    )  # fmt: skip
    where.add_argument(
        "--protocols", action="append", type=File, default=[], metavar="FILE.toml",
        help="more protocols (may be repeated)",
    )  # fmt: skip
    where.add_argument(
        "--vm",
        choices=KINDS,
        help="guest in repeatable virtual time, guest by the host's clock, or this kernel",
    )
    where.add_argument("--kernel", metavar="SERIES", help="of the guest")
    where.add_argument(
        "--overlay", action="append", type=File, default=[], metavar="DIR",
        help="laid over the guest's root (default: out/guest, if it was built)",
    )  # fmt: skip
    where.add_argument(
        "--jobs", type=whole(1, MOST_JOBS), default=os.cpu_count() or 1, metavar="N",
        help="guests at once (default: one for each processor)",
    )  # fmt: skip
    where.add_argument("--out", type=File, metavar="DIR", help="default: a name in out/")


def execute(options: argparse.Namespace) -> int:
    commands = {
        "demo": _demo, "run": _run, "cell": _cell, "replay": _replay, "trace": _trace,
        "list": _list, "bench": _bench, "collect": _collect,
        "document": _document, "robust": _robust, "lot": _lot, "oracle": _oracle,
        "measure": lambda chosen: bench.measure(chosen.spec),
    }  # fmt: skip
    if hasattr(options, "vm"):
        options.vm = _where(options)
        for file in options.protocols:
            protocols.add(file)
    commands[options.what](options)
    return 0


def _where(options: argparse.Namespace) -> str:
    """The kind of machine; the clock that was asked for must be one that it has."""
    usual = FAST if options.clock == "wall" else VIRTUAL
    kind = options.vm or usual
    if options.clock and (options.clock == "wall") == (kind == VIRTUAL):
        raise UsageError(f"--clock {options.clock}: option: expected another --vm than {kind}")
    return str(kind)


def _list(options: argparse.Namespace) -> None:
    shipped = [scenariofile.find(name) for name in scenariofile.names()]
    recorded = realtraces.scenarios(options.traces) if options.traces else []
    for each in shipped + recorded:
        print(f"{each.name:22} {each.title}")
    print()
    for protocol in protocols.known().values():
        print(f"{protocol.name:22} {protocol.title}")


def _demo(options: argparse.Namespace) -> None:
    chosen = scenariofile.find(DEMO_SCENARIO)
    cells = campaign.cells_of(chosen, Choice(deadlines_ms=(DEMO_DEADLINE_MS,)))
    _experiment(options, cells, "demo")


def _run(options: argparse.Namespace) -> None:
    scenarios = [_chosen(word, options) for word in options.scenarios]
    choice = Choice(
        tuple(options.protocol), tuple(options.deadline), options.limits, tuple(options.alpha),
        tuple(options.seed), tuple(options.settings),
    )  # fmt: skip
    cells = [cell for each in scenarios for cell in campaign.cells_of(each, choice)]
    name = scenarios[0].name if len(scenarios) == 1 else "run"
    _experiment(options, cells, name)


def _cell(options: argparse.Namespace) -> None:
    chosen = _chosen(options.scenario, options)
    alpha = () if options.alpha is None else (options.alpha,)
    cell = Cell(
        chosen,
        options.protocol,
        options.deadline or next(iter(chosen.plan.deadline_ms), None),
        protocols.find(options.protocol).alphas(alpha)[0],
        options.seed,
        tuple(options.settings),
    )
    out = options.out or OUT / "cell" / cell.label
    machine, command = _machine(options, [cell]), _command(options)
    experiment = campaign.run([cell], machine, 1, out, command, quiet=True)
    print(table.one_line(experiment.finished[0]))
    print(f"clock: {experiment.speeds[cell.label]}")
    print(f"series: {out / experiment.content['runs'][0]['series']}")


def _folder(options: argparse.Namespace, name: str, quick: bool) -> File:
    """Where a campaign's results go, unless the command line says otherwise."""
    return options.out or OUT / (f"bench-{name}" + ("-quick" if quick else ""))


def _bench(options: argparse.Namespace) -> None:
    # Jobs have a folder of their own to be in.
    out = _folder(options, options.name, options.size == bench.QUICK).resolve()
    overlays = tuple(folder.resolve() for folder in options.overlay)
    machine = Machine(options.vm, options.kernel, overlays)
    with campaign.alone_in(out):
        choice = bench.Choice(options.size, options.traces, tuple(options.protocol))
        cells = bench.prepare(options.name, choice, machine, out, _command(options))
        print(f"{out / 'plan.json'}: {len(cells)} cells")
        if options.plan_only:
            return
        bench.run_workflow(out, _jobs(options))
        print(f"figures: {out / 'results.json'}\nreport:  {out / 'report.html'}")


def _robust(options: argparse.Namespace) -> None:
    out = _folder(options, "robust", options.quick)
    # Whatever the paths carry, the cells need the same files.
    machine = _machine(options, robust.together(robust.conditions()[0], 1e6))
    jobs, command = _jobs(options), _command(options)
    experiment = robust.run(machine, jobs, out, command, quick=options.quick)
    _tell(experiment)
    for line in robust.verdict(experiment):
        print(f"not reached: {line}")


def _lot(options: argparse.Namespace) -> None:
    out = _folder(options, "lot", options.quick)
    count = options.count or (lot.QUICK_COUNT if options.quick else lot.COUNT)
    networks = lot.draw(options.seed, count, options.paths, changing=options.changing)
    cells = lot.cells(networks, lot.QUICK_CHUNKS if options.quick else None)
    experiment = campaign.run(
        cells, _machine(options, cells), _jobs(options), out, _command(options)
    )
    _tell(experiment)
    print(lot.summary(experiment.content))


def _collect(options: argparse.Namespace) -> None:
    from . import report

    experiment = bench.collect(options.folder)
    published = reference.load()
    report.write(experiment, published)
    table.show(experiment.finished, published)
    print(bench.effort(options.folder))


def _document(options: argparse.Namespace) -> None:
    published = reference.load()
    sections = {}
    for folder in map(File.resolve, options.folders):
        made = None
        if not bench.has_plan(folder):
            made = document.drawn_section(folder)
        # a folder that is of neither is refused there
        made = made or document.section(folder.name, bench.collect(folder), published)
        sections[folder.name] = made
    document.write(sections, published, options.to)
    print(options.to)


def _oracle(options: argparse.Namespace) -> None:
    chosen = _chosen(options.scenario, options)
    if chosen.load.kind != CHUNKS:
        raise UsageError(f"{chosen.file}: load.kind: expected {CHUNKS}")
    deadlines = options.deadline or chosen.plan.deadline_ms
    if not deadlines:
        raise UsageError(f"{chosen.name}: --deadline: expected one, its plan has none")
    for deadline_ms in deadlines:
        verdict = oracle.of(chosen, deadline_ms)
        late = ", ".join(
            f"{oracle.late_with(chosen, deadline_ms, c)} with {table.percent(c, 0)}"
            for c in CAPACITIES
        )
        print(
            f"{chosen.name}, deadline {deadline_ms / 1000:g} s: "
            f"{sum(verdict.meetable)} of {chosen.load.chunks} can be met, with "
            f"{table.percent(verdict.costly_share)} on costly paths; "
            f"of these late: {late} of the links' capacity",
            flush=True,
        )


def _replay(options: argparse.Namespace) -> None:
    chosen = _chosen(options.scenario, options)
    for index, path in enumerate(chosen.paths):
        if path.up_ms:
            raise UsageError(f"{chosen.file}: path[{index}].up_ms: expected paths that always work")
    cell = Cell(chosen, STOCK, None, None, 1)
    figures = campaign.replay(cell, _machine(options, [cell]), options.out or OUT / "replay")
    for name, figure in figures.items():
        verdict = "follows its rates" if figure["follows"] else "does NOT follow its rates"
        print(
            f"{name}: {verdict}: {figure['packets']} packets, at most "
            f"{figure['worst_bin_packets']:.2f} off in 100 ms and "
            f"{figure['worst_total_packets']:.2f} in total"
        )
    if not all(figure["follows"] for figure in figures.values()):
        raise MeasurementError("replay: more than 2 % and 2 packets off")


def _trace(options: argparse.Namespace) -> None:
    campaign.make_folder(options.out)
    for role in drives.ROLES:
        file = options.out / f"{options.place}-{role}-{options.seed}.down"
        file.write_text(rates.to_trace(drives.rates(options.place, role, options.seed)))
        print(file)


def _chosen(word: str, options: argparse.Namespace) -> Scenario:
    recorded = realtraces.scenarios(options.traces) if options.traces else []
    found = next((each for each in recorded if each.name == word), None)
    if found is None and word.endswith("-drive-real") and not options.traces:
        raise UsageError(f"{word}: --traces: expected a folder of mahimahi traces")
    return _changed(found or scenariofile.find(word), options)


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


# Of any command; what is not given is not told.
_MANY = ("protocol", "deadline", "alpha", "seed", "protocols", "overlay")
_ONE = ("chunks", "chunk_bytes", "period", "congestion", "ip", "traces", "count", "paths")
_FLAGS = ("limits", "changing", "quick")


def _command(options: argparse.Namespace) -> str:
    """The command that repeats the runs, wherever their results went."""
    given = vars(options)
    words = ["testbed", options.what, *given.get("scenarios", ())]
    words += [given[name] for name in ("scenario", "name") if name in given]
    for name in _MANY:
        value = given.get(name)
        for each in value if isinstance(value, list) else [value]:
            words += [] if each is None else [f"--{name}", str(each)]
    for setting in given.get("settings", ()):
        words += ["--set", "=".join(setting)]
    for name in _ONE:
        if given.get(name) is not None:
            words += [f"--{name.replace('_', '-')}", str(given[name])]
    words += [f"--{name}" for name in _FLAGS if given.get(name)]
    words += [f"--{options.size}"] if given.get("size", bench.NORMAL) != bench.NORMAL else []
    series = Machine(options.vm, options.kernel).series
    if series and (options.kernel or series != USUAL_SERIES):
        words += ["--kernel", series]
    words += ["--vm", options.vm] if options.vm != VIRTUAL else []
    return shlex.join(words)


def _machine(options: argparse.Namespace, cells: list[Cell]) -> Machine:
    return Machine(
        options.vm, options.kernel, campaign.overlays(options.overlay, cells, options.vm)
    )


def _experiment(options: argparse.Namespace, cells: list[Cell], name: str) -> None:
    labels = [cell.label for cell in cells]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"{label}: scenario: expected each run once")
    out = options.out or OUT / name
    machine, command = _machine(options, cells), _command(options)
    _tell(campaign.run(cells, machine, _jobs(options), out, command))


def _jobs(options: argparse.Namespace) -> int:
    """Runs on one kernel would disturb each other."""
    return 1 if options.vm == NATIVE else int(options.jobs)


def _tell(experiment: Experiment) -> None:
    from . import report

    published = reference.load()
    page = report.write(experiment, published)
    table.show(experiment.finished, published)
    print(f"figures: {experiment.folder / 'results.json'}\nreport:  {page}")
