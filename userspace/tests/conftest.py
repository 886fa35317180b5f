# SPDX-License-Identifier: GPL-2.0
"""Where the build put things."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

# hypothesis would leave its notes in the directory it is run from
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(TOP / "out" / "hypothesis"))


@pytest.fixture(scope="session")
def out() -> Path:
    return Path(os.environ.get("MPDPA_OUT", TOP / "out"))


@pytest.fixture(scope="session")
def top() -> Path:
    return TOP
