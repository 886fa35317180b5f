#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""dpa_held.py ADDRESS PORT SOCKETS: so many connections, each with a chunk that is due
within 50 ms, whose owners send from memory that nobody provides: what copies from there
owns the socket until the process is killed. Says "held" when all of them wait."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import resource
import socket
import struct
import sys
import threading
import time

IPPROTO_MPTCP, SOL_MPTCP, CHUNK = 262, 284, 0x4450
DUE_NS = 50_000_000
# Linux on x86-64: <asm/unistd_64.h>, <linux/userfaultfd.h>
SYS_USERFAULTFD = 323
UFFD_API, UFFDIO_API, UFFDIO_REGISTER, MODE_MISSING = 0xAA, 0xC018AA3F, 0xC020AA00, 1

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.send.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def never_there(page: mmap.mmap) -> int:
    """The address of the page, which the first access to waits for, for ever."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    fd = libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
    if fd < 0:
        sys.exit(f"userfaultfd: {os.strerror(ctypes.get_errno())}")
    fcntl.ioctl(fd, UFFDIO_API, struct.pack("=QQQ", UFFD_API, 0, 0))
    fcntl.ioctl(fd, UFFDIO_REGISTER, struct.pack("=QQQQ", address, mmap.PAGESIZE, MODE_MISSING, 0))
    return address


def waits(thread: threading.Thread) -> bool:
    with open(f"/proc/self/task/{thread.native_id}/wchan") as file:
        return "userfault" in file.read()


def main(server: str, port: int, sockets: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (sockets + 64, sockets + 64))
    page = mmap.mmap(-1, mmap.PAGESIZE)
    address = never_there(page)
    chunk = struct.pack("=QQQII", 1000, DUE_NS, 0, 0, 0)
    owners = []
    for _ in range(sockets):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        sock.connect((server, port))
        sock.setsockopt(SOL_MPTCP, CHUNK, chunk)
        owners.append(threading.Thread(target=libc.send, args=(sock.detach(), address, 1000, 0), daemon=True))
        owners[-1].start()
    while not all(map(waits, owners)):
        time.sleep(0.02)
    print("held", flush=True)
    owners[0].join()


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
