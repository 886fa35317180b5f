"""The client: writes chunks as they are released, and samples the connection meanwhile."""

from __future__ import annotations

import hashlib
import select
import socket
import time
from pathlib import Path as File

from . import dpa, genetlink, rule, topology
from .cellspec import Cell
from .child import Channel
from .errors import MeasurementError
from .receiver import GREETING, PORT, open_socket
from .sampler import SAMPLE_MS, Sampler
from .stream import Source

_MS = 10**6
_WRITE_BYTES = 1 << 16
_WRITES_AT_ONCE = 8
_ESTABLISH_SECONDS = 30
# A verdict of the kernel on the last chunk comes half a round trip after its deadline.
_VERDICT_MS = 500
_DRAIN_MS = 10_000


class Sender:
    """Runs in the client's namespace; see ``run`` for what it says to its parent."""

    def __init__(
        self, cell: Cell, server: str, path_of: dict[str, str], out: File, channel: Channel
    ) -> None:
        self._cell = cell
        self._server = server
        self._path_of = path_of
        self._out = out
        self._channel = channel
        self._source = Source(cell.seed)
        self._hash = hashlib.sha256()
        self._offset = 0
        self._announced = 0
        self._delivered_ns: int | None = None
        self._t0_ns = 0
        self._samples = 0
        self._switch: rule.Switch | None = None
        self._rule: rule.Rule | None = None

    def run(self) -> None:
        """Says ``started`` with t0, ``progress`` now and then, and ``measured`` at the end."""
        wire_before = topology.interface_bytes()
        with _news() if self._cell.multipath else _Nothing() as news:
            self._sock = self._connect()
            self._sampler = Sampler(self._sock, self._path_of, self._cell.start.name)
            self._wait_established(news)
            if self._cell.kind.rule:
                self._switch = rule.on_costly_paths(self._cell)
                self._switch.set(True)
        self._t0_ns = time.monotonic_ns()
        self._sampler.start(self._t0_ns)
        self._rule = self._make_rule()
        self._channel.send(event="started", t0_ns=self._t0_ns)
        while not self._finished(time.monotonic_ns()):
            self._step()
        self._sample()
        wire = topology.interface_bytes()
        self._sampler.write_series(self._out / "series.csv")
        self._channel.send(
            event="measured",
            ended_ns=time.monotonic_ns() - self._t0_ns,
            written_bytes=self._offset,
            sha256=self._hash.hexdigest(),
            paths=self._sampler.totals(),
            wire_bytes={name: wire[name] - wire_before[name] for name in self._path_of.values()},
            kernel_chunks=self._kernel_chunks(),
            own_missed=self._rule.missed if self._rule else None,
        )
        self._channel.receive()
        self._sock.close()

    def _kernel_chunks(self) -> dict[str, int] | None:
        view = self._sampler.view
        if view is None:
            return None
        return {"met": view.chunks_met, "missed": view.chunks_missed, "decisions": view.decisions}

    def _make_rule(self) -> rule.Rule | None:
        if not self._cell.kind.rule or self._switch is None:
            return None
        return rule.Rule(self._cell, self._t0_ns, self._switch)

    def _connect(self) -> socket.socket:
        sock = open_socket(self._cell)
        address = next(a for a, name in self._path_of.items() if name == self._cell.start.name)
        sock.bind((address, 0))
        sock.settimeout(_ESTABLISH_SECONDS)
        sock.connect((self._server, PORT))
        if sock.recv(len(GREETING)) != GREETING:
            raise MeasurementError("no greeting from the receiver")
        sock.setblocking(False)
        used = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
        if used != self._cell.scenario.connection.congestion:
            raise MeasurementError(f"congestion control is {used}")
        return sock

    def _wait_established(self, news: socket.socket | _Nothing) -> None:
        """Until all subflows can carry data.

        A joined subflow may send after the peer's acknowledgement of the handshake's third
        packet, one round trip after this end calls it established.
        """
        end_ns = time.monotonic_ns() + _ESTABLISH_SECONDS * 10**9
        while not self._sampler.established():
            left = (end_ns - time.monotonic_ns()) / 1e9
            if left <= 0 or not isinstance(news, socket.socket):
                raise MeasurementError("not every path got its subflow")
            if select.select([news], [], [], left)[0]:
                news.recv(1 << 16)
        if self._cell.multipath:
            slowest_us = max(flow.tcp.rtt for flow in self._sampler.subflows().values())
            time.sleep(slowest_us * 1.1 / 1e6)

    def _released_bytes(self, now_ns: int) -> int:
        load = self._cell.scenario.load
        released = (now_ns - self._t0_ns) // (load.period_ms * _MS) + 1
        return min(load.chunks, released) * load.chunk_bytes

    def _next_release_ns(self, now_ns: int) -> int:
        period_ns = self._cell.scenario.load.period_ms * _MS
        return self._t0_ns + ((now_ns - self._t0_ns) // period_ns + 1) * period_ns

    def _step(self) -> None:
        """Waits for the next thing to do, and does it."""
        now_ns = time.monotonic_ns()
        sample_ns = self._t0_ns + (self._samples + 1) * SAMPLE_MS * _MS
        wants = [self._sock] if self._offset < self._released_bytes(now_ns) else []
        wake_ns = min(sample_ns, self._next_release_ns(now_ns))
        if self._rule and wants:
            self._rule.look(self._offset, now_ns)
            self._sampler.switched(self._rule.on, self._rule.switched_on)
            wake_ns = min(wake_ns, now_ns + rule.INTERVAL_NS)
        timeout = max(0, wake_ns - now_ns) / 1e9
        told, writable, _ = select.select([self._channel], wants, [], timeout)
        if time.monotonic_ns() >= sample_ns:
            self._sample()
        if told:
            self._listen()
        if writable:
            self._write()

    def _listen(self) -> None:
        message = self._channel.receive()
        if message is None or message["event"] != "delivered":
            raise MeasurementError(f"unexpected message {message}")
        self._delivered_ns = time.monotonic_ns()

    def _sample(self) -> None:
        now_ns = time.monotonic_ns()
        self._samples += 1
        self._sampler.sample(now_ns, self._samples * SAMPLE_MS)
        if self._samples % (1000 // SAMPLE_MS) == 0:
            self._channel.send(event="progress", seconds=self._samples * SAMPLE_MS // 1000)

    def _write(self) -> None:
        """Writes what was released, chunk by chunk, until the socket takes no more."""
        for _ in range(_WRITES_AT_ONCE):
            left = self._released_bytes(time.monotonic_ns()) - self._offset
            if left <= 0:
                return
            left = min(left, self._announce())
            piece = self._source.piece(self._offset, min(left, _WRITE_BYTES))
            try:
                count = self._sock.send(piece)
            except BlockingIOError:
                return
            self._hash.update(piece[:count])
            if self._rule:
                self._rule.took(self._offset, self._offset + count, time.monotonic_ns())
            self._offset += count

    def _announce(self) -> int:
        """Names the chunk about to be written, once; its bytes that are left."""
        load = self._cell.scenario.load
        chunk = self._offset // load.chunk_bytes
        if self._announced == chunk:
            self._announced += 1
            if self._cell.tells_deadlines and self._cell.deadline_ms is not None:
                due_ms = load.release_ms(chunk) + self._cell.deadline_ms
                due_ns = self._t0_ns + due_ms * _MS
                dpa.announce(self._sock, load.chunk_bytes, due_ns, chunk + 1)
        return (chunk + 1) * load.chunk_bytes - self._offset

    def _finished(self, now_ns: int) -> bool:
        """All was delivered and acknowledged, and the kernel has judged the last chunk."""
        if self._delivered_ns is None:
            return False
        load = self._cell.scenario.load
        if self._cell.tells_deadlines and self._cell.deadline_ms is not None:
            last_ms = load.release_ms(load.chunks - 1) + self._cell.deadline_ms + _VERDICT_MS
            if now_ns < self._t0_ns + last_ms * _MS:
                return False
        drained = self._sampler.unacknowledged() == 0
        return drained or now_ns > self._delivered_ns + _DRAIN_MS * _MS


def _news() -> socket.socket:
    """Becomes readable when a subflow of this namespace changes."""
    return genetlink.subscribe("mptcp_pm", "mptcp_pm_events")


class _Nothing:
    """Stands in for the socket that is not needed."""

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        return None
