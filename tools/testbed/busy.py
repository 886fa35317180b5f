"""How long the processors worked, of a time: see busy.bpf.c. By the virtual clock a nanosecond is
an instruction."""

from __future__ import annotations

import ctypes
import os
import time

from . import course
from .libbpf import Program

_PROGRAMS = ("idle", "timer", "reschedule", "call", "device")


class _Processor(ctypes.Structure):
    """struct processor of busy.bpf.c."""

    _fields_ = [("since_ns", ctypes.c_uint64), ("idle_ns", ctypes.c_uint64)]


class Busy:
    """All processors together, from ``start`` to ``stop``. A context: leaving it ends all."""

    def __init__(self) -> None:
        self.counted_ns = 0
        self._count = os.cpu_count() or 1
        self._program = Program(course.own_object("busy.bpf.o"), {"processors": self._count})
        for name in _PROGRAMS:
            self._program.attach(name)

    def __enter__(self) -> Busy:
        return self

    def __exit__(self, *_: object) -> None:
        self._program.close()

    def start(self) -> None:
        self.counted_ns = -self._worked_ns()

    def stop(self) -> None:
        self.counted_ns += self._worked_ns()

    def _worked_ns(self) -> int:
        """Since some time in the past."""
        now_ns, sum_ns = time.monotonic_ns(), 0
        for number in range(self._count):
            own = _Processor()
            self._program.read("processors", own, number)
            idle_now_ns = max(0, now_ns - own.since_ns) if own.since_ns else 0
            sum_ns += now_ns - own.idle_ns - idle_now_ns
        return sum_ns
