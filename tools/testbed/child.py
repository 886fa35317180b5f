"""Processes of a cell: forked into a namespace, spoken to by lines of JSON."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from . import libc
from .errors import MeasurementError
from .netns import Namespace

Message = dict[str, Any]


class Channel:
    """One end of a conversation. A message is taken from the socket when it is received and not
    before, so that who waits for the socket hears of each."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._held = b""

    def fileno(self) -> int:
        return self._sock.fileno()

    def send(self, **message: object) -> None:
        self._sock.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, timeout: float | None = None) -> Message | None:
        """The next message, None at the end; TimeoutError if there is none in time."""
        while b"\n" not in self._held:
            ready, _, _ = select.select([self._sock], [], [], timeout)
            if not ready:
                raise TimeoutError
            data = self._sock.recv(1 << 16, socket.MSG_PEEK)
            if not data:
                return None
            line, end, _ = data.partition(b"\n")
            self._held += self._sock.recv(len(line + end))
        message: Message = json.loads(self._held)
        self._held = b""
        return message

    def close(self) -> None:
        self._sock.close()


class Child:
    """A process of ours; ``expect`` and ``stop`` are all that is done to it."""

    def __init__(self, role: str, namespace: Namespace, work: Callable[[Channel], None]) -> None:
        self.role = role
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        with namespace:
            self._pid = os.fork()
            if self._pid == 0:
                ours.close()
                _become(work, Channel(theirs))
        theirs.close()
        self.channel = Channel(ours)

    def expect(self, event: str, timeout: float) -> Message:
        """The next message, which must be this event."""
        try:
            message = self.channel.receive(timeout)
        except TimeoutError:
            raise MeasurementError(f"{self.role}: no '{event}' within {timeout:.0f} s") from None
        if message is None:
            raise MeasurementError(f"{self.role}: ended before '{event}'")
        if "error" in message:
            raise MeasurementError(f"{self.role}: {message['error']}")
        if message.get("event") != event:
            raise MeasurementError(f"{self.role}: said {message} instead of '{event}'")
        return message

    def stop(self) -> None:
        self.channel.close()
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _become(work: Callable[[Channel], None], channel: Channel) -> NoReturn:
    """The child's life. It never returns into the parent's code."""
    status = 1
    try:
        libc.die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        work(channel)
        status = 0
    except (MeasurementError, OSError) as error:
        channel.send(error=" ".join(str(error).split()))
    except BaseException:
        traceback.print_exc()
        channel.send(error="failed, see the traceback")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
