"""The client: writes chunks as they are released, and samples the connection meanwhile."""

from __future__ import annotations

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
from .scenario import REQUESTS
from .stream import Source

_MS = 10**6
_NEVER_NS = 1 << 62
_WRITE_BYTES = 1 << 16
_WRITES_AT_ONCE = 8
_ESTABLISH_SECONDS = 30
# A verdict of the kernel on the last chunk comes half a round trip after its deadline.
VERDICT_MS = 500
_DRAIN_MS = 10_000


class Client:
    """What the clients of all loads have. They run in the client's namespace."""

    def __init__(
        self, cell: Cell, server: str, path_of: dict[str, str], out: File, channel: Channel
    ) -> None:
        self._cell = cell
        self._server = server
        self._path_of = path_of
        self._out = out
        self._channel = channel
        self._source = Source(cell.seed)

    def _bound(self) -> socket.socket:
        """A new socket, bound to the path that connections start on."""
        sock = open_socket(self._cell)
        address = next(a for a, name in self._path_of.items() if name == self._cell.start.name)
        sock.bind((address, 0))
        return sock

    def _hear_delivered(self) -> None:
        """The parent says so, and nothing else."""
        message = self._channel.receive()
        if message is None or message["event"] != "delivered":
            raise MeasurementError(f"unexpected message {message}")


