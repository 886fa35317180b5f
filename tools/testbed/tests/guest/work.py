"""In the guest: what is counted as work of the processors, of a time with known work in it.

Says the work that was done and what was counted, in milliseconds.
"""

from __future__ import annotations

import time

from testbed.busy import Busy

WORK_SECONDS = 0.4
IDLE_SECONDS = 2


def main() -> None:
    with Busy() as busy:
        busy.start()
        end = time.process_time() + WORK_SECONDS
        while time.process_time() < end:
            pass
        time.sleep(IDLE_SECONDS)
        busy.stop()
    print(f"worked {WORK_SECONDS * 1000:.0f} counted {busy.counted_ns / 1e6:.0f}")


if __name__ == "__main__":
    main()
