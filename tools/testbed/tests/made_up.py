"""A transfer that was made up so that each figure is known beforehand."""

from __future__ import annotations

import json
from typing import Any

from testbed import guestrun
from testbed.cellspec import Cell
from testbed.results import Finished
from testbed.score import Score


def counts(sent: int, wire: int, resent: int = 0, reinjected: int = 0) -> dict[str, int]:
    return {
        "sent_bytes": sent,
        "acked_bytes": sent - resent,
        "tcp_resent_bytes": resent,
        "reinjected_bytes": reinjected,
        "activations": 3,
        "segments": sent // 1400,
        "wire_bytes": wire,
        "drops": 7,
    }


def raw() -> dict[str, Any]:
    """Chunk 4 late by a nanosecond; 15 of 60 MB over C, and 1.5 MB sent twice there."""
    return {
        "kernel": "7.2.12-x",
        "completion_ns": [8 * 10**9] * 4 + [10**10 + 1, 10**10],
        "delivered_bytes": 60_000_000,
        "written_bytes": 60_000_000,
        "altered_at": None,
        "short_of_memory": 0,
        "busy_ns": 240_000_000,
        "kernel_chunks": {"met": 6, "missed": 0, "decisions": 9},
        "paths": {
            "P": counts(45_600_000, 48_000_000, resent=600_000),
            "C": counts(16_500_000, 18_000_000, resent=500_000, reinjected=1_000_000),
        },
    }


def plan(cells: dict[str, str]) -> str:
    """Of a campaign: what each cell needs, by its label."""
    machine = {"kind": guestrun.VIRTUAL, "kernel": None, "overlays": []}
    runs = [{"measured": label, "deadline_ms": None} for label in cells]
    memory = dict.fromkeys(cells, 1500)
    return json.dumps(
        {"command": "c", "machine": machine, "cells": cells, "memory_mb": memory, "runs": runs}
    )


def finished(cell: Cell, took_ms: float, *, avoidable: int, share: float) -> Finished:
    """A run of one chunk, of which the oracle puts 40 % on costly paths."""
    score = Score(
        completion_ms=(took_ms,),
        missed=avoidable,
        missed_kernel=None,
        missed_own=None,
        avoidable_missed=avoidable,
        delivered_bytes=5_000_000,
        paths=(),
        costly_share=share,
        costly_activations=1,
        oracle_costly_share=0.4,
        overhead=0.07,
        busy_ns=None,
    )
    return Finished(cell, score, None)