class Sender(Client):
    """One connection; see ``run`` for what it says to its parent."""

    def __init__(
        self, cell: Cell, server: str, path_of: dict[str, str], out: File, channel: Channel
    ) -> None:
        super().__init__(cell, server, path_of, out, channel)
        self._offset = 0
        self._announced = 0
        self._delivered_ns: int | None = None
        self._t0_ns = 0
        self._samples = 0
        self._released_ns: list[int] = []
        self._answered_ns: list[int] = []
        self._answer_came_ns = self._answer_bytes = 0
        self._switch: rule.Switch | None = None
        self._rule: rule.Rule | None = None

    def run(self) -> None:
        """Says ``started`` with t0, ``progress`` now and then, and ``measured`` at the end."""
        wire_before = topology.interface_bytes()
        with news() if self._cell.multipath else _Nothing() as changes:
            self._sock = self._connect()
            absent = {path.name for path in self._cell.used_paths if path.up_ms}
            first = self._cell.start.name
            costly = self._cell.scenario.costly
            self._sampler = Sampler(self._sock, self._path_of, first, absent - {first}, costly)
            self._wait_established(changes)
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
            paths=self._sampler.totals(),
            wire_bytes={name: wire[name] - wire_before[name] for name in self._path_of.values()},
            kernel_chunks=self._kernel_chunks(),
            answered_ns=self._answered_ns,
            own_missed=self._rule.missed if self._rule else None,
        )
        self._channel.receive()
        if self._switch:
            self._switch.close()
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
        sock = self._bound()
        sock.settimeout(_ESTABLISH_SECONDS)
        sock.connect((self._server, PORT))
        expect_greeting(sock)
        sock.setblocking(False)
        used = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
        if used != self._cell.scenario.connection.congestion:
            raise MeasurementError(f"congestion control is {used}")
        return sock

    def _wait_established(self, changes: socket.socket | _Nothing) -> None:
        """Until all subflows can carry data."""
        end_ns = time.monotonic_ns() + _ESTABLISH_SECONDS * 10**9
        while not self._sampler.established():
            left = (end_ns - time.monotonic_ns()) / 1e9
            if left <= 0 or not isinstance(changes, socket.socket):
                raise no_subflow(self._cell, self._sampler.missing(), _ESTABLISH_SECONDS)
            if select.select([changes], [], [], left)[0]:
                changes.recv(1 << 16)
        if self._cell.multipath:
            wait_joined(self._sampler)

    def _release(self, now_ns: int) -> None:
        """Chunks whose time has come; a request waits for the answer to the one ahead, too."""
        load = self._cell.scenario.load
        while len(self._released_ns) < load.chunks:
            due_ns = self._t0_ns + load.release_ms(len(self._released_ns)) * _MS
            if load.kind == REQUESTS:
                if len(self._answered_ns) < len(self._released_ns):
                    return
                due_ns = max(due_ns, self._answer_came_ns)
            if due_ns > now_ns:
                return
            self._released_ns.append(due_ns)

    def _released_bytes(self) -> int:
        return len(self._released_ns) * self._cell.scenario.load.chunk_bytes

    def _next_release_ns(self) -> int:
        """Never, if all were released or an answer must come first."""
        load = self._cell.scenario.load
        waits = load.kind == REQUESTS and len(self._answered_ns) < len(self._released_ns)
        if waits or len(self._released_ns) == load.chunks:
            return _NEVER_NS
        return self._t0_ns + load.release_ms(len(self._released_ns)) * _MS

    def _read_answers(self) -> None:
        load = self._cell.scenario.load
        self._answer_bytes += len(self._sock.recv(1 << 16))
        now_ns = time.monotonic_ns()
        while self._answer_bytes >= (len(self._answered_ns) + 1) * load.response_bytes:
            self._answered_ns.append(now_ns - self._released_ns[len(self._answered_ns)])
            self._answer_came_ns = now_ns

    def _step(self) -> None:
        """Waits for the next thing to do, and does it."""
        now_ns = time.monotonic_ns()
        self._release(now_ns)
        sample_ns = self._t0_ns + (self._samples + 1) * SAMPLE_MS * _MS
        wants = [self._sock] if self._offset < self._released_bytes() else []
        wake_ns = min(sample_ns, self._next_release_ns())
        if self._rule and wants:
            self._rule.look(self._offset, now_ns)
            self._sampler.switched(self._rule.on, self._rule.switched_on)
            wake_ns = min(wake_ns, self._rule.next_ns(self._offset, now_ns))
        timeout = max(0, wake_ns - now_ns) / 1e9
        answers = [self._sock] if self._cell.scenario.load.kind == REQUESTS else []
        readable, writable, _ = select.select([self._channel, *answers], wants, [], timeout)
        if time.monotonic_ns() >= sample_ns:
            self._sample()
        if self._channel in readable:
            self._hear_delivered()
            self._delivered_ns = time.monotonic_ns()
        if self._sock in readable:
            self._read_answers()
        if writable:
            self._write()

    def _sample(self) -> None:
        now_ns = time.monotonic_ns()
        self._samples += 1
        self._sampler.sample(now_ns, self._samples * SAMPLE_MS)
        if self._samples % (1000 // SAMPLE_MS) == 0:
            self._channel.send(event="progress", seconds=self._samples * SAMPLE_MS // 1000)

    def _write(self) -> None:
        """Writes what was released, chunk by chunk, until the socket takes no more."""
        for _ in range(_WRITES_AT_ONCE):
            self._release(time.monotonic_ns())
            left = self._released_bytes() - self._offset
            if left <= 0:
                return
            left = min(left, self._announce())
            piece = self._source.piece(self._offset, min(left, _WRITE_BYTES))
            try:
                count = self._sock.send(piece)
            except BlockingIOError:
                return
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
                due_ns = self._released_ns[chunk] + self._cell.deadline_ms * _MS
                dpa.announce(self._sock, load.chunk_bytes, due_ns, chunk + 1)
        return (chunk + 1) * load.chunk_bytes - self._offset

    def _finished(self, now_ns: int) -> bool:
        """All was delivered and acknowledged, and the kernel has judged the last chunk."""
        load = self._cell.scenario.load
        answers = load.chunks if load.kind == REQUESTS else 0
        if self._delivered_ns is None or len(self._answered_ns) < answers:
            return False
        if self._cell.tells_deadlines:
            patience_ms = (self._cell.deadline_ms or 0) + VERDICT_MS
            if now_ns < self._released_ns[-1] + patience_ms * _MS:
                return False
        drained = self._sampler.unacknowledged() == 0
        return drained or now_ns > self._delivered_ns + _DRAIN_MS * _MS


def news() -> socket.socket:
    """Becomes readable when a subflow of this namespace changes."""
    return genetlink.subscribe("mptcp_pm", "mptcp_pm_events")


def no_subflow(cell: Cell, missing: set[str], seconds: float) -> MeasurementError:
    """Tells of paths by their keys in the scenario's file."""
    paths = enumerate(cell.scenario.paths)
    keys = [f"path[{i}] ({path.name})" for i, path in paths if path.name in missing]
    return MeasurementError(
        f"{', '.join(keys)}: expected a subflow within {seconds:g} s; rate, loss and delay of the "
        "path may not allow it"
    )


def expect_greeting(sock: socket.socket) -> None:
    if sock.recv(len(GREETING)) != GREETING:
        raise MeasurementError("no greeting from the receiver")


def wait_joined(sampler: Sampler) -> None:
    """A joined subflow may send after the peer's acknowledgement of the handshake's third packet,
    one round trip after this end calls it established."""
    slowest_us = max(flow.tcp.rtt for flow in sampler.subflows().values())
    time.sleep(slowest_us * 1.1 / 1e6)


class _Nothing:
    """Stands in for the socket that is not needed."""

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        return None
