#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The netlink family mptcp_dpa, by hand.

    dpa_netlink.py set|del|get [endpoint N] [ifindex N] [cost N] [raw TYPE HEX]
    dpa_netlink.py dump             one line for each path
    dpa_netlink.py fill FIRST LAST  cost 1 for these interface numbers
    dpa_netlink.py clear            take all costs away
    dpa_netlink.py interrupted      a dump with a change in the middle of it

What it gets it prints. An error of the kernel is printed by its name, with the
kernel's words if there are any, and makes the exit status 1.
"""

from __future__ import annotations

import errno
import socket
import struct
import sys

NETLINK_GENERIC = 16
NLMSG_ERROR, NLMSG_DONE = 2, 3
F_REQUEST, F_ACK, F_DUMP = 0x1, 0x4, 0x300
F_ACK_TLVS, F_CAPPED, F_DUMP_INTR = 0x200, 0x100, 0x10
SOL_NETLINK, NETLINK_EXT_ACK = 270, 11
CTRL_ID, CTRL_GETFAMILY, CTRL_A_ID, CTRL_A_NAME = 0x10, 3, 1, 2
COMMANDS = {"set": 1, "del": 2, "get": 3}
NAMES = {1: "endpoint", 2: "ifindex", 3: "cost"}
WIDTHS = {"endpoint": "B", "ifindex": "I", "cost": "I"}


class Refused(Exception):
    def __init__(self, number: int, words: str) -> None:
        super().__init__(f"{errno.errorcode.get(number, number)} {words}".strip())


def attribute(kind: int, value: bytes) -> bytes:
    padding = -len(value) % 4
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(padding)


def attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


class Family:
    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.sequence = 0
        self.messages = 0
        self.interrupted = False
        name = attribute(CTRL_A_NAME, b"mptcp_dpa\0")
        reply = self.ask(CTRL_ID, CTRL_GETFAMILY, name, F_ACK)
        self.id = struct.unpack("=H", reply[0][CTRL_A_ID])[0]

    def request(self, family: int, command: int, payload: bytes, flags: int) -> None:
        self.sequence += 1
        body = struct.pack("=BBH", command, 1, 0) + payload
        head = struct.pack("=IHHII", 16 + len(body), family, F_REQUEST | flags, self.sequence, 0)
        self.socket.send(head + body)

    def ask(self, family: int, command: int, payload: bytes, flags: int) -> list[dict[int, bytes]]:
        self.request(family, command, payload, flags)
        return self.answers()

    def answers(self) -> list[dict[int, bytes]]:
        got: list[dict[int, bytes]] = []
        while True:
            data = self.socket.recv(65536)
            self.messages += 1
            while len(data) >= 16:
                length, kind, flags = struct.unpack_from("=IHH", data)
                body = data[16:length]
                self.interrupted |= bool(flags & F_DUMP_INTR)
                data = data[(length + 3) & ~3 :]
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    self.check(body, kind, flags)
                    return got
                got.append(attributes(body[4:]))

    @staticmethod
    def check(body: bytes, kind: int, flags: int) -> None:
        number = -struct.unpack_from("=i", body)[0]
        if kind != NLMSG_ERROR or not number:
            return
        words = b""
        if flags & F_ACK_TLVS:
            original = struct.unpack_from("=I", body, 4)[0]
            at = 20 if flags & F_CAPPED else 4 + original
            words = attributes(body[at:]).get(1, b"")
        raise Refused(number, words.rstrip(b"\0").decode())

    def path(self, command: str, payload: bytes) -> list[dict[int, bytes]]:
        return self.ask(self.id, COMMANDS[command], payload, F_ACK)

    def dump(self) -> list[dict[int, bytes]]:
        return self.ask(self.id, COMMANDS["get"], b"", F_DUMP)


def parse(words: list[str]) -> bytes:
    payload = b""
    while words:
        name = words.pop(0)
        if name == "raw":
            payload += attribute(int(words.pop(0)), bytes.fromhex(words.pop(0)))
            continue
        kind = next(k for k, n in NAMES.items() if n == name)
        payload += attribute(kind, struct.pack("=" + WIDTHS[name], int(words.pop(0))))
    return payload


def shown(path: dict[int, bytes]) -> str:
    parts = []
    for kind, value in sorted(path.items()):
        name = NAMES[kind]
        parts.append(f"{name} {struct.unpack('=' + WIDTHS[name], value)[0]}")
    return " ".join(parts)


def named(path: dict[int, bytes]) -> bytes:
    return b"".join(attribute(k, v) for k, v in path.items() if NAMES[k] != "cost")


def run(family: Family, command: str, words: list[str]) -> None:
    if command == "dump":
        family.messages = 0
        for path in family.dump():
            print(shown(path))
        print(f"messages {family.messages}")
    elif command == "interrupted":
        # the kernel has filled a message or two by now, the rest is to come
        family.request(family.id, COMMANDS["get"], b"", F_DUMP)
        Family().path("set", parse(["endpoint", "255", "cost", "9"]))
        family.answers()
        print("interrupted" if family.interrupted else "as if nothing had happened")
    elif command == "fill":
        for n in range(int(words[0]), int(words[1]) + 1):
            family.path("set", parse(["ifindex", str(n), "cost", "1"]))
    elif command == "clear":
        for path in family.dump():
            family.path("del", named(path))
    else:
        for path in family.path(command, parse(words)):
            print(shown(path))


def main() -> int:
    try:
        run(Family(), sys.argv[1], sys.argv[2:])
    except Refused as refused:
        print(refused)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
