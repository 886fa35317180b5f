"""The two ways a command can end badly; both are one line and never a traceback."""

from __future__ import annotations

# What the build environment is entered by, in the project's folder.
ENTER = "tools/vm/buildenv run --"


class UsageError(Exception):
    """The input is wrong: names the file, the key and what was expected. Exit status 2."""


class MeasurementError(Exception):
    """A run went wrong or contradicts itself, so nothing may be concluded. Exit status 1."""
