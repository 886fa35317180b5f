"""The network of a cell, made of namespaces.

              +------- near 1 ======= far 1 -------+
    client ---+                                    +--- server (one address, on lo)
              +------- near 2 ======= far 2 -------+

Every path has two routers. The link between them has the rate, in both directions, with a
drop-tail queue in front; the last hop before a host has the delay. Hosts shape nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from . import offload
from .cellspec import Cell
from .course import Course, Delay, Hop
from .frames import FRAME_BYTES
from .netns import Namespace
from .scenario import Path

CLIENT_SIDE, LINK, SERVER_SIDE = "client", "middle", "server"
_RULE_TABLE = 100


@dataclass(frozen=True)
class Addresses:
    """Who has which address; paths are numbered from 1."""

    ip: int

    @property
    def server(self) -> str:
        return "10.0.0.1" if self.ip == 4 else "fd00::1"

    @property
    def prefix(self) -> int:
        return 24 if self.ip == 4 else 64

    def host(self, path: int, hop: int, host: int) -> str:
        """Hops are 1 client - near, 2 near - far, 3 far - server; host 2 is the one behind."""
        return f"10.{path}.{hop}.{host}" if self.ip == 4 else f"fd00:{path}:{hop}::{host}"

    def client(self, path: int) -> str:
        return self.host(path, 1, 2)

    def client_net(self, path: int) -> str:
        zero = f"10.{path}.1.0" if self.ip == 4 else f"fd00:{path}:1::"
        return f"{zero}/{self.prefix}"


@dataclass(frozen=True)
class Network:
    """The namespaces, and the cell's paths with their number and routers."""

    cell: Cell
    addresses: Addresses
    client: Namespace
    server: Namespace
    near: dict[str, Namespace]
    far: dict[str, Namespace]
    hops: dict[str, list[Hop]] = field(default_factory=dict)

    def start(self, t0_ns: int) -> None:
        """From then on rates follow their course."""
        for hops in self.hops.values():
            for hop in hops:
                hop.start(t0_ns)

    def numbered(self) -> list[tuple[int, Path]]:
        return list(enumerate(self.cell.scenario.paths, 1))

    def client_address(self, path: Path) -> str:
        return self.addresses.client(self.cell.scenario.paths.index(path) + 1)


@contextmanager
def network(cell: Cell) -> Iterator[Network]:
    """Builds it; on leaving, for whatever reason, nothing of it is left."""
    with ExitStack() as stack:

        def make(role: str) -> Namespace:
            namespace = Namespace(role)
            stack.callback(namespace.close)
            return namespace

        names = [path.name for path in cell.scenario.paths]
        net = Network(
            cell,
            Addresses(cell.scenario.connection.ip),
            make("client"),
            make("server"),
            {name: make(f"near router of {name}") for name in names},
            {name: make(f"far router of {name}") for name in names},
        )
        _prepare(net)
        for number, path in net.numbered():
            _connect(net, number, path)
            net.hops[path.name] = shape(net, path)
            for hop in net.hops[path.name]:
                stack.callback(hop.close)
        _route_hosts(net)
        if cell.multipath:
            _announce(net)
        yield net


def _prepare(net: Network) -> None:
    """Settings that interfaces inherit when they are made, and the loopback."""
    for namespace in (net.client, net.server, *net.near.values(), *net.far.values()):
        if net.addresses.ip == 4:
            namespace.sysctl("net.ipv6.conf.default.disable_ipv6", 1)
            namespace.sysctl("net.ipv4.conf.all.rp_filter", 0)
            namespace.sysctl("net.ipv4.conf.default.rp_filter", 0)
        else:
            namespace.sysctl("net.ipv6.conf.default.accept_dad", 0)
            namespace.sysctl("net.ipv6.conf.default.accept_ra", 0)
            namespace.sysctl("net.ipv6.conf.default.router_solicitations", 0)
    for namespace in (*net.near.values(), *net.far.values()):
        # nothing that comes to a router is for a socket there
        namespace.sysctl("net.ipv4.ip_early_demux", 0)
        namespace.sysctl("net.ipv4.ip_forward", 1)
        namespace.sysctl("net.ipv6.conf.all.forwarding", 1)


@dataclass(frozen=True)
class _End:
    """One end of a link: where, the interface, its address, and its neighbour's."""

    namespace: Namespace
    interface: str
    hop: int
    host: int

    def mac(self, path: int) -> str:
        return f"02:00:00:{path:02x}:{self.hop:02x}:{self.host:02x}"


def _connect(net: Network, number: int, path: Path) -> None:
    """The three links of a path, and the routers' addresses and routes."""
    at, near, far = net.addresses, net.near[path.name], net.far[path.name]
    links = (
        (_End(near, CLIENT_SIDE, 1, 1), _End(net.client, path.name, 1, 2)),
        (_End(near, LINK, 2, 1), _End(far, LINK, 2, 2)),
        (_End(far, SERVER_SIDE, 3, 1), _End(net.server, path.name, 3, 2)),
    )
    for left, right in links:
        left.namespace.batch("ip", [
            f"link add name {left.interface} address {left.mac(number)} type veth "
            f"peer name {right.interface} address {right.mac(number)} "
            f"netns {right.namespace.path}",
        ])  # fmt: skip
        _bring_up(at, number, left, right)
        _bring_up(at, number, right, left)
    near.batch("ip", [f"route add {at.server} via {at.host(number, 2, 2)}"])
    far.batch("ip", [
        f"route add {at.server} via {at.host(number, 3, 2)}",
        f"route add {at.client_net(number)} via {at.host(number, 2, 1)}",
    ])  # fmt: skip


