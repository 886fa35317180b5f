"""Any command as the load: run between the hosts, measured by the interfaces' counters."""

from __future__ import annotations

import ctypes
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as File
from typing import Any

from . import course, libc, topology
from .cellspec import Cell
from .errors import MeasurementError
from .libbpf import Program
from .netns import Namespace
from .sampler import SAMPLE_MS, write_rows
from .topology import Network

_LISTEN_SECONDS = 10
_LISTENING = "0A"
_STOP_SECONDS = 5
_GRACE = 5


@contextmanager
def mptcp_for_all(cell: Cell, namespaces: tuple[Namespace, ...]) -> Iterator[None]:
    """Whoever opens a TCP socket there gets an MPTCP socket."""
    if not cell.multipath:
        yield
        return
    program = Program(course.own_object("mptcpify.bpf.o"), {})
    try:
        for namespace in namespaces:
            program.put("namespaces", namespace.inode, ctypes.c_uint32(1))
        program.attach("mptcpify")
        yield
    finally:
        program.close()


class Load:
    """The two commands of a cell."""

    def __init__(self, net: Network, out: File) -> None:
        self._net = net
        self._out = out
        self._load = net.cell.scenario.load
        self._rows: list[tuple[int, ...]] = []

    def run(self) -> tuple[int, dict[str, Any]]:
        """The start's time, and what was measured."""
        net = self._net
        with mptcp_for_all(net.cell, (net.client, net.server)):
            server = self._begin(net.server, self._load.server, "server")
            try:
                if server is not None:
                    self._wait_listening(server)
                return self._client()
            finally:
                if server is not None:
                    _end(server)

    def _begin(self, where: Namespace, text: str, role: str) -> subprocess.Popen[bytes] | None:
        words = shlex.split(text.format(server=self._net.addresses.server))
        if not words:
            return None
        with (self._out / f"{role}.txt").open("wb") as sink, where:
            try:
                return subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                    preexec_fn=libc.die_with_parent,
                )  # fmt: skip
            except OSError as error:
                raise MeasurementError(f"load.{role}: {words[0]}: {error.strerror}") from None

    def _wait_listening(self, server: subprocess.Popen[bytes]) -> None:
        """Nothing tells when a foreign program listens, so its namespace is looked at."""
        end = time.monotonic() + _LISTEN_SECONDS
        while not self._is_listening():
            if server.poll() is not None or time.monotonic() > end:
                raise MeasurementError(
                    f"load.server: expected to listen within {_LISTEN_SECONDS} s: "
                    f"{_last_line(self._out / 'server.txt')}"
                )
            time.sleep(0.01)

    def _is_listening(self) -> bool:
        with self._net.server:
            tables = [File(f"/proc/thread-self/net/{name}") for name in ("tcp", "tcp6")]
            lines = [line for t in tables if t.exists() for line in t.read_text().split("\n")]
        rows = [line.split() for line in lines]
        return any(len(row) > 3 and row[3] == _LISTENING for row in rows)

    def _client(self) -> tuple[int, dict[str, Any]]:
        net = self._net
        names = [path.name for path in net.cell.used_paths]
        before, arrived = _sent(net.client), _received(net.server)
        t0_ns = time.monotonic_ns()
        net.start(t0_ns)
        client = self._begin(net.client, self._load.client, "client")
        if client is None:
            raise MeasurementError("load.client: expected a command")
        try:
            self._follow(client, names, t0_ns)
        finally:
            _end(client)
        ended_ns = time.monotonic_ns() - t0_ns
        if client.returncode:
            raise MeasurementError(
                f"load.client: exit status {client.returncode}: "
                f"{_last_line(self._out / 'client.txt')}"
            )
        header = ["t_ms", *(f"{name}_goodput_bps" for name in names)]
        write_rows(self._out / "series.csv", header, self._rows)
        wire = {name: _sent(net.client)[name] - before[name] for name in names}
        got = _received(net.server)
        delivered = sum(got[name] - arrived[name] for name in names)
        return t0_ns, {"ended_ns": ended_ns, "wire_bytes": wire, "delivered_bytes": delivered}

    def _follow(self, client: subprocess.Popen[bytes], names: list[str], t0_ns: int) -> None:
        limit = self._net.cell.expected_seconds * _GRACE + 60
        last = _sent(self._net.client)
        while client.poll() is None:
            t_ms = (len(self._rows) + 1) * SAMPLE_MS
            left = (t0_ns + t_ms * 10**6 - time.monotonic_ns()) / 1e9
            try:
                client.wait(max(0.001, left))
            except subprocess.TimeoutExpired:
                if t_ms > limit * 1000:
                    text = f"load.client: still running after {limit:.0f} s"
                    raise MeasurementError(text) from None
                now = _sent(self._net.client)
                bps = [(now[name] - last[name]) * 8000 // SAMPLE_MS for name in names]
                self._rows.append((t_ms, *bps))
                last = now


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _last_line(file: File) -> str:
    """What it said at the end, or what it calls an error."""
    text = file.read_text(errors="replace") if file.exists() else ""
    lines = [line.strip() for line in text.split("\n") if len(line.strip()) > 1]
    telling = [line for line in lines if "error" in line] or lines
    return telling[-1] if telling else "it said nothing"


def _sent(where: Namespace) -> dict[str, int]:
    with where:
        return topology.interface_bytes()


def _received(where: Namespace) -> dict[str, int]:
    with where:
        return topology.interface_bytes(received=True)


def raw_paths(net: Network, measured: dict[str, Any]) -> dict[str, dict[str, int]]:
    """By the interfaces: headers are in, and what was sent twice cannot be told apart."""
    paths = {}
    for path in net.cell.used_paths:
        wire = measured["wire_bytes"][path.name]
        paths[path.name] = {
            "sent_bytes": wire, "acked_bytes": wire, "tcp_resent_bytes": 0,
            "reinjected_bytes": 0, "activations": 0, "wire_bytes": wire,
            "drops": topology.drops(net, path),
        }  # fmt: skip
    return paths
