"""The command line. The guest has ``execute`` and ``flood`` alone."""

from __future__ import annotations

import argparse
import signal
import sys
from importlib.util import find_spec
from pathlib import Path as File
from types import FrameType

from . import cell, replay
from .errors import ENTER, MeasurementError, UsageError

_ABOUT = """Measures deadline-aware scheduling over Multipath TCP."""
INSIDE = {
    "execute": "execute one cell on this kernel (what the other commands use)",
    "flood": "measure whether the links of a cell follow their rates, on this kernel",
}


def _parser(host_side: bool) -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="testbed", description=_ABOUT)
    commands = top.add_subparsers(dest="what", required=True, metavar="COMMAND")
    if host_side:
        from . import options

        options.add_commands(commands)
    for word, text in INSIDE.items():
        one = commands.add_parser(word, help=text)
        one.add_argument("spec", type=File, metavar="SPEC.json")
        one.add_argument("--out", type=File, required=True, metavar="DIR")
    return top


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main(arguments: list[str]) -> int:
    # Also if we were started in the background of a shell, which has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    host_side = not set(arguments[:1]) & set(INSIDE)
    try:
        chosen = _parser(host_side).parse_args(arguments)
        if host_side:
            demand_packages()
        if chosen.what == "execute":
            return cell.main(chosen.spec, chosen.out)
        if chosen.what == "flood":
            return replay.main(chosen.spec, chosen.out)
        from . import options

        return options.execute(chosen)
    except UsageError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 2
    except MeasurementError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"testbed: {error if str(error) else type(error).__name__}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("testbed: interrupted", file=sys.stderr)
        return 130


def demand_packages() -> None:
    for name in ("scipy", "rich", "matplotlib"):
        if find_spec(name) is None:
            raise UsageError(f"{name}: package: expected the build environment ({ENTER} ...)")
