"""Exports: read by a stranger, equal to torch, played like the checkpoint; damage is refused."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nardy_rl import cli
from nardy_rl.arena import play_match
from nardy_rl.cli import export as verb
from nardy_rl.encoding import Encoding, encode
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.export import FORMATS, export, writing
from nardy_rl.export.onnx import onnx_bytes
from nardy_rl.export.samples import sample_positions
from nardy_rl.inference import Decisions, FloatEvaluator
from nardy_rl.net import ValueNet
from nardy_rl.players import NetPlayer, make_player, rules_of
from nardy_rl.players.onnx_file import OnnxPlayer, read_onnx
from nardy_rl.rules import LegalAfterstates, Rules, legal_afterstates, set_threads, variant
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.search import NetValuer
from nardy_rl.search.valuers import final_scores
from nardy_rl.train.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from tests.reachable import play_turns

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

KEYS = np.zeros(4096, np.uint64)
GAMES = [
    ("backgammon", {}, (16, 8)),
    ("long_nardy_draw", {}, (12,)),
    ("long_nardy", {"head_rule": "strict", "koks": "none_home"}, ()),
]
ROOT = Path(__file__).parents[1]
SHIPPED = sorted(card.parent for card in (ROOT / "checkpoints").glob("*/card.json"))
F32 = ["evaluator=float32"]  # `auto` takes bfloat16 where that is faster
every_game = pytest.mark.parametrize(("name", "options", "hidden"), GAMES)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


def checkpoint_of(
    folder: Path, name: str = "backgammon", options: Any = None, hidden: tuple[int, ...] = (16, 8)
) -> Checkpoint:
    """A net of random weights that has opinions, saved and loaded."""
    rules = variant(name, **(options or {}))
    generator = torch.Generator().manual_seed(len(hidden))
    net = ValueNet(Encoding.of(rules).size, hidden, rules.outcomes, generator)
    with torch.no_grad():
        list(net.parameters())[-2].mul_(10.0)
    card = {"what": "a test", "measured": {"pips/ppg": 0.25, "pips/ppg_se": 0.01}}
    path = save_checkpoint(folder / "run", net=net, rules=rules, config={}, card=card, games=7)
    return load_checkpoint(path)


def decisions_of(rules: Rules) -> tuple[Decisions, np.ndarray]:
    """Some hundred decisions from the start to the end of games, and their rolls."""
    turns = play_turns(rules, games=10, turns=112, rng=np.random.default_rng(3))
    kept = list(itertools.islice(turns, 0, None, 4))
    points = np.concatenate([turn.points for turn in kept])
    rolls = np.concatenate([turn.rolls for turn in kept])
    flags = np.concatenate([turn.flags for turn in kept]) & np.uint8(rules.flag_mask)
    legal = legal_afterstates(rules, points, rolls, flags=flags)
    after = (flags & np.uint8(254)).astype(np.uint8)
    return Decisions(points, after, np.zeros_like(after), legal), rolls


@every_game
@pytest.mark.parametrize("format", FORMATS)
def test_the_page_beside_a_file_lets_a_stranger_read_it(
    tmp_path: Path, name: str, options: dict[str, str], hidden: tuple[int, ...], format: str
) -> None:
    """The page's own lines of Python, run where nothing of ours is in reach."""
    ending = "mjs" if format == "js" else format  # node takes that for a module
    file = export(checkpoint_of(tmp_path, name, options, hidden), tmp_path / f"net.{ending}")[0]
    page = file.with_name(file.name + ".md").read_text()
    (code,) = re.findall(r"```(?:python|js)\n(.*?)```", page, re.DOTALL)
    if format == "js":
        if not shutil.which("node"):
            pytest.skip("node is not installed")
        (tmp_path / "read.mjs").write_text(code)
        words = ["node", "--no-warnings", "read.mjs"]
    else:
        ours = "\nimport sys; assert not any(m.startswith(('nardy', 'torch')) for m in sys.modules)"
        # -I: no path of ours leads there.
        words = [sys.executable, "-I", "-c", code + ours]
    done = subprocess.run(
        words,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    found = np.array([line.split() for line in done.stdout.splitlines()])
    found = np.array([[float(text.strip("[]")) for text in line] for line in found])
    assert found.shape == (11, 2)
    np.testing.assert_allclose(found[:, 0], found[:, 1], atol=1e-5)
    assert np.ptp(found[:, 1]) > 0.01


@every_game
def test_onnx_computes_what_torch_computes_for_any_batch(
    tmp_path: Path, name: str, options: dict[str, str], hidden: tuple[int, ...]
) -> None:
    checkpoint = checkpoint_of(tmp_path, name, options, hidden)
    session = onnxruntime.InferenceSession(onnx_bytes(checkpoint))
    decisions, _ = decisions_of(checkpoint.rules)
    flags = np.repeat(decisions.flags, np.diff(decisions.legal.offsets))
    units = encode(checkpoint.rules, decisions.legal.after, flags)
    expected = checkpoint.net.distribution(torch.from_numpy(units)).detach().numpy()
    for size in (1, 3, len(units)):
        (found,) = session.run(["probabilities"], {"units": units[:size]})
        np.testing.assert_allclose(found, expected[:size], atol=1e-5)


def test_an_onnx_file_says_what_it_is(tmp_path: Path) -> None:
    checkpoint = checkpoint_of(tmp_path, "long_nardy", {"head_rule": "strict"}, (12,))
    path, *_ = export(checkpoint, tmp_path / "net.onnx")
    said = onnxruntime.InferenceSession(path).get_modelmeta().custom_metadata_map
    assert said["project"] == "nardy_rl"
    assert said["variant"] == "long_nardy"
    options = {option.name: option.value for option in checkpoint.rules.options()}
    assert json.loads(said["options"]) == options
    assert options["head_rule"] == "strict"
    assert json.loads(said["outcomes"]) == [-2, -1, 1, 2]
    assert said["rules_version"] == said["encoder_version"] == "1"
    assert said["checkpoint_sha256"] == checkpoint.card["sha256"]["model.safetensors"]
    assert onnx_bytes(checkpoint) == path.read_bytes()


@every_game
def test_the_table_is_the_encoding(
    tmp_path: Path, name: str, options: dict[str, str], hidden: tuple[int, ...]
) -> None:
    """The units of the test vectors, made again from the table alone."""
    checkpoint = checkpoint_of(tmp_path, name, options, hidden)
    out = export(checkpoint, tmp_path / "net.npz")[1]
    told = json.loads(out.read_text())
    assert told["outcomes"] == list(checkpoint.rules.outcomes)
    assert len(told["test_vectors"]) == 11
    start = checkpoint.rules.start_points()
    assert told["test_vectors"][0]["points"] == start.tolist()
    seen = set()
    for vector in told["test_vectors"]:
        seen.add(json.dumps(vector["points"]))
        assert [sum(side) for side in vector["points"]] == [15, 15]
        units = [_unit(unit, vector["points"], vector["flags"]) for unit in told["encoding"]]
        np.testing.assert_allclose(units, vector["units"], atol=1e-6)
        shares = np.array(vector["probabilities"])
        assert shares.sum() == pytest.approx(1.0, abs=1e-6)
        assert shares @ told["outcomes"] == pytest.approx(vector["equity"], abs=1e-9)
    assert len(seen) == 11
    assert told["card"]["measured"]["pips/ppg"] == 0.25
    assert "| pips | +0.250 ± 0.010 |" in out.with_suffix(".md").read_text()


def _unit(unit: dict[str, Any], points: list[list[int]], flags: int) -> float:
    if "flag" in unit:
        return float(flags >> unit["flag"] & 1)
    count = points[unit["side"]][unit["place"]]
    if "at_least" in unit:
        return float(count >= unit["at_least"])
    return float(unit["factor"] * max(0, count - unit["beyond"]))


def test_plain_weights_are_the_nets(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    checkpoint = checkpoint_of(tmp_path)
    tensors = checkpoint.net.state_dict()
    loaded = load_file(export(checkpoint, tmp_path / "net.safetensors")[0])
    plain = np.load(export(checkpoint, tmp_path / "net.npz")[0])
    assert loaded.keys() == tensors.keys()
    for name, value in tensors.items():
        assert (loaded[name] == value.numpy()).all()
        assert (plain[name] == value.numpy()).all()
    assert str(plain["variant"]) == "backgammon"


def test_samples_are_of_games_that_go_on_and_always_the_same() -> None:
    rules = variant("long_nardy_draw")
    points, flags = sample_positions(rules, 60, seed=2)
    again, _ = sample_positions(rules, 60, seed=2)
    other, _ = sample_positions(rules, 60, seed=3)
    assert (points == again).all()
    assert (points != other).any()
    assert (points.sum(2) == 15).all()
    assert (points[:, :, 0] < 15).any(1).all()
    assert len(np.unique(points, axis=0)) > 50
    assert len(np.unique(flags)) > 2


@every_game
def test_an_exported_net_plays_like_its_checkpoint(
    tmp_path: Path, name: str, options: dict[str, str], hidden: tuple[int, ...]
) -> None:
    checkpoint = checkpoint_of(tmp_path, name, options, hidden)
    path, *_ = export(checkpoint, tmp_path / "net.onnx")
    player = OnnxPlayer(checkpoint.rules, path)
    decisions, rolls = decisions_of(checkpoint.rules)
    assert len(rolls) == 280
    rows = player.choose(decisions, rolls, KEYS[:280])
    torch_player = NetPlayer(checkpoint.rules, checkpoint.net, "net", "float32")
    assert (rows == torch_player.choose(decisions, rolls, KEYS[:280])).all()
    assert len(np.unique(rows - decisions.legal.offsets[:-1])) > 3
    assert play_match(checkpoint.rules, player, player, 40, seed=2).ppg == (0.0, 0.0)


def test_a_choice_depends_on_its_own_decision_alone(tmp_path: Path) -> None:
    checkpoint = checkpoint_of(tmp_path)
    player = OnnxPlayer(checkpoint.rules, export(checkpoint, tmp_path / "net.onnx")[0])
    decisions, _ = decisions_of(checkpoint.rules)
    set_threads(2)
    together = player.evaluator.distributions(decisions)
    for b in range(0, len(decisions.points), 23):
        low, high = decisions.legal.offsets[b : b + 2]
        own = decisions.legal.after[low:high]
        legal = LegalAfterstates(own, np.array([0, high - low]), decisions.legal.dice_used[:1])
        alone = Decisions(
            decisions.points[b : b + 1],
            decisions.flags[b : b + 1],
            decisions.pending[b : b + 1],
            legal,
        )
        assert (player.evaluator.distributions(alone) == together[low:high]).all()


def damaged(change: Callable[[Any], None]) -> Callable[[bytes], bytes]:
    """A change of the parsed model as one of the bytes."""

    def apply(content: bytes) -> bytes:
        model = onnx.ModelProto.FromString(content)
        change(model)
        result: bytes = model.SerializeToString()
        return result

    return apply


def said(name: str, value: str) -> Callable[[bytes], bytes]:
    """The file with another value under a name of its metadata."""

    def change(model: Any) -> None:
        (entry,) = (entry for entry in model.metadata_props if entry.key == name)
        entry.value = value

    return damaged(change)


def flip_a_weight(model: Any) -> None:
    data = bytearray(model.graph.initializer[0].raw_data)
    data[5] ^= 1
    model.graph.initializer[0].raw_data = bytes(data)


def drop_a_layer(model: Any) -> None:
    del model.graph.initializer[-1]


def other_function(model: Any) -> None:
    next(node for node in model.graph.node if node.op_type == "Relu").op_type = "Tanh"


def foreign(content: bytes) -> bytes:
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    graph = onnx.helper.make_graph([node], "other", [value], [result])
    other: bytes = onnx.helper.make_model(graph).SerializeToString()
    return other


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: b"hello, I am a text", "truncated or no ONNX file"),
        (lambda content: b"", "project: not an export of nardy_rl"),
        (foreign, "project: not an export of nardy_rl"),
        (said("rules_version", "9"), "rules_version: 9, but this version reads 1; export again"),
        (said("encoder_version", "9"), "encoder_version: 9, but this version reads 1"),
        (said("export_format", "[]"), r"export_format: \[\], but this version reads 1"),
        (said("variant", "chess"), "variant: unknown variant 'chess'"),
        (said("options", "{"), "options: '{' is no value"),
        (said("options", "[]"), "variant: "),
        (said("variant", "tavla"), "content_sha256: not the recorded one"),
        (
            said("outcomes", "[-1, 1]"),
            r"outcomes: not those of backgammon, \[-3, -2, -1, 1, 2, 3\]",
        ),
        (said("hidden", "[16, -8]"), "hidden: .*expected a list of widths"),
        (said("hidden", "[16, 9]"), "weights: not of the shapes"),
        (damaged(drop_a_layer), "weights: not of the shapes"),
        (damaged(flip_a_weight), "content_sha256: not the recorded one; the file was changed"),
        (damaged(other_function), "graph: not the one that nardy_rl writes"),
    ],
)
def test_damaged_and_foreign_files_are_refused(
    tmp_path: Path, damage: Callable[[bytes], bytes], message: str
) -> None:
    checkpoint = checkpoint_of(tmp_path)
    path = tmp_path / "net.onnx"
    path.write_bytes(damage(onnx_bytes(checkpoint)))
    with pytest.raises(CheckpointError, match=message) as caught:
        OnnxPlayer(checkpoint.rules, path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    content = onnx_bytes(checkpoint_of(tmp_path))
    path = tmp_path / "net.onnx"
    for length in [*range(0, len(content), len(content) // 60), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match=r"net\.onnx: "):
            read_onnx(path)


def test_a_net_of_another_game_is_refused(tmp_path: Path) -> None:
    path, *_ = export(checkpoint_of(tmp_path), tmp_path / "net.onnx")
    for name, options, message in (
        ("nackgammon", {}, "a net for backgammon, not nackgammon"),
        ("backgammon", {"hit_run": "no_hide"}, "backgammon, not backgammon with hit_run=no_hide"),
    ):
        with pytest.raises(CheckpointError, match=message):
            OnnxPlayer(variant(name, **options), path)
    with pytest.raises(CheckpointError, match=r"no\.onnx: No such file"):
        OnnxPlayer(variant("backgammon"), tmp_path / "no.onnx")


def test_a_file_that_does_not_compute_the_same_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = checkpoint_of(tmp_path)
    wrong = onnx_bytes(checkpoint_of(tmp_path / "other", hidden=(12,)))
    monkeypatch.setattr(writing, "onnx_bytes", lambda checkpoint: wrong)
    out = tmp_path / "nets" / "net.onnx"
    with pytest.raises(CheckpointError, match=r"onnxruntime and torch differ by .* at batch 1"):
        export(checkpoint, out)
    assert list(out.parent.iterdir()) == []
    monkeypatch.undo()
    export(checkpoint, out)
    before = {file: file.read_bytes() for file in out.parent.iterdir()}
    assert len(before) == 3
    monkeypatch.setattr(writing, "onnx_bytes", lambda checkpoint: wrong)
    with pytest.raises(CheckpointError, match="differ"):
        export(checkpoint, out, overwrite=True)
    assert {file: file.read_bytes() for file in out.parent.iterdir()} == before


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    checkpoint = checkpoint_of(tmp_path)
    (tmp_path / "net.npz.md").write_text("mine")
    with pytest.raises(ConfigError, match=r"net\.npz\.md is there already; .*overwrite=true"):
        export(checkpoint, tmp_path / "net.npz")
    assert not (tmp_path / "net.npz").exists()
    path, _, page = export(checkpoint, tmp_path / "net.npz", overwrite=True)
    assert "mine" not in page.read_text()
    assert np.load(path)["layers.0.bias"].shape == (16,)


@pytest.mark.parametrize(
    ("out", "format", "message"),
    [
        ("net.pt", None, "its ending is not allowed; choose from onnx, safetensors, npz"),
        ("net", None, "choose from onnx, safetensors, npz"),
        ("net.onnx", "tflite", "format='tflite' is not allowed"),
        ("net.onnx", "js", "does not end in .js, the format asked for"),
        ("net.mjs", "npz", "does not end in .npz"),
        ("net.onnx", "npz", r"does not end in \.npz"),
    ],
)
def test_unfit_names_are_refused(
    tmp_path: Path, out: str, format: str | None, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        export(checkpoint_of(tmp_path), tmp_path / out, format)


def test_a_place_that_takes_no_file_is_one_line(tmp_path: Path) -> None:
    checkpoint = checkpoint_of(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"net\.npz.*: cannot be written: "):
        export(checkpoint, tmp_path / "file" / "net.npz")


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_without_the_packages_the_install_line_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    checkpoint = checkpoint_of(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=rf"package {package}: pip install 'nardy-rl\[onnx\]'"):
        export(checkpoint, tmp_path / "net.onnx")
    assert not (tmp_path / "net.onnx").exists()
    export(checkpoint, tmp_path / "net.npz")


def test_the_verb_writes_and_says_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (*FORMATS, "web") == verb.FORMATS
    checkpoint = checkpoint_of(tmp_path)
    words = ["export", f"checkpoint={checkpoint.path}", f"out={tmp_path}/a/net.onnx"]
    assert cli.main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split()[0] for line in out.splitlines()] == [
        f"{tmp_path}/a/net.onnx{ending}" for ending in ("", ".json", ".md")
    ]
    assert cli.main(words) == 2
    assert "is there already" in capsys.readouterr().err
    assert cli.main([*words, "overwrite=true"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["out=a.onnx"], "checkpoint is missing"),
        (["checkpoint=a"], "out is missing: out=FILE.onnx"),
        (["checkpoint=nowhere/at/all", "out=a.onnx"], "there is no such folder"),
        (["checkpoint=a", "out=a.onnx", "format=tflite"], "format: 'tflite' is not allowed"),
        (["chekpoint=a"], "did you mean checkpoint?"),
        (["checkpoint=a", "out=a.onnx", "overwrite=yes"], "allowed: true, false"),
    ],
)
def test_the_verb_refuses_in_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["export", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_a_file_is_a_player_by_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint = checkpoint_of(tmp_path)
    path = str(export(checkpoint, tmp_path / "net.onnx")[0])
    assert rules_of(path) == checkpoint.rules
    decisions, rolls = decisions_of(checkpoint.rules)
    rows = make_player(path, checkpoint.rules).choose(decisions, rolls, KEYS[: len(rolls)])
    player = OnnxPlayer(checkpoint.rules, path)
    assert (rows == player.choose(decisions, rolls, KEYS[: len(rolls)])).all()
    assert make_player(f"{path}@1ply", checkpoint.rules).name == f"{path}@1ply"
    assert cli.main(["arena", f"a={path}", f"b={checkpoint.path}", "games=20", *F32]) == 0
    assert "+0.000" in capsys.readouterr().out
    assert cli.main(["arena", f"a={path}", "b=random", "variant=long_nardy"]) == 2
    assert "a net for backgammon, not long_nardy" in capsys.readouterr().err


def test_a_pipe_is_no_onnx_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.onnx")
    with pytest.raises(CheckpointError, match=r"pipe\.onnx: not a regular file"):
        make_player(str(tmp_path / "pipe.onnx"), variant("tavla"))


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@needs_node
def test_a_module_plays_as_the_bare_net_does(tmp_path: Path) -> None:
    checkpoint = checkpoint_of(tmp_path)
    rules = checkpoint.rules
    file = export(checkpoint, tmp_path / "net.mjs")[0]
    decisions, _ = decisions_of(rules)
    legal, offsets = decisions.legal, decisions.legal.offsets
    scores = final_scores(rules, legal.after, np.repeat(decisions.flags, np.diff(offsets)))
    asked = []
    for place, flags in enumerate(decisions.flags.tolist()):
        rows = range(offsets[place], offsets[place + 1])
        results: list[dict[str, Any]] = []
        for row in rows:
            results.append({"points": legal.after[row].tolist(), "flags": flags})
            if scores[row] != NOT_OVER:
                results[-1]["score"] = int(scores[row])
        asked.append(results)
    (tmp_path / "ask.mjs").write_text(
        'import { readFileSync } from "node:fs";\n'
        f'import {{ choose }} from "./{file.name}";\n'
        'console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(choose)));\n'
    )
    done = subprocess.run(
        ["node", str(tmp_path / "ask.mjs")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    evaluator = FloatEvaluator(checkpoint.net, Encoding.of(rules))
    values = NetValuer(rules, evaluator).equities(decisions)
    found = offsets[:-1] + np.array(json.loads(done.stdout))
    best = np.array([values[low:high].max() for low, high in itertools.pairwise(offsets)])
    np.testing.assert_allclose(values[found], best, atol=1e-6)


@needs_node
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Math.max(0, sum)", "sum"), "node and torch differ by .* in probabilities"),
        (("outcomes[place], 0)", "outcomes[0], 0)"), "node and torch differ by .* in equity"),
        ((">= unit.at_least", "> unit.at_least"), "node and torch differ by .* in units"),
        (("export function encode", "export function encode("), "node cannot run the module"),
    ],
)
def test_a_module_that_computes_something_else_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], message: str
) -> None:
    checkpoint, made = checkpoint_of(tmp_path), writing.module_bytes

    def wrong(checkpoint: Checkpoint, file: str) -> bytes:
        text = made(checkpoint, file).decode()
        assert change[0] in text
        return text.replace(*change).encode()

    monkeypatch.setattr(writing, "module_bytes", wrong)
    with pytest.raises(CheckpointError, match=message + ".*nothing was kept"):
        export(checkpoint, tmp_path / "net.js")
    assert not list(tmp_path.glob("net.js*"))


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_a_newcomer_finds_the_test_vector_of_every_shipped_net(
    tmp_path: Path, folder: Path
) -> None:
    """With the exported folder, NumPy and onnxruntime, and nothing of ours in reach."""
    export(load_checkpoint(folder), tmp_path / "net.onnx")
    code = """
import json, sys, numpy, onnxruntime
told = json.load(open("net.onnx.json"))
assert len(told["test_vectors"]) == 11
units = numpy.array([vector["units"] for vector in told["test_vectors"]], numpy.float32)
session = onnxruntime.InferenceSession("net.onnx")
(found,) = session.run(["probabilities"], {"units": units})
wanted = numpy.array([vector["probabilities"] for vector in told["test_vectors"]])
equities = numpy.array([vector["equity"] for vector in told["test_vectors"]])
print(max(abs(found - wanted).max(), abs(found @ told["outcomes"] - equities).max()))
assert not any(name.startswith(("nardy", "torch")) for name in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 1e-5
