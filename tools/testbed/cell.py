"""Executes one cell on the running kernel and leaves ``raw.json`` and ``series.csv``."""

from __future__ import annotations

import json
import os
import platform
import select
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path as File
from typing import Any

from . import cellspec, checks, command, crowd, kernelinfo
from .busy import Busy
from .cellspec import Cell
from .child import Channel, Child, Message
from .crowd import CrowdReceiver, CrowdSender
from .errors import MeasurementError
from .receiver import Receiver
from .scenario import COMMAND, CROWD, REQUESTS
from .schedulers import scheduler
from .sender import Sender
from .topology import Network, drops, endpoint, network

# Lines on standard output that a runner on the host's side follows.
PROGRESS = "testbed: progress"
_SETUP_SECONDS = 60
_USUAL_BUFFER_BYTES = 4 << 20
_GRACE_SECONDS = 60


def execute(cell: Cell, out: File) -> None:
    """Runs it; MeasurementError if it failed or its figures contradict each other."""
    out.mkdir(parents=True, exist_ok=True)
    with network(cell) as net:
        _configure_hosts(net)
        commanded = cell.scenario.load.kind == COMMAND
        with scheduler(cell, (net.client, net.server) if commanded else (net.client,)):
            raw = _command(net, out) if commanded else _transfer(net, out)
    text = json.dumps(raw, indent=1) + "\n"
    (out / "raw.json").write_text(text)
    if not commanded:
        checks.check(cell, raw)


def _command(net: Network, out: File) -> dict[str, Any]:
    """A command is one chunk, complete when it ends well."""
    print(f"{PROGRESS} 0", flush=True)
    _, measured = command.Load(net, out).run()
    ended_ns = measured["ended_ns"]
    completion_ns = [ended_ns] * net.cell.scenario.load.chunks
    return {
        "label": net.cell.label,
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "seconds": round(ended_ns / 1e9, 3),
        "completion_ns": completion_ns,
        "delivered_bytes": measured["delivered_bytes"],
        "kernel_chunks": None,
        "own_missed": None,
        "paths": command.raw_paths(net, measured),
    }


def _configure_hosts(net: Network) -> None:
    congestion = net.cell.scenario.connection.congestion
    size = net.cell.scenario.connection.buffer_bytes
    for host in (net.client, net.server):
        host.sysctl("net.ipv4.tcp_congestion_control", congestion)
        # The window's scale follows from it.
        if size > _USUAL_BUFFER_BYTES:
            host.sysctl("net.ipv4.tcp_rmem", f"4096 131072 {size}")


def _send(net: Network, out: File, channel: Channel) -> None:
    paths = net.cell.used_paths
    path_of = {net.client_address(path): path.name for path in paths}
    kind = CrowdSender if net.cell.scenario.load.kind == CROWD else Sender
    kind(net.cell, net.addresses.server, path_of, out, channel).run()


def _receive(net: Network, channel: Channel) -> None:
    kind = CrowdReceiver if net.cell.scenario.load.kind == CROWD else Receiver
    kind(net.cell, net.addresses.server, channel).run()


def _transfer(net: Network, out: File) -> dict[str, Any]:
    cell = net.cell
    in_crowd = cell.scenario.load.kind == CROWD
    if in_crowd:
        crowd.allow_files(cell.scenario.load.chunks)
    with ExitStack() as stack:
        busy = stack.enter_context(Busy()) if in_crowd else None
        receiver = Child("receiver", net.server, partial(_receive, net))
        stack.callback(receiver.stop)
        receiver.expect("listening", _SETUP_SECONDS)
        sender = Child("sender", net.client, partial(_send, net, out))
        stack.callback(sender.stop)
        patience = _SETUP_SECONDS + (cell.scenario.load.chunks if in_crowd else 0)
        t0_ns = sender.expect("started", patience)["t0_ns"]
        net.start(t0_ns)
        if busy:
            busy.start()
        print(f"{PROGRESS} 0", flush=True)
        delivered, measured = _follow(net, t0_ns, receiver, sender, busy)
        dropped = {path.name: drops(net, path) for path in cell.used_paths}
    if in_crowd:
        delivered = crowd.in_order(cell, delivered, measured["ports"])
    raw = _raw(cell, t0_ns, delivered, measured, dropped)
    busy_ns = busy.counted_ns if busy else None
    return raw | {"short_of_memory": _short_of_memory(net), "busy_ns": busy_ns}


