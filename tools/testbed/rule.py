"""The rule of MP-DPA as its author ran it: in a user-space sender that switches costly paths.

A. Nota, Politecnico di Torino 2020. Once in a millisecond, while a chunk is being written, costly
paths are made backup if (alpha * D - spent) * goodput exceeds what is left to write, and taken
back if not. Bytes count as sent when the socket has taken them, and a chunk as in time when
its last byte was taken by then; both are kept as they were, to be compared with what arrived.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

from . import genetlink
from .cellspec import Cell

INTERVAL_NS = 10**6
_MS = 10**6
# The estimate is not told. A shorter window sees the socket's bursts and keeps costly paths on, a
# longer one sees the buffer fill and leaves them off; this one gives the published share
# of one cell (bulk-sym, 10 s), so that the other cells are predictions.
_WINDOW_NS = 20 * _MS
_GAIN = 1 / 8

_FAMILY, _SET_FLAGS = "mptcp_pm", 7
_ATTR_ADDR, _ADDR_ID, _ADDR_FLAGS = 1, 2, 6
_FLAG_SUBFLOW, _FLAG_BACKUP = 1 << 1, 1 << 2


class Switch:
    """Turns endpoints of the caller's namespace into backups and back."""

    def __init__(self, ids: list[int]) -> None:
        self._ids = ids
        self._sock = genetlink.connect()
        self._family = genetlink.family(self._sock, _FAMILY)

    def set(self, backup: bool) -> None:
        flags = struct.pack("=I", _FLAG_SUBFLOW | (_FLAG_BACKUP if backup else 0))
        for number in self._ids:
            body = genetlink.attribute(_ADDR_ID, bytes([number]))
            body += genetlink.attribute(_ADDR_FLAGS, flags)
            genetlink.ask(self._sock, self._family, _SET_FLAGS, genetlink.nested(_ATTR_ADDR, body))

    def close(self) -> None:
        self._sock.close()


@dataclass
class Goodput:
    """What the socket takes, in bytes per ns; none until the first window is over."""

    began_ns: int
    bytes_per_ns: float = 0.0
    _held: int = 0

    def add(self, count: int, now_ns: int) -> None:
        self._held += count
        spent_ns = now_ns - self.began_ns
        if spent_ns < _WINDOW_NS:
            return
        rate = self._held / spent_ns
        known = self.bytes_per_ns > 0
        self.bytes_per_ns += (rate - self.bytes_per_ns) * (_GAIN if known else 1)
        self._held, self.began_ns = 0, now_ns


@dataclass
class Rule:
    """The sender asks it after each write and each millisecond in which it may say more."""

    cell: Cell
    t0_ns: int
    switch: Switch
    on: bool = False
    switched_on: int = 0
    missed: int = 0
    _goodput: Goodput = field(init=False)

    def __post_init__(self) -> None:
        self._goodput = Goodput(self.t0_ns)

    def took(self, before: int, after: int, now_ns: int) -> None:
        """The socket took the bytes between two offsets of the stream."""
        self._goodput.add(after - before, now_ns)
        load = self.cell.scenario.load
        first, last = before // load.chunk_bytes, after // load.chunk_bytes
        for chunk in range(first, last):
            self.missed += now_ns > self._due_ns(chunk)

    def _due_ns(self, chunk: int) -> int:
        release_ms = self.cell.scenario.load.release_ms(chunk)
        return self.t0_ns + (release_ms + (self.cell.deadline_ms or 0)) * _MS

    def look(self, offset: int, now_ns: int) -> None:
        """While a chunk is being written; ``offset`` is the next byte of the stream."""
        self._goodput.add(0, now_ns)
        rate = self._goodput.bytes_per_ns
        if rate == 0:
            return
        left, horizon_ns = self._task(offset, now_ns)
        wanted = horizon_ns * rate <= left
        if wanted != self.on:
            self.on = wanted
            self.switched_on += wanted
            self.switch.set(not wanted)

    def _task(self, offset: int, now_ns: int) -> tuple[int, float]:
        """The chunk's bytes to be written, and what is left of alpha * D."""
        load = self.cell.scenario.load
        chunk = min(offset // load.chunk_bytes, load.chunks - 1)
        spent_ns = now_ns - self.t0_ns - load.release_ms(chunk) * _MS
        horizon_ns = (self.cell.deadline_ms or 0) * _MS * self._alpha - spent_ns
        return (chunk + 1) * load.chunk_bytes - offset, horizon_ns

    def next_ns(self, offset: int, now_ns: int) -> int:
        """After a look: the next of the milliseconds from then on in which another could find
        something else, if the socket takes nothing until then. Until the estimate's window ends
        only time passes, so that costly paths can be wanted, and cannot be wanted no more."""
        wait_ns: float = self._goodput.began_ns + _WINDOW_NS - now_ns
        rate = self._goodput.bytes_per_ns
        if rate > 0 and not self.on:
            left, horizon_ns = self._task(offset, now_ns)
            wait_ns = min(wait_ns, horizon_ns - left / rate)
        return now_ns + max(1, math.ceil(wait_ns / INTERVAL_NS)) * INTERVAL_NS

    @property
    def _alpha(self) -> float:
        alpha = self.cell.alpha
        return float(alpha) if isinstance(alpha, (int, float)) else 1.0


def on_costly_paths(cell: Cell) -> Switch:
    """Endpoints have the numbers of their paths. The first subflow's has id 0 on the wire only."""
    scenario = cell.scenario
    numbers = [n for n, path in enumerate(scenario.paths, 1) if scenario.is_costly(path)]
    return Switch(numbers)
