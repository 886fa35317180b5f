"""The scheduler's socket options: a chunk's deadline in, its view of the connection out."""

from __future__ import annotations

import errno
import socket
import struct
import time
from dataclasses import dataclass

from .errors import MeasurementError
from .kernelinfo import SOL_MPTCP

_CHUNK, _INFO = 0x4450, 0x4451
_CHUNK_ABSOLUTE = 1
_CHUNK_LAYOUT = struct.Struct("=QQQII")
_INFO_LAYOUT = struct.Struct("=6I7Qq6Q")
_PATH_LAYOUT = struct.Struct("=4I3Q2I")
_ROOM = 1024
_AT_ONCE_NS = 10**6
_HELD, _REQUEST_BACKUP = 1 << 2, 1 << 3


@dataclass(frozen=True)
class PathView:
    """One subflow as the scheduler sees it; ``local_id`` is 0 for the first one."""

    local_id: int
    cost: int
    held: bool
    goodput_bps: int
    bytes_sent: int
    activations: int


@dataclass(frozen=True)
class View:
    chunks_met: int
    chunks_missed: int
    decisions: int
    paths: dict[int, PathView]


def announce(sock: socket.socket, length: int, deadline_ns: int, cookie: int) -> None:
    """The next ``length`` bytes are due at that time of CLOCK_MONOTONIC.

    A sender that is far behind may begin with a chunk when its time is over, which the kernel
    refuses: such a chunk is due at once, and late.
    """
    deadline_ns = max(deadline_ns, time.monotonic_ns() + _AT_ONCE_NS)
    value = _CHUNK_LAYOUT.pack(length, deadline_ns, cookie, 0, _CHUNK_ABSOLUTE)
    try:
        sock.setsockopt(SOL_MPTCP, _CHUNK, value)
    except OSError as error:
        hint = " (no scheduler with deadlines?)" if error.errno in _UNKNOWN else ""
        raise MeasurementError(f"MPTCP_DPA_CHUNK: {error.strerror}{hint}") from None


_UNKNOWN = (errno.ENOPROTOOPT, errno.EOPNOTSUPP)


def look(sock: socket.socket) -> View | None:
    """None if this connection's scheduler knows no deadlines."""
    try:
        raw = sock.getsockopt(SOL_MPTCP, _INFO, _ROOM)
    except OSError as error:
        if error.errno in _UNKNOWN:
            return None
        raise
    return parse(raw)


def parse(raw: bytes) -> View:
    head = _INFO_LAYOUT.unpack_from(raw)
    header_size, path_size, paths = head[:3]
    met, missed, _, decisions = head[16:20]
    rows = {}
    for index in range(paths):
        at = header_size + index * path_size
        row = _PATH_LAYOUT.unpack_from(raw, at)
        _, local_id, cost, flags, goodput, sent, _, activations, _ = row
        held = bool(flags & (_HELD | _REQUEST_BACKUP))
        rows[local_id] = PathView(local_id, cost, held, goodput * 8, sent, activations)
    return View(met, missed, decisions, rows)
