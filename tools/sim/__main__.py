"""python3 -m sim [SCENARIO...]: scenarios in the simulator, a line for each deadline and rule."""

from __future__ import annotations

import argparse
import sys

from testbed import scenariofile
from testbed.cli import demand_packages
from testbed.errors import UsageError
from testbed.scenario import CHUNKS, Scenario

from .simulate import PROGRAM, Outcome, Setting, run

RULES = {
    "stock": Setting(stock=True),
    "threshold 1": Setting(policy="threshold", alpha_milli=1000),
    "threshold 0.8": Setting(policy="threshold", alpha_milli=800),
    "deficit": Setting(),
}


def _line(scenario: Scenario, deadline_ms: float, rule: str, out: Outcome, stock: Outcome) -> str:
    gain = stock.costly_share - out.oracle_costly_share
    eta = f"{(stock.costly_share - out.costly_share) / gain:5.2f}" if gain > 0 else "    -"
    return (
        f"{scenario.name:20} {deadline_ms / 1000:5.1f} s  {rule:13} costly {out.costly_share:6.1%}"
        f"  oracle {out.oracle_costly_share:6.1%}  excess {out.excess * 100:5.1f}  eta {eta}"
        f"  missed {out.missed} (avoidable {out.avoidable_missed})"
        f"  activations {out.activations / scenario.load.chunks:.1f} a chunk"
    )


def _show(scenario: Scenario) -> None:
    for deadline_ms in (*scenario.plan.deadline_ms, *scenario.plan.limit_deadline_ms):
        stock = run(PROGRAM, scenario, deadline_ms, RULES["stock"])
        for rule, setting in RULES.items():
            out = stock if setting.stock else run(PROGRAM, scenario, deadline_ms, setting)
            print(_line(scenario, deadline_ms, rule, out, stock), flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m sim", description="What the rules do, in the simulator.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="a name or a .toml file; default: all")
    names = parser.parse_args(arguments).scenarios
    try:
        demand_packages()
        for scenario in map(scenariofile.find, names or scenariofile.names()):
            if scenario.load.kind == CHUNKS:
                _show(scenario)
            elif names:
                raise UsageError(f"{scenario.name}: load.kind: expected {CHUNKS}")
    except UsageError as error:
        print(f"sim: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
