"""The guest runner, by running guests. In the build environment, after "buildenv setup"."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import select
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import vm_cpu

GUEST = Path(__file__).resolve().parent / "guest"

# Traffic over two subflows through a slow hop, then everything that time could have touched.
REPEATED = """
ip netns add s
for i in 1 2; do
	ip link add c$i type veth peer name s$i netns s
	ip addr add 10.0.$i.1/24 dev c$i && ip link set c$i up
	ip -n s addr add 10.0.$i.2/24 dev s$i && ip -n s link set s$i up
	tc qdisc add dev c$i root netem delay 20ms
done
ip mptcp endpoint add 10.0.2.1 dev c2 subflow
ip -n s mptcp limits set subflows 2
ip mptcp limits set subflows 2
ip netns exec s python3 -c '
import socket
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
listener.bind(("10.0.1.2", 5201))
listener.listen()
peer, _ = listener.accept()
while peer.recv(1 << 16):
    pass
' &
until ip netns exec s ss -ltn | grep -q :5201; do read -rt 0.1 <> <(:); done
python3 -c '
import socket, time
sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
sender.connect(("10.0.1.2", 5201))
sender.sendall(bytes(4_000_000))
sender.shutdown(socket.SHUT_WR)
while sender.recv(1):
    pass
print(time.monotonic_ns())
'
wait
ss -tin >/results/ss.txt
date +%s.%N
head -c 16 /dev/urandom | od -An -tx1
"""


def guest(tmp_path: Path, *command: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(GUEST), "run", "--timeout", "100", "--results", str(tmp_path / "results"), *options, "--", *command],
        capture_output=True, text=True, errors="replace", timeout=300, check=False,
    )  # fmt: skip


def test_exit_status_and_output(tmp_path: Path) -> None:
    done = guest(tmp_path, "sh", "-c", "echo hello from $(uname -s); exit 7")
    assert done.returncode == 7
    assert "hello from Linux" in done.stdout


def test_results_come_back_byte_for_byte(tmp_path: Path) -> None:
    data = random.Random(1).randbytes(1_000_000)
    source = tmp_path / "input"
    source.write_bytes(data)
    done = guest(
        tmp_path, "sh", "-c", "cp /input /results/copy; sha256sum </input >/results/sum; exit 1",
        options=("--input", str(source)),
    )  # fmt: skip
    assert done.returncode == 1
    assert (tmp_path / "results/copy").read_bytes() == data
    assert (tmp_path / "results/sum").read_text().split()[0] == hashlib.sha256(data).hexdigest()
    assert json.loads((tmp_path / "results/vm.json").read_text())["clock"] == "virtual"


def test_overlay(tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    (layer / "opt").mkdir(parents=True)
    (layer / "opt/said.sh").write_text("#!/bin/sh\necho laid over\n")
    (layer / "opt/said.sh").chmod(0o755)
    done = guest(tmp_path, "/opt/said.sh", options=("--overlay", str(layer)))
    assert done.returncode == 0
    assert "laid over" in done.stdout


def test_timeout(tmp_path: Path) -> None:
    done = guest(tmp_path, "sh", "-c", "while :; do :; done", options=("--timeout", "25"))
    assert done.returncode == 124
    assert "guest:" in done.stderr + done.stdout


def test_panic(tmp_path: Path) -> None:
    done = guest(tmp_path, "sh", "-c", "echo c >/proc/sysrq-trigger")
    assert done.returncode == 122


@pytest.mark.parametrize("bad", [("run", "--seed", "x", "--", "true"), ("run", "--clock", "sun", "--", "true")])
def test_bad_words(bad: tuple[str, ...]) -> None:
    done = subprocess.run([str(GUEST), *bad], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""


def test_same_seed_same_everything(tmp_path: Path) -> None:
    seen = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        done = guest(folder, "bash", "-c", REPEATED, options=("--seed", "5"))
        assert done.returncode == 0, done.stdout
        said = [line for line in done.stdout.splitlines() if not line.startswith("guest:")]
        seen.append((said, (folder / "results/ss.txt").read_bytes()))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_guest_outlives_its_runner(how: signal.Signals, tmp_path: Path) -> None:
    forever = [str(GUEST), "run", "--", "sh", "-c", "echo running; while :; do :; done"]
    # Temporary files of its own: SIGKILL leaves them.
    with subprocess.Popen(
        forever, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as runner:  # fmt: skip
        assert runner.stdout
        assert runner.stdout.readline() == b"running\n"
        children = Path(f"/proc/{runner.pid}/task/{runner.pid}/children").read_text().split()
        guests = [os.pidfd_open(int(child)) for child in children]
        runner.send_signal(how)
        runner.wait()
    assert guests
    for descriptor in guests:
        assert select.select([descriptor], [], [], 30)[0] == [descriptor]
        os.close(descriptor)
    assert how == signal.SIGKILL or not list(tmp_path.iterdir())


def test_each_runner_has_a_processor_of_its_own(tmp_path: Path) -> None:
    """While there are any, and gives it back."""
    allowed = os.sched_getaffinity(0)
    with contextlib.ExitStack() as stack:
        taken = set()
        for _ in allowed:
            cpu = stack.enter_context(vm_cpu.own_cpu(tmp_path))
            assert os.sched_getaffinity(0) == {cpu}
            taken.add(cpu)
            os.sched_setaffinity(0, allowed)
        assert taken == allowed
        assert stack.enter_context(vm_cpu.own_cpu(tmp_path)) is None
        assert os.sched_getaffinity(0) == allowed
    assert os.sched_getaffinity(0) == allowed
    with vm_cpu.own_cpu(tmp_path) as cpu:
        assert os.sched_getaffinity(0) == {cpu}


def names(tree: Path, series: str) -> dict[str, str]:
    """What buildenv of this tools/vm calls its cache's entries."""
    script = f"""here={tree} cache=/c suite=trixie series={series}
        source "$here/lib/common.sh"; source "$here/lib/cache.sh"; cache_names
        printf '%s\\n' env=$env_dir kernel=$kernels guest=$guest_dir image=$images"""
    done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=True)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("file", "series", "others"),
    [
        ("lib/kernel.sh", "7.2", {"kernel", "image"}),
        ("lib/kernel.sh", "debug", set()),
        ("lib/debug.sh", "7.2", set()),
        ("lib/debug.sh", "debug", {"kernel", "image"}),
        ("packages/guest.list", "7.2", {"guest", "image"}),
        ("vm_image.py", "debug", {"guest", "image"}),
        ("lib/env.sh", "7.2", {"env", "kernel", "guest", "image"}),
    ],
)
def test_what_is_made_from_something_else_has_another_name(
    file: str, series: str, others: set[str], tmp_path: Path
) -> None:
    tree = tmp_path / "vm"
    shutil.copytree(GUEST.parent, tree, ignore=shutil.ignore_patterns("__pycache__"))
    before = names(tree, series)
    with (tree / file).open("a") as changed:
        changed.write("\n")
    after = names(tree, series)
    assert {what for what in before if before[what] != after[what]} == others
