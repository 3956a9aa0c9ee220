"""Chunks of a batch on nogil threads: the only threading that the kernels need.

Numba's own `parallel=True` compiles for ten seconds a kernel and keeps a second thread pool
beside torch's; kernels that release the GIL over a range of the batch need neither.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from nardy_rl.errors import ConfigError

_threads = 0


def get_threads() -> int:
    """How many threads batch kernels use: what `set_threads` said, else the cores there are."""
    if _threads:
        return _threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_threads(count: int) -> None:
    """Use `count` threads for batch kernels; 0 means one for each core. Results never change."""
    global _threads
    if count < 0:
        raise ConfigError(f"threads={count} is not allowed; 0 (all cores) or more")
    _threads = count


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="nardy_rl")


def chunks(total: int, min_chunk: int = 64, per_thread: int = 1) -> list[tuple[int, int]]:
    """Contiguous (start, stop) ranges covering `total`, at least `min_chunk` long where it can."""
    wanted = max(1, min(get_threads() * per_thread, total // max(1, min_chunk)))
    edges = [total * i // wanted for i in range(wanted + 1)]
    return [(edges[i], edges[i + 1]) for i in range(wanted)]


def map_chunks(
    work: Callable[[int, int], Any], total: int, *, min_chunk: int = 64, per_thread: int = 1
) -> list[Any]:
    """`work(start, stop)` for every chunk, on threads; results in the chunks' order."""
    ranges = chunks(total, min_chunk, per_thread)
    if len(ranges) == 1:
        return [work(*ranges[0])]
    return list(_pool(get_threads()).map(lambda edge: work(*edge), ranges))


def run_chunks(kernel: Callable[..., Any], total: int, *args: Any, min_chunk: int = 256) -> None:
    """`kernel(start, stop, *args)` over chunks; the kernel writes into arrays among `args`."""
    map_chunks(lambda start, stop: kernel(start, stop, *args), total, min_chunk=min_chunk)
