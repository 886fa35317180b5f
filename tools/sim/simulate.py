"""Runs scenarios of the testbed in the simulator: seconds for what takes the guest minutes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path as File

from testbed import oracle
from testbed.errors import ENTER, UsageError
from testbed.frames import segment_payload_bytes
from testbed.scenario import CHUNKS, Scenario

_REPOSITORY = File(__file__).resolve().parents[2]
_BUILT = "out/sim/sim"
PROGRAM = _REPOSITORY / _BUILT
STEP_MS = 0.5
CONGESTION = "bbr"
TAIL_MS = 20_000
POLICIES = {"deficit": 0, "threshold": 1}
# runs at a time, for whoever has many
WORKERS = 2


@dataclass(frozen=True)
class Outcome:
    """What one run did, in the terms of results.json."""

    costly_share: float
    first_sent_share: float  # of what was sent first, on costly paths: no retransmissions
    oracle_costly_share: float
    missed: int
    avoidable_missed: int
    activations: int
    completion_ms: tuple[float | None, ...]

    @property
    def excess(self) -> float:
        return self.costly_share - self.oracle_costly_share


@dataclass(frozen=True)
class Setting:
    """Stock MPTCP, or ours with a policy and an alpha (0: adaptive)."""

    stock: bool = False
    policy: str = "deficit"
    alpha_milli: int = 0
    seed: int = 1


@lru_cache(maxsize=4)
def _paths(scenario: Scenario, end_ms: float) -> str:
    """What each path carries in each step, as the simulator reads it: the same for every rule."""
    links = oracle.links_of(scenario)
    lines = [f"paths {len(links)}"]
    for index, (path, link) in enumerate(zip(scenario.paths, links, strict=True)):
        steps = int(end_ms / STEP_MS) if path.varies else 1
        carries = [link.carries(i * STEP_MS, (i + 1) * STEP_MS) for i in range(steps)]
        if path.loss_percent and max(carries) > segment_payload_bytes(scenario.connection.ip, multipath=True):
            raise _refused(scenario, f"path[{index}].loss_percent", f"a link of one packet in {STEP_MS} ms at most")
        lines.append(
            f"path {path.cost} {int(path.delay_ms * 1e6)} {int(path.queue_bytes * link.share)} "
            f"{path.loss_percent / 100:g} {steps}"
        )
        lines.append(" ".join(f"{each:.3f}" for each in carries))
    return "\n".join(lines)


def _refused(scenario: Scenario, key: str, expected: str) -> UsageError:
    return UsageError(f"{scenario.file or scenario.name}: {key}: the simulator expects {expected}")


def _check(scenario: Scenario, setting: Setting) -> None:
    """UsageError at the first thing that is not modelled."""
    if scenario.load.kind != CHUNKS:
        raise _refused(scenario, "load.kind", CHUNKS)
    if scenario.connection.congestion != CONGESTION:
        raise _refused(scenario, "connection.congestion", CONGESTION)
    for index, path in enumerate(scenario.paths):
        if not path.up_at(0):
            raise _refused(scenario, f"path[{index}].up_ms", "all subflows from the start")
        if path.up_ms and setting.stock:
            raise _refused(scenario, f"path[{index}].up_ms", "paths that always work under stock MPTCP")


def _input(scenario: Scenario, deadline_ms: float, setting: Setting) -> str:
    load = scenario.load
    end_ms = load.release_ms(load.chunks - 1) + deadline_ms + TAIL_MS
    lines = [
        f"run {int(end_ms * 1e6)} {scenario.connection.buffer_bytes} {int(setting.stock)} "
        f"{POLICIES[setting.policy]} {setting.alpha_milli} {setting.seed}",
        _paths(scenario, end_ms),
        f"chunks {load.chunks}",
    ]
    for k in range(load.chunks):
        release = load.release_ms(k)
        lines.append(
            f"{load.chunk_bytes} {int(release * 1e6)} {int((release + deadline_ms) * 1e6)}"
        )
    return "\n".join(lines) + "\n"


def run(program: File, scenario: Scenario, deadline_ms: float, setting: Setting) -> Outcome:
    """One run; raises CalledProcessError when the simulator refuses its input.

    Packets are lost on their way to the receiver, acknowledgements are not. What is in a path's
    queue when it stops working waits there; only our scheduler sends it again over another.
    """
    _check(scenario, setting)
    if not program.exists():
        raise UsageError(f"{program}: file: expected it built, by: {ENTER} make {_BUILT}")
    done = subprocess.run(
        [program],
        input=_input(scenario, deadline_ms, setting),
        capture_output=True,
        text=True,
        check=True,
    )
    put, first, activations, times, delivered = [], [], [], [], 0
    for line in done.stdout.splitlines():
        key, *values = line.split()
        if key == "delivered":
            delivered = int(values[0])
        elif key == "path":
            put.append(int(values[0]))
            first.append(int(values[1]))
            activations.append(int(values[2]))
        else:
            times.append(int(values[0]) / 1e6 or None)
    verdict = oracle.of(scenario, deadline_ms)
    costly = [scenario.is_costly(p) for p in scenario.paths]
    late = [
        t is None or t > scenario.load.release_ms(k) + deadline_ms for k, t in enumerate(times)
    ]
    return Outcome(
        costly_share=sum(b for b, c in zip(put, costly, strict=True) if c) / delivered,
        first_sent_share=sum(b for b, c in zip(first, costly, strict=True) if c) / sum(first),
        oracle_costly_share=verdict.costly_share,
        missed=sum(late),
        avoidable_missed=sum(m and x for m, x in zip(verdict.meetable, late, strict=True)),
        activations=sum(a for a, c in zip(activations, costly, strict=True) if c),
        completion_ms=tuple(times),
    )


def run_each(
    program: File, scenario: Scenario, deadline_ms: float, setting: Setting, seeds: Iterable[int]
) -> list[Outcome]:
    """A run of each seed, whatever seed the setting has; in their order."""

    def one(seed: int) -> Outcome:
        return run(program, scenario, deadline_ms, replace(setting, seed=seed))

    with ThreadPoolExecutor(WORKERS) as workers:
        return list(workers.map(one, seeds))
