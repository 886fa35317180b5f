#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The command on live connections: conn, stat, monitor, top, path."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from typing import Any

import mpdpa
import world
from ktap import between, case, main, same
from world import Pair, run

SECOND = mpdpa.SECOND
# of a network namespace
COSTS_MAX = 1024


def ok(line: str) -> str:
    done = run("mpdpa", "-n", "cl", *line.split())
    assert done.returncode == 0, f"mpdpa {line}: {done.stderr}"
    same(f"errors of {line}", done.stderr, "")
    return done.stdout


def as_json(line: str) -> Any:
    return json.loads(ok(f"-j {line}"))


def fails(line: str, reason: str, status: int = 1) -> None:
    done = run("mpdpa", "-n", "cl", *line.split())
    same(f"exit status of {line}", done.returncode, status)
    same(f"lines of {line}", done.stderr.count("\n"), 1)
    assert reason in done.stderr, done.stderr


def only() -> dict[str, Any]:
    conns = as_json("conn show")
    same("connections", len(conns), 1)
    return conns[0]


@case
def paths_by_address() -> None:
    ok("path set addr 10.0.1.1 cost 5")
    ok("path set addr fd00::1 cost 6")
    ok("path set dev c1 cost 7")
    same("text", ok("path show"), "addr 10.0.1.1 cost 5\naddr fd00::1 cost 6\ndev c1 cost 7\n")
    same("JSON", [(p.get("addr"), p["cost"]) for p in as_json("path show")], [("10.0.1.1", 5), ("fd00::1", 6), (None, 7)])
    same("one", ok("path show addr fd00::1"), "addr fd00::1 cost 6\n")
    for name in ("addr 10.0.1.1", "addr fd00::1", "dev c1"):
        ok(f"path del {name}")
    fails("path del addr 10.0.1.1", "given no cost")
    ok("path set addr ::ffff:10.0.1.1 cost 8")
    same("IPv4 in IPv6", ok("path show"), "addr 10.0.1.1 cost 8\n")
    same("by that name", ok("path show addr ::ffff:10.0.1.1"), "addr 10.0.1.1 cost 8\n")
    ok("path del addr 10.0.1.1")


@case
def a_namespace_has_room_for_so_many_costs() -> None:
    with world.control() as ctl:
        for i in range(COSTS_MAX):
            ctl.set_path(mpdpa.Path.of_address(f"fd00::{i + 1:x}", 2))
        fails("path set addr fd01::1 cost 3", "as many costs as it can have")
        for i in range(COSTS_MAX):
            ctl.del_path(mpdpa.Path.of_address(f"fd00::{i + 1:x}"))
    same("none left", ok("path show"), "")


@case
def connections_are_shown() -> None:
    same("none", (ok("conn show"), as_json("show")), ("", []))
    with Pair() as pair:
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(5000, 3 * SECOND, cookie=9, alpha_milli=800, late=mpdpa.Late.TELL))
        mpdpa.set_pref(pair.client, mpdpa.Path(endpoint=3, cost=mpdpa.COST_FORBIDDEN))
        conn = only()
        same("by token", [c["id"] for c in as_json(f"conn show token {conn['token']}")], [conn["id"]])
        same("by id", [c["token"] for c in as_json(f"show id {conn['id']}")], [conn["token"]])
        chunk = conn["chunk"]
        same("chunk", (chunk["length"], chunk["cookie"], chunk["alpha_milli"], chunk["late"]), (5000, 9, 800, "tell"))
        between("left", chunk["left_ns"], 1 * SECOND, 3 * SECOND)
        same("subflow", (conn["subflows"][0]["dev"], conn["subflows"][0]["flags"]), ("c1", ["active"]))
        same("prefs", conn["prefs"], [{"endpoint": 3, "cost": "forbidden"}])
        text = ok("show")
        for part in (
            rf"^conn {conn['id']} token {conn['token']} cookie \d+ uid 0 alpha default queued 1 met 0 missed 0 ",
            r"^  chunk length 5000 sent 0 acked 0 left 2\.\d{3}s .* cookie 9 late tell$",
            r"^  subflow 1 dev c1 cost 1 goodput 0 .* active$",
            r"^  pref endpoint 3 cost forbidden$",
        ):
            assert re.search(part, text, re.MULTILINE), f"no {part} in {text}"
    fails("conn show id 999999", "no such connection")
    fails("conn show token 1", "no such connection")


