# SPDX-License-Identifier: GPL-2.0
"""The Python bindings say what the headers say, and work without the module."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest

HEADERS = ["kernel/uapi/linux/mptcp_dpa.h", "kernel/uapi/linux/mptcp_dpa_sock.h", "userspace/lib/mpdpa.h"]


@pytest.fixture(scope="module")
def package(out: Path, top: Path) -> ModuleType:
    os.environ["MPDPA_LIBRARY"] = str(out / "lib" / "libmpdpa.so")
    sys.path.insert(0, str(top / "userspace" / "python"))
    return importlib.import_module("mpdpa")


def part(package: ModuleType, name: str) -> ModuleType:
    return importlib.import_module(f"{package.__name__}.{name}")


def evaluate(top: Path, tmp_path: Path, expressions: list[str]) -> list[int]:
    """What the compiler makes of constant expressions."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no compiler")
    lines = "".join(f'\tprintf("%lld\\n", (long long)({text}));\n' for text in expressions)
    source = f"#include <stdio.h>\n#include <stddef.h>\n#include <mpdpa.h>\nint main(void)\n{{\n{lines}\treturn 0;\n}}\n"
    (tmp_path / "values.c").write_text(source)
    words = [compiler, f"-I{top}/userspace/lib", f"-I{top}/kernel/uapi", "-o", "values", "values.c"]
    subprocess.run(words, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "values"], capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]


def test_structures_have_the_headers_layout(package: ModuleType, top: Path, tmp_path: Path) -> None:
    expressions, values = [], []
    for name, struct in part(package, "_lib").STRUCTS.items():
        expressions.append(f"sizeof(struct {name})")
        values.append(ctypes.sizeof(struct))
        for field, *_ in struct._fields_:
            expressions += [
                f"offsetof(struct {name}, {field})",
                f"sizeof(((struct {name} *)0)->{field})",
            ]
            values += [getattr(struct, field).offset, getattr(struct, field).size]
    assert dict(zip(expressions, evaluate(top, tmp_path, expressions), strict=True)) == dict(
        zip(expressions, values, strict=True)
    )


def expected_constants(package: ModuleType) -> dict[str, int]:
    """The C name of every constant of the bindings."""
    c = part(package, "constants")
    plain = ["CHUNKS_MAX", "PATHS_MAX", "PREFS_MAX", "COST_DEFAULT", "COST_BACKUP", "COST_MAX"]
    plain += ["COST_FORBIDDEN", "ALPHA_MIN", "ALPHA_MAX", "CHUNK_LATE_MASK"]
    plain += ["OVERFLOW_MAX", "OVERFLOW_OFF"]
    options = ["CHUNK", "INFO", "STREAM", "PREF", "EVENTFD"]
    found = {f"MPTCP_DPA_{name}": getattr(c, name) for name in plain}
    found |= {f"MPTCP_DPA_{name}": getattr(c, f"MPTCP_DPA_{name}") for name in options}
    found |= {"MPTCP_DPA_CHUNK_F_ABS": c.CHUNK_ABS}
    found |= {f"MPTCP_DPA_CHUNK_F_{flag.name}": flag for flag in c.Late if flag}
    found |= {f"MPTCP_DPA_PATH_F_{flag.name}": flag for flag in c.PathFlags}
    found |= {f"MPTCP_DPA_INFO_F_{flag.name}": flag for flag in c.InfoFlags}
    found |= {f"MPDPA_{state.name}": state for state in c.State}
    found |= {f"MPDPA_SEND_{state.name}": state for state in c.SendState}
    found |= {f"MPDPA_EVENT_{kind.name}": kind for kind in c.EventType}
    own = ["CHANGE_ALPHA", "CHANGE_CHUNK", "CHANGE_OVERFLOW", "LIMIT_QUOTA", "LIMIT_CHEAP_RATE", "QUOTA_SOFT"]
    return found | {f"MPDPA_{name}": getattr(c, name) for name in own}


