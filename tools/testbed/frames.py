"""Sizes on the wire, from which follows the share of a link that is payload."""

from __future__ import annotations

MTU_BYTES = 1500
ETHERNET_BYTES = 14
FRAME_BYTES = MTU_BYTES + ETHERNET_BYTES
IP_BYTES = {4: 20, 6: 40}
TCP_BYTES = 20
TCP_TIMESTAMP_BYTES = 12
# Data sequence signal: acknowledgement and sequence number of 64 bits each (the peer has sent data,
# too), subflow sequence, length, no checksum: 4 + 8 + 8 + 4 + 2, rounded up to words.
MPTCP_DSS_BYTES = 28


def segment_payload_bytes(ip: int, *, multipath: bool) -> int:
    """Payload of a full segment, with timestamps and, for MPTCP, the mapping of its data."""
    headers = IP_BYTES[ip] + TCP_BYTES + TCP_TIMESTAMP_BYTES
    return MTU_BYTES - headers - (MPTCP_DSS_BYTES if multipath else 0)


def payload_share(ip: int, *, multipath: bool) -> float:
    """Payload bytes per byte of link rate, which counts the Ethernet header too."""
    return segment_payload_bytes(ip, multipath=multipath) / FRAME_BYTES
