# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What happens: to the chunks of one socket, or to all connections.

Both classes have fileno(), so they fit select, selectors and asyncio's
add_reader().
"""

from __future__ import annotations

import errno
from ctypes import byref, sizeof
from dataclasses import dataclass
from typing import Self

from ._lib import EventStruct, Handle, SocketLike, VerdictsStruct, check, fileno, lib
from .constants import EventType


@dataclass(frozen=True)
class Verdicts:
    """What has happened to a socket's chunks since the last look."""

    met: int
    missed: int
    at_risk: bool
    chunks_queued: int


@dataclass(frozen=True)
class ChunkEvent:
    """The chunk of an event."""

    length: int
    deadline_ns: int
    cookie: int


@dataclass(frozen=True)
class Event:
    """An event of a connection: about a chunk, or about a subflow."""

    type: EventType
    id: int
    token: int
    cookie: int
    chunk: ChunkEvent | None = None
    subflow: int | None = None


CHUNK_EVENTS = {EventType.CHUNK_MET, EventType.CHUNK_MISSED, EventType.CHUNK_AT_RISK}


def _event(raw: EventStruct) -> Event:
    kind = EventType(raw.type)
    if kind in CHUNK_EVENTS:
        chunk = ChunkEvent(raw.chunk_length, raw.chunk_deadline_ns, raw.chunk_cookie)
        return Event(kind, raw.id, raw.token, raw.cookie, chunk=chunk)
    return Event(kind, raw.id, raw.token, raw.cookie, subflow=raw.subflow)


class Events(Handle):
    """Events of one socket; needs no privilege.

    A socket tells the last one that was made for it; closing an older one does
    not disturb that.
    """

    _close = "mpdpa_events_close"

    def __init__(self, sock: SocketLike) -> None:
        super().__init__("mpdpa_events_open", fileno(sock))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """A file descriptor that is readable when there is something to read."""
        return int(lib().mpdpa_events_fd(self._get()))

    def read(self) -> Verdicts | None:
        """What has happened since the last call, None if nothing has."""
        raw = VerdictsStruct()
        result = lib().mpdpa_events_read(self._get(), byref(raw), sizeof(raw))
        if result == -errno.EAGAIN:
            return None
        check(result)
        return Verdicts(raw.met, raw.missed, bool(raw.at_risk), raw.chunks_queued)


class Monitor(Handle):
    """Events of all connections of this network namespace; needs CAP_NET_ADMIN."""

    _close = "mpdpa_monitor_close"

    def __init__(self) -> None:
        super().__init__("mpdpa_monitor_open")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """Readable when the kernel has sent more: read until None before waiting."""
        return int(lib().mpdpa_monitor_fd(self._get()))

    def read(self) -> Event | None:
        """The next event, None if there is none.

        OSError with ENOBUFS says that some were lost; reading can go on. With
        ENODEV the module was unloaded, and this monitor hears nothing any more.
        """
        raw = EventStruct()
        while True:
            result = lib().mpdpa_monitor_read(self._get(), byref(raw), sizeof(raw))
            if result == -errno.EAGAIN:
                return None
            check(result)
            # a later kernel may tell what this version has no name for
            if raw.type in EventType._value2member_map_:
                return _event(raw)