def test_constants_have_the_headers_values(package: ModuleType, top: Path, tmp_path: Path) -> None:
    expected = expected_constants(package)
    values = evaluate(top, tmp_path, list(expected))
    assert {name: int(value) for name, value in expected.items()} == dict(
        zip(expected, values, strict=True)
    )


def test_no_constant_of_the_headers_is_missing(package: ModuleType, top: Path) -> None:
    text = "".join((top / name).read_text() for name in HEADERS)
    groups = r"(?:MPTCP_DPA_(?:CHUNK_F|PATH_F|INFO_F)|MPDPA_(?:CHANGE|EVENT|SEND|LIMIT|QUOTA))_\w+"
    named = set(re.findall(rf"^(?:#define\s+|\t)({groups})\s*[(0-9=,\s]", text, re.MULTILINE))
    assert len(named) > 20
    assert named <= set(expected_constants(package))


def test_every_function_has_a_prototype(package: ModuleType, top: Path) -> None:
    exported = re.findall(r"^\t(mpdpa_\w+);", (top / "userspace/lib/libmpdpa.map").read_text(), re.M)
    prototypes = part(package, "_lib").PROTOTYPES
    assert set(prototypes) == set(exported)
    header = (top / "userspace/lib/mpdpa.h").read_text()
    for name, (arguments, _) in prototypes.items():
        declared = re.search(rf"^\w[\w* ]*\b{name}\(((?:[^()]|\([^()]*\))*)\);", header, re.M)
        assert declared
        plain = re.sub(r"\([^()]*\)", "", declared[1])
        assert len(arguments) == plain.count(",") + 1, name


def test_everything_is_exported(package: ModuleType) -> None:
    assert all(hasattr(package, name) for name in package.__all__)


def test_errors_have_errno(package: ModuleType) -> None:
    with socket.socket() as plain:
        for call in (package.get_info, package.get_prefs, package.stop_stream):
            with pytest.raises(package.MpdpaError) as caught:
                call(plain)
            assert caught.value.errno
        assert package.probe(plain) == package.State.PLAIN_TCP
        assert package.probe(plain.fileno()) == package.State.PLAIN_TCP
    with pytest.raises(OSError, match="Bad file descriptor"):
        package.probe(9999)


def test_states_are_explained(package: ModuleType) -> None:
    texts = {package.explain(state)[0] for state in package.State}
    assert len(texts) == len(package.State)
    assert package.explain(package.State.NOT_ATTACHED)[1] == "mpdpa load"


def test_paths_keep_their_names(package: ModuleType) -> None:
    paths = part(package, "paths")
    for path in (
        package.Path(endpoint=3, cost=2),
        package.Path(ifindex=7),
        package.Path.of_address("192.0.2.1", cost=9),
        package.Path.of_address("2001:db8::1", cost=package.COST_FORBIDDEN),
        package.Path.of_interface("lo"),
    ):
        assert paths.from_struct(paths.to_struct(path)) == path


def test_numbers_do_not_wrap(package: ModuleType) -> None:
    paths, sockets = part(package, "paths"), part(package, "sockets")
    good = sockets.chunk_struct(package.Chunk(2**64 - 1, 7, cookie=2**64 - 1))
    assert (good.length, good.cookie) == (2**64 - 1, 2**64 - 1)
    for wrong in ({"length": -1}, {"length": 2**64}, {"deadline_ns": -5}, {"cookie": 2**64}, {"alpha_milli": 2**32}):
        with pytest.raises(OverflowError, match=next(iter(wrong))):
            sockets.chunk_struct(package.Chunk(**({"length": 1, "deadline_ns": 1} | wrong)))
    for path in (package.Path(endpoint=-1), package.Path(ifindex=2**32), package.Path(endpoint=1, cost=-1)):
        with pytest.raises(OverflowError):
            paths.to_struct(path)
    with pytest.raises(OverflowError, match="quota_bytes"):
        paths.limits_to_struct(package.Limits(package.Quota(2**64, 1)))
    with socket.socket() as plain, package.Sender(plain) as sender:
        for call in (
            lambda: package.send_chunk(plain, b"x", -1),
            lambda: package.set_stream(plain, package.Stream(2**64, 1)),
            lambda: sender.begin(2**64 + 1, 1),
            lambda: sender.begin(1, -1),
        ):
            with pytest.raises(OverflowError):
                call()
        with pytest.raises(TypeError):
            package.set_chunk(plain, package.Chunk(1.5, 1))


