"""Generic netlink, as much as is needed: asking one thing, and waiting for news."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator

from .errors import MeasurementError

_NETLINK_GENERIC = 16
_CTRL_ID, _CTRL_GETFAMILY = 0x10, 3
_FAMILY_ID, _FAMILY_NAME, _MCAST_GROUPS = 1, 2, 7
_GROUP_NAME, _GROUP_ID = 1, 2
_NLM_F_REQUEST, _NLM_F_ACK = 1, 4
_NLMSG_ERROR = 2
_NESTED = 1 << 15
_HEADER = struct.Struct("=IHHII")
_GENERIC = struct.Struct("=BBH")
_SOL_NETLINK, _ADD_MEMBERSHIP = 270, 1


def attribute(kind: int, value: bytes) -> bytes:
    length = 4 + len(value)
    return struct.pack("=HH", length, kind) + value + b"\0" * (-length % 4)


def nested(kind: int, content: bytes) -> bytes:
    return attribute(kind | _NESTED, content)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4:
            return
        yield kind & 0x3FFF, data[at + 4 : at + length]
        at += (length + 3) & ~3


def connect() -> socket.socket:
    """Within the namespace that the caller is in."""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
    sock.bind((0, 0))
    return sock


def _send(sock: socket.socket, family: int, command: int, body: bytes, flags: int) -> bytes:
    content = _GENERIC.pack(command, 1, 0) + body
    header = _HEADER.pack(_HEADER.size + len(content), family, _NLM_F_REQUEST | flags, 1, 0)
    sock.send(header + content)
    return sock.recv(1 << 16)


def ask(sock: socket.socket, family: int, command: int, body: bytes) -> None:
    """Something to be done; MeasurementError if the kernel refuses."""
    answer = _send(sock, family, command, body, _NLM_F_ACK)
    code = struct.unpack_from("=i", answer, _HEADER.size)[0]
    if _HEADER.unpack_from(answer)[1] != _NLMSG_ERROR or code:
        raise MeasurementError(f"netlink: command {command}: {os.strerror(-code)}")


def _family(sock: socket.socket, name: str) -> dict[int, bytes]:
    body = attribute(_FAMILY_NAME, name.encode() + b"\0")
    answer = _send(sock, _CTRL_ID, _CTRL_GETFAMILY, body, 0)
    if _HEADER.unpack_from(answer)[1] == _NLMSG_ERROR:
        raise MeasurementError(f"netlink: no family {name}: kernel without MPTCP?")
    return dict(_attributes(answer[_HEADER.size + _GENERIC.size :]))


def family(sock: socket.socket, name: str) -> int:
    return int.from_bytes(_family(sock, name)[_FAMILY_ID], "little")


def subscribe(name: str, group: str) -> socket.socket:
    """A socket that becomes readable when there is news of a group."""
    sock = connect()
    for _, entry in _attributes(_family(sock, name).get(_MCAST_GROUPS, b"")):
        row = dict(_attributes(entry))
        if row[_GROUP_NAME].rstrip(b"\0").decode() == group:
            number = int.from_bytes(row[_GROUP_ID], "little")
            sock.setsockopt(_SOL_NETLINK, _ADD_MEMBERSHIP, number)
            return sock
    raise MeasurementError(f"netlink: no group {group} in family {name}")
