"""Plays a path's trace: changes the rate of its shapers step by step while a cell runs."""

from __future__ import annotations

import select
import socket
import subprocess
import time
from collections.abc import Sequence

from .child import Channel
from .errors import MeasurementError
from .netns import Namespace
from .scenario import Path
from .topology import LINK, Network, burst_bytes

# A shaper cannot stand still. At the least rate a full frame takes 0.2 s.
LEAST_BPS = 60_000
_DISCARD_PORT = 9


class _Shaper:
    """One direction of a path's link, changed through a tc that stays."""

    def __init__(self, namespace: Namespace, path: Path, peer: str, ip: int) -> None:
        self._path = path
        self._bps = path.rates.at(0)
        with namespace:
            self._tc = subprocess.Popen(
                ["tc", "-batch", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            family = socket.AF_INET if ip == 4 else socket.AF_INET6
            self._kick = socket.socket(family, socket.SOCK_DGRAM)
        self._peer = (peer, _DISCARD_PORT)

    def set(self, bps: int) -> None:
        bps = max(bps, LEAST_BPS)
        if bps == self._bps or self._tc.stdin is None:
            return
        try:
            self._tc.stdin.write(
                f"qdisc change dev {LINK} root handle 1: tbf rate {bps}bit "
                f"burst {burst_bytes(self._path)} limit {self._path.queue_bytes}\n"
            )
            self._tc.stdin.flush()
        except BrokenPipeError:
            raise MeasurementError(f"trace of {self._path.name}: {self._why()}") from None
        # The shaper sleeps until the old rate admits the next packet; a new packet wakes it.
        if self._bps < bps // 4:
            self._kick.sendto(b"", self._peer)
        self._bps = bps

    def _why(self) -> str:
        return " ".join((self._tc.communicate()[1] or "tc ended").split())

    def stop(self) -> None:
        self._kick.close()
        self._tc.communicate()


class Player:
    """Keeps the time of all paths that have a trace, beside waiting for other things."""

    def __init__(self, net: Network, t0_ns: int) -> None:
        self._t0_ns = t0_ns
        self._step = 0
        self._traced: list[tuple[Path, list[_Shaper]]] = []
        at = net.addresses
        for number, path in net.numbered():
            if path.rate_bps is not None or path not in net.cell.used_paths:
                continue
            forth = _Shaper(net.near[path.name], path, at.host(number, 2, 2), at.ip)
            back = _Shaper(net.far[path.name], path, at.host(number, 2, 1), at.ip)
            self._traced.append((path, [forth, back]))

    def _due_ns(self) -> int | None:
        if not self._traced:
            return None
        step_ms = self._traced[0][0].rates.step_ms
        return self._t0_ns + (self._step + 1) * step_ms * 10**6

    def wait(self, channels: Sequence[Channel], end: float) -> list[Channel]:
        """Those with something to read; none if the end came first."""
        while True:
            due_ns = self._due_ns()
            left = end - time.monotonic()
            nap = left if due_ns is None else min(left, due_ns / 1e9 - time.monotonic())
            ready: list[Channel] = select.select(channels, [], [], max(0, nap))[0]
            if due_ns is not None and time.monotonic_ns() >= due_ns:
                self._advance()
            if ready or time.monotonic() >= end:
                return ready

    def _advance(self) -> None:
        self._step += 1
        for path, shapers in self._traced:
            for shaper in shapers:
                shaper.set(path.rates.at(self._step))

    def stop(self) -> None:
        for _, shapers in self._traced:
            for shaper in shapers:
                shaper.stop()
