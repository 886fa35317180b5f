# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""libmpdpa as ctypes sees it: structures, prototypes, errors."""

from __future__ import annotations

import ctypes
import errno
import functools
import operator
import os
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any, Protocol

from .constants import PATHS_MAX, PREFS_MAX

SONAME = "libmpdpa.so.0"


class HasFileno(Protocol):
    """A socket.socket, or anything else that knows its file descriptor."""

    def fileno(self) -> int: ...


SocketLike = HasFileno | int
Buffer = bytes | bytearray | memoryview


class MpdpaError(OSError):
    """An error of the library or the kernel; errno says which."""


def whole(value: int, bits: int, what: str) -> int:
    """A number that fits; ctypes would drop the bits that do not."""
    if not 0 <= operator.index(value) < 1 << bits:
        raise OverflowError(f"{what} is {value}, not 0 to {(1 << bits) - 1}")
    return value


class Struct(ctypes.Structure):
    """A structure whose unsigned numbers do not wrap."""

    def __setattr__(self, name: str, value: Any) -> None:
        for field, kind, *_ in self._fields_:
            if field == name and kind in (c_uint32, c_uint64):
                whole(value, 8 * ctypes.sizeof(kind), name)
        super().__setattr__(name, value)


class ChunkStruct(Struct):
    _fields_ = [
        ("length", c_uint64),
        ("deadline_ns", c_uint64),
        ("cookie", c_uint64),
        ("alpha_milli", c_uint32),
        ("flags", c_uint32),
    ]


class StreamStruct(Struct):
    _fields_ = [
        ("interval_ns", c_uint64),
        ("deadline_ns", c_uint64),
        ("expected_bytes", c_uint64),
        ("alpha_milli", c_uint32),
        ("flags", c_uint32),
    ]


class PathInfoStruct(Struct):
    _fields_ = [
        ("subflow_id", c_uint32),
        ("local_id", c_uint32),
        ("cost", c_uint32),
        ("flags", c_uint32),
        ("goodput", c_uint64),
        ("bytes_sent", c_uint64),
        ("bytes_acked", c_uint64),
        ("activations", c_uint32),
        ("ifindex", c_uint32),
    ]


class InfoStruct(Struct):
    _fields_ = [
        ("header_size", c_uint32),
        ("path_size", c_uint32),
        ("paths", c_uint32),
        ("chunks_queued", c_uint32),
        ("flags", c_uint32),
        ("chunk_alpha_milli", c_uint32),
        ("conn_id", c_uint64),
        ("now_ns", c_uint64),
        ("chunk_length", c_uint64),
        ("chunk_sent", c_uint64),
        ("chunk_acked", c_uint64),
        ("chunk_remaining", c_uint64),
        ("chunk_deadline_ns", c_uint64),
        ("chunk_left_ns", c_int64),
        ("chunk_forecast", c_uint64),
        ("chunk_cookie", c_uint64),
        ("chunks_met", c_uint64),
        ("chunks_missed", c_uint64),
        ("activations", c_uint64),
        ("decisions", c_uint64),
        ("path", PathInfoStruct * PATHS_MAX),
    ]


class PathStruct(Struct):
    _fields_ = [
        ("endpoint_id", c_uint32),
        ("ifindex", c_uint32),
        ("family", c_uint32),
        ("cost", c_uint32),
        ("addr", c_uint8 * 16),
    ]


class LimitsStruct(Struct):
    _fields_ = [
        ("quota_bytes", c_uint64),
        ("quota_period_ns", c_uint64),
        ("quota_spent", c_uint64),
        ("cheap_rate", c_uint64),
        ("what", c_uint32),
        ("flags", c_uint32),
    ]


class ConnChunkStruct(Struct):
    _fields_ = [
        ("length", c_uint64),
        ("deadline_ns", c_uint64),
        ("cookie", c_uint64),
        ("sent", c_uint64),
        ("acked", c_uint64),
        ("forecast", c_uint64),
        ("alpha_milli", c_uint32),
        ("flags", c_uint32),
        ("at_risk", c_uint32),
        ("reserved", c_uint32),
    ]


class ConnStruct(Struct):
    _fields_ = [
        ("id", c_uint64),
        ("cookie", c_uint64),
        ("token", c_uint32),
        ("uid", c_uint32),
        ("alpha_milli", c_uint32),
        ("chunks_queued", c_uint32),
        ("chunks_met", c_uint64),
        ("chunks_missed", c_uint64),
        ("decisions", c_uint64),
        ("has_chunk", c_uint32),
        ("paths", c_uint32),
        ("prefs", c_uint32),
        ("overflow_ms", c_uint32),
        ("chunk", ConnChunkStruct),
        ("path", PathInfoStruct * PATHS_MAX),
        ("pref", PathStruct * PREFS_MAX),
    ]


