"""What all tests share: one processor thread a worker, and no run folders in the checkout."""

from __future__ import annotations

import os
from pathlib import Path

# Two xdist workers on two cores: more threads each would only fight. Set before torch is imported;
# numba's threads are left alone, because tests compare thread counts.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("MKL_NUM_THREADS", "1")

# The notebooks are run too, each in a process of its own.
os.environ.setdefault("NARDY_RL_NOTEBOOK_BUDGET", "small")

# Tables that tests cause to be made stay in the checkout, where `make clean` finds them.
os.environ.setdefault(
    "NARDY_RL_CACHE", str(Path(__file__).parents[1] / ".pytest_cache" / "nardy_rl")
)
