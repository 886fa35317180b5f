# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The operator's side: path costs, connections, counters of a network namespace."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from ctypes import byref, sizeof
from dataclasses import dataclass
from typing import Self

from . import paths
from ._lib import (
    VISIT_CONN,
    VISIT_PATH,
    ConnChangeStruct,
    ConnStruct,
    Handle,
    LimitsStruct,
    PathStruct,
    StatsStruct,
    check,
    lib,
)
from .constants import CHANGE_ALPHA, CHANGE_CHUNK, CHANGE_OVERFLOW, CHUNK_LATE_MASK, Late
from .paths import Limits, Path
from .sockets import Chunk, Subflow, chunk_struct, subflow_of

LIST_TRIES = 5


@dataclass(frozen=True)
class ConnectionChunk:
    """The chunk in force of a connection."""

    length: int
    deadline_ns: int
    cookie: int
    sent: int
    acked: int
    forecast: int
    alpha_milli: int
    late: Late
    at_risk: bool


@dataclass(frozen=True)
class Connection:
    """A connection that has, or had, deadlines."""

    id: int
    token: int
    cookie: int
    uid: int
    alpha_milli: int  # 0: the namespace's
    chunks_queued: int
    chunks_met: int
    chunks_missed: int
    decisions: int
    chunk: ConnectionChunk | None
    subflows: tuple[Subflow, ...]
    prefs: tuple[Path, ...]
    overflow_ms: int  # 0: the namespace's; OVERFLOW_OFF: never


@dataclass(frozen=True)
class Stats:
    """Counters of a network namespace since the module was loaded."""

    connections: int  # that have state now
    decisions: int
    chunk_decisions: int
    guard_drops: int
    chunks_set: int
    chunks_met: int
    chunks_missed: int
    activations: int
    prio_sent: int
    ticks: int
    turns: int


def _connection(raw: ConnStruct) -> Connection:
    chunk = None
    if raw.has_chunk:
        c = raw.chunk
        chunk = ConnectionChunk(
            c.length,
            c.deadline_ns,
            c.cookie,
            c.sent,
            c.acked,
            c.forecast,
            c.alpha_milli,
            Late(c.flags & CHUNK_LATE_MASK),
            bool(c.at_risk),
        )
    return Connection(
        raw.id,
        raw.token,
        raw.cookie,
        raw.uid,
        raw.alpha_milli,
        raw.chunks_queued,
        raw.chunks_met,
        raw.chunks_missed,
        raw.decisions,
        chunk,
        tuple(subflow_of(row) for row in raw.path[: raw.paths]),
        tuple(paths.from_struct(row) for row in raw.pref[: raw.prefs]),
        raw.overflow_ms,
    )


class Control(Handle):
    """A connection to the module, in the network namespace of its making.

    One thread may use it at a time.
    """

    _close = "mpdpa_ctl_close"

    def __init__(self) -> None:
        super().__init__("mpdpa_ctl_open")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, result: int) -> int:
        return check(result, lib().mpdpa_ctl_message(self._get()).decode(errors="replace"))

    def set_path(self, path: Path) -> None:
        """Give a path a cost, or change it."""
        self._check(lib().mpdpa_path_set(self._get(), byref(paths.to_struct(path))))

    def limit_path(self, path: Path, limits: Limits) -> None:
        """Give a path a cost and limits; those that are None are taken away."""
        raw = paths.limits_to_struct(limits)
        self._check(lib().mpdpa_path_limit(self._get(), byref(paths.to_struct(path)), byref(raw), sizeof(raw)))

    def limits(self, path: Path) -> Limits:
        """The limits of a path that was given a cost."""
        raw = LimitsStruct()
        self._check(lib().mpdpa_path_limits(self._get(), byref(paths.to_struct(path)), byref(raw), sizeof(raw)))
        return paths.limits_from_struct(raw)

    def del_path(self, path: Path) -> None:
        """Take a path's cost away."""
        self._check(lib().mpdpa_path_del(self._get(), byref(paths.to_struct(path))))

    def get_path(self, path: Path) -> Path:
        """A path with the cost that it was given."""
        raw = paths.to_struct(path)
        self._check(lib().mpdpa_path_get(self._get(), byref(raw)))
        return paths.from_struct(raw)

    def paths(self) -> list[Path]:
        """All costs that were set, read until nobody changed any meanwhile."""
        for _ in range(LIST_TRIES):
            found: list[Path] = []

            def visit(raw: PathStruct, _data: object, found: list[Path] = found) -> int:
                found.append(paths.from_struct(raw.contents))  # type: ignore[attr-defined]
                return 0

            result = lib().mpdpa_path_list(self._get(), VISIT_PATH(visit), None)
            if result != -errno.EINTR:
                break
        self._check(result)
        return found

    def connection(self, *, id: int = 0, token: int = 0) -> Connection:
        """One connection, named by either its id or its token."""
        raw = ConnStruct(id=id, token=token)
        self._check(lib().mpdpa_conn_get(self._get(), byref(raw), sizeof(raw)))
        return _connection(raw)

    def connections(self) -> list[Connection]:
        """All connections; without CAP_NET_ADMIN those of the caller's own user."""
        found: list[Connection] = []

        def visit(raw: ConnStruct, _data: object) -> int:
            found.append(_connection(raw.contents))  # type: ignore[attr-defined]
            return 0

        self._check(lib().mpdpa_conn_list(self._get(), VISIT_CONN(visit), None))
        return found

    def change(
        self,
        *,
        id: int = 0,
        token: int = 0,
        alpha_milli: int | None = None,
        chunk: Chunk | None = None,
        prefs: Iterable[Path] = (),
        overflow_ms: int | None = None,
    ) -> None:
        """Change a connection on its owner's behalf, all of it or nothing."""
        rows = [paths.to_struct(pref) for pref in prefs]
        raw = ConnChangeStruct(id=id, token=token, pref_count=len(rows))
        raw.prefs = (PathStruct * len(rows))(*rows)
        if alpha_milli is not None:
            raw.what |= CHANGE_ALPHA
            raw.alpha_milli = alpha_milli
        if overflow_ms is not None:
            raw.what |= CHANGE_OVERFLOW
            raw.overflow_ms = overflow_ms
        if chunk is not None:
            raw.what |= CHANGE_CHUNK
            raw.chunk = chunk_struct(chunk)
        self._check(lib().mpdpa_conn_set(self._get(), byref(raw), sizeof(raw)))

    def stats(self) -> Stats:
        """The namespace's counters."""
        raw = StatsStruct()
        self._check(lib().mpdpa_stats_get(self._get(), byref(raw), sizeof(raw)))
        return Stats(*(getattr(raw, name) for name, *_ in StatsStruct._fields_))