class ConnChangeStruct(Struct):
    _fields_ = [
        ("id", c_uint64),
        ("token", c_uint32),
        ("what", c_uint32),
        ("alpha_milli", c_uint32),
        ("pref_count", c_uint32),
        ("chunk", ChunkStruct),
        ("prefs", POINTER(PathStruct)),
        ("overflow_ms", c_uint32),
        ("reserved", c_uint32),
    ]


class StatsStruct(Struct):
    _fields_ = [
        ("connections", c_uint64),
        ("decisions", c_uint64),
        ("chunk_decisions", c_uint64),
        ("guard_drops", c_uint64),
        ("chunks_set", c_uint64),
        ("chunks_met", c_uint64),
        ("chunks_missed", c_uint64),
        ("activations", c_uint64),
        ("prio_sent", c_uint64),
        ("ticks", c_uint64),
        ("turns", c_uint64),
    ]


class VerdictsStruct(Struct):
    _fields_ = [
        ("met", c_uint64),
        ("missed", c_uint64),
        ("at_risk", c_uint32),
        ("chunks_queued", c_uint32),
    ]


class ProgressStruct(Struct):
    _fields_ = [
        ("length", c_uint64),
        ("written", c_uint64),
        ("acked", c_uint64),
        ("dropped", c_uint64),
        ("deadline_ns", c_uint64),
        ("state", c_uint32),
        ("reserved", c_uint32),
    ]


class EventStruct(Struct):
    _fields_ = [
        ("type", c_uint32),
        ("token", c_uint32),
        ("id", c_uint64),
        ("cookie", c_uint64),
        ("chunk_length", c_uint64),
        ("chunk_deadline_ns", c_uint64),
        ("chunk_cookie", c_uint64),
        ("subflow", c_uint32),
        ("reserved", c_uint32),
    ]


# By the names they have in the headers.
STRUCTS: dict[str, type[ctypes.Structure]] = {
    "mptcp_dpa_chunk": ChunkStruct,
    "mptcp_dpa_stream": StreamStruct,
    "mptcp_dpa_path_info": PathInfoStruct,
    "mptcp_dpa_info": InfoStruct,
    "mpdpa_path": PathStruct,
    "mpdpa_limits": LimitsStruct,
    "mpdpa_conn_chunk": ConnChunkStruct,
    "mpdpa_conn": ConnStruct,
    "mpdpa_conn_change": ConnChangeStruct,
    "mpdpa_stats": StatsStruct,
    "mpdpa_verdicts": VerdictsStruct,
    "mpdpa_progress": ProgressStruct,
    "mpdpa_event": EventStruct,
}

VISIT_PATH = ctypes.CFUNCTYPE(c_int, POINTER(PathStruct), c_void_p)
VISIT_CONN = ctypes.CFUNCTYPE(c_int, POINTER(ConnStruct), c_void_p)
OPEN = [POINTER(c_void_p)]

