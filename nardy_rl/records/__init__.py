"""Recorded games: values, their replay by the rules, and the files that hold them."""

from nardy_rl.records.files import FORMATS, check_writable, read_games, write_games
from nardy_rl.records.game import (
    CUBE_WORDS,
    CUBES,
    REASONS,
    CubeEvent,
    Decision,
    Event,
    GameRecord,
    MatchRecord,
    Result,
    Terms,
    describe,
)
from nardy_rl.records.json_lines import VERSION
from nardy_rl.records.replay import (
    Replayed,
    canonical,
    decision_of,
    end_of,
    replay,
    result_after,
)

__all__ = [
    "CUBES",
    "CUBE_WORDS",
    "FORMATS",
    "REASONS",
    "VERSION",
    "CubeEvent",
    "Decision",
    "Event",
    "GameRecord",
    "MatchRecord",
    "Replayed",
    "Result",
    "Terms",
    "canonical",
    "check_writable",
    "decision_of",
    "describe",
    "end_of",
    "read_games",
    "replay",
    "result_after",
    "write_games",
]
