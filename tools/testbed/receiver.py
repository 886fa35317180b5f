"""The server: reads one stream and notes when the last byte of each chunk has been read."""

from __future__ import annotations

import socket
import time

from .cellspec import Cell
from .child import Channel
from .errors import MeasurementError
from .kernelinfo import IPPROTO_MPTCP, look
from .scenario import REQUESTS
from .stream import Source

PORT = 4455
# The client's kernel joins further paths only after it has heard from the server, so that
# without a greeting the first data would have to go out on the first path alone.
GREETING = b"!"
_ROOM_BYTES = 1 << 18
# Not held back by net.core.*mem_max.
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 32, 33


def open_socket(cell: Cell) -> socket.socket:
    """A stream socket of the cell's protocol with its buffers; the same at both ends."""
    family = socket.AF_INET if cell.scenario.connection.ip == 4 else socket.AF_INET6
    protocol = IPPROTO_MPTCP if cell.multipath else socket.IPPROTO_TCP
    sock = socket.socket(family, socket.SOCK_STREAM, protocol)
    size = cell.scenario.connection.buffer_bytes
    sock.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, size)
    sock.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, size)
    return sock


class Receiver:
    """Runs in the server's namespace; see ``run`` for what it says to its parent."""

    def __init__(self, cell: Cell, address: str, channel: Channel) -> None:
        self._cell = cell
        self._address = address
        self._channel = channel
        self._source = Source(cell.seed)
        self._altered_at: int | None = None
        self._completed_ns: list[int] = []
        self._received = 0

    def run(self) -> None:
        """Says ``listening``, then ``delivered`` with what was measured."""
        listener = open_socket(self._cell)
        listener.bind((self._address, PORT))
        # It stays open meanwhile: further subflows are accepted through it.
        listener.listen(1)
        self._channel.send(event="listening")
        connection, _ = listener.accept()
        connection.sendall(GREETING)
        self._read(connection)
        if self._cell.multipath and look(connection).mptcp is None:
            raise MeasurementError("accepted a connection without MPTCP")
        self._channel.send(
            event="delivered",
            completed_ns=self._completed_ns,
            bytes=self._received,
            altered_at=self._altered_at,
        )
        self._channel.receive()
        connection.close()
        listener.close()

    def _read(self, connection: socket.socket) -> None:
        """The kernel copies as bytes arrive, which is what opens the window, and returns when a
        chunk or the room is full: a guest's time is spent on processes that wake up."""
        load = self._cell.scenario.load
        room = memoryview(bytearray(_ROOM_BYTES))
        while self._received < load.total_bytes:
            chunk_left = load.chunk_bytes - self._received % load.chunk_bytes
            count = connection.recv_into(room, min(chunk_left, _ROOM_BYTES), socket.MSG_WAITALL)
            now_ns = time.monotonic_ns()
            if count == 0:
                break
            if self._altered_at is None:
                self._altered_at = self._source.difference(self._received, room[:count])
            self._received += count
            while (len(self._completed_ns) + 1) * load.chunk_bytes <= self._received:
                self._completed_ns.append(now_ns)
                if load.kind == REQUESTS:
                    connection.sendall(bytes(load.response_bytes))
