"""System calls that Python (before 3.12, or at all) does not offer."""

from __future__ import annotations

import ctypes
import os
import signal
import socket

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def unshare_network() -> None:
    _check(_libc.unshare(CLONE_NEWNET), "unshare")


def enter_network(descriptor: int) -> None:
    _check(_libc.setns(descriptor, CLONE_NEWNET), "setns")


def die_with_parent() -> None:
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")


def get_option(sock: socket.socket, level: int, name: int, value: ctypes.Structure) -> int:
    """getsockopt with a value that also carries input; the length that came back."""
    length = ctypes.c_uint32(ctypes.sizeof(value))
    result = _libc.getsockopt(sock.fileno(), level, name, ctypes.byref(value), ctypes.byref(length))
    _check(result, f"getsockopt {level}/{name}")
    return length.value
