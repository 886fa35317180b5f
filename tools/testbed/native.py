"""For runs on this kernel: what was built here comes before what is installed, and goes again."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as File

from .cellspec import Cell
from .errors import MeasurementError, UsageError
from .scenario import MPDPA
from .schedulers import LOADED, MODULE

BUILT = File(__file__).resolve().parents[2] / "out"
# A connection that is closed, but not over, keeps the module for a minute.
_PATIENCE_SECONDS = 90


def path() -> str:
    """Of a run's environment: the command that was built here comes first."""
    return f"{BUILT / 'bin'}:{os.environ['PATH']}"


@contextmanager
def module(cell: Cell) -> Iterator[None]:
    """Loaded if the cell wants it. One that somebody else has loaded stays; if there is one that
    was built here, that is refused, because nobody could tell which one was measured."""
    if cell.scheduler != MPDPA and cell.kind.object is None:
        yield
        return
    file = BUILT / "module" / platform.release() / f"{MODULE}.ko"
    if LOADED.exists():
        if file.exists():
            raise UsageError(f"{MODULE}: --vm no: expected it not to be loaded, to load {file}")
        yield
        return
    _do(*(("insmod", str(file)) if file.exists() else ("modprobe", MODULE)))
    try:
        yield
    finally:
        _remove()


def _remove() -> None:
    """What was measured is worth something even if it stays."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            _do("rmmod", MODULE)
            return
        except MeasurementError as error:
            if time.monotonic() > until:
                print(f"testbed: {error}", file=sys.stderr)
                return
        time.sleep(0.2)


def _do(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise MeasurementError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        raise MeasurementError(" ".join(done.stderr.split()) or f"{' '.join(command)}: failed")
