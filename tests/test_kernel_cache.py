"""Stored machine code is dropped when any kernel source changes, and only then."""

from pathlib import Path

from nardy_rl.kernel_cache import drop_stale_kernels


def _package(folder: Path) -> Path:
    (folder / "rules" / "__pycache__").mkdir(parents=True)
    (folder / "rules" / "inner.py").write_text("from numba import njit\n")
    (folder / "outer.py").write_text("from numba import njit  # calls inner\n")
    (folder / "words.py").write_text("text = 'no kernels here'\n")
    drop_stale_kernels(folder)
    (folder / "__pycache__" / "outer.nbc").write_text("code")
    (folder / "rules" / "__pycache__" / "inner.nbi").write_text("index")
    return folder


def test_unchanged_sources_keep_their_code(tmp_path):
    package = _package(tmp_path)
    (package / "words.py").write_text("text = 'other words'\n")
    assert not drop_stale_kernels(package)
    assert (package / "__pycache__" / "outer.nbc").exists()


def test_a_changed_callee_drops_the_code_of_its_callers(tmp_path):
    package = _package(tmp_path)
    (package / "rules" / "inner.py").write_text("from numba import njit  # changed\n")
    assert drop_stale_kernels(package)
    assert not list(package.rglob("*.nb?"))
    assert not drop_stale_kernels(package)
