# SPDX-License-Identifier: GPL-2.0
"""The README's example does what it says, with or without deadlines."""

from __future__ import annotations

import socket
import subprocess
import threading
from pathlib import Path

import pytest

BYTES = 10_000_000


def count(server: socket.socket, total: list[int]) -> None:
    connection, _ = server.accept()
    with connection:
        while data := connection.recv(1 << 20):
            total[0] += len(data)


def test_all_bytes_arrive(out: Path) -> None:
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP).close()
    except OSError as error:
        pytest.skip(f"no Multipath TCP: {error}")
    total = [0]
    with socket.create_server(("127.0.0.1", 0)) as server:
        reader = threading.Thread(target=count, args=(server, total), daemon=True)
        reader.start()
        words = [out / "bin" / "example-deadline", "127.0.0.1", str(server.getsockname()[1])]
        subprocess.run(words, check=True, capture_output=True, timeout=60)
        reader.join(timeout=60)
    assert total == [BYTES]


def test_usage(out: Path) -> None:
    done = subprocess.run([out / "bin" / "example-deadline"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
