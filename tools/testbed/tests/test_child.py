"""Conversations between the processes of a cell."""

from __future__ import annotations

import select
import socket

import pytest

from testbed.child import Channel


def pair() -> tuple[Channel, socket.socket]:
    ours, theirs = socket.socketpair()
    return Channel(ours), theirs


def is_ready(channel: Channel) -> bool:
    return bool(select.select([channel], [], [], 0)[0])


def test_messages_that_come_together_are_heard_one_by_one() -> None:
    channel, other = pair()
    Channel(other).send(event="progress", seconds=1)
    Channel(other).send(event="measured")
    assert channel.receive(1) == {"event": "progress", "seconds": 1}
    assert is_ready(channel)
    assert channel.receive(1) == {"event": "measured"}
    assert not is_ready(channel)
    other.close()
    assert channel.receive(1) is None


def test_a_message_that_comes_in_pieces() -> None:
    channel, other = pair()
    other.sendall(b'{"event": ')
    with pytest.raises(TimeoutError):
        channel.receive(0)
    other.sendall(b'"measured"}\n{"event"')
    assert channel.receive(1) == {"event": "measured"}
    other.sendall(b': "ended"}\n')
    assert channel.receive(1) == {"event": "ended"}
