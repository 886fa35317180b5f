"""Reads scenarios from TOML, strictly: a mistake is one line that names file, key and remedy."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path as File
from typing import Any

from . import drives, protocols, rates
from .errors import UsageError
from .fields import Fields
from .frames import FRAME_BYTES
from .rates import HIGHEST_BPS, LOWEST_BPS, Rates
from .scenario import (
    ADAPTIVE,
    CHUNKS,
    COMMAND,
    CROWD,
    MOST_WINDOWS,
    MPDPA,
    REQUESTS,
    STOCK,
    TCP,
    Connection,
    Load,
    Path,
    Plan,
    Scenario,
)

FOLDER = File(__file__).resolve().parent / "scenarios"
ALPHA_RANGE = (0.1, 4.0)
SEED_RANGE = (0, 1 << 31)
# Of deadlines and periods: a day.
MS_RANGE = (1, 86_400_000)
CHUNKS_RANGE = (1, 1_000_000)
CHUNK_BYTES_RANGE = (1, 1 << 40)
MOST_PATHS = 8
# Over a path that loses everything no subflow comes to be.
MOST_LOSS_PERCENT = 99.9
QUEUE_MS, QUEUE_PACKETS = 100.0, 30
# It becomes a part of files' names.
_SCENARIO_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,10}")
_RATE_KEYS = ("rate_bps", "trace", "triangle", "drive")


def names() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def find(word: str) -> Scenario:
    """A scenario by its name, or by the path of its file."""
    file = File(word) if word.endswith(".toml") else FOLDER / f"{word}.toml"
    if not word.endswith(".toml") and not file.exists():
        raise UsageError(f"{word}: scenario: expected one of {', '.join(names())}, or a .toml file")
    return load(file)


def load(file: File) -> Scenario:
    try:
        data = tomllib.loads(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: file: expected a readable text file ({error})") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: file: expected TOML ({error})") from None
    return parse(data, file)


def parse(data: object, file: File) -> Scenario:
    top = Fields(data, str(file))
    name = top.text("name")
    if not _SCENARIO_NAME.fullmatch(name):
        raise top.fail("name", "a letter or digit and up to 63 of these, '_', '.' or '-'", name)
    title = top.text("title", name)
    paths = tuple(_path(row, file) for row in top.tables("path"))
    _check_paths(top, paths)
    cheapest = min(paths, key=lambda path: path.cost).name
    scenario = Scenario(
        name,
        title,
        _connection(top.table("connection"), paths, cheapest),
        _load(top.table("load")),
        paths,
        _plan(top.table("plan")),
        str(file),
    )
    top.finish("name, title, connection, load, path, plan")
    _check_up(top, scenario)
    return scenario


def _check_paths(top: Fields, paths: tuple[Path, ...]) -> None:
    if len(paths) > MOST_PATHS:
        raise top.fail("path", f"at most {MOST_PATHS} paths", len(paths))
    seen = [path.name for path in paths]
    for name in seen:
        if seen.count(name) > 1:
            raise top.fail("path.name", "names that differ", name)


def queue_bytes(shape: Rates, ms: float = QUEUE_MS, packets: int = QUEUE_PACKETS) -> int:
    """A queue of that length at the mean rate, for at least so many packets."""
    return max(round(shape.mean_bps / 8000 * ms), packets * FRAME_BYTES)


def steady(name: str, cost: int, rate_bps: int, delay_ms: int, loss_percent: float = 0.0) -> Path:
    """A path of one rate, with the usual queue, that no file tells of."""
    shape = rates.constant(rate_bps)
    return Path(
        name=name,
        cost=cost,
        rates=shape,
        trace=None,
        delay_ms=delay_ms,
        queue_bytes=queue_bytes(shape),
        loss_percent=loss_percent,
    )


def _path(row: Fields, file: File) -> Path:
    name = row.text("name")
    if not _NAME.fullmatch(name):
        raise row.fail("name", "a letter and up to 10 letters, digits, '_' or '-'", name)
    cost = row.integer("cost", 1, 1_000_000)
    shape, trace = _rates(row, file)
    queue_ms = row.number("queue_ms", 1, 60_000, QUEUE_MS)
    queue_packets = row.integer("queue_min_packets", 1, 1_000_000, QUEUE_PACKETS)
    queue = queue_bytes(shape, queue_ms, queue_packets)
    path = Path(
        name=name,
        cost=cost,
        rates=shape,
        trace=trace,
        delay_ms=row.number("delay_ms", 0, 10_000),
        queue_bytes=row.integer("queue_bytes", FRAME_BYTES, 1 << 31, queue),
        loss_percent=row.number("loss_percent", 0, MOST_LOSS_PERCENT, 0.0),
        up_ms=_windows(row),
    )
    row.finish(
        f"name, cost, {', '.join(_RATE_KEYS)}, delay_ms, loss_percent, up_ms, queue_ms, "
        "queue_min_packets, queue_bytes"
    )
    return path


def _windows(row: Fields) -> tuple[tuple[int, int], ...]:
    """In which the path works; they follow each other."""

    def good(item: object) -> bool:
        return (
            isinstance(item, list)
            and len(item) == 2
            and all(isinstance(ms, int) and 0 <= ms <= MS_RANGE[1] for ms in item)
            and item[0] < item[1]
        )

    expected = f"at most {MOST_WINDOWS} pairs [from, to] of ms, one after the other"
    windows = row.items("up_ms", expected, good, ())
    times = [ms for window in windows for ms in window]
    if len(windows) > MOST_WINDOWS or times != sorted(times):
        raise row.fail("up_ms", expected, windows)
    return tuple((start, end) for start, end in windows)


def _rates(row: Fields, file: File) -> tuple[Rates, str | None]:
    """The rates, and the name of what they were read or made from."""
    bps = row.integer("rate_bps", LOWEST_BPS, HIGHEST_BPS, None)
    trace = row.text("trace", None)
    wave, drive = row.table("triangle"), row.table("drive")
    given = [bps is not None, trace is not None, not wave.empty, not drive.empty]
    if sum(given) != 1:
        raise row.fail("rate_bps", f"exactly one of {', '.join(_RATE_KEYS)}")
    if bps is not None:
        return rates.constant(bps), None
    if trace is not None:
        return _read_trace(row, file.parent / trace), trace
    if not drive.empty:
        return _drive(drive)
    low = wave.integer("low_bps", LOWEST_BPS, HIGHEST_BPS)
    high = wave.integer("high_bps", low, HIGHEST_BPS)
    period = wave.integer("period_ms", 2 * rates.STEP_MS, MS_RANGE[1])
    wave.finish("low_bps, high_bps, period_ms")
    return rates.triangle(low, high, period), None


def _read_trace(row: Fields, trace: File) -> Rates:
    if not trace.is_file():
        raise row.fail("trace", "the name of a readable file, relative to this one", str(trace))
    return rates.from_trace(trace)


def _drive(table: Fields) -> tuple[Rates, str]:
    place = table.choice("place", tuple(drives.PLACES))
    role = table.choice("role", drives.ROLES)
    seed = table.integer("seed", *SEED_RANGE, 1)
    table.finish("place, role, seed")
    return drives.rates(place, role, seed), f"{place}-{role}-{seed}"


def _connection(table: Fields, paths: tuple[Path, ...], cheapest: str) -> Connection:
    connection = Connection(
        start=table.choice("start", tuple(path.name for path in paths), cheapest),
        congestion=table.text("congestion", "bbr"),
        buffer_bytes=table.integer("buffer_bytes", 4096, 1 << 30, 2_000_000),
        ip=table.choice("ip", (4, 6), 4),
    )
    table.finish("start, congestion, buffer_bytes, ip")
    return connection


def _load(table: Fields) -> Load:
    kind = table.choice("kind", (CHUNKS, REQUESTS, COMMAND, CROWD), CHUNKS)
    load = Load(
        chunks=table.integer("chunks", *CHUNKS_RANGE),
        chunk_bytes=table.integer("chunk_bytes", *CHUNK_BYTES_RANGE),
        period_ms=table.integer("period_ms", *MS_RANGE),
        kind=kind,
        response_bytes=table.integer("response_bytes", 1, 1 << 30) if kind == REQUESTS else 0,
        client=table.text("client") if kind == COMMAND else "",
        server=table.text("server", "") if kind == COMMAND else "",
        together=table.integer("together", 1, 1_000_000, 1) if kind == CROWD else 1,
    )
    more = {
        REQUESTS: ", response_bytes", COMMAND: ", client, server", CROWD: ", together",
    }.get(kind, "")  # fmt: skip
    table.finish(f"kind, chunks, chunk_bytes, period_ms{more}")
    return load


def _check_up(top: Fields, scenario: Scenario) -> None:
    """Where the connection starts must work then, the others before the load has ended."""
    load = scenario.load
    end_ms = load.chunks * load.period_ms
    for index, path in enumerate(scenario.paths):
        key = f"path[{index}].up_ms"
        if path.name == scenario.connection.start and not path.up_at(0):
            raise top.fail(key, "a path that works at 0 ms: the connection starts on it")
        if path.up_ms and load.kind == CROWD:
            raise top.fail(key, "paths that always work: all connections are opened before")
        if path.up_ms and path.up_ms[0][0] >= end_ms:
            raise top.fail(key, f"a path that comes up within the load's {end_ms} ms", path.up_ms)


def _is_alpha(value: Any) -> bool:
    least, most = ALPHA_RANGE
    return protocols.is_alpha(value) and (value == ADAPTIVE or least <= value <= most)


def _plan(table: Fields) -> Plan:
    alpha_range = f"from {ALPHA_RANGE[0]:g} to {ALPHA_RANGE[1]:g}"
    plan = Plan(
        deadline_ms=table.integers("deadline_ms", *MS_RANGE),
        limit_deadline_ms=table.integers("limit_deadline_ms", *MS_RANGE, ()),
        protocols=table.items(
            "protocols", "a list of protocols' or schedulers' names", protocols.is_name,
            [TCP, STOCK, "threshold", MPDPA],
        ),
        alpha=protocols.as_alphas(table.items(
            "alpha", f'a list of numbers {alpha_range} or "{ADAPTIVE}"', _is_alpha, ()
        )),
        seeds=table.integers("seeds", *SEED_RANGE, [1]),
    )  # fmt: skip
    table.finish("deadline_ms, limit_deadline_ms, protocols, alpha, seeds")
    return plan