def _short_of_memory(net: Network) -> int:
    """How often TCP was, at either end."""
    times = 0
    for host in (net.client, net.server):
        with host:
            times += kernelinfo.tcp_counter("TCPMemoryPressures")
    return times


def _follow(
    net: Network, t0_ns: int, receiver: Child, sender: Child, busy: Busy | None
) -> tuple[Message, Message]:
    """Until the sender has measured all, with the receiver's result handed on to it.

    Meanwhile paths that come up late are announced.
    """
    cell = net.cell
    late = sorted((p for p in cell.used_paths if not p.up_at(0)), key=lambda p: p.up_ms[0][0])
    end = time.monotonic() + cell.expected_seconds * 2 + _GRACE_SECONDS
    delivered: Message | None = None
    while True:
        channels = [sender.channel, *([] if delivered else [receiver.channel])]
        up = (t0_ns + late[0].up_ms[0][0] * 10**6) / 1e9 if late else end
        ready = select.select(channels, [], [], max(0, min(up, end) - time.monotonic()))[0]
        if late and time.monotonic() >= up:
            net.client.batch("ip", [endpoint(net, late.pop(0))])
            continue
        if not ready:
            raise MeasurementError("no end in sight: the transfer stalled")
        if receiver.channel in ready:
            delivered = receiver.expect("delivered", 1)
            if busy:
                busy.stop()
            sender.channel.send(event="delivered")
        if sender.channel in ready:
            message = sender.channel.receive(1)
            if message and message.get("event") == "progress":
                print(f"{PROGRESS} {message['seconds']}", flush=True)
                continue
            return _final(sender, message, delivered)


def _final(
    sender: Child, message: Message | None, delivered: Message | None
) -> tuple[Message, Message]:
    if message and message.get("event") == "measured" and delivered is not None:
        return delivered, message
    reason = message.get("error", message) if message else "ended too early"
    raise MeasurementError(f"{sender.role}: {reason}")


def _raw(
    cell: Cell, t0_ns: int, delivered: Message, measured: Message, dropped: dict[str, int]
) -> dict[str, Any]:
    release_ms = cell.scenario.load.release_ms
    completion_ns: list[int | None] = [
        at_ns - t0_ns - release_ms(chunk) * 10**6
        for chunk, at_ns in enumerate(delivered["completed_ns"])
    ]
    if cell.scenario.load.kind == REQUESTS:
        completion_ns = measured["answered_ns"]
    completion_ns += [None] * (cell.scenario.load.chunks - len(completion_ns))
    paths = {
        name: {**counts, "wire_bytes": measured["wire_bytes"][name], "drops": dropped[name]}
        for name, counts in measured["paths"].items()
    }
    return {
        "label": cell.label,
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "seconds": round(measured["ended_ns"] / 1e9, 3),
        "completion_ns": completion_ns,
        "delivered_bytes": delivered["bytes"],
        "written_bytes": measured["written_bytes"],
        "altered_at": delivered["altered_at"],
        "kernel_chunks": measured["kernel_chunks"],
        "own_missed": measured["own_missed"],
        "paths": paths,
    }


def main(spec: File, out: File) -> int:
    cell = cellspec.read(spec)
    try:
        execute(cell, out)
    except MeasurementError as error:
        print(f"testbed: {cell.label}: {error}", file=sys.stderr, flush=True)
        return 1
    return 0
