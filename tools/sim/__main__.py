"""python3 -m sim [SCENARIO...]: the scenarios' cells in the simulator, one line each."""

from __future__ import annotations

import sys
from pathlib import Path as File

from testbed import scenariofile as scenarios

from .simulate import Setting, run

PROGRAM = File("out/sim/sim")
ROWS = {
    "stock": Setting(stock=True),
    "threshold 1": Setting(policy="threshold", alpha_milli=1000),
    "threshold 0.8": Setting(policy="threshold", alpha_milli=800),
    "deficit": Setting(),
}


def main(words: list[str]) -> int:
    rows = {k: v for k, v in ROWS.items() if not [w for w in words if w.startswith("-")] or f"-{k[0]}" in words}
    names = [w for w in words if not w.startswith("-")] or scenarios.names()
    for name in names:
        scenario = scenarios.find(name)
        for deadline_ms in (*scenario.plan.deadline_ms, *scenario.plan.limit_deadline_ms):
            stock = None
            for row, setting in rows.items():
                out = run(PROGRAM, scenario, deadline_ms, setting)
                if setting.stock:
                    stock = out.costly_share
                gain = stock - out.oracle_costly_share if stock is not None else 0
                eta = f"{(stock - out.costly_share) / gain:5.2f}" if gain > 0 else "    -"
                print(
                    f"{name:16} {deadline_ms / 1000:5.1f} s  {row:14} costly {out.costly_share:6.1%}"
                    f"  oracle {out.oracle_costly_share:6.1%}  excess {out.excess * 100:5.1f}"
                    f"  eta {eta}  missed {out.missed} (avoidable {out.avoidable_missed})"
                    f"  activations {out.activations / scenario.load.chunks:.1f}/chunk",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
