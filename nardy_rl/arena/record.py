"""A finished match as one row of a table: what it found, and all that is needed to repeat it."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena.entrants import Entrant
from nardy_rl.arena.result import Games, MatchResult, match_result
from nardy_rl.encoding import ENCODER_VERSION
from nardy_rl.rules.parallel import get_threads
from nardy_rl.rules.record import RULES_VERSION, Rules
from nardy_rl.train.provenance import provenance

if typing.TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

RESULTS_FORMAT = 1
"""Changes when older files can no longer be read. 1: the first."""

MARK = b"nardy_rl_results"
"""Key in the metadata of a file of results; its value is the format."""

_ESTIMATES = (
    "ppg", "win", "loss", "draw", "mars", "koks", "lost_mars", "lost_koks", "adjusted_ppg",
    "luck_ppg",
)  # fmt: skip

_TEXTS = {
    "tournament": "of which it was a part: the time it began, and the start of its config_sha256",
    "key": "sha256 of what decides the games: rules, who plays, seed, first_pair, ply_cap, number",
    "variant": "of the game",
    "options": "its options, JSON",
    "a": "the first player, as it was named; figures are in its view",
    "b": "the second player",
    "a_identity": "what plays: a name, or the sha256 of weights and how they are played",
    "b_identity": "the same of b",
    "a_source": "the checkpoint or file that the text led to; empty for a player by name",
    "b_source": "the same of b",
    "a_sha256": "of a's weights or file; empty for a player by name",
    "b_sha256": "the same of b",
    "luck_by": "whose values measured the luck of the dice; empty where it was not",
    "luck_identity": "what that is, as a_identity",
    "config": "settings of the tournament, JSON",
    "config_sha256": "of config",
    "version": "of nardy_rl",
    "commit": "of its checkout, marked -dirty where files differ; empty outside one",
    "python": "version",
    "numpy": "version",
    "numba": "version",
    "torch": "version",
    "machine": "kind of processor, and cores",
}
_NUMBERS = {
    "seed": "of dice and keys",
    "first_pair": "number of the first pair's dice",
    "ply_cap": "decisions after which a game is truncated",
    "asked": "games asked for",
    "games": "scored",
    "truncated": "games that reached ply_cap",
    "excluded": "games not scored: the truncated ones and the other game of their pair",
    "threads": "processor threads",
    "rules_version": "of nardy_rl.rules",
    "encoder_version": "of nardy_rl.encoding",
}


def columns() -> dict[str, str]:
    """Every column of a results table, with what it holds."""
    figures = {}
    for name in _ESTIMATES:
        figures[name] = "points a game" if "ppg" in name else "share of games"
        figures[f"{name}_se"] = "its standard error, by pairs"
        figures[f"{name}_low"] = "lower end of its 95 % interval"
        figures[f"{name}_high"] = "upper end"
    return {
        "finished": "when, UTC",
        **_TEXTS,
        **_NUMBERS,
        **figures,
        "plies": "mean decisions of a game scored",
        "seconds": "that the match took",
        "scores": "of every game for a, the two of each pair one after the other; null: truncated",
        "lengths": "decisions of every game",
        "luck": "points that the dice gave a in every game; null where not measured",
    }


@dataclass(frozen=True)
class Question:
    """What decides every game of a match, and so its result.

    Attributes:
        rules: of the game.
        a, b: who plays.
        games: how many, even.
        seed, ply_cap, first_pair: see `play_match`.
        luck: identity of what measures luck; empty for none.
    """

    rules: Rules
    a: Entrant
    b: Entrant
    games: int
    seed: int
    ply_cap: int
    first_pair: int = 0
    luck: str = ""

    @property
    def key(self) -> str:
        """Alike for the same match whichever player is named first."""
        decides = {
            "rules_version": RULES_VERSION,
            "encoder_version": ENCODER_VERSION,
            "variant": self.rules.name,
            "options": {option.name: option.value for option in self.rules.options()},
            "players": sorted([self.a.identity, self.b.identity]),
            "games": self.games,
            "seed": self.seed,
            "ply_cap": self.ply_cap,
            "first_pair": self.first_pair,
            "luck": self.luck,
        }
        return sha256_of(decides)


def sha256_of(value: Mapping[str, Any]) -> str:
    """Of plain nested data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def row_of(
    question: Question, result: MatchResult, config: Mapping[str, Any], tournament: str
) -> dict[str, Any]:
    """All columns of a match."""
    figures: dict[str, Any] = {}
    for name in _ESTIMATES:
        estimate, ends = getattr(result, name), result.intervals.get(name, (None, None))
        values = (*estimate, *ends)
        for suffix, value in zip(("", "_se", "_low", "_high"), values, strict=True):
            figures[f"{name}{suffix}"] = None if value is None or np.isnan(value) else value
    games = result.played
    scores = [
        None if cut else score
        for score, cut in zip(
            games.score.ravel().tolist(), games.truncated.ravel().tolist(), strict=True
        )
    ]
    return {
        "finished": datetime.datetime.now(datetime.UTC),
        "tournament": tournament,
        "key": question.key,
        "variant": question.rules.name,
        "options": json.dumps({o.name: o.value for o in question.rules.options()}),
        "luck_by": result.luck_by,
        "luck_identity": question.luck,
        "config": json.dumps(config, sort_keys=True),
        "config_sha256": sha256_of(config),
        "seed": question.seed,
        "first_pair": question.first_pair,
        "ply_cap": question.ply_cap,
        "asked": result.asked,
        "games": result.games,
        "truncated": result.truncated,
        "excluded": result.excluded,
        "threads": get_threads(),
        "rules_version": RULES_VERSION,
        "encoder_version": ENCODER_VERSION,
        "plies": None if np.isnan(result.plies) else result.plies,
        "seconds": result.seconds,
        "scores": scores,
        "lengths": games.plies.ravel(),
        "luck": None if result.luck is None else result.luck.ravel(),
        **figures,
        **_of_player("a", question.a),
        **_of_player("b", question.b),
        **program(),
    }


