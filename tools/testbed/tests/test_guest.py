"""What goes into the guest, and the pieces of it that need none."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from testbed import guestrun
from testbed.stream import Source

_PACKAGE = Path(guestrun.__file__).parent
# Imported by cli only when it is not in a guest.
_HOST_SIDE = {"options"}


def _imports(module: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse((_PACKAGE / f"{module}.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names |= {node.module} if node.module else {alias.name for alias in node.names}
    return names


def test_guest_modules_are_complete() -> None:
    needed = {"__init__", "__main__"}
    seen: set[str] = set()
    while needed - seen:
        module = min(needed - seen)
        seen.add(module)
        needed |= _imports(module) - _HOST_SIDE
    assert seen == set(guestrun.GUEST_MODULES)


def test_overlay_is_what_it_says(tmp_path: Path) -> None:
    """Every module, its byte code beside it; the same wherever it is made."""
    first, other = (_content(guestrun.make_overlay(tmp_path / name)) for name in ("a", "other"))
    assert first == other
    for suffix in (".py", ".pyc"):
        found = sorted(file.name.partition(".")[0] for file in first if file.suffix == suffix)
        assert found == sorted(guestrun.GUEST_MODULES)


def _content(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


def test_stream_pieces_fit_together() -> None:
    source = Source(7)
    whole = bytearray()
    while len(whole) < 3_000_000:
        whole += source.piece(len(whole), 77_777)
    other = Source(7)
    assert bytes(other.piece(1_000_000, 100_000)) == bytes(whole[1_000_000:1_100_000])
    assert bytes(source.piece(0, 1000)) != bytes(source.piece(1 << 20, 1000))
    assert bytes(Source(8).piece(0, 1000)) != bytes(source.piece(0, 1000))


def test_stream_knows_where_it_was_altered() -> None:
    """Across the end of its period, too."""
    source = Source(7)
    for offset in (0, 1_048_570, 3 * 1_048_573 - 10):
        data = bytearray(source.piece(offset, 1000))
        assert source.difference(offset, memoryview(data)) is None
        data[999] ^= 1
        assert source.difference(offset, memoryview(data)) == offset + 999
        assert source.difference(offset + 1, memoryview(data)) == offset + 1
    assert source.difference(5, memoryview(b"")) is None


SUMMARY = "guest: guest 14.2 s, wall 20.1 s, ratio 0.71\n"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["testbed: progress 0\n", "testbed: x-s1: no end\n", SUMMARY], "testbed: x-s1: no end"),
        (["noise\n", "guest: kernel panic before the command\n", "guest: wall 3.0 s\n"],
         "guest: kernel panic before the command"),
        (["Traceback:\n", "  a line\n", "ValueError: 3\n", "\n", SUMMARY], "ValueError: 3"),
        (["testbed: progress 3\n", SUMMARY], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_why_a_run_failed(lines: list[str], reason: str) -> None:
    """Not how long it took, which the guest says in any case."""
    assert guestrun._reason(lines) == reason
