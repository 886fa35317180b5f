# SPDX-License-Identifier: GPL-2.0
"""Whatever is in a string, the JSON writer's output parses and says the same."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LAX = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
WORDS = st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\0", b"")), max_size=4)


def echo(out: Path, words: list[bytes]) -> dict[str, Any]:
    done = subprocess.run([out / "test" / "json_echo", *words], capture_output=True, check=True)
    return json.loads(done.stdout.decode("utf-8"))


@LAX
@given(words=WORDS)
def test_any_bytes_parse(out: Path, words: list[bytes]) -> None:
    said = echo(out, words)["words"]
    assert len(said) == len(words)
    for raw, text in zip(words, said, strict=True):
        try:
            assert text == raw.decode("utf-8")
        except UnicodeDecodeError:
            assert "\ufffd" in text


@LAX
@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_text_is_kept(out: Path, text: str) -> None:
    assert echo(out, [text.encode()])["words"] == [text]


def test_values(out: Path) -> None:
    said = echo(out, [])
    assert said["number"] == 2**64 - 1
    assert (said["yes"], said["no"], said["none"]) == (True, False, None)
    assert said["nested"] == [[], {"x": None}]
