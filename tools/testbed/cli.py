"""The command line. The guest has ``cell`` alone; the rest is imported on the host's side."""

from __future__ import annotations

import argparse
import signal
import sys
from importlib.util import find_spec
from pathlib import Path as File
from types import FrameType

from . import cell
from .errors import MeasurementError, UsageError

_ABOUT = """Measures deadline-aware scheduling over Multipath TCP."""


def _parser(host_side: bool) -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="testbed", description=_ABOUT)
    commands = top.add_subparsers(dest="what", required=True, metavar="COMMAND")
    if host_side:
        from . import options

        options.add_commands(commands)
    one = commands.add_parser("cell", help="execute one cell on this kernel (what runs use)")
    one.add_argument("spec", type=File, metavar="SPEC.json")
    one.add_argument("--out", type=File, required=True, metavar="DIR")
    return top


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main(arguments: list[str]) -> int:
    # Also if we were started in the background of a shell, which has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    host_side = arguments[:1] != ["cell"]
    try:
        if host_side:
            _demand_packages()
        chosen = _parser(host_side).parse_args(arguments)
        if chosen.what == "cell":
            return cell.main(chosen.spec, chosen.out)
        from . import options

        return options.execute(chosen)
    except UsageError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 2
    except MeasurementError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("testbed: interrupted", file=sys.stderr)
        return 130


def _demand_packages() -> None:
    for name in ("scipy", "rich", "matplotlib"):
        if find_spec(name) is None:
            raise UsageError(
                f"{name}: package: expected the build environment (tools/vm/buildenv run -- ...)"
            )
