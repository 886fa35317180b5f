"""Scenarios: which paths, which load, which protocols; read from TOML, strictly."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path as File

from . import rates
from .errors import UsageError
from .fields import Fields
from .frames import FRAME_BYTES
from .rates import HIGHEST_BPS, LOWEST_BPS, Rates

FOLDER = File(__file__).resolve().parent / "scenarios"
ALPHA_RANGE = (0.1, 4.0)
ADAPTIVE = "adaptive"
DEFAULT_SCHEDULER = "default"
MPDPA = "mpdpa"
MOST_PATHS = 8
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,10}")
_RATE_KEYS = ("rate_bps", "trace", "triangle")

Alpha = float | str | None


@dataclass(frozen=True)
class Path:
    """One path from client to server; the shapes are the same in both directions."""

    name: str
    cost: int
    rates: Rates
    trace: str | None
    delay_ms: float
    queue_bytes: int

    @property
    def rate_bps(self) -> int | None:
        return self.rates.constant_bps


@dataclass(frozen=True)
class Load:
    """Chunks of one stream, released at fixed intervals."""

    chunks: int
    chunk_bytes: int
    period_ms: int

    @property
    def total_bytes(self) -> int:
        return self.chunks * self.chunk_bytes

    def release_ms(self, chunk: int) -> int:
        return chunk * self.period_ms


@dataclass(frozen=True)
class Connection:
    """How the connection is made; it starts on the path named ``start``."""

    start: str
    congestion: str
    buffer_bytes: int
    ip: int


@dataclass(frozen=True)
class Plan:
    """What is run of the scenario unless the command line says otherwise."""

    deadline_ms: tuple[int, ...]
    limit_deadline_ms: tuple[int, ...]
    protocols: tuple[str, ...]
    alpha: tuple[Alpha, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    connection: Connection
    load: Load
    paths: tuple[Path, ...]
    plan: Plan

    @property
    def preferred(self) -> Path:
        """The cheapest path, the first of them if several cost the same."""
        return min(self.paths, key=lambda path: path.cost)

    def is_costly(self, path: Path) -> bool:
        return path.cost > self.preferred.cost


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
    )
    top.finish("name, title, connection, load, path, plan")
    return scenario


def _check_paths(top: Fields, paths: tuple[Path, ...]) -> None:
    if len(paths) > MOST_PATHS:
        raise top.fail("path", f"at most {MOST_PATHS} paths", len(paths))
    seen = [path.name for path in paths]
    for name in seen:
        if seen.count(name) > 1:
            raise top.fail("path.name", "names that differ", name)


def _path(row: Fields, file: File) -> Path:
    name = row.text("name")
    if not _NAME.fullmatch(name):
        raise row.fail("name", "a letter and up to 10 letters, digits, '_' or '-'", name)
    cost = row.integer("cost", 1, 1_000_000)
    shape, trace = _rates(row, file)
    queue_ms = row.number("queue_ms", 1, 60_000, 100)
    queue_packets = row.integer("queue_min_packets", 1, 1_000_000, 30)
    queue_bytes = max(
        round(shape.highest_bps / 8000 * queue_ms), queue_packets * FRAME_BYTES
    )  # fmt: skip
    path = Path(
        name=name,
        cost=cost,
        rates=shape,
        trace=trace,
        delay_ms=row.number("delay_ms", 0, 10_000),
        queue_bytes=row.integer("queue_bytes", FRAME_BYTES, 1 << 31, queue_bytes),
    )
    row.finish(
        "name, cost, rate_bps, trace, triangle, delay_ms, queue_ms, queue_min_packets, queue_bytes"
    )
    return path


def _rates(row: Fields, file: File) -> tuple[Rates, str | None]:
    bps = row.integer("rate_bps", LOWEST_BPS, HIGHEST_BPS, None)
    trace = row.text("trace", None)
    wave = row.table("triangle")
    given = [bps is not None, trace is not None, not wave.empty]
    if sum(given) != 1:
        raise row.fail("rate_bps", f"exactly one of {', '.join(_RATE_KEYS)}")
    if bps is not None:
        return rates.constant(bps), None
    if trace is not None:
        return rates.from_trace(file.parent / trace), trace
    low = wave.integer("low_bps", LOWEST_BPS, HIGHEST_BPS)
    high = wave.integer("high_bps", low, HIGHEST_BPS)
    period = wave.integer("period_ms", 2 * rates.STEP_MS, 86_400_000)
    wave.finish("low_bps, high_bps, period_ms")
    return rates.triangle(low, high, period), None


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
    load = Load(
        chunks=table.integer("chunks", 1, 1_000_000),
        chunk_bytes=table.integer("chunk_bytes", 1, 1 << 40),
        period_ms=table.integer("period_ms", 1, 86_400_000),
    )
    table.finish("chunks, chunk_bytes, period_ms")
    return load


def _is_protocol(word: object) -> bool:
    return isinstance(word, str) and re.fullmatch(r"[a-z][a-z0-9_-]{0,14}", word) is not None


def _is_alpha(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value == ADAPTIVE
    return ALPHA_RANGE[0] <= value <= ALPHA_RANGE[1]


def _plan(table: Fields) -> Plan:
    alpha_range = f"from {ALPHA_RANGE[0]:g} to {ALPHA_RANGE[1]:g}"
    plan = Plan(
        deadline_ms=table.integers("deadline_ms", 1, 86_400_000),
        limit_deadline_ms=table.integers("limit_deadline_ms", 1, 86_400_000, ()),
        protocols=table.items(
            "protocols", "a list of tcp, mptcp or scheduler names", _is_protocol,
            ["tcp", "mptcp", MPDPA],
        ),
        alpha=table.items(
            "alpha", f'a list of numbers {alpha_range} or "{ADAPTIVE}"', _is_alpha, [1.0]
        ),
        seeds=table.integers("seeds", 0, 1 << 31, [1]),
    )  # fmt: skip
    table.finish("deadline_ms, limit_deadline_ms, protocols, alpha, seeds")
    return plan
