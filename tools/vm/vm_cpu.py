"""A processor for a guest to stay on, so that no two guests share one.

In virtual time QEMU's processor thread and its main loop take turns at every timer of the guest.
Across processors each turn is a wake-up by interrupt; on one it is a switch of threads. Whom one of
them wakes should wait for its turn, which is what batch scheduling is for: otherwise it begins at
once, only to wait for a lock that the other still holds.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The build environment has a /tmp of its own for every command, but the machine's /dev.
_SHARED = Path("/dev/shm")


def folder() -> Path:
    """Of lock files, for all runners of a user."""
    base = _SHARED if _SHARED.is_dir() else Path(tempfile.gettempdir())
    return base / f"mpdpa-cpus-{os.getuid()}"


@contextmanager
def claimed(locks: Path | None = None) -> Iterator[int | None]:
    """A processor that we may run on and nobody else has claimed, or None if there is none.

    It is free again when the caller leaves, or ends for whatever reason.
    """
    locks = locks or folder()
    for cpu in sorted(os.sched_getaffinity(0)):
        descriptor = _lock(locks, cpu)
        if descriptor is not None:
            try:
                yield cpu
            finally:
                os.close(descriptor)
            return
    yield None


@contextmanager
def staying_on(cpu: int | None) -> Iterator[None]:
    """What is started meanwhile stays on that processor, threads included, as a batch job."""
    if cpu is None:
        yield
        return
    processors, policy = os.sched_getaffinity(0), os.sched_getscheduler(0)
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, os.sched_param(0))
        os.sched_setaffinity(0, processors)


def _lock(locks: Path, cpu: int) -> int | None:
    """The descriptor that holds it; None if somebody else does, or the folder is not ours."""
    try:
        locks.mkdir(mode=0o700, exist_ok=True)
        if locks.stat().st_uid != os.getuid():
            return None
        descriptor = os.open(locks / str(cpu), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
