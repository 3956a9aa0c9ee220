"""The exported page: what is in the folder, what is refused, and that nothing is lost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nardy_rl import cli
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.export import export_page, web_page, web_runtime
from nardy_rl.export.web_runtime import Runtime, runtime_files
from nardy_rl.train.checkpoint import load_checkpoint

SHIPPED = Path(__file__).parents[1] / "checkpoints"
NET = SHIPPED / "hypergammon"
FILES = {"index.html", "manifest.webmanifest", "icon.svg", "LICENCES.txt", "worker.js"}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for onnxruntime-web, which `make browser` fetches and runs."""
    runtime = Runtime(b"export const env = {};", b"export default 1;", b"\0asm")
    monkeypatch.setattr(web_page, "runtime_files", lambda _: runtime)


def test_the_folder_holds_a_page_that_asks_for_nothing(tmp_path: Path, no_network: None) -> None:
    written = export_page(load_checkpoint(NET), tmp_path / "page")
    assert {path.name for path in written} == FILES
    assert {path.name for path in (tmp_path / "page").iterdir()} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["page"]
    text = written[0].read_text()
    assert "{{" not in text
    assert not re.search(r"""(?:src|href)=["'](?!data:)""", text)
    imports = json.loads(re.findall(r'<script type="importmap">(.*?)</script>', text)[0])
    assert {"nardy/page.js", "nardy/rules.js", "nardy/bot.js"} <= imports["imports"].keys()
    assert all(address.startswith("data:") for address in imports["imports"].values())
    told = json.loads(re.findall(r'id="told">(.*?)</script>', text)[0])
    assert told["rules"]["name"] == "hypergammon"
    assert "Microsoft" in (tmp_path / "page" / "LICENCES.txt").read_text()


def test_the_same_net_makes_the_same_page(tmp_path: Path, no_network: None) -> None:
    one, other = (
        export_page(load_checkpoint(NET), tmp_path / name)[0].read_bytes() for name in "ab"
    )
    assert one == other


def test_nothing_but_an_earlier_page_is_replaced(tmp_path: Path, no_network: None) -> None:
    checkpoint = load_checkpoint(NET)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "index.html").write_text("my own page")
    for overwrite in (False, True):
        with pytest.raises(ConfigError, match="is there already and is no exported page"):
            export_page(checkpoint, mine, overwrite=overwrite)
    assert (mine / "index.html").read_text() == "my own page"
    page = tmp_path / "page"
    export_page(checkpoint, page)
    with pytest.raises(ConfigError, match="is there already; name another, or overwrite=true"):
        export_page(checkpoint, page)
    export_page(load_checkpoint(SHIPPED / "tavla"), page, overwrite=True)
    assert "Tavla" in (page / "index.html").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "page"}


def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, no_network: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page"
    export_page(load_checkpoint(NET), page)
    before = (page / "index.html").read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(web_page.os, "fsync", full)
        with pytest.raises(CheckpointError, match="No space left"):
            export_page(load_checkpoint(SHIPPED / "tavla"), page, overwrite=True)
    assert (page / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


@pytest.mark.parametrize("content", [b"", b"not the tarball"])
def test_another_runtime_is_refused(tmp_path: Path, content: bytes) -> None:
    tarball = tmp_path / "runtime.tgz"
    tarball.write_bytes(content)
    with pytest.raises(ConfigError, match="runtime="):
        runtime_files(tarball)


def test_without_a_network_the_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(web_runtime, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setenv("NARDY_RL_NPM", "http://127.0.0.1:9")
    words = ["export", f"checkpoint={NET}", "format=web", f"out={tmp_path / 'page'}"]
    assert cli.main(words) == 2
    err = capsys.readouterr().err
    assert "runtime=" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "page").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["out=x.onnx", "runtime=y.tgz"], "runtime: goes with format=web only"),
        (["out=x", "format=web", "runtime=/nope.tgz"], "runtime=/nope.tgz"),
        (["out=x", "format=page"], "format: 'page' is not allowed"),
        (["format=web"], "out is missing"),
    ],
)
def test_what_the_verb_refuses(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["export", f"checkpoint={NET}", *words]) == 2
    assert message in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
