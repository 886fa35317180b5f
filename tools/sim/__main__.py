"""python3 -m sim [SCENARIO...]: scenarios in the simulator, a line for each deadline and rule."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, fields
from statistics import fmean

from testbed import scenariofile
from testbed.arguments import whole
from testbed.cli import demand_packages
from testbed.errors import UsageError
from testbed.scenario import CHUNKS, Scenario

from .simulate import PROGRAM, Outcome, Setting, run_each

RULES = {
    "stock": Setting(stock=True),
    "threshold 1": Setting(policy="threshold", alpha_milli=1000),
    "threshold 0.8": Setting(policy="threshold", alpha_milli=800),
    "deficit": Setting(),
}
MOST_SEEDS = 1000


@dataclass(frozen=True)
class Mean:
    """Of an Outcome what runs of some seeds did on average."""

    costly_share: float
    oracle_costly_share: float
    excess: float
    missed: float
    avoidable_missed: float
    activations: float


def _mean(outcomes: list[Outcome]) -> Mean:
    return Mean(*(fmean(getattr(out, field.name) for out in outcomes) for field in fields(Mean)))


def _count(mean: float) -> str:
    return f"{round(mean, 1):g}"


def _line(scenario: Scenario, deadline_ms: float, rule: str, out: Mean, stock: Mean) -> str:
    gain = stock.costly_share - out.oracle_costly_share
    eta = f"{(stock.costly_share - out.costly_share) / gain:5.2f}" if gain > 0 else "    -"
    return (
        f"{scenario.name:20} {deadline_ms / 1000:5.1f} s  {rule:13} costly {out.costly_share:6.1%}"
        f"  oracle {out.oracle_costly_share:6.1%}  excess {out.excess * 100:5.1f}  eta {eta}"
        f"  missed {_count(out.missed)} (avoidable {_count(out.avoidable_missed)})"
        f"  activations {out.activations / scenario.load.chunks:.1f} a chunk"
    )


def _show(scenario: Scenario, seeds: int) -> None:
    def seen(deadline_ms: float, setting: Setting) -> Mean:
        return _mean(run_each(PROGRAM, scenario, deadline_ms, setting, range(1, seeds + 1)))

    for deadline_ms in (*scenario.plan.deadline_ms, *scenario.plan.limit_deadline_ms):
        stock = seen(deadline_ms, RULES["stock"])
        for rule, setting in RULES.items():
            out = stock if setting.stock else seen(deadline_ms, setting)
            print(_line(scenario, deadline_ms, rule, out, stock), flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m sim", description="What the rules do, in the simulator.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="a name or a .toml file; default: all")
    parser.add_argument(
        "--seeds", type=whole(1, MOST_SEEDS), default=1, metavar="N", help="means of so many runs (default: 1)"
    )
    asked = parser.parse_args(arguments)
    names = asked.scenarios
    try:
        demand_packages()
        for scenario in map(scenariofile.find, names or scenariofile.names()):
            if scenario.load.kind == CHUNKS:
                _show(scenario, asked.seeds)
            elif names:
                raise UsageError(f"{scenario.name}: load.kind: expected {CHUNKS}")
    except UsageError as error:
        print(f"sim: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
