"""GNU Backgammon's move generator as a second oracle.

`gnubg-nn` is GPL: the tests ask it when it is installed, the package never imports it.
"""

from __future__ import annotations

import numpy as np
import pytest

from nardy_rl.rules import legal_afterstates, variant
from tests.reachable import play_turns

gnubg = pytest.importorskip("gnubg_nn")

Row = tuple[int, ...]


@pytest.mark.parametrize("name", ["backgammon", "nackgammon"])
@pytest.mark.parametrize("seed", range(4))
def test_gnubg_finds_the_same_results(name: str, seed: int) -> None:
    """1,200 rolls each: 9,600 together."""
    rules = variant(name)
    rng = np.random.default_rng((name == "nackgammon", seed))
    rolls = 0
    for turn in play_turns(rules, games=6, turns=200, rng=rng):
        found = legal_afterstates(rules, turn.points, turn.rolls, flags=turn.flags)
        for game in range(len(turn.points)):
            roll = (int(turn.rolls[game, 0]), int(turn.rolls[game, 1]))
            rows = found.after[found.offsets[game] : found.offsets[game + 1]]
            ours = {_board(after) for after in rows}
            assert ours == _gnubg_results(turn.points[game], roll), (turn.points[game], roll)
            rolls += 1
    assert rolls == 1200


def test_the_oracle_on_positions_done_by_hand() -> None:
    """So that agreement means something: a bar against three closed points, and a pass."""
    points = np.zeros((2, 26), dtype=np.int8)
    points[0, [25, 6, 0]] = 1, 1, 13
    points[1, [6, 5, 4, 0]] = 2, 2, 2, 9
    # He holds my 19, 20 and 21: 6, 5 and 4 do not enter, 3, 2 and 1 do.
    assert _gnubg_results(points, (6, 5)) == {_board(points)}
    entered = _gnubg_results(points, (2, 5))
    # 25/23/18, or 25/23 6/1.
    assert {tuple(np.flatnonzero(mine) + 1) for mine, _ in entered} == {(6, 18), (1, 23)}


def _gnubg_results(points: np.ndarray, roll: tuple[int, int]) -> set[tuple[Row, Row]]:
    """What GNU Backgammon can make of the roll; it gives no key at all for a pass."""
    # Its boards are (opponent, mover), each the own points 1..24 and the bar.
    board = [points[1, 1:].tolist(), points[0, 1:].tolist()]
    keys = gnubg.moves(board, *roll)
    if not keys:
        return {_board(points)}
    boards = [gnubg.board_from_position_key(key) for key in keys]
    return {(tuple(mine), tuple(his)) for his, mine in boards}


def _board(points: np.ndarray) -> tuple[Row, Row]:
    return tuple(points[0, 1:].tolist()), tuple(points[1, 1:].tolist())
