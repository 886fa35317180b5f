#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Events by the library: how soon, of which connection, and senders that drop."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import select
import socket
import subprocess
import sys
import time
from pathlib import Path

import mpdpa
import world
from ktap import between, case, main, note, same
from world import Pair, errno_of

SECOND = mpdpa.SECOND
DELAY_MS = 10
# of the library, for messages that may be dropped
HELD_BACK_BYTES = 128 * 1024
TCP_NOTSENT_LOWAT = 25
SIOCOUTQNSD = 0x894B
RTT_US = 2000 * DELAY_MS
POLL_LOOP = str(Path(__file__).resolve().parent / "poll_loop")


@case
def a_poll_loop_without_privileges_hears_in_time() -> None:
    """The peer's DATA_ACK is there half a round trip after the last byte; one more is allowed."""
    world.shape(1, 8, DELAY_MS)
    done = subprocess.run([POLL_LOOP, "cl", "sv", "10.0.1.2"], capture_output=True, text=True, timeout=120)
    world.unshape()
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in ("met", "missed"):
        after_us = [int(n) for n in re.findall(rf"# {kind} (-?\d+)", done.stdout)]
        same(f"how many {kind}", len(after_us), 20)
        note(f"{kind}: heard {min(after_us)} to {max(after_us)} us after, half a round trip is {RTT_US // 2}")
        between(f"earliest {kind}", min(after_us), 0, RTT_US // 2 + RTT_US)
        between(f"latest {kind}", max(after_us), 0, RTT_US // 2 + RTT_US)


@case
def many_threads_at_once() -> None:
    done = world.run("ip", "netns", "exec", "cl", str(Path(__file__).resolve().parent / "threads"))
    same("exit status", (done.returncode, [line for line in done.stdout.splitlines() if line.startswith("not ok")]), (0, []))


@case
def handles_tell_what_has_happened() -> None:
    with Pair() as pair:
        pair.drain()
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, SECOND))
        pair.client.sendall(bytes(1000))
        world.until("a verdict before the handle", lambda: mpdpa.get_info(pair.client).chunks_met)
        with mpdpa.Events(pair.client) as events:
            same("nothing yet", (readable(events, 0), events.read()), (False, None))
            met = missed = 0
            for _ in range(3):
                mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, SECOND))
                pair.client.sendall(bytes(1000))
            while met < 3 and readable(events, 5):
                if verdicts := events.read():
                    met += verdicts.met
                    missed += verdicts.missed
            same("verdicts", (met, missed), (3, 0))
            # nothing is written, so it cannot be there in time
            mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, SECOND // 20))
            while not missed and readable(events, 5):
                if verdicts := events.read():
                    missed += verdicts.missed
            same("missed", missed, 1)


