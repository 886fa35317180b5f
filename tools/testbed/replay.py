"""Measures whether a cell's links follow their rates: floods each path and times what arrives."""

from __future__ import annotations

import json
import math
import os
import platform
import select
import socket
import struct
import sys
import time
from bisect import bisect_right
from functools import partial
from pathlib import Path as File
from typing import Any

from . import cellspec
from .cellspec import Cell
from .child import Channel, Child
from .errors import MeasurementError
from .frames import ETHERNET_BYTES, FRAME_BYTES, IP_BYTES, MTU_BYTES
from .rates import STEP_MS
from .scenario import Path
from .topology import Network, network

_UDP_BYTES = 8
_PORT = 4456
_LEAD_NS = 500 * 10**6
_SETUP_SECONDS = 30
# A path must always have something to send: that much of its queue is kept full.
_FILL = 0.8
_LOOK_SECONDS = 0.002
_SO_TIMESTAMPNS = 35
# Something may come between the looks at two clocks; hardly every time.
_CLOCK_LOOKS = 10
# What a packet takes over the two hops behind the link, beside their delay.
_PASSING_MS = 0.1
MOST_SHARE, MOST_PACKETS = 0.02, 2


def measure(cell: Cell, seconds: float) -> dict[str, Any]:
    """Per path the greatest differences, for the length of the run or ``seconds``."""
    with network(cell) as net:
        return {path.name: _one(net, path, seconds) for path in cell.scenario.paths}


def _one(net: Network, path: Path, seconds: float) -> dict[str, Any]:
    t0_ns = time.monotonic_ns() + _LEAD_NS
    end_ns = t0_ns + round(seconds * 1e9)
    for hop in net.hops[path.name]:
        hop.start(t0_ns)
    sink = Child("sink", net.server, partial(_sink, net, path, end_ns))
    source = Child("source", net.client, partial(_source, net, path, t0_ns, end_ns))
    try:
        sink.expect("listening", _SETUP_SECONDS)
        source.channel.send(event="go")
        arrived = sink.expect("arrived", seconds * 3 + _SETUP_SECONDS)["at"]
    finally:
        source.stop()
        sink.stop()
    times_ms = [(at - t0_ns) / 1e6 - path.delay_ms for at in arrived]
    return compare(path, _left(path, times_ms), seconds)


def _left(path: Path, times_ms: list[float]) -> list[float]:
    """When packets left the link, by when they came less the delay. Those that leave a varying
    link do so on a whole millisecond, and come one after the other within it."""
    if path.varies:
        return [float(math.floor(at)) for at in times_ms]
    return [at - _PASSING_MS for at in times_ms]


def compare(path: Path, times_ms: list[float], seconds: float) -> dict[str, Any]:
    """What left the link until each 100 ms, and in each, against what the rates say."""
    bins = int(seconds * 1000 / STEP_MS)
    counts = [bisect_right(times_ms, k * STEP_MS) for k in range(bins + 1)]
    excess_total = excess_bin = worst_total = worst_bin = 0.0
    base = path.rates.bytes_until(0) / FRAME_BYTES - counts[0]
    for k in range(1, bins + 1):
        whole = path.rates.bytes_until(k * STEP_MS) / FRAME_BYTES
        within = path.rates.bytes_between((k - 1) * STEP_MS, k * STEP_MS) / FRAME_BYTES
        off_total = abs(counts[k] + base - whole)
        off_bin = abs(counts[k] - counts[k - 1] - within)
        worst_total, worst_bin = max(worst_total, off_total), max(worst_bin, off_bin)
        excess_total = max(excess_total, off_total - max(MOST_SHARE * whole, MOST_PACKETS))
        excess_bin = max(excess_bin, off_bin - max(MOST_SHARE * within, MOST_PACKETS))
    return {
        "packets": counts[-1] - counts[0],
        "worst_bin_packets": round(worst_bin, 3),
        "worst_total_packets": round(worst_total, 3),
        "follows": excess_total <= 0 and excess_bin <= 0 and counts[-1] > counts[0],
    }


def _family(net: Network) -> int:
    return socket.AF_INET if net.addresses.ip == 4 else socket.AF_INET6


def _sink(net: Network, path: Path, end_ns: int, channel: Channel) -> None:
    sock = socket.socket(_family(net), socket.SOCK_DGRAM)
    sock.bind((net.addresses.server, _PORT))
    sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    channel.send(event="listening")
    stop = (end_ns + path.delay_ms * 1e6) / 1e9
    # The kernel stamps packets as they come, by the clock of the day.
    ahead_ns = min(_clocks() for _ in range(_CLOCK_LOOKS))[1]
    at = []
    while (left := stop - time.monotonic()) > 0:
        if select.select([sock], [], [], left)[0]:
            _, ancillary, _, _ = sock.recvmsg(1, 64)
            seconds, nanoseconds = struct.unpack("=qq", ancillary[0][2][:16])
            at.append(seconds * 10**9 + nanoseconds - ahead_ns)
    channel.send(event="arrived", at=at)
    channel.receive()


def _clocks() -> tuple[int, int]:
    """How long it took to look at both clocks, and how far the clock of the day was ahead."""
    before_ns, day_ns = time.monotonic_ns(), time.time_ns()
    took_ns = time.monotonic_ns() - before_ns
    return took_ns, day_ns - before_ns - took_ns // 2


def _source(net: Network, path: Path, t0_ns: int, end_ns: int, channel: Channel) -> None:
    """Sends what has left the link by its rates, and a queue that never runs empty."""
    channel.receive()
    sock = socket.socket(_family(net), socket.SOCK_DGRAM)
    sock.bind((net.client_address(path), 0))
    sock.connect((net.addresses.server, _PORT))
    content = bytes(MTU_BYTES - IP_BYTES[net.addresses.ip] - _UDP_BYTES)
    assert len(content) + IP_BYTES[net.addresses.ip] + _UDP_BYTES == FRAME_BYTES - ETHERNET_BYTES
    time.sleep(max(0.0, (t0_ns - time.monotonic_ns()) / 1e9))
    sent = 0
    while (now_ns := time.monotonic_ns()) < end_ns:
        left = path.rates.bytes_until((now_ns - t0_ns) / 1e6)
        while sent * FRAME_BYTES < left + _FILL * path.queue_bytes:
            sock.send(content)
            sent += 1
        time.sleep(_LOOK_SECONDS)
    channel.receive()


def main(spec: File, out: File) -> int:
    cell = cellspec.read(spec)
    out.mkdir(parents=True, exist_ok=True)
    try:
        figures = measure(cell, cell.expected_seconds)
    except MeasurementError as error:
        print(f"testbed: {cell.label}: {error}", file=sys.stderr, flush=True)
        return 1
    raw = {
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "seconds": cell.expected_seconds,
        "paths": figures,
    }
    (out / "raw.json").write_text(json.dumps(raw, indent=1) + "\n")
    (out / "series.csv").touch()
    return 0
