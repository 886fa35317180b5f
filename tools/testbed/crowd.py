"""Many connections at a time, each with one chunk: both ends of them."""

from __future__ import annotations

import contextlib
import hashlib
import resource
import select
import socket
import time
from pathlib import Path as File
from typing import Any

from . import dpa, topology
from .cellspec import Cell
from .child import Channel, Message
from .errors import MeasurementError
from .receiver import GREETING, PORT, open_socket
from .sampler import SAMPLE_MS, PathCount, Sampler, write_rows
from .sender import VERDICT_MS, Client, expect_greeting, news, no_subflow, wait_joined
from .stream import Source

_MS = 10**6
# So many connections are opened at a time: their handshakes fit into any queue.
_WAVE = 20
_ESTABLISH_SECONDS = 60
_ROOM_BYTES = 1 << 18
_OTHER_FILES = 100


class CrowdReceiver:
    """The server; see ``run`` for what it says to its parent."""

    def __init__(self, cell: Cell, address: str, channel: Channel) -> None:
        self._cell = cell
        self._address = address
        self._channel = channel
        self._left: dict[int, int] = {}
        self._hash: dict[int, Any] = {}
        self._port: dict[int, int] = {}
        self._open: dict[int, socket.socket] = {}
        self._completed_ns: dict[int, int] = {}

    def run(self) -> None:
        """Says ``listening``, then ``delivered`` with what was measured, by the client's ports."""
        load = self._cell.scenario.load
        listener = open_socket(self._cell)
        listener.bind((self._address, PORT))
        listener.listen(2 * _WAVE)
        room = memoryview(bytearray(_ROOM_BYTES))
        ready = select.epoll()
        ready.register(listener, select.EPOLLIN)
        self._channel.send(event="listening")
        while len(self._completed_ns) < load.chunks:
            for number, _ in ready.poll():
                if number == listener.fileno():
                    self._accept(listener, ready)
                else:
                    self._read(number, room, ready)
        self._channel.send(
            event="delivered",
            completed_ns=self._completed_ns,
            digests={self._port[number]: h.hexdigest() for number, h in self._hash.items()},
            bytes=load.total_bytes - sum(self._left.values()),
        )
        self._channel.receive()

    def _accept(self, listener: socket.socket, ready: select.epoll) -> None:
        connection, peer = listener.accept()
        connection.setblocking(False)
        number = connection.fileno()
        self._open[number] = connection
        self._port[number] = peer[1]
        self._left[number] = self._cell.scenario.load.chunk_bytes
        self._hash[number] = hashlib.sha256()
        ready.register(connection, select.EPOLLIN)
        connection.sendall(GREETING)

    def _read(self, number: int, room: memoryview, ready: select.epoll) -> None:
        try:
            count = self._open[number].recv_into(room)
        except BlockingIOError:
            return
        if count == 0:
            raise MeasurementError("a connection ended before its chunk")
        self._hash[number].update(room[:count])
        self._left[number] -= count
        if self._left[number] <= 0:
            self._completed_ns[self._port[number]] = time.monotonic_ns()
            ready.unregister(number)


