# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Deadlines of one socket. Each function takes a socket.socket or its fd."""

from __future__ import annotations

import ctypes
import select
import socket
import time
from collections.abc import Sequence
from ctypes import byref, sizeof
from dataclasses import dataclass, field

from . import paths
from ._lib import (
    Buffer,
    ChunkStruct,
    InfoStruct,
    PathInfoStruct,
    PathStruct,
    SocketLike,
    StreamStruct,
    check,
    fileno,
    lib,
    octets,
    whole,
)
from .constants import CHUNK_ABS, PREFS_MAX, InfoFlags, Late, PathFlags, State
from .paths import Path

SECOND = 1_000_000_000


@dataclass(frozen=True)
class Chunk:
    """The next bytes of a stream and when they are due."""

    length: int
    deadline_ns: int  # from now, or on CLOCK_MONOTONIC if absolute
    absolute: bool = False
    cookie: int = 0
    alpha_milli: int = 0  # 0: the connection's
    late: Late = Late.INHERIT

    @property
    def flags(self) -> int:
        return (CHUNK_ABS if self.absolute else 0) | self.late


@dataclass(frozen=True)
class Stream:
    """Intervals that make the chunks of a sender that marks none."""

    interval_ns: int
    deadline_ns: int
    expected_bytes: int = 0
    alpha_milli: int = 0
    late: Late = Late.INHERIT


@dataclass(frozen=True)
class Subflow:
    """One subflow, as the scheduler sees it."""

    id: int
    local_id: int
    ifindex: int
    cost: int
    flags: PathFlags
    goodput: int  # bytes a second, 0 while unknown
    bytes_sent: int
    bytes_acked: int
    activations: int


@dataclass(frozen=True)
class ChunkInfo:
    """The chunk in force."""

    length: int
    sent: int
    acked: int
    remaining: int
    deadline_ns: int
    left_ns: int
    forecast: int
    cookie: int
    alpha_milli: int


@dataclass(frozen=True)
class Info:
    """What the scheduler knows of a connection."""

    conn_id: int
    now_ns: int
    flags: InfoFlags
    chunks_queued: int
    chunks_met: int
    chunks_missed: int
    activations: int
    decisions: int
    chunk: ChunkInfo | None = None
    subflows: Sequence[Subflow] = field(default_factory=tuple)


def chunk_struct(chunk: Chunk) -> ChunkStruct:
    return ChunkStruct(chunk.length, chunk.deadline_ns, chunk.cookie, chunk.alpha_milli, chunk.flags)


def subflow_of(raw: PathInfoStruct) -> Subflow:
    return Subflow(
        raw.subflow_id,
        raw.local_id,
        raw.ifindex,
        raw.cost,
        PathFlags(raw.flags),
        raw.goodput,
        raw.bytes_sent,
        raw.bytes_acked,
        raw.activations,
    )


def open_socket(family: int = socket.AF_INET) -> socket.socket:
    """Open a Multipath TCP stream socket."""
    return socket.socket(fileno=check(lib().mpdpa_socket(family)))


def set_chunk(sock: SocketLike, chunk: Chunk) -> None:
    """Say when the next bytes are due."""
    raw = chunk_struct(chunk)
    check(lib().mpdpa_chunk_set(fileno(sock), byref(raw), sizeof(raw)))


def _write(sock: socket.socket, view: memoryview, seconds: float, sent: ctypes.c_size_t) -> None:
    end = time.monotonic() + seconds
    room = select.poll()
    room.register(sock, select.POLLOUT)
    while sent.value < len(view):
        left = end - time.monotonic()
        if left <= 0 or not room.poll(left * 1000):
            raise TimeoutError("timed out")
        sent.value += sock.send(view[sent.value :], socket.MSG_NOSIGNAL)


