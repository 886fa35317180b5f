# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Messages with deadlines over one socket, without ever waiting."""

from __future__ import annotations

import errno
from ctypes import byref, sizeof
from dataclasses import dataclass
from typing import Self

from ._lib import Buffer, Handle, ProgressStruct, SocketLike, check, fileno, lib, octets, whole
from .constants import CHUNK_ABS, Late, SendState


@dataclass(frozen=True)
class Progress:
    """How far a message has come, in bytes."""

    length: int
    written: int
    acked: int
    dropped: int
    deadline_ns: int
    state: SendState


class Sender(Handle):
    """Sends messages over a connected socket. Close it before the socket.

    As long as it is open nothing else must set chunks or streams on the socket,
    nor write to it, not even between messages.
    """

    _close = "mpdpa_send_close"

    def __init__(self, sock: SocketLike) -> None:
        super().__init__("mpdpa_send_open", fileno(sock))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """Readable while feed() would do something."""
        return int(lib().mpdpa_send_fd(self._get()))

    def begin(
        self, length: int, deadline_ns: int, *, absolute: bool = False, late: Late = Late.INHERIT
    ) -> None:
        """Begin a message; with Late.TELL it is dropped when it is late."""
        flags = (CHUNK_ABS if absolute else 0) | late
        length, deadline_ns = whole(length, 64, "length"), whole(deadline_ns, 64, "deadline_ns")
        check(lib().mpdpa_send_begin(self._get(), length, deadline_ns, flags))

    def feed(self, data: Buffer) -> int:
        """Write what there is room for; how many bytes were taken, 0 for none.

        OSError with ETIME: the deadline has passed and the rest was dropped.
        """
        result = lib().mpdpa_send_feed(self._get(), *octets(data))
        return 0 if result == -errno.EAGAIN else check(result)

    def progress(self) -> Progress:
        """How far the message has come."""
        raw = ProgressStruct()
        check(lib().mpdpa_send_progress(self._get(), byref(raw), sizeof(raw)))
        return Progress(
            raw.length, raw.written, raw.acked, raw.dropped, raw.deadline_ns, SendState(raw.state)
        )