class CrowdSender(Client):
    """The client: opens all connections, then writes each chunk on its own when it is released."""

    def __init__(
        self, cell: Cell, server: str, path_of: dict[str, str], out: File, channel: Channel
    ) -> None:
        super().__init__(cell, server, path_of, out, channel)
        self._sock: list[socket.socket] = []
        self._sampler: list[Sampler] = []
        self._unwritten: dict[int, memoryview] = {}
        self._chunk_of: dict[int, int] = {}
        self._released = self._written = 0
        self._rows: list[tuple[int, ...]] = []
        self._blocked = select.epoll()

    def run(self) -> None:
        """Says ``started`` with t0, ``progress`` now and then, and ``measured`` at the end."""
        if self._cell.kind.rule:
            raise MeasurementError(f"{self._cell.protocol}: expected another load than a crowd")
        self._open_all()
        wire_before = topology.interface_bytes()
        self._t0_ns = time.monotonic_ns()
        for sampler in self._sampler:
            sampler.start(self._t0_ns)
        self._sent_bytes = wire_before
        self._channel.send(event="started", t0_ns=self._t0_ns)
        self._carry_all()
        ended_ns = time.monotonic_ns() - self._t0_ns
        wire = topology.interface_bytes()
        names = list(self._path_of.values())
        header = ["t_ms", *(f"{name}_goodput_bps" for name in names)]
        write_rows(self._out / "series.csv", header, self._rows)
        for sampler in self._sampler:
            sampler.sample(time.monotonic_ns(), ended_ns // _MS)
        self._channel.send(
            event="measured",
            ended_ns=ended_ns,
            written_bytes=self._written,
            paths=self._totals(),
            wire_bytes={name: wire[name] - wire_before[name] for name in names},
            kernel_chunks=self._kernel_chunks(),
            ports=[sock.getsockname()[1] for sock in self._sock],
            own_missed=None,
        )
        self._channel.receive()

    def _open_all(self) -> None:
        chunks = self._cell.scenario.load.chunks
        with news() as changed:
            for first in range(0, chunks, _WAVE):
                fresh = [self._connect() for _ in range(min(_WAVE, chunks - first))]
                self._wait_established(fresh, changed)

    def _connect(self) -> socket.socket:
        sock = self._bound()
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            sock.connect((self._server, PORT))
        return sock

    def _wait_established(self, fresh: list[socket.socket], changed: socket.socket) -> None:
        """Until each was greeted, and has a subflow on each path."""
        end = time.monotonic() + _ESTABLISH_SECONDS
        for sock in fresh:
            sock.settimeout(_ESTABLISH_SECONDS)
            expect_greeting(sock)
            sock.setblocking(False)
        samplers = [Sampler(s, self._path_of, self._cell.start.name) for s in fresh]
        waiting = samplers
        while waiting := [each for each in waiting if not each.established()]:
            left = end - time.monotonic()
            if left <= 0 or not select.select([changed], [], [], left)[0]:
                raise no_subflow(self._cell, waiting[0].missing(), _ESTABLISH_SECONDS)
            # Some may have been lost since the last wave. They only say that a look is due.
            with contextlib.suppress(OSError):
                changed.recv(1 << 16)
        self._sock += fresh
        self._sampler += samplers
        wait_joined(samplers[-1])

    def _carry_all(self) -> None:
        """Until all was delivered, and the kernel has judged the last chunk."""
        load = self._cell.scenario.load
        last_ms = load.release_ms(load.chunks - 1) + (self._cell.deadline_ms or 0) + VERDICT_MS
        delivered = False
        while not delivered or time.monotonic_ns() < self._t0_ns + last_ms * _MS:
            self._release()
            wake_ms = (len(self._rows) + 1) * SAMPLE_MS
            if self._released < load.chunks:
                wake_ms = min(wake_ms, load.release_ms(self._released))
            left = (self._t0_ns + wake_ms * _MS - time.monotonic_ns()) / 1e9
            wants = [self._blocked] if self._unwritten else []
            ready = select.select([self._channel, *wants], [], [], max(0.0, left))[0]
            if self._channel in ready:
                self._hear_delivered()
                delivered = True
            if self._blocked in ready:
                for number, _ in self._blocked.poll(0):
                    self._write(self._chunk_of[number])
            if time.monotonic_ns() >= self._t0_ns + (len(self._rows) + 1) * SAMPLE_MS * _MS:
                self._sample()

    def _release(self) -> None:
        """Chunks whose time has come are announced and written."""
        load, deadline_ms = self._cell.scenario.load, self._cell.deadline_ms
        while self._released < load.chunks:
            chunk = self._released
            due_ns = self._t0_ns + load.release_ms(chunk) * _MS
            if due_ns > time.monotonic_ns():
                return
            self._released += 1
            content = self._source.piece(chunk * load.chunk_bytes, load.chunk_bytes)
            self._unwritten[chunk] = content
            if self._cell.tells_deadlines and deadline_ms is not None:
                end_ns = due_ns + deadline_ms * _MS
                dpa.announce(self._sock[chunk], load.chunk_bytes, end_ns, chunk + 1)
            self._chunk_of[self._sock[chunk].fileno()] = chunk
            self._blocked.register(self._sock[chunk], select.EPOLLOUT)
            self._write(chunk)

    def _write(self, chunk: int) -> None:
        content = self._unwritten[chunk]
        try:
            count = self._sock[chunk].send(content)
        except BlockingIOError:
            return
        self._written += count
        if count < len(content):
            self._unwritten[chunk] = content[count:]
            return
        del self._unwritten[chunk]
        self._blocked.unregister(self._sock[chunk])

    def _sample(self) -> None:
        """By the interfaces; a thousand connections are not asked ten times a second."""
        now = topology.interface_bytes()
        t_ms = (len(self._rows) + 1) * SAMPLE_MS
        names = self._path_of.values()
        bps = [(now[name] - self._sent_bytes[name]) * 8000 // SAMPLE_MS for name in names]
        self._rows.append((t_ms, *bps))
        self._sent_bytes = now
        if t_ms % 1000 == 0:
            self._channel.send(event="progress", seconds=t_ms // 1000)

    def _totals(self) -> dict[str, dict[str, int]]:
        """Of all connections; a round trip is the least and the longest of any."""
        sums = {name: PathCount() for name in self._path_of.values()}
        for sampler in self._sampler:
            for name, count in sampler.counts.items():
                sums[name].add(count)
        return {name: vars(count) for name, count in sums.items()}

    def _kernel_chunks(self) -> dict[str, int] | None:
        views = [sampler.view for sampler in self._sampler if sampler.view is not None]
        if not views:
            return None
        return {
            "met": sum(view.chunks_met for view in views),
            "missed": sum(view.chunks_missed for view in views),
            "decisions": sum(view.decisions for view in views),
        }


def allow_files(connections: int) -> None:
    """Each end has that many open, and what the run itself needs."""
    wanted = connections + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise MeasurementError(f"open files: expected a limit of {wanted} or more, have {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def in_order(cell: Cell, delivered: Message, ports: list[int]) -> Message:
    """What the receiver has by ports, as it would be of one stream with all chunks."""
    load = cell.scenario.load
    source, size = Source(cell.seed), load.chunk_bytes
    altered = (
        chunk * size
        for chunk, port in enumerate(ports)
        if delivered["digests"].get(str(port))
        != hashlib.sha256(source.piece(chunk * size, size)).hexdigest()
    )
    completed_ns = [delivered["completed_ns"][str(port)] for port in ports]
    if len(completed_ns) != load.chunks:
        raise MeasurementError(f"{len(completed_ns)} of {load.chunks} connections")
    return {**delivered, "completed_ns": completed_ns, "altered_at": next(altered, None)}
