# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Numbers of the kernel's and the library's headers; a test compares them."""

from __future__ import annotations

from enum import IntEnum, IntFlag

IPPROTO_MPTCP = 262
SOL_MPTCP = 284

MPTCP_DPA_CHUNK = 0x4450
MPTCP_DPA_INFO = 0x4451
MPTCP_DPA_STREAM = 0x4452
MPTCP_DPA_PREF = 0x4453
MPTCP_DPA_EVENTFD = 0x4454

CHUNKS_MAX = 64
PATHS_MAX = 8
PREFS_MAX = 6

COST_DEFAULT = 1
COST_BACKUP = 2
COST_MAX = 1_000_000
COST_FORBIDDEN = 4_294_967_295
ALPHA_MIN = 100
ALPHA_MAX = 4000
OVERFLOW_MAX = 60_000
OVERFLOW_OFF = 4_294_967_295

CHUNK_ABS = 1 << 0
CHUNK_LATE_MASK = 3 << 1

CHANGE_ALPHA = 1 << 0
CHANGE_CHUNK = 1 << 1
CHANGE_OVERFLOW = 1 << 2

LIMIT_QUOTA = 1 << 0
LIMIT_CHEAP_RATE = 1 << 1
QUOTA_SOFT = 1 << 0


class Late(IntEnum):
    """What to do with a chunk whose deadline has passed."""

    INHERIT = 0  # as net.mptcp_dpa.late_policy says
    SPEND = 1 << 1  # send the rest over all paths
    CHEAP = 2 << 1  # over the cheapest alone
    TELL = 3 << 1  # the same, and the application drops


class PathFlags(IntFlag):
    """The state of a subflow."""

    ACTIVE = 1 << 0  # can carry data
    COSTLY = 1 << 1  # dearer than the cheapest active one
    HELD = 1 << 2  # kept back by the scheduler
    REQUEST_BKUP = 1 << 3  # the peer was told: backup
    ESTIMATED = 1 << 4  # goodput was measured
    FORBIDDEN = 1 << 5  # by a preference


class InfoFlags(IntFlag):
    """What the info of a connection is about."""

    CHUNK = 1 << 0  # a chunk is in force
    STREAM = 1 << 1  # intervals make the chunks
    RISK = 1 << 2  # all paths together seem too slow


class State(IntEnum):
    """Whether deadlines work on a socket, and if not, the first reason."""

    READY = 0
    NO_MPTCP = 1
    PLAIN_TCP = 2
    FELL_BACK = 3
    NO_MODULE = 4
    NOT_ATTACHED = 5
    NOT_SELECTED = 6
    NO_SOCKOPT = 7
    OTHER_SCHEDULER = 8


class SendState(IntEnum):
    """What has become of a message."""

    IDLE = 0  # none was begun yet
    RUNNING = 1  # bytes are still to be fed
    WRITTEN = 2  # the kernel has taken all of it
    DROPPED = 3  # it was late, the rest was given up


class EventType(IntEnum):
    """What an event of a monitor is about."""

    CHUNK_MET = 7
    CHUNK_MISSED = 8
    CHUNK_AT_RISK = 9
    PATH_ACTIVATED = 10
    PATH_RELEASED = 11
    QUOTA_REACHED = 12
