# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Deadlines and path costs of Multipath TCP connections, by libmpdpa.

Errors of the library and the kernel are MpdpaError, an OSError with errno.
Times are nanoseconds, absolute ones those of time.monotonic_ns().
"""

from ._lib import MpdpaError
from .constants import (
    COST_BACKUP,
    COST_DEFAULT,
    COST_FORBIDDEN,
    COST_MAX,
    IPPROTO_MPTCP,
    OVERFLOW_OFF,
    EventType,
    InfoFlags,
    Late,
    PathFlags,
    SendState,
    State,
)
from .control import Connection, ConnectionChunk, Control, Stats
from .events import ChunkEvent, Event, Events, Monitor, Verdicts
from .paths import Limits, Path, Quota
from .sender import Progress, Sender
from .sockets import (
    SECOND,
    Chunk,
    ChunkInfo,
    Info,
    Stream,
    Subflow,
    explain,
    get_info,
    get_prefs,
    open_socket,
    probe,
    send_chunk,
    set_chunk,
    set_eventfd,
    set_pref,
    set_stream,
    stop_stream,
)

__version__ = "0.1.0"

__all__ = [
    "COST_BACKUP",
    "COST_DEFAULT",
    "COST_FORBIDDEN",
    "COST_MAX",
    "IPPROTO_MPTCP",
    "OVERFLOW_OFF",
    "SECOND",
    "Chunk",
    "ChunkEvent",
    "ChunkInfo",
    "Connection",
    "ConnectionChunk",
    "Control",
    "Event",
    "EventType",
    "Events",
    "Info",
    "InfoFlags",
    "Late",
    "Limits",
    "Monitor",
    "MpdpaError",
    "Path",
    "PathFlags",
    "Progress",
    "Quota",
    "SendState",
    "Sender",
    "State",
    "Stats",
    "Stream",
    "Subflow",
    "Verdicts",
    "explain",
    "get_info",
    "get_prefs",
    "open_socket",
    "probe",
    "send_chunk",
    "set_chunk",
    "set_eventfd",
    "set_pref",
    "set_stream",
    "stop_stream",
]