def test_bytes_alone_are_sent(package: ModuleType) -> None:
    with socket.socket() as plain, package.Sender(plain) as sender:
        for wrong in ("text", None, 5, ["x"]):
            for timeout in (None, 1):
                plain.settimeout(timeout)
                with pytest.raises(TypeError):
                    package.send_chunk(plain, wrong, package.SECOND)
            with pytest.raises(TypeError):
                sender.feed(wrong)
        # anything else is refused by the kernel alone
        for good in (b"x", bytearray(b"x"), memoryview(b"x"), memoryview(bytearray(b"xyz"))[1:]):
            with pytest.raises(package.MpdpaError) as caught:
                package.send_chunk(plain, good, package.SECOND)
            assert caught.value.sent == 0


def test_what_the_library_reads(package: ModuleType) -> None:
    for data in (b"abc", bytearray(b"abc"), memoryview(b"xabc")[1:], memoryview(bytearray(b"xabc"))[1:]):
        raw, length = part(package, "_lib").octets(data)
        assert bytes(raw) == b"abc"
        assert length == 3
    words = memoryview(bytearray(8)).cast("I")
    assert part(package, "_lib").octets(words)[1] == 8


def test_a_chunk_is_sent_within_the_timeout(package: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the kernel had taken the chunk: what is written and what is left of it."""
    chunks = []
    monkeypatch.setattr(part(package, "sockets"), "set_chunk", lambda _sock, chunk: chunks.append(chunk))
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(0.2)
        data = bytes(range(256)) * 40_000
        begun = time.monotonic()
        with pytest.raises(TimeoutError) as caught:
            package.send_chunk(near, data, package.SECOND, package.Late.TELL)
        assert 0.2 <= time.monotonic() - begun < 5
        assert chunks == [package.Chunk(len(data), package.SECOND, late=package.Late.TELL)]
        sent = caught.value.sent
        assert 0 < sent < len(data)
        assert near.gettimeout() == 0.2
        near.setblocking(True)
        writer = threading.Thread(target=lambda: near.sendall(data[sent:]))
        writer.start()
        got = b""
        while len(got) < len(data):
            got += far.recv(1 << 20)
        writer.join()
        assert got == data
        far.close()
        near.settimeout(5)
        with pytest.raises(BrokenPipeError) as broken:
            package.send_chunk(near, b"x", package.SECOND)
        assert broken.value.sent == 0


def test_closed_handles_say_so(package: ModuleType) -> None:
    with socket.socket() as plain:
        sender = package.Sender(plain)
        assert sender.progress().state == package.SendState.IDLE
        with pytest.raises(OSError, match="argument"):
            sender.feed(b"x")
        sender.close()
        sender.close()
        with pytest.raises(ValueError, match="closed"):
            sender.fileno()


def test_sender_without_a_message_is_quiet(package: ModuleType) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
        package.Sender(client) as sender,
    ):
        server.accept()[0].close()
        client.shutdown(socket.SHUT_WR)
        hangup = select.poll()
        hangup.register(client, 0)
        assert hangup.poll(10_000)
        assert not select.select([sender], [], [], 0.1)[0]


def test_without_the_module(package: ModuleType) -> None:
    if Path("/sys/module/mptcp_dpa").exists():
        pytest.skip("the module is loaded")
    for make in (package.Control, package.Monitor):
        with pytest.raises(package.MpdpaError, match="kernel module mptcp_dpa is not loaded") as caught:
            make()
        assert caught.value.errno == 2
