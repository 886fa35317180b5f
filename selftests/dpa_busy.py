#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""dpa_busy.py ADDRESS PORT MS quiet|busy: asks for as much looking as it can.

Connects, asks for a stream of the shortest intervals, and for so long does
nothing, or sets it anew and writes a byte, over and over. Prints how many calls
it made and how many ms went by. The bytes are those that dpa_sock expects.
"""

from __future__ import annotations

import itertools
import socket
import struct
import sys
import time
from collections.abc import Iterator

IPPROTO_MPTCP, SOL_MPTCP, STREAM = 262, 284, 0x4452
MS = 1_000_000
SHORTEST = struct.pack("=QQQII", MS, 50 * MS, 0, 0, 0)


def pattern() -> Iterator[bytes]:
    period, x = [], 1
    for _ in range(65521):
        x = (x * 1664525 + 1013904223) % 2**32
        period.append(bytes([x >> 24 | 1]))
    return itertools.cycle(period)


def main(address: str, port: str, ms: str, mode: str) -> None:
    calls, byte = 0, pattern()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as sock:
        sock.connect((address, int(port)))
        sock.setblocking(False)
        begun = time.monotonic_ns()
        end = begun + int(ms) * MS
        while calls == 0 or (mode == "busy" and time.monotonic_ns() < end):
            sock.setsockopt(SOL_MPTCP, STREAM, SHORTEST)
            try:
                sock.send(next(byte))
            except BlockingIOError:
                break
            calls += 2
        time.sleep(max(0, end - time.monotonic_ns()) / 1e9)
        print(calls, (time.monotonic_ns() - begun) // MS)


main(*sys.argv[1:])
