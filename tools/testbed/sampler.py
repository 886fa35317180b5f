"""Follows a connection by the kernel's counters: totals, a series over time, activations."""

from __future__ import annotations

import csv
import socket
from collections.abc import Set
from dataclasses import asdict, dataclass
from pathlib import Path as File
from typing import Any

from . import dpa, kernelinfo
from .errors import MeasurementError
from .kernelinfo import Subflow, TcpInfo

SAMPLE_MS = 100
_COLUMNS = ("goodput_bps", "est_bps", "queued_bytes", "backup")


@dataclass
class PathCount:
    """Running totals of one path. Bytes are payload; resent ones are counted in sent, too."""

    sent_bytes: int = 0
    acked_bytes: int = 0
    arrived_bytes: int = 0
    tcp_resent_bytes: int = 0
    reinjected_bytes: int = 0
    activations: int = 0
    segments: int = 0
    rtt_us: int = 0
    least_rtt_us: int = 0

    def add(self, other: PathCount) -> None:
        """The same path of another connection; round trips are the longest, and the least."""
        least = [us for us in (self.least_rtt_us, other.least_rtt_us) if us]
        longest = max(self.rtt_us, other.rtt_us)
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        self.rtt_us, self.least_rtt_us = longest, min(least, default=0)


@dataclass
class _Activity:
    """What is needed to see a path change from idle to sending; ``released`` is set from when it
    was taken off hold until it has sent something, which is counted already."""

    last_sent_ns: int | None = None
    held_activations: int = 0
    released: bool = False


@dataclass(frozen=True)
class Row:
    """One line of the series: per path, in the order of the columns."""

    t_ms: int
    values: tuple[tuple[int, int, int, int], ...]


