# SPDX-License-Identifier: GPL-2.0
"""What the documents say is so: their code runs, their numbers are the kernel's."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

BYTES = 10_000_000


def block(top: Path, language: str, document: str = "set-a-deadline.md") -> str:
    text = (top / "Documentation" / document).read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1
    return found[0]


def run_against_sink(words: list[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs it with the address of something that counts what it gets."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP).close()
    except OSError as error:
        pytest.skip(f"no Multipath TCP: {error}")
    total = 0

    def count(server: socket.socket) -> None:
        nonlocal total
        connection, _ = server.accept()
        with connection:
            while data := connection.recv(1 << 20):
                total += len(data)

    with socket.create_server(("127.0.0.1", 0)) as server:
        reader = threading.Thread(target=count, args=(server,), daemon=True)
        reader.start()
        line = [*words, "127.0.0.1", str(server.getsockname()[1])]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, env=os.environ | environment)
        reader.join(timeout=60)
    assert done.returncode == 0, done.stderr
    assert total == BYTES
    return done


def build_c(out: Path, top: Path, tmp_path: Path) -> Path:
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no compiler")
    (tmp_path / "send.c").write_text(block(top, "c"))
    includes = [f"-I{top}/userspace/lib", f"-I{top}/kernel/uapi"]
    warnings = ["-Wall", "-Wextra", "-Werror"]
    words = [compiler, *warnings, "-o", "send", "send.c", *includes, f"-L{out}/lib", "-lmpdpa"]
    subprocess.run(words, cwd=tmp_path, check=True)
    return tmp_path / "send"


def test_c_example_builds_as_it_stands(out: Path, top: Path, tmp_path: Path) -> None:
    program = build_c(out, top, tmp_path)
    environment = os.environ | {"LD_LIBRARY_PATH": str(out / "lib")}
    done = subprocess.run([program], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (2, "usage: send ADDRESS PORT\n")


def test_c_example_sends(out: Path, top: Path, tmp_path: Path) -> None:
    done = run_against_sink([build_c(out, top, tmp_path)], LD_LIBRARY_PATH=str(out / "lib"))
    assert re.match("no deadline: |in force: ", done.stdout)


def test_python_example_sends(out: Path, top: Path, tmp_path: Path) -> None:
    (tmp_path / "send.py").write_text(block(top, "python"))
    library = {"MPDPA_LIBRARY": str(out / "lib/libmpdpa.so"), "PYTHONPATH": str(top / "userspace/python")}
    done = subprocess.run(
        [sys.executable, tmp_path / "send.py"], capture_output=True, text=True, env=os.environ | library
    )
    assert "usage: send.py" in done.stderr
    done = run_against_sink([sys.executable, tmp_path / "send.py"], **library)
    assert re.match("no deadline: |in force: ", done.stdout)


def test_scheduler_builds_by_the_line_that_is_printed(out: Path, top: Path, tmp_path: Path) -> None:
    """With libbpf's headers where the guide has them, and nowhere else."""
    text = (top / "Documentation/bpf-schedulers.md").read_text()
    (tmp_path / "mine.bpf.c").write_text(block(top, "c", "bpf-schedulers.md"))
    line = re.search(r"^    (clang .*\\\n.*)$", text, re.M)
    assert line
    headers = subprocess.run(["pkg-config", "--variable=includedir", "libbpf"], capture_output=True, text=True)
    if not shutil.which("clang") or not (out / "bpf/vmlinux.h").exists() or headers.returncode:
        pytest.skip("no clang, libbpf or vmlinux.h")
    source = tmp_path / "source"
    (source / "out/libbpf/include").mkdir(parents=True)
    for name, to in ("bpf", top / "bpf"), ("kernel", top / "kernel"), ("out/libbpf/include/bpf", Path(headers.stdout.strip()) / "bpf"):
        (source / name).symlink_to(to)
    (tmp_path / "vmlinux.h").symlink_to(out / "bpf/vmlinux.h")
    command = line[1].replace("SOURCE", "source").replace("clang ", "clang -nostdlibinc ")
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / "mine.bpf.o").exists()


def test_functions_that_documents_name_exist(top: Path) -> None:
    header = (top / "userspace/lib/mpdpa.h").read_text()
    text = (top / "Documentation/set-a-deadline.md").read_text()
    for name in re.findall(r"`(mpdpa_\w+)\(\)`", text):
        assert f"{name}(" in header


def kernel_numbers(top: Path) -> dict[str, int]:
    """Names that the table of sysctls may use."""
    uapi = "".join(path.read_text() for path in (top / "kernel/uapi/linux").glob("*.h"))
    numbers = {name: int(value) for name, value in re.findall(r"^#define (MPTCP_DPA_\w+)\s+(\d+)$", uapi, re.M)}
    for body in re.findall(r"^enum \w+ \{\n(.*?)^\};", uapi, re.M | re.S):
        for value, name in enumerate(re.findall(r"^\t(\w+),", body, re.M)):
            numbers[name] = value
    return numbers


