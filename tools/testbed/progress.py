"""Shows how far a set of cells is: bars on a terminal, one line per step elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import TaskID


class Display(Protocol):
    """What a campaign tells whoever watches; calls come from several threads."""

    def __enter__(self) -> Display: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def started(self, label: str, seconds: float) -> None: ...
    def advanced(self, label: str, seconds: float) -> None: ...
    def ended(self, label: str, text: str) -> None: ...


class Lines:
    """For logs and pipes."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._expected: dict[str, float] = {}
        self._quarter: dict[str, int] = {}
        self._lock = threading.Lock()  # protects the output's order and _done

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def _say(self, text: str) -> None:
        elapsed = time.monotonic() - self._began
        print(f"{elapsed:6.1f} s  [{self._done}/{self._total}] {text}", flush=True)

    def started(self, label: str, seconds: float) -> None:
        with self._lock:
            self._expected[label] = seconds
            self._quarter[label] = 0
            self._say(f"{label}: booting, then about {seconds:.0f} s of traffic")

    def advanced(self, label: str, seconds: float) -> None:
        with self._lock:
            quarter = int(4 * seconds / self._expected[label])
            if quarter > self._quarter[label]:
                self._quarter[label] = quarter
                self._say(f"{label}: {seconds:.0f} of {self._expected[label]:.0f} s")

    def ended(self, label: str, text: str) -> None:
        with self._lock:
            self._done += 1
            self._say(f"{label}: {text}")


class Bars:
    """For people at a terminal: a bar for each run, filled by the guest's clock."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def started(self, label: str, seconds: float) -> None:
        task = self._progress.add_task(label, total=seconds, state="booting")
        self._tasks[label] = task

    def advanced(self, label: str, seconds: float) -> None:
        task = self._tasks[label]
        total = self._progress.tasks[task].total or seconds
        state = f"{seconds:.0f} of {total:.0f} s in the guest"
        self._progress.update(task, completed=seconds, state=state)

    def ended(self, label: str, text: str) -> None:
        task = self._tasks[label]
        total = self._progress.tasks[task].total
        self._progress.update(task, completed=total, state=text)
        self._progress.stop_task(task)


class Silence(Lines):
    """For commands that say all in one line."""

    def _say(self, text: str) -> None:
        return None


def display(total: int, quiet: bool = False) -> Display:
    if quiet:
        return Silence(total)
    return Bars() if sys.stdout.isatty() else Lines(total)
