"""Paths whose rate changes or that come and go: link.bpf.c and the fq qdisc behind it."""

from __future__ import annotations

import ctypes
import socket
from pathlib import Path as File

from .errors import MeasurementError
from .libbpf import Program
from .netns import Namespace
from .rates import Rates
from .scenario import MOST_WINDOWS, Path

_LINK = "link.bpf.o"
_PLACES = (
    File("/usr/local/lib/mpdpa"),
    File("/usr/lib/mpdpa"),
    File(__file__).resolve().parents[2] / "out/guest/usr/local/lib/mpdpa",
)
_U64 = ctypes.c_uint64


class _Window(ctypes.Structure):
    _fields_ = [("from_ns", _U64), ("to_ns", _U64)]


class _Link(ctypes.Structure):
    """struct link of link.bpf.c."""

    _fields_ = [
        ("start_ns", _U64), ("step_ns", _U64), ("steps", _U64), ("limit_bytes", _U64),
        ("before_bps", _U64), ("delay_ns", _U64), ("windows", _U64), ("up", _Window * MOST_WINDOWS),
        ("position", _U64), ("free_ns", _U64), ("drops", _U64),
    ]  # fmt: skip


def own_object(name: str) -> File:
    """A BPF object by its name, where installed ones are, or as it was built."""
    for place in _PLACES:
        if (place / name).exists():
            return place / name
    raise MeasurementError(f"{name}: not found in {_PLACES[0]}; it is built by: make guest")


class Hop:
    """One direction of a path at one interface: a program tells fq when packets depart."""

    def __init__(
        self, namespace: Namespace, interface: str, program: str, link: _Link, course: bytes
    ) -> None:
        self._program = Program(own_object(_LINK), {"course": len(course) // 8})
        self._program.fill("course", course)
        self._link = link
        self._program.write("links", self._link)
        fq = "fq limit 10000000 flow_limit 10000000 horizon 4000s horizon_cap timer_slack 0"
        namespace.batch("tc", [f"qdisc add dev {interface} root handle 1: {fq}"])
        with namespace:
            self._program.attach_egress(program, socket.if_nametoindex(interface))

    def start(self, t0_ns: int) -> None:
        """From then on rates follow their course, and departures are whole milliseconds."""
        self._program.read("links", self._link)
        self._link.start_ns = t0_ns
        self._program.write("links", self._link)

    @property
    def drops(self) -> int:
        self._program.read("links", self._link)
        return int(self._link.drops)

    def close(self) -> None:
        self._program.close()


class Course(Hop):
    """The rate and its queue."""

    def __init__(self, namespace: Namespace, interface: str, path: Path) -> None:
        rates = path.rates
        link = _Link(
            step_ns=rates.step_ms * 10**6,
            steps=len(rates.bps),
            limit_bytes=path.queue_bytes,
            before_bps=rates.mean_bps,
            windows=len(path.up_ms),
        )
        for window, (from_ms, to_ms) in zip(link.up, path.up_ms, strict=False):
            window.from_ns, window.to_ns = from_ms * 10**6, to_ms * 10**6
        super().__init__(namespace, interface, "depart", link, _carried(rates))


class Delay(Hop):
    """The delay behind it."""

    def __init__(self, namespace: Namespace, interface: str, path: Path) -> None:
        link = _Link(delay_ns=round(path.delay_ms * 10**6))
        super().__init__(namespace, interface, "hold", link, bytes(8))


def _carried(rates: Rates) -> bytes:
    """Bytes that the link has carried at the boundaries of the steps."""
    bits = rates.sums
    whole = (bit * rates.step_ms // 8000 for bit in bits)
    return b"".join(count.to_bytes(8, "little") for count in whole)