def test_sysctl_page_has_the_kernels_ranges(top: Path) -> None:
    source = (top / "kernel/sysctl.c").read_text()
    numbers = kernel_numbers(top)
    rows = re.findall(r"\tSETTING\(\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+)\),", source)
    assert len(rows) == source.count("\tSETTING(")
    table = {
        name: tuple(numbers[word] if word in numbers else int(word) for word in values)
        for name, *values in rows
    }
    page = (top / "Documentation/man/mptcp_dpa-sysctl.7").read_text()
    said = re.findall(r'^\.IR net\.mptcp_dpa\.(\w+) " \((\d+) to (\d+); default (\d+)\)"$', page, re.M)
    assert {name: tuple(map(int, values)) for name, *values in said} == table


def section(page: str, heading: str) -> str:
    """What is below a heading of a man page, up to the next of its kind."""
    match = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^\.S[SH] |\Z)", page, re.M | re.S)
    assert match, heading
    return match[1]


# what each option's code can answer, beside what all of them can
ERRORS = {
    "CHUNK": "EINVAL E2BIG ENODATA EFBIG ETIME EOVERFLOW ENOPROTOOPT EPROTONOSUPPORT EPIPE ENOTCONN EOPNOTSUPP EBUSY ENOBUFS ENOMEM",
    "STREAM": "EINVAL E2BIG ERANGE ETIME EOVERFLOW EFBIG EBUSY ENOPROTOOPT EPROTONOSUPPORT EPIPE ENOTCONN EOPNOTSUPP ENOMEM",
    "PREF": "EINVAL E2BIG ENOENT ENOSPC EPERM ENOPROTOOPT EOPNOTSUPP ENOMEM",
    "EVENTFD": "EINVAL EBADF ENOPROTOOPT EOPNOTSUPP ENOMEM",
    "INFO": "EINVAL ENOPROTOOPT EOPNOTSUPP",
}


@pytest.mark.parametrize("option", ERRORS)
def test_options_page_has_every_error(top: Path, option: str) -> None:
    page = (top / "Documentation/man/mptcp_dpa.7").read_text()
    said = set(re.findall(r"\bE[A-Z0-9]{3,}\b", section(page, f".SS MPTCP_DPA_{option}")))
    assert said == set(ERRORS[option].split())


def test_options_page_knows_every_option_and_flag(top: Path) -> None:
    header = (top / "kernel/uapi/linux/mptcp_dpa_sock.h").read_text()
    page = (top / "Documentation/man/mptcp_dpa.7").read_text()
    for name in re.findall(r"^#define (MPTCP_DPA_(?:\w+)\s+0x\w+|MPTCP_DPA_(?:CHUNK_F|PREF)_\w+)", header, re.M):
        word = name.split()[0]
        if not word.endswith(("_MASK", "_MAX", "_V1")):
            assert word in page
    for struct in ("chunk", "stream", "pref"):
        body = re.search(rf"^struct mptcp_dpa_{struct} \{{\n(.*?)^\}};", header, re.M | re.S)
        assert body
        fields = re.findall(r"\t(\w+)(?:\[\d+\])?;", body[1])
        shown = re.search(rf"^struct mptcp_dpa_{struct} \{{\n(.*?)^\}};", page, re.M | re.S)
        assert shown
        assert re.findall(r"^    __\w+ +(\w+)", shown[1], re.M) == fields


def test_command_page_knows_every_command(top: Path) -> None:
    main = (top / "userspace/cmd/main.c").read_text()
    page = (top / "Documentation/man/mpdpa.8").read_text()
    completion = (top / "userspace/cmd/completion.bash").read_text()
    for name in re.findall(r"&command_(\w+)", main):
        assert re.search(rf"^\.B {name}$|^\.SS .*\b{name}\b", page, re.M), name
        assert re.search(rf'-W "[^"]*\b{name}\b', completion), name


def test_pages_are_well_formed(top: Path) -> None:
    """No page has a line that groff would take for a request by accident."""
    requests = {
        "TH", "SH", "SS", "P", "TP", "IP", "B", "I", "BR", "BI", "IR", "RB",
        "IB", "RI", "nf", "fi", "EX", "EE", "in", "SY", "YS", "OP", "br",
    }
    for page in sorted((top / "Documentation/man").glob("*.[1-9]")):
        for number, line in enumerate(page.read_text().splitlines(), 1):
            if line.startswith(".") and not line.startswith('.\\"'):
                assert line[1:].split()[0] in requests, f"{page.name}:{number}: {line}"


