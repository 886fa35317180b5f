"""Scenarios over a folder of recorded traces: the drives' loads, halved, over every pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path as File

from . import rates, scenariofile
from .errors import UsageError
from .rates import Rates
from .scenario import Scenario

_MODELS = ("bulk-drive-highway", "stream-drive-highway")
_SUFFIXES = (".down", ".up", ".trace", ".mahimahi")
# Recorded links carry less than those of the made-up drives.
_LESS = 2


def scenarios(folder: File) -> list[Scenario]:
    """``bulk-drive-real`` and ``stream-drive-real``; with several pairs each has a number.

    Of two traces the slower one is the preferred path's.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: --traces: expected a folder of mahimahi traces")
    files = sorted(file for file in folder.iterdir() if file.suffix in _SUFFIXES)
    if len(files) < 2:
        raise UsageError(f"{folder}: --traces: expected two files named *{', *'.join(_SUFFIXES)}")
    read = {file.name: rates.from_trace(file) for file in files}
    order = sorted(read, key=lambda name: read[name].mean_bps)
    pairs = list(combinations(order, 2))
    found = []
    for number, (slow, fast) in enumerate(pairs, 1):
        name = "real" if len(pairs) == 1 else f"real{number}"
        found += [_scenario(model, name, {slow: read[slow], fast: read[fast]}) for model in _MODELS]
    return found


def _scenario(model: str, name: str, traces: dict[str, Rates]) -> Scenario:
    base = scenariofile.find(model)
    paths = tuple(
        replace(
            path,
            trace=trace,
            rates=shape,
            queue_bytes=scenariofile.queue_bytes(shape),
        )
        for path, (trace, shape) in zip(base.paths, traces.items(), strict=True)
    )
    shortest_ms = min(shape.period_ms for shape in traces.values())
    load = replace(
        base.load,
        chunk_bytes=base.load.chunk_bytes // _LESS,
        chunks=max(1, shortest_ms // base.load.period_ms),
    )
    return replace(
        base,
        name=base.name.replace("highway", name),
        title=f"{base.title.split(' on ')[0]}, as recorded: {' and '.join(traces)}",
        load=load,
        paths=paths,
        file="",
    )