def _bring_up(at: Addresses, number: int, end: _End, peer: _End) -> None:
    """The neighbour is known beforehand: no first packet waits for an answer."""
    address, neighbour = (at.host(number, e.hop, e.host) for e in (end, peer))
    flags = " nodad" if at.ip == 6 else ""
    end.namespace.batch("ip", [
        f"addr add {address}/{at.prefix} dev {end.interface}{flags}",
        f"link set dev {end.interface} up",
        f"neigh replace {neighbour} lladdr {peer.mac(number)} dev {end.interface} nud permanent",
    ])  # fmt: skip
    with end.namespace:
        offload.disable(end.interface)


def shape(net: Network, path: Path) -> list[Hop]:
    """Rate with a drop-tail queue on the link, delay and loss on the last hop, both ways.

    What must be told of the start if the rate varies, the link towards the server first.
    """
    near, far = net.near[path.name], net.far[path.name]
    last_hops = ((near, CLIENT_SIDE), (far, SERVER_SIDE))
    if path.varies and not path.loss_percent:
        delays = [Delay(namespace, interface, path) for namespace, interface in last_hops]
    else:
        delays = []
        _delay(path, last_hops)
    if path.varies:
        return [Course(near, LINK, path), Course(far, LINK, path), *delays]
    rate = (
        f"qdisc add dev {LINK} root handle 1: tbf rate {path.rates.peak_bps}bit "
        f"burst {max(2 * FRAME_BYTES, path.rates.peak_bps // 8000)} limit {path.queue_bytes}"
    )
    for namespace in (near, far):
        namespace.batch("tc", [rate])
    return []


def _delay(path: Path, hops: Iterable[tuple[Namespace, str]]) -> None:
    in_flight = path.rates.peak_bps / 8 * path.delay_ms / 1000 / 64
    delay = f"netem limit {round(in_flight) + 10000} delay {path.delay_ms:g}ms"
    if path.loss_percent:
        delay += f" loss random {path.loss_percent:g}%"
    for namespace, interface in hops:
        namespace.batch("tc", [f"qdisc add dev {interface} root handle 1: {delay}"])


def _route_hosts(net: Network) -> None:
    """The client routes by source address, the server by the client's network."""
    at = net.addresses
    family = [f"-{at.ip}"]
    rules, routes = [], ["link set lo up"]
    for number, path in net.numbered():
        table = _RULE_TABLE + number
        rules.append(f"rule add from {at.client(number)} lookup {table}")
        rules.append(f"route add default via {at.host(number, 1, 1)} dev {path.name} table {table}")
        routes.append(f"route add {at.client_net(number)} via {at.host(number, 3, 1)}")
    # For programs that bind to no address.
    first = net.cell.scenario.paths.index(net.cell.start) + 1
    rules.append(f"route add default via {at.host(first, 1, 1)} dev {net.cell.start.name}")
    net.client.batch("ip", rules, *family)
    host = 32 if at.ip == 4 else 128
    routes.append(f"addr add {at.server}/{host} dev lo" + (" nodad" if at.ip == 6 else ""))
    net.server.batch("ip", routes, *family)


def _announce(net: Network) -> None:
    """Every path is an endpoint of the client; both sides admit one subflow for each."""
    others = len(net.cell.scenario.paths) - 1
    limits = f"mptcp limits set subflows {others} add_addr_accepted 0"
    there = [path for path in net.cell.scenario.paths if path.up_at(0)]
    net.client.batch("ip", [limits, *(endpoint(net, path) for path in there)])
    net.server.batch("ip", [limits])


def endpoint(net: Network, path: Path) -> str:
    """The command by which a path becomes known to the path manager."""
    number = net.cell.scenario.paths.index(path) + 1
    address = net.addresses.client(number)
    return f"mptcp endpoint add {address} id {number} dev {path.name} subflow"


def drops(net: Network, path: Path) -> int:
    """Packets that did not fit into the queue towards the server."""
    if net.hops[path.name]:
        return net.hops[path.name][0].drops
    text = net.near[path.name].run("tc", "-s", "-j", "qdisc", "show", "dev", LINK)
    return sum(row.get("drops", 0) for row in json.loads(text))


def interface_bytes(*, received: bool = False) -> dict[str, int]:
    """Bytes sent by every interface of the caller's namespace, link headers included."""
    column = 0 if received else 8
    with open("/proc/thread-self/net/dev", encoding="ascii") as stream:  # noqa: PTH123
        rows = [line.split(":") for line in stream.readlines()[2:]]
    return {name.strip(): int(counts.split()[column]) for name, counts in rows}
