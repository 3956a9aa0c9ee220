"""Keeps compiled kernels in step with their sources.

Numba stores machine code beside each source file and notices when *that file* changes, not when
a kernel it calls in another file does. So the package remembers one fingerprint of all kernel
sources, and when it differs the stored code is thrown away and compiled again.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent


def fingerprint(package: Path = PACKAGE) -> str:
    """A digest of every source file below `package` that holds kernels."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        if b"njit" in content and path.name != Path(__file__).name:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()


def drop_stale_kernels(package: Path = PACKAGE) -> bool:
    """Delete stored machine code if the kernel sources changed since; True if they had.

    Does nothing where the package folder cannot be written: Numba then caches elsewhere, and an
    upgrade there writes every file anew, which Numba does notice.
    """
    stamp = package / "__pycache__" / f"kernels.{sys.implementation.cache_tag}.stamp"
    current = fingerprint(package)
    try:
        if stamp.is_file() and stamp.read_text() == current:
            return False
        for pattern in ("*.nbi", "*.nbc"):
            for stored in package.rglob(f"__pycache__/{pattern}"):
                stored.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(current)
    except OSError:
        return False
    return True