def send_chunk(sock: SocketLike, data: Buffer, deadline_ns: int, late: Late = Late.INHERIT) -> None:
    """Set a chunk, due a time from now, and write all of it.

    The interpreter's lock is not held while it waits for room: as long as the
    timeout of a socket.socket says, for all of the data together, and then
    TimeoutError is raised; without a timeout, by a non-blocking socket or a bare
    file descriptor, as long as it takes.

    After an OSError its attribute "sent" tells how many bytes were taken. If that
    is above 0, or after TimeoutError, the chunk stays in force: send the rest by
    sock.sendall(data[error.sent:]), since whatever is written next counts as it.
    """
    raw, length = octets(data)
    seconds = sock.gettimeout() if isinstance(sock, socket.socket) else None
    sent = ctypes.c_size_t()
    try:
        if seconds:
            set_chunk(sock, Chunk(length, deadline_ns, late=late))
            _write(sock, memoryview(data).cast("B"), seconds, sent)
        else:
            whole(deadline_ns, 64, "deadline_ns")
            check(lib().mpdpa_chunk_send(fileno(sock), raw, length, deadline_ns, late, byref(sent)))
    except OSError as error:
        error.sent = sent.value  # type: ignore[attr-defined]
        raise


def set_stream(sock: SocketLike, stream: Stream) -> None:
    """Have whatever is written in an interval be a chunk."""
    raw = StreamStruct(
        stream.interval_ns, stream.deadline_ns, stream.expected_bytes, stream.alpha_milli, stream.late
    )
    check(lib().mpdpa_stream_set(fileno(sock), byref(raw), sizeof(raw)))


def stop_stream(sock: SocketLike) -> None:
    """No more intervals."""
    check(lib().mpdpa_stream_stop(fileno(sock)))


def set_pref(sock: SocketLike, path: Path) -> None:
    """What a path costs for this connection; a cost of 0 takes it away."""
    raw = paths.to_struct(path)
    check(lib().mpdpa_pref_set(fileno(sock), byref(raw)))


def get_prefs(sock: SocketLike) -> list[Path]:
    """The connection's own costs."""
    rows = (PathStruct * PREFS_MAX)()
    count = check(lib().mpdpa_pref_get(fileno(sock), rows, PREFS_MAX))
    return [paths.from_struct(row) for row in rows[:count]]


def set_eventfd(sock: SocketLike, eventfd: int | None) -> None:
    """Have an eventfd told when something happens, None for none."""
    check(lib().mpdpa_eventfd_set(fileno(sock), -1 if eventfd is None else eventfd))


def _chunk_info(raw: InfoStruct) -> ChunkInfo | None:
    if not raw.flags & InfoFlags.CHUNK:
        return None
    return ChunkInfo(
        raw.chunk_length,
        raw.chunk_sent,
        raw.chunk_acked,
        raw.chunk_remaining,
        raw.chunk_deadline_ns,
        raw.chunk_left_ns,
        raw.chunk_forecast,
        raw.chunk_cookie,
        raw.chunk_alpha_milli,
    )


def _subflows(raw: InfoStruct) -> tuple[Subflow, ...]:
    """Its rows; a kernel's may be longer or shorter than ours."""
    rows = []
    for index in range(raw.paths):
        row = PathInfoStruct()
        if lib().mpdpa_info_path(byref(raw), sizeof(raw), index, byref(row), sizeof(row)) == 0:
            rows.append(subflow_of(row))
    return tuple(rows)


def get_info(sock: SocketLike) -> Info:
    """What the scheduler knows of a connection."""
    raw = InfoStruct()
    check(lib().mpdpa_info_get(fileno(sock), byref(raw), sizeof(raw)))
    return Info(
        raw.conn_id,
        raw.now_ns,
        InfoFlags(raw.flags),
        raw.chunks_queued,
        raw.chunks_met,
        raw.chunks_missed,
        raw.activations,
        raw.decisions,
        _chunk_info(raw),
        _subflows(raw),
    )


def probe(sock: SocketLike | None = None) -> State:
    """Whether deadlines work on a socket, or on one made now, and if not, why."""
    return State(check(lib().mpdpa_probe(-1 if sock is None else fileno(sock))))


def explain(state: State) -> tuple[str, str | None]:
    """A state in words, and the command that mends it if there is one."""
    text, mend = lib().mpdpa_state_text(state), lib().mpdpa_state_mend(state)
    return text.decode(), mend.decode() if mend else None
