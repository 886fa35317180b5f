"""Scenarios as records: which paths, which load, which protocols."""

from __future__ import annotations

from dataclasses import dataclass, field

from .rates import Rates

ADAPTIVE = "adaptive"
MPDPA = "mpdpa"
# MPTCP with the kernel's default scheduler, and TCP on the preferred path alone.
STOCK, TCP = "mptcp", "tcp"
MOST_WINDOWS = 16

Alpha = float | str | None


@dataclass(frozen=True)
class Path:
    """One path from client to server; the shapes are the same in both directions.

    ``up_ms`` are the intervals after the start in which it works; none means always.
    """

    name: str
    cost: int
    rates: Rates
    trace: str | None
    delay_ms: float
    queue_bytes: int
    loss_percent: float = 0.0
    up_ms: tuple[tuple[int, int], ...] = ()

    def up_at(self, ms: float) -> bool:
        return not self.up_ms or any(start <= ms < end for start, end in self.up_ms)

    @property
    def varies(self) -> bool:
        return self.rates.constant_bps is None or bool(self.up_ms)

    @property
    def rate_bps(self) -> int | None:
        return self.rates.constant_bps


CHUNKS, REQUESTS, COMMAND, CROWD = "chunks", "requests", "command", "crowd"


@dataclass(frozen=True)
class Load:
    """Chunks of one stream, released at fixed intervals.

    ``requests``: each chunk is answered with ``response_bytes``, and none is released before the
    answer to the one ahead of it. ``crowd``: each chunk has a connection of its own, all of them
    open from the start, and ``together`` are released at a time. ``command``: ``client`` and
    ``server`` are run instead, and the other figures only tell the oracle how much that is.
    """

    chunks: int
    chunk_bytes: int
    period_ms: int
    kind: str = CHUNKS
    response_bytes: int = 0
    client: str = ""
    server: str = ""
    together: int = 1

    @property
    def total_bytes(self) -> int:
        return self.chunks * self.chunk_bytes

    def release_ms(self, chunk: int) -> int:
        return chunk // self.together * self.period_ms


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
    """``file`` is where it was read, to be named in complaints; it makes no difference."""

    name: str
    title: str
    connection: Connection
    load: Load
    paths: tuple[Path, ...]
    plan: Plan
    file: str = field(default="", compare=False, repr=False)

    @property
    def preferred(self) -> Path:
        """The cheapest path, the first of them if several cost the same."""
        return min(self.paths, key=lambda path: path.cost)

    def is_costly(self, path: Path) -> bool:
        return path.cost > self.preferred.cost

    @property
    def costly(self) -> frozenset[str]:
        """The names of the paths that are."""
        return frozenset(path.name for path in self.paths if self.is_costly(path))
