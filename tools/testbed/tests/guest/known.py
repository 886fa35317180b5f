"""In the guest: runs a cell and records every packet at both ends, as a second account of it.

known.py SPEC.json: leaves raw.json and packets.json in /results; see test_known_transfer.py.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testbed import cell as testbed_cell
from testbed import cellspec, topology
from testbed.cellspec import Cell
from testbed.netns import Namespace
from testbed.topology import Network

RESULTS = Path("/results")
ETH_P_ALL, OUTGOING = 3, 4
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
# Of all packets, which are taken from the socket afterwards.
ROOM_BYTES = 1 << 28
HEADERS_BYTES = 160


def tap(namespace: Namespace) -> socket.socket:
    """Gets every packet of a namespace."""
    with namespace:
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM_BYTES)
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sock.setblocking(False)
    return sock


def packets(sock: socket.socket) -> Iterator[tuple[int, str, bool, str]]:
    """Time by the monotonic clock, interface, whether it was sent, and the headers in hex."""
    # Packets are stamped by the real-time clock, which nobody sets meanwhile.
    offset_ns = time.time_ns() - time.monotonic_ns()
    while True:
        try:
            data, more, _, origin = sock.recvmsg(HEADERS_BYTES, 64)
        except BlockingIOError:
            return
        seconds, rest_ns = struct.unpack("=qq", more[0][2])
        at_ns = seconds * 10**9 + rest_ns - offset_ns
        yield at_ns, origin[0], origin[2] == OUTGOING, data.hex()


def main() -> None:
    cell = cellspec.from_json(Path(sys.argv[1]).read_text())
    seen: dict[str, object] = {}
    began: list[int] = []
    start = Network.start

    @contextmanager
    def tapped(of: Cell) -> Iterator[Network]:
        with topology.network(of) as net:
            taps = {"client": tap(net.client), "server": tap(net.server)}
            yield net
            # while interfaces still have their names
            seen.update((role, list(packets(sock))) for role, sock in taps.items())

    def noted_start(net: Network, t0_ns: int) -> None:
        began.append(t0_ns)
        start(net, t0_ns)

    testbed_cell.network = tapped  # type: ignore[attr-defined]
    Network.start = noted_start  # type: ignore[method-assign]
    testbed_cell.execute(cell, RESULTS)
    (RESULTS / "packets.json").write_text(json.dumps(seen | {"t0_ns": began[0]}))


if __name__ == "__main__":
    main()