class Sampler:
    """Takes samples of one connection whose subflows are told apart by the local address."""

    def __init__(
        self,
        sock: socket.socket,
        path_of: dict[str, str],
        first: str,
        absent: Set[str] = frozenset(),
        costly: Set[str] = frozenset(),
    ) -> None:
        """``first`` is the path that the connection starts on, ``absent`` are those that come
        and go: they may be without a subflow. A rule outside the kernel switches ``costly``."""
        self._sock = sock
        self._path_of = path_of
        self._first = first
        self._absent = absent
        self._costly = costly
        # Endpoints have the number of their path as address id, the first subflow has 0.
        self._number_of = {name: number for number, name in enumerate(path_of.values(), 1)}
        self._base: dict[str, int] = {}
        self._before_ns = 0
        self._reinjected = 0
        self._activity = {name: _Activity() for name in path_of.values()}
        self.counts = {name: PathCount() for name in path_of.values()}
        self.rows: list[Row] = []
        self.view: dpa.View | None = None
        self._switch: tuple[bool, int] | None = None

    def switched(self, on: bool, times: int) -> None:
        """A rule outside the kernel has costly paths on, and has turned them on so often."""
        self._switch = (on, times)

    def subflows(self) -> dict[str, Subflow]:
        """By path. Complains about a subflow that is not on a path of the scenario."""
        return self._by_path(kernelinfo.look(self._sock))

    def _by_path(self, snapshot: kernelinfo.Snapshot) -> dict[str, Subflow]:
        found: dict[str, Subflow] = {}
        for flow in snapshot.subflows:
            name = self._path_of.get(flow.local)
            if name is None or name in found:
                raise MeasurementError(f"subflow from {flow.local}: expected one per path")
            found[name] = flow
        return found

    def established(self) -> bool:
        """Whether every path has its subflow."""
        return not self.missing()

    def missing(self) -> set[str]:
        """Paths that must have an established subflow and have none."""
        established = kernelinfo.TCP_ESTABLISHED
        there = {name for name, flow in self.subflows().items() if flow.tcp.state == established}
        return self.counts.keys() - self._absent - there

    def start(self, now_ns: int) -> None:
        """The first look; what was acknowledged before (the SYN) counts for nothing."""
        self._base = {name: flow.tcp.bytes_acked for name, flow in self.subflows().items()}
        self._before_ns = now_ns

    def unacknowledged(self) -> int:
        flows = self.subflows()
        return sum(self._queued(name, flow.tcp) for name, flow in flows.items())

    def _acked(self, name: str, tcp: TcpInfo) -> int:
        """Of payload. A subflow that came later has its SYN acknowledged, nothing else."""
        return int(tcp.bytes_acked) - self._base.setdefault(name, min(1, int(tcp.bytes_acked)))

    def _queued(self, name: str, tcp: TcpInfo) -> int:
        """Bytes given to a subflow and not yet acknowledged by its peer."""
        fresh = int(tcp.bytes_sent - tcp.bytes_retrans)
        acked = self._acked(name, tcp)
        return max(0, fresh - acked + int(tcp.notsent_bytes))

    def _arrived(self, name: str, tcp: TcpInfo) -> int:
        """Bytes that the peer is known to have: acknowledged, or selectively so.

        The latter are known in segments only; never less than before.
        """
        acked = self._acked(name, tcp)
        mean = int(tcp.bytes_sent) // max(1, tcp.data_segs_out)
        known: int = acked + tcp.sacked * mean
        return max(self.counts[name].arrived_bytes, known)

    def sample(self, now_ns: int, t_ms: int) -> None:
        snapshot = kernelinfo.look(self._sock)
        self.view = dpa.look(self._sock) if snapshot.mptcp is not None else None
        flows = self._by_path(snapshot)
        missing = self.counts.keys() - flows.keys() - self._absent
        if missing:
            raise MeasurementError(f"subflow on {min(missing)} was lost after {t_ms} ms")
        grown = {
            name: max(0, flows[name].tcp.bytes_sent - count.sent_bytes) if name in flows else 0
            for name, count in self.counts.items()
        }
        if snapshot.mptcp is not None:
            sent = sum(flow.tcp.bytes_sent - flow.tcp.bytes_retrans for flow in flows.values())
            sent += self._sent_by_ended(flows)
            self._share_reinjected(int(sent - snapshot.mptcp.bytes_sent), grown)
        elapsed_ns = max(1, now_ns - self._before_ns)
        values = []
        for name, count in self.counts.items():
            if name not in flows:
                values.append((0, 0, 0, 0))
                continue
            tcp = flows[name].tcp
            arrived = self._arrived(name, tcp)
            goodput = (arrived - count.arrived_bytes) * 8 * 10**9 // elapsed_ns
            view = self._view_of(name)
            self._note_activity(name, tcp, grown[name], view, now_ns)
            self._update(count, tcp, arrived, self._acked(name, tcp))
            estimate = tcp.delivery_rate * 8 if view is None else view.goodput_bps
            held = self._held(name, view)
            values.append((goodput, estimate, self._queued(name, tcp), held))
        self.rows.append(Row(t_ms, tuple(values)))
        self._before_ns = now_ns

    def _held(self, name: str, view: dpa.PathView | None) -> int:
        if view is not None:
            return int(view.held)
        return int(self._switch is not None and name in self._costly and not self._switch[0])

    def _released(self, name: str, view: dpa.PathView | None) -> int:
        """How often the path was taken off hold so far."""
        if view is not None:
            return view.activations
        return self._switch[1] if self._switch is not None and name in self._costly else 0

    def _update(self, count: PathCount, tcp: TcpInfo, arrived: int, acked: int) -> None:
        count.sent_bytes = tcp.bytes_sent
        count.arrived_bytes = arrived
        count.acked_bytes = acked
        count.tcp_resent_bytes = tcp.bytes_retrans
        count.segments = tcp.data_segs_out
        count.rtt_us = tcp.rtt
        count.least_rtt_us = tcp.min_rtt

    def _sent_by_ended(self, flows: dict[str, Subflow]) -> int:
        """Payload, each byte once, of subflows that are no more."""
        gone = (count for name, count in self.counts.items() if name not in flows)
        return sum(count.sent_bytes - count.tcp_resent_bytes for count in gone)

    def _view_of(self, name: str) -> dpa.PathView | None:
        """The scheduler's row for a path."""
        if self.view is None:
            return None
        return self.view.paths.get(0 if name == self._first else self._number_of[name])

    def _share_reinjected(self, total: int, grown: dict[str, int]) -> None:
        """Splits what MPTCP sent again since the last sample by what each path sent since.

        Only the sum is known: what subflows sent, less what of it was new. (The kernel's counter of
        retransmissions leaves out what a failing subflow hands over to others.) While new data
        wait in a subflow it is too low, and catches up when they are sent.
        """
        left = total - self._reinjected
        weight = sum(grown.values())
        for name, count in self.counts.items():
            if left <= 0 or weight <= 0:
                break
            part = round(left * grown[name] / weight)
            count.reinjected_bytes += part
            self._reinjected += part
            left -= part
            weight -= grown[name]

    def _note_activity(
        self, name: str, tcp: TcpInfo, grown: int, view: dpa.PathView | None, now_ns: int
    ) -> None:
        """Counts activations: taken off hold, or sending again after more than a round trip."""
        activity, count = self._activity[name], self.counts[name]
        total = self._released(name, view)
        count.activations += total - activity.held_activations
        activity.released = activity.released or total > activity.held_activations
        activity.held_activations = total
        if grown <= 0:
            return
        last = activity.last_sent_ns
        idle_us = None if last is None else (self._before_ns - last) // 1000
        if not activity.released and (idle_us is None or idle_us > tcp.rtt):
            count.activations += 1
        activity.released = False
        activity.last_sent_ns = now_ns - tcp.last_data_sent * 10**6

    def write_series(self, file: File) -> None:
        header = ["t_ms", *(f"{name}_{column}" for name in self.counts for column in _COLUMNS)]
        rows = [(row.t_ms, *(v for values in row.values for v in values)) for row in self.rows]
        write_rows(file, header, rows)

    def totals(self) -> dict[str, Any]:
        return {name: asdict(count) for name, count in self.counts.items()}


def write_rows(file: File, header: list[str], rows: list[tuple[int, ...]]) -> None:
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