# Arguments, and the result where it is no int.
PROTOTYPES: dict[str, tuple[list[Any], Any]] = {
    "mpdpa_socket": ([c_int], c_int),
    "mpdpa_chunk_set": ([c_int, POINTER(ChunkStruct), c_size_t], c_int),
    "mpdpa_chunk_in": ([c_int, c_uint64, c_uint64], c_int),
    "mpdpa_chunk_by": ([c_int, c_uint64, c_uint64], c_int),
    "mpdpa_chunk_send": ([c_int, c_void_p, c_size_t, c_uint64, c_uint32, POINTER(c_size_t)], c_int),
    "mpdpa_stream_set": ([c_int, POINTER(StreamStruct), c_size_t], c_int),
    "mpdpa_stream_start": ([c_int, c_uint64, c_uint64], c_int),
    "mpdpa_stream_stop": ([c_int], c_int),
    "mpdpa_send_open": ([POINTER(c_void_p), c_int], c_int),
    "mpdpa_send_close": ([c_void_p], None),
    "mpdpa_send_begin": ([c_void_p, c_uint64, c_uint64, c_uint32], c_int),
    "mpdpa_send_feed": ([c_void_p, c_void_p, c_size_t], c_int64),
    "mpdpa_send_fd": ([c_void_p], c_int),
    "mpdpa_send_progress": ([c_void_p, POINTER(ProgressStruct), c_size_t], c_int),
    "mpdpa_eventfd_set": ([c_int, c_int], c_int),
    "mpdpa_events_open": ([POINTER(c_void_p), c_int], c_int),
    "mpdpa_events_close": ([c_void_p], None),
    "mpdpa_events_fd": ([c_void_p], c_int),
    "mpdpa_events_read": ([c_void_p, POINTER(VerdictsStruct), c_size_t], c_int),
    "mpdpa_info_get": ([c_int, c_void_p, c_size_t], c_int),
    "mpdpa_info_path": ([c_void_p, c_size_t, c_uint32, POINTER(PathInfoStruct), c_size_t], c_int),
    "mpdpa_probe": ([c_int], c_int),
    "mpdpa_state_text": ([c_int], c_char_p),
    "mpdpa_state_mend": ([c_int], c_char_p),
    "mpdpa_pref_set": ([c_int, POINTER(PathStruct)], c_int),
    "mpdpa_pref_get": ([c_int, POINTER(PathStruct), c_size_t], c_int),
    "mpdpa_ctl_open": (OPEN, c_int),
    "mpdpa_ctl_close": ([c_void_p], None),
    "mpdpa_ctl_message": ([c_void_p], c_char_p),
    "mpdpa_path_set": ([c_void_p, POINTER(PathStruct)], c_int),
    "mpdpa_path_del": ([c_void_p, POINTER(PathStruct)], c_int),
    "mpdpa_path_get": ([c_void_p, POINTER(PathStruct)], c_int),
    "mpdpa_path_limit": ([c_void_p, POINTER(PathStruct), POINTER(LimitsStruct), c_size_t], c_int),
    "mpdpa_path_limits": ([c_void_p, POINTER(PathStruct), POINTER(LimitsStruct), c_size_t], c_int),
    "mpdpa_path_list": ([c_void_p, VISIT_PATH, c_void_p], c_int),
    "mpdpa_conn_get": ([c_void_p, POINTER(ConnStruct), c_size_t], c_int),
    "mpdpa_conn_list": ([c_void_p, VISIT_CONN, c_void_p], c_int),
    "mpdpa_conn_set": ([c_void_p, POINTER(ConnChangeStruct), c_size_t], c_int),
    "mpdpa_stats_get": ([c_void_p, POINTER(StatsStruct), c_size_t], c_int),
    "mpdpa_monitor_open": (OPEN, c_int),
    "mpdpa_monitor_close": ([c_void_p], None),
    "mpdpa_monitor_fd": ([c_void_p], c_int),
    "mpdpa_monitor_read": ([c_void_p, POINTER(EventStruct), c_size_t], c_int),
    "mpdpa_event_name": ([c_uint32], c_char_p),
}


@functools.cache
def lib() -> ctypes.CDLL:
    """The library: the file that MPDPA_LIBRARY names, else the installed one."""
    library = ctypes.CDLL(os.environ.get("MPDPA_LIBRARY", SONAME))
    for name, (arguments, result) in PROTOTYPES.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = result
    return library


def check(result: int, words: str = "") -> int:
    """Turn a negative result into an exception; words are the kernel's own."""
    if result < 0:
        text = os.strerror(-result)
        raise MpdpaError(-result, f"{text}: {words}" if words else text)
    return result


def fileno(sock: SocketLike) -> int:
    """The file descriptor of a socket, or itself."""
    return sock if isinstance(sock, int) else sock.fileno()


def octets(data: Buffer) -> tuple[Any, int]:
    """Bytes as the library takes them, and how many; TypeError for what is none, str above all."""
    if isinstance(data, bytes):
        return data, len(data)
    view = memoryview(data).cast("B")
    if view.readonly:
        return bytes(view), len(view)
    return (ctypes.c_char * len(view)).from_buffer(view), len(view)


class Handle:
    """Something of the library that is opened and closed; a context manager."""

    _close = ""

    def __init__(self, opener: str, *arguments: int) -> None:
        self._handle: c_void_p | None = None
        handle = c_void_p()
        result = getattr(lib(), opener)(ctypes.byref(handle), *arguments)
        if result == -errno.ENOENT:
            raise MpdpaError(errno.ENOENT, "kernel module mptcp_dpa is not loaded")
        check(result)
        self._handle = handle

    def _get(self) -> c_void_p:
        if self._handle is None:
            raise ValueError("it is closed")
        return self._handle

    def close(self) -> None:
        """Close it; more than once does no harm."""
        if self._handle is not None:
            getattr(lib(), self._close)(self._handle)
            self._handle = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()
