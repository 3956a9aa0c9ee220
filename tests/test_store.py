"""Results on disk: whole or not there, as they were, and only those of the same question."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from nardy_rl.arena import store
from nardy_rl.arena.entrants import Entrant
from nardy_rl.arena.record import Question, columns
from nardy_rl.arena.result import Games, MatchResult, match_result
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.players import RandomPlayer
from nardy_rl.rules import variant

ONE, TWO = (
    Entrant(name, name, source, sha256, name + sha256, RandomPlayer())
    for name, source, sha256 in (("one", "runs/one", "abc"), ("two", "", ""))
)
BASE = Question(variant("hypergammon"), ONE, TWO, 40, seed=3, ply_cap=100)


def played(question: Question = BASE, seed: int = 0, luck: bool = True) -> MatchResult:
    rng = np.random.default_rng(seed)
    truncated = rng.random((20, 2)) < 0.1
    score = np.where(truncated, 0, rng.choice([-3, -1, 1, 2], (20, 2))).astype(np.int8)
    return match_result(
        Games(score, truncated, rng.integers(5, 100, (20, 2)).astype(np.int32)),
        a=question.a.label,
        b=question.b.label,
        rules=question.rules,
        seed=question.seed,
        ply_cap=question.ply_cap,
        seconds=1.5,
        luck_by="judge" if luck else "",
        luck=rng.normal(size=(20, 2)) if luck else None,
    )


def add(folder: Path, question: Question = BASE, seed: int = 0, luck: bool = True) -> MatchResult:
    result = played(question, seed, luck)
    store.append(folder, question, result, config={"games": 40}, tournament="t")
    return result


@pytest.mark.parametrize("luck", [True, False])
def test_what_is_added_is_found_as_it_was(tmp_path: Path, luck: bool) -> None:
    result = add(tmp_path / "new" / "results", luck=luck)
    found = store.find(tmp_path / "new" / "results", [BASE]).results[BASE.key]
    assert found == result
    for name in Games._fields:
        assert np.array_equal(getattr(found.played, name), getattr(result.played, name))
    assert (found.seconds, found.luck_by) == (result.seconds, result.luck_by)
    assert (found.luck is None) == (result.luck is None) == (not luck)
    if found.luck is not None and result.luck is not None:
        assert np.array_equal(found.luck, result.luck)
    assert found.figures() == result.figures()


def test_the_other_view_is_the_mirrored_match(tmp_path: Path) -> None:
    there = add(tmp_path)
    back = store.find(tmp_path, [dataclasses.replace(BASE, a=TWO, b=ONE)]).results[BASE.key]
    assert (back.a, back.b) == ("two", "one")
    assert (back.played.score == -there.played.score[:, ::-1]).all()
    assert (back.played.truncated == there.played.truncated[:, ::-1]).all()
    assert (back.played.plies == there.played.plies[:, ::-1]).all()
    assert back.adjusted_ppg.value == pytest.approx(-there.adjusted_ppg.value)
    assert (back.win, back.lost_mars) == (there.loss, there.mars)


OTHER: dict[str, Any] = {
    "rules": variant("hypergammon", koks="none"),
    "a": dataclasses.replace(ONE, identity="another net by the same name"),
    "games": 42,
    "seed": 4,
    "ply_cap": 101,
    "first_pair": 1,
    "luck": "sha256:x",
}


@pytest.mark.parametrize("name", OTHER)
def test_another_question_is_not_answered(tmp_path: Path, name: str) -> None:
    add(tmp_path)
    question = dataclasses.replace(BASE, **{name: OTHER[name]})
    assert question.key != BASE.key
    assert store.find(tmp_path, [question]) == store.Found({}, 0)


def test_names_and_paths_are_no_part_of_the_question(tmp_path: Path) -> None:
    result = add(tmp_path)
    moved = dataclasses.replace(ONE, text="elsewhere/one", label="1", source="elsewhere/one")
    found = store.find(tmp_path, [dataclasses.replace(BASE, a=moved)]).results[BASE.key]
    assert found == dataclasses.replace(result, a="1")


def test_the_newest_answer_counts_and_only_of_this_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, seed=1)
    newest = add(tmp_path, seed=2)
    ours = store.program()
    with monkeypatch.context() as patch:
        patch.setattr("nardy_rl.arena.record.program", lambda: {**ours, "commit": "older"})
        add(tmp_path, seed=3)
        only_there = dataclasses.replace(BASE, seed=9)
        add(tmp_path, only_there)
    found = store.find(tmp_path, [BASE, only_there])
    assert found.results == {BASE.key: newest}
    assert found.others == 1


def test_a_table_of_pandas_has_all_that_repeats_a_match(tmp_path: Path) -> None:
    result = add(tmp_path)
    add(tmp_path, dataclasses.replace(BASE, seed=4), seed=1, luck=False)
    table = pd.read_parquet(tmp_path)
    assert list(table.columns) == list(columns())
    row = table[table["seed"] == 3].iloc[0]
    assert (row["a"], row["a_source"], row["a_sha256"], row["b"]) == (
        "one",
        "runs/one",
        "abc",
        "two",
    )
    assert row["ppg"] == result.ppg.value
    assert row["ppg_low"] == result.intervals["ppg"].low
    assert row["adjusted_ppg_se"] == result.adjusted_ppg.se
    assert json.loads(row["options"])["koks"] == "backgammon"
    assert json.loads(row["config"]) == {"games": 40}
    for name in ("version", "commit", "numpy", "numba", "torch", "key", "config_sha256", "machine"):
        assert row[name], name
    assert row["rules_version"] == row["encoder_version"] == 1
    scores = row["scores"].reshape(-1, 2)
    assert (np.isnan(scores) == result.played.truncated).all()
    assert (np.nan_to_num(scores) == result.played.score).all()
    schema = pq.read_schema(next(tmp_path.glob("*.parquet")))
    assert schema.field("ppg_se").metadata == {b"description": b"its standard error, by pairs"}


def test_a_write_that_was_killed_leaves_nothing_to_read(tmp_path: Path) -> None:
    result = add(tmp_path)
    (file,) = tmp_path.glob("*.parquet")
    (tmp_path / f".{file.name}.unfinished").write_bytes(file.read_bytes()[:100])
    assert store.find(tmp_path, [BASE]).results == {BASE.key: result}
    assert len(pd.read_parquet(tmp_path)) == 1


def test_a_full_disk_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = add(tmp_path)
    before = sorted(tmp_path.iterdir())

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        add(tmp_path, dataclasses.replace(BASE, seed=5))
    assert sorted(tmp_path.iterdir()) == before
    assert store.find(tmp_path, [BASE]).results == {BASE.key: result}


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    questions = [dataclasses.replace(BASE, seed=seed) for seed in range(24)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda q: add(tmp_path, q, q.seed), questions))
    found = store.find(tmp_path, questions).results
    assert [found[question.key] for question in questions] == results


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="store: /proc/results cannot be written"):
        store.check_writable(Path("/proc/results"))
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ConfigError, match=r"store: .*file is a file; results go to a folder"):
        store.check_writable(tmp_path / "file")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    pq.write_table(pa.table({"x": [1], "y": [2]}), foreign / "theirs.parquet")
    for use in (store.check_writable, lambda folder: store.find(folder, [BASE])):
        with pytest.raises(CheckpointError, match=r"theirs.parquet is no file of results .*x, y"):
            use(foreign)
    assert store.find(tmp_path / "nowhere", [BASE]).results == {}
    assert not (tmp_path / "nowhere").exists()


def test_a_damaged_file_or_one_of_another_format_is_named(tmp_path: Path) -> None:
    add(tmp_path)
    (file,) = tmp_path.glob("*.parquet")
    content = file.read_bytes()
    table = pq.read_table(file)
    pq.write_table(table.replace_schema_metadata({b"nardy_rl_results": b"99"}), file)
    with pytest.raises(CheckpointError, match="has format 99, this version reads 1"):
        store.check_writable(tmp_path)
    for damaged in (content[:-9], b"", b"nothing"):
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"parquet cannot be read .*; move it away"):
            store.check_writable(tmp_path)