@case
def connections_are_changed() -> None:
    with Pair() as pair:
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1, 60 * SECOND))
        number = only()["id"]
        ok(f"conn set id {number} alpha 0.5 pref dev c1 cost 9 pref addr 10.0.2.1 cost forbidden chunk 3k in 60s cookie 4")
        conn = only()
        same("alpha", conn["alpha_milli"], 500)
        same("cost", conn["subflows"][0]["cost"], 9)
        same("queued", conn["queued"], 2)
        ok(f"conn set token {conn['token']} alpha default pref dev c1 cost none")
        conn = only()
        same("alpha", conn["alpha_milli"], None)
        same("prefs", [p.get("addr") for p in conn["prefs"]], ["10.0.2.1"])
        fails(f"conn set id {number} alpha 2 pref dev c1 cost none", "no such preference")
        same("all or nothing", only()["alpha_milli"], None)
        fails(f"conn set id {number} chunk 5 in 1ns pref dev nix cost 3", 'no interface "nix"')
        for i in range(5):
            ok(f"conn set id {number} pref endpoint {i + 1} cost 3")
        fails(f"conn set id {number} pref endpoint 6 cost 3", "as many preferences as it can have")
        fails(f"conn set id {number} chunk 5 in 9300000000s", "due too late")
        fails(f"conn set id {number} chunk 9000000000G in 1s", "too long")
        pair.client.shutdown(socket.SHUT_WR)
        fails(f"conn set id {number} chunk 5 in 1s", "shut down for writing")
        mpdpa.set_stream(pair.server, mpdpa.Stream(SECOND, SECOND))
    fails("conn set id 999999 alpha 1", "no such connection")
    nobody = ("setpriv", "--reuid", "65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all")
    done = run("ip", "netns", "exec", "cl", *nobody, "mpdpa", "conn", "set", "id", "1", "alpha", "1")
    same("without privilege", (done.returncode, "needs CAP_NET_ADMIN" in done.stderr), (1, True))


@case
def counters_are_shown() -> None:
    counters = as_json("stat")
    lines = ok("stat").splitlines()
    same("the same names", [line.split()[0] for line in lines], list(counters))
    same("no connection", counters["connections"], 0)


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(["mpdpa", "-n", "cl", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def send_met_and_missed() -> None:
    with Pair() as pair:
        pair.drain()
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, SECOND, cookie=1))
        pair.client.sendall(bytes(1000))
        world.until("met", lambda: mpdpa.get_info(pair.client).chunks_met)
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, SECOND // 50, cookie=2))
        world.until("missed", lambda: mpdpa.get_info(pair.client).chunks_missed)


@case
def events_are_printed() -> None:
    plain, stamped = start("monitor"), start("monitor", "-j", "-t")
    time.sleep(1)
    send_met_and_missed()
    time.sleep(0.5)
    for each in (plain, stamped):
        each.send_signal(signal.SIGINT)
        same("exit status", each.wait(timeout=10), 0)
    text = plain.stdout.read() if plain.stdout else ""
    for part in (
        r"^chunk-met conn \d+ token [0-9a-f]{8} length 1000 cookie 1 left \d+ms$",
        r"^chunk-missed conn \d+ token [0-9a-f]{8} length 1000 cookie 2 left -\d+(ms|us)$",
    ):
        assert re.search(part, text, re.MULTILINE), f"no {part} in {text}"
    events = [json.loads(line) for line in stamped.stdout or ()]
    names = [e["event"] for e in events if e["event"] != "chunk-at-risk"]
    same("events", names, ["chunk-met", "chunk-missed"])
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d", e["time"]) for e in events)
    same("cookies", [e["chunk"]["cookie"] for e in events if e["event"] != "chunk-at-risk"], [1, 2])


@case
def a_monitor_needs_privilege() -> None:
    nobody = ("setpriv", "--reuid", "65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all")
    done = run("ip", "netns", "exec", "cl", *nobody, "mpdpa", "monitor")
    same("exit status", done.returncode, 1)
    assert "needs CAP_NET_ADMIN" in done.stderr, done.stderr


@case
def top_prints_once() -> None:
    world.shape(1, 8, 10)
    with Pair() as pair:
        pair.drain()
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(2_000_000, 10 * SECOND))
        threading.Thread(target=pair.client.sendall, args=(bytes(1_500_000),), daemon=True).start()
        time.sleep(0.3)
        text = ok("top -1 -d 0.5")
        world.until("the end", lambda: pair.received == 1_500_000)
    world.unshape()
    assert "\033" not in text
    assert all(len(line) <= 80 for line in text.splitlines()), text
    row = re.search(r"^ +\d+ [0-9a-f]{8} .* \[[#|]+[=|]*[.|]+\] .*s. +(\d\.\d)M$", text, re.MULTILINE)
    assert row, text
    between("Mbit/s", float(row[1]), 5, 8.5)
    assert re.search(r"^ +1 c1 +cost 1 +in use ", text, re.MULTILINE), text


