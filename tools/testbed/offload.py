"""Turns off segmentation and merging, so that a queue and a counter see real packets."""

from __future__ import annotations

import array
import fcntl
import socket
import struct

_SIOCETHTOOL = 0x8946
_SET_TSO, _SET_GSO, _SET_GRO = 0x1F, 0x24, 0x2C


def disable(interface: str) -> None:
    """For an interface of the namespace that the caller is in."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for feature in (_SET_TSO, _SET_GSO, _SET_GRO):
            value = array.array("B", struct.pack("=II", feature, 0))
            address, _ = value.buffer_info()
            request = struct.pack("16sP", interface.encode(), address)
            fcntl.ioctl(control, _SIOCETHTOOL, request.ljust(40, b"\0"))
