"""Deterministic "newc" cpio archives, the format of an initramfs.

Whatever could differ between two machines or two runs is fixed: order, owner, times, inode
numbers. The kernel unpacks concatenated archives one after the other, so an overlay is just
another archive behind the base.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

FIXED_TIME = 1735689600
_ALIGN = 4
_TRAILER = "TRAILER!!!"


@dataclass(frozen=True)
class Entry:
    """One member: its path without leading slash, mode with type bits, and its content."""

    path: str
    mode: int
    data: bytes | Path = b""
    device: tuple[int, int] = (0, 0)


def directory(path: str) -> Entry:
    return Entry(path, stat.S_IFDIR | 0o755)


def regular(path: str, data: bytes | Path, mode: int = 0o644) -> Entry:
    return Entry(path, stat.S_IFREG | mode, data)


def symlink(path: str, target: str) -> Entry:
    return Entry(path, stat.S_IFLNK | 0o777, os.fsencode(target))


def character_device(path: str, major: int, minor: int) -> Entry:
    return Entry(path, stat.S_IFCHR | 0o600, device=(major, minor))


def tree(root: Path, *, owner_modes: bool = True) -> Iterator[Entry]:
    """Everything below a directory, parents first, sorted by path.

    Without owner_modes, permissions are reduced to what git would keep, so that the umask of
    whoever made an overlay does not matter.
    """
    for folder, names, files in os.walk(root):
        names.sort()
        base = Path(folder)
        for name in sorted([*names, *files]):
            entry = _from_path(root, base / name, owner_modes)
            if entry is not None:
                yield entry


def _from_path(root: Path, path: Path, owner_modes: bool) -> Entry | None:
    info = path.lstat()
    name = str(path.relative_to(root))
    if stat.S_ISLNK(info.st_mode):
        return symlink(name, os.readlink(path))
    mode = info.st_mode
    if not owner_modes:
        executable = stat.S_ISDIR(mode) or mode & stat.S_IXUSR
        mode = stat.S_IFMT(mode) | (0o755 if executable else 0o644)
    if stat.S_ISDIR(info.st_mode):
        return Entry(name, mode)
    if stat.S_ISREG(info.st_mode):
        return Entry(name, mode, path)
    return None  # sockets, pipes and devices have no place in an image


class Writer:
    """Writes one archive; members appear in the order they are added."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._inode = 0
        self._known: set[str] = set()

    def add(self, entry: Entry) -> None:
        """Adds a member, and the directories above it that are still missing."""
        for parent in reversed(Path(entry.path).parents):
            if str(parent) != "." and str(parent) not in self._known:
                self._write(directory(str(parent)))
        self._write(entry)

    def _write(self, entry: Entry) -> None:
        data = entry.data.read_bytes() if isinstance(entry.data, Path) else entry.data
        self._known.add(entry.path)
        self._inode += 1
        self._header(entry, self._inode, len(data))
        self._out.write(data)
        self._out.write(b"\0" * (-len(data) % _ALIGN))

    def _header(self, entry: Entry, inode: int, size: int) -> None:
        name = os.fsencode(entry.path) + b"\0"
        links = 2 if stat.S_ISDIR(entry.mode) else 1
        mtime = 0 if entry.path == _TRAILER else FIXED_TIME
        fields = (
            inode, entry.mode, 0, 0, links, mtime, size, 0, 0, *entry.device, len(name), 0,
        )  # fmt: skip
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + name
        self._out.write(header + b"\0" * (-len(header) % _ALIGN))

    def close(self) -> None:
        """Ends the archive; another one may follow it in the same file."""
        self._header(Entry(_TRAILER, 0), 0, 0)


def write_archive(out: BinaryIO, entries: Iterator[Entry] | list[Entry]) -> None:
    writer = Writer(out)
    for entry in entries:
        writer.add(entry)
    writer.close()
