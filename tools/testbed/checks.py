"""Questions every run must answer with yes before anything is concluded from it."""

from __future__ import annotations

from typing import Any

from .cellspec import Cell
from .errors import MeasurementError
from .frames import segment_payload_bytes


def _demand(good: bool, text: str) -> None:
    if not good:
        raise MeasurementError(f"self-check: {text}")


def check(cell: Cell, raw: dict[str, Any]) -> None:
    """MeasurementError at the first figure that contradicts another."""
    load, paths = cell.scenario.load, raw["paths"]
    delivered = raw["delivered_bytes"]
    _demand(delivered == load.total_bytes, f"{delivered} of {load.total_bytes} bytes delivered")
    _demand(raw["written_bytes"] == delivered, "bytes written differ from bytes delivered")
    altered_at = raw["altered_at"]
    _demand(altered_at is None, f"the stream changed on its way, first at byte {altered_at}")
    # Under pressure the kernel throws away what came out of order, and a socket that can be
    # written to takes nothing: what was measured then is the machine's memory.
    _demand(
        raw["short_of_memory"] == 0,
        "TCP ran short of memory; expected net.ipv4.tcp_mem to admit full buffers at both ends",
    )
    names = [path.name for path in cell.used_paths]
    _demand(list(paths) == names, f"paths {list(paths)} instead of {names}")
    _check_first_sent(paths, delivered)
    largest = segment_payload_bytes(cell.scenario.connection.ip, multipath=cell.multipath)
    for name, counts in paths.items():
        sent, wire = counts["sent_bytes"], counts["wire_bytes"]
        _demand(wire >= sent, f"{name}: {wire} bytes on the wire for {sent} of payload")
        _demand(counts["acked_bytes"] <= sent, f"{name}: more acknowledged than sent")
        _demand(
            counts["segments"] * largest >= sent,
            f"{name}: segments of more than {largest} bytes: queues did not see real packets",
        )


def first_sent(counts: dict[str, int]) -> int:
    """Bytes of a path that had not been sent before on any."""
    return counts["sent_bytes"] - counts["tcp_resent_bytes"] - counts["reinjected_bytes"]


def _check_first_sent(paths: dict[str, dict[str, int]], delivered: int) -> None:
    total = sum(first_sent(counts) for counts in paths.values())
    _demand(
        total == delivered,
        f"bytes sent for the first time on all paths are {total}, delivered {delivered}",
    )