def _of_player(side: str, entrant: Entrant) -> dict[str, str]:
    return {
        side: entrant.text,
        f"{side}_identity": entrant.identity,
        f"{side}_source": entrant.source,
        f"{side}_sha256": entrant.sha256,
    }


def program() -> dict[str, str]:
    """Which program this is, and where it runs."""
    made = provenance()
    versions = made["versions"]
    return {
        "version": versions["nardy-rl"],
        "commit": made["commit"] or "",
        **{name: versions[name] for name in ("python", "numpy", "numba", "torch")},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }


def result_of(row: Mapping[str, Any], question: Question) -> MatchResult:
    """The stored match, in the view of the question's a."""
    scores = np.array([0 if score is None else score for score in row["scores"]], np.int8)
    truncated = np.array([score is None for score in row["scores"]], bool)
    luck = None if row["luck"] is None else np.array(row["luck"], np.float64)
    turned = row["a_identity"] != question.a.identity
    games = Games(
        _turned(scores.reshape(-1, 2), turned, -1),
        _turned(truncated.reshape(-1, 2), turned),
        _turned(np.array(row["lengths"], np.int32).reshape(-1, 2), turned),
    )
    return match_result(
        games,
        a=question.a.label,
        b=question.b.label,
        rules=question.rules,
        seed=question.seed,
        first_pair=question.first_pair,
        ply_cap=question.ply_cap,
        asked=row["asked"],
        seconds=row["seconds"],
        luck_by=row["luck_by"],
        luck=None if luck is None else _turned(luck.reshape(-1, 2), turned, -1),
    )


def _turned(values: NDArray[Any], turned: bool, sign: int = 1) -> NDArray[Any]:
    """[P, 2] as the other player sees it: his game on seat 0 was the other one."""
    if not turned:
        return values
    return -values[:, ::-1] if sign < 0 else values[:, ::-1]


def schema() -> pyarrow.Schema:
    """Of a file of results, every column with its description."""
    import pyarrow as pa

    kinds = {
        "finished": pa.timestamp("us", tz="UTC"),
        "scores": pa.list_(pa.int8()),
        "lengths": pa.list_(pa.int32()),
        "luck": pa.list_(pa.float64()),
        **dict.fromkeys(_TEXTS, pa.string()),
        **dict.fromkeys(_NUMBERS, pa.int64()),
    }
    fields = [
        pa.field(name, kinds.get(name, pa.float64()), metadata={"description": text})
        for name, text in columns().items()
    ]
    return pa.schema(fields, {MARK: str(RESULTS_FORMAT).encode()})