@case
def verdicts_after_a_fallback() -> None:
    """What the one TCP connection acknowledges counts, not what it was given."""
    world.shape(1, 8, DELAY_MS)
    for deadline, verdict in ((SECOND, (1, 0)), (SECOND // 20, (0, 1))):
        with world.client_socket() as sock, world.listener(protocol=socket.IPPROTO_TCP) as waiting:
            mpdpa.set_chunk(sock, mpdpa.Chunk(100_000, deadline))
            sock.connect(("10.0.1.2", world.PORT))
            same("it fell back", mpdpa.probe(sock), mpdpa.State.FELL_BACK)
            server, _ = waiting.accept()
            with server, mpdpa.Events(sock) as events:
                begun = time.monotonic()
                sock.sendall(bytes(100_000))
                took = 0
                while took < 100_000:
                    took += len(server.recv(1 << 16))
                arrived = time.monotonic() - begun
                between("seconds for 100 KB at 8 Mbit/s", arrived, 0.09, 0.3)
                same("readable", readable(events, 5), True)
                between("seconds until the verdict", time.monotonic() - begun - arrived, -0.1, 1.5 * RTT_US / 1e6)
                heard = events.read()
                assert heard
                same("verdict", (heard.met, heard.missed), verdict)
    world.unshape()


def readable(handle: mpdpa.Events | mpdpa.Monitor | mpdpa.Sender, seconds: float) -> bool:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


@case
def the_newer_of_two_handles_hears() -> None:
    """Also when the older one is closed behind its back, as by assigning to the same name."""
    with Pair() as pair:
        events = mpdpa.Events(pair.client)
        older = events
        events = mpdpa.Events(pair.client)
        older.close()
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1, SECOND // 50))
        same("readable", readable(events, 5), True)
        events.close()
        with mpdpa.Events(pair.client):
            mine = os.eventfd(0, os.EFD_NONBLOCK)
            mpdpa.set_eventfd(pair.client, mine)
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1, SECOND // 50))
        world.until("one's own after a handle", lambda: errno_of(os.eventfd_read, mine) == 0)
        os.close(mine)


@case
def a_handle_outlives_its_socket() -> None:
    sock = world.client_socket()
    events = mpdpa.Events(sock)
    number = sock.fileno()
    sock.close()
    with world.client_socket() as other:
        os.dup2(other.fileno(), number)
        mine = os.eventfd(0, os.EFD_NONBLOCK)
        mpdpa.set_eventfd(other, mine)
        events.close()
        # the other socket keeps its own
        mpdpa.set_chunk(other, mpdpa.Chunk(1, SECOND // 50))
        world.until("its event", lambda: errno_of(os.eventfd_read, mine) == 0)
        os.close(mine)
        os.close(number)


@case
def one_eventfd_for_many_sockets() -> None:
    event = os.eventfd(0, os.EFD_NONBLOCK)
    with Pair() as pair, world.client_socket() as fresh:
        for sock in (pair.client, fresh):
            mpdpa.set_eventfd(sock, event)
            mpdpa.set_chunk(sock, mpdpa.Chunk(1, SECOND // 50))
        world.until("both", lambda: all(mpdpa.get_info(s).chunks_missed for s in (pair.client, fresh)))
        between("count", os.eventfd_read(event), 2, 4)
    os.close(event)


@case
def a_monitor_hears_its_namespace_alone() -> None:
    with world.netns("cl"):
        here = mpdpa.Monitor()
    with world.netns("sv"):
        there = mpdpa.Monitor()
    with here, there, Pair() as pair:
        pair.drain()
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, SECOND, cookie=5))
        pair.client.sendall(bytes(1000))
        number = mpdpa.get_info(pair.client).conn_id
        event = until_event(here, mpdpa.EventType.CHUNK_MET)
        assert event.chunk
        same("event", (event.id, event.chunk.length, event.chunk.cookie), (number, 1000, 5))
        same("the other one", there.read(), None)


def until_event(monitor: mpdpa.Monitor, kind: mpdpa.EventType) -> mpdpa.Event:
    while readable(monitor, 5):
        while event := monitor.read():
            if event.type == kind:
                return event
    raise AssertionError(f"no event {kind!r}")


@case
def a_slow_monitor_is_told_of_its_loss() -> None:
    with world.netns("cl"):
        monitor = mpdpa.Monitor()
    with monitor:
        for _ in range(40):
            with world.client_socket() as sock:
                for _ in range(64):
                    mpdpa.set_chunk(sock, mpdpa.Chunk(1, 20_000_000))
                world.until("verdicts", lambda sock=sock: mpdpa.get_info(sock).chunks_missed == 64)
        same("errno", drain_events(monitor), errno.ENOBUFS)
        same("then it goes on", drain_events(monitor), 0)


def drain_events(monitor: mpdpa.Monitor) -> int:
    """The errno with which reading stops, 0 when there are no more events."""
    try:
        while monitor.read():
            pass
    except OSError as error:
        return error.errno or -1
    return 0


def lowat(sock: socket.socket) -> int:
    return sock.getsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT)


def unsent(sock: socket.socket) -> int:
    return int.from_bytes(fcntl.ioctl(sock, SIOCOUTQNSD, bytes(4)), sys.byteorder)


def feed_all(sender: mpdpa.Sender, data: bytes) -> int:
    """Feeds until the message is written or dropped; the errno it ended with."""
    at = 0
    while at < len(data):
        try:
            taken = sender.feed(data[at : at + 65536])
        except OSError as error:
            return error.errno or -1
        at += taken
        if not taken:
            assert readable(sender, 10)
    return 0


@case
def a_chunk_is_sent_within_the_sockets_timeout() -> None:
    """What the timeout cuts off is still the chunk's, and goes out by sendall()."""
    data = bytes(20_000_000)
    with Pair() as pair:
        pair.client.settimeout(0.5)
        begun = time.monotonic()
        sent = -1
        try:
            mpdpa.send_chunk(pair.client, data, 60 * SECOND)
        except TimeoutError as error:
            sent = error.sent  # type: ignore[attr-defined]
        between("how long that took", time.monotonic() - begun, 0.5, 2)
        between("bytes taken", sent, 1, len(data) - 1)
        info = mpdpa.get_info(pair.client)
        assert info.chunk
        same("in force", (info.chunks_queued, info.chunk.length), (1, len(data)))
        pair.drain()
        pair.client.settimeout(None)
        pair.client.sendall(data[sent:])
        world.until("met", lambda: mpdpa.get_info(pair.client).chunks_met == 1, 60)
        pair.client.settimeout(30)
        mpdpa.send_chunk(pair.client, bytearray(b"whole"), SECOND)
        world.until("the next one", lambda: mpdpa.get_info(pair.client).chunks_met == 2)
        world.until("all of it", lambda: pair.received == len(data) + 5)


@case
def a_sender_sends_messages() -> None:
    with Pair() as pair, mpdpa.Sender(pair.drain().client) as sender:
        same("nothing to do", readable(sender, 0), False)
        for count, late in enumerate(mpdpa.Late, 1):
            sender.begin(300_000, SECOND, late=late)
            same("fed", feed_all(sender, bytes(300_000)), 0)
            world.until("acknowledged", lambda: sender.progress().acked == 300_000)
            progress = sender.progress()
            same("progress", (progress.state, progress.written, progress.dropped), (mpdpa.SendState.WRITTEN, 300_000, 0))
            same("met", mpdpa.get_info(pair.client).chunks_met, count)
        same("too much", errno_of(sender.feed, b"x"), errno.EINVAL)
        same("received", pair.received, 4 * 300_000)


@case
def a_sender_drops_what_is_late() -> None:
    """What was written is a chunk that was missed; the next message is not touched by it."""
    world.shape(1, 8, DELAY_MS)
    with Pair() as pair, mpdpa.Sender(pair.drain().client) as sender:
        size = 8_000_000
        before = lowat(pair.client)
        begun = time.monotonic()
        sender.begin(size, SECOND // 2, late=mpdpa.Late.TELL)
        most = 0
        with contextlib.suppress(OSError):
            while sender.feed(bytes(65536)) or readable(sender, 10):
                most = max(most, unsent(pair.client))
        same("it is late", errno_of(sender.feed, b"x"), errno.ETIME)
        between("unsent in the kernel", most, 1, HELD_BACK_BYTES + 65536)
        between("how long that took", time.monotonic() - begun, 0.5, 0.6)
        progress = sender.progress()
        same("state", progress.state, mpdpa.SendState.DROPPED)
        same("all of it is accounted for", progress.written + progress.dropped, size)
        between("dropped", progress.dropped, 1, size - 1)
        note(f"of {size} bytes {progress.written} were written and {progress.dropped} dropped")
        same("no more", errno_of(sender.feed, b"x"), errno.ETIME)
        world.until("what was written to be acknowledged", lambda: not mpdpa.get_info(pair.client).chunks_queued, 60)
        same("received", pair.received, progress.written)
        same("verdict", mpdpa.get_info(pair.client).chunks_missed, 1)
        same("the socket is as it was", lowat(pair.client), before)
        sender.begin(10_000, SECOND, late=mpdpa.Late.TELL)
        same("the next one", feed_all(sender, bytes(10_000)), 0)
        world.until("its verdict", lambda: mpdpa.get_info(pair.client).chunks_met == 1)
    world.unshape()


@case
def a_sender_keeps_what_is_late_if_told_so() -> None:
    world.shape(1, 8, DELAY_MS)
    with Pair() as pair, mpdpa.Sender(pair.drain().client) as sender:
        sender.begin(1_000_000, SECOND // 5, late=mpdpa.Late.SPEND)
        same("fed", feed_all(sender, bytes(1_000_000)), 0)
        world.until("all of it", lambda: sender.progress().acked == 1_000_000)
        same("verdict", mpdpa.get_info(pair.client).chunks_missed, 1)
    world.unshape()


@case
def a_sender_wakes_for_the_deadline_alone() -> None:
    with Pair() as pair, mpdpa.Sender(pair.client) as sender:
        size = 20_000_000
        sender.begin(size, SECOND // 2, late=mpdpa.Late.TELL)
        begun = time.monotonic()
        # the peer reads nothing, so room comes to an end
        while sender.feed(bytes(65536)) or readable(sender, 0.05):
            pass
        between("when there was no more room", time.monotonic() - begun, 0, 0.4)
        same("readable", readable(sender, 5), True)
        between("when", time.monotonic() - begun, 0.49, 0.55)
        same("late", errno_of(sender.feed, b"x"), errno.ETIME)


@case
def a_sender_without_a_message_is_quiet() -> None:
    """After a hangup, too; with a message the next feed tells of it."""
    with Pair() as pair, mpdpa.Sender(pair.drain().client) as sender:
        sender.begin(1000, SECOND)
        same("room", readable(sender, 5), True)
        same("fed", feed_all(sender, bytes(1000)), 0)
        world.until("acknowledged", lambda: sender.progress().acked == 1000)
        pair.client.shutdown(socket.SHUT_WR)
        pair.server.close()
        hangup = select.poll()
        hangup.register(pair.client, 0)
        assert hangup.poll(10_000)
        same("no message", readable(sender, 0.2), False)
    with Pair() as pair, mpdpa.Sender(pair.client) as sender:
        sender.begin(1000, SECOND)
        pair.client.shutdown(socket.SHUT_WR)
        same("a message", (readable(sender, 5), errno_of(sender.feed, b"x")), (True, errno.EPIPE))


@case
def a_sender_refuses() -> None:
    with Pair() as pair, mpdpa.Sender(pair.client) as sender:
        rows = [
            (errno.ENODATA, (0, SECOND)),
            (errno.EFBIG, (2**62 + 1, SECOND)),
            (errno.ETIME, (1, 0)),
            (errno.ERANGE, (1, 3601 * SECOND)),
        ]
        for expected, arguments in rows:
            same(f"{arguments}", errno_of(sender.begin, *arguments), expected)
        same("absolute, past", errno_of(sender.begin, 1, time.monotonic_ns(), absolute=True), errno.ETIME)
        same("nothing runs", errno_of(sender.feed, b"x"), errno.EINVAL)
        sender.begin(10, SECOND)
        same("too much", errno_of(sender.feed, bytes(11)), errno.EMSGSIZE)
        same("nothing", errno_of(sender.feed, b""), errno.EINVAL)
        same("the rest is given up", sender.feed(bytes(4)), 4)
        sender.begin(5, SECOND)
        same("a new one", sender.progress().length, 5)
    with Pair() as pair:
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, SECOND))
        with mpdpa.Sender(pair.client) as sender:
            same("beside a chunk", errno_of(sender.begin, 1, SECOND), errno.EBUSY)
            progress = sender.progress()
            same("none began", (progress.length, progress.state), (0, mpdpa.SendState.IDLE))
    with Pair() as pair:
        with mpdpa.Sender(pair.client) as sender:
            sender.begin(5, SECOND)
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, SECOND))


@case
def nothing_is_left() -> None:
    world.no_state_left("cl")
    world.no_state_left("sv")


if __name__ == "__main__":
    world.build()
    main()
