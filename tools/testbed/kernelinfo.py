"""What the kernel tells of a connection: layouts of socket options, and one snapshot of them."""

from __future__ import annotations

import ctypes
import socket
from dataclasses import dataclass, field
from ipaddress import ip_address

from . import libc
from .errors import MeasurementError

IPPROTO_MPTCP = 262
SOL_MPTCP = 284
TCP_ESTABLISHED = 1
_TCP_INFO, _MPTCP_FULL_INFO = 11, 4
_MOST_SUBFLOWS = 16

_U8, _U16, _U32, _U64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64


def _fields(kind: type, names: str) -> list[tuple[str, type]]:
    return [(name, kind) for name in names.split()]


class TcpInfo(ctypes.Structure):
    """struct tcp_info as far as it is used."""

    _fields_ = [
        *_fields(_U8, "state ca_state retransmits probes backoff options wscale flags"),
        *_fields(_U32, "rto ato snd_mss rcv_mss unacked sacked lost retrans fackets"),
        *_fields(_U32, "last_data_sent last_ack_sent last_data_recv last_ack_recv"),
        *_fields(_U32, "pmtu rcv_ssthresh rtt rttvar snd_ssthresh snd_cwnd advmss reordering"),
        *_fields(_U32, "rcv_rtt rcv_space total_retrans"),
        *_fields(_U64, "pacing_rate max_pacing_rate bytes_acked bytes_received"),
        *_fields(_U32, "segs_out segs_in notsent_bytes min_rtt data_segs_in data_segs_out"),
        *_fields(_U64, "delivery_rate busy_time rwnd_limited sndbuf_limited"),
        *_fields(_U32, "delivered delivered_ce"),
        *_fields(_U64, "bytes_sent bytes_retrans"),
    ]  # fmt: skip


class MptcpInfo(ctypes.Structure):
    """struct mptcp_info as far as it is used."""

    _fields_ = [
        *_fields(_U8, "subflows add_addr_signal add_addr_accepted subflows_max"),
        *_fields(_U8, "add_addr_signal_max add_addr_accepted_max"),
        *_fields(_U32, "flags token"),
        *_fields(_U64, "write_seq snd_una rcv_nxt"),
        *_fields(_U8, "local_addr_used local_addr_max csum_enabled"),
        *_fields(_U32, "retransmits"),
        *_fields(_U64, "bytes_retrans bytes_sent bytes_received bytes_acked"),
        ("subflows_total", _U8),
        ("rest", _U8 * 127),
    ]  # fmt: skip


class _SubflowInfo(ctypes.Structure):
    """struct mptcp_subflow_info: an id, the local and the remote socket address."""

    _fields_ = [("id", _U32), ("align", _U32), ("local", _U8 * 128), ("remote", _U8 * 128)]


class _FullInfo(ctypes.Structure):
    _fields_ = [
        *_fields(_U32, "size_tcpinfo_kernel size_tcpinfo_user"),
        *_fields(_U32, "size_sfinfo_kernel size_sfinfo_user num_subflows size_arrays_user"),
        *_fields(_U64, "subflow_info tcp_info"),
        ("mptcp_info", MptcpInfo),
    ]  # fmt: skip


@dataclass(frozen=True)
class Subflow:
    local: str
    tcp: TcpInfo


@dataclass(frozen=True)
class Snapshot:
    """One look at a connection; ``mptcp`` is None for TCP."""

    subflows: list[Subflow]
    mptcp: MptcpInfo | None = field(default=None)


def _address(raw: bytes) -> str:
    """The address in a struct sockaddr_in or sockaddr_in6."""
    family = int.from_bytes(raw[:2], "little")
    return str(ip_address(raw[4:8] if family == socket.AF_INET else raw[8:24]))


def look(sock: socket.socket) -> Snapshot:
    """The state of a TCP or MPTCP connection and of all its subflows at one moment."""
    if sock.proto != IPPROTO_MPTCP:
        info = TcpInfo()
        libc.get_option(sock, socket.IPPROTO_TCP, _TCP_INFO, info)
        flow = Subflow(sock.getsockname()[0], info)
        return Snapshot([flow])
    flows = (_SubflowInfo * _MOST_SUBFLOWS)()
    infos = (TcpInfo * _MOST_SUBFLOWS)()
    full = _FullInfo(
        size_tcpinfo_user=ctypes.sizeof(TcpInfo),
        size_sfinfo_user=ctypes.sizeof(_SubflowInfo),
        size_arrays_user=_MOST_SUBFLOWS,
        subflow_info=ctypes.addressof(flows),
        tcp_info=ctypes.addressof(infos),
    )
    try:
        libc.get_option(sock, SOL_MPTCP, _MPTCP_FULL_INFO, full)
    except OSError as error:
        raise MeasurementError(
            f"connection fell back to TCP, or no MPTCP_FULL_INFO: {error}"
        ) from None
    count = full.num_subflows
    rows = [
        Subflow(_address(bytes(flow.local)), info)
        for flow, info in zip(flows[:count], infos[:count], strict=True)
    ]
    return Snapshot(rows, full.mptcp_info)


def tcp_counter(name: str) -> int:
    """One of TcpExt's counters, of the caller's namespace."""
    with open("/proc/thread-self/net/netstat", encoding="ascii") as stream:  # noqa: PTH123
        rows = [line.split() for line in stream if line.startswith("TcpExt:")]
    names, values = rows
    return int(values[names.index(name)])
