"""What the guest says on its second serial port; init is the counterpart.

A line when the command starts; when it has ended a line with its exit status, followed by the
/results directory as a compressed tar stream whose length and checksum that line gave.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

_START = b"mpdpa-start\n"
_REPORT = b"mpdpa-results "


class ProtocolError(Exception):
    """The guest's report is cut short or damaged."""


@dataclass(frozen=True)
class Report:
    """A command's end as the guest saw it. Times are seconds since the guest's boot."""

    status: int
    began: float
    ended: float
    archive: bytes


def started(stream: bytes) -> bool:
    return stream.startswith(_START)


def parse(stream: bytes) -> Report | None:
    """The report, or None if the guest has not sent one."""
    rest = stream.removeprefix(_START)
    if not rest.startswith(_REPORT):
        return None
    line, newline, payload = rest.partition(b"\n")
    if not newline:
        return None
    try:
        words = dict(word.split("=", 1) for word in line.decode().split()[1:])
        size, checksum = int(words["bytes"]), words["sha256"]
        report = Report(
            int(words["status"]), float(words["began"]), float(words["ended"]), payload[:size]
        )
    except (KeyError, ValueError) as error:
        raise ProtocolError(f"unreadable report line {line!r}") from error
    if len(payload) < size:
        raise ProtocolError(f"results cut short: {len(payload)} of {size} bytes")
    if hashlib.sha256(report.archive).hexdigest() != checksum:
        raise ProtocolError("results damaged: checksum differs")
    return report


def unpack(report: Report, target: Path) -> None:
    """Writes the guest's /results below target."""
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(report.archive), mode="r:gz") as archive:
        for member in archive:
            if not (member.isfile() or member.isdir() or member.issym()):
                continue
            destination = target / member.name
            if destination.is_symlink() or destination.is_file():
                destination.unlink()
            archive.extract(member, target, filter="data")


def clear(target: Path, names: tuple[str, ...]) -> None:
    """Removes what an earlier run left under these names."""
    for name in names:
        path = target / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