def read_screen(fd: int, seconds: float) -> str:
    text, end = "", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and select.select([fd], [], [], left)[0]:
        try:
            text += os.read(fd, 65536).decode()
        except OSError:
            break
    return text


def on_terminal(rows: int, columns: int) -> tuple[int, int, list[Any]]:
    """top on a terminal of its own: process, the terminal's other end, its settings."""
    child, fd = pty.fork()
    if not child:
        time.sleep(0.3)
        os.execvp("mpdpa", ["mpdpa", "-n", "cl", "top", "-d", "0.2"])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return child, fd, termios.tcgetattr(fd)


def check_left(child: int, fd: int, before: list[Any], text: str) -> None:
    """The terminal as it was: the other screen left, the cursor back, echo on."""
    settings = termios.tcgetattr(fd)
    text += read_screen(fd, 1)
    same("exit status", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
    assert text.rstrip().endswith("\033[?7h\033[?25h\033[?1049l"), repr(text[-80:])
    world.until("the terminal's settings", lambda: termios.tcgetattr(fd) == before or settings == before)
    os.close(fd)


@case
def top_is_a_screen() -> None:
    with Pair() as pair:
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(2_000_000, 60 * SECOND))
        child, fd, before = on_terminal(24, 80)
        text = read_screen(fd, 2)
        assert text.startswith("\033[?1049h"), repr(text[:80])
        frames = text.split("\033[H")[1:]
        between("frames in two seconds", len(frames), 4, 9)
        same("lines of each", {frame.count("\r\n") for frame in frames[:-1]}, {23})
        assert "mpdpa top - " in frames[0]
        assert "CHUNK" in frames[0]
        same("echo is off", bool(termios.tcgetattr(fd)[3] & termios.ECHO), False)
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 100, 0, 0))
        os.kill(child, signal.SIGWINCH)
        frames = read_screen(fd, 1).split("\033[H")[1:]
        same("lines after a change of size", frames[-2].count("\r\n"), 9)
        os.write(fd, b"x")
        between("another key changes nothing", len(read_screen(fd, 0.5)), 1, 100_000)
        os.write(fd, b"q")
        check_left(child, fd, before, "")


def as_a_job() -> None:
    """In the child of pty.fork(), what a shell does: top in a group of its own, which goes on two seconds after it stopped."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if not job:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp("mpdpa", ["mpdpa", "-n", "cl", "top", "-d", "0.2"])
    while os.WIFSTOPPED(status := os.waitpid(job, os.WUNTRACED)[1]):
        time.sleep(2)
        os.killpg(job, signal.SIGCONT)
    os._exit(os.waitstatus_to_exitcode(status))


@case
def top_gives_the_terminal_back_while_it_is_stopped() -> None:
    enter, leave = "\033[?1049h", "\033[?7h\033[?25h\033[?1049l"
    for how in (b"\x1a", None):
        child, fd = pty.fork()
        if not child:
            time.sleep(0.3)
            as_a_job()
        before = termios.tcgetattr(fd)
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        assert enter in read_screen(fd, 1)
        if how:
            os.write(fd, how)
            assert read_screen(fd, 1).rstrip().endswith(leave)
            same("the terminal's settings", termios.tcgetattr(fd), before)
        else:
            # by another one, who cannot be noticed
            os.killpg(os.tcgetpgrp(fd), signal.SIGSTOP)
            read_screen(fd, 1)
            termios.tcsetattr(fd, termios.TCSANOW, before)
        text = read_screen(fd, 2)
        same("entered again", text.count(enter), 1)
        assert "mpdpa top - " in text, text
        same("echo is off", bool(termios.tcgetattr(fd)[3] & termios.ECHO), False)
        os.write(fd, b"q")
        check_left(child, fd, before, "")


@case
def top_ends_well_when_killed() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        child, fd, before = on_terminal(24, 80)
        read_screen(fd, 1)
        os.kill(child, number)
        check_left(child, fd, before, "")


@case
def top_needs_a_terminal() -> None:
    done = run("mpdpa", "-n", "cl", "top")
    same("exit status", done.returncode, 2)
    assert "not on a terminal" in done.stderr


@case
def namespaces_are_told_apart() -> None:
    with Pair() as pair:
        mpdpa.set_chunk(pair.server, mpdpa.Chunk(1, SECOND))
        same("here", as_json("conn show"), [])
        same("there", len(json.loads(run("mpdpa", "-n", "sv", "-j", "show").stdout)), 1)


if __name__ == "__main__":
    world.build()
    main()
