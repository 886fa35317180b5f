"""Brings the wanted scheduler into force for a cell, and takes it away if we loaded it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as File

from .cellspec import Cell
from .course import own_object
from .errors import MeasurementError
from .netns import Namespace
from .scenario import MPDPA

MODULE = "mptcp_dpa"
LOADED = File("/sys/module") / MODULE
_GUEST_MODULE = File("/usr/local/lib/mpdpa/mptcp_dpa.ko")
_SCHEDULER = "net.mptcp.scheduler"


@contextmanager
def scheduler(cell: Cell, hosts: tuple[Namespace, ...]) -> Iterator[None]:
    """For connections that these hosts open meanwhile; the client comes first."""
    client = hosts[0]
    wanted = cell.scheduler
    if wanted is None:
        yield
        return
    loadable = wanted == MPDPA or cell.kind.object is not None
    ours = loadable and not _available(client, wanted)
    if ours:
        _insert(client, cell.kind.object)
    try:
        if not _available(client, wanted):
            known = client.read_sysctl("net.mptcp.available_schedulers")
            raise MeasurementError(f"scheduler {wanted}: not available (there are: {known})")
        for host in hosts:
            host.sysctl(_SCHEDULER, wanted)
            _configure(cell, host)
        yield
    finally:
        if ours:
            client.run("mpdpa", "unload", wanted)


def _available(client: Namespace, name: str) -> bool:
    known = client.read_sysctl("net.mptcp.available_schedulers") or ""
    return name in known.split()


def _insert(client: Namespace, name: str | None) -> None:
    # on this kernel it was loaded before: see native.py
    if not LOADED.exists():
        client.run("insmod", str(_GUEST_MODULE))
    client.run("mpdpa", "load", *(["--object", str(own_object(name))] if name else []))


def _configure(cell: Cell, host: Namespace) -> None:
    for name, value in cell.sysctls:
        host.sysctl(name, value)
    if cell.kind.costs:
        for path in cell.scenario.paths:
            host.run("mpdpa", "path", "set", "dev", path.name, "cost", str(path.cost))
