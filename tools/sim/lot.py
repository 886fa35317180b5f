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

from testbed import arguments
from testbed.arguments import whole
from testbed.cli import demand_packages
from testbed.errors import UsageError
from testbed.lot import COSTS, MOST, Network, draw
from testbed.scenario import ADAPTIVE, Alpha

from .simulate import PROGRAM, WORKERS, Outcome, Setting, run


def outcomes(networks: list[Network], alpha: Alpha = ADAPTIVE) -> Iterator[Outcome]:
    """What the rule does on each, in their order."""
    setting = Setting(alpha_milli=round(alpha * 1000) if isinstance(alpha, float) else 0, seed=1)

    def one(network: Network) -> Outcome:
        return run(PROGRAM, network.scenario(), network.deadline_ms, setting)

    with ThreadPoolExecutor(WORKERS) as workers:
        yield from workers.map(one, networks)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m sim.lot", description=__doc__)
    parser.add_argument("--seed", type=arguments.seed, default=1, metavar="N", help="default: 1")
    parser.add_argument("--count", type=whole(1, MOST), default=400, metavar="N", help="networks (default: 400)")
    parser.add_argument("--paths", type=whole(2, len(COSTS)), default=2, metavar="N", help="links of each (default: 2)")
    parser.add_argument("--changing", action="store_true", help="one link of each changes")
    parser.add_argument("--alpha", type=arguments.alpha, default=ADAPTIVE, help=f"default: {ADAPTIVE}")
    parser.add_argument("--worst", type=whole(0, MOST), default=10, metavar="N", help="to be listed (default: 10)")
    asked = parser.parse_args(words)
    try:
        demand_packages()
        _show(asked)
    except UsageError as error:
        print(f"sim: {error}", file=sys.stderr)
        return 2
    return 0


def _show(asked: argparse.Namespace) -> None:
    networks = list(draw(asked.seed, asked.count, asked.paths, changing=asked.changing))
    found = list(_watched(outcomes(networks, asked.alpha), asked.count))
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


def _watched(each: Iterable[Outcome], count: int) -> Iterable[Outcome]:
    """With a bar, for people at a terminal."""
    if not sys.stderr.isatty():
        return each
    from rich.console import Console
    from rich.progress import track

    return track(each, total=count, console=Console(stderr=True), transient=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
