"""The command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path as File

from .errors import MeasurementError, UsageError


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="testbed", description=__doc__)
    commands = top.add_subparsers(dest="what", required=True, metavar="COMMAND")
    cell = commands.add_parser("cell", help="execute one cell on this kernel (root)")
    cell.add_argument("spec", type=File, metavar="SPEC.json")
    cell.add_argument("--out", type=File, required=True, metavar="DIR")
    return top


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    try:
        if options.what == "cell":
            from . import cell

            return cell.main(options.spec, options.out)
    except UsageError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 2
    except MeasurementError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 1
    return 0
