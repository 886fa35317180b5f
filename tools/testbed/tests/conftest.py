"""The package is imported from the directory above it, wherever pytest was started."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hypothesis import settings

settings.register_profile("testbed", database=None, derandomize=True, deadline=None)
settings.load_profile("testbed")
