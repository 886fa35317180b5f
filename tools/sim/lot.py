"""
python3 -m sim.lot: what the rule costs on networks that were drawn by lot.

As the testbed draws them, for which the kernel takes a minute each: here hundreds do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean

from rich.console import Console
from rich.progress import track
from testbed.lot import COSTS, Network, draw

from .simulate import PROGRAM, Outcome, Setting, run

WORKERS = 2


def outcomes(networks: list[Network]) -> Iterator[Outcome]:
    """What the rule does on each, in their order."""

    def one(network: Network) -> Outcome:
        return run(PROGRAM, network.scenario(), network.deadline_ms, Setting(seed=1))

    with ThreadPoolExecutor(WORKERS) as workers:
        yield from workers.map(one, networks)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m sim.lot", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--count", type=int, default=400, help="networks (default: 400)")
    parser.add_argument("--paths", type=int, default=2, help="links of each (default: 2)")
    parser.add_argument("--changing", action="store_true", help="one link of each changes")
    parser.add_argument("--worst", type=int, default=10, help="to be listed (default: 10)")
    asked = parser.parse_args()
    if asked.count < 1:
        parser.error(f"--count: {asked.count}: expected 1 or more")
    if not 2 <= asked.paths <= len(COSTS):
        parser.error(f"--paths: {asked.paths}: expected 2 .. {len(COSTS)}")
    if asked.worst < 0:
        parser.error(f"--worst: {asked.worst}: expected 0 or more")
    networks = list(draw(asked.seed, asked.count, asked.paths, changing=asked.changing))
    each: Iterable[Outcome] = outcomes(networks)
    if sys.stderr.isatty():
        each = track(each, total=asked.count, console=Console(stderr=True), transient=True)
    found = list(each)
    chunks = sum(len(out.completion_ms) for out in found)
    print(
        f"{asked.count} networks: {fmean(out.excess for out in found) * 100:.2f} points beyond the"
        f" oracle, {sum(out.avoidable_missed for out in found)} of {chunks} chunks missed that it"
        " would meet"
    )
    worst = sorted(zip(found, networks, strict=True), key=lambda pair: -pair[0].excess)
    for out, network in worst[: asked.worst]:
        missed = f"missed {out.avoidable_missed} of {len(out.completion_ms)}"
        print(f"{out.excess * 100:5.1f} points, {missed}, {network}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
