#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""dpa_many.py SOCKETS CHUNKS [MS]: opens that many sockets and says "open"; at a
signal USR1 sets the chunks on each, due then, a minute by default, and says
how many were refused."""

from __future__ import annotations

import signal
import socket
import struct
import sys

IPPROTO_MPTCP, SOL_MPTCP, CHUNK = 262, 284, 0x4450
MINUTE_MS = 60_000


def main(sockets: int, chunks: int, due_ms: int = MINUTE_MS) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    held = [socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) for _ in range(sockets)]
    print("open", flush=True)
    signal.sigwait([signal.SIGUSR1])
    chunk = struct.pack("=QQQII", 1000, due_ms * 1_000_000, 0, 0, 0)
    refused = 0
    for sock in held:
        for _ in range(chunks):
            try:
                sock.setsockopt(SOL_MPTCP, CHUNK, chunk)
            except OSError:
                refused += 1
    print("refused", refused, flush=True)
    signal.sigwait([signal.SIGUSR1])


main(*map(int, sys.argv[1:]))
