#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""dpa_pref.py ADDRESS PORT INTERFACE COST...: what becomes of preferences.

Connects, sets each cost for the interface in turn, and prints "ok" or the error.
"""

from __future__ import annotations

import errno
import socket
import struct
import sys

IPPROTO_MPTCP, SOL_MPTCP = 262, 284
PREF, PREF_IFINDEX = 0x4453, 2


def main(address: str, port: str, interface: str, *costs: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as sock:
        sock.connect((address, int(port)))
        index = socket.if_nametoindex(interface)
        for cost in costs:
            try:
                sock.setsockopt(SOL_MPTCP, PREF, struct.pack("=IIII16s", PREF_IFINDEX, int(cost), index, 0, b""))
                print("ok")
            except OSError as error:
                print(errno.errorcode[error.errno or 0])


main(*sys.argv[1:])