def complete(top: Path, *words: str, **environment: str) -> list[str]:
    """What bash offers behind these words."""
    script = (
        f"source {top}/userspace/cmd/completion.bash; COMP_WORDS=(mpdpa \"$@\"); "
        "COMP_CWORD=$#; _mpdpa; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    line = ["bash", "-c", script, "bash", *words]
    return subprocess.run(line, capture_output=True, text=True, check=True, env=os.environ | environment).stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["mo"], ["monitor"]),
        (["conn", ""], ["show", "set"]),
        (["conn", "set", ""], ["id", "token"]),
        (["show", ""], ["id", "token"]),
        (["conn", "set", "id", "7", ""], ["alpha", "overflow", "pref", "chunk"]),
        (["conn", "set", "id", "7", "pref", "dev", "lo", ""], ["cost"]),
        (["conn", "set", "id", "7", "pref", "dev", "lo", "cost", ""], ["forbidden", "none"]),
        (["conn", "set", "id", "7", "chunk", "5M", ""], ["in"]),
        (["conn", "set", "id", "7", "chunk", "5M", "in", "1s", "late", ""], ["spend", "cheap", "tell"]),
        (["path", "set", "a"], ["addr"]),
        (["path", "set", "dev", "lo", ""], ["cost", "quota", "cheap-rate"]),
        (["path", "set", "dev", "lo", "cost", "10", "quota", "1G", ""], ["per"]),
        (["path", "set", "dev", "lo", "cost", "10", "quota", "1G", "per", "1h", ""], ["soft", "cheap-rate"]),
        (["path", "set", "dev", "lo", "cost", "10", "quota", "1G", "per", "1h", "soft", ""], ["cheap-rate"]),
        (["path", "set", "dev", "lo", "cost", "10", "quota", "none", ""], ["cheap-rate"]),
        (["path", "set", "dev", "lo", "cost", "10", "cheap-rate", "5M", ""], ["quota"]),
        (["unload", "--v"], ["--verbose"]),
        (["top", "--o"], ["--once"]),
        (["-d", "3", "st"], ["status", "stat"]),
    ],
)
def test_completion(top: Path, words: list[str], offered: list[str]) -> None:
    assert complete(top, *words) == offered


def test_completion_looks_into_the_namespace_that_is_named(top: Path, tmp_path: Path) -> None:
    answers = {"ip": "7: wan0@if8: <UP>", "mpdpa": "conn 7 token 0000000a cookie 1"}
    for name, answer in answers.items():
        (tmp_path / name).write_text(f'#!/bin/sh\n[ "$1 $2" = "-n lab" ] && echo "{answer}"\n')
        (tmp_path / name).chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for words, offered in (["path", "set", "dev", ""], ["wan0"]), (["conn", "set", "token", ""], ["0000000a"]):
        assert complete(top, "-n", "lab", *words, **path) == offered
        assert complete(top, *words[:-1], "-n", "lab", "", **path) == offered
        assert complete(top, *words, **path) == []


@pytest.mark.parametrize("action", ["del", "show"])
def test_completion_offers_the_paths_that_have_a_cost(top: Path, tmp_path: Path, action: str) -> None:
    lines = "dev if7 cost 10\ndev wan0 cost 3 cheap-rate 9\nendpoint 2 cost 5\naddr fd00::1 cost forbidden"
    (tmp_path / "mpdpa").write_text(f"#!/bin/sh\n[ \"$*\" = 'path show' ] && echo '{lines}'\n")
    (tmp_path / "mpdpa").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for kind, offered in ("dev", ["if7", "wan0"]), ("endpoint", ["2"]), ("addr", ["fd00::1"]):
        assert complete(top, "path", action, kind, "", **path) == offered


def test_cost_of_options_is_told_for_every_call(top: Path) -> None:
    """The table is from a run of the bench as it is: the same calls, no figure missing."""
    page = (top / "Documentation/sockopt-cost.md").read_text()
    source = (top / "userspace/bench/sockopt.c").read_text()
    measured = re.findall(r'^\t\{ "(\w+)", "([^"]+)",', source, re.M)
    told = re.findall(r"^\| (\w+) \| `([^`]+)` \| (?:\d+ \| ){3}[+-]\d+ \|$", page, re.M)
    assert measured
    assert told == measured


def test_every_key_of_the_json_is_in_the_manual(top: Path) -> None:
    manual = (top / "Documentation/man/mpdpa.8").read_text()
    told = set(re.findall(r"\w+", re.search(r"^\.SH JSON$(.*?)^\.SH", manual, re.M | re.S)[1]))
    key = re.compile(r'\b(?:json|put)_\w+\([^;"]*"([a-z_]+)"')
    printed = {name for file in (top / "userspace/cmd").glob("*.c") for name in key.findall(file.read_text())}
    assert {"left_ns", "quota", "alpha_milli"} <= printed
    assert printed <= told, printed - told
