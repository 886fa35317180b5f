"""Network namespaces without names: the kernel removes them when the last user is gone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from . import libc
from .errors import MeasurementError

_OWN = "/proc/thread-self/ns/net"


class Namespace:
    """A network namespace held open by a descriptor; ``with`` enters it."""

    def __init__(self, role: str) -> None:
        self.role = role
        self._outer: list[int] = []
        before = os.open(_OWN, os.O_RDONLY)
        try:
            libc.unshare_network()
            self._descriptor = os.open(_OWN, os.O_RDONLY)
        finally:
            libc.enter_network(before)
            os.close(before)

    @property
    def path(self) -> str:
        """Under which other processes reach it, as ``ip link ... netns`` wants it."""
        return f"/proc/{os.getpid()}/fd/{self._descriptor}"

    @property
    def inode(self) -> int:
        """By which the kernel tells it from others."""
        return os.fstat(self._descriptor).st_ino

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Namespace:
        self._outer.append(os.open(_OWN, os.O_RDONLY))
        libc.enter_network(self._descriptor)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        before = self._outer.pop()
        libc.enter_network(before)
        os.close(before)

    def run(self, *command: str, stdin: str | None = None) -> str:
        """Runs a command inside; its output."""
        with self:
            try:
                done = subprocess.run(command, input=stdin, capture_output=True, text=True)
            except OSError as error:
                raise MeasurementError(f"{command[0]}: {error.strerror}") from None
        if done.returncode:
            reason = " ".join(done.stderr.split()) or f"exit status {done.returncode}"
            raise MeasurementError(f"{self.role}: {' '.join(command)}: {reason}")
        return done.stdout

    def batch(self, tool: str, lines: Iterable[str], *options: str) -> None:
        """Many commands of ip or tc with one process."""
        text = "\n".join(lines)
        if text:
            self.run(tool, *options, "-batch", "-", stdin=text + "\n")

    def sysctl(self, name: str, value: str | int) -> None:
        file = Path("/proc/sys") / name.replace(".", "/")
        with self:
            try:
                file.write_text(f"{value}\n")
            except OSError as error:
                raise MeasurementError(f"{name}={value}: {error.strerror}") from None

    def read_sysctl(self, name: str) -> str | None:
        file = Path("/proc/sys") / name.replace(".", "/")
        with self:
            return file.read_text().strip() if file.exists() else None
